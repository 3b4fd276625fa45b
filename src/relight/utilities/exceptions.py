"""Exceptions of the core."""

from __future__ import annotations

__all__ = [
    "CheckpointLoadError",
    "InterruptedRun",
    "MisconfigurationException",
    "RunEnded",
    "SIGTERMException",
]


class MisconfigurationException(Exception):
    """The Trainer, the module or the data were set up in a way that cannot run."""


class RunEnded(Exception):
    """A hook has what it came for: the entry point returns in order, without the rest of the run."""


class SIGTERMException(SystemExit):
    """The process was asked to end by ``SIGTERM``; uncaught, it exits with 143, as shells expect (#19916)."""

    def __init__(self, code: int = 128 + 15) -> None:
        super().__init__(code)


class InterruptedRun(SystemExit, KeyboardInterrupt):
    """The user pressed Ctrl-C, and the run has ended in order.

    Uncaught, it ends the process with 1 and no traceback, as in Lightning 2.6. Code that wants to go on after
    the fit catches it as a ``KeyboardInterrupt`` (#11924).
    """


class CheckpointLoadError(RuntimeError):
    """A checkpoint could not be read safely; the message names what stood in the way and the way out."""

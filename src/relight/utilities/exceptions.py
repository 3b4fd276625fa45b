"""Exceptions of the core."""

from __future__ import annotations

__all__ = ["CheckpointLoadError", "MisconfigurationException", "SIGTERMException"]


class MisconfigurationException(Exception):
    """The Trainer, the module or the data were set up in a way that cannot run."""


class SIGTERMException(SystemExit):
    """The process was asked to end by ``SIGTERM``."""


class CheckpointLoadError(RuntimeError):
    """A checkpoint could not be read safely; the message names what stood in the way and the way out."""

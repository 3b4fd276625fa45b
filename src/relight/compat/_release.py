"""Which old release compat behaves like, where releases differ: 1.9 unless said otherwise.

``RELIGHT_COMPAT_VERSION=1.5`` or :func:`emulate` chooses another one. What follows it:

- before 1.8: ``trainer.logger`` of several loggers is a ``LoggerCollection``
- before 1.6: ``trainer.global_step`` counts batches that stepped, and is raised only when a batch is over;
  ``trainer.current_epoch`` is the last epoch's index from ``on_train_end`` on; checkpoints are named
  accordingly; outputs of a training epoch with several optimizers are lists of batches by optimizer;
  ``trainer.logged_metrics`` holds plain numbers
- before 1.5: losses in the outputs of a training epoch are not divided by the accumulation; ``validate`` and
  ``test`` load the best checkpoint by default; ``gpus="1"`` is the device with that number
- always: the order of the Trainer's positional arguments, and ``__version__``
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager

from packaging.version import InvalidVersion, Version

__all__ = ["before", "emulate", "release"]

DEFAULT = "1.9.5"
# The last release of each line, for `__version__`.
_LAST = {
    "0.7": "0.7.6", "0.8": "0.8.5", "0.9": "0.9.0", "0.10": "0.10.0", "1.0": "1.0.8", "1.1": "1.1.8",
    "1.2": "1.2.10", "1.3": "1.3.8", "1.4": "1.4.9", "1.5": "1.5.10", "1.6": "1.6.5", "1.7": "1.7.7",
    "1.8": "1.8.6", "1.9": DEFAULT,
}  # fmt: skip
_chosen: list[Version] = []


def _parse(text: str, where: str) -> Version:
    try:
        version = Version(_LAST.get(text, text))
    except InvalidVersion:
        version = Version("0")
    if f"{version.major}.{version.minor}" not in _LAST:
        raise ValueError(f"{where}: say a release from 0.7 to 1.9, such as '1.5'")
    return version


def release() -> Version:
    """Return the release in force.

    Raises:
        ValueError: ``RELIGHT_COMPAT_VERSION`` names none from 0.7 to 1.9.
    """
    if _chosen:
        return _chosen[-1]
    given = os.environ.get("RELIGHT_COMPAT_VERSION", "").strip()
    return _parse(given, f"RELIGHT_COMPAT_VERSION={given!r}") if given else Version(DEFAULT)


def before(version: str) -> bool:
    """Return whether the release in force is older than ``version``."""
    return release() < Version(version)


class _Emulated(AbstractContextManager["_Emulated"]):
    """What :func:`emulate` returns: leaving its block takes the choice back."""

    def __exit__(self, *details: object) -> None:
        _chosen.pop()
        _tell()


def emulate(version: str) -> _Emulated:
    """Behave like ``version`` (``"1.5"``) from now on, or within a ``with`` block.

    A Trainer keeps the release that was in force when it was made.

    Raises:
        ValueError: The release is none from 0.7 to 1.9.
    """
    _chosen.append(_parse(version, f"emulate({version!r})"))
    _tell()
    return _Emulated()


def _tell() -> None:
    # Scripts branch on `pl.__version__`.
    package = sys.modules.get("relight.compat")
    if package is not None:
        package.__version__ = str(release())  # type: ignore[attr-defined]

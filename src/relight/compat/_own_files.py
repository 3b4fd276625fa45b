"""Checkpoints that this very process has written, which are read back whole.

Up to 1.9 a checkpoint could hold any object (a partial function among the hyperparameters), and scripts that
train and then load the best model live on it. Of a file from elsewhere only data is loaded; of one that this
process wrote and nobody touched since, everything is: it holds what the process had in memory.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["is_own", "note"]

_Mark = tuple[int, int, int, int]
_written: dict[str, _Mark] = {}


def _mark(path: str) -> _Mark | None:
    try:
        found = os.stat(path)
    except OSError:  # not there, or not on this machine
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def note(path: Any) -> None:
    """Remember that this process has just written the file."""
    name = os.path.realpath(os.fspath(path))
    mark = _mark(name)
    if mark is not None:
        _written[name] = mark


def is_own(path: Any) -> bool:
    """Return whether this process wrote the file, and it is as it was then."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    name = os.path.realpath(os.fspath(path))
    return name in _written and _written[name] == _mark(name)

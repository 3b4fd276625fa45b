"""How compat tells the user about a legacy use: one warning a place, with the catalogue's code.

``RELIGHT_COMPAT`` chooses what a use does: ``warn`` (default), ``error`` (raise the warning) or
``ignore``. Whatever it says, every use is also appended to the log named by ``RELIGHT_COMPAT_LOG``
(one JSON object a line: ``code``, ``path``, ``line``, ``item``, ``message``), which
``trainer-upgrade`` reads back to fix what static analysis cannot see.
"""

from __future__ import annotations

import json
import os
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path

__all__ = ["LegacyWarning", "Place", "notice", "place_of", "user_place"]

Place = tuple[str, int]


class LegacyWarning(FutureWarning):
    """A legacy name, argument or hook was used; compat made it work.

    It derives from ``FutureWarning`` because Python shows that category by default, and these notices are
    for the person who runs the script; a ``DeprecationWarning`` raised inside a library stays hidden.
    """


# Frames of these packages are never "the user's line".
_OURS = str(Path(__file__).resolve().parent.parent)
_INSIDE = (f"{os.sep}torch{os.sep}", f"{os.sep}lightning_fabric{os.sep}", f"{os.sep}torchmetrics{os.sep}")
_STDLIB = tuple(
    f"{os.sep}{name}" for name in ("runpy.py", "contextlib.py", "functools.py", "inspect.py", "argparse.py")
)

_seen: set[tuple[str, str, int, str]] = set()


def _is_internal(filename: str) -> bool:
    if filename.startswith((_OURS, "<frozen ")):
        return True
    return any(part in filename for part in _INSIDE) or filename.endswith(_STDLIB)


def user_place() -> Place:
    """Return file and line of the innermost frame outside relight, torch and the import machinery."""
    frame: types.FrameType | None = sys._getframe(1)
    last: Place = ("<unknown>", 1)
    while frame is not None:
        filename = frame.f_code.co_filename
        last = (filename, frame.f_lineno)
        if not _is_internal(filename):
            return last
        frame = frame.f_back
    return last


def place_of(function: Callable[..., object]) -> Place:
    """Return where ``function`` (or the method behind it) is defined; the caller's line if unknown."""
    while True:
        inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
        if inner is None:
            break
        function = inner
    code = getattr(function, "__code__", None)
    if code is None:
        return user_place()
    # A decorated function starts at its decorators; the line of `def` is not recorded, this one is stable.
    return code.co_filename, code.co_firstlineno


def _mode() -> str:
    mode = os.environ.get("RELIGHT_COMPAT", "warn").strip().lower()
    if mode not in {"warn", "error", "ignore"}:
        raise ValueError(f"RELIGHT_COMPAT={mode!r}: say 'warn', 'error' or 'ignore'")
    return mode


def _log(code: str, place: Place, item: str, message: str) -> None:
    path = os.environ.get("RELIGHT_COMPAT_LOG")
    if not path:
        return
    record = {"code": code, "path": place[0], "line": place[1], "item": item, "message": message}
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def notice(code: str, item: str, message: str, place: Place | None = None) -> None:
    """Report one legacy use.

    Args:
        code: The catalogue's code (``TRU101``).
        item: What was used (``Trainer.gpus``).
        message: One line that says what became of it and what to write instead.
        place: File and line; the user's line on the stack by default.

    Raises:
        LegacyWarning: With ``RELIGHT_COMPAT=error``, at every use.
    """
    mode = _mode()
    where = place or user_place()
    text = f"{code} {message} (or run trainer-upgrade)"
    if mode == "error":
        _log(code, where, item, message)
        raise LegacyWarning(text)
    key = (code, *where, item)
    if key in _seen:
        return
    _seen.add(key)
    _log(code, where, item, message)
    if mode == "warn":
        # A registry of its own: "one a place" is decided above, not by the warnings module.
        warnings.warn_explicit(text, LegacyWarning, where[0], where[1], registry={})


def forget() -> None:
    """Forget what was reported, so that it is reported again (for tests)."""
    _seen.clear()

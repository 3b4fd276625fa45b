"""How compat tells the user about a legacy use: one warning a place, with the catalogue's code.

``RELIGHT_COMPAT`` chooses what a use does: ``warn`` (default), ``error`` (raise the warning), ``summary``
(say nothing until the process ends, then list all uses by file) or ``ignore``. Whatever it says, every use is
also appended to the log named by ``RELIGHT_COMPAT_LOG``, one JSON object a line: ``code``, ``file``,
``line``, ``item``, ``message``, ``types`` (of the values that were seen), which ``trainer-upgrade`` reads
back to fix what static analysis cannot see.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import json
import multiprocessing
import os
import sys
import sysconfig
import types
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "LegacyAPIWarning",
    "LegacyWarning",
    "Place",
    "mode",
    "notice",
    "place_of",
    "summary",
    "user_place",
]

Place = tuple[str, int]
MODES = ("warn", "error", "ignore", "summary")


class LegacyWarning(FutureWarning):
    """A legacy name, argument or hook was used; compat made it work.

    It derives from ``FutureWarning`` because Python shows that category by default, and these notices are
    for the person who runs the script; a ``DeprecationWarning`` raised inside a library stays hidden.
    """


LegacyAPIWarning = LegacyWarning

# Frames of these are never "the user's line": relight itself, and what stands between a user's line and the
# call that it leads to (configuration, command lines, tests).
_OURS = str(Path(__file__).resolve().parent.parent) + os.sep
_PLUMBING = (
    "torch", "lightning_fabric", "lightning_utilities", "torchmetrics", "hydra", "omegaconf", "jsonargparse",
    "pluggy", "_pytest", "click", "typer", "fire", "decorator", "wrapt", "hydra_zen", "gin", "tyro",
)  # fmt: skip
_SITE = tuple(f"{os.sep}{kind}{os.sep}" for kind in ("site-packages", "dist-packages"))
_STDLIB = tuple(
    {
        os.path.realpath(path) + os.sep
        for name in ("stdlib", "platstdlib")
        if (path := sysconfig.get_path(name))
    }
)

_seen: set[tuple[str, str, int, str]] = set()
#: What was seen, for the summary: file → (line, code, message), in the order of the first use.
_uses: dict[str, list[tuple[int, str, str]]] = {}
if os.environ.get("RELIGHT_COMPAT_LOG"):
    # A script may change its directory (hydra does); its children must find the same file.
    os.environ["RELIGHT_COMPAT_LOG"] = os.path.abspath(os.environ["RELIGHT_COMPAT_LOG"])


@functools.cache
def _is_internal(filename: str) -> bool:
    if filename.startswith((_OURS, "<frozen ")):
        return True
    for site in _SITE:
        _, found, rest = filename.rpartition(site)
        if found:
            return rest.startswith(tuple(name + os.sep for name in _PLUMBING)) or rest in {
                f"{name}.py" for name in _PLUMBING
            }
    return os.path.realpath(filename).startswith(_STDLIB)


def user_place() -> Place:
    """Return file and line of the innermost frame outside relight, the standard library and the packages that
    call what a configuration or a command line names."""
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
    function = inspect.unwrap(function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return user_place()
    # A decorated function starts at its decorators; the line of `def` is not recorded, this one is stable.
    return code.co_filename, code.co_firstlineno


def mode() -> str:
    """Return what a use does.

    Raises:
        ValueError: ``RELIGHT_COMPAT`` says none of :data:`MODES`.
    """
    said = os.environ.get("RELIGHT_COMPAT", "warn").strip().lower()
    if said not in MODES:
        raise ValueError(f"RELIGHT_COMPAT={said!r}: say one of {', '.join(MODES)}")
    return said


def _log(code: str, place: Place, item: str, message: str, values: Mapping[str, Any]) -> None:
    path = os.environ.get("RELIGHT_COMPAT_LOG")
    if not path:
        return
    record = {
        "code": code,
        "file": os.path.abspath(place[0]) if os.path.exists(place[0]) else place[0],
        "line": place[1],
        "item": item,
        "message": message,
        "types": {name: _type_name(value) for name, value in values.items()},
    }
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")  # one write: processes may share the file


def _type_name(value: Any) -> str:
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def notice(
    code: str, item: str, message: str, place: Place | None = None, values: Mapping[str, Any] | None = None
) -> None:
    """Report one legacy use.

    Args:
        code: The catalogue's code (``TRU101``).
        item: What was used (``Trainer.gpus``).
        message: One line that says what became of it and what to write instead.
        place: File and line; the user's line on the stack by default.
        values: Values that were seen, by name: the log tells their types.

    Raises:
        LegacyWarning: With ``RELIGHT_COMPAT=error``, at every use.
    """
    chosen = mode()
    where = place or user_place()
    text = f"{code} {message} (or run trainer-upgrade)"
    if chosen == "error":
        _log(code, where, item, message, values or {})
        raise LegacyWarning(text)
    key = (code, *where, item)
    if key in _seen:
        return
    _seen.add(key)
    _log(code, where, item, message, values or {})
    if chosen == "summary":
        if not _uses:
            atexit.register(_print_summary, os.getpid())
        _uses.setdefault(where[0], []).append((where[1], code, message))
    elif chosen == "warn":
        # A registry of its own: "one a place" is decided above, not by the warnings module.
        warnings.warn_explicit(text, LegacyWarning, where[0], where[1], registry={})


def summary() -> str:
    """Return what ``RELIGHT_COMPAT=summary`` has seen so far, by file, the one with most uses first."""
    if not _uses:
        return ""
    count = sum(len(uses) for uses in _uses.values())
    lines = [
        f"relight.compat: {count} legacy use{'s' * (count > 1)} in {len(_uses)} file{'s' * (len(_uses) > 1)}"
    ]
    for file, uses in sorted(_uses.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = os.path.relpath(file) if file.startswith(os.getcwd() + os.sep) else file
        lines.append(f"{shown}: {len(uses)}")
        lines.extend(f"  {line}: {code} {message}" for line, code, message in sorted(uses))
    return "\n".join([*lines, "run `trainer-upgrade` on them to modernise what it can"])


def _print_summary(process: int) -> None:
    # Children (of loaders, of DDP) saw the same lines.
    rank = os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or "0"
    if os.getpid() == process and rank == "0" and multiprocessing.parent_process() is None:
        print(summary(), file=sys.stderr)


def forget() -> None:
    """Forget what was reported, so that it is reported again (for tests)."""
    _seen.clear()
    _uses.clear()

"""What stands for a class or function that Lightning 1.9 or 2.x has and relight has not.

Code that imports it runs, as it may never come to use it (``from pytorch_lightning.loggers import
WandbLogger`` at the top of a file that logs to TensorBoard); whoever makes an instance or calls it is told
what to do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from packaging.version import Version

from relight.compat import _facts

__all__ = ["stands_in", "why"]


def why(path: str) -> str | None:
    """Return what to say of a name that only has a stand-in, ``None`` if the path has none.

    There is one for each public name that 1.9 or 2.x has; what was gone by then is missing there, too, and
    code that can do without it asks by importing it.
    """
    fact, before = _facts.on_relight(path), _facts.on_lightning(path)
    if fact is None or fact.new is not None or before is None or before.kind != "name":
        return None
    if before.new is None and before.removed_in is not None and Version(before.removed_in) < Version("2.0"):
        return None
    return f"{fact.code} {fact.advice}"


@functools.cache
def stands_in(path: str) -> Any:
    """Return the class (a function, for a name in lower case) that stands for the legacy ``path``."""
    module, _, name = path.rpartition(".")
    text = why(path) or ""
    if name[0].islower():
        return _function(name, text)
    parents: tuple[type, ...] = (_Absent,)
    if name.endswith(("Error", "Exception", "Warning")):
        parents = (Exception,)
    return type(name, parents, {"__module__": module, "__doc__": text, "_compat_why": text})


def _function(name: str, text: str) -> Callable[..., Any]:
    def absent(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(text)

    absent.__name__ = absent.__qualname__ = name
    absent.__doc__ = text
    return absent


class _Absent:  # without a metaclass, so that it can stand beside any other base
    _compat_why = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls._compat_why)

"""Short ways to describe a Trainer argument."""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import KEEP, callback, entry_point, make
from trainer_upgrade.catalogue.entry import Area, Entry, Replacement

__all__ = ["both", "changed", "gone", "option"]

_UNEXPECTED = "TypeError: unexpected keyword argument"


def both(name: str, argument: str = "", text: str = "") -> dict[str, Replacement]:
    """Give the same callback of both distributions."""
    return {
        "relight": callback(f"relight.callbacks.{name}", argument, text),
        "lightning": callback(f"lightning.pytorch.callbacks.{name}", argument, text),
    }


def gone(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an argument that 2.6 refuses."""
    rest.setdefault("behaviour", _UNEXPECTED)
    return make(Area.TRAINER_ARGUMENT, "Trainer", code, name, advice, **rest)


def changed(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an argument that 2.6 still takes, with another default, kind or set of values."""
    return make(Area.TRAINER_ARGUMENT, "Trainer", code, name, advice, **rest)


def option(
    code: str, name: str, advice: str, *, method: str = "fit", argument: str = "", **rest: Any
) -> Entry:
    """Describe an argument that Lightning keeps and relight takes at an entry point."""
    rest.setdefault("lightning", KEEP)
    return changed(code, name, advice, relight=entry_point(method, argument or name), **rest)

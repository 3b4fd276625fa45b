"""The names under which callbacks can be given to the Trainer."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from relight.callbacks.callback import Callback

_FACTORIES: dict[str, Callable[[], Callback]] = {}


def register_callback(name: str, factory: Callable[[], Callback]) -> None:
    """Let ``Trainer(callbacks=[name])`` stand for what ``factory()`` returns.

    Args:
        name: in lower case with underscores.
        factory: a class whose defaults do, or a function.

    Raises:
        ValueError: if the name stands for another factory already.
    """
    if _FACTORIES.setdefault(name, factory) is not factory:
        raise ValueError(f"The callback name {name!r} is already registered for {_FACTORIES[name]!r}.")


def registered_callbacks() -> tuple[str, ...]:
    """Return all names, sorted."""
    return tuple(sorted(_FACTORIES))


def resolve_callback(callback: str | Callback) -> Callback:
    """Return ``callback``, or for a registered name a new instance.

    Raises:
        ValueError: for an unknown name.
        TypeError: for anything that is neither a name nor a callback, such as a class.
    """
    if isinstance(callback, str):
        if (factory := _FACTORIES.get(callback)) is not None:
            return factory()
        near = difflib.get_close_matches(callback, _FACTORIES, n=1)
        raise ValueError(
            f"Unknown callback {callback!r}."
            + (f" Did you mean {near[0]!r}?" if near else "")
            + f" Known names: {', '.join(registered_callbacks())}."
        )
    if isinstance(callback, type):
        raise TypeError(f"Expected a callback, got the class {callback.__qualname__}: did you forget `()`?")
    if not isinstance(callback, Callback):
        raise TypeError(f"Expected a callback or the name of one, got {callback!r}.")
    return callback

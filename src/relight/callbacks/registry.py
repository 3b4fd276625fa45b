"""The names under which callbacks can be given to the Trainer."""

from __future__ import annotations

import difflib
import inspect
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
        ValueError: for an unknown name, or that of a callback of relight's that needs arguments.
        TypeError: for anything that is neither a name nor a callback, such as a class.
    """
    if isinstance(callback, str):
        if (factory := _FACTORIES.get(callback)) is not None:
            return factory()
        if (known := _without_defaults(callback)) is not None:
            raise ValueError(
                f"{callback!r} cannot be given by name, as {known.__name__} has arguments without a default:"
                f" give an instance, `{known.__name__}({_required(known)})`"
            )
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


def _without_defaults(name: str) -> type[Callback] | None:
    """Return the public callback whose class name, in lower case with underscores, is ``name``."""
    from relight import callbacks

    for each in callbacks.__all__:
        value = getattr(callbacks, each)
        if each.lower() != name.replace("_", ""):
            continue
        if isinstance(value, type) and issubclass(value, Callback) and _required(value):
            return value
    return None


def _required(kind: type[Callback]) -> str:
    """Return how the arguments that have no default are given."""
    parameters = inspect.signature(kind).parameters.values()
    variadic = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    names = [each.name for each in parameters if each.default is each.empty and each.kind not in variadic]
    return ", ".join(f"{name}=…" for name in names)

"""Questions about methods: is one overridden, what does it take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["class_only", "has_own", "is_overridden", "takes_parameter"]


def _code(method: Any) -> Any:
    """Return what makes a method's body distinct, through partials, wrappers and mocks."""
    while hasattr(method, "__wrapped__"):
        method = method.__wrapped__
    method = getattr(method, "func", method)  # functools.partial
    return getattr(method, "__code__", None)


def _unwrapped(method: Any) -> Any:
    """Return what a method's wrappers wrap; ``None`` for what is no method."""
    return inspect.unwrap(method) if callable(method) else None


def is_overridden(name: str, instance: object, parent: type) -> bool:
    """Return whether ``instance`` brings its own ``name``, on its class or set on the instance itself.

    A method that is merely wrapped (a decorator that keeps ``__wrapped__``) around the parent's counts as not
    overridden, and one that was set to ``None`` as not there, as in Lightning.
    """
    given = getattr(instance, name, None)
    inherited = getattr(parent, name, None)
    unwrapped = _unwrapped(given)
    if unwrapped is None:
        return False
    code, parent_code = _code(unwrapped), _code(inherited)
    if code is None:  # a mock or another callable object
        return given is not inherited
    return code is not parent_code


def has_own(name: str, instance: object, parent: type) -> bool:
    """Return whether calling ``name`` of ``instance`` does anything but what ``parent``'s own method does.

    Unlike for :func:`is_overridden`, a wrapper around the parent's method counts: it may do something of its
    own. So does what was put in the place of the parent's method, as tests do.
    """
    given = getattr(instance, name, None)
    if _unwrapped(given) is None:
        return False
    inherited = getattr(parent, name, None)
    if not inspect.isfunction(inherited) or inherited.__module__.partition(".")[0] != "relight":
        return True
    return getattr(given, "__func__", given) is not inherited


def takes_parameter(
    function: Callable[..., Any], name: str, explicit: bool = False, min_args: int | None = None
) -> bool:
    """Return whether ``function`` can be given ``name``.

    It can when it has a parameter of that name, or (unless ``explicit``) takes ``*args``, or has at least
    ``min_args`` parameters whatever their names.
    """
    if inspect.ismethod(function):
        parameters = list(inspect.signature(inspect.unwrap(function.__func__)).parameters.values())[1:]
    else:
        parameters = list(inspect.signature(inspect.unwrap(function)).parameters.values())
    if any(p.name == name and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return True
    if explicit:
        return False
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return min_args is not None and len(positional) >= min_args


if TYPE_CHECKING:
    class_only = classmethod
else:

    class class_only(classmethod):
        """A class method that refuses to be called on an instance, whose state it would not touch."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return the method bound to the class.

            Raises:
                TypeError: When it is called on an instance.
            """
            method = super().__get__(instance, owner)
            if instance is None:
                return method

            @functools.wraps(method)
            def refuse(*args: Any, **kwargs: Any) -> Any:
                name = f"{type(instance).__name__}.{self.__func__.__name__}"
                raise TypeError(
                    f"`{name}(...)` returns a new object: call it on the class, not on an instance"
                )

            return refuse

"""Empty hooks of compat's bases that take more than the core's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["stands_for"]

F = TypeVar("F", bound=Callable[..., Any])


def stands_for(core: Callable[..., Any]) -> Callable[[F], F]:
    """Say that a method only stands for the core's, so that it does not count as overriding it.

    ``super()`` calls of any age arrive at the method; whether a hook is overridden, and what it takes, is
    asked of the core's through ``__wrapped__``.
    """

    def mark(function: F) -> F:
        function.__wrapped__ = core  # type: ignore[attr-defined]
        return function

    return mark

"""Calling a hook that was written for another release: by name and arity, worked out once.

Every hook has one set of values that some release passed to it (``optimizer_idx``, ``dataloader_idx``,
``on_tpu`` …). :func:`plan` reads the user's signature once and decides which of these values goes
where; :class:`Binding` then only picks them. Nothing is called to see whether it fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Binding", "plan"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Binding:
    """Which values a function takes, in its own order.

    Attributes:
        positional: Names of the values passed by position.
        keyword: Pairs of parameter name and value name passed by keyword.
    """

    positional: tuple[str, ...]
    keyword: tuple[tuple[str, str], ...]

    @property
    def names(self) -> frozenset[str]:
        """The values that the function takes."""
        return frozenset(self.positional) | {value for _, value in self.keyword}

    def call(self, function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
        """Call ``function`` with its share of ``values``."""
        if self.keyword:
            named = {name: values[value] for name, value in self.keyword}
            return function(*[values[value] for value in self.positional], **named)
        return function(*[values[value] for value in self.positional])


def plan(
    function: Callable[..., Any],
    layouts: Sequence[Sequence[str]],
    *,
    aliases: Mapping[str, str] | None = None,
    extras: Sequence[str] = (),
    optional: Sequence[str] = (),
    keywords: Sequence[str] = (),
    required: Sequence[str] = (),
) -> Binding:
    """Decide how to call ``function``.

    A parameter whose name is known gets the value of that name. Others are bound by position, in the
    layout (an order of value names that some release used) which fits the number of parameters best: the
    first one with exactly as many, else the shortest one that is long enough. ``*args`` takes the rest of
    the preferred layout, ``**kwargs`` what old releases passed by keyword.

    Args:
        function: A bound method or function, without ``self``.
        layouts: Orders of value names, preferred first.
        aliases: Other spellings of a value's name (``opt_idx`` for ``optimizer_idx``).
        extras: Values that are only passed to a parameter of that name.
        optional: Values that are only passed to a parameter of that name or to one without a default.
        required: Values that only a parameter without a default gets, whatever its name.
        keywords: Values that old releases passed by keyword: ``**kwargs`` gets those that are left.

    Raises:
        TypeError: A parameter without a default that no release ever filled.
    """
    aliases = aliases or {}
    known = {name for layout in layouts for name in layout} | set(extras)
    parameters = list(inspect.signature(function).parameters.values())
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    rest = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)

    named = {parameter.name: _value(parameter.name, known, aliases) for parameter in positional}
    for parameter in positional:
        if named[parameter.name] in required and parameter.default is not parameter.empty:
            named[parameter.name] = None
    layout = _fitting(layouts, positional, {value for value in named.values() if value}, rest)
    bound: list[str] = []
    keyword: list[tuple[str, str]] = []
    by_keyword = False
    taken = {value for value in named.values() if value}
    for index, parameter in enumerate(positional):
        value = named[parameter.name]
        if value is None and index < len(layout):
            candidate = layout[index]
            unwanted = candidate in (*optional, *required) and parameter.default is not parameter.empty
            if candidate not in taken and not unwanted:
                value = candidate
                taken.add(candidate)
        if value is None:
            if parameter.default is parameter.empty:
                raise TypeError(
                    f"`{getattr(function, '__qualname__', function)}` takes {parameter.name!r}, which no"
                    f" release filled: it is called with ({', '.join(layouts[0])})"
                )
            by_keyword = True  # keep its default: what follows goes by keyword
            continue
        if by_keyword:
            keyword.append((parameter.name, value))
        else:
            bound.append(value)
    if rest and not by_keyword:
        bound.extend(name for name in layout[len(bound) :] if name not in taken and name not in optional)
    if rest and not by_keyword:
        bound = [value for value in bound if value not in keywords or value in taken]
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY:
            value = _value(parameter.name, known, aliases)
            if value is not None:
                keyword.append((parameter.name, value))
                taken.add(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            keyword.extend((value, value) for value in keywords if value not in taken)
    return Binding(tuple(bound), tuple(keyword))


def _value(name: str, known: set[str], aliases: Mapping[str, str]) -> str | None:
    name = aliases.get(name, name)
    return name if name in known else None


def _fitting(
    layouts: Sequence[Sequence[str]], positional: Sequence[inspect.Parameter], named: set[str], rest: bool
) -> Sequence[str]:
    count = len(positional)
    # A layout that holds every name the function uses comes before one that does not.
    holding = [layout for layout in layouts if named <= set(layout)] or list(layouts)
    if rest:
        return next((layout for layout in holding if len(layout) >= count), holding[0])
    for layout in holding:
        if len(layout) == count:
            return layout
    longer = [layout for layout in holding if len(layout) > count]
    return min(longer, key=len) if longer else holding[0]

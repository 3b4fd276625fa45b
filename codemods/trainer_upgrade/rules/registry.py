"""How a rule says what it looks for (``rule``, ``on``), and the one traversal that runs all rules.

    @rule("trainer-arguments")
    class TrainerArguments:
        @on(ast.Call)
        def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
            ...

A class is instantiated once for each file, so that its instances may remember what they saw in it. A
plain function works too: ``@rule("name")`` above ``@on(ast.Call)``. A handler for ``ast.Module`` is
called first; nodes then come in the order of the source, parents before children.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from trainer_upgrade.findings import Finding
    from trainer_upgrade.project.context import FileContext

__all__ = ["Rule", "RuleError", "on", "registered", "rule", "run_rules"]

Handler = Callable[[Any, "FileContext"], "Iterable[Finding] | None"]
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=Callable[..., Any])

_MARK = "_trainer_upgrade_nodes"


class RuleError(Exception):
    """A rule raised: names the rule and the place, and carries the cause."""

    def __init__(self, rule: str, path: object, row: int, cause: BaseException) -> None:
        """Say which rule failed where."""
        super().__init__(f"rule {rule!r} failed on {path}:{row}: {type(cause).__name__}: {cause}")
        self.rule = rule
        self.row = row


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule.

    Attributes:
        name: Stable name, for ``--explain`` and the docs.
        module: Where it is written; the module's docstring shows the before and after.
        make: Gives the handlers for one file: pairs of node types and a callable.
    """

    name: str
    module: str
    make: Callable[[], Sequence[tuple[tuple[type[ast.AST], ...], Handler]]]


_RULES: dict[str, Rule] = {}


def on(*types: type[ast.AST]) -> Callable[[F], F]:
    """Mark a handler: it is called for each node of exactly these types."""

    def mark(function: F) -> F:
        setattr(function, _MARK, types)
        return function

    return mark


def rule(name: str) -> Callable[[T], T]:
    """Register a rule (a class with ``@on`` methods, or a function marked with ``@on``).

    Raises:
        ValueError: The name is taken by a rule of another module, or nothing is marked with ``@on``.
    """

    def register(thing: T) -> T:
        known = _RULES.get(name)
        if known is not None and known.module != thing.__module__:
            raise ValueError(f"two rules are called {name!r}: in {known.module} and {thing.__module__}")
        types = getattr(thing, _MARK, None)
        if types is not None:
            pairs = ((types, thing),)
            _RULES[name] = Rule(name, thing.__module__, lambda: pairs)
            return thing
        # dir() walks the bases, so that rules may share handlers.
        names = [attribute for attribute in dir(thing) if hasattr(getattr(thing, attribute), _MARK)]
        if not names:
            raise ValueError(f"rule {name!r} has no handler: mark one with @on(...)")

        def make() -> Sequence[tuple[tuple[type[ast.AST], ...], Handler]]:
            instance = thing()
            handlers = (getattr(instance, attribute) for attribute in names)
            return [(getattr(handler, _MARK), handler) for handler in handlers]

        _RULES[name] = Rule(name, thing.__module__, make)
        return thing

    return register


def registered() -> tuple[Rule, ...]:
    """Return the rules registered so far, by name (call ``trainer_upgrade.rules.load`` first)."""
    return tuple(_RULES[name] for name in sorted(_RULES))


def run_rules(file: FileContext, rules: Iterable[Rule] | None = None) -> Iterator[Finding]:
    """Run rules over one file in one traversal.

    Raises:
        RuleError: A handler raised.
    """
    table: dict[type[ast.AST], list[tuple[str, Handler]]] = {}
    for one in registered() if rules is None else rules:
        for types, handler in one.make():
            for node_type in types:
                table.setdefault(node_type, []).append((one.name, handler))
    for node in file.nodes:
        handlers = table.get(type(node))
        if handlers is None:
            continue
        for name, handler in handlers:
            file.current = node
            try:
                found = handler(node, file)
                if found is not None:
                    yield from found
            except RecursionError as error:
                raise RuleError(name, file.path, getattr(node, "lineno", 1), error) from error
            except Exception as error:
                raise RuleError(name, file.path, getattr(node, "lineno", 1), error) from error

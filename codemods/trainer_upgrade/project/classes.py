"""The classes of the project: what Lightning class stands behind each, across files."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from trainer_upgrade.project.canonical import canonical, kind_of
from trainer_upgrade.project.module import Module
from trainer_upgrade.project.names import Names, Symbol, qualname

if TYPE_CHECKING:
    from trainer_upgrade.project.index import Project

__all__ = ["ClassInfo", "Classes", "Function"]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True, eq=False)
class ClassInfo:
    """What is known of one class statement.

    Attributes:
        node: The statement.
        module: The file it is in.
        name: Its name.
        qualname: Its qualified name inside the file.
        bases: Dotted names of the bases that could be resolved, as written: other distributions' paths are
            not made canonical.
        known: Whether every base, and theirs, is a class of the project or of Lightning, or a plain
            builtin or standard class.
        lightning: Canonical name of the first Lightning class among the ancestors, or ``None``.
        methods: The functions defined in the class body (of alternatives in ``if``/``else`` the last).
        parents: The bases that are classes of the project.
    """

    node: ast.ClassDef
    module: Module
    name: str
    qualname: str
    bases: tuple[str, ...]
    known: bool
    lightning: str | None
    methods: dict[str, Function]
    parents: tuple[ClassInfo, ...]
    _classes: Classes

    @property
    def path(self) -> Path:
        """The file it is in."""
        return self.module.path

    @property
    def kind(self) -> str | None:
        """``LightningModule``, ``Callback``, ``Trainer``, ``Logger`` …, or ``None``."""
        return kind_of(self.lightning) if self.lightning else None

    @property
    def label(self) -> str | None:
        """Name of the nearest Lightning class: ``EarlyStopping`` for a class derived from it."""
        return self.lightning.rpartition(".")[2] if self.lightning else None

    def ancestors(self) -> list[ClassInfo]:
        """Return this class and its bases in the project, in the order attributes are looked up."""
        order: list[ClassInfo] = []
        left = [self]
        while left:
            current = left.pop()
            if current in order:
                order.remove(current)  # a shared ancestor comes after all that derive from it
            order.append(current)
            if len(order) > 200:
                break
            left.extend(reversed(current.parents))
        return order

    def find_method(self, name: str) -> tuple[ClassInfo, Function] | None:
        """Find a method here or in a visible base, and the class that defines it."""
        for each in self.ancestors():
            found = each.methods.get(name)
            if found is not None:
                return each, found
        return None

    def subclasses(self) -> list[ClassInfo]:
        """Return all classes of the project that derive from this one, directly or not, sorted by place."""
        return self._classes.subclasses(self)

    def mixed_kind(self) -> str | None:
        """Return the kind; for a mixin that of the classes that use it (``None`` if they differ)."""
        if self.kind is not None or self.lightning is not None:
            return self.kind
        kinds = {each.kind for each in self.subclasses() if each.kind is not None}
        return kinds.pop() if len(kinds) == 1 else None


class Classes:
    """Finds the :class:`ClassInfo` of class statements and names."""

    def __init__(self, project: Project, names: Names) -> None:
        """Look up classes of a project."""
        self.project = project
        self.names = names
        self._busy: set[ast.AST] = set()

    def info(self, node: ast.ClassDef, module: Module) -> ClassInfo:
        """Return what is known of a class statement of a file."""
        key = ("class", node)
        found = self.project.memo.get(key)
        if isinstance(found, ClassInfo):
            return found
        self._busy.add(node)
        try:
            made = self._make(node, module)
        finally:
            self._busy.discard(node)
        if not self._busy:
            self.project.memo[key] = made
        return made

    def of(self, symbol: Symbol | None) -> ClassInfo | None:
        """Return what is known of a class of the project that a name stands for."""
        if symbol is None or symbol.kind != "class" or not isinstance(symbol.node, ast.ClassDef):
            return None
        return self.info(symbol.node, symbol.module)

    def subclasses(self, info: ClassInfo) -> list[ClassInfo]:
        """Return all classes of the project that derive from one, directly or not, sorted by place."""
        children = self._children()
        found: dict[ast.AST, ClassInfo] = {}
        left: list[ast.AST] = [info.node]
        while left:
            for child in children.get(left.pop(), ()):
                if child.node not in found and child.node is not info.node:
                    found[child.node] = child
                    left.append(child.node)
        return sorted(found.values(), key=lambda each: (str(each.path), each.node.lineno))

    def _children(self) -> dict[ast.AST, list[ClassInfo]]:
        known = self.project.memo.get("children")
        if known is not None:
            return known  # type: ignore[return-value]
        children: dict[ast.AST, list[ClassInfo]] = {}
        for module in self.project.relevant_modules():
            for node in module.scopes.nodes:
                if isinstance(node, ast.ClassDef):
                    info = self.info(node, module)
                    for parent in info.parents:
                        children.setdefault(parent.node, []).append(info)
        self.project.memo["children"] = children
        return children

    def _make(self, node: ast.ClassDef, module: Module) -> ClassInfo:
        bases: list[str] = []
        parents: list[ClassInfo] = []
        known = True
        lightning: str | None = None
        for expression in node.bases:
            base = expression.value if isinstance(expression, ast.Subscript) else expression
            symbol = self.names.resolve(base, module)
            if symbol is None:
                known = known and self._plain(base)
                continue
            bases.append(symbol.dotted)
            if symbol.kind == "external":
                found = canonical(symbol.dotted)
                if found is not None:
                    lightning = lightning or found
                else:
                    known = known and symbol.dotted.split(".")[0] in _HARMLESS
                continue
            if isinstance(symbol.node, ast.ClassDef) and symbol.node not in self._busy:
                parent = self.info(symbol.node, symbol.module)
                parents.append(parent)
                known = known and parent.known
                lightning = lightning or parent.lightning
            else:
                known = False
        return ClassInfo(
            node=node,
            module=module,
            name=node.name,
            qualname=qualname(node, module),
            bases=tuple(bases),
            known=known,
            lightning=lightning,
            methods=_methods(node),
            parents=tuple(parents),
            _classes=self,
        )

    def _plain(self, base: ast.expr) -> bool:
        return isinstance(base, ast.Name) and base.id in ("object", "Exception", "dict", "list", "str", "int")


# Bases that have no hooks of Lightning.
_HARMLESS = frozenset(
    {"abc", "torch", "typing", "typing_extensions", "enum", "collections", "dataclasses", "threading"}
)


def _methods(node: ast.ClassDef) -> dict[str, Function]:
    methods: dict[str, Function] = {}
    left: list[ast.stmt] = list(reversed(node.body))
    while left:
        statement = left.pop()
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            methods[statement.name] = statement
        elif isinstance(statement, (ast.If, ast.Try)):
            inner = [*statement.body, *statement.orelse]
            if isinstance(statement, ast.Try):
                inner += [each for handler in statement.handlers for each in handler.body]
            left.extend(reversed(inner))
    return methods

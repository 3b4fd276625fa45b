"""What a name means: through imports, aliases, star imports and the other files of the project."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainer_upgrade.project.canonical import canonical
from trainer_upgrade.project.module import Module
from trainer_upgrade.project.scopes import Binding, Scope

if TYPE_CHECKING:
    from trainer_upgrade.project.index import Project

__all__ = ["Names", "Symbol"]

_BUILTINS = frozenset(dir(builtins))
_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Symbol:
    """What an expression stands for.

    Attributes:
        kind: ``external`` (another distribution's thing), ``module``, ``class`` or ``function`` (of the
            project).
        dotted: Dotted name; for things of the project that of their module and their place in it.
        module: The file: of the thing itself, or the one whose import named it, for ``external``.
        node: The definition, for ``class`` and ``function``.
    """

    kind: str
    dotted: str
    module: Module
    node: ast.AST | None = None

    @property
    def identity(self) -> object:
        """What is equal for two ways to one thing."""
        if self.kind == "external":
            return canonical(self.dotted) or self.dotted
        return self.node if self.node is not None else self.module.path


class Names:
    """Resolves expressions of one project."""

    def __init__(self, project: Project) -> None:
        """Resolve within a project."""
        self.project = project
        self._busy: set[object] = set()

    def resolve(
        self, node: ast.expr, module: Module, scope: Scope | None = None, at: ast.AST | None = None
    ) -> Symbol | None:
        """Return what an expression stands for, or ``None`` when that is not sure.

        Args:
            node: The expression.
            module: The file it is in.
            scope: Where to look names up, for an expression that is not part of the file's tree (an
                annotation in a string).
            at: The node whose place counts then.
        """
        if isinstance(node, ast.Name):
            return self.name(node.id, module, at or node, scope)
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value, module, scope, at)
            return None if base is None else self.attribute(base, node.attr)
        if isinstance(node, ast.NamedExpr):
            return self.resolve(node.value, module, scope, at)
        if isinstance(node, ast.IfExp):
            return self._agree([self._value(part, module, scope, at) for part in (node.body, node.orelse)])
        return None

    def name(self, name: str, module: Module, at: ast.AST, scope: Scope | None = None) -> Symbol | None:
        """Return what a bare name stands for at a place of a file."""
        found = module.scopes.lookup(name, at, scope)
        if found is None:
            return self._starred(name, module) if name not in _BUILTINS else None
        owner, bindings = found
        return self._bindings(name, bindings, owner, module)

    def member(self, module: Module, name: str) -> Symbol | None:
        """Return what a module of the project has under a name when it has run."""
        key = ("member", module.path, name)
        memo = self.project.memo
        if key in memo:
            return memo[key]  # type: ignore[return-value]
        if key in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(key)
        try:
            result = self._member(module, name)
        finally:
            self._busy.discard(key)
        if not self._busy:
            memo[key] = result
        return result

    def attribute(self, base: Symbol, name: str) -> Symbol | None:
        """Return what an attribute of something stands for."""
        dotted = f"{base.dotted}.{name}"
        if base.kind == "external":
            found = self.project.find(dotted, base.module) if canonical(dotted) is None else None
            if found is not None:
                return Symbol("module", found.name, found)
            return Symbol("external", dotted, base.module)
        if base.kind == "module":
            return self.member(base.module, name)
        if base.kind == "class" and base.node is not None:
            inner = base.module.scopes.inner.get(base.node)
            bindings = inner.bindings.get(name) if inner is not None else None
            if inner is not None and bindings:
                return self._bindings(name, bindings, inner, base.module)
        return None

    # Inner works

    def _member(self, module: Module, name: str) -> Symbol | None:
        if not module.usable:
            return None
        bindings = module.scopes.at_end(name)
        if bindings:
            return self._bindings(name, bindings, module.scopes.module, module)
        starred = self._starred(name, module)
        if starred is not None:
            return starred
        if module.is_package:
            found = self.project.find_from(1, name, module)
            if found is not None:
                return Symbol("module", found.name, found)
        return None

    def _starred(self, name: str, module: Module) -> Symbol | None:
        """What a name means that only a star import can have bound."""
        for star in reversed(module.scopes.module.stars):
            source = self.project.find_from(star.level, star.module, module)
            if source is not None and not _is_lightning(star):
                if source.usable and _exports(source, name):
                    found = self.member(source, name)
                    if found is not None:
                        return found
            elif star.level == 0 and star.module and not name.startswith("_"):
                dotted = f"{star.module}.{name}"
                if canonical(dotted) is not None and _star_gives(star.module, name):
                    return Symbol("external", dotted, module)
        return None

    def _bindings(self, name: str, bindings: list[Binding], owner: Scope, module: Module) -> Symbol | None:
        key = ("binding", *map(id, bindings))
        if key in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(key)
        try:
            found: list[Symbol | bool | None] = []
            for binding in bindings:
                if (
                    binding.kind not in ("import", "from")
                    and len(bindings) > 1
                    and in_import_fallback(binding, module)
                ):
                    continue  # what stands in when the import failed: a stub, an object, a flag
                found.append(self._binding(binding, owner, module))
            return self._agree(found)
        finally:
            self._busy.discard(key)

    def _binding(self, binding: Binding, owner: Scope, module: Module) -> Symbol | bool | None:
        """What one binding gives; ``True`` for ``None`` (the constant), which says nothing."""
        node = binding.node
        if binding.kind == "import":
            assert isinstance(node, ast.alias)
            dotted = node.name if node.asname else node.name.split(".")[0]
            return self._imported_module(dotted, module)
        if binding.kind == "from":
            assert isinstance(node, ast.alias)
            assert isinstance(binding.statement, ast.ImportFrom)
            return self._imported_name(binding.statement, node.name, module)
        if binding.kind in ("class", "def"):
            kind = "class" if binding.kind == "class" else "function"
            return Symbol(kind, f"{module.name}.{qualname(node, module)}", module, node)
        if binding.kind == "assign" and binding.value is not None:
            return self._value(binding.value, module, None, None)
        return None

    def _value(
        self, node: ast.expr, module: Module, scope: Scope | None, at: ast.AST | None
    ) -> Symbol | bool | None:
        if isinstance(node, ast.Constant) and node.value is None:
            return True
        return self.resolve(node, module, scope, at)

    def _imported_module(self, dotted: str, module: Module) -> Symbol:
        found = self.project.find(dotted, module)
        if found is not None and found.path != module.path and not _genuine(dotted, found):
            return Symbol("module", found.name, found)
        return Symbol("external", dotted, module)

    def _imported_name(self, statement: ast.ImportFrom, name: str, module: Module) -> Symbol | None:
        source = self.project.find_from(statement.level, statement.module, module)
        if source is not None and not (statement.level == 0 and _genuine(statement.module or "", source)):
            found = self.member(source, name) if source.path != module.path else None
            if found is not None or (source.path != module.path and source.usable):
                return found
        inner = f"{statement.module}.{name}" if statement.module else name
        if statement.level or canonical(inner) is None:
            submodule = self.project.find_from(statement.level, inner, module)
            if submodule is not None:
                return Symbol("module", submodule.name, submodule)
        if statement.level or (source is not None and not _genuine(statement.module or "", source)):
            return None
        return Symbol("external", inner, module)

    def _agree(self, found: list[Symbol | bool | None]) -> Symbol | None:
        symbols = [each for each in found if each is not True]
        first = symbols[0] if symbols else None
        if not isinstance(first, Symbol):
            return None
        for other in symbols[1:]:
            if not isinstance(other, Symbol) or other.identity != first.identity:
                return None
        return first


def _genuine(dotted: str, found: Module) -> bool:
    """Whether a file that an import of a Lightning root reaches is Lightning's, not the user's.

    A project may call one of its own modules ``lightning``; nobody calls one ``pytorch_lightning``.
    """
    top = dotted.split(".")[0]
    if top in ("pytorch_lightning", "lightning_fabric", "relight"):
        return True
    if top == "lightning":
        directory = found.path.parent
        while directory.name != "lightning" and directory != directory.parent:
            directory = directory.parent
        return (directory / "pytorch").is_dir()
    return False


def _is_lightning(star: ast.ImportFrom) -> bool:
    return star.level == 0 and canonical(star.module or "") is not None


def _star_gives(module: str, name: str) -> bool:
    """Whether ``from <a Lightning module> import *`` binds a name, as far as the catalogue knows."""
    from trainer_upgrade import catalogue
    from trainer_upgrade.catalogue.entry import Target

    dotted = canonical(f"{module}.{name}")
    return dotted is not None and catalogue.resolve_import(dotted, Target.LIGHTNING) is not None


def _exports(module: Module, name: str) -> bool:
    """Whether a star import of a file of the project binds a name."""
    listed = dunder_all(module)
    return not name.startswith("_") if listed is None else name in listed


def dunder_all(module: Module) -> set[str] | None:
    """Return the names in a module's ``__all__``; ``None`` without one, or when it is not a plain list."""
    names: set[str] = set()
    for binding in module.scopes.module.bindings.get("__all__", []):
        value = binding.value
        if isinstance(binding.statement, ast.AugAssign):
            value = binding.statement.value
        if not isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            return None
        for element in value.elts:
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                names.add(element.value)
            else:
                return None
    return names if "__all__" in module.scopes.module.bindings else None


def in_import_fallback(binding: Binding, module: Module) -> bool:
    """Whether a binding stands in an ``except`` of a ``try`` around imports."""
    node: ast.AST | None = binding.statement
    while node is not None:
        parent = module.scopes.parents.get(node)
        if isinstance(node, ast.ExceptHandler) and isinstance(parent, ast.Try):
            return any(isinstance(each, (ast.Import, ast.ImportFrom)) for each in parent.body)
        node = parent
    return False


def qualname(node: ast.AST, module: Module) -> str:
    """Return the qualified name of a definition (``Outer.method.<locals>.Inner``)."""
    parts: list[str] = []
    current: ast.AST | None = node
    while current is not None:
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts += [current.name] if current is node else ["<locals>", current.name]
        elif isinstance(current, ast.ClassDef):
            parts.append(current.name)
        current = module.scopes.parents.get(current)
    return ".".join(reversed(parts))

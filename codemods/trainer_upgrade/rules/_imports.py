"""Every import of Lightning in a file, what is reached through it, and where each name goes.

One :class:`Bound` stands for one local name (``pl``, ``Trainer``, ``cbs``) and all statements that bind
it. Whether
it can move is decided for the name as a whole: where one use has no twin on the target, the import and
all uses
stay as they are, together.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import ImportFact, compat_names
from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.findings import ImportRequest
from trainer_upgrade.project.canonical import FABRIC_ROOTS, root_of
from trainer_upgrade.project.connected import together
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.names import in_import_fallback
from trainer_upgrade.project.scopes import Binding, Scope
from trainer_upgrade.rules.support.legacy_loop import runs_on_compat

__all__ = ["Bound", "Imports", "Reference", "imports_of", "target_of"]

ImportStatement = ast.Import | ast.ImportFrom

LEGACY_ROOTS = ("pytorch_lightning", "lightning.pytorch", "lightning")
# Paths that `import pytorch_lightning` leaves unimported in 2.6.
_UNREACHED = (
    "pytorch_lightning.cli",
    "pytorch_lightning.serve",
    "pytorch_lightning.loggers.neptune",
    "pytorch_lightning.utilities.consolidate_checkpoint",
    "pytorch_lightning.utilities.deepspeed",
    "pytorch_lightning.utilities.upgrade_checkpoint",
)
# Where the loop of 1.x lives on: what a module with several automatic optimizers needs.
_LOOP = {
    "relight.LightningModule": "relight.compat.LightningModule",
    "relight.Trainer": "relight.compat.Trainer",
}
# Metrics that torchmetrics has no twin of.
_METRICS = "TRU310"
# Packages that `import relight` reaches as attributes.
_RELIGHT_PACKAGES = ("callbacks", "compat", "loggers", "plugins", "profilers", "trainer", "utilities")


@dataclass(eq=False)
class Reference:
    """One use of a local name, with the attributes that follow it.

    Attributes:
        name: The name itself.
        node: The whole chain, ``pl.callbacks.ModelCheckpoint``.
        dotted: What it stands for, rooted at ``pytorch_lightning``.
        fact: What became of it on the file's target; ``None`` for an attribute of a name that did not change.
    """

    name: ast.Name
    node: ast.expr
    dotted: str
    fact: ImportFact | None


@dataclass(eq=False)
class Bound:
    """A local name that imports of Lightning bind in one scope.

    Attributes:
        local: The name.
        dotted: What it stands for, rooted at ``pytorch_lightning``.
        path: What it stands for, as it was imported.
        root: The root it was imported by.
        scope: Where it is bound.
        aliases: The statements that bind it, and the part of each that does.
        references: Its uses.
        shared: Something else binds the name too, so that uses cannot be told apart.
        guarded: An import stands in a ``try`` with another import of Lightning as its fallback.
    """

    local: str
    dotted: str
    path: str
    root: str
    scope: Scope
    aliases: list[tuple[ImportStatement, ast.alias]] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    shared: bool = False
    guarded: bool = False

    @property
    def is_from(self) -> bool:
        """Whether ``from … import`` binds it."""
        return isinstance(self.aliases[0][0], ast.ImportFrom)


class Imports:
    """All imports of Lightning in one file.

    Attributes:
        bound: The names they bind.
        stars: ``from … import *`` of Lightning.
    """

    def __init__(self, file: FileContext) -> None:
        """Look at a file."""
        self.file = file
        self.target = file.target
        self.bound: list[Bound] = []
        self.stars: list[ast.ImportFrom] = []
        self._by_binding: dict[int, Bound] = {}
        self._collect()
        self._follow()
        self._blockers: dict[int, list[tuple[ast.AST, str, str]]] = {}

    # Questions

    def of(self, node: ast.expr) -> Bound | None:
        """Return the imported name that an expression begins with."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        found = self.file.module.scopes.lookup(node.id, node)
        if found is None:
            return None
        for binding in found[1]:
            bound = self._by_binding.get(id(binding.node))
            if bound is not None:
                return bound
        return None

    def fact(self, dotted: str) -> ImportFact | None:
        """Return what became of a path on the file's target."""
        found = catalogue.resolve_import(dotted, self.target)
        if self.target is not Target.RELIGHT or found is None:
            return found
        if found.new is None:
            return _through_compat(dotted, found)
        if found.new not in _LOOP:
            return found
        return replace(found, new=_LOOP[found.new]) if runs_on_compat(self.file) else found

    def blockers(self, bound: Bound) -> list[tuple[ast.AST, str, str]]:
        """Return why a name cannot move to relight: place, code and message of each reason."""
        key = id(bound)
        if key not in self._blockers:
            self._blockers[key] = list(self._find_blockers(bound))
        return self._blockers[key]

    def moves(self, bound: Bound) -> bool:
        """Whether the name is relight's after the upgrade (only asked for target relight)."""
        if bound.root.startswith("relight"):
            return True
        return anchor(self.file) is None

    def anchored(self) -> ast.AST | None:
        """Return the first place of the file that cannot leave Lightning, if there is one."""
        for bound in self.bound:
            if bound.root in LEGACY_ROOTS:
                blockers = self.blockers(bound)
                if blockers and not bound.shared and all(code == _METRICS for _, code, _ in blockers):
                    continue  # gone from every 2.x as well, and nothing that a Trainer has to know
                if bound.shared or bound.guarded or blockers:
                    return blockers[0][0] if blockers else bound.aliases[0][0]
        return self.stars[0] if self.stars else None

    def siblings(self, statement: ImportStatement) -> list[Bound]:
        """Return the names that a statement binds."""
        return [each for each in self.bound if any(one is statement for one, _ in each.aliases)]

    def _find_blockers(self, bound: Bound) -> Iterator[tuple[ast.AST, str, str]]:
        for statement, alias in bound.aliases:
            dotted = self._imported(statement, alias)
            fact = self.fact(dotted)
            if fact is None:
                yield statement, "TRU333", f"`{dotted}` is not known; it stays on Lightning"
            elif fact.new is None and not removable(dotted):
                yield statement, fact.code, fact.advice
        for reference in bound.references:
            fact = reference.fact
            if fact is None:
                if reference.dotted != bound.dotted:
                    yield (
                        reference.node,
                        "TRU333",
                        f"`{reference.dotted}` is not known; its import stays on Lightning",
                    )
            elif fact.new is None and not removable(reference.dotted) and reference.dotted != bound.dotted:
                yield reference.node, fact.code, fact.advice
            if not self.file.editable(reference.node) and bound.local == "pytorch_lightning":
                yield reference.node, "TRU334", "a use within an f-string cannot be rewritten here"

    def _imported(self, statement: ImportStatement, alias: ast.alias) -> str:
        if isinstance(statement, ast.Import):
            return rerooted(alias.name)
        return rerooted(f"{statement.module}.{alias.name}")

    # Names in the new text

    def write(self, new: str, bound: Bound, base: str, local: str) -> tuple[str, tuple[ImportRequest, ...]]:
        """Say how to write a path after the imports of the file have been upgraded.

        Args:
            new: The path, as the catalogue gives it.
            bound: The name it was reached through.
            base: What that name stands for in the new text.
            local: What it is called there.
        """
        path = self.rooted(new, bound.root)
        if path == base:
            return local, ()
        if path.startswith(base + ".") and reachable(path, base):
            return local + path[len(base) :], ()
        for other in self.bound:
            if other is bound or other.scope is not bound.scope or other.shared or not other.is_from:
                continue
            fact = self.fact(other.dotted)
            if fact is not None and fact.new == new and fact.status == "kept":
                return other.local, ()
        if not new.startswith(("pytorch_lightning", "relight")):
            return self.file.spell(new, bound.references[0].node if bound.references else None)
        module, _, name = path.rpartition(".")
        if not module:
            return path, (ImportRequest(path),)
        if any(each.local == name and self._becomes(each) == path for each in self.bound):
            return name, (ImportRequest(module, name),)
        if free(self.file, name):
            return name, (ImportRequest(module, name),)
        return f"Lightning{name}", (ImportRequest(module, name, f"Lightning{name}"),)

    def _becomes(self, bound: Bound) -> str | None:
        fact = self.fact(bound.dotted)
        return self.rooted(fact.new, bound.root) if fact is not None and fact.new else None

    def rooted(self, new: str, root: str) -> str:
        """Return a path of the catalogue with the root that the project writes."""
        if (
            self.target is Target.LIGHTNING
            and root != "pytorch_lightning"
            and new.split(".")[0] == "pytorch_lightning"
        ):
            return "lightning.pytorch" + new[len("pytorch_lightning") :]
        return new

    # Collecting

    def _collect(self) -> None:
        scopes = self.file.module.scopes
        groups: dict[tuple[int, str], Bound] = {}
        for scope in (scopes.module, *scopes.inner.values()):
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    if binding.kind in ("import", "from"):
                        self._take(binding, name, scope, groups)
        for node in self.file.nodes:
            if (
                isinstance(node, ast.ImportFrom)
                and node.level == 0
                and any(each.name == "*" for each in node.names)
            ) and root_of(node.module or "") in LEGACY_ROOTS:
                self.stars.append(node)
        for bound in groups.values():
            others = [
                each
                for each in bound.scope.bindings[bound.local]
                if not self._mine(each, bound) and not in_import_fallback(each, self.file.module)
            ]
            bound.shared = bound.shared or bool(others)
            bound.guarded = any(self._has_fallback(statement) for statement, _ in bound.aliases)
        self.bound = sorted(groups.values(), key=lambda each: (each.aliases[0][0].lineno, each.local))

    def _mine(self, binding: Binding, bound: Bound) -> bool:
        return any(binding.node is alias for _, alias in bound.aliases)

    def _take(self, binding: Binding, name: str, scope: Scope, groups: dict[tuple[int, str], Bound]) -> None:
        statement, alias = binding.statement, binding.node
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) or not isinstance(alias, ast.alias):
            return
        if isinstance(statement, ast.ImportFrom):
            if statement.level or statement.module is None or alias.name == "*":
                return
            path = f"{statement.module}.{alias.name}"
            if self.file.project.find(statement.module, self.file.module) is not None:
                return
        else:
            path = alias.name if alias.asname else alias.name.split(".")[0]
            whole = root_of(alias.name)
            if alias.asname is None and whole is not None:
                path = path if whole != "lightning.pytorch" else "lightning"
            if self.file.project.find(alias.name, self.file.module) is not None:
                return
        root = root_of(alias.name if isinstance(statement, ast.Import) else path)
        if root is None or (root in FABRIC_ROOTS and "lite" not in path):
            return
        if self._never_run(statement):
            return
        key = (id(scope), name)
        bound = groups.get(key)
        if bound is not None and bound.dotted != rerooted(path):
            bound.shared = True
        if bound is None:
            bound = groups[key] = Bound(name, rerooted(path), path, root, scope)
        bound.aliases.append((statement, alias))
        self._by_binding[id(alias)] = bound

    def _has_fallback(self, statement: ast.stmt) -> bool:
        """Whether the import is one of two ways to the same thing, for two releases."""
        file = self.file
        if not file.in_try_import(statement):
            return False
        current: ast.AST | None = statement
        while current is not None:
            parent = file.parent(current)
            if isinstance(parent, ast.Try) and not self._goes(parent):
                blocks = [parent.body, *(handler.body for handler in parent.handlers), parent.orelse]
                with_import = sum(any(_imports_lightning(each) for each in block) for block in blocks)
                if with_import > 1:
                    return True
            current = parent
        return False

    def _never_run(self, statement: ast.stmt) -> bool:
        """Whether an import is the fallback of one that goes to relight: it stays, and is never reached."""
        current: ast.AST | None = statement
        while current is not None:
            parent = self.file.parent(current)
            if isinstance(parent, ast.Try) and isinstance(current, ast.ExceptHandler) and self._goes(parent):
                return True
            current = parent
        return False

    def _goes(self, node: ast.Try) -> bool:
        """Whether all imports of Lightning that a ``try`` begins with go to relight, or have gone there."""
        if self.target is not Target.RELIGHT or not self.file.in_try_import(node.body[0]):
            return False
        paths = []
        for each in (inner for statement in node.body for inner in ast.walk(statement)):
            if isinstance(each, ast.Import):
                paths += [alias.name for alias in each.names]
            elif isinstance(each, ast.ImportFrom) and each.level == 0:
                paths += [f"{each.module}.{alias.name}" for alias in each.names]
        paths = [path for path in paths if root_of(path) is not None]
        return bool(paths) and all(self._arrives(path) for path in paths)

    def _arrives(self, path: str) -> bool:
        root = root_of(path) or ""
        if root.startswith("relight"):
            return True
        fact = self.fact(rerooted(path)) if root in LEGACY_ROOTS else None
        return fact is not None and (fact.new is not None or removable(rerooted(path)))

    def _follow(self) -> None:
        file = self.file
        locals_ = {each.local for each in self.bound}
        for node in file.nodes:
            if not isinstance(node, ast.Name) or node.id not in locals_ or not isinstance(node.ctx, ast.Load):
                continue
            found = file.module.scopes.lookup(node.id, node)
            if found is None:
                continue
            mine = {
                id(bound): bound
                for each in found[1]
                for bound in (self._by_binding.get(id(each.node)),)
                if bound
            }
            if not mine:
                continue
            others = [each for each in found[1] if id(each.node) not in self._by_binding]
            if len(mine) > 1 or any(not in_import_fallback(each, file.module) for each in others):
                for bound in mine.values():
                    bound.shared = True
                continue
            (bound,) = mine.values()
            outer: ast.expr = node
            parent = file.parent(outer)
            parts = bound.dotted.split(".")
            bare = len(parts)
            while isinstance(parent, ast.Attribute):
                parts.append(parent.attr)
                outer, parent = parent, file.parent(parent)
            if (
                bound.root == "lightning"
                and len(parts) > bare
                and bare == 1
                and parts[1] in ("pytorch", "fabric")
            ):
                if parts[1] == "fabric":
                    bound.references.append(Reference(node, outer, "lightning.fabric", None))
                    continue
                del parts[1]
            bound.references.append(self._reference(bound, node, outer, parts))

    def _reference(self, bound: Bound, name: ast.Name, outer: ast.expr, parts: list[str]) -> Reference:
        # A class ends the path: what follows is an attribute of it.
        start = bound.dotted.count(".") + 1
        for length in range(start + 1, len(parts) + 1):
            head = ".".join(parts[:length])
            if parts[length - 1][:1].isupper() and self.fact(head) is not None:
                for _ in range(len(parts) - length):
                    assert isinstance(outer, ast.Attribute)
                    outer = outer.value
                return Reference(name, outer, head, self.fact(head))
        if bound.dotted.rpartition(".")[2][:1].isupper():
            return Reference(name, name, bound.dotted, self.fact(bound.dotted))
        dotted = ".".join(parts)
        fact = self.fact(dotted)
        return Reference(name, outer, dotted, fact)


def _through_compat(dotted: str, fact: ImportFact) -> ImportFact:
    """Lead a name that the core has no twin of to compat, where that has it."""
    new = compat_names.through_compat(dotted)
    if new is None or removable(dotted):
        return fact
    if compat_names.stands_in(dotted):
        # The import only moves; that the name is gone is a finding of its own (rule ``stand-ins``).
        text = f"`{dotted.rpartition('.')[2]}`: import it from {new.rpartition('.')[0]}"
        return replace(
            fact, new=new, status="moved", code="TRU334", advice=text, applicability=Applicability.SAFE
        )
    return replace(fact, new=new, status="moved", applicability=Applicability.SAFE)


def imports_of(file: FileContext) -> Imports:
    """Return the imports of a file; looked for once."""
    found = file.memo.get("imports")
    if not isinstance(found, Imports):
        found = file.memo["imports"] = Imports(file)
    return found


def anchor(file: FileContext) -> str | None:
    """Return what keeps a file on Lightning (``models.py:12``); ``None`` if it can go to relight.

    A module of one root under a Trainer of the other fails when it runs, so of the files that run together
    either all go or none does.
    """
    memo, group = file.project.memo, together(file.module, file.project)
    key = ("anchor", group[0].path, file.target)
    if key not in memo:
        memo[key] = None
        for module in group:
            same = module.path == file.module.path
            other = file if same else FileContext(module, file.project, options=file.options)
            place = imports_of(other).anchored()
            if place is not None:
                memo[key] = f"{_relative(module.path, file.module.path)}:{getattr(place, 'lineno', 1)}"
                break
    return memo[key]  # type: ignore[return-value]


def _relative(path: Path, origin: Path) -> str:
    return path.name if path.parent == origin.parent else os.path.relpath(path, origin.parent)


def target_of(node: ast.expr, file: FileContext) -> Target:
    """Return where a name leads after the upgrade: to Lightning, if its import stays there."""
    if file.target is Target.LIGHTNING:
        return Target.LIGHTNING
    imports = imports_of(file)
    bound = imports.of(node)
    if bound is None:
        symbol = file.symbol(node)
        if symbol is not None and symbol.kind == "external" and not symbol.dotted.startswith("relight"):
            return Target.LIGHTNING if not _file_moves(imports) else Target.RELIGHT
        return Target.RELIGHT if _file_moves(imports) else Target.LIGHTNING
    return Target.RELIGHT if imports.moves(bound) else Target.LIGHTNING


def _file_moves(imports: Imports) -> bool:
    return all(imports.moves(bound) for bound in imports.bound)


def rerooted(dotted: str) -> str:
    """Return a path rooted at ``pytorch_lightning``."""
    root = root_of(dotted)
    if root is None or root in FABRIC_ROOTS:
        return dotted
    rest = dotted[len(root) :]
    return "pytorch_lightning" + rest


def reachable(path: str, base: str) -> bool:
    """Whether a path is an attribute of its base once that is imported."""
    if path.startswith("relight."):
        if base != "relight":
            return path.count(".") == base.count(".") + 1
        parts = path.split(".")[1:]
        return len(parts) == 1 or (len(parts) == 2 and parts[0] in _RELIGHT_PACKAGES)
    if path.startswith("lightning.pytorch"):
        path = "pytorch_lightning" + path[len("lightning.pytorch") :]
    return not any(path == each or path.startswith(each + ".") for each in _UNREACHED)


def free(file: FileContext, name: str) -> bool:
    """Whether no scope of the file binds a name."""
    scopes = file.module.scopes
    return not any(name in each.bindings for each in (scopes.module, *scopes.inner.values()))


# Names of types only, which a plain type can stand for.
REMOVABLE = {"pytorch_lightning.utilities.types.EPOCH_OUTPUT": "list"}


def removable(dotted: str) -> bool:
    """Whether a name that is gone can be written in another way."""
    return dotted in REMOVABLE


def mentioned(file: FileContext, name: str) -> bool:
    """Whether a string may use a local name: an entry of ``__all__`` or an annotation."""
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    for node in file.nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or name not in node.value:
            continue
        if isinstance(file.parent(node), ast.Expr) or not word.search(node.value):
            continue
        if node.value == name or _in_annotation(node, file):
            return True
    return False


def _in_annotation(node: ast.AST, file: FileContext) -> bool:
    current: ast.AST = node
    parent = file.parent(current)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.arg):
            return True
        current, parent = parent, file.parent(parent)
    if isinstance(parent, ast.AnnAssign):
        return parent.annotation is current
    return isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and parent.returns is current


def exported(file: FileContext, name: str) -> bool:
    """Whether other files may import a local name from this one."""
    if file.module.is_package:
        return True
    memo, key = file.project.memo, "imported-by-others"
    if key not in memo:
        memo[key] = _imported_by_others(file)
    taken: dict[Path, set[str]] = memo[key]  # type: ignore[assignment]
    return not taken.get(file.module.path, set()).isdisjoint({name, "*"})


def _imported_by_others(file: FileContext) -> dict[Path, set[str]]:
    """Return which names of each file other files of the project import."""
    taken: dict[Path, set[str]] = {}
    for other in file.project.relevant_modules():
        for node in other.scopes.nodes:
            if isinstance(node, ast.ImportFrom):
                found = file.project.find_from(node.level, node.module, other)
                if found is not None and found.path != other.path:
                    taken.setdefault(found.path, set()).update(each.name for each in node.names)
    return taken


def _imports_lightning(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Import) and any(root_of(each.name) is not None for each in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and root_of(node.module or "") is not None:
            return True
    return False


def worst(facts: list[ImportFact]) -> Applicability:
    """Return the least sure of some facts."""
    order = [Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL]
    return max((each.applicability for each in facts), key=order.index, default=Applicability.SAFE)

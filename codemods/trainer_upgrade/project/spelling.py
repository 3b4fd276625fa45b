"""How to write a modern name in a file: through a name it has already, or with a new import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import ImportRequest
from trainer_upgrade.project import guards
from trainer_upgrade.project.canonical import canonical, root_of
from trainer_upgrade.project.scopes import Scope

if TYPE_CHECKING:
    from trainer_upgrade.project.context import FileContext

__all__ = ["modern_path", "spell"]


def modern_path(dotted: str, target: Target, root: str | None) -> str:
    """Return where a modern Lightning name lives on the target.

    Args:
        dotted: The name, rooted at ``pytorch_lightning``; other distributions' names come back as they are.
        target: Where the code is to run.
        root: The root the file uses; kept for Lightning (``lightning`` is written ``lightning.pytorch``).
    """
    if dotted.split(".")[0] != "pytorch_lightning":
        return dotted
    rest = dotted.partition(".")[2]
    if target is Target.RELIGHT:
        fact = catalogue.resolve_import(dotted, target) if rest else None
        if fact is not None and fact.new:
            return fact.new
        return f"relight.{rest}" if rest else "relight"
    base = "pytorch_lightning" if root in (None, "pytorch_lightning") else "lightning.pytorch"
    return f"{base}.{rest}" if rest else base


def spell(file: FileContext, dotted: str, at: ast.AST) -> tuple[str, tuple[ImportRequest, ...]]:
    """See :meth:`FileContext.spell`."""
    path = modern_path(dotted, file.target, file.root)
    wanted = canonical(path) or path
    best: tuple[int, str] | None = None
    for name, bound in _visible(file, at):
        if path.startswith("relight.compat.") and root_of(bound) != "relight.compat":
            continue  # what only compat has is not reached through the core
        public = canonical(bound) or bound
        if wanted == public:
            text = name
        elif wanted.startswith(public + "."):
            rest = wanted[len(public) + 1 :]
            if bound == "lightning" and rest.split(".")[0].islower() and not rest.startswith("pytorch"):
                rest = f"pytorch.{rest}" if file.target is Target.LIGHTNING else rest
            text = f"{name}.{rest}"
        else:
            continue
        # The least to write after the name: an import of the thing itself, then of its package.
        rank = (text.count("."), name)
        if best is None or rank < (best[0], best[1].split(".")[0]):
            best = (rank[0], text)
    if best is not None:
        return best[1], ()
    module, _, name = path.rpartition(".")
    if not module:
        return path, (ImportRequest(path),)
    if _free(file, name):
        return name, (ImportRequest(module, name),)
    alias = f"Lightning{name}" if name[:1].isupper() else f"lightning_{name}"
    return alias, (ImportRequest(module, name, alias),)


def _visible(file: FileContext, at: ast.AST) -> list[tuple[str, str]]:
    """Names that imports bind and that hold at a node, with the dotted path each stands for."""
    scopes = file.module.scopes
    scope: Scope | None = scopes.scopes.get(at, scopes.module)
    names: dict[str, None] = {}
    while scope is not None:
        for name, bindings in scope.bindings.items():
            if any(binding.kind in ("import", "from") for binding in bindings):
                names.setdefault(name)
        scope = scope.parent
    found: list[tuple[str, str]] = []
    for name in names:
        looked_up = scopes.lookup(name, at)
        if looked_up is None:
            continue
        bindings = looked_up[1]
        if any(guards.in_type_checking(binding.statement, file.module) for binding in bindings):
            continue
        symbol = file.names.name(name, file.module, at)
        if symbol is None or symbol.kind != "external":
            continue
        # `import a.b` binds a, through which only a.b is sure to be reachable.
        dotted = symbol.dotted
        node = bindings[-1].node
        if (
            bindings[-1].kind == "import"
            and isinstance(node, ast.alias)
            and node.asname is None
            and "." in node.name
        ):
            found.append((node.name, node.name))
            if root_of(node.name) is None:
                continue
        found.append((name, dotted))
    return found


def _free(file: FileContext, name: str) -> bool:
    """Whether no scope of the file binds a name, so that an import of it hides and is hidden by nothing."""
    scopes = file.module.scopes
    return not any(name in each.bindings for each in (scopes.module, *scopes.inner.values()))

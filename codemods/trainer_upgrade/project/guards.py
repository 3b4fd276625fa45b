"""Code that is kept for one release on purpose: version checks and import alternatives."""

from __future__ import annotations

import ast

from trainer_upgrade.project.canonical import canonical
from trainer_upgrade.project.module import Module
from trainer_upgrade.project.names import Names

__all__ = ["behind_relight", "in_try_import", "in_type_checking", "version_guarded"]

_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception")
_FLAG_DEPTH = 5


def in_try_import(node: ast.AST, module: Module) -> bool:
    """Whether a node stands in a ``try`` around imports, or in the handler for their failure."""
    parents = module.scopes.parents
    current: ast.AST | None = node
    while current is not None:
        parent = parents.get(current)
        if (
            isinstance(parent, ast.Try)
            and (current in parent.body or current in parent.handlers)
            and any(isinstance(each, (ast.Import, ast.ImportFrom)) for each in parent.body)
            and any(_catches_import(handler) for handler in parent.handlers)
        ):
            return True
        if isinstance(parent, (ast.With, ast.AsyncWith)) and any(
            _suppresses_import(item) for item in parent.items
        ):
            return True
        current = parent
    return False


def behind_relight(module: Module) -> bool:
    """Whether all imports of Lightning in a file are fallbacks of imports of relight, never reached."""
    if b"relight" not in module.data or b"except" not in module.data:
        return False
    legacy = False
    for node in module.scopes.nodes:
        if not any(root.startswith(("pytorch_lightning", "lightning")) for root in _imported(node)):
            continue
        legacy = True
        current: ast.AST | None = node
        while current is not None:
            parent = module.scopes.parents.get(current)
            if isinstance(current, ast.ExceptHandler) and isinstance(parent, ast.Try):
                roots = [root for each in parent.body for root in _imported(each)]
                if any(root.split(".")[0] == "relight" for root in roots):
                    break
            current = parent
        if current is None:
            return False
    return legacy


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return [node.module]
    return []


def in_type_checking(node: ast.AST, module: Module) -> bool:
    """Whether a node stands in ``if TYPE_CHECKING:``."""
    current: ast.AST | None = node
    while current is not None:
        parent = module.scopes.parents.get(current)
        if isinstance(parent, ast.If) and current in parent.body:
            test = parent.test
            name = (
                test.attr
                if isinstance(test, ast.Attribute)
                else test.id
                if isinstance(test, ast.Name)
                else ""
            )
            if name == "TYPE_CHECKING":
                return True
        current = parent
    return False


def version_guarded(node: ast.AST, module: Module, names: Names) -> bool:
    """Whether a node runs only under a condition on Lightning's version, or on what Lightning offers.

    Such code is there so that one source runs on several releases: changing one branch would break it.
    """
    parents = module.scopes.parents
    current: ast.AST | None = node
    while current is not None:
        parent = parents.get(current)
        if (
            isinstance(parent, (ast.If, ast.While, ast.IfExp))
            and current is not parent.test
            and _about_version(parent.test, module, names, 0)
        ):
            return True
        current = parent
    return False


def _about_version(test: ast.expr, module: Module, names: Names, depth: int) -> bool:
    """Whether a condition asks for Lightning's version or whether a Lightning thing has a name."""
    if depth > _FLAG_DEPTH:
        return False
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and node.attr in ("__version__", "VERSION", "version"):
            symbol = names.resolve(node.value, module)
            if symbol is not None and canonical(symbol.dotted) is not None:
                return True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            symbol = names.resolve(node, module)
            if symbol is not None and canonical(symbol.dotted) in _VERSIONS:
                return True
            if symbol is None and _flag(node, module, names, depth):
                return True
        elif isinstance(node, ast.Call) and _asks_version(node, module, names):
            return True
    return False


def _flag(node: ast.Name, module: Module, names: Names, depth: int) -> bool:
    """Whether a name was given a value that is about the version, here or in the file it comes from."""
    # Each use once: values that are made of other names would be followed again and again otherwise.
    memo, key = names.project.memo, ("version-flag", node)
    if key not in memo:
        memo[key] = False
        memo[key] = _follow(node, module, names, depth)
    return bool(memo[key])


def _follow(node: ast.Name, module: Module, names: Names, depth: int) -> bool:
    found = module.scopes.lookup(node.id, node)
    for binding in found[1] if found is not None else []:
        if binding.value is not None and _about_version(binding.value, module, names, depth + 1):
            return True
        if isinstance(binding.statement, ast.ImportFrom) and isinstance(binding.node, ast.alias):
            statement = binding.statement
            source = names.project.find_from(statement.level, statement.module, module)
            if source is None or source.path == module.path or not source.usable:
                continue
            values = [each.value for each in source.scopes.at_end(binding.node.name)]
            if any(each is not None and _about_version(each, source, names, depth + 1) for each in values):
                return True
    return False


def _asks_version(call: ast.Call, module: Module, names: Names) -> bool:
    name = (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )
    if name == "hasattr" and call.args:
        symbol = names.resolve(call.args[0], module)
        return symbol is not None and canonical(symbol.dotted) is not None
    if name in (
        "version",
        "RequirementCache",
        "module_available",
        "compare_version",
        "package_available",
        "find_spec",
    ):
        first = call.args[0] if call.args else None
        text = first.value if isinstance(first, ast.Constant) else None
        return isinstance(text, str) and ("lightning" in text)
    return False


_VERSIONS = frozenset({"pytorch_lightning.__version__", "pytorch_lightning.__about__.__version__"})


def _catches_import(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _IMPORT_ERRORS for kind in kinds)


def _suppresses_import(item: ast.withitem) -> bool:
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name == "suppress" and any(
        isinstance(each, ast.Name) and each.id in _IMPORT_ERRORS for each in call.args
    )

"""Where the project mentions a method: ``self.validation_step``, ``model.validation_epoch_end(x)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module
from trainer_upgrade.rules.support.reading import is_super

__all__ = ["BY_NAME", "Reference", "called_by_name", "foreign", "looked_up", "receiver", "references"]

# What looks an attribute up by its name; `object` is that of `mock.patch.object`.
BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr", "object", "methodcaller", "attrgetter"})

_BY_MODULE: WeakKeyDictionary[Module, dict[str, list[ast.Attribute]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """One mention ``<receiver>.<name>``.

    Attributes:
        node: The attribute.
        module: The file.
        owner: The class of the receiver, ``None`` when it is not known.
        function: The function it stands in.
        upward: Whether it is on ``super()``.
    """

    node: ast.Attribute
    module: Module
    owner: ClassInfo | None
    function: Function | None
    upward: bool


def references(file: FileContext, name: str) -> list[Reference]:
    """Return all mentions of a method's name in the project."""
    key = ("references", name)
    known = file.project.memo.get(key)
    if isinstance(known, list):
        return known
    found: list[Reference] = []
    word = name.encode()
    modules = {each.path: each for each in file.project.relevant_modules() if word in each.data}
    modules[file.module.path] = file.module
    for module in modules.values():
        found += [_reference(file, node, module) for node in _attributes(module, name)]
    file.project.memo[key] = found
    return found


def looked_up(file: FileContext, name: str) -> list[tuple[Module, ast.Call]]:
    """Return the calls of the project that look a method up by its name: ``getattr(model, "…")``."""
    key = ("looked-up", name)
    known = file.project.memo.get(key)
    if isinstance(known, list):
        return known
    found: list[tuple[Module, ast.Call]] = []
    word = name.encode()
    modules = {each.path: each for each in file.project.relevant_modules() if word in each.data}
    modules[file.module.path] = file.module
    for module in modules.values():
        for node in module.scopes.nodes:
            if isinstance(node, ast.Constant) and node.value == name:
                call = module.scopes.parents.get(node)
                if isinstance(call, ast.Call) and called_by_name(call):
                    found.append((module, call))
    file.project.memo[key] = found
    return found


def called_by_name(call: ast.Call) -> bool:
    """Whether a call is one of :data:`BY_NAME`."""
    function = call.func
    return getattr(function, "attr", getattr(function, "id", "")) in BY_NAME


def foreign(file: FileContext, node: ast.expr, module: Module) -> bool:
    """Whether an expression is a thing of another library: a name imported from there, or a call of one."""
    named = node.func if isinstance(node, ast.Call) else node
    symbol = file.names.resolve(named, module)
    return symbol is not None and symbol.kind != "class" and file.lightning_name(named) is None


def receiver(file: FileContext, node: ast.Attribute, module: Module) -> ClassInfo | None:
    """Return the class of the project that an attribute is looked up on."""
    return _reference(file, node, module).owner


def _attributes(module: Module, name: str) -> list[ast.Attribute]:
    table = _BY_MODULE.get(module)
    if table is None:
        table = _BY_MODULE[module] = {}
        for node in module.scopes.nodes:
            if isinstance(node, ast.Attribute):
                table.setdefault(node.attr, []).append(node)
    return table.get(name, [])


def _reference(file: FileContext, node: ast.Attribute, module: Module) -> Reference:
    function: Function | None = None
    owner: ClassInfo | None = None
    current: ast.AST | None = module.scopes.parents.get(node)
    enclosing: ClassInfo | None = None
    while current is not None:
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = current
        if isinstance(current, ast.ClassDef):
            enclosing = file.classes.info(current, module)
            break
        current = module.scopes.parents.get(current)
    upward = is_super(node.value)
    if upward:
        owner = enclosing
    else:
        instance = file.types.infer(node.value, module)
        if instance is not None:
            owner = instance.info
        else:
            owner = file.classes.of(file.names.resolve(node.value, module))
    return Reference(node, module, owner, function, upward)

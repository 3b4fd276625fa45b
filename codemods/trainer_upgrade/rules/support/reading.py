"""Questions about methods: what a parameter is used for, what is returned, what is called on ``super()``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module

__all__ = [
    "assigned_to_self",
    "attribute_names",
    "class_kind",
    "decorators",
    "defined_once",
    "doubt",
    "inner_nodes",
    "is_super",
    "local_names",
    "name_nodes",
    "positional",
    "returns",
    "self_attribute",
    "self_name",
    "super_calls",
    "wrappers",
]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


# Decorators that pass everything on, whatever it is.
_TRANSPARENT = frozenset(
    {"no_grad", "enable_grad", "inference_mode", "torch_no_grad", "rank_zero_only", "override", "final"}
)
_LIKE_A_HOOK = re.compile(
    "on_|(training|validation|test|predict)_|optimizer_|configure_|transfer_|lr_scheduler_|backward$|setup$|teardown$"
    "|get_(progress|tqdm)|log_grad|tbptt|(train|val|test|predict|tng)_dataloader$|finetune_function$|init_ddp|amp_"
)
_ATTRIBUTES: WeakKeyDictionary[Module, dict[Function, frozenset[str]]] = WeakKeyDictionary()


def class_kind(info: ClassInfo, file: FileContext) -> str | None:
    """Return what a class with hooks is, for a mixin what all that use it are (``mixed_kind``).

    A class without a Lightning base and without a method that is called like a hook is not looked up: who
    uses it would have to be searched for in the whole project.
    """
    if info.kind is not None:
        return info.kind
    if not any(_LIKE_A_HOOK.match(name) for name in info.methods):
        return None
    memo, key = file.project.memo, ("class-kind", info.node)
    if key not in memo:
        memo[key] = info.mixed_kind()
    return memo[key]  # type: ignore[return-value]


def attribute_names(info: ClassInfo, function: Function) -> frozenset[str]:
    """Return the names of all attributes that a method mentions (``b`` of ``a.b``)."""
    table = _ATTRIBUTES.setdefault(info.module, {})
    if function not in table:
        names = (node.attr for node in inner_nodes(function) if isinstance(node, ast.Attribute))
        table[function] = frozenset(names)
    return table[function]


def positional(function: Function) -> list[ast.arg]:
    """Return the positional parameters, ``self`` included."""
    return [*function.args.posonlyargs, *function.args.args]


def self_name(function: Function) -> str | None:
    """Return what a method calls its instance; ``None`` for a static or class method."""
    if {"staticmethod", "classmethod"} & set(decorators(function)):
        return None
    parameters = positional(function)
    return parameters[0].arg if parameters else None


def decorators(function: Function) -> list[str]:
    """Return the last part of each decorator's name (``no_grad`` for ``@torch.no_grad()``)."""
    names = []
    for each in function.decorator_list:
        target = each.func if isinstance(each, ast.Call) else each
        names.append(getattr(target, "attr", getattr(target, "id", "?")))
    return names


def wrappers(function: Function) -> list[str]:
    """Return the decorators that may care what the function is called, is given, or returns."""
    return [each for each in decorators(function) if each not in _TRANSPARENT]


def defined_once(info: ClassInfo, name: str) -> bool:
    """Whether one statement alone gives a class a method: no second definition, no ``del``, no branches."""
    inner = info.module.scopes.inner.get(info.node)
    return inner is None or len(inner.bindings.get(name, ())) <= 1


def doubt(info: ClassInfo, function: Function) -> str:
    """Say why a change of a method's signature may go wrong; empty if nothing speaks against it."""
    if not defined_once(info, function.name):
        return f"the class defines `{function.name}` more than once"
    found = [each for each in wrappers(function) if each not in ("staticmethod", "classmethod", "property")]
    return f"`@{found[0]}` may count on the old signature" if found else ""


def inner_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield all nodes of a function's body, those of functions inside of it included."""
    for statement in function.body:
        yield from ast.walk(statement)


def name_nodes(function: Function, module: Module, name: str) -> list[ast.Name]:
    """Return the places in a body where ``name`` means the function's own variable or parameter."""
    inner = module.scopes.inner.get(function)
    found = []
    for node in inner_nodes(function):
        if isinstance(node, ast.Name) and node.id == name:
            where = module.scopes.lookup(name, node)
            if where is not None and where[0] is inner:
                found.append(node)
    return found


def local_names(function: Function) -> set[str]:
    """Return every name that occurs in a function."""
    names = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    for node in inner_nodes(function):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, _SCOPES) and not isinstance(node, ast.Lambda):
            names.add(node.name)
    return names


def returns(function: Function) -> list[ast.Return]:
    """Return the ``return`` statements that end this function, not those of functions inside of it."""
    found: list[ast.Return] = []
    left: list[ast.AST] = list(reversed(function.body))
    while left:
        node = left.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, _SCOPES):
            left.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


def is_super(node: ast.expr) -> bool:
    """Whether an expression is ``super()`` or ``super(Class, self)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def super_calls(function: Function, name: str) -> list[ast.Call]:
    """Return the calls ``super().name(...)`` in a method."""
    return [
        node
        for node in inner_nodes(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and is_super(node.func.value)
    ]


def self_attribute(node: ast.AST, instance: str | None) -> str | None:
    """Return the attribute's name if a node is ``self.<name>``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == instance:
        return node.attr
    return None


def assigned_to_self(info: ClassInfo, name: str) -> list[ast.expr | None]:
    """Return the values that a class gives to an attribute, in its body and in its methods."""
    found: list[ast.expr | None] = []
    for statement in info.node.body:
        for target, value in _targets(statement):
            if isinstance(target, ast.Name) and target.id == name:
                found.append(value)
    for function in info.methods.values():
        instance = self_name(function)
        for node in inner_nodes(function):
            for target, value in _targets(node):
                if self_attribute(target, instance) == name:
                    found.append(value)
    return found


def _targets(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                for each in target.elts:
                    yield each, None
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield node.target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, None

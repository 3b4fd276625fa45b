"""How a hook uses the outputs it is given, and what the steps show of them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module
from trainer_upgrade.rules.support.reading import (
    assigned_to_self,
    inner_nodes,
    name_nodes,
    positional,
    returns,
    self_attribute,
    self_name,
)
from trainer_upgrade.rules.support.stages import Stage

__all__ = [
    "Loaders",
    "appendable",
    "keeps_list",
    "keys_read",
    "loaders",
    "never_none",
    "returns_dict",
    "step_of",
]

# Builtins that read a list and are done with it.
_READERS = frozenset(
    {"len", "sum", "max", "min", "sorted", "any", "all", "enumerate", "zip", "list", "tuple", "set"}
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Loaders = str  # "one", "several" or "unknown"


def step_of(info: ClassInfo, name: str) -> tuple[ClassInfo, Function] | None:
    """Find a step in a class or a visible base, also one given by ``test_step = validation_step``."""
    for each in info.ancestors():
        found = _own_step(each, name)
        if found is not None:
            return each, found
    return None


def _own_step(info: ClassInfo, name: str) -> Function | None:
    if name in info.methods:
        return info.methods[name]
    for statement in info.node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    return info.methods.get(statement.value.id)
    return None


def loaders(info: ClassInfo, stage: Stage) -> Loaders:
    """Say how many loaders a stage has, judged by what the steps accept.

    1.x passed ``dataloader_idx`` only with several loaders, by keyword: a step that requires it had several,
    one that does not take it had one.
    """
    if stage.name == "train":
        return "one"
    first = step_of(info, stage.step)
    if first is None:
        return "unknown"
    steps = [first[1]]
    for each in info.subclasses():
        own = _own_step(each, stage.step)
        if own is not None:
            steps.append(own)
    answers = {_takes_index(step) for step in steps}
    return answers.pop() if len(answers) == 1 else "unknown"


def _takes_index(step: Function) -> Loaders:
    arguments = positional(step)
    if step.args.vararg is not None or step.args.kwarg is not None:
        return "unknown"
    without_default = len(arguments) - len(step.args.defaults)
    for position, argument in enumerate(arguments):
        if position == 3 or "loader_id" in argument.arg:
            return "several" if position < without_default else "unknown"
    return "unknown" if step.args.kwonlyargs else "one"


def returns_dict(info: ClassInfo, stage: Stage) -> bool:
    """Whether a step may return more than a loss: a dict is in sight, or the step is not."""
    found = step_of(info, stage.step)
    if found is None:
        return True
    function = found[1]
    for statement in returns(function):
        value = statement.value
        if isinstance(value, ast.Name):
            given = _assigned(function, value.id)
            if any(each is None or _dict_like(each) or self_call(each, function) for each in given):
                return True
        elif value is not None and (_dict_like(value) or self_call(value, function)):
            return True
    return False


def self_call(value: ast.expr, function: Function) -> bool:
    """Whether an expression calls a method of the instance or of ``super()``."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return False
    inner = value.func.value
    return (isinstance(inner, ast.Name) and inner.id == self_name(function)) or isinstance(inner, ast.Call)


def _dict_like(value: ast.expr | None) -> bool:
    if isinstance(value, (ast.Dict, ast.DictComp)):
        return True
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("dict", "OrderedDict")


def _assigned(function: Function, name: str) -> list[ast.expr | None]:
    """Return what a local name may hold; ``None`` for what is not a plain assignment."""
    parameters = (each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg))
    found: list[ast.expr | None] = [None for each in parameters if each == name]
    plain: set[ast.AST] = set()
    for node in inner_nodes(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    plain.add(target)
                    found.append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            plain.add(node.target)
            if node.value is not None:
                found.append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            plain.add(node.target)  # a number stays one
    bound = (each for each in inner_nodes(function) if isinstance(each, ast.Name) and each.id == name)
    found += [None for each in bound if not isinstance(each.ctx, ast.Load) and each not in plain]
    return found


def never_none(
    value: ast.expr | None, owner: ClassInfo, function: Function, file: FileContext, depth: int = 0
) -> bool:
    """Whether an expression is provably not ``None``."""
    if value is None or depth > 4:
        return False
    if isinstance(value, ast.Constant):
        return value.value is not None
    if isinstance(
        value, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr)
    ):
        return True
    if isinstance(value, _COMPREHENSIONS):
        return True
    if isinstance(value, ast.IfExp):
        return all(never_none(each, owner, function, file, depth + 1) for each in (value.body, value.orelse))
    if isinstance(value, ast.Name):
        values = _assigned(function, value.id)
        return bool(values) and all(never_none(each, owner, function, file, depth + 1) for each in values)
    if isinstance(value, ast.Call):
        return _call_never_none(value, owner, function, file, depth)
    return False


def _call_never_none(
    value: ast.Call, owner: ClassInfo, function: Function, file: FileContext, depth: int
) -> bool:
    symbol = file.names.resolve(value.func, owner.module)
    if symbol is not None:
        return symbol.kind == "class" or symbol.dotted.startswith("torch.")
    if isinstance(value.func, ast.Name):
        return value.func.id in ("dict", "list", "tuple", "float", "int", "len", "sum")
    name = self_attribute(value.func, self_name(function))
    if name is None:
        return False
    found = owner.find_method(name)
    if found is not None:
        other, method = found
        if any(name in each.methods for each in owner.subclasses()) or method.decorator_list:
            return False
        values = returns(method)
        return _ends(method) and all(
            never_none(each.value, other, method, file, depth + 1) for each in values
        )
    given = [each for one in owner.ancestors() for each in assigned_to_self(one, name)]
    return bool(given) and all(
        isinstance(each, ast.Call) and (file.qualified_name(each.func) or "").startswith("torch.nn.")
        for each in given
    )


def _ends(function: Function) -> bool:
    """Whether a function ends in ``return``, so that it cannot run off its end."""
    last: ast.stmt = function.body[-1]
    while isinstance(last, (ast.With, ast.AsyncWith)):
        last = last.body[-1]
    if isinstance(last, ast.If) and last.orelse:
        return all(isinstance(each[-1], (ast.Return, ast.Raise)) for each in (last.body, last.orelse))
    return isinstance(last, (ast.Return, ast.Raise))


def appendable(file: FileContext, info: ClassInfo, stage: Stage) -> ast.Return | None:
    """Return the one place where a step returns its outputs, if an append there stores what 1.x stored."""
    step = info.methods.get(stage.step)
    if step is None or stage.name == "train" or step.decorator_list or isinstance(step, ast.AsyncFunctionDef):
        return None
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inner_nodes(step)):
        return None
    found = returns(step)
    values = [each for each in found if each.value is not None and not _is_none(each.value)]
    if len(values) != 1 or not never_none(values[0].value, info, step, file):
        return None
    return values[0]


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def keys_read(function: Function, module: Module, name: str) -> tuple[str, ...] | None:
    """Return the keys that a hook reads of each entry, in order; ``None`` if it may read anything."""
    keys: dict[str, None] = {}
    parents = module.scopes.parents
    for node in name_nodes(function, module, name):
        parent = parents.get(node)
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "len":
            continue
        if isinstance(parent, ast.comprehension) and parent.iter is node:
            around: ast.AST | None = parents.get(parent)
            target = parent.target
        elif isinstance(parent, ast.For) and parent.iter is node:
            around, target = function, parent.target
        else:
            return None
        if not isinstance(target, ast.Name) or around is None:
            return None
        for use in ast.walk(around):
            if isinstance(use, ast.Name) and use.id == target.id and isinstance(use.ctx, ast.Load):
                outer = parents.get(use)
                if not (
                    isinstance(outer, ast.Subscript)
                    and outer.value is use
                    and isinstance(outer.ctx, ast.Load)
                    and isinstance(outer.slice, ast.Constant)
                    and isinstance(outer.slice.value, str)
                ):
                    return None
                keys[outer.slice.value] = None
    return tuple(keys) if keys else None


def keeps_list(
    function: Function, module: Module, name: str, torch_names: Iterable[str] = ("torch", "np")
) -> bool:
    """Whether the list itself may live on after the hook, so that it must not be emptied in place."""
    parents = module.scopes.parents
    for node in name_nodes(function, module, name):
        parent = parents.get(node)
        if not isinstance(node.ctx, ast.Load):
            continue
        if isinstance(parent, ast.comprehension) and parent.iter is node:
            continue
        if isinstance(parent, ast.For) and parent.iter is node:
            continue
        if (
            isinstance(parent, ast.Subscript)
            and parent.value is node
            and not isinstance(parent.slice, ast.Slice)
        ):
            continue
        if isinstance(parent, (ast.Compare, ast.If, ast.While)) or (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        ):
            continue
        if isinstance(parent, ast.Call) and node in parent.args and _reads_only(parent.func, torch_names):
            continue
        return True
    return False


def _reads_only(function: ast.expr, roots: Iterable[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _READERS and hasattr(builtins, function.id)
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in roots

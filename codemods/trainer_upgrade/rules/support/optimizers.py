"""How many optimizers a module has, as far as its source shows."""

from __future__ import annotations

import ast
from enum import Enum

from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.rules.support.reading import (
    assigned_to_self,
    positional,
    returns,
    self_attribute,
    self_name,
)

__all__ = ["Count", "manual_optimization", "optimizer_count", "truncates", "why_not_one"]

INDEX_NAMES = frozenset(
    {"optimizer_idx", "opt_idx", "optimizer_index", "opt_index", "optim_idx", "optimizer_i"}
)


class Count(Enum):
    """How many optimizers there can be."""

    ONE = "one"
    MANY = "many"
    UNKNOWN = "unknown"


def manual_optimization(info: ClassInfo) -> bool:
    """Whether a class or a visible base sets ``automatic_optimization = False``, and none otherwise."""
    values: list[ast.expr | None] = []
    for each in info.ancestors():
        values += assigned_to_self(each, "automatic_optimization")
        switch = each.methods.get("automatic_optimization")
        if switch is not None:
            values += [one.value for one in returns(switch)]
    return bool(values) and all(isinstance(each, ast.Constant) and each.value is False for each in values)


def truncates(info: ClassInfo) -> bool:
    """Whether a class shows signs of truncated backpropagation through time."""
    for each in info.ancestors():
        if assigned_to_self(each, "truncated_bptt_steps") or "tbptt_split_batch" in each.methods:
            return True
        step = each.methods.get("training_step")
        if step is not None and any(argument.arg == "hiddens" for argument in positional(step)):
            return True
    return False


def optimizer_count(info: ClassInfo) -> Count:
    """Return how many optimizers the module may have, also in the project's classes that derive from it."""
    counts = {_own_count(each) for each in (info, *info.subclasses())}
    if Count.MANY in counts:
        return Count.MANY
    return Count.ONE if counts == {Count.ONE} else Count.UNKNOWN


def why_not_one(info: ClassInfo) -> str | None:
    """Return what speaks against a single flat list of training outputs, or ``None``."""
    if truncates(info):
        return "truncated backpropagation gives one entry a chunk"
    if manual_optimization(info):
        return None
    if optimizer_count(info) is Count.MANY:
        return "several optimizers give a nested list whose axes depend on the release"
    return None


def _own_count(info: ClassInfo) -> Count:
    steps = [each.methods["training_step"] for each in info.ancestors() if "training_step" in each.methods][
        :1
    ]
    if steps and not manual_optimization(info):
        arguments = steps[0].args
        names = [argument.arg for argument in (*positional(steps[0]), *arguments.kwonlyargs)]
        taken = INDEX_NAMES.intersection(names)
        if taken and not _has_default(steps[0], next(iter(taken))):
            return Count.MANY  # 1.x passed it only with several optimizers
        if not taken and arguments.vararg is None and arguments.kwarg is None and len(names) <= 3:
            return Count.ONE  # 1.x refused several optimizers without it
    found = info.find_method("configure_optimizers")
    return _returned(*found) if found is not None else Count.UNKNOWN


def _has_default(function: Function, name: str) -> bool:
    arguments = positional(function)
    for position, argument in enumerate(arguments):
        if argument.arg == name:
            return position >= len(arguments) - len(function.args.defaults)
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if argument.arg == name:
            return default is not None
    return False


def _returned(owner: ClassInfo, function: Function, depth: int = 0) -> Count:
    values = [each.value for each in returns(function)]
    if not values or depth > 3:
        return Count.UNKNOWN
    counts = {_value(value, owner, function, depth) for value in values if not _is_none(value)}
    if Count.MANY in counts:
        return Count.MANY
    return Count.ONE if counts == {Count.ONE} else Count.UNKNOWN


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _value(value: ast.expr | None, owner: ClassInfo, function: Function, depth: int) -> Count:
    if isinstance(value, (ast.Tuple, ast.List)):
        return _sequence(value, owner, function, depth)
    if isinstance(value, ast.Dict):
        keys = {key.value for key in value.keys if isinstance(key, ast.Constant)}
        return Count.ONE if "optimizer" in keys else Count.UNKNOWN
    if isinstance(value, ast.Name):
        return _named(value, owner, function, depth)
    if isinstance(value, ast.Call):
        method = self_attribute(value.func, self_name(function))
        if method is not None:
            found = owner.find_method(method)
            return _returned(*found, depth + 1) if found is not None else Count.UNKNOWN
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        if name == "dict":
            return Count.ONE if any(each.arg == "optimizer" for each in value.keywords) else Count.UNKNOWN
        return Count.ONE if name[:1].isupper() else Count.UNKNOWN
    return Count.UNKNOWN


def _sequence(value: ast.Tuple | ast.List, owner: ClassInfo, function: Function, depth: int) -> Count:
    items = value.elts
    if any(isinstance(each, ast.Starred) for each in items) or not items:
        return Count.UNKNOWN
    first = items[0]
    lists = (ast.List, ast.Tuple, ast.ListComp)
    if len(items) == 2 and (isinstance(first, lists) or isinstance(items[1], lists)):
        # ([optimizers], [schedulers])
        return _value(first, owner, function, depth) if not isinstance(first, ast.Call) else Count.ONE
    if len(items) == 1:
        return Count.ONE if not isinstance(first, ast.Name) else _named(first, owner, function, depth)
    if len(items) == 2 and all(isinstance(each, ast.Name) for each in items):
        # Two lists by name, or two optimizers.
        one = [_named(each, owner, function, depth) for each in items if isinstance(each, ast.Name)]
        names = " ".join(each.id.lower() for each in items[1:] if isinstance(each, ast.Name))
        if "sch" in names:
            return one[0]
        return Count.MANY if one == [Count.ONE, Count.ONE] else Count.UNKNOWN
    return Count.MANY


def _named(name: ast.Name, owner: ClassInfo, function: Function, depth: int) -> Count:
    if depth > 3:
        return Count.UNKNOWN
    values: list[ast.expr] = []
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name.id and isinstance(node, ast.Assign):
                values.append(node.value)
            elif isinstance(target, (ast.Tuple, ast.List)) and any(
                isinstance(each, ast.Name) and each.id == name.id for each in target.elts
            ):
                return Count.UNKNOWN
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "extend", "insert")
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == name.id
        ):
            return Count.UNKNOWN
    counts = {_value(value, owner, function, depth + 1) for value in values}
    if not values:
        return Count.UNKNOWN
    if Count.MANY in counts:
        return Count.MANY
    return Count.ONE if counts == {Count.ONE} else Count.UNKNOWN

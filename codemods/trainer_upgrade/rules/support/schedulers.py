"""Which learning rate schedulers ``configure_optimizers`` returns, as far as its source shows."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trainer_upgrade.project.classes import Function
from trainer_upgrade.rules.support.reading import inner_nodes, returns

__all__ = ["Scheduler", "schedulers_of"]

_LISTS = (ast.List, ast.Tuple)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """When automatic optimization stepped one scheduler.

    Attributes:
        interval: ``epoch`` or ``step``.
        frequency: Every how many of them.
        monitor: Source of what ``ReduceLROnPlateau`` was given of ``callback_metrics``; ``None`` for others.
    """

    interval: str = "epoch"
    frequency: int = 1
    monitor: ast.expr | None = None


class _Unreadable(Exception):
    """The source does not show it."""


def schedulers_of(function: Function) -> list[Scheduler] | None:
    """Return the schedulers in the order of ``self.lr_schedulers()``; ``None`` where that cannot be seen.

    ``None`` also stands for optimizers with a ``frequency``, which 1.x used in turn.
    """
    found = returns(function)
    if len(found) != 1 or found[0].value is None:
        return None
    try:
        return _returned(found[0].value, function)
    except _Unreadable:
        return None


def _returned(value: ast.expr, function: Function) -> list[Scheduler]:
    value = _resolved(value, function)
    if isinstance(value, (ast.Call, ast.Dict)):
        value = ast.List([value], ast.Load())
    if not isinstance(value, _LISTS) or any(isinstance(each, ast.Starred) for each in value.elts):
        raise _Unreadable
    items = [_resolved(each, function) for each in value.elts]
    if len(items) == 2 and all(isinstance(each, (*_LISTS, ast.ListComp)) for each in items):
        second = items[1]
        if not isinstance(second, _LISTS):
            raise _Unreadable
        return [_scheduler(each, function) for each in second.elts]
    schedulers: list[Scheduler] = []
    for item in items:
        entries = _entries(item)
        if entries is None:
            if not isinstance(item, ast.Call) or _own_method(item):
                raise _Unreadable
            continue
        if "frequency" in entries or "optimizer" not in entries:
            raise _Unreadable
        if "lr_scheduler" in entries:
            schedulers.append(_scheduler(entries["lr_scheduler"], function, monitor=entries.get("monitor")))
    return schedulers


def _scheduler(value: ast.expr, function: Function, monitor: ast.expr | None = None) -> Scheduler:
    value = _resolved(value, function)
    entries = _entries(value)
    if entries is None:
        if not isinstance(value, ast.Call):
            raise _Unreadable
        if _called(value) == "ReduceLROnPlateau":
            if monitor is None:
                raise _Unreadable
            return Scheduler(monitor=monitor)
        return Scheduler()
    if "scheduler" not in entries:
        raise _Unreadable
    interval, frequency = entries.get("interval"), entries.get("frequency")
    monitor = entries.get("monitor", monitor)
    made = _resolved(entries["scheduler"], function)
    plateau = isinstance(made, ast.Call) and _called(made) == "ReduceLROnPlateau"
    if "reduce_on_plateau" in entries:
        switch = entries["reduce_on_plateau"]
        if not isinstance(switch, ast.Constant):
            raise _Unreadable
        plateau = bool(switch.value)
    every = _constant(frequency, int, 1)
    when = _constant(interval, str, "epoch")
    if when not in ("epoch", "step") or every < 1 or (plateau and (monitor is None or when == "step")):
        raise _Unreadable
    return Scheduler(when, every, monitor if plateau else None)


def _constant(node: ast.expr | None, kind: type, default: object):  # type: ignore[no-untyped-def]
    if node is None:
        return default
    if not isinstance(node, ast.Constant) or not isinstance(node.value, kind):
        raise _Unreadable
    return node.value


def _own_method(call: ast.Call) -> bool:
    """Whether a call is one of a method of the module, which may return anything."""
    return (
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, (ast.Name, ast.Call))
        and (getattr(call.func.value, "id", "super") in ("self", "super"))
    )


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _entries(node: ast.expr) -> dict[str, ast.expr] | None:
    """Return the entries of a dict that is written out."""
    if isinstance(node, ast.Dict):
        if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
            raise _Unreadable
        return {
            str(key.value): value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        }
    if isinstance(node, ast.Call) and _called(node) == "dict":
        if node.args or any(each.arg is None for each in node.keywords):
            raise _Unreadable
        return {each.arg: each.value for each in node.keywords if each.arg is not None}
    return None


def _resolved(node: ast.expr, function: Function) -> ast.expr:
    """Follow a local name to its one value."""
    for _ in range(4):
        if not isinstance(node, ast.Name):
            return node
        values: list[ast.expr | None] = []
        for each in inner_nodes(function):
            if isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store):
                values.append(None)
            elif isinstance(each, ast.Call) and _changes(each, node.id):
                raise _Unreadable
        assigned = [
            each.value
            for each in inner_nodes(function)
            if isinstance(each, ast.Assign)
            and len(each.targets) == 1
            and isinstance(each.targets[0], ast.Name)
            and each.targets[0].id == node.id
        ]
        if len(assigned) != 1 or len(values) != 1:
            raise _Unreadable
        node = assigned[0]
    raise _Unreadable


def _changes(call: ast.Call, name: str) -> bool:
    """Whether a call is one of a method that changes a list or dict of this name."""
    called = call.func
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id == name
        and called.attr in ("append", "extend", "insert", "update", "pop", "setdefault")
    )

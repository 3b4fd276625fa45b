"""Steps that take the iterator of batches: since 2.1 nothing else, and ``next`` gives three things.

Before::

    def training_step(self, dataloader_iter, batch_idx):
        batch = next(dataloader_iter)

After::

    def training_step(self, dataloader_iter):
        batch, batch_idx, _ = next(dataloader_iter)

A step that asks for the iterator twice, or in another way, is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import class_kind, inner_nodes, name_nodes, positional

__all__ = ["IteratorSteps"]

_STEPS = ("training_step", "validation_step", "test_step", "predict_step")
_ITERATOR = "dataloader_iter"


@rule("iterator-steps")
class IteratorSteps:
    """Drops the other parameters and takes the three things apart."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the steps of a module."""
        info = file.class_info(node)
        steps = [info.methods[name] for name in _STEPS if name in info.methods]
        named = [step for step in steps if any(each.arg == _ITERATOR for each in positional(step))]
        if not named or class_kind(info, file) != "LightningModule":
            return
        entry = catalogue.find(Area.DEFAULT, "LightningModule", "dataloader_iter")
        assert entry is not None
        for step in named:
            others = positional(step)[1:]
            fetched = [each for each in inner_nodes(step) if _fetches(each)]
            old = [each for each in fetched if not isinstance(_stored(each, file), ast.Tuple)]
            if len(others) < 2 and not old:
                continue
            yield file.finding(entry, step, fix=partial(_fix, step, fetched, file))


def _fetches(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "next"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == _ITERATOR
    )


def _stored(node: ast.AST, file: FileContext) -> ast.expr | None:
    """Return what the iterator's item is assigned to."""
    parent = file.parent(node)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return parent.targets[0]
    return None


def _fix(step: Function, fetched: list[ast.AST], file: FileContext) -> Fix | None:
    parameters = positional(step)[1:]
    if len(fetched) != 1 or step.args.defaults or step.args.kwonlyargs or len(parameters) > 3:
        return None
    if parameters[0].arg != _ITERATOR or len(name_nodes(step, file.module, _ITERATOR)) != 1:
        return None
    target = _stored(fetched[0], file)
    # What the parameters said is in the item, so their values must not be needed before it is fetched.
    if not isinstance(target, ast.Name) or file.parent(fetched[0]) is not _first(step):
        return None
    names = [each.arg if name_nodes(step, file.module, each.arg) else "_" for each in parameters[1:]]
    names += ["_"] * (2 - len(names))
    edits = [Edit(file.span(target)[1], file.span(target)[1], f", {', '.join(names)}")]
    if len(parameters) > 1:
        edits.append(Edit(file.span(parameters[0])[1], file.span(parameters[-1])[1], ""))
    return Fix(
        Applicability.UNSAFE, "take batch, batch_idx and dataloader_idx from the iterator", tuple(edits)
    )


def _first(step: Function) -> ast.stmt:
    """Return a step's first statement after its docstring."""
    first = step.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return step.body[1] if told and len(step.body) > 1 else first

"""``training_step_end``, ``validation_step_end`` and ``test_step_end``, which 2.x never calls.

Outside of ``dp`` they received what the step returned, and what they returned took its place. (Under ``dp``,
which is gone, they received what all devices returned.)

Before::

    class Net(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            return {"out": self(batch[0]), "target": batch[1]}

        def training_step_end(self, outputs):
            return F.mse_loss(outputs["out"], outputs["target"])

After::

    class Net(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            return self._training_step_end({"out": self(batch[0]), "target": batch[1]})

        def _training_step_end(self, outputs):
            return F.mse_loss(outputs["out"], outputs["target"])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import insert_after, starts_line
from trainer_upgrade.rules.support.collecting import Unfit
from trainer_upgrade.rules.support.hook_rewrite import name_edit, rename_attribute
from trainer_upgrade.rules.support.reading import (
    class_kind,
    decorators,
    local_names,
    positional,
    returns,
    self_name,
    super_calls,
)
from trainer_upgrade.rules.support.references import references
from trainer_upgrade.rules.support.stages import STAGES, Stage

__all__ = ["StepEnd", "inlinable"]


@rule("step-end")
class StepEnd:
    """Hooks behind a step."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the hooks of a class."""
        info = file.class_info(node)
        if class_kind(info, file) != "LightningModule":
            return
        for stage in STAGES:
            function = info.methods.get(stage.step_end)
            if function is None:
                continue
            entry = catalogue.hook("LightningModule", stage.step_end) or "TRU203"
            message = f"`{stage.step_end}` is never called: call it at the end of `{stage.step}`"
            try:
                edits = _edits(info, function, stage, file)
            except Unfit as error:
                yield file.finding(entry, function, f"{message} ({error})", silent=True)
                continue
            message += " (under `dp` it saw the outputs of all devices)"
            fix = Fix(Applicability.UNSAFE, f"call it in `{stage.step}`", tuple(edits))
            yield file.finding(entry, function, message, fix, silent=True)


def inlinable(info: ClassInfo, stage: Stage, file: FileContext) -> bool:
    """Whether the hook of a class has a rewrite (true of a class without the hook)."""
    function = info.methods.get(stage.step_end)
    if function is None:
        return True
    other = file if info.path == file.module.path else FileContext(info.module, file.project)
    try:
        _edits(info, function, stage, other)
    except Unfit:
        return False
    return True


def _edits(info: ClassInfo, function: Function, stage: Stage, file: FileContext) -> list[Edit]:
    step = info.methods.get(stage.step)
    helper = f"_{stage.step_end}"
    if step is None:
        raise Unfit("the step is not in this class")
    if decorators(step) or isinstance(step, ast.AsyncFunctionDef) or self_name(function) is None:
        raise Unfit("the step is decorated")
    if len(positional(function)) != 2 or function not in info.node.body:
        raise Unfit("it takes more than the outputs")
    below = any(
        name in each.methods for each in info.subclasses() for name in (stage.step, stage.step_end, helper)
    )
    if below or any(
        name in each.methods for each in info.ancestors()[1:] for name in (stage.step_end, helper)
    ):
        raise Unfit("other classes of the hierarchy have the step or the hook, too")
    if helper in info.methods or super_calls(function, stage.step_end):
        raise Unfit(f"the name `{helper}` is taken, or the base's hook is called")
    mentioned = {
        target.id
        for statement in info.node.body
        if isinstance(statement, ast.Assign)
        for target in ast.walk(statement)
        if isinstance(target, ast.Name)
    }
    if mentioned & {stage.step, stage.step_end}:
        raise Unfit("it is used under another name")
    for reference in references(file, stage.step):
        if reference.owner is not None and reference.owner.node is info.node and not reference.upward:
            raise Unfit("the step is called by hand")
    if returns(step) != [step.body[-1]] or not starts_line(file, step.body[-1]):
        raise Unfit("the step does not end in its one `return`")
    last = returns(step)[0]
    if last.value is None:
        raise Unfit("the step returns nothing")
    results = returns(function)
    valued = [each for each in results if each.value is not None]
    instance = self_name(step)
    start, end = file.span(last)
    behind = start + len("return")
    value_start = file.span(last.value)[0]
    tuple_value = isinstance(last.value, ast.Tuple) and not file.segment(last.value).startswith("(")
    edits = [name_edit(file, function, helper)]
    for reference in references(file, stage.step_end):
        if reference.owner is not None and reference.owner.node is info.node:
            if reference.module.path != file.module.path:
                raise Unfit("it is called in another file")
            edits.append(rename_attribute(file, reference.node, helper))
    if valued and len(valued) == len(results) and isinstance(function.body[-1], (ast.Return, ast.Raise)):
        opening = "((" if tuple_value else "("
        closing = "))" if tuple_value else ")"
        if file.source[behind:value_start].strip(" \t") == "":
            edits.append(Edit(behind, value_start, f" {instance}.{helper}{opening}"))
            edits.append(Edit(end, end, closing))
        else:  # return (value)
            edits.append(Edit(behind, _first(file.source, behind), f" {instance}.{helper}"))
    elif not valued:
        name = next(each for each in ("output", "step_output", "result_") if each not in local_names(step))
        blank = "" if file.source[behind : behind + 1] in (" ", "\t") else " "
        edits.append(Edit(start, behind, f"{name} ={blank}"))
        edits.append(insert_after(file, last, [f"{instance}.{helper}({name})", f"return {name}"]))
    else:
        raise Unfit("it returns something at times and nothing at others")
    return edits


def _first(source: str, position: int) -> int:
    while source[position] in " \t":
        position += 1
    return position

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

Where a base has the hook and the classes below it have the steps, each of these calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

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
    attribute_names,
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
                yield from _below_the_hook(info, stage, file)
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
    """Return the edits of the class that has the hook: it is renamed, and its step calls it."""
    helper = f"_{stage.step_end}"
    hierarchy = _hierarchy(info)
    hooks = [(each, each.methods[stage.step_end]) for each in hierarchy if stage.step_end in each.methods]
    for owner, hook in hooks:
        if self_name(hook) is None or len(positional(hook)) != 2 or hook not in owner.node.body:
            raise Unfit("it takes more than the outputs")
        if super_calls(hook, stage.step_end):
            raise Unfit("a base's hook is called")
    if any(helper in each.methods for each in hierarchy):
        raise Unfit(f"the name `{helper}` is taken")
    if len({_valued(hook) for _, hook in hooks}) > 1:
        raise Unfit("hooks of the hierarchy return something at times and nothing at others")
    steps = _served(hierarchy, stage)
    if not any(info in owner.ancestors() or owner in info.ancestors() for owner in steps):
        raise Unfit("the step is not in this class")
    edits = [name_edit(file, function, helper)]
    for reference in references(file, stage.step_end):
        if reference.owner is not None and reference.owner.node is info.node:
            if reference.module.path != file.module.path:
                raise Unfit("it is called in another file")
            edits.append(rename_attribute(file, reference.node, helper))
    for owner, step in steps.items():
        if super_calls(step, stage.step) and any(base in steps for base in owner.ancestors()[1:]):
            raise Unfit("a step of the hierarchy calls another one")
        found = owner.find_method(stage.step_end)
        assert found is not None
        other = file if owner.path == file.module.path else FileContext(owner.module, file.project)
        calls = _call(owner, step, found[1], stage, other)
        if owner is info:
            edits += calls
    _promised(file).add((info.path, info.qualname, stage.name))
    return edits


def _served(hierarchy: list[ClassInfo], stage: Stage) -> dict[ClassInfo, Function]:
    """Return the steps whose outputs a hook received, by the class that has them."""
    found: dict[ClassInfo, Function] = {}
    for each in hierarchy:
        step = each.find_method(stage.step)
        if step is None or each.find_method(stage.step_end) is None:
            continue
        if step[0].find_method(stage.step_end) is None:
            raise Unfit("a class of the hierarchy has the step and not the hook")
        found[step[0]] = step[1]
    return found


def _hierarchy(info: ClassInfo) -> list[ClassInfo]:
    """Return the class with its bases and all that derive from one of them."""
    found = dict.fromkeys(info.ancestors())
    for base in info.ancestors():
        found.update(dict.fromkeys(base.subclasses()))
    return list(found)


def _valued(hook: Function) -> bool:
    return any(each.value is not None for each in returns(hook))


def _below_the_hook(info: ClassInfo, stage: Stage, file: FileContext) -> Iterator[Finding]:
    """Look at a step whose outputs a hook of a base received."""
    step = info.methods.get(stage.step)
    if step is None:
        return
    helper = f"_{stage.step_end}"
    for base in info.ancestors()[1:]:
        hook = base.methods.get(stage.step_end)
        renamed = base.methods.get(helper)
        if hook is None and renamed is None:
            continue
        promised = (base.path, base.qualname, stage.name) in _promised(file)
        if hook is None and (not promised or helper in attribute_names(info, step)):
            return
        try:
            if hook is not None:
                other = file if base.path == file.module.path else FileContext(base.module, file.project)
                _edits(base, hook, stage, other)
            called = hook if hook is not None else renamed
            assert called is not None
            edits = _call(info, step, called, stage, file)
        except Unfit:
            return  # the hook is reported where it stands
        entry = catalogue.hook("LightningModule", stage.step_end) or "TRU203"
        message = f"`{stage.step_end}` of `{base.name}` is never called: call it at the end of `{stage.step}`"
        fix = Fix(Applicability.UNSAFE, f"call it in `{stage.step}`", tuple(edits))
        yield file.finding(entry, step, message, fix, silent=True)
        return


def _promised(file: FileContext) -> set[tuple[Path, str, str]]:
    """Return the hooks that this run renames, for steps in other files that are not done in the same pass."""
    known = file.project.extras.setdefault("step-end", set())
    assert isinstance(known, set)
    return known


def _call(info: ClassInfo, step: Function, hook: Function, stage: Stage, file: FileContext) -> list[Edit]:
    """Return the edits that make a step end with a call of what was the hook."""
    helper = f"_{stage.step_end}"
    if decorators(step) or isinstance(step, ast.AsyncFunctionDef) or self_name(step) is None:
        raise Unfit("the step is decorated")
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
    results = returns(hook)
    valued = [each for each in results if each.value is not None]
    instance = self_name(step)
    start, end = file.span(last)
    behind = start + len("return")
    value_start = file.span(last.value)[0]
    tuple_value = isinstance(last.value, ast.Tuple) and not file.segment(last.value).startswith("(")
    if valued and len(valued) == len(results) and isinstance(hook.body[-1], (ast.Return, ast.Raise)):
        if file.source[behind:value_start].strip(" \t") == "":
            opening, closing = ("((", "))") if tuple_value else ("(", ")")
            return [Edit(behind, value_start, f" {instance}.{helper}{opening}"), Edit(end, end, closing)]
        return [Edit(behind, _first(file.source, behind), f" {instance}.{helper}")]  # return (value)
    if valued:
        raise Unfit("it returns something at times and nothing at others")
    name = next(each for each in ("output", "step_output", "result_") if each not in local_names(step))
    blank = "" if file.source[behind : behind + 1] in (" ", "\t") else " "
    return [
        Edit(start, behind, f"{name} ={blank}"),
        insert_after(file, last, [f"{instance}.{helper}({name})", f"return {name}"]),
    ]


def _first(source: str, position: int) -> int:
    while source[position] in " \t":
        position += 1
    return position

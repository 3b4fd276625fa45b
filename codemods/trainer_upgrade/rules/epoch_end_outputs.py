"""Epoch-end hooks of the new name that still take outputs, which 2.x does not pass.

``on_train_epoch_end(outputs)`` was right from 1.0 to 1.4; the others are half a migration. With a default
they are called and find nothing.

Before::

    class Net(pl.LightningModule):
        def validation_step(self, batch, batch_idx):
            return {"loss": self.loss(batch)}

        def on_validation_epoch_end(self, outputs):
            self.log("val_loss", torch.stack([o["loss"] for o in outputs]).mean())

    class Log(pl.Callback):
        def on_train_epoch_end(self, trainer, pl_module, outputs):
            print(trainer.current_epoch)

After::

    class Net(pl.LightningModule):
        def validation_step(self, batch, batch_idx):
            return {"loss": self.loss(batch)}

        def on_validation_epoch_start(self):
            self._validation_outputs = []

        def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
            if outputs is not None:
                self._validation_outputs.append(outputs)

        def on_validation_epoch_end(self):
            outputs = self._validation_outputs
            self.log("val_loss", torch.stack([o["loss"] for o in outputs]).mean())
            self._validation_outputs.clear()

    class Log(pl.Callback):
        def on_train_epoch_end(self, trainer, pl_module):
            print(trainer.current_epoch)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Entry
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import BodyEdits, methods_before, reserve
from trainer_upgrade.rules.support.calls import drop_call_arguments
from trainer_upgrade.rules.support.collecting import Unfit
from trainer_upgrade.rules.support.families import Family, Form, Member
from trainer_upgrade.rules.support.hook_rewrite import HookRewrite
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.optimizers import why_not_one
from trainer_upgrade.rules.support.reading import (
    class_kind,
    name_nodes,
    positional,
    returns,
    self_name,
    super_calls,
)
from trainer_upgrade.rules.support.stages import STAGES, Stage

__all__ = ["EpochEndOutputs"]

# The same stages, with the new name as the old one.
_HALF = tuple(Stage(each.name, each.end, None, each.step, each.batches) for each in STAGES)


@rule("epoch-end-outputs")
class EpochEndOutputs:
    """``on_*_epoch_end`` hooks with a parameter too many."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the hooks of a class."""
        info = file.class_info(node)
        kind = class_kind(info, file)
        if kind not in ("LightningModule", "Callback"):
            return
        expected = 1 if kind == "LightningModule" else 3
        for name in (*(each.end for each in STAGES), "on_predict_epoch_end"):
            function = info.methods.get(name)
            if function is None or self_name(function) is None or len(positional(function)) != expected + 1:
                continue
            parameter = positional(function)[expected]
            read = _read(info, function, parameter)
            if not read and function.args.defaults:
                continue  # harmless
            stage = next((each for each in _HALF if each.end == name), None)
            yield _finding(info, kind, function, parameter, stage, read, file)


def _read(info: ClassInfo, function: Function, parameter: ast.arg) -> bool:
    passed = {each for call in super_calls(function, function.name) for each in ast.walk(call)}
    return any(each not in passed for each in name_nodes(function, info.module, parameter.arg))


def _finding(
    info: ClassInfo,
    kind: str,
    function: Function,
    parameter: ast.arg,
    stage: Stage | None,
    read: bool,
    file: FileContext,
) -> Finding:
    entry: Entry | str = (
        catalogue.hook(kind, function.name)
        or catalogue.hook(kind, "on_train_epoch_end")
        or ("TRU224" if kind == "LightningModule" else "TRU272")
    )
    silent = bool(function.args.defaults)
    then = f"2.x passes nothing: `{parameter.arg}` keeps its default, without an error"
    message = f"`{function.name}` is given no `{parameter.arg}`"
    if not read:
        edits = _dropped(kind, function, file)
        fix = Fix(Applicability.SAFE, f"drop `{parameter.arg}`", tuple(edits)) if edits is not None else None
        return file.finding(entry, function, message, fix, silent=silent, consequence=then)
    if stage is None:
        message += (
            ": read `trainer.predict_loop.predictions`, which is flat (no list a loader) with one loader"
        )
        return file.finding(entry, function, message, silent=silent, consequence=then)
    message += f": collect the outputs in `{stage.batch_end}`"
    try:
        if kind == "LightningModule":
            fix = _module_fix(info, function, stage, file)
        else:
            fix = _callback_fix(info, function, parameter, stage, file)
    except (Unfit, ValueError) as error:
        return file.finding(entry, function, f"{message} ({error})", silent=silent, consequence=then)
    return file.finding(entry, function, message, fix, silent=silent, consequence=then)


def _dropped(kind: str, function: Function, file: FileContext) -> list[Edit] | None:
    position = 1 if kind == "LightningModule" else 3
    try:
        edits = parameter_items(function, file.module).without([position])
    except ValueError:
        return None
    for call in super_calls(function, function.name):
        name = positional(function)[position].arg
        dropped = drop_call_arguments(file, call, {position - 1}, {name})
        if dropped is None:
            return None
        edits += dropped
    return edits


def _module_fix(info: ClassInfo, function: Function, stage: Stage, file: FileContext) -> Fix:
    if stage.name == "train":
        reason = why_not_one(info)
        if reason is not None:
            raise Unfit(reason)
    related = (*info.ancestors(), *info.subclasses())
    if any(stage.end in each.methods for each in related if each.node is not info.node):
        raise Unfit(f"another class of the hierarchy has `{stage.end}`, too")
    member = Member(info, function)
    names = {each.attr for one in related for each in ast.walk(one.node) if isinstance(each, ast.Attribute)}
    store = next((each for each in stage.stores if each not in names), "")
    family = Family(stage, (member,), related, Form.INLINE, "", store, ())
    rewrite = HookRewrite(file, family, member)
    return rewrite.fix(Applicability.UNSAFE)


def _callback_fix(
    info: ClassInfo, function: Function, parameter: ast.arg, stage: Stage, file: FileContext
) -> Fix:
    if any(name in info.methods for name in (stage.start, stage.batch_end)) or super_calls(
        function, function.name
    ):
        raise Unfit(f"the callback has `{stage.start}` or `{stage.batch_end}` already")
    if returns(function):
        raise Unfit("it returns early")
    store = stage.stores[0]
    if any(isinstance(each, ast.Attribute) and each.attr == store for each in ast.walk(info.node)):
        raise Unfit(f"the name `{store}` is taken")
    last = "" if stage.name == "train" else ", dataloader_idx=0"
    test = "if outputs:" if stage.name == "train" else "if outputs is not None:"
    methods = [
        [f"def {stage.start}(self, trainer, pl_module):", f"\tself.{store} = []"],
        [
            f"def {stage.batch_end}(self, trainer, pl_module, outputs, batch, batch_idx{last}):",
            f"\t{test}",
            f"\t\tself.{store}.append(outputs)",
        ],
    ]
    body = BodyEdits(file, function)
    instance = self_name(function)
    body.head.append(f"{parameter.arg} = {instance}.{store}")
    body.tail.append(f"{instance}.{store} = []")
    edits = [
        *parameter_items(function, file.module).without([3]),
        methods_before(file, function, methods),
        *body.edits(),
        *{reserve(file, info.node, each) for each in (stage.start, stage.batch_end)},
    ]
    return Fix(Applicability.UNSAFE, f"collect them in `{stage.batch_end}`", tuple(edits))

"""``training_step(..., optimizer_idx)``, and modules with several optimizers.

2.x refuses any ``optimizer_idx`` in ``training_step``. With one optimizer, or with manual optimization, 1.x
never passed it: the parameter goes, and what the body reads is its default. With several optimizers and
automatic optimization the unsafe fix writes out what 1.x did for each of them (``support/manual_step``);
where more than the step is involved, the message says how.

Before::

    class Net(pl.LightningModule):
        def training_step(self, batch, batch_idx, optimizer_idx=None):
            return self.loss(batch)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

After::

    class Net(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            return self.loss(batch)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

With several optimizers, after ``--unsafe-fixes``::

    class Gan(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False

        def training_step(self, batch, batch_idx):
            for optimizer_idx, optimizer in enumerate(self.optimizers()):
                self.toggle_optimizer(optimizer)
                loss = self._training_step(batch, batch_idx, optimizer_idx)
                optimizer.zero_grad()
                self.manual_backward(loss)
                optimizer.step()
                self.untoggle_optimizer(optimizer)

        def _training_step(self, batch, batch_idx, optimizer_idx):
            ...  # as it was
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import BodyEdits
from trainer_upgrade.rules.support.calls import drop_call_arguments
from trainer_upgrade.rules.support.legacy_loop import UNTIL_THEN
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.manual_step import plan
from trainer_upgrade.rules.support.optimizers import (
    INDEX_NAMES,
    Count,
    manual_optimization,
    optimizer_count,
    truncates,
)
from trainer_upgrade.rules.support.reading import class_kind, name_nodes, positional, self_name, super_calls
from trainer_upgrade.rules.support.references import references

__all__ = ["MultipleOptimizers"]

_HOW = (
    "set `self.automatic_optimization = False`, drop `{name}`, and in `training_step` for each optimizer of "
    "`self.optimizers()` in turn: `self.toggle_optimizer(opt)`, the loss, `opt.zero_grad()`, "
    "`self.manual_backward(loss)`, `opt.step()`, `self.untoggle_optimizer(opt)`; clip with "
    "`self.clip_gradients(opt, ...)` instead of the Trainer's `gradient_clip_val`, accumulate by hand, "
    "and step the schedulers of `self.lr_schedulers()` yourself"
)


@rule("multiple-optimizers")
class MultipleOptimizers:
    """The index of the optimizer in a training step."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at a module's training step."""
        info = file.class_info(node)
        if class_kind(info, file) != "LightningModule":
            return
        step = info.methods.get("training_step")
        if step is None or self_name(step) is None:
            if "configure_optimizers" in info.methods:
                yield from _hidden_step(info, file)
            return
        arguments = step.args
        parameter = next(
            (each for each in (*positional(step), *arguments.kwonlyargs) if each.arg in INDEX_NAMES), None
        )
        if parameter is None:
            return
        yield _finding(info, step, parameter, file)


def _hidden_step(info: ClassInfo, file: FileContext) -> Iterator[Finding]:
    """Report several optimizers where the step takes the index by ``*args``."""
    found = info.find_method("training_step")
    if found is None or manual_optimization(info) or optimizer_count(info) is not Count.MANY:
        return
    step = found[1]
    if step.args.vararg is None and step.args.kwarg is None:
        return
    entry = catalogue.hook("LightningModule", "configure_optimizers")
    message = "several optimizers need manual optimization: " + _HOW.format(name="the index")
    if file.target is Target.RELIGHT:
        message += UNTIL_THEN
    yield file.finding(entry or "TRU215", info.methods["configure_optimizers"], message, silent=False)


def _finding(info: ClassInfo, step: Function, parameter: ast.arg, file: FileContext) -> Finding:
    entry = catalogue.hook("LightningModule", "training_step") or "TRU214"
    name = parameter.arg
    manual = manual_optimization(info)
    count = optimizer_count(info)
    default = _default(step, parameter)
    if truncates(info):
        message = f"`{name}` and truncated backpropagation: " + _HOW.format(name=name) + ", chunk by chunk"
        if file.target is Target.RELIGHT:
            message += UNTIL_THEN
        return file.finding(entry, step, message, silent=False)
    if not manual and count is not Count.ONE:
        how = _HOW.format(name=name)
        several = (
            "several optimizers need manual optimization"
            if count is Count.MANY
            else (
                "how many optimizers there are is decided at run time; with one, drop the "
                "parameter; with several"
            )
        )
        message = f"2.x passes no `{name}`: {several}: {how}"
        if file.target is Target.RELIGHT:
            message += UNTIL_THEN
        by_hand = plan(file, info)
        if isinstance(by_hand, str):
            return file.finding(entry, step, f"{message} (not written here: {by_hand})", silent=False)
        return file.finding(entry, step, message, by_hand.fix, silent=False)
    read = bool(name_nodes(step, info.module, name))
    if read and default is None:
        message = (
            f"2.x passes no `{name}`, which the step reads although 1.x never passed it "
            f"here: take it out by hand"
        )
        return file.finding(entry, step, message, silent=False)
    why = "manual optimization" if manual else "one optimizer"
    message = f"2.x refuses `{name}` in `training_step`, which 1.x never passed with {why}: drop it"

    def fix() -> Fix | None:
        return _fix(info, step, parameter, default if read else None, file)

    return file.finding(entry, step, message, fix, silent=False)


def _default(step: Function, parameter: ast.arg) -> ast.expr | None:
    arguments = positional(step)
    if parameter in arguments:
        position = arguments.index(parameter) - (len(arguments) - len(step.args.defaults))
        return step.args.defaults[position] if position >= 0 else None
    return step.args.kw_defaults[step.args.kwonlyargs.index(parameter)]


def _fix(
    info: ClassInfo, step: Function, parameter: ast.arg, default: ast.expr | None, file: FileContext
) -> Fix | None:
    try:
        items = parameter_items(step, file.module)
        index = items.index(parameter.arg)
        only = step.args.kwonlyargs == [parameter] and step.args.vararg is None
        if index is None or only:
            return None
        edits = items.without([index])
        if default is not None:
            body = BodyEdits(file, step)
            body.head.append(f"{parameter.arg} = {file.segment(default)}")
            edits += body.edits()
        position = positional(step).index(parameter) - 1 if parameter in positional(step) else 99
        calls = super_calls(step, "training_step")
        for reference in references(file, "training_step"):
            call = reference.module.scopes.parents.get(reference.node)
            near = reference.owner is not None and (
                reference.owner.node is info.node
                or info.node in {each.node for each in reference.owner.ancestors()}
            )
            here = not reference.upward and reference.module.path == file.module.path
            if near and here and isinstance(call, ast.Call) and call.func is reference.node:
                calls.append(call)
        for call in calls:
            dropped = drop_call_arguments(file, call, {position}, {parameter.arg})
            if dropped is None:
                return None
            edits += dropped
    except ValueError:
        return None
    return Fix(Applicability.SAFE, f"drop `{parameter.arg}`", tuple(edits))

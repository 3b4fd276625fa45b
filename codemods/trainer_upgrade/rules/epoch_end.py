"""Epoch-end hooks that receive the outputs of all steps.

Lightning 2.0 removed ``training_epoch_end``, ``validation_epoch_end`` and ``test_epoch_end``. Where nobody
reads the outputs, only the name changes. Else they are collected: by an append where a validation or test
step returns, if that provably stores what 1.x stored, otherwise in the hook that receives each batch's
outputs.

Before::

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()

        def validation_step(self, batch, batch_idx):
            loss = F.mse_loss(self(batch[0]), batch[1])
            return {"loss": loss}

        def validation_epoch_end(self, outputs):
            self.log("val_loss", torch.stack([o["loss"] for o in outputs]).mean())

        def training_epoch_end(self, outputs):
            self.log("train_loss", torch.stack([o["loss"] for o in outputs]).mean())

After::

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self._validation_outputs = []

        def validation_step(self, batch, batch_idx):
            loss = F.mse_loss(self(batch[0]), batch[1])
            output = {"loss": loss}
            self._validation_outputs.append(output)
            return output

        def on_validation_epoch_start(self):
            self._validation_outputs = []

        def on_validation_epoch_end(self):
            outputs = self._validation_outputs
            self.log("val_loss", torch.stack([o["loss"] for o in outputs]).mean())
            self._validation_outputs.clear()

        def on_train_epoch_start(self):
            self._train_outputs = []

        def on_train_batch_end(self, outputs, batch, batch_idx):
            if outputs:
                self._train_outputs.append({"loss": outputs["loss"]})

        def on_train_epoch_end(self):
            outputs = self._train_outputs
            self.log("train_loss", torch.stack([o["loss"] for o in outputs]).mean())
            self._train_outputs.clear()

A hook that somebody else calls or overrides keeps its body and its parameter as
``_validation_epoch_end(self, outputs)``; a new ``on_validation_epoch_end`` passes the outputs to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Entry
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.step_end import inlinable
from trainer_upgrade.rules.support.bodies import BodyEdits
from trainer_upgrade.rules.support.collecting import Unfit
from trainer_upgrade.rules.support.families import Family, Form, Member, family_of, migrated, reads_outputs
from trainer_upgrade.rules.support.hook_rewrite import HookRewrite, rename_attribute
from trainer_upgrade.rules.support.optimizers import why_not_one
from trainer_upgrade.rules.support.reading import (
    attribute_names,
    class_kind,
    inner_nodes,
    positional,
    self_attribute,
    self_name,
    super_calls,
)
from trainer_upgrade.rules.support.references import called_by_name, foreign, receiver
from trainer_upgrade.rules.support.stages import BY_LEGACY, OLDER, STAGES, Stage

__all__ = ["EpochEnd"]

_MODULE = "LightningModule"


def _entry(stage: Stage) -> Entry | str:
    return catalogue.hook(_MODULE, stage.legacy) or "TRU200"


@rule("epoch-end")
class EpochEnd:
    """Epoch-end hooks with outputs: the definitions, what hides them, and the calls by hand."""

    @on(ast.ClassDef)
    def definitions(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at a class's hooks."""
        info = file.class_info(node)
        for stage in STAGES:
            place = _defined(info, stage)
            if place is None:
                if class_kind(info, file) == _MODULE:
                    yield from _hidden(info, stage, file)
                continue
            if class_kind(info, file) == _MODULE:
                yield _finding(info, stage, place, file)
            elif info.kind is None and not info.known and _looks_like_module(info, stage):
                message = (
                    f"`{stage.legacy}(outputs)` was removed in 2.0, and a base of `{info.name}` "
                    f"is out of sight: if it is "
                    f"a LightningModule, collect the outputs in `{stage.batch_end}` and read "
                    f"them in `{stage.end}(self)`"
                )
                yield file.finding(_entry(stage), place, message, silent=False)

        for stage in OLDER:
            function = info.methods.get(stage.legacy)
            if function is None or len(positional(function)) != 2 or class_kind(info, file) != _MODULE:
                continue
            family = family_of(file, info, stage)
            newer = f"{stage.step.removesuffix('_step')}_epoch_end"
            if family is None or family.calls or any(newer in each.methods for each in family.related):
                continue  # a method of the user's own
            yield _finding(info, stage, function, file)

    @on(ast.Attribute)
    def calls(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at a mention of a hook outside of the classes that define it."""
        stage = BY_LEGACY.get(node.attr)
        if stage is None:
            return
        owner = receiver(file, node, file.module)
        if owner is None:
            if file.instance_of(node.value) == _MODULE or not foreign(file, node.value, file.module):
                message = f"`{stage.legacy}` is called by hand: after the upgrade it takes no outputs"
                yield file.finding(_entry(stage), node, message, silent=False)
            return
        if owner.mixed_kind() != _MODULE:
            return
        helper = migrated(owner, stage)
        if owner.find_method(stage.legacy) is not None:
            enclosing = file.enclosing_class(node)
            if enclosing is not None and _defined(file.class_info(enclosing), stage) is not None:
                return  # goes with the definition's fix
            family = _nearest_family(file, owner, stage)
            if family is None or family.form is not Form.SPLIT:
                return
            helper = family.helper
        if helper is None:
            if not isinstance(node.ctx, ast.Load):
                message = (
                    f"`{stage.legacy}` was removed in 2.0: what is assigned to it here must become "
                    f"`{stage.end}(self)`"
                )
                yield file.finding(_entry(stage), node, message, silent=False)
            return
        fix = Fix(Applicability.SAFE, f"call `{helper}`", (rename_attribute(file, node, helper),))
        message = f"`{stage.legacy}` is called by hand: the method that takes the outputs is `{helper}` now"
        yield file.finding(_entry(stage), node, message, fix, silent=False)

    @on(ast.Call)
    def names(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at ``getattr(model, "validation_epoch_end")``."""
        for argument in node.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                stage = BY_LEGACY.get(argument.value)
                if stage is not None and called_by_name(node):
                    message = (
                        f"`{stage.legacy}` was removed in 2.0 and is looked up by its name here: "
                        f"`{stage.end}` takes no outputs"
                    )
                    yield file.finding(_entry(stage), node, message, silent=True)


def _nearest_family(file: FileContext, owner: ClassInfo, stage: Stage) -> Family | None:
    for each in owner.ancestors():
        found = family_of(file, each, stage)
        if found is not None:
            return found
    return None


def _defined(info: ClassInfo, stage: Stage) -> ast.stmt | None:
    """Return where a class defines a hook under its old name."""
    function = info.methods.get(stage.legacy)
    if function is not None:
        return function
    for statement in info.node.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            continue
        if isinstance(statement.value, ast.Constant) and statement.value.value is None:
            continue  # 2.x takes this for no hook
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(isinstance(target, ast.Name) and target.id == stage.legacy for target in targets):
            return statement
    return None


def _finding(info: ClassInfo, stage: Stage, place: ast.stmt, file: FileContext) -> Finding:
    entry = _entry(stage)
    family = family_of(file, info, stage)
    member = family.member(info) if family is not None else None
    if family is None or member is None:
        message = (
            f"`{stage.legacy}` was removed in {_release(stage)}: what is assigned to it here must become "
            f"`{stage.end}(self)`"
        )
        return file.finding(entry, place, message, silent=False)
    reading = any(reads_outputs(each, stage) for each in family.members)
    if reading and stage.name == "train":
        reason = why_not_one(info)
        if reason is not None:
            message = (
                f"`{stage.legacy}(outputs)` was removed in {_release(stage)}, and here {reason}: rewrite the "
                f"optimization first, "
                f"then keep what you need on `self` in `training_step` and read it in `{stage.end}(self)`"
            )
            return file.finding(entry, place, message, silent=False)
    if reading and not all(inlinable(each, stage, file) for each in family.related):
        message = (
            f"`{stage.legacy}(outputs)` was removed in {_release(stage)}, and so was `{stage.step_end}`, "
            f"which supplied the outputs: call that at the end of `{stage.step}` first"
        )
        return file.finding(entry, place, message, silent=False)
    rewrite = HookRewrite(file, family, member)
    try:
        fix: Fix | None = rewrite.fix(rewrite.applicability())
    except (Unfit, ValueError) as error:
        message = (
            f"`{stage.legacy}(outputs)` was removed in {_release(stage)} and cannot be rewritten here: "
            f"{error}; collect the outputs "
            f"in `{stage.batch_end}` and read them in `{stage.end}(self)`"
        )
        return file.finding(entry, place, message, silent=False)
    message = f"`{stage.legacy}(outputs)` was removed in {_release(stage)}: " + (
        f"collect the outputs yourself and read them in `{stage.end}(self)`"
        if reading
        else f"its outputs are never read, so `{stage.end}(self)` does"
    )
    if not rewrite_is_safe(rewrite):
        message += _doubt(rewrite)
    return file.finding(entry, place, message, fix, silent=False)


def _release(stage: Stage) -> str:
    return "1.0" if stage in OLDER else "2.0"


def rewrite_is_safe(rewrite: HookRewrite) -> bool:
    """Whether a rewrite is provably the same."""
    return rewrite.applicability() is Applicability.SAFE


def _doubt(rewrite: HookRewrite) -> str:
    stage = rewrite.stage
    if stage in OLDER:
        return " (nothing has called it since)"
    if any(stage.step_end in each.methods for each in rewrite.family.related):
        return f" (`{stage.step_end}` supplied them and is gone, too)"
    if not rewrite.info.known:
        return " (a base is out of sight)"
    doubt = rewrite.doubt()
    if doubt:
        return f" ({doubt})"
    return " (check that there is one optimizer)"


def _looks_like_module(info: ClassInfo, stage: Stage) -> bool:
    """Whether a class with a base that is out of sight uses what only a LightningModule has."""
    function = info.methods.get(stage.legacy)
    if function is None or len(positional(function)) < 2 or not info.node.bases:
        return False
    if super_calls(function, stage.legacy):
        return True
    instance = self_name(function)
    own = {self_attribute(node, instance) for node in inner_nodes(function)}
    return not own.isdisjoint(("log", "log_dict", "trainer", "current_epoch", "global_step"))


def _hidden(info: ClassInfo, stage: Stage, file: FileContext) -> Iterator[Finding]:
    """Find hooks of a class that would hide those that the upgrade puts into a base."""
    hooks = (stage.start, stage.batch_end, stage.end)
    if info.methods.keys().isdisjoint(hooks):
        return
    for base in info.ancestors()[1:]:
        names = _inserted(file, base, stage)
        for name in hooks:
            function = info.methods.get(name)
            if name not in names or function is None or super_calls(function, name):
                continue
            arguments = positional(function)
            given = ", ".join(each.arg for each in arguments[1:])
            body = BodyEdits(file, function)
            body.head.append(f"super().{name}({given})")
            message = (
                f"`{name}` hides the one of `{base.name}`, which takes the place of "
                f"`{stage.legacy}`: call it first"
            )
            try:
                edits = body.edits()
            except ValueError:
                edits = []
            fix = Fix(Applicability.SAFE, f"call `super().{name}` first", tuple(edits)) if edits else None
            yield file.finding(_entry(stage), function, message, fix, silent=True)
        if names:
            return


def _inserted(file: FileContext, base: ClassInfo, stage: Stage) -> set[str]:
    """Return the hooks of a base that are, or are about to be, part of the upgraded form."""
    family = family_of(file, base, stage)
    member: Member | None = family.member(base) if family is not None else None
    if family is not None and member is not None and not member.done and family.is_root(base):
        other = FileContext(base.module, file.project) if base.path != file.module.path else file
        rewrite = HookRewrite(other, family, member)
        try:
            rewrite.fix(Applicability.SAFE)
        except (Unfit, ValueError):
            return set()
        return rewrite.hooks
    found = set()
    for name in (stage.start, stage.batch_end, stage.end):
        function = base.methods.get(name)
        if function is not None and not attribute_names(base, function).isdisjoint(stage.stores):
            found.add(name)
    return found

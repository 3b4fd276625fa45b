"""Truncated backpropagation through time, which 2.x does not do, without a word.

``truncated_bptt_steps``, ``tbptt_split_batch`` and the ``hiddens`` of ``training_step`` are reported. Where
the step is all there is to it, the unsafe fix writes out what 1.x did, along dimension 1 of each tensor of
the batch:

Before::

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.truncated_bptt_steps = 2

        def training_step(self, batch, batch_idx, hiddens):
            x, y = batch
            out, hiddens = self.rnn(x, hiddens)
            return {"loss": F.mse_loss(self.head(out), y), "hiddens": hiddens}

After::

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.truncated_bptt_steps = 2

        def training_step(self, batch, batch_idx):
            optimizer = self.optimizers()
            hiddens = None
            for start in range(0, batch[0].size(1), self.truncated_bptt_steps):
                chunk = [each[:, start : start + self.truncated_bptt_steps] for each in batch]
                output = self._training_step(chunk, batch_idx, hiddens)
                optimizer.zero_grad()
                self.manual_backward(output["loss"])
                optimizer.step()
                hiddens = output["hiddens"]
                if isinstance(hiddens, tuple):
                    hiddens = tuple(each.detach() for each in hiddens)
                else:
                    hiddens = hiddens.detach()

        def _training_step(self, batch, batch_idx, hiddens):
            ...  # as it was
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.legacy_loop import UNTIL_THEN
from trainer_upgrade.rules.support.manual_step import plan
from trainer_upgrade.rules.support.optimizers import INDEX_NAMES, manual_optimization
from trainer_upgrade.rules.support.reading import class_kind, inner_nodes, positional

__all__ = ["TruncatedBptt"]

_HOW = (
    "2.x trains on the whole sequence and says nothing: set `self.automatic_optimization = "
    "False`, split the batch "
    "along time in `training_step`, and for each chunk compute the loss, `zero_grad()`, "
    "`self.manual_backward(loss)`, `step()`, then detach the hidden state; clip with "
    "`self.clip_gradients` and step "
    "schedulers once a batch yourself"
)


@rule("truncated-bptt")
class TruncatedBptt:
    """Signs of truncated backpropagation in a module."""

    @on(ast.Assign, ast.AnnAssign)
    def assigned(self, node: ast.Assign | ast.AnnAssign, file: FileContext) -> Iterator[Finding]:
        """Look at ``truncated_bptt_steps = 2``, in a class or on ``self``."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        in_class = isinstance(file.parent(node), ast.ClassDef)
        names = {
            each.attr if isinstance(each, ast.Attribute) else each.id
            for each in targets
            if isinstance(each, ast.Attribute) or (in_class and isinstance(each, ast.Name))
        }
        if "truncated_bptt_steps" not in names:
            return
        owner = file.enclosing_class(node)
        if owner is None:
            return
        info = file.class_info(owner)
        if info.mixed_kind() == "LightningModule" and not _by_hand(info, "truncated_bptt_steps"):
            entry = catalogue.hook("LightningModule", "truncated_bptt_steps") or "TRU212"
            yield file.finding(entry, node, f"`truncated_bptt_steps` has no effect: {_HOW}", silent=True)

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at a module."""
        info = file.class_info(node)
        if class_kind(info, file) != "LightningModule":
            return
        steps = catalogue.hook("LightningModule", "truncated_bptt_steps") or "TRU212"
        split = info.methods.get("tbptt_split_batch")
        if split is not None and not _by_hand(info, "tbptt_split_batch"):
            entry = catalogue.hook("LightningModule", "tbptt_split_batch") or "TRU211"
            message = "`tbptt_split_batch` is never called: call it yourself from `training_step`"
            yield file.finding(entry, split, message, silent=True)
        step = info.methods.get("training_step")
        if step is not None and any(each.arg == "hiddens" for each in positional(step)):
            defaulted = len(step.args.defaults) > 0
            message = f"`training_step` is given no `hiddens`: {_HOW}"
            if file.target is Target.RELIGHT:
                message += UNTIL_THEN
            if any(each.arg in INDEX_NAMES for each in positional(step)):
                yield file.finding(steps, step, message, silent=defaulted)
                return
            by_hand = plan(file, info)
            if isinstance(by_hand, str):
                yield file.finding(steps, step, f"{message} (not written here: {by_hand})", silent=defaulted)
            else:
                yield file.finding(steps, step, message, by_hand.fix, silent=defaulted)


def _by_hand(info: ClassInfo, name: str) -> bool:
    """Whether a class with manual optimization reads an attribute or calls a method itself."""
    return manual_optimization(info) and any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        for each in (info, *info.ancestors(), *info.subclasses())
        for function in each.methods.values()
        for node in inner_nodes(function)
    )

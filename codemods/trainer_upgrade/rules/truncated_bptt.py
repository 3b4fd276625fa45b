"""Truncated backpropagation through time, which 2.x does not do, without a word.

``truncated_bptt_steps``, ``tbptt_split_batch`` and the ``hiddens`` of ``training_step`` are reported. The
rewrite needs decisions (which dimension is time, when schedulers step), so it is left to a person:

Before::

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.truncated_bptt_steps = 2

        def training_step(self, batch, batch_idx, hiddens):
            x, y = batch
            out, hiddens = self.rnn(x, hiddens)
            return {"loss": F.mse_loss(self.head(out), y), "hiddens": hiddens}

After, by hand::

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.tbptt_steps = 2

        def training_step(self, batch, batch_idx):
            optimizer = self.optimizers()
            hiddens = None
            for start in range(0, batch[0].size(1), self.tbptt_steps):
                x, y = (each[:, start : start + self.tbptt_steps] for each in batch)
                out, hiddens = self.rnn(x, hiddens)
                optimizer.zero_grad()
                self.manual_backward(F.mse_loss(self.head(out), y))
                optimizer.step()
                hiddens = hiddens.detach()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import (
    class_kind,
    positional,
)

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
        if owner is not None and file.class_info(owner).mixed_kind() == "LightningModule":
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
        if split is not None:
            entry = catalogue.hook("LightningModule", "tbptt_split_batch") or "TRU211"
            message = "`tbptt_split_batch` is never called: call it yourself from `training_step`"
            yield file.finding(entry, split, message, silent=True)
        step = info.methods.get("training_step")
        if step is not None and any(each.arg == "hiddens" for each in positional(step)):
            defaulted = len(step.args.defaults) > 0
            message = f"`training_step` is given no `hiddens`: {_HOW}"
            yield file.finding(steps, step, message, silent=defaulted)

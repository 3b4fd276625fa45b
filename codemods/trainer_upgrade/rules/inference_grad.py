"""Gradients inside of test and predict steps, which inference mode forbids.

``trainer.test``, ``validate`` and ``predict`` run in ``torch.inference_mode`` since 1.7, which
``enable_grad`` cannot leave. Such a step is reported; the argument that turns the mode off is the Trainer's,
wherever it is built.

Before::

    class Forces(pl.LightningModule):
        @torch.enable_grad()
        def test_step(self, batch, batch_idx):
            energy = self(batch).sum()
            return torch.autograd.grad(energy, batch)

    trainer = pl.Trainer()

After, by hand::

    trainer = pl.Trainer(inference_mode=False)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Area, Target
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import class_kind, inner_nodes, self_attribute, self_name

__all__ = ["InferenceGrad"]

_OFF = re.compile(rb"inference_mode[\"']?\s*[=:]\s*False")
_STEPS = ("validation_step", "test_step", "predict_step")


@rule("inference-grad")
class InferenceGrad:
    """Steps that ask for gradients."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the evaluation steps of a module."""
        info = file.class_info(node)
        if class_kind(info, file) != "LightningModule" or _turned_off(file):
            return
        for name in _STEPS:
            step = info.methods.get(name)
            if step is None or not _wants_grad(info, step, file, 0):
                continue
            entry = catalogue.find(Area.TRAINER_ARGUMENT, "Trainer", "inference_mode")
            where = (
                "`trainer.test(..., inference_mode=False)`"
                if file.target is Target.RELIGHT
                else "`Trainer(inference_mode=False)`"
            )
            message = (
                f"`{name}` computes gradients, and `validate`, `test` and `predict` run in inference mode, "
                f"which `enable_grad` cannot leave: it needs {where}"
            )
            yield file.finding(entry or "TRU800", step, message, silent=False)


def _turned_off(file: FileContext) -> bool:
    """Whether some file of the project turns the mode off."""
    memo = file.project.memo
    if "inference-mode-off" not in memo:
        memo["inference-mode-off"] = any(_OFF.search(each.data) for each in file.project.relevant_modules())
    return bool(memo["inference-mode-off"])


def _wants_grad(info: ClassInfo, function: Function, file: FileContext, depth: int) -> bool:
    calls = [each for each in function.decorator_list if isinstance(each, ast.Call)]
    calls += [each for each in inner_nodes(function) if isinstance(each, ast.Call)]
    for call in calls:
        name = file.names.resolve(call.func, info.module)
        if name is None:
            continue
        if name.dotted in ("torch.enable_grad", "torch.autograd.grad"):
            return True
        if name.dotted == "torch.set_grad_enabled" and call.args:
            first = call.args[0]
            if isinstance(first, ast.Constant) and first.value is True:
                return True
    if depth < 2:
        instance = self_name(function)
        for call in calls:
            method = self_attribute(call.func, instance)
            found = info.find_method(method) if method is not None else None
            if found is not None and found[1] is not function and _wants_grad(*found, file, depth + 1):
                return True
    return False

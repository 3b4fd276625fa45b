"""``dataloader_idx`` of evaluation hooks and steps, which 2.x passes only where there are several loaders.

Before::

    class Net(pl.LightningModule):
        def validation_step(self, batch, batch_idx, dataloader_idx): ...

    class Log(pl.Callback):
        def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx): ...

After::

    class Net(pl.LightningModule):
        def validation_step(self, batch, batch_idx, dataloader_idx=0): ...

    class Log(pl.Callback):
        def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        ...
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.hook_tables import INDEXED
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.reading import class_kind, positional, self_name

__all__ = ["LoaderIndex"]


@rule("loader-index")
class LoaderIndex:
    """A required ``dataloader_idx`` gets the default 0."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the hooks of a class."""
        info = file.class_info(node)
        kind = class_kind(info, file)
        if kind not in ("LightningModule", "Callback"):
            return
        for name, function in info.methods.items():
            known = INDEXED.get((kind, name))
            if known is None or self_name(function) is None:
                continue
            yield from _look(kind, function, known.position, file)


def _look(kind: str, function: Function, position: int, file: FileContext) -> Iterator[Finding]:
    parameters = positional(function)[1:]
    without = len(parameters) - len(function.args.defaults)
    if len(parameters) <= position or parameters[0].arg == "dataloader_iter":
        return  # what takes the iterator takes nothing else: see iterator_steps
    if position >= without or (len(parameters) > position + 1 and position + 1 < without):
        return
    parameter = parameters[position]
    item = parameter_items(function, file.module).items[position + 1]
    equals = " = 0" if parameter.annotation is not None else "=0"
    message = (
        f"`{function.name}` is given `{parameter.arg}` only with several loaders: it needs the default 0"
    )
    entry = catalogue.hook(kind, function.name)
    fix = Fix(Applicability.SAFE, "give it the default 0", (Edit(item.end, item.end, equals),))
    yield file.finding(entry or "TRU221", function, message, fix, silent=False)

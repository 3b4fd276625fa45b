"""Loader methods that want arguments: nothing gives them any.

Before::

    class Data(pl.LightningDataModule):
        def train_dataloader(self, epoch): ...

After: the same, with a finding. Only a person knows where the epoch is to come from
(``self.trainer.current_epoch``, with ``reload_dataloaders_every_n_epochs=1``, as a rule).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.classes import Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import class_kind, positional, self_name

__all__ = ["HookArity"]

_LOADERS = ("prepare_data", "train_dataloader", "val_dataloader", "test_dataloader")


@rule("hook-arity")
class HookArity:
    """Signatures that a call of 2.x does not fit."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the loader methods of a class."""
        info = file.class_info(node)
        if info.methods.keys().isdisjoint(_LOADERS):
            return
        if class_kind(info, file) not in ("LightningModule", "LightningDataModule"):
            return
        for name in _LOADERS:
            function = info.methods.get(name)
            if function is not None and _required(function):
                entry = catalogue.hook("LightningDataModule", name) or "TRU248"
                yield file.finding(entry, function)


def _required(function: Function) -> list[ast.arg]:
    """Return the parameters behind ``self`` that have no default."""
    if self_name(function) is None:
        return []
    parameters = positional(function)
    free = parameters[1 : len(parameters) - len(function.args.defaults)]
    return free + [
        each
        for each, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if default is None
    ]

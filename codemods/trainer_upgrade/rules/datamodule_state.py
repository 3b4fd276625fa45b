"""State of data modules: their checkpoint hooks are never called any more.

Before::

    class Data(pl.LightningDataModule):
        def on_save_checkpoint(self, checkpoint):
            checkpoint["seen"] = self.seen

        def on_load_checkpoint(self, checkpoint):
            self.seen = checkpoint["seen"]

After::

    class Data(pl.LightningDataModule):
        def state_dict(self):
            checkpoint = {}
            checkpoint["seen"] = self.seen
            return checkpoint

        def load_state_dict(self, state_dict):
            self.seen = state_dict["seen"]

Checkpoints written before hold the values elsewhere, so both are unsafe.
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
from trainer_upgrade.rules.support.bodies import BodyEdits
from trainer_upgrade.rules.support.hook_rewrite import name_edit
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.reading import (
    class_kind,
    local_names,
    name_nodes,
    positional,
    returns,
    self_name,
    super_calls,
)

__all__ = ["DataModuleState"]

# Entries of a checkpoint that are not the data module's own.
_FOREIGN = frozenset(
    {"state_dict", "epoch", "global_step", "optimizer_states", "lr_schedulers", "callbacks", "loops"}
)
_NEW = {"on_save_checkpoint": "state_dict", "on_load_checkpoint": "load_state_dict"}


@rule("datamodule-state")
class DataModuleState:
    """The checkpoint hooks of data modules."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the checkpoint hooks of a class."""
        info = file.class_info(node)
        if class_kind(info, file) != "LightningDataModule":
            return
        for old, new in _NEW.items():
            function = info.methods.get(old)
            if function is None or self_name(function) is None:
                continue
            entry = catalogue.hook("LightningDataModule", old) or "TRU244"
            message = f"a data module's `{old}` is never called: its state goes through `{new}`"
            edits = _edits(info, function, new, file)
            fix = None
            if edits is not None:
                message += " (checkpoints written before keep the values where the old hook put them)"
                fix = Fix(Applicability.UNSAFE, f"make it `{new}`", tuple(edits))
            yield file.finding(entry, function, message, fix, silent=True)


def _edits(info: ClassInfo, function: Function, new: str, file: FileContext) -> list[Edit] | None:
    parameters = positional(function)[1:]
    if len(parameters) != 1 or super_calls(function, function.name) or function not in info.node.body:
        return None
    if (
        any(new in each.methods for each in (*info.ancestors(), *info.subclasses()))
        or function.decorator_list
    ):
        return None
    checkpoint = parameters[0].arg
    uses = name_nodes(function, info.module, checkpoint)
    parents = info.module.scopes.parents
    for use in uses:
        parent = parents.get(use)
        key = parent.slice if isinstance(parent, ast.Subscript) else None
        if not isinstance(key, ast.Constant) or key.value in _FOREIGN:
            return None
    try:
        items = parameter_items(function, file.module)
        edits = [name_edit(file, function, new)]
        if new == "load_state_dict":
            if checkpoint != "state_dict" and "state_dict" not in local_names(function):
                begin = file.span(parameters[0])[0]
                edits.append(Edit(begin, begin + len(checkpoint), "state_dict"))
                edits += [file.edit(each, "state_dict") for each in uses]
            return edits
        if returns(function):
            return None
        body = BodyEdits(file, function)
        body.head.append(f"{checkpoint} = {{}}")
        body.tail.append(f"return {checkpoint}")
        return edits + items.without([1]) + body.edits()
    except ValueError:
        return None

"""Hooks that must take a parameter they did not: ``stage``, ``dataloader_idx``, ``pl_module``, ``outputs``.

Before::

    class Data(pl.LightningDataModule):
        def setup(self):
            self.items = list(range(16))

        def teardown(self, mode=None):
            print(mode)

        def transfer_batch_to_device(self, batch, device):
            return super().transfer_batch_to_device(batch, device)

    data.teardown(mode="fit")

After::

    class Data(pl.LightningDataModule):
        def setup(self, stage=None):
            self.items = list(range(16))

        def teardown(self, stage=None):
            print(stage)

        def transfer_batch_to_device(self, batch, device, dataloader_idx):
            return super().transfer_batch_to_device(batch, device, dataloader_idx)

    data.teardown(stage="fit")
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
from trainer_upgrade.rules.support.lists import call_items, parameter_items
from trainer_upgrade.rules.support.reading import (
    class_kind,
    doubt,
    local_names,
    name_nodes,
    positional,
    self_name,
    super_calls,
)
from trainer_upgrade.rules.support.references import references

__all__ = ["HookParameters"]

_STAGED = ("setup", "teardown")
_KINDS = ("LightningModule", "LightningDataModule", "Callback")
_TRANSFER = {"transfer_batch_to_device": 2, "on_before_batch_transfer": 1, "on_after_batch_transfer": 1}
_BATCH_HOOKS = {
    f"on_{stage}_batch_{side}"
    for stage in ("train", "validation", "test", "predict")
    for side in ("start", "end")
}


@rule("hook-parameters")
class HookParameters:
    """Parameters that 2.x passes and an old signature lacks."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the hooks of a class."""
        info = file.class_info(node)
        kind = class_kind(info, file)
        if kind not in _KINDS:
            return
        for name, function in info.methods.items():
            if self_name(function) is None or function not in node.body:
                continue
            try:
                if name in _STAGED:
                    yield from _staged(info, kind, function, file)
                elif name in _TRANSFER and kind != "Callback":
                    yield from _transfer(kind, function, file)
                elif name in _BATCH_HOOKS:
                    yield from _batch(kind, function, file)
                elif kind == "Callback" and name in ("on_fit_start", "on_fit_end"):
                    yield from _fit(kind, function, file)
            except ValueError:
                continue

    @on(ast.Call)
    def calls(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at ``data.setup(mode="fit")``, where the parameter is renamed."""
        called = node.func
        if not isinstance(called, ast.Attribute) or called.attr not in _STAGED or not node.keywords:
            return
        instance = file.instance(called.value)
        if instance is None or instance.info is None or instance.info.mixed_kind() not in _KINDS:
            return
        found = instance.info.find_method(called.attr)
        if found is None:
            return
        owner, function = found
        parameter = _stage_parameter(owner.mixed_kind() or "", function)
        if parameter is None or parameter.arg == "stage":
            return
        for keyword in node.keywords:
            if keyword.arg == parameter.arg:
                start = file.span(keyword)[0]
                edit = Edit(start, start + len(keyword.arg), "stage")
                entry = catalogue.hook(owner.mixed_kind() or "", called.attr)
                message = f"`{called.attr}` takes the stage as `stage`"
                fix = Fix(Applicability.SAFE, "name it `stage`", (edit,))
                yield file.finding(entry or "TRU227", node, message, fix, silent=False)


def _finding(
    kind: str, function: Function, message: str, fix: str, edits: list[Edit], file: FileContext
) -> Finding:
    entry = catalogue.hook(kind, function.name) or "TRU239"
    owner = file.method_owner(function)
    why = doubt(owner, function) if owner is not None else ""
    how = Applicability.UNSAFE if why else Applicability.SAFE
    message += f" ({why})" if why else ""
    return file.finding(
        entry, function, message, Fix(how, fix, tuple(edits)) if edits else None, silent=False
    )


def _stage_parameter(kind: str, function: Function) -> ast.arg | None:
    """Return the parameter that stands where ``stage`` is passed."""
    position = 3 if kind == "Callback" else 1
    parameters = positional(function)
    return parameters[position] if len(parameters) > position else None


def _staged(info: ClassInfo, kind: str, function: Function, file: FileContext) -> Iterator[Finding]:
    arguments = function.args
    names = [each.arg for each in positional(function)][1:]
    if "stage" in [*names, *(each.arg for each in arguments.kwonlyargs)] and not (
        kind == "Callback" and names == ["trainer", "stage"]
    ):
        return
    if arguments.kwarg is not None or arguments.vararg is not None:
        return
    items = parameter_items(function, file.module)
    message = f"`{function.name}` is called with the keyword `stage`"
    if kind == "Callback":
        if names == ["trainer", "stage"]:
            edit = items.inserted(2, "pl_module")
            yield _finding(kind, function, f"`{function.name}` is given `pl_module`", "take it", [edit], file)
        elif len(names) == 2:
            edit = items.inserted(3, "stage=None")
            yield _finding(kind, function, message, "take it", [edit], file)
        elif len(names) == 1:
            edit = items.inserted(2, "pl_module, stage=None")
            yield _finding(kind, function, message, "take it", [edit], file)
        elif len(names) == 3:
            yield from _renamed(info, kind, function, message, file)
        return
    if not names:
        edit = items.inserted(1, "stage=None")
        yield _finding(kind, function, message, "take it", [edit], file)
    elif len(names) == 1 or len(names) - len(arguments.defaults) <= 1:
        yield from _renamed(info, kind, function, message, file)


def _renamed(
    info: ClassInfo, kind: str, function: Function, message: str, file: FileContext
) -> Iterator[Finding]:
    parameter = _stage_parameter(kind, function)
    if parameter is None:
        return
    old = parameter.arg
    if "stage" in local_names(function):
        yield _finding(kind, function, f"{message}, not `{old}`", "", [], file)
        return
    start = file.span(parameter)[0]
    edits = [Edit(start, start + len(old), "stage")]
    edits += [file.edit(node, "stage") for node in name_nodes(function, info.module, old)]
    for call in super_calls(function, function.name):
        for keyword in call.keywords:
            if keyword.arg == old:
                begin = file.span(keyword)[0]
                edits.append(Edit(begin, begin + len(old), "stage"))
    yield _finding(kind, function, f"{message}, not `{old}`", "rename it", edits, file)


def _transfer(kind: str, function: Function, file: FileContext) -> Iterator[Finding]:
    arguments = function.args
    expected = _TRANSFER[function.name]
    if (
        len(positional(function)) != expected + 1
        or arguments.vararg is not None
        or arguments.kwarg is not None
    ):
        return
    by_hand = [
        each for each in references(file, function.name) if not each.upward and each.function is not function
    ]
    default = "=0" if arguments.defaults or by_hand else ""
    items = parameter_items(function, file.module)
    name = "dataloader_idx: int" if items.annotated else "dataloader_idx"
    if default and items.annotated:
        default = " = 0"
    edits = [items.inserted(expected + 1, f"{name}{default}")]
    for call in super_calls(function, function.name):
        if any(isinstance(each, ast.Starred) for each in call.args) or any(
            k.arg is None for k in call.keywords
        ):
            continue
        text = "dataloader_idx=dataloader_idx" if call.keywords else "dataloader_idx"
        inner = call_items(call, file.module)
        edits.append(inner.inserted(len(inner.items), text))
    message = f"`{function.name}` is given `dataloader_idx`"
    yield _finding(kind, function, message, "take it", edits, file)


def _batch(kind: str, function: Function, file: FileContext) -> Iterator[Finding]:
    """Batch hooks of 0.7 (no batch) and of 0.9 (no outputs)."""
    names = [each.arg for each in positional(function)][1:]
    if function.args.vararg is not None or function.args.kwarg is not None:
        return
    skip = 2 if kind == "Callback" else 0
    items = parameter_items(function, file.module)
    end = function.name.endswith("_end")
    if kind == "Callback" and len(names) == 2 and not function.args.kwonlyargs:
        rest = "outputs, batch, batch_idx" if end else "batch, batch_idx"
        if "train" not in function.name:
            rest += ", dataloader_idx=0"
        yield _finding(
            kind,
            function,
            f"`{function.name}` is given the batch",
            "take it",
            [items.inserted(3, rest)],
            file,
        )
    elif end and len(names) in (skip + 2, skip + 3) and names[skip] == "batch" and "idx" in names[skip + 1]:
        edit = items.inserted(skip + 1, "outputs")
        yield _finding(
            kind, function, f"`{function.name}` is given the outputs first", "take them", [edit], file
        )


def _fit(kind: str, function: Function, file: FileContext) -> Iterator[Finding]:
    arguments = function.args
    if len(positional(function)) == 2 and arguments.vararg is None and not arguments.kwonlyargs:
        edit = parameter_items(function, file.module).inserted(2, "pl_module")
        yield _finding(kind, function, f"`{function.name}` is given `pl_module`", "take it", [edit], file)

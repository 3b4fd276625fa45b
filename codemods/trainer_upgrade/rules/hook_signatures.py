"""Hooks that lost a parameter: the optimizer's index, ``on_tpu``, a training hook's ``dataloader_idx``.

2.x passes what is left by position, so an old signature fails, or takes the closure for the index.

Before::

    class Net(pl.LightningModule):
        def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure,
                           on_tpu=False, using_native_amp=False, using_lbfgs=False):
            super().optimizer_step(epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu,
                                   using_native_amp, using_lbfgs)

        def on_train_batch_start(self, batch, batch_idx, dataloader_idx):
            print(dataloader_idx)

After::

    class Net(pl.LightningModule):
        def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
            super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)

        def on_train_batch_start(self, batch, batch_idx):
            dataloader_idx = 0
            print(dataloader_idx)

A parameter that the body reads is given the value it always had; where that is not known (the index with
several optimizers, ``on_tpu``) the hook is reported and left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Entry
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import BodyEdits
from trainer_upgrade.rules.support.calls import drop_call_arguments
from trainer_upgrade.rules.support.hook_tables import DROPPED, INDEX, LOADER, Dropped
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.optimizers import Count, optimizer_count
from trainer_upgrade.rules.support.reading import (
    class_kind,
    doubt,
    inner_nodes,
    name_nodes,
    positional,
    self_attribute,
    self_name,
    super_calls,
)

__all__ = ["HookSignatures"]


@rule("hook-signatures")
class HookSignatures:
    """Hooks with parameters that are gone."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the hooks of a class."""
        info = file.class_info(node)
        kind = class_kind(info, file)
        if kind is None:
            return
        for name, function in info.methods.items():
            change = DROPPED.get((kind, name))
            if change is None or self_name(function) is None:
                continue
            gone = _gone(function, change)
            if gone:
                yield _finding(info, kind, function, change, gone, file)


def _gone(function: Function, change: Dropped) -> dict[str, ast.arg]:
    """Return the parameters of a signature that are gone, by the name that 1.x gave them."""
    parameters = positional(function)[1:]
    names = [each.arg for each in parameters]
    found: dict[str, ast.arg] = {}
    legacy = change.legacy
    first = legacy.index(change.gone[0])
    if change.gone[0] == "dataloader_idx":
        # The batch hooks lost their last parameter.
        if len(names) > first and (len(names) == first + 1 or LOADER.search(names[first])):
            found["dataloader_idx"] = parameters[first]
        return found
    if legacy[0] == "loss":
        # Of backward only (loss, optimizer, optimizer_idx) is old; other extra parameters are the user's.
        if len(names) >= 2 and "optim" in names[1]:
            found["optimizer"] = parameters[1]
            if len(names) >= 3 and INDEX.match(names[2]):
                found["optimizer_idx"] = parameters[2]
        return found
    if len(names) > first:
        candidate = names[first]
        rest = len(names) - first
        expected = len(legacy) - first
        known = [each for each in legacy if each not in change.gone]
        if (INDEX.match(candidate) and candidate not in known) or (
            rest == expected and candidate not in known and len(names) == len(legacy)
        ):
            found["optimizer_idx"] = parameters[first]
    for each in (*parameters, *function.args.kwonlyargs):
        if each.arg in change.gone:
            found.setdefault(each.arg, each)
    return found


def _finding(
    info: ClassInfo,
    kind: str,
    function: Function,
    change: Dropped,
    gone: dict[str, ast.arg],
    file: FileContext,
) -> Finding:
    entry: Entry | str = catalogue.hook(kind, function.name) or catalogue.code(
        catalogue.Area.CALLBACK_HOOK, "Callback", "on_before_optimizer_step"
    )
    listing = ", ".join(f"`{each.arg}`" for each in gone.values())
    reads = {legacy: _reads(function, each.arg, info) for legacy, each in gone.items()}
    known = dict(change.constants)
    if optimizer_count(info) is Count.ONE:
        known.update(change.one_optimizer)
    unknown = [gone[legacy].arg for legacy, nodes in reads.items() if nodes and legacy not in known]
    if unknown:
        listed = ", ".join(f"`{each}`" for each in unknown)
        hint = (
            "compare the optimizer itself (`optimizer is self.optimizers()[1]`)"
            if any(INDEX.match(each) for each in unknown)
            else "find out another way"
        )
        message = f"`{function.name}` no longer receives {listed}, which its body reads: {hint}"
        return file.finding(entry, function, message, silent=False)
    why = doubt(info, function)
    message = f"`{function.name}` no longer receives {listing}" + (f" ({why})" if why else "")

    def fix() -> Fix | None:
        try:
            return _fix(
                info, function, change, gone, {key for key, nodes in reads.items() if nodes}, known, file
            )
        except ValueError:
            return None

    return file.finding(entry, function, message, fix)


def _reads(function: Function, name: str, info: ClassInfo) -> list[ast.Name]:
    """Return where a parameter is read, but for the arguments of the base's hook."""
    passed: set[ast.AST] = set()
    for call in _hook_calls(function, function.name):
        passed.update(call.args)
        passed.update(each.value for each in call.keywords)
    return [node for node in name_nodes(function, info.module, name) if node not in passed]


def _hook_calls(function: Function, name: str) -> list[ast.Call]:
    """Return the calls of the same hook on ``super()`` or a base class (``Base.hook(self, …)``)."""
    found = super_calls(function, name)
    instance = self_name(function)
    for node in inner_nodes(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            first = node.args[0] if node.args else None
            if (
                isinstance(first, ast.Name)
                and first.id == instance
                and self_attribute(node.func, instance) is None
            ):
                found.append(node)
    return found


def _fix(
    info: ClassInfo,
    function: Function,
    change: Dropped,
    gone: dict[str, ast.arg],
    read: set[str],
    known: dict[str, str],
    file: FileContext,
) -> Fix | None:
    items = parameter_items(function, file.module)
    drop = [items.index(each.arg) for each in gone.values()]
    edits: list[Edit] = items.without([each for each in drop if each is not None])
    if _leaves_bare_star(function, gone):
        return None
    imports: tuple[ImportRequest, ...] = ()
    body = BodyEdits(file, function)
    for legacy in change.legacy:
        if legacy in gone and legacy in read:
            value = known[legacy]
            if "torch" in value:
                text, imports = file.spell("torch.optim.LBFGS", function)
                position = change.legacy.index("optimizer")
                optimizer = positional(function)[1:][position].arg
                value = f"isinstance({optimizer}, {text})"
            body.head.append(f"{gone[legacy].arg} = {value}")
    edits += body.edits()
    positions = {change.legacy.index(legacy): legacy for legacy in gone}
    for call in _hook_calls(function, function.name):
        offset = 0 if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call) else 1
        dropped = drop_call_arguments(file, call, {each + offset for each in positions}, set(change.gone))
        if dropped is None:
            return None
        edits += dropped
    names = [
        node.id
        for each in gone.values()
        if each.annotation is not None
        for node in ast.walk(each.annotation)
        if isinstance(node, ast.Name)
    ]
    listing = ", ".join(f"`{each.arg}`" for each in gone.values())
    return Fix(
        Applicability.UNSAFE if doubt(info, function) else Applicability.SAFE,
        f"drop {listing}",
        tuple(edits),
        imports=imports,
        unimports=tuple(sorted(set(names) - {"int", "bool", "str", "float"})),
    )


def _leaves_bare_star(function: Function, gone: dict[str, ast.arg]) -> bool:
    keyword_only = function.args.kwonlyargs
    return (
        bool(keyword_only)
        and function.args.vararg is None
        and all(each in gone.values() for each in keyword_only)
    )

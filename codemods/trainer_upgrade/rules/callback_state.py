"""State of callbacks: what ``on_save_checkpoint`` returned is lost; ``on_load_checkpoint`` gets the file.

Before::

    class Counter(pl.Callback):
        def on_save_checkpoint(self, trainer, pl_module, checkpoint):
            checkpoint["note"] = "counted"
            return {"seen": self.seen}

        def on_load_checkpoint(self, trainer, pl_module, callback_state):
            self.seen = callback_state["seen"]

After::

    class Counter(pl.Callback):
        def on_save_checkpoint(self, trainer, pl_module, checkpoint):
            checkpoint["note"] = "counted"

        def state_dict(self):
            return {"seen": self.seen}

        def load_state_dict(self, state_dict):
            self.seen = state_dict["seen"]
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
from trainer_upgrade.rules.support.bodies import docstring, indent_unit, reserve, starts_line
from trainer_upgrade.rules.support.hook_rewrite import name_edit
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.reading import (
    class_kind,
    inner_nodes,
    local_names,
    name_nodes,
    positional,
    returns,
    self_name,
    super_calls,
)

__all__ = ["CallbackState"]

_STATE_NAMES = frozenset(
    {"callback_state", "callback_states", "checkpointed_state", "state", "state_dict", "states"}
)


@rule("callback-state")
class CallbackState:
    """The checkpoint hooks of callbacks."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the checkpoint hooks of a class."""
        info = file.class_info(node)
        if class_kind(info, file) != "Callback":
            return
        save = info.methods.get("on_save_checkpoint")
        returned = [each for each in returns(save) if not _is_none(each.value)] if save is not None else []
        if save is not None and self_name(save) is not None:
            if returned:
                yield _save(info, save, returned, file)
            else:
                yield from _whole_checkpoint(save, file)
        load = info.methods.get("on_load_checkpoint")
        if load is not None and self_name(load) is not None:
            yield from _load(info, load, bool(returned) or _inherits_state(info), file)


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _inherits_state(info: ClassInfo) -> bool:
    """Whether a visible base saves state the old way."""
    for each in info.ancestors()[1:]:
        save = each.methods.get("on_save_checkpoint")
        if save is not None:
            return any(not _is_none(one.value) for one in returns(save))
    return False


def _whole_checkpoint(save: Function, file: FileContext) -> Iterator[Finding]:
    """Let the hook take the ``checkpoint``, which up to 1.1 it was not given."""
    names = [each.arg for each in positional(save)][1:]
    if names == ["trainer", "pl_module"] and save.args.vararg is None:
        items = parameter_items(save, file.module)
        fix = Fix(Applicability.SAFE, "take it", (items.inserted(3, "checkpoint"),))
        entry = catalogue.hook("Callback", save.name) or "TRU274"
        yield file.finding(entry, save, f"`{save.name}` is given the checkpoint", fix, silent=False)


def _blocked(info: ClassInfo, name: str) -> str | None:
    if info.label != "Callback":
        return f"`{info.label}` keeps a state of its own in `{name}`"
    if any(name in each.methods for each in (*info.ancestors(), *info.subclasses())):
        return f"the class or one of its relatives has `{name}` already"
    return None


def _save(info: ClassInfo, save: Function, returned: list[ast.Return], file: FileContext) -> Finding:
    entry = catalogue.hook("Callback", "on_save_checkpoint") or "TRU274"
    message = (
        "what a callback's `on_save_checkpoint` returns is thrown away: return it from `state_dict(self)`"
    )
    edits: list[Edit] | None = None
    reason = _blocked(info, "state_dict")
    if reason is None and save in info.node.body and not save.decorator_list:
        try:
            edits = _save_edits(info, save, returned, file)
        except ValueError:
            edits = None
    if edits is None:
        hint = reason or "here the state depends on what the hook is given, or is computed in the hook"
        return file.finding(entry, save, f"{message} ({hint})", silent=True)
    edits.append(reserve(file, info.node, "state_dict"))
    return file.finding(
        entry, save, message, Fix(Applicability.SAFE, "move it to `state_dict`", tuple(edits)), silent=True
    )


def _given(function: Function, info: ClassInfo, nodes: list[ast.AST]) -> bool:
    """Whether any of the hook's parameters (``self`` aside) is used in the nodes."""
    inside = set(nodes)
    for parameter in (*positional(function)[1:], *function.args.kwonlyargs):
        if any(each in inside for each in name_nodes(function, info.module, parameter.arg)):
            return True
    return False


def _save_edits(
    info: ClassInfo, save: Function, returned: list[ast.Return], file: FileContext
) -> list[Edit] | None:
    if super_calls(save, save.name) or save.args.vararg is not None or save.args.kwarg is not None:
        return None
    items = parameter_items(save, file.module)
    if not _given(save, info, list(inner_nodes(save))):
        # The whole hook is about the state.
        edits = [name_edit(file, save, "state_dict")]
        return edits + items.without(range(1, len(items.items)))
    last = save.body[-1]
    if returned != [last] or len(returns(save)) != 1 or not starts_line(file, last):
        return None
    nodes = list(ast.walk(last))
    assigned = {
        each.id
        for each in inner_nodes(save)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    if _given(save, info, nodes) or any(isinstance(each, ast.Name) and each.id in assigned for each in nodes):
        return None
    body = [each for each in save.body if each is not docstring(save)]
    if len(body) < 2:
        return None
    # The return statement becomes a method of its own behind the hook.
    indent, unit, newline = file.line_indent(save), indent_unit(file, save), file.newline
    start = file.module.lines.starts[last.lineno - 1]
    instance = items.items[0].text
    header = f"{newline}{indent}def state_dict({instance}):{newline}"
    edits = [Edit(start, start, header)]
    names = [each.arg for each in positional(save)][1:]
    if names == ["trainer", "pl_module"]:
        edits.append(items.inserted(3, "checkpoint"))
    if file.line_indent(last) != indent + unit:
        return None
    return edits


def _load(info: ClassInfo, load: Function, saves_state: bool, file: FileContext) -> Iterator[Finding]:
    parameters = positional(load)[1:]
    if load.args.vararg is not None or load.args.kwarg is not None or len(parameters) not in (1, 3):
        return
    state = parameters[-1]
    # One argument: 0.10-1.2, always the state. Of three the last was the state up to 1.7.
    proven = len(parameters) == 1 or saves_state or state.arg in _STATE_NAMES
    if not proven:
        return
    entry = catalogue.hook("Callback", "on_load_checkpoint") or "TRU275"
    message = (
        "a callback's `on_load_checkpoint` is given the whole checkpoint: its own state goes to "
        "`load_state_dict(self, state_dict)`"
    )
    reason = _blocked(info, "load_state_dict")
    if len(parameters) == 3 and reason is None:
        used = [each for each in parameters[:2] if name_nodes(load, info.module, each.arg)]
        if used:
            reason = f"it reads `{used[0].arg}`, which that hook is not given"
    if super_calls(load, load.name) or load.decorator_list or load not in info.node.body:
        reason = reason or "it calls its base's hook"
    if reason is not None:
        yield file.finding(entry, load, f"{message} ({reason})", silent=True)
        return
    try:
        items = parameter_items(load, file.module)
    except ValueError:
        return
    edits = [name_edit(file, load, "load_state_dict"), reserve(file, info.node, "load_state_dict")]
    if len(parameters) == 3:
        edits += items.without([1, 2])
    if state.arg != "state_dict" and "state_dict" not in local_names(load):
        begin = file.span(state)[0]
        edits.append(Edit(begin, begin + len(state.arg), "state_dict"))
        edits += [file.edit(each, "state_dict") for each in name_nodes(load, info.module, state.arg)]
    fix = Fix(Applicability.SAFE, "make it `load_state_dict`", tuple(edits))
    yield file.finding(entry, load, message, fix, silent=True)

"""Dicts of things to log that hooks of 0.x returned: ``log`` and ``progress_bar``, ignored since 1.3.

Before::

    class Net(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            loss = self.loss(batch)
            return {"loss": loss, "log": {"train_loss": loss}, "progress_bar": {"ce": loss}}

        def on_validation_epoch_end(self):
            return {"val_loss": self.mean, "log": {"mean": self.mean}}

After::

    class Net(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            loss = self.loss(batch)
            self.log("train_loss", loss)
            self.log("ce", loss, prog_bar=True, logger=False)
            return {"loss": loss}

        def on_validation_epoch_end(self):
            self.log("mean", self.mean)
            self.log("val_loss", self.mean, logger=False)

It is unsafe, because code that ran on 1.3 to 1.9 logged nothing there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Entry
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import insert_before, starts_line
from trainer_upgrade.rules.support.collecting import Unfit
from trainer_upgrade.rules.support.lists import dict_items
from trainer_upgrade.rules.support.reading import class_kind, inner_nodes, returns, self_name
from trainer_upgrade.rules.support.references import references
from trainer_upgrade.rules.support.stages import STAGES

__all__ = ["LogDicts"]

_KEYS = ("log", "progress_bar")


_DROPPED = "2.x drops them without an error: nothing is logged"


@rule("log-dicts")
class LogDicts:
    """Returned dicts with ``log`` and ``progress_bar``."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at what hooks of a module return."""
        info = file.class_info(node)
        if class_kind(info, file) != "LightningModule":
            return
        for stage in STAGES:
            for name in (stage.legacy, stage.end, *((stage.step,) if stage.name == "train" else ())):
                function = info.methods.get(name)
                if function is None or self_name(function) is None:
                    continue
                entry = catalogue.hook("LightningModule", name if name == stage.step else stage.legacy)
                for statement in returns(function):
                    if isinstance(statement.value, ast.Dict) and _logged(statement.value):
                        step = name == stage.step
                        yield _finding(info, function, statement, statement.value, step, entry, file)


def _logged(value: ast.Dict) -> bool:
    return any(isinstance(key, ast.Constant) and key.value in _KEYS for key in value.keys)


def _finding(
    info: ClassInfo,
    function: Function,
    statement: ast.Return,
    value: ast.Dict,
    step: bool,
    entry: Entry | None,
    file: FileContext,
) -> Finding:
    message = "the returned `log` and `progress_bar` have been ignored since 1.3: call `self.log`"
    try:
        edits = _edits(info, function, statement, value, step, file)
    except (Unfit, ValueError) as error:
        return file.finding(
            entry or "TRU200", statement, f"{message} ({error})", silent=True, consequence=_DROPPED
        )
    fix = Fix(Applicability.UNSAFE, "log them", tuple(edits))
    return file.finding(entry or "TRU200", statement, message, fix, silent=True, consequence=_DROPPED)


def _edits(
    info: ClassInfo, function: Function, statement: ast.Return, value: ast.Dict, step: bool, file: FileContext
) -> list[Edit]:
    if not starts_line(file, statement):
        raise Unfit("the statement shares its line")
    given: dict[str, ast.expr] = {}
    others: dict[str, ast.expr] = {}
    for key, item in zip(value.keys, value.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise Unfit("not all keys are constants")
        (given if key.value in _KEYS else others)[key.value] = item
    lines = _calls(self_name(function) or "self", given, file)
    if step:
        items = dict_items(value, file.module)
        drop = [
            position
            for position, key in enumerate(value.keys)
            if isinstance(key, ast.Constant) and key.value in _KEYS
        ]
        if len(items.items) != len(value.keys):
            raise Unfit("the dict cannot be read")
        return [insert_before(file, statement, lines), *items.without(drop)]
    for reference in references(file, function.name):
        if reference.owner is not None and info.node in {each.node for each in reference.owner.ancestors()}:
            raise Unfit("the returned dict is used elsewhere")
    logged = {name for each in given.values() for name in _names(each) or ()}
    unknown = any(_names(each) is None for each in given.values())
    instance = self_name(function)
    for name, item in others.items():
        if name in logged or (unknown and _may_contain(function, name)):
            continue
        # In 0.x these were metrics that callbacks could monitor.
        lines.append(f'{instance}.log("{name}", {_text(item, file)}, logger=False)')
    start, end = file.span(statement)
    indent = file.line_indent(statement)
    if function.returns is not None and returns(function) == [statement]:
        return [
            Edit(start, end, f"{file.newline}{indent}".join(lines)),
            file.edit(function.returns, "None"),
        ]
    return [Edit(start, end, f"{file.newline}{indent}".join(lines))]


def _may_contain(function: Function, name: str) -> bool:
    """Whether a name occurs as a key anywhere in a function, so that it may be in a dict built there."""
    return sum(isinstance(node, ast.Constant) and node.value == name for node in inner_nodes(function)) > 1


def _names(value: ast.expr) -> tuple[str, ...] | None:
    """Return the keys of a dict display, ``None`` if they are not in sight."""
    if not isinstance(value, ast.Dict):
        return None
    names = []
    for key in value.keys:
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        names.append(key.value)
    return tuple(names)


def _calls(instance: str, given: dict[str, ast.expr], file: FileContext) -> list[str]:
    log, bar = given.get("log"), given.get("progress_bar")
    if log is not None and bar is not None and _same(log, bar, file):
        return _one(instance, log, ", prog_bar=True", file)
    if log is not None and bar is not None:
        one, two = _names(log), _names(bar)
        if one is None or two is None:
            simple = (ast.Name, ast.Dict)
            if not isinstance(log, simple) or not isinstance(bar, simple):
                raise Unfit("what is logged is not in sight")
            keys = set(one or two or ())
            if one is None and two is None:
                raise Unfit("the two dicts may share a key")
            named = log if isinstance(log, ast.Name) else bar
            if not isinstance(named, ast.Name) or _shares(named, keys, file):
                raise Unfit("the two dicts may share a key")
        elif set(one) & set(two):
            return _merged(instance, log, bar, file)
    lines = _one(instance, log, "", file) if log is not None else []
    if bar is not None:
        lines += _one(instance, bar, ", prog_bar=True, logger=False", file)
    return lines


def _same(log: ast.expr, bar: ast.expr, file: FileContext) -> bool:
    """Whether two expressions are one dict: written alike, or one name given to the other."""
    if ast.dump(log) == ast.dump(bar):
        return True
    function = file.enclosing_function(log)
    if function is None or not isinstance(log, ast.Name) or not isinstance(bar, ast.Name):
        return False
    for one, other in ((log.id, bar.id), (bar.id, log.id)):
        given = [
            node
            for node in inner_nodes(function)
            if isinstance(node, ast.Name) and node.id == one and isinstance(node.ctx, ast.Store)
        ]
        if len(given) != 1:
            continue
        statement = file.parent(given[0])
        if (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Name)
            and statement.value.id == other
        ):
            return True
    return False


def _shares(name: ast.Name, keys: set[str], file: FileContext) -> bool:
    """Whether a local dict may have one of the keys."""
    function = file.enclosing_function(name)
    if function is None:
        return True
    for node in inner_nodes(function):
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name.id for t in node.targets
        ):
            found = _names(node.value)
            if found is None or keys & set(found):
                return True
    return False


def _merged(instance: str, log: ast.expr, bar: ast.expr, file: FileContext) -> list[str]:
    assert isinstance(log, ast.Dict)
    assert isinstance(bar, ast.Dict)
    shown = _names(bar) or ()
    lines = []
    for key, item in zip(_names(log) or (), log.values, strict=True):
        extra = ", prog_bar=True" if key in shown else ""
        lines.append(f'{instance}.log("{key}", {_text(item, file)}{extra})')
    for key, item in zip(shown, bar.values, strict=True):
        if key not in (_names(log) or ()):
            lines.append(f'{instance}.log("{key}", {_text(item, file)}, prog_bar=True, logger=False)')
    return lines


def _one(instance: str, value: ast.expr, extra: str, file: FileContext) -> list[str]:
    names = _names(value)
    if names is None:
        return [f"{instance}.log_dict({_text(value, file)}{extra})"]
    assert isinstance(value, ast.Dict)
    return [
        f'{instance}.log("{key}", {_text(item, file)}{extra})'
        for key, item in zip(names, value.values, strict=True)
    ]


def _text(node: ast.expr, file: FileContext) -> str:
    text = file.segment(node)
    if "\n" in text or "#" in text:
        raise Unfit("what is logged spans several lines")
    return text

"""``auto_lr_find``, ``auto_scale_batch_size``, ``trainer.tune``: the Tuner is an object of its own.

Before::

    trainer = pl.Trainer(auto_lr_find="learning_rate", auto_scale_batch_size="binsearch")
    trainer.tune(model, datamodule=dm, lr_find_kwargs={"num_training": 50})
    finder = trainer.tuner.lr_find(model)

After (on relight the Tuner comes from ``relight.tuner``)::

    trainer = pl.Trainer()
    tuner = Tuner(trainer)
    tuner.scale_batch_size(model, datamodule=dm, mode="binsearch")
    tuner.lr_find(model, datamodule=dm, num_training=50, attr_name="learning_rate")
    finder = Tuner(trainer).lr_find(model, update_attr=False)

Without a call of ``tune`` the flags did nothing: then they go.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Target
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules._expressions import UNKNOWN, literal
from trainer_upgrade.rules._imports import free
from trainer_upgrade.rules._rewrite import spelled
from trainer_upgrade.rules._trainer_calls import Given, TrainerCall, trainer_call
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import starts_line

__all__ = ["TunerRule"]

_FLAGS = ("auto_lr_find", "auto_scale_batch_size")
_METHODS = ("lr_find", "scale_batch_size")
_RENAMES = {"train_dataloader": "train_dataloaders"}
_TUNER = "pytorch_lightning.tuner.Tuner"


@rule("tuner")
class TunerRule:
    """Writes the Tuner out."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        yield from self._flags(node, file)
        function = node.func
        if not isinstance(function, ast.Attribute):
            return
        if function.attr == "tune" and file.instance_of(function.value) == "Trainer":
            entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", "tune")
            if entry is not None:
                yield file.finding(entry, node, fix=self._tune_fix(node, file))
        elif function.attr in _METHODS:
            yield from self._direct(node, function, file)

    # the flags

    def _flags(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        found = trainer_call(node, file) if node.keywords else None
        if found is None:
            return
        flags = [each for name in _FLAGS for each in (found.get(name),) if each is not None and _is_on(each)]
        if not flags:
            return
        uses = file.trainer_uses(found.call) if found.kind == "call" else None
        tunes = [call for name, call in uses.calls if name == "tune"] if uses is not None else []
        fix, message = None, ""
        if (
            uses is not None
            and not uses.escapes
            and not uses.mixed
            and not any(_is_tuner(each) for each in uses.attributes)
        ):
            if not tunes:
                for each in flags:
                    each.editor.remove(each.item)
                fix = Fix(Applicability.SAFE, "drop what had no effect", tuple(found.edits()))
                message = "`{}` only had an effect in `trainer.tune`, which is not called: drop it"
            elif len(tunes) == 1:
                fix = self._written_out(found, flags, tunes[0], file)
        for each in flags:
            entry = catalogue.trainer_argument(each.name)
            assert entry is not None
            yield file.finding(entry, each.node, message.format(each.name) or None, fix)

    def _written_out(
        self, found: TrainerCall, flags: list[Given], tune: ast.Call, file: FileContext
    ) -> Fix | None:
        made = self._statements(tune, {each.name: each for each in flags}, file, found.target)
        if made is None:
            return None
        edits, requests = made
        for each in flags:
            each.editor.remove(each.item)
        return Fix(
            Applicability.UNSAFE, "write the Tuner out", tuple(sorted({*edits, *found.edits()})), requests
        )

    def _tune_fix(self, node: ast.Call, file: FileContext) -> Fix | None:
        """The call, when its Trainer's flags are in sight: one fix for both."""
        function = node.func
        assert isinstance(function, ast.Attribute)
        for other in file.nodes:
            if not isinstance(other, ast.Call) or other is node or not other.keywords:
                continue
            found = trainer_call(other, file)
            if found is None or found.kind != "call":
                continue
            uses = file.trainer_uses(other)
            if not any(call is node for _, call in uses.calls) or uses.escapes or uses.mixed:
                continue
            flags = [
                each for name in _FLAGS for each in (found.get(name),) if each is not None and _is_on(each)
            ]
            tunes = [call for name, call in uses.calls if name == "tune"]
            if flags and len(tunes) == 1:
                return self._written_out(found, flags, node, file)
        return None

    def _statements(
        self, tune: ast.Call, flags: dict[str, Given], file: FileContext, target: Target
    ) -> tuple[list[Edit], tuple[ImportRequest, ...]] | None:
        statement = file.parent(tune)
        if not isinstance(statement, ast.Expr) or not starts_line(file, statement):
            return None
        if any(each.arg is None for each in tune.keywords) or any(
            isinstance(each, ast.Starred) for each in tune.args
        ):
            return None
        assert isinstance(tune.func, ast.Attribute)
        editor = CallEditor(file, tune)
        common: list[str] = []
        extra: dict[str, list[str]] = {name: [] for name in _METHODS}
        for item in editor.arguments:
            text = editor.value_text(item)
            if item.name in ("lr_find_kwargs", "scale_batch_size_kwargs"):
                method = item.name.removesuffix("_kwargs")
                assert isinstance(item.value, ast.expr)
                keywords = _keywords(item.value, file)
                extra[method] += keywords if keywords is not None else [f"**({text} or {{}})"]
            elif item.name is None:
                common.append(text)
            else:
                common.append(f"{_RENAMES.get(item.name, item.name)}={text}")
        calls: list[tuple[str, list[str]]] = []
        for name, method, option in (
            ("auto_scale_batch_size", "scale_batch_size", "mode"),
            ("auto_lr_find", "lr_find", "attr_name"),
        ):
            flag = flags.get(name)
            if flag is None:
                continue
            value = literal(flag.value)
            if value is UNKNOWN:
                return None
            own = [f"{option}={flag.text}"] if isinstance(value, str) else []
            own = [each for each in own if not any(other.startswith(f"{option}=") for other in extra[method])]
            calls.append((method, [*common, *extra[method], *own]))
        written, requests = spelled(_TUNER, tune, file, target)
        receiver = file.segment(tune.func.value)
        if len(calls) == 1:
            lines = [f"{written}({receiver}).{method}({', '.join(arguments)})" for method, arguments in calls]
        else:
            name = "tuner" if free(file, "tuner") else "_tuner"
            lines = [f"{name} = {written}({receiver})"]
            lines += [f"{name}.{method}({', '.join(arguments)})" for method, arguments in calls]
        new = (file.newline + file.line_indent(statement)).join(lines)
        return [file.edit(statement, new)], requests

    # trainer.tuner.lr_find(...)

    def _direct(self, node: ast.Call, function: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        receiver: ast.expr = function.value
        through = isinstance(receiver, ast.Attribute) and receiver.attr == "tuner"
        if isinstance(receiver, ast.Attribute) and through:
            receiver = receiver.value
        if file.instance_of(receiver) != "Trainer":
            return
        entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", "tuner" if through else function.attr)
        if entry is None:
            return
        fix = None
        target = _target_of_trainers(file)
        if target is not None:
            written, requests = spelled(_TUNER, node, file, target)
            editor = CallEditor(file, node)
            for old, new in _RENAMES.items():
                item = editor.get(old)
                if item is not None and editor.get(new) is None:
                    editor.replace(item, new + file.source[item.start : item.end][len(old) :])
            if (
                function.attr == "lr_find"
                and editor.get("update_attr") is None
                and not any(each.arg is None for each in node.keywords)
            ):
                editor.add("update_attr=False")  # True by default since 2.0
            edits = [file.edit(function.value, f"{written}({file.segment(receiver)})"), *editor.edits()]
            fix = Fix(
                Applicability.SAFE if through else Applicability.UNSAFE,
                "make a Tuner",
                tuple(edits),
                requests,
            )
        yield file.finding(entry, node, fix=fix)


def _target_of_trainers(file: FileContext) -> Target | None:
    """Return where the file's Trainers go; ``None`` if not all to the same place."""
    if file.target is Target.LIGHTNING:
        return Target.LIGHTNING
    calls = (trainer_call(node, file) for node in file.nodes if isinstance(node, ast.Call))
    targets = {found.target for found in calls if found is not None} or {file.target}
    return targets.pop() if len(targets) == 1 else None


def _is_on(given: Given) -> bool:
    value = literal(given.value)
    return value is UNKNOWN or bool(value)


def _is_tuner(node: ast.Attribute) -> bool:
    return node.attr in ("tuner", "tune")


def _keywords(value: ast.expr, file: FileContext) -> list[str] | None:
    """Write a dict's entries as keyword arguments."""
    if isinstance(value, ast.Constant) and value.value is None:
        return []
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "dict"
        and not value.args
    ) and all(each.arg for each in value.keywords):
        return [file.segment(each) for each in value.keywords]
    if not isinstance(value, ast.Dict):
        return None
    found = []
    for key, each in zip(value.keys, value.values, strict=True):
        if (
            not isinstance(key, ast.Constant)
            or not isinstance(key.value, str)
            or not key.value.isidentifier()
        ):
            return None
        found.append(f"{key.value}={file.segment(each)}")
    return found

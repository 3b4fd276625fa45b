"""Callbacks that read, at an epoch's end, what the module logs at the same end.

1.x ran ``*_epoch_end`` of the module before any callback's hook. Lightning 2.x runs plain callbacks before
the module's ``on_*_epoch_end``, so such a callback sees the value of the epoch before. relight runs the
module first, as 1.x did, so this is reported for target lightning only.

Before::

    class Watch(pl.Callback):
        def on_train_epoch_end(self, trainer, pl_module):
            print(trainer.callback_metrics["train_mean"])

After, by hand::

    class Watch(pl.Callback):
        def on_train_end(self, trainer, pl_module):
            print(trainer.callback_metrics["train_mean"])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import class_kind, inner_nodes
from trainer_upgrade.rules.support.stages import STAGES, Stage

__all__ = ["CallbackOrder"]

_METRICS = ("callback_metrics", "logged_metrics", "progress_bar_metrics")
_INSTEAD = {
    "train": "`on_train_epoch_start` of the next epoch and `on_train_end`",
    "validation": "`on_validation_end`",
    "test": "`on_test_end`",
}


@rule("callback-order")
class CallbackOrder:
    """Callbacks that are called before the module."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the epoch-end hooks of a callback."""
        if file.target is not Target.LIGHTNING:
            return
        info = file.class_info(node)
        # EarlyStopping and the checkpoint callbacks run behind the module.
        if info.kind != "Callback" or info.label in ("EarlyStopping", "ModelCheckpoint", "Checkpoint"):
            return
        for stage in STAGES:
            function = info.methods.get(stage.end)
            if function is None:
                continue
            reads = [
                each
                for each in inner_nodes(function)
                if isinstance(each, ast.Attribute) and each.attr in _METRICS
            ]
            keys = _keys(reads, file)
            if reads and _logs_at_end(file, stage, keys):
                entry = catalogue.hook("Callback", "on_train_epoch_end") or "TRU272"
                message = (
                    f"`{stage.end}` of a callback runs before the module's on Lightning 2.x: it "
                    f"reads what was logged an "
                    f"epoch ago; {_INSTEAD[stage.name]} run after it"
                )
                yield file.finding(entry, reads[0], message, silent=True)


def _keys(reads: list[ast.Attribute], file: FileContext) -> set[str] | None:
    """Return the metrics that are read, ``None`` when they are not in sight."""
    keys: set[str] = set()
    for read in reads:
        outer = file.parent(read)
        key: ast.expr | None = None
        if isinstance(outer, ast.Subscript):
            key = outer.slice
        elif isinstance(outer, ast.Attribute) and outer.attr in ("get", "pop"):
            call = file.parent(outer)
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        keys.add(key.value)
    return keys


def _logs_at_end(file: FileContext, stage: Stage, keys: set[str] | None) -> bool:
    """Whether a module of the project logs (one of) these metrics at the epoch's end."""
    for name, logged in _logged(file, stage):
        if keys is None or logged is None or logged in keys:
            return bool(name)
    return False


def _logged(file: FileContext, stage: Stage) -> list[tuple[str, str | None]]:
    key = ("logged-at-end", stage.name)
    known = file.project.memo.get(key)
    if isinstance(known, list):
        return known
    found: list[tuple[str, str | None]] = []
    for module in file.project.relevant_modules():
        if b"epoch_end" not in module.data:
            continue
        for node in module.scopes.nodes:
            if isinstance(node, ast.ClassDef):
                info = file.classes.info(node, module)
                if class_kind(info, file) == "LightningModule":
                    found += _calls(info, stage)
    file.project.memo[key] = found
    return found


def _calls(info: ClassInfo, stage: Stage) -> Iterator[tuple[str, str | None]]:
    for name in (stage.legacy, stage.end, *stage.helpers):
        function = info.methods.get(name)
        for node in inner_nodes(function) if function is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "log" and node.args:
                    first = node.args[0]
                    constant = isinstance(first, ast.Constant) and isinstance(first.value, str)
                    yield info.name, str(first.value) if constant else None  # type: ignore[attr-defined]
                elif node.func.attr == "log_dict":
                    yield info.name, None

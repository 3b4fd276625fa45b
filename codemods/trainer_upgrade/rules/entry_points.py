"""Arguments of ``fit``, ``validate``, ``test``, ``predict`` and of the ``Tuner`` that were renamed.

Before::

    trainer.fit(model, train_dataloader=loader)
    trainer.test(test_dataloaders=[a, b])

After::

    trainer.fit(model, train_dataloaders=loader)
    trainer.test(dataloaders=[a, b])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules.registry import on, rule

__all__ = ["EntryPoints"]

_METHODS = ("fit", "validate", "test", "predict")
_SEARCHES = ("lr_find", "scale_batch_size")
# Keywords that no other library's `fit` has.
_TELLING = ("train_dataloader", "test_dataloaders")


@rule("entry-point-arguments")
class EntryPoints:
    """Renames keywords."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        function = node.func
        if not isinstance(function, ast.Attribute):
            return
        if function.attr in _SEARCHES:
            yield from self._tuner(node, function, file)
        if function.attr not in _METHODS:
            return
        for keyword in node.keywords:
            if keyword.arg is None:
                continue
            entry = catalogue.find(Area.ENTRY_POINT_ARGUMENT, f"Trainer.{function.attr}", keyword.arg)
            if entry is None or entry.lightning.action != "rename":
                continue
            known = file.instance_of(function.value)
            if known != "Trainer" and (known is not None or keyword.arg not in _TELLING or file.root is None):
                continue
            how = Applicability.SAFE if known == "Trainer" else Applicability.UNSAFE
            yield _renamed(node, keyword, entry, how, file)

    def _tuner(self, node: ast.Call, function: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """``Tuner(trainer).lr_find(model, train_dataloader=loader)``."""
        instance = file.instance(function.value)
        made = file.lightning_name(function.value.func) if isinstance(function.value, ast.Call) else None
        if getattr(instance, "label", None) != "Tuner" and (made or "").rpartition(".")[2] != "Tuner":
            return
        for keyword in node.keywords:
            entry = catalogue.find(Area.ENTRY_POINT_ARGUMENT, f"Tuner.{function.attr}", keyword.arg or "")
            if entry is not None and entry.lightning.action == "rename":
                yield _renamed(node, keyword, entry, Applicability.SAFE, file)


def _renamed(
    node: ast.Call, keyword: ast.keyword, entry: Entry, how: Applicability, file: FileContext
) -> Finding:
    assert keyword.arg is not None
    editor = CallEditor(file, node)
    new = entry.replacement(file.target).name or entry.lightning.name
    if editor.get(new) is not None:
        return file.finding(entry, keyword)
    item = editor[keyword.arg]
    text = file.source[item.start : item.end]
    editor.replace(item, new + text[len(keyword.arg) :])
    return file.finding(entry, keyword, fix=Fix(how, f"say {new}=", editor.edits()))

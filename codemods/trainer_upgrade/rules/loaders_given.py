"""The loaders that a Trainer holds: since 2.0 what was given to it, no list and no wrapper around it.

Before::

    first = trainer.val_dataloaders[0]
    data = trainer.train_dataloader.dataset.datasets
    same = trainer.train_dataloader.loaders

After::

    first = trainer.val_dataloaders
    data = trainer.train_dataloader.dataset
    same = trainer.train_dataloader

With several loaders, in a list, the index stays right, so the fixes are unsafe. Where a hook of the class
returns a list in plain sight there is nothing to do; ``len(trainer.val_dataloaders)`` and loops over it are
reported, because with one loader they count its batches without an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import returns

__all__ = ["LoadersGiven"]

_SEVERAL = {
    "val_dataloaders": "val_dataloader",
    "test_dataloaders": "test_dataloader",
    "predict_dataloaders": "predict_dataloader",
}
_COUNTED = "with one loader 2.x gives that loader: its batches are counted, without an error"


@rule("loaders-given")
class LoadersGiven:
    """Reports what is done to the loaders that a Trainer holds."""

    @on(ast.Attribute)
    def check(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at one attribute."""
        if node.attr != "train_dataloader" and node.attr not in _SEVERAL:
            return
        if not isinstance(node.ctx, ast.Load) or file.instance_of(node.value) != "Trainer":
            return
        entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", node.attr)
        assert entry is not None
        if node.attr == "train_dataloader":
            yield from _wrapped(node, entry, file)
        elif not _gives_a_list(node, file):
            yield from _listed(node, entry, file)


def _wrapped(node: ast.Attribute, entry: Entry, file: FileContext) -> Iterator[Finding]:
    outer = file.parent(node)
    if not isinstance(outer, ast.Attribute) or outer.value is not node:
        return
    place, text = outer, file.segment(node)
    if outer.attr == "dataset":
        above = file.parent(outer)
        if not (isinstance(above, ast.Attribute) and above.value is outer and above.attr == "datasets"):
            return
        place, text = above, f"{text}.dataset"
    elif outer.attr != "loaders":
        return
    if not isinstance(place.ctx, ast.Load):
        yield file.finding(entry, place, silent=False)
        return
    start, end = file.span(place)
    fix = Fix(Applicability.UNSAFE, f"say {text}", (Edit(start, end, text),))
    yield file.finding(entry, place, fix=fix, silent=False)


def _listed(node: ast.Attribute, entry: Entry, file: FileContext) -> Iterator[Finding]:
    outer = file.parent(node)
    if isinstance(outer, ast.Subscript) and outer.value is node and isinstance(outer.ctx, ast.Load):
        fix = None
        if isinstance(outer.slice, ast.Constant) and outer.slice.value == 0:
            edit = Edit(file.span(node)[1], file.span(outer)[1], "")
            fix = Fix(Applicability.UNSAFE, f"say {file.segment(node)}", (edit,))
        yield file.finding(entry, outer, fix=fix, silent=False)
        return
    counted = (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Name)
        and outer.func.id in ("len", "enumerate", "zip")
        and node in outer.args
    )
    looped = isinstance(outer, (ast.For, ast.comprehension)) and outer.iter is node
    if counted or looped:
        yield file.finding(entry, node, silent=True, consequence=_COUNTED)


def _gives_a_list(node: ast.Attribute, file: FileContext) -> bool:
    """Whether the class around a place has a hook that returns a list of loaders in plain sight."""
    around = file.enclosing_class(node)
    if around is None:
        return False
    found = file.class_info(around).find_method(_SEVERAL[node.attr])
    if found is None:
        return False
    values = [each.value for each in returns(found[1])]
    return bool(values) and all(isinstance(value, (ast.List, ast.Tuple)) for value in values)

"""The loaders that a Trainer holds: since 2.0 what was given to it, no list and no wrapper around it.

Before::

    first = trainer.val_dataloaders[0]
    data = trainer.train_dataloader.dataset.datasets
    same = trainer.train_dataloader.loaders

After::

    first = CombinedLoader(trainer.val_dataloaders).flattened[0]
    data = trainer.train_dataloader.dataset
    same = trainer.train_dataloader

A ``CombinedLoader`` finds the loaders in whatever collection was given, so the index stays right with one
loader and with several. Without it ``len(trainer.val_dataloaders)`` and loops over it count the batches of
the one loader, without an error. Where a hook of the class returns a list in plain sight there is nothing to
do. The wrapper around the loaders of training goes only as an unsafe fix: what is under it may be one's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Target
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._imports import target_of
from trainer_upgrade.rules._rewrite import spelled
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
        yield file.finding(entry, outer, fix=lambda: _as_list(node, file), silent=False)
        return
    counted = (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Name)
        and outer.func.id in ("len", "enumerate", "zip")
        and node in outer.args
    )
    looped = isinstance(outer, (ast.For, ast.comprehension)) and outer.iter is node
    if counted or looped:
        yield file.finding(entry, node, fix=lambda: _as_list(node, file), silent=True, consequence=_COUNTED)


def _as_list(node: ast.Attribute, file: FileContext) -> Fix:
    """Give the list that 1.x had, whatever collection the loaders came in."""
    target = target_of(node.value, file)
    root = "relight" if target is Target.RELIGHT else "pytorch_lightning"
    name, needed = spelled(f"{root}.utilities.CombinedLoader", node, file, target)
    text = f"{name}({file.segment(node)}).flattened"
    return Fix(Applicability.SAFE, f"say {text}", (file.edit(node, text),), needed)


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

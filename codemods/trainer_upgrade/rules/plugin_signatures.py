"""Methods that a plugin, a strategy, a bar or a callback of the user overrides, with old parameters or names.

Before::

    class Bar(TQDMProgressBar):
        def get_metrics(self, trainer): ...

    class Disk(CheckpointIO):
        def load_checkpoint(self, path, map_location=None): ...

After::

    class Bar(TQDMProgressBar):
        def get_metrics(self, trainer, pl_module): ...

    class Disk(CheckpointIO):
        def load_checkpoint(self, path, map_location=None, weights_only=None): ...

A parameter that the body reads, or that a call of ``super()`` passes on, is left to a person.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.hook_rewrite import name_edit
from trainer_upgrade.rules.support.lists import parameter_items
from trainer_upgrade.rules.support.reading import name_nodes, positional, self_name

__all__ = ["PluginSignatures"]


@dataclass(frozen=True, slots=True)
class _Change:
    """What became of one method.

    Attributes:
        owner: Who has it, in the catalogue.
        families: Words one of which the name of the Lightning class that is derived from ends with.
        gone: Parameters that are no longer given.
        new: A parameter that is given now, and how it is written.
        renamed: What the method is called now; empty if it has no twin.
        removed: Whether nothing calls it any more under its name.
    """

    owner: str
    families: tuple[str, ...]
    gone: tuple[str, ...] = ()
    new: tuple[str, str] | None = None
    renamed: str = ""
    removed: bool = False


_INDEX = ("optimizer_idx", "opt_idx")
_PRECISION = ("PrecisionPlugin", "Precision")
_STRATEGY = ("Strategy", "DDPPlugin", "TrainingTypePlugin", "SpawnPlugin", "ShardedPlugin", "DeepSpeedPlugin")
_CHANGES = {
    "get_metrics": (
        _Change("ProgressBar", ("ProgressBar", "ProgressBarBase"), new=("pl_module", "pl_module")),
    ),
    "load_checkpoint": (
        _Change("CheckpointIO", ("CheckpointIO",), new=("weights_only", "weights_only=None")),
    ),
    "backward": (
        _Change("PrecisionPlugin", _PRECISION, gone=_INDEX),
        _Change("Strategy", _STRATEGY, gone=_INDEX),
    ),
    "optimizer_step": (
        _Change("PrecisionPlugin", _PRECISION, gone=_INDEX),
        _Change("Strategy", _STRATEGY, gone=_INDEX),
    ),
    "on_save_checkpoint": (_Change("PrecisionPlugin", _PRECISION, removed=True),),
    "on_load_checkpoint": (_Change("PrecisionPlugin", _PRECISION, removed=True),),
    "dispatch": (
        _Change("PrecisionPlugin", _PRECISION, removed=True),
        _Change("Strategy", _STRATEGY, renamed="setup"),
    ),
    "setup_environment": (_Change("Accelerator", ("Accelerator",), renamed="setup_device"),),
    "creates_children": (_Change("ClusterEnvironment", ("Environment",), removed=True),),
    "master_address": (_Change("ClusterEnvironment", ("Environment",), removed=True),),
}


@rule("plugin-signatures")
class PluginSignatures:
    """Overrides of methods whose parameters or names changed."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the methods of a class."""
        info = file.class_info(node)
        if info.lightning is None or info.methods.keys().isdisjoint(_CHANGES):
            return
        for name, function in info.methods.items():
            for change in _CHANGES.get(name, ()):
                if (info.label or "").endswith(change.families) and self_name(function) is not None:
                    yield from self._changed(info, function, change, file)
                    break

    def _changed(
        self, info: ClassInfo, function: Function, change: _Change, file: FileContext
    ) -> Iterator[Finding]:
        entry = catalogue.find(Area.DEFAULT, change.owner, function.name)
        if entry is None:
            return
        fix: Fix | None = None
        if change.renamed:
            if change.renamed in info.methods:
                return
            edits: tuple[Edit, ...] = (name_edit(file, function, change.renamed),)
            fix = Fix(entry.applicability, f"call it {change.renamed}", edits)
        elif change.gone:
            old = [each for each in positional(function) if each.arg in change.gone]
            if not old:
                return
            fix = _dropped(function, old[0], file, entry.applicability)
        elif change.new is not None:
            name, written = change.new
            names = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
            if name in names or function.args.kwarg is not None or function.args.vararg is not None:
                return
            items = parameter_items(function, file.module)
            edit = items.inserted(len(positional(function)), written)
            fix = Fix(entry.applicability, f"take {name}", (edit,))
        yield file.finding(entry, function, fix=fix)


def _dropped(function: Function, gone: ast.arg, file: FileContext, how: Applicability) -> Fix | None:
    """Take a parameter away that nothing reads."""
    if name_nodes(function, file.module, gone.arg) or any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == function.name
        for each in ast.walk(function)
    ):
        return None
    items = parameter_items(function, file.module)
    position = items.index(gone.arg)
    if position is None:
        return None
    return Fix(how, f"drop {gone.arg}", tuple(items.without([position])))

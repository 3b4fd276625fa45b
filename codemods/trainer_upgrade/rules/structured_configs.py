"""Structured configurations: dataclasses whose fields are arguments of the Trainer.

Before::

    @dataclass
    class TrainerConf:
        _target_: str = "pytorch_lightning.Trainer"
        checkpoint_callback: bool = True
        track_grad_norm: int = -1
        gpus: Optional[int] = None

After, for Lightning (``gpus`` is reported: what its fields must be is for a person to say)::

    @dataclass
    class TrainerConf:
        _target_: str = "pytorch_lightning.Trainer"
        enable_checkpointing: bool = True
        gpus: Optional[int] = None

A dataclass is one of Trainer arguments when it names the Trainer itself, or when at least four of its fields
(and half of them) are. Files that fill it have to change with it, so all fixes are unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translate import translate_trainer_arguments
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.canonical import canonical
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._expressions import UNKNOWN, literal
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.trainer_arguments import RELEASE, group_of

__all__ = ["StructuredConfigs"]

_ENOUGH = 4
_ALONE = frozenset({"checkpoint_callback", "replace_sampler_ddp", "default_save_path"})


@rule("structured-configs")
class StructuredConfigs:
    """Reports fields that are legacy arguments; renames and drops the plain ones."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at one class."""
        if not node.decorator_list or not any(_is_dataclass(each) for each in node.decorator_list):
            return
        fields = {
            each.target.id: each
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        known = [name for name in fields if name in EVER]
        target = fields.get("_target_")
        named = literal(target.value) if target is not None and target.value is not None else None
        sure = isinstance(named, str) and canonical(named) == "pytorch_lightning.Trainer"
        if not sure and (len(known) < _ENOUGH or 2 * len(known) < len(fields)):
            return
        for name in known:
            if name not in LEGACY_ONLY:
                continue
            entry = catalogue.trainer_argument(name)
            assert entry is not None
            fix = _fix(name, fields, file) if sure else None
            yield file.finding(
                entry, fields[name], f"{entry.advice} (a field of a structured configuration)", fix
            )


def _is_dataclass(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ("dataclass", "define", "attrs", "s")


def _fix(name: str, fields: dict[str, ast.AnnAssign], file: FileContext) -> Fix | None:
    field = fields[name]
    value = literal(field.value) if field.value is not None else UNKNOWN
    if value is UNKNOWN or (len(group_of(name)) > 1 and name not in _ALONE):
        return None
    made = translate_trainer_arguments({name: value}, target=file.target, legacy_version=RELEASE)
    if made.errors or made.callbacks or made.plugins or made.entry_points or made.adapters:
        return None
    if made.module or made.datamodule or made.tuner or made.torch or made.logger:
        return None
    if not made.constructor:
        start, end = file.full_span(field)
        if len([each for each in fields.values() if each is not field]) == 0:
            return None
        return Fix(Applicability.UNSAFE, f"drop {name}", (Edit(start, end, ""),))
    if len(made.constructor) != 1:
        return None
    ((new, translated),) = made.constructor.items()
    if new in fields or type(translated) is not type(value) or translated != value:
        return None
    return Fix(Applicability.UNSAFE, f"say {new}", (file.edit(field.target, new),))

"""Attributes and methods of modules and data modules that are gone.

Before::

    class Net(pl.LightningModule):
        def on_after_backward(self):
            self.log_dict(self.grad_norm(2))
            size = self.datamodule.size

After::

    class Net(pl.LightningModule):
        def on_after_backward(self):
            self.log_dict(grad_norm(self, norm_type=2))
            size = self.trainer.datamodule.size

An attribute that a class of the project sets or defines is its own, and where a base cannot be seen nobody
knows: both are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Target
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._expressions import literal
from trainer_upgrade.rules._imports import imports_of
from trainer_upgrade.rules._rewrite import spelled
from trainer_upgrade.rules.argparse_helpers import all_options
from trainer_upgrade.rules.registry import on, rule

__all__ = ["GoneMembers"]

_AREAS = {"LightningModule": Area.MODULE_HOOK, "LightningDataModule": Area.DATAMODULE_HOOK}
# What another rule looks after.
_ELSEWHERE = frozenset(
    {"truncated_bptt_steps", "manual_optimizer_step", "hparams", "load_from_checkpoint", "from_argparse_args"}
)
# Attributes whose value another attribute, or an expression without arguments, gives.
_READ = frozenset(
    [
        "datamodule",
        "use_amp",
        "use_ddp",
        "use_dp",
        "use_ddp2",
        "use_tpu",
        "precision",
        "exp_save_path",
        "running_stage",
        "model_size",
    ]
)
_DEPTHS = {"top": "1", "full": "-1"}
_CONSTRUCTED = ("train_transforms", "val_transforms", "test_transforms", "dims", "size")


@cache
def _entries(kind: str) -> dict[str, Entry]:
    return {
        entry.name: entry
        for entry in catalogue.entries(_AREAS[kind])
        if entry.behaviour == "AttributeError where it is used" and entry.name not in _ELSEWHERE
    }


@cache
def _names() -> frozenset[str]:
    return frozenset(name for kind in _AREAS for name in _entries(kind))


@rule("gone-members")
class GoneMembers:
    """Reports and rewrites what a module or a data module no longer has."""

    @on(ast.Attribute)
    def check(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at one attribute."""
        if node.attr not in _names() or not isinstance(node.ctx, ast.Load):
            return
        instance = file.instance(node.value)
        info = instance.info if instance is not None else file.class_named(node.value)
        kind = instance.kind if instance is not None else None
        if kind is None and info is not None:
            kind = info.mixed_kind()
        if kind not in _AREAS:
            return
        entry = _entries(kind).get(node.attr)
        if entry is None or (info is not None and not _inherited(info, node.attr)):
            return
        yield file.finding(entry, node, fix=lambda: self._fix(node, entry, file))

    def _fix(self, node: ast.Attribute, entry: Entry, file: FileContext) -> Fix | None:
        target = _target(file)
        receiver = file.segment(node.value)
        parent = file.parent(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if entry.name in _READ and call is None:
            return self._read(node, entry, receiver, file, target)
        if call is None:
            return None
        if entry.name == "add_argparse_args":
            return all_options(call, node, file, trainer=False)
        if entry.name == "grad_norm":
            return self._call(node, call, entry, "norm_type", _argument(call, "norm_type"), file, target)
        if entry.name == "summarize" and target is Target.LIGHTNING:
            return self._summarize(node, call, entry, file, target)
        return None

    def _read(
        self, node: ast.Attribute, entry: Entry, receiver: str, file: FileContext, target: Target
    ) -> Fix | None:
        replacement = entry.replacement(target)
        text = replacement.text
        if replacement.action == "attribute":
            text = f"{receiver}.{replacement.name}"
            return Fix(entry.applicability, f"say {text}", (file.edit(node, text),))
        requests: tuple[ImportRequest, ...] = ()
        if replacement.name.startswith("lightning.pytorch."):
            dotted = replacement.name.replace("lightning.pytorch.", "pytorch_lightning.", 1)
            written, requests = spelled(dotted, node, file, target)
            text = text.replace(dotted.rpartition(".")[2], written, 1)
        text = text.replace("self.", f"{receiver}.").replace("(model)", f"({receiver})")
        text = text.replace("model.parameters", f"{receiver}.parameters")
        if " " in text and not text.startswith(("isinstance(", "sum(")):
            text = f"({text})"
        return Fix(entry.applicability, f"say {text}", (file.edit(node, text),), requests)

    def _call(
        self,
        node: ast.Attribute,
        call: ast.Call,
        entry: Entry,
        argument: str,
        value: ast.expr | None,
        file: FileContext,
        target: Target,
    ) -> Fix | None:
        if value is None:
            return None
        dotted = entry.lightning.name.replace("lightning.pytorch.", "pytorch_lightning.", 1)
        written, requests = spelled(dotted, node, file, target)
        text = f"{written}({file.segment(node.value)}, {argument}={file.segment(value)})"
        return Fix(entry.applicability, f"say {text}", (file.edit(call, text),), requests)

    def _summarize(
        self, node: ast.Attribute, call: ast.Call, entry: Entry, file: FileContext, target: Target
    ) -> Fix | None:
        mode, depth = _argument(call, "mode"), _keyword(call, "max_depth")
        if len(call.args) + len(call.keywords) > 1 or not isinstance(file.parent(call), (ast.Expr, ast.Call)):
            return None
        given = "1"
        if depth is not None:
            given = file.segment(depth)
        elif mode is not None:
            known = literal(mode)
            if known not in _DEPTHS:
                return None
            given = _DEPTHS[str(known)]
        dotted = entry.lightning.name.replace("lightning.pytorch.", "pytorch_lightning.", 1)
        written, requests = spelled(dotted, node, file, target)
        text = f"{written}({file.segment(node.value)}, max_depth={given})"
        # It also wrote the table to the log.
        how = Applicability.UNSAFE if isinstance(file.parent(call), ast.Expr) else entry.applicability
        return Fix(how, f"say {text}", (Edit(*file.span(call), text),), requests)


def _target(file: FileContext) -> Target:
    """Return where the file's imports lead after the upgrade."""
    if file.target is Target.LIGHTNING or file.root is None:
        return file.target
    imports = imports_of(file)
    return Target.RELIGHT if all(imports.moves(bound) for bound in imports.bound) else Target.LIGHTNING


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    """Return the only argument of a call, by position or as ``name``."""
    if len(call.args) + len(call.keywords) != 1:
        return None
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return _keyword(call, name)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _passes_on(call: ast.Call) -> bool:
    """Whether a call gives arguments to the ``__init__`` of a base."""
    called = call.func
    given = bool(call.args or call.keywords)
    return given and isinstance(called, ast.Attribute) and called.attr == "__init__"


def _inherited(info: ClassInfo, name: str) -> bool:
    """Whether an attribute can only be Lightning's: no class of the project has one of that name."""
    if not info.known:
        return False
    for owner in info.ancestors() + info.subclasses():
        if name in owner.methods:
            return False
        for node in ast.walk(owner.node):
            if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
                return False
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                return False
            # The old constructor set its transforms.
            if isinstance(node, ast.Call) and name in _CONSTRUCTED and _passes_on(node):
                return False
            # setattr, register_buffer, __getattr__ with a table of names …
            if isinstance(node, ast.Constant) and node.value == name:
                return False
            if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
                return False
    return True

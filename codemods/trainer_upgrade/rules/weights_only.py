"""Checkpoints that hold more than plain data: torch 2.6 and Lightning 2.6 refuse to read them by default.

With a Lightning before 2.6 in the requirements. Before::

    net = Net.load_from_checkpoint(path)
    trainer.test(net, ckpt_path="best")
    state = torch.load("last.ckpt")["state_dict"]

After::

    net = Net.load_from_checkpoint(path, weights_only=False)
    trainer.test(net, ckpt_path="best", weights_only=False)
    state = torch.load("last.ckpt", weights_only=False)["state_dict"]

Hyperparameters that are objects (a ``Namespace``, a metric, a function) are what such files hold more.
Reading them runs what the file says, as the old releases always did, so the fixes are unsafe: make them
where you trust the files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from packaging.version import Version

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules.registry import on, rule

__all__ = ["WeightsOnly"]

_SINCE = Version("2.6")
_KINDS = ("LightningModule", "LightningDataModule")
_ENTRY_POINTS = frozenset({"fit", "validate", "test", "predict"})
_CHECKPOINT = re.compile("ckpt|checkpoint", re.IGNORECASE)


@rule("weights-only")
class WeightsOnly:
    """Says that files are trusted, where the code was written for releases that trusted them."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        called = node.func
        if not isinstance(called, ast.Attribute) or not _reads(called, node, file):
            return
        if any(each.arg in ("weights_only", None) for each in node.keywords) or not _written_before(file):
            return
        entry = catalogue.find(Area.DEFAULT, "LightningModule", "weights-only")
        assert entry is not None
        message = (
            f"`{called.attr}` reads only plain data since 2.6: say weights_only=False if the file holds more "
            "(hyperparameters that are objects) and you trust it"
        )
        editor = CallEditor(file, node)
        editor.add("weights_only=False")
        fix = Fix(Applicability.UNSAFE, "read the file as before", editor.edits())
        yield file.finding(entry, node, message, fix)


def _reads(called: ast.Attribute, node: ast.Call, file: FileContext) -> bool:
    """Whether a call reads a checkpoint of Lightning."""
    if called.attr == "load_from_checkpoint":
        info = file.class_named(called.value)
        instance = file.instance(called.value)
        info = info or (instance.info if instance is not None else None)
        kind = (instance.kind if instance is not None else None) or (info.mixed_kind() if info else None)
        return kind in _KINDS and (info is None or info.find_method("load_from_checkpoint") is None)
    if called.attr in _ENTRY_POINTS:
        given = next((each.value for each in node.keywords if each.arg == "ckpt_path"), None)
        if given is None or (isinstance(given, ast.Constant) and given.value is None):
            return False
        return file.instance_of(called.value) == "Trainer"
    if called.attr == "load" and file.qualified_name(called) == "torch.load" and node.args:
        outer = file.parent(node)
        whole = isinstance(outer, ast.Subscript) and getattr(outer.slice, "value", None) == "state_dict"
        return whole or bool(_CHECKPOINT.search(file.segment(node.args[0])))
    return False


def _written_before(file: FileContext) -> bool:
    """Whether the project says that it installs a Lightning that read everything."""
    told = file.pin is not None or file.project.target_version is not None
    return told and file.installed < _SINCE

"""What the Lightning that the project pins does not have yet.

With ``pytorch-lightning==1.5.10`` in the requirements::

    trainer = pl.Trainer(precision="16-mixed")   # TRU942: came in 2.0
    from pytorch_lightning.callbacks import OnExceptionCheckpoint   # TRU942: came in 2.0

The engine reports it in checks only, never while code is upgraded: that writes for a later pin.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.version import Version

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.arrivals import VALUES, first_release
from trainer_upgrade.catalogue.entry import Area
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.canonical import root_of
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.pins import Pin
from trainer_upgrade.rules.registry import on, rule

__all__ = ["TooNew"]

_ENTRY_POINTS = frozenset({"fit", "validate", "test", "predict"})
_OURS = ("relight", "relight.compat")


@rule("newer-than-the-pin")
class TooNew:
    """Compares what a file uses with what is installed."""

    @on(ast.Call)
    def calls(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at arguments of a Trainer and of its entry points."""
        if not _applies(file):
            return
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _ENTRY_POINTS:
            if file.instance_of(function.value) == "Trainer":
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        first = first_release("argument", f"Trainer.{function.attr}", keyword.arg)
                        yield from _told(f"`{function.attr}({keyword.arg}=…)`", first, keyword, file)
            return
        found = file.constructed(node)
        if found is None or found.label != "Trainer" or found.info is not None:
            return
        for keyword in node.keywords:
            if keyword.arg is None:
                continue
            first = first_release("argument", "Trainer", keyword.arg)
            yield from _told(f"`{keyword.arg}`", first, keyword, file)
            value = keyword.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                first = VALUES.get((keyword.arg, value.value))
                yield from _told(f'`{keyword.arg}="{value.value}"`', first, value, file)

    @on(ast.ImportFrom)
    def imports(self, node: ast.ImportFrom, file: FileContext) -> Iterator[Finding]:
        """Look at imported names."""
        if node.level or node.module is None or not _applies(file) or file.in_try_import(node):
            return
        root = root_of(node.module)
        if root is None or root in _OURS:
            return
        pin = file.pin
        if root == "lightning.pytorch" and _without_lightning(pin, file):
            message = f"`lightning.pytorch` comes with `lightning`; the project pins {pin}"
            yield file.finding(_entry(), node, message)
            return
        module = f"pytorch_lightning{node.module[len(root) :]}"
        for alias in node.names:
            first = first_release("import", module, alias.name)
            yield from _told(f"`{node.module}.{alias.name}`", first, alias, file)

    @on(ast.Import)
    def modules(self, node: ast.Import, file: FileContext) -> Iterator[Finding]:
        """Look at ``import lightning.pytorch`` under a pin of ``pytorch-lightning``."""
        if not _applies(file) or file.in_try_import(node):
            return
        pin = file.pin
        for alias in node.names:
            if root_of(alias.name) == "lightning.pytorch" and _without_lightning(pin, file):
                message = f"`lightning.pytorch` comes with `lightning`; the project pins {pin}"
                yield file.finding(_entry(), node, message)

    @on(ast.ClassDef)
    def hooks(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at hooks that are never called yet."""
        if not _applies(file):
            return
        info = file.class_info(node)
        if info.kind not in ("LightningModule", "Callback"):
            return
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = first_release("hook", info.kind, statement.name)
                yield from _told(f"`{statement.name}`", first, statement, file, hook=True)


def _applies(file: FileContext) -> bool:
    told = file.pin is not None or file.project.target_version is not None
    return told and file.root not in (None, *_OURS)


def _without_lightning(pin: Pin | None, file: FileContext) -> bool:
    if pin is None or pin.distribution == "lightning" or pin.installs >= Version("2"):
        return False
    return file.project.target_version is None


def _told(
    what: str, first: str | None, node: ast.AST, file: FileContext, *, hook: bool = False
) -> Iterator[Finding]:
    if first is None or Version(first) <= file.installed:
        return
    if file.project.target_version is None and file.pin is not None:
        there = f"the project pins {file.pin}"
    else:
        there = f"the target version is {file.installed}"
    fate = " and is never called before" if hook else ""
    message = f"{what} came in {first}{fate}; {there}: raise the pin or write the older form"
    consequence = f"{file.installed} never calls it and raises no error" if hook else None
    yield file.finding(_entry(), node, message, silent=hook, consequence=consequence)


def _entry() -> catalogue.Entry:
    found = catalogue.find(Area.PROJECT_FILE, "project", "newer-than-the-pin")
    assert found is not None
    return found

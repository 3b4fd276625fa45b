"""Questions whether a module has a Trainer: ``self.trainer`` raises without one since 1.7.

Before::

    class Net(pl.LightningModule):
        def forward(self, x):
            if self.trainer is not None and self.trainer.training:
                ...
            if getattr(self, "trainer", None): ...

After::

    class Net(pl.LightningModule):
        def forward(self, x):
            if self._trainer is not None and self.trainer.training:
                ...
            if self._trainer: ...

Without a Trainer, ``self.trainer`` was ``None`` up to 1.6 and raises a ``RuntimeError`` since 1.7, which
``getattr`` and ``hasattr`` let through. ``hasattr(self, "trainer")`` was always true up to 1.6, which its
authors hardly meant: that fix is unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule

__all__ = ["UnattachedTrainer"]


@rule("unattached-trainer")
class UnattachedTrainer:
    """Rewrites them to ask ``_trainer``, which is ``None`` without one."""

    @on(ast.Compare)
    def compared(self, node: ast.Compare, file: FileContext) -> Iterator[Finding]:
        """``self.trainer is None``."""
        left = node.left
        if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return
        if not isinstance(node.comparators[0], ast.Constant) or node.comparators[0].value is not None:
            return
        if isinstance(left, ast.Attribute) and left.attr == "trainer" and _is_module(left.value, file):
            yield self._finding(node, left, f"{file.segment(left.value)}._trainer", file)

    @on(ast.If, ast.IfExp, ast.BoolOp, ast.UnaryOp)
    def tested(self, node: ast.AST, file: FileContext) -> Iterator[Finding]:
        """``if self.trainer:`` and ``self.trainer and …``."""
        if isinstance(node, (ast.If, ast.IfExp)):
            asked = [node.test]
        elif isinstance(node, ast.BoolOp):
            asked = node.values[:-1]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            asked = [node.operand]
        else:
            return
        for each in asked:
            if isinstance(each, ast.Attribute) and each.attr == "trainer" and _is_module(each.value, file):
                yield self._finding(each, each, f"{file.segment(each.value)}._trainer", file)

    @on(ast.Call)
    def reflected(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """``hasattr(self, "trainer")`` and ``getattr(self, "trainer", None)``."""
        if not isinstance(node.func, ast.Name) or len(node.args) < 2 or node.keywords:
            return
        name = node.args[1]
        if (
            not isinstance(name, ast.Constant)
            or name.value != "trainer"
            or not _is_module(node.args[0], file)
        ):
            return
        receiver = file.segment(node.args[0])
        if node.func.id == "hasattr":
            parent = file.parent(node)
            text = f"{receiver}._trainer is not None"
            simple = isinstance(parent, (ast.If, ast.IfExp, ast.BoolOp, ast.While, ast.Assign, ast.Return))
            yield self._finding(node, node, text if simple else f"({text})", file, Applicability.UNSAFE)
        elif node.func.id == "getattr" and len(node.args) == 3:
            default = node.args[2]
            if isinstance(default, ast.Constant) and default.value is None:
                yield self._finding(node, node, f"{receiver}._trainer", file)

    def _finding(
        self,
        place: ast.expr,
        edited: ast.expr,
        text: str,
        file: FileContext,
        how: Applicability = Applicability.SAFE,
    ) -> Finding:
        entry = catalogue.find(Area.DEFAULT, "LightningModule", "unattached-trainer")
        assert entry is not None
        fix = Fix(how, f"ask {text}", (file.edit(edited, text),))
        return file.finding(entry, place, fix=fix)


def _is_module(node: ast.expr, file: FileContext) -> bool:
    instance = file.instance(node)
    if instance is None:
        return False
    info = instance.info
    kind = instance.kind or (info.mixed_kind() if info is not None else None)
    if kind != "LightningModule":
        return False
    # A class with a `trainer` of its own asks for that one.
    return info is None or info.find_method("trainer") is None

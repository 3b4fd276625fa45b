"""Comparisons with the Trainer's ``precision``, which is a name such as ``"16-mixed"`` today.

Before::

    if trainer.precision == 16: ...
    if self.trainer.precision in (16, "bf16"): ...

After::

    if trainer.precision in ("16-mixed", "16-true"): ...
    if self.trainer.precision in ("16-mixed", "16-true", "bf16-mixed", "bf16-true"): ...
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._expressions import literal
from trainer_upgrade.rules.registry import on, rule

__all__ = ["PrecisionValues"]

_NEW = {
    "16": ("16-mixed", "16-true"),
    "bf16": ("bf16-mixed", "bf16-true"),
    "32": ("32-true",),
    "64": ("64-true",),
}


@rule("precision-values")
class PrecisionValues:
    """Rewrites comparisons that are never true any more."""

    @on(ast.Compare)
    def check(self, node: ast.Compare, file: FileContext) -> Iterator[Finding]:
        """Look at one comparison."""
        if len(node.ops) != 1:
            return
        (right,) = node.comparators
        left, operator = node.left, node.ops[0]
        if not _is_precision(left) and _is_precision(right) and isinstance(operator, (ast.Eq, ast.NotEq)):
            left, right = right, left
        if not isinstance(left, ast.Attribute) or not _is_precision(left):
            return
        value = literal(right)
        values = list(value) if isinstance(value, (list, tuple, set)) else [value]
        if not values or not all(isinstance(each, (int, str)) and str(each) in _NEW for each in values):
            return
        if file.instance_of(left.value) != "Trainer":
            return
        entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", "precision")
        if entry is None or not isinstance(operator, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            return
        names = [name for each in values for name in _NEW[str(each)]]
        negated = isinstance(operator, (ast.NotEq, ast.NotIn))
        quoted = [f'"{name}"' for name in dict.fromkeys(names)]
        text = file.segment(left)
        if len(quoted) == 1 and not isinstance(operator, (ast.In, ast.NotIn)):
            text += f" {'!=' if negated else '=='} {quoted[0]}"
        else:
            text += f" {'not in' if negated else 'in'} ({', '.join(quoted)}{',' if len(quoted) == 1 else ''})"
        # With a number the comparison was false in 1.9 already, where the value had become a string.
        how = Applicability.SAFE if all(isinstance(each, str) for each in values) else Applicability.UNSAFE
        yield file.finding(entry, node, fix=Fix(how, f"say {text}", (file.edit(node, text),)), silent=True)


def _is_precision(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "precision"

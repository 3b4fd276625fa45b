"""``self.log`` given a dict, which raises since 2.0.

Before::

    self.log("loss", {"train": first, "val": second})

After::

    self.log_dict({"loss/train": first, "loss/val": second})

1.x gave such a dict to the logger as it was: TensorBoard drew one chart with several lines, which
``self.logger.experiment.add_scalars`` still does. The names differ, so the fix is unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule

__all__ = ["LoggedDicts"]


@rule("logged-dicts")
class LoggedDicts:
    """Writes it as a call of ``log_dict``."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        called = node.func
        if not isinstance(called, ast.Attribute) or called.attr != "log" or not node.args:
            return
        value = node.args[1] if len(node.args) > 1 else _named(node, "value")
        if not isinstance(value, ast.Dict):
            return
        instance = file.instance(called.value)
        if instance is None:
            return
        kind = instance.kind or (instance.info.mixed_kind() if instance.info is not None else None)
        if kind != "LightningModule":
            return
        entry = catalogue.find(Area.DEFAULT, "LightningModule", "log-dict-value")
        assert entry is not None
        yield file.finding(entry, node, fix=lambda: _fix(node, called, value, file))


def _named(node: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in node.keywords if each.arg == name), None)


def _fix(node: ast.Call, called: ast.Attribute, value: ast.Dict, file: FileContext) -> Fix | None:
    name = node.args[0]
    if len(node.args) != 2 or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    edits = [Edit(file.span(called)[1] - len("log"), file.span(called)[1], "log_dict")]
    edits.append(Edit(file.span(name)[0], file.span(value)[0], ""))
    for key in value.keys:
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        text = file.segment(key)
        if text[:1] not in ("'", '"') or text[:3] in ('"""', "'''"):
            return None
        start = file.span(key)[0] + 1
        edits.append(Edit(start, start, f"{name.value}/"))
    return Fix(Applicability.UNSAFE, "log the values one by one", tuple(edits))

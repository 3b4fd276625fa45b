"""Arguments that ``self.log`` and ``self.log_dict`` no longer take.

Before::

    self.log("loss", loss, tbptt_reduce_fx="mean", sync_dist_op="sum")

After::

    self.log("loss", loss, reduce_fx="sum")

``sync_dist_op`` said how processes are put together; ``reduce_fx`` says that and how steps are, so that is an
unsafe fix, and a person decides where ``reduce_fx`` says something already.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules._expressions import literal
from trainer_upgrade.rules.registry import on, rule

__all__ = ["LogArguments"]

_GONE = frozenset({"tbptt_reduce_fx", "tbptt_pad_token", "sync_dist_op"})


@rule("log-arguments")
@on(ast.Call)
def log_arguments(node: ast.Call, file: FileContext) -> Iterator[Finding]:
    """Look at a call of ``log`` or ``log_dict``."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr not in ("log", "log_dict"):
        return
    gone = [each for each in node.keywords if each.arg in _GONE]
    if not gone or file.instance_of(called.value) != "LightningModule":
        return
    entry = catalogue.hook("LightningModule", called.attr) or "TRU228"
    for keyword in gone:
        yield file.finding(entry, keyword, fix=_fix(node, keyword, file))


def _fix(node: ast.Call, keyword: ast.keyword, file: FileContext) -> Fix | None:
    editor = CallEditor(file, node)
    assert keyword.arg is not None
    argument = editor[keyword.arg]
    value = literal(keyword.value)
    if keyword.arg != "sync_dist_op" or value in (None, "mean", "avg"):
        editor.remove(argument)
        return Fix(Applicability.SAFE, f"drop {keyword.arg}, which has no effect", editor.edits())
    if any(each.arg == "reduce_fx" for each in node.keywords):
        return None
    editor.replace(argument, f"reduce_fx={editor.value_text(argument)}")
    return Fix(Applicability.UNSAFE, "say reduce_fx", editor.edits())


LogArguments = log_arguments

"""``self.hparams = hparams``: the attribute has had no setter since 1.3.

Before::

    class Net(pl.LightningModule):
        def __init__(self, hparams):
            super().__init__()
            self.hparams = hparams

After::

    class Net(pl.LightningModule):
        def __init__(self, hparams):
            super().__init__()
            self.save_hyperparameters(hparams)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import starts_line
from trainer_upgrade.rules.support.reading import self_attribute, self_name

__all__ = ["Hparams"]


@rule("hparams")
class Hparams:
    """Assignments to ``self.hparams``."""

    @on(ast.Assign, ast.AnnAssign)
    def check(self, node: ast.Assign | ast.AnnAssign, file: FileContext) -> Iterator[Finding]:
        """Look at an assignment."""
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None or not any(
            isinstance(t, ast.Attribute) and t.attr == "hparams" for t in targets
        ):
            return
        function = file.enclosing_function(node)
        while function is not None and file.method_owner(function) is None:
            function = file.enclosing_function(function)
        info = file.method_owner(function) if function is not None else None
        if function is None or info is None:
            return
        kind = info.mixed_kind()
        if kind not in ("LightningModule", "LightningDataModule") or _own_property(info):
            return
        if any(self_attribute(each, self_name(function)) == "hparams" for each in targets):
            yield _finding(function.name, node, targets, node.value, kind, file)


def _own_property(info: ClassInfo) -> bool:
    """Whether a class or a visible base has an ``hparams`` of its own."""
    for each in info.ancestors():
        if "hparams" in each.methods:
            return True
        for statement in each.node.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == "hparams" for target in targets):
                return True
    return False


def _finding(
    function: str, statement: ast.stmt, targets: list[ast.expr], value: ast.expr, kind: str, file: FileContext
) -> Finding:
    entry = catalogue.hook("LightningModule", "hparams") or "TRU225"
    message = "`self.hparams` cannot be assigned to: save the hyperparameters instead"
    if len(targets) != 1 or not starts_line(file, statement) or isinstance(value, (ast.Constant, ast.Tuple)):
        return file.finding(entry, statement, message, silent=False)
    owner = targets[0]
    assert isinstance(owner, ast.Attribute)
    start, end = file.span(statement)
    inner = _value_start(file, statement, value)
    if inner is None:
        return file.finding(entry, statement, message, silent=False)
    receiver = file.segment(owner.value)
    parenthesised = file.source[inner:end].startswith("(") and not isinstance(value, ast.GeneratorExp)
    wraps = parenthesised and file.span(value)[0] > inner
    edits = [Edit(start, inner, f"{receiver}.save_hyperparameters" + ("" if wraps else "("))]
    if not wraps:
        edits.append(Edit(end, end, ")"))
    sure = function == "__init__" and kind == "LightningModule"
    how = Applicability.SAFE if sure else Applicability.UNSAFE
    return file.finding(
        entry, statement, message, Fix(how, "call `save_hyperparameters`", tuple(edits)), silent=False
    )


def _value_start(file: FileContext, statement: ast.stmt, value: ast.expr) -> int | None:
    """Return where the right side begins, its parentheses included."""
    start = file.span(value)[0]
    text = file.source
    position = start
    while position > 0 and text[position - 1] in " \t\r\n(\\":
        position -= 1
    if position == 0 or text[position - 1] != "=":
        return None
    while text[position] in " \t\r\n\\":
        position += 1
    return position if position >= file.span(statement)[0] else None

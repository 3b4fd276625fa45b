"""Calls of manual optimization that carry an optimizer or an index too many.

Before::

    opt_g, opt_d = self.optimizers()
    self.toggle_optimizer(opt_g, 0)
    self.manual_backward(loss, opt_g)
    self.untoggle_optimizer(0)

After::

    opt_g, opt_d = self.optimizers()
    self.toggle_optimizer(opt_g)
    self.manual_backward(loss)
    self.untoggle_optimizer(opt_g)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.classes import Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.calls import drop_call_arguments
from trainer_upgrade.rules.support.optimizers import INDEX_NAMES
from trainer_upgrade.rules.support.reading import inner_nodes

__all__ = ["ManualOptimization"]

_NAMES = ("manual_backward", "toggle_optimizer", "untoggle_optimizer")


@rule("manual-optimization")
class ManualOptimization:
    """``manual_backward``, ``toggle_optimizer`` and ``untoggle_optimizer``."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at a call on a module."""
        called = node.func
        if not isinstance(called, ast.Attribute) or called.attr not in _NAMES:
            return
        instance = file.instance(called.value)
        kind = None
        if instance is not None:
            kind = instance.kind or (instance.info.mixed_kind() if instance.info is not None else None)
        if kind != "LightningModule":
            return
        if called.attr == "manual_backward":
            yield from _backward(node, file)
        elif called.attr == "toggle_optimizer":
            yield from _toggle(node, file)
        else:
            yield from _untoggle(node, called, file)


def _backward(node: ast.Call, file: FileContext) -> Iterator[Finding]:
    keywords = {each.arg for each in node.keywords if each.arg in ("optimizer", "opt")}
    second = (
        node.args[1]
        if len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args)
        else None
    )
    if second is None and not keywords:
        return
    entry = catalogue.hook("LightningModule", "manual_backward") or "TRU235"
    if second is not None and not _is_optimizer(second, node, file):
        return  # an argument of Tensor.backward
    message = "`manual_backward` takes no optimizer: it would be handed to `loss.backward`"

    def fix() -> Fix | None:
        edits = drop_call_arguments(file, node, {1} if second is not None else set(), {"optimizer", "opt"})
        return Fix(Applicability.SAFE, "drop the optimizer", tuple(edits)) if edits else None

    yield file.finding(entry, node, message, fix, silent=False)


def _is_optimizer(node: ast.expr, at: ast.AST, file: FileContext) -> bool:
    """Whether an expression is an optimizer: it came from ``self.optimizers()``, or is called one."""
    root = node.value if isinstance(node, ast.Subscript) else node
    if isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute):
        return root.func.attr == "optimizers"
    name = getattr(root, "id", getattr(root, "attr", ""))
    function = file.enclosing_function(at)
    if isinstance(root, ast.Name) and function is not None and name in _optimizer_names(function):
        return True
    return "opt" in name.lower()


def _optimizer_names(function: Function) -> list[str]:
    """Return the names that ``self.optimizers()`` is unpacked into, in order."""
    for node in inner_nodes(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute) and called.attr == "optimizers":
                target = node.targets[0]
                if isinstance(target, (ast.Tuple, ast.List)):
                    return [getattr(each, "id", "") for each in target.elts]
                return [target.id] if isinstance(target, ast.Name) else []
    return []


def _toggle(node: ast.Call, file: FileContext) -> Iterator[Finding]:
    extra = len(node.args) > 1 or any(each.arg in INDEX_NAMES for each in node.keywords)
    if not extra:
        return
    entry = catalogue.hook("LightningModule", "toggle_optimizer") or "TRU234"

    def fix() -> Fix | None:
        edits = drop_call_arguments(file, node, {1}, set(INDEX_NAMES))
        return Fix(Applicability.SAFE, "drop the index", tuple(edits)) if edits else None

    yield file.finding(entry, node, "`toggle_optimizer` takes the optimizer only", fix, silent=False)


def _untoggle(node: ast.Call, called: ast.Attribute, file: FileContext) -> Iterator[Finding]:
    arguments: list[ast.expr] = [*node.args, *(each.value for each in node.keywords)]
    if len(arguments) != 1:
        return
    given = arguments[0]
    by_keyword = bool(node.keywords) and node.keywords[0].arg in INDEX_NAMES
    name = getattr(given, "id", "")
    is_index = (isinstance(given, ast.Constant) and isinstance(given.value, int)) or name in INDEX_NAMES
    if not is_index and not by_keyword:
        return
    entry = catalogue.hook("LightningModule", "untoggle_optimizer") or "TRU234"
    message = "`untoggle_optimizer` takes the optimizer, not its index"
    text, sure = _optimizer_for(node, given, called, file)
    edits = (file.edit(node.keywords[0] if node.keywords else given, text),)
    how = Applicability.SAFE if sure else Applicability.UNSAFE
    yield file.finding(entry, node, message, Fix(how, f"pass `{text}`", edits), silent=False)


def _optimizer_for(
    node: ast.Call, given: ast.expr, called: ast.Attribute, file: FileContext
) -> tuple[str, bool]:
    """Return the optimizer an index stands for, and whether that is sure."""
    function = file.enclosing_function(node)
    index = ast.dump(given)
    if function is not None:
        toggled: list[str] = []
        for each in inner_nodes(function):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                if each.func.attr != "toggle_optimizer" or not each.args or each.lineno > node.lineno:
                    continue
                second = each.args[1] if len(each.args) > 1 else None
                for keyword in each.keywords:
                    if keyword.arg in INDEX_NAMES:
                        second = keyword.value
                if second is not None and ast.dump(second) == index:
                    toggled.append(file.segment(each.args[0]))
        if len(set(toggled)) == 1:
            return toggled[0], True
        names = _optimizer_names(function)
        index_value = given.value if isinstance(given, ast.Constant) else None
        if isinstance(index_value, int) and 0 <= index_value < len(names) and names[index_value]:
            return names[index_value], True
    return f"{file.segment(called.value)}.optimizers()[{file.segment(given)}]", False

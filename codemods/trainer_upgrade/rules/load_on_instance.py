"""``load_from_checkpoint`` called on an instance, which raises since 2.1 (and never changed the instance).

Before::

    net = Net(width)
    net = net.load_from_checkpoint(path)

After::

    net = Net(width)
    net = type(net).load_from_checkpoint(path)

Where the result is thrown away, the code has been running with other weights than its author thought: it is
reported and left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import decorators, positional

__all__ = ["LoadOnInstance"]

_KINDS = ("LightningModule", "LightningDataModule")


@rule("load-on-instance")
@on(ast.Call)
def load_on_instance(node: ast.Call, file: FileContext) -> Iterator[Finding]:
    """Look at a call of ``load_from_checkpoint``."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr != "load_from_checkpoint":
        return
    instance = file.instance(called.value)
    if instance is None:
        return
    kind = instance.kind or (instance.info.mixed_kind() if instance.info is not None else None)
    if kind not in _KINDS or _is_class(called.value, file):
        return
    entry = catalogue.hook(kind, "load_from_checkpoint") or "TRU233"
    receiver = file.segment(called.value)
    if isinstance(file.parent(node), ast.Expr):
        message = (
            f"`load_from_checkpoint` returns a new instance, which is thrown away here: "
            f"`{receiver}` does not get the "
            "weights; assign the result if that was meant"
        )
        yield file.finding(entry, node, message, silent=True)
        return
    message = "`load_from_checkpoint` is a class method: calling it on an instance raises since 2.1"
    text, how = f"type({receiver})", Applicability.SAFE
    if isinstance(called.value, ast.Call):
        if file.class_named(called.value.func) is None and file.lightning_name(called.value.func) is None:
            yield file.finding(entry, node, message, silent=False)
            return
        text, how = file.segment(called.value.func), Applicability.UNSAFE
        message += f"; the arguments given to `{text}` had no effect"
    fix = Fix(how, f"call it on `{text}`", (file.edit(called.value, text),))
    yield file.finding(entry, node, message, fix, silent=False)


def _is_class(node: ast.expr, file: FileContext) -> bool:
    """Whether an expression is a class (or the ``cls`` of a class method)."""
    if isinstance(node, ast.Name):
        function = file.enclosing_function(node)
        if function is not None and "classmethod" in decorators(function):
            parameters = positional(function)
            if parameters and parameters[0].arg == node.id:
                return True
    return file.class_named(node) is not None


LoadOnInstance = load_on_instance

"""Clipping and accumulation of a Trainer whose modules do them by hand.

With manual optimization the Trainer must not be told to clip or to accumulate: 2.x refuses both. Where a
module has gone over to manual optimization and does them itself (``multiple_optimizers`` writes that), the
arguments go.

Before::

    trainer = pl.Trainer(max_epochs=3, gradient_clip_val=0.5)

After, where the module calls ``self.clip_gradients``::

    trainer = pl.Trainer(max_epochs=3)
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
from trainer_upgrade.rules.support.calls import drop_call_arguments
from trainer_upgrade.rules.support.lists import dict_items
from trainer_upgrade.rules.support.optimizers import manual_optimization
from trainer_upgrade.rules.support.reading import attribute_names
from trainer_upgrade.rules.support.trainer_settings import MOVED, options_of, told

__all__ = ["ManualTrainer"]


@rule("manual-trainer")
class ManualTrainer:
    """What a Trainer is told, and its modules do themselves."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at a Trainer's construction, or a call of ``fit``."""
        if not told(node, file.module, file):
            return
        given: list[tuple[str, ast.AST]] = [(each.arg, each) for each in node.keywords if each.arg in MOVED]
        given += [(str(key.value), key) for key, _ in options_of(node) if key.value in MOVED]
        if not given:
            return
        modules = _modules(node, file)
        if not modules or not all(manual_optimization(each) for each in modules):
            return
        for name, place in given:
            sign = "is_last_batch" if name == "accumulate_grad_batches" else "clip_gradients"
            if not all(_mentions(each, sign) for each in modules):
                continue
            entry = catalogue.trainer_argument(name)
            message = f"`{name}` is refused with manual optimization, and the module sees to it: drop it"

            def fix(name: str = name) -> Fix | None:
                edits = _without(node, name, file)
                return Fix(Applicability.UNSAFE, f"drop `{name}`", tuple(edits)) if edits else None

            yield file.finding(entry or "TRU123", place, message, fix, silent=False)


def _without(node: ast.Call, name: str, file: FileContext) -> list[Edit] | None:
    if any(each.arg == name for each in node.keywords):
        return drop_call_arguments(file, node, set(), {name})
    keys = [str(key.value) for key, _ in options_of(node)]
    options = next(each.value for each in node.keywords if each.arg == "options")
    if not isinstance(options, ast.Dict) or len(options.keys) != len(keys):
        return None
    if len(keys) == 1:
        return drop_call_arguments(file, node, set(), {"options"})
    return dict_items(options, file.module).without([keys.index(name)])


def _modules(node: ast.Call, file: FileContext) -> list[ClassInfo]:
    """Return the modules that the Trainer fits, as far as that is seen; else all of the project."""
    fits = [node]
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "fit"):
        fits = [call for method, call in file.trainer_uses(node).calls if method == "fit"]
    found: list[ClassInfo] = []
    for call in fits:
        model = (
            call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "model"), None)
        )
        instance = file.instance(model) if model is not None else None
        if instance is None or instance.info is None:
            found = []
            break
        found.append(instance.info)
    return found or _all(file)


def _all(file: FileContext) -> list[ClassInfo]:
    memo, key = file.project.memo, "modules-that-train"
    if key not in memo:
        memo[key] = [
            info
            for module in file.project.relevant_modules()
            for node in module.scopes.nodes
            if isinstance(node, ast.ClassDef)
            for info in (file.classes.info(node, module),)
            if info.kind == "LightningModule" and "training_step" in info.methods
        ]
    return memo[key]  # type: ignore[return-value]


def _mentions(info: ClassInfo, name: str) -> bool:
    return any(
        name in attribute_names(each, function)
        for each in info.ancestors()
        for function in each.methods.values()
    )

"""Whether a project needs the loop of 1.x, which relight keeps in ``relight.compat``.

Several automatic optimizers and truncated backpropagation are what the core has not; a project whose modules
are left with them gets its Trainer and its modules from compat, all of them, so that they fit together.
"""

from __future__ import annotations

import ast

from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.connected import together
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module
from trainer_upgrade.rules.support.manual_step import Plan, plan
from trainer_upgrade.rules.support.optimizers import (
    INDEX_NAMES,
    Count,
    manual_optimization,
    optimizer_count,
    truncates,
)
from trainer_upgrade.rules.support.reading import class_kind, positional

__all__ = ["UNTIL_THEN", "needs_legacy_loop", "runs_on_compat"]

# What messages add for target relight.
UNTIL_THEN = "; until then `relight.compat` runs it, so Trainer and modules of the project come from there"

_WORDS = (*(name.encode() for name in INDEX_NAMES), b"hiddens", b"bptt")


def runs_on_compat(file: FileContext) -> bool:
    """Whether Trainer and modules of a file, and of all that runs with it, come from ``relight.compat``."""
    memo, group = file.project.memo, together(file.module, file.project)
    key = ("runs-on-compat", group[0].path)
    if key not in memo:
        memo[key] = any(_needed(each, file) for each in _modules(file, group))
    return bool(memo[key])


def needs_legacy_loop(info: ClassInfo) -> bool:
    """Whether a module has several automatic optimizers, or truncates backpropagation."""
    if manual_optimization(info):
        return False
    if truncates(info):
        return True
    found = info.find_method("training_step")
    if found is None:
        return False
    step = found[1]
    names = {each.arg for each in (*positional(step), *step.args.kwonlyargs)}
    if names & INDEX_NAMES:
        return optimizer_count(info) is not Count.ONE
    hidden = step.args.vararg is not None or step.args.kwarg is not None
    return hidden and optimizer_count(info) is Count.MANY


def _needed(info: ClassInfo, file: FileContext) -> bool:
    if not needs_legacy_loop(info):
        return False
    if "unsafe" not in file.options or "training_step" not in info.methods:
        return True
    made = plan(FileContext(info.module, file.project, options=file.options), info)
    return not isinstance(made, Plan) or made.fix() is None


def _modules(file: FileContext, group: list[Module]) -> list[ClassInfo]:
    modules = {each.path: each for each in group}
    modules[file.module.path] = file.module
    return [
        info
        for module in modules.values()
        if any(word in module.data for word in _WORDS)
        for node in module.scopes.nodes
        if isinstance(node, ast.ClassDef)
        for info in (file.classes.info(node, module),)
        if class_kind(info, file) == "LightningModule"
    ]

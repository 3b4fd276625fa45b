"""Arguments of the Trainer that travel in a dict whose way to the Trainer cannot be followed.

Before::

    kw = dict(COMMON, gpus=2)
    if debug:
        kw["gpus"] = 0
    trainer = pl.Trainer(**kw)

After, for relight (compat translates the arguments when the Trainer is built)::

    trainer = compat.Trainer(**kw)

The keys are reported for both targets. A dict counts as one of Trainer arguments when at least two of
its keys are,
and one of them is gone. (A dict that is written out and used once is rewritten with the call's own
arguments.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY
from trainer_upgrade.findings import Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._imports import free, imports_of, target_of
from trainer_upgrade.rules._trainer_calls import Given, TrainerCall, trainer_call
from trainer_upgrade.rules.registry import on, rule

__all__ = ["TrainerDicts"]


@rule("trainer-dicts")
class TrainerDicts:
    """Reports legacy keys of dicts, and lets compat translate them for relight."""

    @on(ast.Module)
    def check(self, node: ast.Module, file: FileContext) -> Iterator[Finding]:
        """Look at a whole file."""
        if file.root is None:
            return
        opened = [
            found
            for each in file.nodes
            if isinstance(each, ast.Call) and any(one.arg is None for one in each.keywords)
            for found in (trainer_call(each, file),)
            if found is not None and found.open
        ]
        if not opened or all(_is_compat(each, file) for each in opened):
            return
        written = {
            id(given.node)
            for each in file.nodes
            if isinstance(each, ast.Call)
            for given in _given(each, file)
        }
        keys = [(name, place) for name, place in _keys(file) if id(place) not in written]
        keys += list(_set_on(opened, file))
        if not keys:
            return
        fix = self._through_compat(opened, file)
        for name, place in keys:
            entry = catalogue.trainer_argument(name)
            assert entry is not None
            yield file.finding(entry, place, f"{entry.advice} (in a dict that reaches the Trainer)", fix)

    def _through_compat(self, opened: list[TrainerCall], file: FileContext) -> Fix | None:
        calls = [each for each in opened if each.kind == "call" and not each.given]
        if not calls or len(calls) != len(opened):
            return None
        if file.target is not Target.RELIGHT or any(
            target_of(each.call.func, file) is not Target.RELIGHT for each in calls
        ):
            return None
        if any(bound.root != "relight" for bound in imports_of(file).bound):
            return None  # after the imports have moved
        local = "compat" if free(file, "compat") else "relight_compat"
        edits = tuple(file.edit(each.call.func, f"{local}.Trainer") for each in calls)
        request = ImportRequest("relight", "compat", None if local == "compat" else local)
        return Fix(Applicability.UNSAFE, "let relight.compat translate the arguments", edits, (request,))


def _is_compat(found: TrainerCall, file: FileContext) -> bool:
    return (file.qualified_name(found.call.func) or "").startswith("relight.compat")


def _given(call: ast.Call, file: FileContext) -> list[Given]:
    if not call.keywords and not call.args:
        return []
    found = trainer_call(call, file)
    return list(found.given) if found is not None else []


def _keys(file: FileContext) -> Iterator[tuple[str, ast.AST]]:
    """Yield the legacy keys of dicts that look like Trainer arguments."""
    for node in file.nodes:
        pairs: list[tuple[str, ast.AST]] = []
        if isinstance(node, ast.Dict):
            pairs = [
                (key.value, key)
                for key in node.keys
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            pairs = [(each.arg, each) for each in node.keywords if each.arg is not None]
        known = [name for name, _ in pairs if name in EVER]
        if len(known) < 2 or 2 * len(known) < len(pairs):
            continue
        for name, place in pairs:
            if name in LEGACY_ONLY:
                yield name, place


def _set_on(opened: list[TrainerCall], file: FileContext) -> Iterator[tuple[str, ast.AST]]:
    """Yield legacy keys that are set on the dict a Trainer gets: ``kw["gpus"] = 0``."""
    for found in opened:
        names = {
            one.value.id for one in found.call.keywords if one.arg is None and isinstance(one.value, ast.Name)
        }
        home = file.enclosing_function(found.call)
        for node in file.nodes:
            key: ast.expr | None = None
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and node.value.id in names
            ):
                key = node.slice
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                owner = node.func.value
                if (
                    isinstance(owner, ast.Name)
                    and owner.id in names
                    and node.func.attr in ("setdefault", "pop", "get")
                ):
                    key = node.args[0]
            if (
                isinstance(key, ast.Constant)
                and key.value in LEGACY_ONLY
                and file.enclosing_function(node) is home
            ):
                yield str(key.value), node

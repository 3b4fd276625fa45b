"""Attributes and methods of the Trainer that were renamed, or that another expression says.

Before::

    if trainer.running_sanity_check or self.trainer.training_type_plugin is None: ...
    scheduler = trainer.lr_schedulers[0]["scheduler"]
    model = trainer.get_model()

After::

    if trainer.sanity_checking or self.trainer.strategy is None: ...
    scheduler = trainer.lr_scheduler_configs[0].scheduler
    model = trainer.lightning_module
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Target
from trainer_upgrade.catalogue.relight_names import STRATEGY_MEMBERS
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._expressions import is_pure
from trainer_upgrade.rules._imports import target_of
from trainer_upgrade.rules._rewrite import spelled
from trainer_upgrade.rules.registry import on, rule

__all__ = ["TrainerAttributes"]

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
# Rules of their own.
_ELSEWHERE = frozenset(
    [
        "tune",
        "tuner",
        "lr_find",
        "scale_batch_size",
        "add_argparse_args",
        "from_argparse_args",
        "parse_argparser",
        "default_attributes",
        "get_init_arguments_and_types",
        "get_deprecated_arg_names",
        "match_env_arguments",
    ]
)
# Methods whose arguments are the same under the new name.
_SAME_CALL = frozenset({"barrier", "log_metrics"})
# Names that only Lightning's Trainer has had: enough where a variable `trainer` is of unknown type.
_TELLING = frozenset(
    [
        "training_type_plugin",
        "running_sanity_check",
        "lr_schedulers",
        "progress_bar_dict",
        "data_parallel_device_ids",
        "root_gpu",
        "weights_save_path",
        "tested_ckpt_path",
        "validated_ckpt_path",
        "predicted_ckpt_path",
        "disable_validation",
        "on_gpu",
        "on_tpu",
        "num_gpus",
        "use_native_amp",
        "lightning_optimizers",
        "accelerator_backend",
        "proc_rank",
    ]
)
_CONFIG_FIELDS = frozenset(
    {"scheduler", "name", "interval", "frequency", "reduce_on_plateau", "monitor", "strict"}
)


@cache
def _entries() -> dict[str, Entry]:
    return {
        entry.name: entry
        for entry in catalogue.entries(Area.TRAINER_ATTRIBUTE)
        if entry.owner == "Trainer" and entry.name not in _ELSEWHERE and not entry.name.startswith("_")
    }


@rule("trainer-attributes")
class TrainerAttributes:
    """Rewrites attributes of expressions that are surely a Trainer."""

    @on(ast.Attribute)
    def check(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at one attribute."""
        entry = _entries().get(node.attr)
        if entry is None:
            return
        replacement = entry.lightning
        stored = not isinstance(node.ctx, ast.Load)
        if replacement.action not in ("rename", "expression"):
            told = stored and "cannot be assigned" in entry.advice
            gone = (
                entry.removed_in is not None
                and replacement.action in ("drop", "none", "custom")
                and _is_gone(entry)
            )
            if not told and not gone:
                return
        known = file.instance_of(node.value)
        guessed = (
            known is None and node.attr in _TELLING and _called_trainer(node.value) and file.root is not None
        )
        if known != "Trainer" and not guessed:
            return
        info = getattr(file.instance(node.value), "info", None)
        if info is not None and (info.find_method(node.attr) is not None or _own(info, node.attr)):
            return  # the subclass has one of its own
        if replacement.action not in ("rename", "expression") or stored:
            yield file.finding(entry, node)
            return

        def fix() -> Fix | None:
            made = self._fix(node, entry, file)
            return replace(made, applicability=UNSAFE) if made is not None and guessed else made

        yield file.finding(entry, node, fix=fix)

    def _fix(self, node: ast.Attribute, entry: Entry, file: FileContext) -> Fix | None:
        parent = file.parent(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if isinstance(parent, ast.keyword) and parent.arg == "gpus":
            return None  # a Trainer like that one: which devices, only a person knows
        target = _target(node, file)
        replacement = entry.replacement(target)
        if replacement.action not in ("rename", "expression"):
            return None
        if replacement.action == "rename":
            if call is not None:
                return None
            if entry.name == "lr_schedulers":
                return self._schedulers(node, entry, file)
            if entry.name == "gpus":
                return None
            start, end, name = file.span(node)[1] - len(node.attr), file.span(node)[1], replacement.name
            if name == "strategy" and target is Target.RELIGHT and isinstance(parent, ast.Attribute):
                member = STRATEGY_MEMBERS.get(parent.attr)
                if member is None:
                    return None  # Fabric's strategies have nothing of the kind
                if member != parent.attr:
                    end, name = file.span(parent)[1], f"{name}.{member}"
            return Fix(entry.applicability, f"say {replacement.text}", (Edit(start, end, name),))
        return self._expression(node, call, entry, replacement.text, replacement.name, file, target)

    def _schedulers(self, node: ast.Attribute, entry: Entry, file: FileContext) -> Fix | None:
        """``trainer.lr_schedulers[i]["scheduler"]``: entries became objects."""
        start = file.span(node)[1] - len(node.attr)
        edits = [Edit(start, start + len(node.attr), "lr_scheduler_configs")]
        item = file.parent(node)
        if isinstance(item, ast.Attribute) or (
            isinstance(item, ast.Subscript) and not isinstance(item.ctx, ast.Load)
        ):
            return None  # the list is changed: its entries are objects now
        if not isinstance(item, ast.Subscript) or item.value is not node:
            return Fix(UNSAFE, "say trainer.lr_scheduler_configs", tuple(edits))
        key = file.parent(item)
        if not isinstance(key, ast.Subscript) or key.value is not item:
            return Fix(UNSAFE, "say trainer.lr_scheduler_configs", tuple(edits))
        if not isinstance(key.slice, ast.Constant) or key.slice.value not in _CONFIG_FIELDS:
            return None
        edits.append(Edit(file.span(item)[1], file.span(key)[1], f".{key.slice.value}"))
        return Fix(SAFE, "read the scheduler's configuration", tuple(edits))

    def _expression(
        self,
        node: ast.Attribute,
        call: ast.Call | None,
        entry: Entry,
        text: str,
        dotted: str,
        file: FileContext,
        target: Target,
    ) -> Fix | None:
        receiver = file.segment(node.value)
        place: ast.expr = node
        if entry.name == "get_model":
            if call is None or call.args or call.keywords:
                return None
            place = call
        elif call is not None:
            if entry.name not in _SAME_CALL:
                return None
            text = text.partition("(")[0]
        elif "…" in text or re.search(r"\((?:model|metrics|name|hook|path)\b", text):
            return None
        if text.count("trainer") > 1 and not is_pure(node.value, file):
            return None
        requests: tuple[ImportRequest, ...] = ()
        if dotted.startswith(("lightning.pytorch.", "lightning_fabric.", "torch.")):
            path = dotted.replace("lightning.pytorch.", "pytorch_lightning.", 1)
            name = path.rpartition(".")[2]
            if name[:1].isupper() and name in text:
                written, requests = spelled(path, node, file, target)
                text = re.sub(rf"\b{name}\b", written, text)
            elif path.startswith("torch."):
                requests = (ImportRequest("torch"),)
                if not _torch_is_torch(node, file):
                    return None
            else:
                owner = path.rpartition(".")[0]
                written, requests = spelled(owner, node, file, target)
                text = text.replace(owner.rpartition(".")[2], written, 1)
        text = re.sub(r"\btrainer\.", lambda _: f"{receiver}.", text)
        if entry.name in ("gpus", "num_gpus", "devices") and isinstance(file.parent(node), ast.Call):
            outer = file.parent(node)
            assert isinstance(outer, ast.Call)
            if isinstance(outer.func, ast.Name) and outer.func.id == "len" and outer.args == [node]:
                place = outer
        if text.startswith(("not ", "[")) or " in (" in text:
            text = _within(text, place, file)
        return Fix(entry.applicability, f"say {text}", (file.edit(place, text),), requests)


def _called_trainer(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name == "trainer" or name.endswith("_trainer")


def _within(text: str, place: ast.expr, file: FileContext) -> str:
    """Put an operator's expression in parentheses unless it stands alone."""
    parent = file.parent(place)
    alone = isinstance(
        parent, (ast.Assign, ast.Return, ast.If, ast.While, ast.Expr, ast.keyword, ast.IfExp, ast.BoolOp)
    )
    if isinstance(parent, ast.Call) and place in parent.args:
        alone = True
    return text if alone or text.startswith("[") else f"({text})"


def _is_gone(entry: Entry) -> bool:
    """Whether using it fails on 2.x."""
    return "AttributeError" in entry.behaviour


def _own(info: object, name: str) -> bool:
    """Whether a class of the project sets the attribute itself."""
    for owner in info.ancestors():  # type: ignore[attr-defined]
        for node in ast.walk(owner.node):
            if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
                return True
    return False


def _target(node: ast.Attribute, file: FileContext) -> Target:
    """Where a Trainer leads that is reached through a parameter or an attribute: with the file's imports."""
    value = node.value
    if isinstance(value, ast.Name) and file.lightning_name(value) is not None:
        return target_of(value, file)
    if file.target is Target.LIGHTNING or file.root is None:
        return file.target
    from trainer_upgrade.rules._imports import imports_of

    imports = imports_of(file)
    return Target.RELIGHT if all(imports.moves(bound) for bound in imports.bound) else Target.LIGHTNING


def _torch_is_torch(node: ast.AST, file: FileContext) -> bool:
    found = file.module.scopes.lookup("torch", node)
    return found is None or all(each.kind == "import" for each in found[1])

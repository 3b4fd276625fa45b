"""Meanings that changed between the Lightning that a project pins and today's, without an error.

With ``pytorch-lightning==1.5.10`` in the requirements::

    pl.seed_everything()                              # a random seed then, 0 since 2.2
    trainer = pl.Trainer(strategy="ddp", gpus=2)      # looked for unused parameters up to 1.9
    trainer.fit(model)
    print(trainer.current_epoch, trainer.global_step) # one higher since 1.6; counted batches up to 1.5

What to do about them only a person knows, and code written for today's Lightning means today's meaning: they
are reported where a pin (or ``--target-version``) says that the code was written for an older one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.version import Version

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Area, Entry
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._expressions import literal
from trainer_upgrade.rules._trainer_calls import trainer_call
from trainer_upgrade.rules.registry import on, rule

__all__ = ["ChangedNumbers"]

# Hooks that run when the last epoch is over.
_AFTERWARDS = frozenset({"on_train_end", "on_fit_end", "teardown"})
_DDP = frozenset({"ddp", "ddp_spawn", "ddp_fork", "ddp_notebook"})


@rule("changed-numbers")
class ChangedNumbers:
    """Reports what means something else since the pinned release."""

    @on(ast.Call)
    def called(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at seeds and at Trainers."""
        if not _older(file, "2.2"):
            return
        yield from _set_up(node, file)
        if not node.args and not node.keywords and _last(node.func) == "seed_everything":
            if (file.lightning_name(node.func) or "").endswith("seed_everything"):
                yield file.finding(_entry(Area.ENTRY_POINT_ARGUMENT, "seed_everything", "seed"), node)
            return
        if not _older(file, "2.0"):
            return
        found = trainer_call(node, file)
        if found is None:
            return
        strategy = found.get("strategy") or found.get("accelerator") or found.get("distributed_backend")
        if strategy is not None and literal(strategy.value) in _DDP and found.get("plugins") is None:
            yield file.finding(_entry(Area.DEFAULT, "Trainer", "find-unused-parameters"), strategy.value)
        logger = found.get("logger")
        value = logger.value if logger is not None else None
        if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) > 1 and _older(file, "1.8"):
            yield file.finding(_entry(Area.DEFAULT, "Logger", "several-loggers"), value)

    @on(ast.Attribute)
    def read(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at the counters of a Trainer."""
        if node.attr not in ("current_epoch", "global_step") or not isinstance(node.ctx, ast.Load):
            return
        if not _older(file, "1.6") or file.instance_of(node.value) != "Trainer":
            return
        if node.attr == "current_epoch" and not _after_fit(node, file):
            return
        yield file.finding(_entry(Area.TRAINER_ATTRIBUTE, "Trainer", node.attr), node)


def _set_up(node: ast.Call, file: FileContext) -> Iterator[Finding]:
    """``data.setup()`` and ``data.prepare_data()`` by hand, which fit calls again since 1.6."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr not in ("setup", "prepare_data"):
        return
    if not isinstance(file.parent(node), ast.Expr) or not isinstance(called.value, ast.Name):
        return
    if not _older(file, "1.6") or file.instance_of(called.value) != "LightningDataModule":
        return
    function = file.enclosing_function(node)
    for each in ast.walk(function if function is not None else file.tree):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "fit":
            given = [*each.args, *(keyword.value for keyword in each.keywords)]
            if any(isinstance(value, ast.Name) and value.id == called.value.id for value in given):
                yield file.finding(_entry(Area.DEFAULT, "LightningDataModule", "repeated-setup"), node)
                return


def _entry(area: Area, owner: str, name: str) -> Entry:
    entry = catalogue.find(area, owner, name)
    assert entry is not None
    return entry


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _older(file: FileContext, release: str) -> bool:
    """Whether the project says that it installs a Lightning from before ``release``."""
    told = file.pin is not None or file.project.target_version is not None
    ours = (file.root or "").startswith("relight")
    return told and not ours and file.installed < Version(release)


def _after_fit(node: ast.Attribute, file: FileContext) -> bool:
    """Whether a place is reached when fit is over: in a hook of its end, or below a call of it."""
    function = file.enclosing_function(node)
    if function is not None and function.name in _AFTERWARDS:
        return True
    body: ast.AST = function if function is not None else file.tree
    receiver = ast.dump(node.value)
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "fit"
        and ast.dump(each.func.value) == receiver
        and each.lineno < node.lineno
        for each in ast.walk(body)
    )

"""Members of loggers, plugins, environments, bars, callbacks, loops and loaders that moved or are gone.

Before::

    logger.close()
    names = monitor.lr_sch_names
    trainer.accelerator.barrier()
    loader = CombinedLoader(loaders=loaders)

After::

    logger.finalize("success")
    names = list(monitor.lrs)
    trainer.strategy.barrier()
    loader = CombinedLoader(iterables=loaders)

What a class of the project defines itself is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Target
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.types import Instance
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules._rewrite import quote_of
from trainer_upgrade.rules.registry import on, rule

__all__ = ["OtherMembers"]

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


@dataclass(frozen=True, slots=True)
class _Member:
    """How one member is recognised and said today.

    Attributes:
        owner: Who has it, in the catalogue.
        kinds: The sorts of object, or classes, that had it.
        text: What is said instead: ``{0}`` is the object, ``{q}`` a quote; ``None`` for a person.
        called: Whether it is a method without arguments, whose call is replaced (else the attribute is).
        name: Its name in the catalogue, where several share an entry.
    """

    owner: str
    kinds: tuple[str, ...]
    text: str | None = None
    called: bool = False
    name: str = ""


_LOGGER = ("Logger",)
_MEMBERS = {
    "close": _Member("Logger", _LOGGER, "{0}.finalize({q}success{q})", called=True),
    "agg_and_log_metrics": _Member("Logger", _LOGGER, "{0}.log_metrics"),
    "profile_iterable": _Member("Profiler", ("Profiler",)),
    "master_params": _Member("PrecisionPlugin", ("Plugin",), "{0}.main_params"),
    "task_idx": _Member("DDPPlugin", ("Plugin", "Strategy"), "{0}.local_rank"),
    "creates_children": _Member(
        "ClusterEnvironment", ("Plugin",), "{0}.creates_processes_externally", called=True
    ),
    "master_address": _Member("ClusterEnvironment", ("Plugin",), "{0}.main_address", called=True),
    "master_port": _Member(
        "ClusterEnvironment", ("Plugin",), "{0}.main_port", called=True, name="master_address"
    ),
    "main_progress_bar": _Member(
        "TQDMProgressBar", ("TQDMProgressBar", "ProgressBar"), "{0}.train_progress_bar"
    ),
    "lr_sch_names": _Member("LearningRateMonitor", ("LearningRateMonitor",), "list({0}.lrs)"),
    "save_function": _Member("ModelCheckpoint", ("ModelCheckpoint",)),
    "save_checkpoint": _Member("ModelCheckpoint", ("ModelCheckpoint",)),
    "loaders": _Member("CombinedLoader", ("CombinedLoader",), "{0}.iterables"),
    "train_batch_idx": _Member("ProgressBar", ("ProgressBar", "TQDMProgressBar", "ProgressBarBase")),
    "val_batch_idx": _Member("ProgressBar", ("ProgressBar", "TQDMProgressBar", "ProgressBarBase")),
    "test_batch_idx": _Member("ProgressBar", ("ProgressBar", "TQDMProgressBar", "ProgressBarBase")),
    "predict_batch_idx": _Member("ProgressBar", ("ProgressBar", "TQDMProgressBar", "ProgressBarBase")),
    "connect": _Member("Loop", ("Loop",), name="replace"),
    "replace": _Member("Loop", ("Loop",)),
    "is_distributed": _Member("Strategy", ("Strategy",)),
    "configure_slurm_ddp": _Member("SLURMEnvironment", ("Plugin",)),
}
# Where `trainer.accelerator` had what the strategy has.
_OF_STRATEGY = frozenset({"barrier", "broadcast", "all_gather"})
_LOOPS = frozenset(
    ["fit_loop", "validate_loop", "test_loop", "predict_loop", "epoch_loop", "val_loop", "batch_loop"]
)
_STEPS = frozenset({"min_steps", "max_steps"})
_WATCHED = _OF_STRATEGY | _STEPS | _MEMBERS.keys()


def _entry(owner: str, name: str) -> Entry:
    entry = catalogue.find(Area.DEFAULT, owner, name)
    assert entry is not None, (owner, name)
    return entry


@rule("other-members")
class OtherMembers:
    """Members of what is neither a Trainer nor a module."""

    @on(ast.Attribute)
    def attribute(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at one attribute."""
        if node.attr not in _WATCHED:
            return
        through = node.value
        if isinstance(through, ast.Attribute) and (through.attr == "accelerator" or through.attr in _LOOPS):
            yield from self._of_trainer(node, through, file)
            return
        member = _MEMBERS.get(node.attr)
        if member is None or not isinstance(node.ctx, ast.Load):
            return
        instance = file.instance(through)
        if instance is None or not _is_one(instance, member, node.attr):
            return
        entry = _entry(member.owner, member.name or node.attr)
        yield file.finding(entry, node, fix=_fix(node, member, entry, file))

    def _of_trainer(
        self, node: ast.Attribute, through: ast.Attribute, file: FileContext
    ) -> Iterator[Finding]:
        owner = through.value
        while isinstance(owner, ast.Attribute) and owner.attr in _LOOPS:
            owner = owner.value
        if file.instance_of(owner) != "Trainer":
            return
        if through.attr == "accelerator":
            if node.attr not in _OF_STRATEGY:
                return
            entry = _entry("Accelerator", "barrier")
            end = file.span(through)[1]
            edit = Edit(end - len("accelerator"), end, "strategy")
            yield file.finding(entry, node, fix=Fix(entry.applicability, "ask the strategy", (edit,)))
        elif node.attr in _STEPS and through.attr == "fit_loop":
            if isinstance(node.ctx, ast.Store):
                entry = _entry("FitLoop", "min_steps")
                end = file.span(through)[1]
                moved = Fix(UNSAFE, "set it on the epoch's loop", (Edit(end, end, ".epoch_loop"),))
                yield file.finding(entry, node, fix=moved if file.target is Target.LIGHTNING else None)
        elif node.attr in ("connect", "replace") and isinstance(file.parent(node), ast.Call):
            yield file.finding(_entry("Loop", "replace"), node)

    @on(ast.Call)
    def call(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one construction of a CombinedLoader."""
        for keyword in node.keywords:
            if keyword.arg == "loaders":
                name = file.lightning_name(node.func)
                if name is None or name.rpartition(".")[2] != "CombinedLoader":
                    return
                editor = CallEditor(file, node)
                item = editor["loaders"]
                editor.replace(item, f"iterables={editor.value_text(item)}")
                fix = Fix(SAFE, "say iterables=", editor.edits())
                yield file.finding(_entry("CombinedLoader", "loaders"), keyword, fix=fix)


def _is_one(instance: Instance, member: _Member, name: str) -> bool:
    if instance.kind not in member.kinds and instance.label not in member.kinds:
        return False
    info = instance.info
    if info is None:
        return True
    if info.find_method(name) is not None:
        return False
    return not any(
        isinstance(each, ast.Attribute) and each.attr == name and isinstance(each.ctx, ast.Store)
        for owner in info.ancestors()
        for each in ast.walk(owner.node)
    )


def _fix(node: ast.Attribute, member: _Member, entry: Entry, file: FileContext) -> Fix | None:
    if member.text is None:
        return None
    receiver = file.segment(node.value)
    text = member.text.format(receiver, q=quote_of(node, file))
    place: ast.expr = node
    if member.called:
        parent = file.parent(node)
        if not isinstance(parent, ast.Call) or parent.func is not node or parent.args or parent.keywords:
            return None
        place = parent
    return Fix(entry.applicability, f"say {text}", (file.edit(place, text),))

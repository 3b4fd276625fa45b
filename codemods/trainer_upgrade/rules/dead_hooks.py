"""Hooks that 2.x never calls: renamed where a hook with the same meaning took their place, else reported.

Before::

    class Watch(pl.Callback):
        def on_batch_end(self, trainer, pl_module):
            print("batch")

        def on_keyboard_interrupt(self, trainer, pl_module):
            print("stopped by hand")

        def on_pretrain_routine_start(self, trainer, pl_module):
            print("begin")

After::

    class Watch(pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            print("batch")

        def on_exception(self, trainer, pl_module, exception):
            if not isinstance(exception, KeyboardInterrupt):
                return
            print("stopped by hand")

        def on_fit_start(self, trainer, pl_module):
            print("begin")

``on_epoch_start`` and ``on_epoch_end`` ran at validation and test epochs, too (from 1.2.6 to 1.7): the
rename to the training hook is what people mean most often, and unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import reserve
from trainer_upgrade.rules.support.collecting import Unfit
from trainer_upgrade.rules.support.moves import move_hook
from trainer_upgrade.rules.support.reading import class_kind, self_name

__all__ = ["DeadHooks"]

SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL


@dataclass(frozen=True, slots=True)
class Move:
    """Where a dead hook's body goes.

    Attributes:
        name: The new hook.
        parameters: Its parameters without ``self``.
        how: How sure the move is.
        why: What to look at, for an unsafe move.
        guard: Lines at the begin of the body.
        condition: Condition for the call, where the class has the new hook already.
        last: Whether the old body ran after the new hook's own.
        merge_only: Whether the new hook must be there already (the body runs at its begin).
    """

    name: str
    parameters: tuple[str, ...] = ()
    how: Applicability = SAFE
    why: str = ""
    guard: tuple[str, ...] = ()
    condition: str = ""
    last: bool = False
    merge_only: bool = False


_CALLBACK = ("trainer", "pl_module")
_STAGE = (*_CALLBACK, "stage")
_EPOCHS = "it ran at validation and test epochs, too, and in the sanity check"
_SETUP = "it runs earlier there, and for every stage"
_INTERRUPT = "isinstance(exception, KeyboardInterrupt)"

MOVES: dict[tuple[str, str], Move] = {
    ("LightningModule", "on_epoch_start"): Move("on_train_epoch_start", (), UNSAFE, _EPOCHS),
    ("LightningModule", "on_epoch_end"): Move("on_train_epoch_end", (), UNSAFE, _EPOCHS, last=True),
    ("LightningModule", "on_batch_start"): Move(
        "on_train_batch_start", ("batch", "batch_idx"), UNSAFE, "it has not been called since 1.0"
    ),
    ("LightningModule", "on_batch_end"): Move(
        "on_train_batch_end", ("outputs", "batch", "batch_idx"), UNSAFE, "it has not been called since 1.0"
    ),
    ("LightningModule", "on_pretrain_routine_start"): Move(
        "on_fit_start",
        (),
        UNSAFE,
        "it runs before a checkpoint's optimizer state is restored there",
        last=True,
    ),
    ("LightningModule", "on_pretrain_routine_end"): Move(
        "on_fit_start",
        (),
        UNSAFE,
        "it runs before a checkpoint's optimizer state is restored there",
        last=True,
    ),
    ("LightningModule", "on_hpc_save"): Move(
        "on_save_checkpoint", ("checkpoint",), UNSAFE, "that hook runs for every checkpoint"
    ),
    ("LightningModule", "on_hpc_load"): Move(
        "on_load_checkpoint", ("checkpoint",), UNSAFE, "that hook runs for every checkpoint"
    ),
    ("LightningModule", "tng_dataloader"): Move("train_dataloader"),
    ("LightningModule", "on_pre_performance_check"): Move(
        "on_validation_start", (), UNSAFE, "it has not been called since 0.10"
    ),
    ("LightningModule", "on_post_performance_check"): Move(
        "on_validation_end", (), UNSAFE, "it has not been called since 0.10"
    ),
    ("LightningModule", "configure_sharded_model"): Move(
        "configure_model",
        (),
        UNSAFE,
        "it may be called more than once, also when a checkpoint is loaded: make it idempotent",
    ),
    ("Callback", "on_epoch_start"): Move("on_train_epoch_start", _CALLBACK, UNSAFE, _EPOCHS),
    ("Callback", "on_epoch_end"): Move("on_train_epoch_end", _CALLBACK, UNSAFE, _EPOCHS, last=True),
    ("Callback", "on_batch_start"): Move("on_train_batch_start", (*_CALLBACK, "batch", "batch_idx")),
    ("Callback", "on_batch_end"): Move("on_train_batch_end", (*_CALLBACK, "outputs", "batch", "batch_idx")),
    ("Callback", "on_keyboard_interrupt"): Move(
        "on_exception",
        (*_CALLBACK, "exception"),
        guard=(f"if not {_INTERRUPT}:", "\treturn"),
        condition=_INTERRUPT,
    ),
    ("Callback", "on_pretrain_routine_start"): Move(
        "on_fit_start",
        _CALLBACK,
        UNSAFE,
        "it runs before a checkpoint's optimizer state is restored there",
        last=True,
    ),
    ("Callback", "on_pretrain_routine_end"): Move(
        "on_fit_start",
        _CALLBACK,
        UNSAFE,
        "it runs before a checkpoint's optimizer state is restored there",
        last=True,
    ),
    ("Callback", "on_before_accelerator_backend_setup"): Move(
        "setup", _STAGE, UNSAFE, "it runs for every stage"
    ),
    ("Callback", "on_configure_sharded_model"): Move("setup", _STAGE, UNSAFE, _SETUP),
    ("Callback", "on_init_end"): Move("setup", _STAGE, UNSAFE, _SETUP.replace("earlier", "later")),
}
for _kind in ("LightningModule", "LightningDataModule"):
    for _stage in ("train", "val", "test", "predict"):
        MOVES[_kind, f"on_{_stage}_dataloader"] = Move(f"{_stage}_dataloader", merge_only=True)


@rule("dead-hooks")
class DeadHooks:
    """Hooks that are never called."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the hooks of a class."""
        info = file.class_info(node)
        kind = class_kind(info, file)
        if kind is None:
            return
        for name, function in info.methods.items():
            if self_name(function) is None:
                continue
            move = MOVES.get((kind, name))
            if move is not None:
                yield _moved(info, kind, function, move, file)
            elif name in _REPORTED.get(kind, ()):
                entry = catalogue.hook(kind, name)
                if entry is not None:
                    yield file.finding(entry, function, silent=True)


# Never called, and without a twin to move the body to (others have a rule of their own).
_REPORTED = {
    "LightningModule": frozenset(
        {
            "training_end",
            "get_progress_bar_dict",
            "get_tqdm_dict",
            "log_grad_norm",
            "configure_ddp",
            "init_ddp_connection",
            "configure_apex",
            "configure_sync_batchnorm",
            "amp_scale_loss",
            "on_sanity_check_start",
            "on_post_move_to_device",
            "add_to_queue",
            "get_from_queue",
        }
    ),
    "Callback": frozenset({"on_init_start"}),
}


def _moved(info: ClassInfo, kind: str, function: Function, move: Move, file: FileContext) -> Finding:
    old = function.name
    entry = catalogue.hook(kind, old) or "TRU238"
    never = "is deprecated" if old == "configure_sharded_model" else "is never called"
    silent = old != "configure_sharded_model"
    try:
        if move.merge_only and move.name not in info.methods:
            raise Unfit(f"the class has no `{move.name}`")
        twins = [
            name for name in ("on_pretrain_routine_start", "on_pretrain_routine_end") if name in info.methods
        ]
        if old in twins[1:] and move.name not in info.methods:
            raise Unfit("the other pretrain hook moves first")
        edits: list[Edit] = move_hook(
            file,
            info,
            function,
            move.name,
            move.parameters,
            guard=move.guard,
            condition=move.condition,
            last=move.last,
        )
    except (Unfit, ValueError) as error:
        message = f"`{old}` {never}: move it to `{move.name}` by hand ({error})"
        return file.finding(entry, function, message, silent=silent)
    message = f"`{old}` {never}: `{move.name}` takes its place" + (f" ({move.why})" if move.why else "")
    edits.append(reserve(file, info.node, move.name))
    fix = Fix(move.how, f"move it to `{move.name}`", tuple(edits))
    return file.finding(entry, function, message, fix, silent=silent)

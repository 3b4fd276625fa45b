"""From the form of an old release to that of 2.x, step by step; each step holds below some release."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from packaging.version import InvalidVersion, Version

from relight.utilities.rank_zero import rank_zero_warn

__all__ = ["LEGACY_KEY", "migrate", "version_of"]

#: Where the release that saved a file is kept after a migration, as in Lightning.
LEGACY_KEY = "legacy_pytorch-lightning_version"
_VERSION_KEY = "pytorch-lightning_version"
_FIRST_OF_TODAYS_FORM = Version("2.0.0")
Checkpoint = dict[str, Any]


def version_of(checkpoint: Mapping[str, Any]) -> Version:
    """Return the release that saved a checkpoint; files before 0.8, and bare weights, do not say: 0.0."""
    try:
        return Version(str(checkpoint.get(_VERSION_KEY, "0.0")))
    except InvalidVersion:
        return Version("0.0")


def migrate(checkpoint: Checkpoint, current: str) -> Checkpoint:
    """Bring a checkpoint to the form of 2.x, in place where it can; files of 2.x are left as they are.

    A file that holds weights alone, as ``torch.save(module.state_dict())`` makes it, becomes a checkpoint
    with nothing else.

    Args:
        checkpoint: What was loaded.
        current: The release whose form it gets.
    """
    if "state_dict" not in checkpoint and _VERSION_KEY not in checkpoint:
        return {"state_dict": checkpoint, _VERSION_KEY: current}
    version = version_of(checkpoint)
    if version >= _FIRST_OF_TODAYS_FORM:
        if version.release[:1] > Version(current).release[:1]:
            rank_zero_warn(f"The checkpoint was saved by release {version}, which is newer than {current}.")
        return checkpoint
    for below, step in _STEPS:
        if version < Version(below):
            step(checkpoint)
    checkpoint.setdefault(LEGACY_KEY, str(checkpoint.get(_VERSION_KEY, "0.0")))
    checkpoint[_VERSION_KEY] = current
    return checkpoint


# 0.7: hyperparameters had other keys


def _hyperparameters(checkpoint: Checkpoint) -> None:
    if "hparams" in checkpoint and "hyper_parameters" not in checkpoint:
        checkpoint["hyper_parameters"] = checkpoint.pop("hparams")
        checkpoint.setdefault("hparams_name", "hparams")
    if "module_arguments" in checkpoint and "hyper_parameters" not in checkpoint:
        checkpoint["hyper_parameters"] = checkpoint.pop("module_arguments")


def _plain_hyperparameters(checkpoint: Checkpoint) -> None:
    """A namespace of hyperparameters becomes a dict that remembers it was one."""
    for key in ("hyper_parameters", "datamodule_hyper_parameters"):
        hparams = checkpoint.get(key)
        if isinstance(hparams, Namespace):
            checkpoint[key] = vars(hparams)
            checkpoint.setdefault("hparams_type", "Namespace")


# 0.10: callbacks keep their state together


def _callbacks(checkpoint: Checkpoint) -> None:
    moves = (
        ("checkpoint_callback_best_model_score", "ModelCheckpoint", "best_model_score"),
        ("checkpoint_callback_best_model_path", "ModelCheckpoint", "best_model_path"),
        ("checkpoint_callback_best", "ModelCheckpoint", "best_model_score"),
        ("early_stop_callback_wait", "EarlyStopping", "wait_count"),
        ("early_stop_callback_patience", "EarlyStopping", "patience"),
    )
    states = dict(checkpoint.get("callbacks") or {})
    for old, callback, new in moves:
        if old in checkpoint:
            states.setdefault(callback, {})[new] = checkpoint.pop(old)
    checkpoint["callbacks"] = states


# 1.6: loops count what they do


def _loops(checkpoint: Checkpoint) -> None:
    """``global_step`` and ``epoch`` become the counts of the loops.

    Lightning's own migration sets one of the epoch's counts, which the loop overwrites, so that such a file
    restarts at epoch 0 there; here all are set. ``epoch`` was the number of finished epochs.
    """
    steps, epochs = int(checkpoint.get("global_step", 0)), int(checkpoint.get("epoch", 0))
    checkpoint.setdefault("global_step", steps)
    checkpoint.setdefault("epoch", epochs)
    loops = checkpoint.get("loops") or {}
    checkpoint["loops"] = loops
    for name in ("validate_loop", "test_loop", "predict_loop"):
        loops.setdefault(name, {})
    fit = loops.setdefault("fit_loop", {})
    fit.setdefault("state_dict", {})
    names = ("optimizer_loop.optim_progress", "manual_loop.optim_step_progress")
    automatic, manual = (f"epoch_loop.batch_loop.{name}" for name in names)
    progress = fit.setdefault(automatic, {}).setdefault("optimizer", {})
    step, zero_grad = progress.setdefault("step", {}), progress.setdefault("zero_grad", {})
    for counts in (step, fit.setdefault(manual, {})):
        _fill(counts, ("ready", "completed"), total=steps)
    _fill(zero_grad, ("ready", "completed", "started"), total=steps)
    four = ("ready", "completed", "started", "processed")
    finished = fit.setdefault("epoch_progress", {})
    for part in ("total", "current"):
        finished.setdefault(part, {}).update(dict.fromkeys(four, epochs))
    if "is_last_batch" not in fit.setdefault("epoch_loop.batch_progress", {}):
        fit["epoch_loop.batch_progress"]["is_last_batch"] = False
    _fill(fit["epoch_loop.batch_progress"], four, total=0)


def _fill(counts: dict[str, Any], fields: tuple[str, ...], total: int) -> None:
    for part, value in (("total", total), ("current", 0)):
        own = counts.setdefault(part, {})
        for field in fields:
            own[field] = own.get(field) or value


# 1.6.5: the step that loggers are told is kept


def _step_for_loggers(checkpoint: Checkpoint) -> None:
    fit = checkpoint.setdefault("loops", {}).setdefault("fit_loop", {})
    state = fit.setdefault("epoch_loop.state_dict", {})
    state.setdefault("_batches_that_stepped", checkpoint.get("global_step", 0))


# 1.9: one argument less in the key of ModelCheckpoint's state


def _key_of_model_checkpoint(checkpoint: Checkpoint) -> None:
    states = checkpoint.get("callbacks")
    if not states:
        return
    renamed: dict[Any, Any] = {}
    for key, state in states.items():
        new = key
        if isinstance(key, str) and key.startswith("ModelCheckpoint"):
            new = re.sub(r", 'save_on_train_epoch_end': (None|True|False)", "", key)
        if new in renamed:
            rank_zero_warn(
                f"Two callbacks have the key {new!r} in the checkpoint: the first one's state is kept."
            )
            continue
        renamed[new] = state
    checkpoint["callbacks"] = renamed


# 2.0: apex is gone; loops within loops were merged


def _apex(checkpoint: Checkpoint) -> None:
    if "amp_scaling_state" in checkpoint:
        rank_zero_warn("The checkpoint holds a scale of apex, which no precision of today can use: left out.")
        del checkpoint["amp_scaling_state"]


def _scaler(checkpoint: Checkpoint) -> None:
    """The state of the gradient scaler is kept under the precision plugin's name, which changed twice."""
    for old in ("native_amp_scaling_state", "NativeMixedPrecisionPlugin", "MixedPrecisionPlugin"):
        if old in checkpoint:
            checkpoint.setdefault("MixedPrecision", checkpoint.pop(old))


def _fit_loop(checkpoint: Checkpoint) -> None:
    fit = (checkpoint.get("loops") or {}).get("fit_loop")
    if not fit:
        return
    renames = (
        ("epoch_loop.batch_loop.", "epoch_loop."),
        ("epoch_loop.optimizer_loop.", "epoch_loop.automatic_optimization."),
        ("epoch_loop.manual_loop.", "epoch_loop.manual_optimization."),
        ("epoch_loop.val_loop.epoch_loop.", "epoch_loop.val_loop."),
    )
    for key in [key for key in fit if key.startswith("epoch_loop.")]:
        new = key
        for old_prefix, prefix in renames:
            if new.startswith(old_prefix):
                new = prefix + new[len(old_prefix) :]
        if new != key:
            value = fit.pop(key)
            if key != "epoch_loop.batch_loop.state_dict":  # of truncated backpropagation: it has no place now
                fit.setdefault(new, value)
    fit.pop("epoch_loop.val_loop.dataloader_progress", None)
    automatic = fit.get("epoch_loop.automatic_optimization.optim_progress", {})
    automatic.pop("optimizer_position", None)
    _optimizers_by_hand(fit, automatic)


def _optimizers_by_hand(fit: dict[str, Any], automatic: dict[str, Any]) -> None:
    """What several automatic optimizers did is counted as manual optimization, which is what they became."""
    manual = fit.get("epoch_loop.manual_optimization.optim_step_progress")
    done = automatic.get("optimizer", {}).get("step", {}).get("total", {})
    if manual and done and not manual.get("total", {}).get("completed"):
        manual.setdefault("total", {}).update(ready=done["ready"], completed=done["completed"])


def _evaluation_loops(checkpoint: Checkpoint) -> None:
    loops = checkpoint.get("loops") or {}
    for name in ("validate_loop", "test_loop", "predict_loop"):
        loop = loops.get(name)
        if not loop:
            continue
        loop.pop("dataloader_progress", None)
        for key in [key for key in loop if key.startswith("epoch_loop.")]:
            loop.setdefault(key[len("epoch_loop.") :], loop.pop(key))


_STEPS: tuple[tuple[str, Callable[[Checkpoint], None]], ...] = (
    ("0.8.0", _hyperparameters),
    ("0.10.0", _callbacks),
    ("1.6.0", _loops),
    ("1.6.5", _step_for_loggers),
    ("1.9.0", _key_of_model_checkpoint),
    ("2.0.0", _plain_hyperparameters),
    ("2.0.0", _apex),
    ("2.0.0", _scaler),
    ("2.0.0", _fit_loop),
    ("2.0.0", _evaluation_loops),
)

"""Give a Trainer, its module and its callbacks the state that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from relight import checkpoint as files
from relight.trainer import resume, sharding
from relight.trainer.hooks import Order, call_own_hook
from relight.trainer.signals import is_slurm_job, last_hpc_file
from relight.trainer.states import TrainerFn
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.checkpoint import PathLike
    from relight.trainer.trainer import Trainer

__all__ = [
    "give_back",
    "restore_modules_and_callbacks",
    "restore_training_state",
    "resume_end",
    "select_path",
]


def select_path(
    trainer: Trainer, fn: TrainerFn, given: PathLike | None, module_given: bool
) -> PathLike | None:
    """Return the file to load: what was asked for, with ``"best"``, ``"last"`` and ``"hpc"`` looked up.

    Raises:
        ValueError: If a keyword finds no file.
    """
    if trainer._user_managed_ckpt_path:
        if given is None:
            return trainer.ckpt_path
        rank_zero_warn(
            f"`trainer.ckpt_path` is set, but `ckpt_path={given!r}` was passed to `{fn}`: that is loaded"
        )
        trainer.ckpt_path = None
    call = f"`{fn}(ckpt_path={given!r})`"
    if given is None:
        if is_slurm_job() and (newest := last_hpc_file(trainer.default_root_dir)) is not None:
            return newest[1]
        if fn == TrainerFn.FITTING and _has_failed(trainer):
            rank_zero_warn(
                f"`{fn}()` goes on where an exception ended the last one, as with `ckpt_path='last'`: an"
                " `OnExceptionCheckpoint` has left its file. Remove it to begin anew."
            )
            return select_path(trainer, fn, "last", module_given)
        if module_given:
            return None
        given = "best"
        rank_zero_warn(
            f"`{fn}()` was called without a module: the best weights of the last fit are loaded. Pass"
            f" `ckpt_path='best'`, or another, to say so."
        )
    if given == "best":
        callback = trainer.checkpoint_callback
        if len(trainer.checkpoint_callbacks) > 1:
            rank_zero_warn(f"{call}: there are several checkpoint callbacks; the first one's best is loaded")
        if callback is None:
            raise ValueError(f"{call}: there is no `ModelCheckpoint` to ask")
        best = getattr(callback, "best_model_path", None)
        if not best:
            reason = (
                "`fast_dev_run` saves nothing" if trainer.fast_dev_run else "the `ModelCheckpoint` saved none"
            )
            raise ValueError(f"{call}: {reason}; pass a path")
        return best  # type: ignore[no-any-return]
    if given == "last":
        candidates: dict[str, float] = {}
        for callback in trainer.checkpoint_callbacks:
            if hasattr(callback, "_find_last_checkpoints"):
                candidates |= callback._find_last_checkpoints(trainer)
        if not candidates:
            rank_zero_warn(
                f"{call}: there is no last checkpoint, so none is loaded. `save_last=True` would make one."
            )
            return None
        return max(candidates, key=candidates.__getitem__)
    if given == "hpc":
        newest = last_hpc_file(trainer.default_root_dir)
        if newest is None:
            raise ValueError(f"{call}: there is no file hpc_ckpt_N.ckpt in {trainer.default_root_dir!r}")
        return newest[1]
    if not given:
        raise ValueError(f"{call} names no file")
    return given


def _has_failed(trainer: Trainer) -> bool:
    """Whether a run before this one was ended by an exception and saved then."""
    from relight.callbacks import OnExceptionCheckpoint

    return any(
        callback._find_last_checkpoints(trainer)
        for callback in trainer.callbacks
        if isinstance(callback, OnExceptionCheckpoint)
    )


def restore_modules_and_callbacks(trainer: Trainer, path: PathLike | None, weights_only: bool | None) -> None:
    """Read the file and give their state to the module, the data module and the callbacks."""
    if not trainer._user_managed_ckpt_path:
        trainer._ckpt_path = path
    trainer._loaded_checkpoint = {}
    if not path:
        return
    rank_zero_info(f"Restoring states from the checkpoint path at {path}")
    trainer._loaded_checkpoint = files.load(path, "cpu", weights_only)
    parts = [_restore_module, _restore_datamodule]
    if trainer.restores_callbacks or trainer.state.fn == TrainerFn.FITTING:
        parts.append(_restore_callbacks)
    if trainer.hook_order.get("on_load_checkpoint") is not Order.MODULE_FIRST:
        parts.reverse()
    for part in parts:
        part(trainer, trainer._loaded_checkpoint)


def _restore_module(trainer: Trainer, checkpoint: dict[str, Any]) -> None:
    module = trainer.lightning_module
    call_own_hook(trainer, module, "on_load_checkpoint", checkpoint)
    if sharding.is_sharded(trainer._backend):
        sharding.load_model_state(trainer._backend, checkpoint["state_dict"])
    else:
        module.load_state_dict(checkpoint["state_dict"], strict=module.strict_loading)


def _restore_datamodule(trainer: Trainer, checkpoint: dict[str, Any]) -> None:
    datamodule = trainer.datamodule
    if datamodule is not None and type(datamodule).__qualname__ in checkpoint:
        call_own_hook(trainer, datamodule, "load_state_dict", checkpoint[type(datamodule).__qualname__])


def _restore_callbacks(trainer: Trainer, checkpoint: dict[str, Any]) -> None:
    states: Mapping[Any, Any] | None = checkpoint.get("callbacks")
    if states is None:
        return
    known = {callback.state_key for callback in trainer.callbacks}
    known |= {callback._legacy_state_key for callback in trainer.callbacks}  # type: ignore[misc]
    known |= {type(callback).__qualname__ for callback in trainer.callbacks}
    if missing := [key for key in states if key not in known]:
        rank_zero_warn(
            f"The checkpoint holds the state of callbacks that this Trainer does not have: {missing}."
            " Give it the same."
        )
    for callback in trainer.callbacks:
        call_own_hook(trainer, callback, "on_load_checkpoint", trainer, trainer.lightning_module, checkpoint)
    for callback in trainer.callbacks:
        state = states.get(callback.state_key, states.get(callback._legacy_state_key))
        if state is None:  # before 1.5 a class had one state
            state = states.get(type(callback).__qualname__)
        if state:
            call_own_hook(trainer, callback, "load_state_dict", _copied(state))


def _copied(state: Any) -> Any:
    import copy

    return copy.deepcopy(state)


def restore_training_state(trainer: Trainer) -> None:
    """Give precision, loops, optimizers and schedulers the state that was read.

    Raises:
        MisconfigurationException: If the checkpoint is past ``max_epochs``.
        KeyError: If it holds weights only.
    """
    checkpoint = trainer._loaded_checkpoint
    trainer.fit_loop.resumed = None
    if not checkpoint:
        return
    precision = trainer.precision_plugin
    state = checkpoint.get(type(precision).__qualname__, checkpoint.get("native_amp_scaling_state"))
    if state is not None:
        precision.load_state_dict(state)
    fn = trainer.state.fn
    loops = checkpoint.get("loops")
    if loops is not None:
        trainer._active_loop.load_state_dict(loops.get(f"{fn}_loop", {}))
    if fn != TrainerFn.FITTING:
        return
    if (resumed := resume.read(trainer, checkpoint)) is not None:
        resumed.restore_counts(trainer)
        trainer.fit_loop.resumed = resumed
    limit = trainer.max_epochs
    if limit not in (None, -1) and trainer.current_epoch > limit:
        raise MisconfigurationException(
            f"The checkpoint has done {trainer.current_epoch} epochs, more than max_epochs={limit}"
        )
    for key, what in (("optimizer_states", "optimizers"), ("lr_schedulers", "learning rate schedulers")):
        if key not in checkpoint:
            raise KeyError(
                f"The checkpoint holds no state of {what}; it was saved with `save_weights_only`. Load it"
                " with `load_from_checkpoint`, and fit without `ckpt_path`."
            )
    for optimizer, optimizer_state in zip(trainer.optimizers, checkpoint["optimizer_states"], strict=False):
        if sharding.is_sharded(trainer._backend):
            sharding.load_optimizer_state(trainer._backend, optimizer, optimizer_state)
            continue
        optimizer.load_state_dict(optimizer_state)
        _to_device(optimizer, trainer._backend.device)
    for config, scheduler_state in zip(
        trainer.lr_scheduler_configs, checkpoint["lr_schedulers"], strict=False
    ):
        config.scheduler.load_state_dict(scheduler_state)
    if resumed is not None:
        resumed.restore_rest(trainer)


def give_back(trainer: Trainer, saved: dict[str, Any]) -> None:
    """Set module, data module, callbacks, optimizers and schedulers back to what was saved in this very run.

    What else the run is about to load, and the loops, are left as they are.
    """
    pending, trainer._loaded_checkpoint = trainer._loaded_checkpoint, saved
    try:
        for part in (_restore_module, _restore_datamodule, _restore_callbacks):
            part(trainer, saved)
        restore_training_state(trainer)
    finally:
        trainer._loaded_checkpoint = pending


def _to_device(optimizer: Any, device: torch.device) -> None:
    if device.type == "cpu":
        return
    for state in optimizer.state.values():
        for name, value in state.items():
            if isinstance(value, torch.Tensor) and name != "step":  # torch keeps the step where it wants it
                state[name] = value.to(device)


def resume_end(trainer: Trainer) -> None:
    """All is restored: say so, and let go of the file's contents."""
    if trainer._loaded_checkpoint:
        what = "Restored all states" if trainer.state.fn == TrainerFn.FITTING else "Loaded model weights"
        rank_zero_info(f"{what} from the checkpoint at {trainer.ckpt_path}")
    trainer._loaded_checkpoint = {}
    trainer.strategy.barrier("resume_end")

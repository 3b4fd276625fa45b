"""From an entry point to a loop and back: the order in which a run is set up and torn down."""

from __future__ import annotations

import io
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from relight.trainer import connect, restore
from relight.trainer.hooks import call_own_hook
from relight.trainer.logging import tensors_to_scalars
from relight.trainer.states import RunningStage, TrainerFn, TrainerStatus
from relight.utilities.exceptions import InterruptedRun, MisconfigurationException, RunEnded, SIGTERMException
from relight.utilities.overrides import has_own, is_overridden, takes_parameter
from relight.utilities.rank_zero import PossibleUserWarning, rank_zero_info, rank_zero_warn
from relight.utilities.seed import isolate_rng, reset_seed

if TYPE_CHECKING:
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer

__all__ = ["enter"]

_STAGES = {
    TrainerFn.FITTING: RunningStage.TRAINING,
    TrainerFn.VALIDATING: RunningStage.VALIDATING,
    TrainerFn.TESTING: RunningStage.TESTING,
    TrainerFn.PREDICTING: RunningStage.PREDICTING,
}


def enter(
    trainer: Trainer,
    fn: TrainerFn,
    model: Any,
    *,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    predict: Any = None,
    datamodule: LightningDataModule | None = None,
    ckpt_path: str | os.PathLike[str] | None = None,
    weights_only: bool | None = None,
) -> Any:
    """Run an entry point and return its result."""
    from relight.datamodule import LightningDataModule

    provided = model is not None
    if model is None:
        model = trainer.lightning_module
        if model is None:
            raise TypeError(
                f"`Trainer.{fn}()` needs a module: none was given, and none is left from an earlier run"
            )
    module = _the_module(model)
    loaders = {"train": train, "val": val, "test": test, "predict": predict}
    for name, given in loaders.items():  # a data module in the place of loaders
        if isinstance(given, LightningDataModule) and datamodule is None:
            datamodule, loaders[name] = given, None
    if datamodule is not None and any(given is not None for given in loaders.values()):
        raise MisconfigurationException(f"`Trainer.{fn}()` takes loaders or a data module, not both")

    trainer._module = module
    trainer.state.fn, trainer.state.status, trainer.state.stage = fn, TrainerStatus.RUNNING, _STAGES[fn]
    trainer._scope.hook = None
    trainer._validates = None
    trainer._ends_alone = False
    trainer._backend.forget_model(module)
    try:
        work = (trainer, fn, module, loaders, datamodule, ckpt_path, weights_only, provided)
        return _spawn(*work) if trainer._backend.spawns else trainer._backend.launch(_run_in_process, *work)
    except RunEnded:
        trainer._scope.hook = None
        _call_teardown(trainer, fn)
        _teardown(trainer)
        trainer.state.status, trainer.state.stage = TrainerStatus.FINISHED, None
        return None
    except KeyboardInterrupt as error:
        rank_zero_info("\nInterrupted by the user; shutting down …")
        if trainer._backend.spawns:  # the processes were interrupted, too, and told their own callbacks
            trainer.state.status = TrainerStatus.INTERRUPTED
        else:
            _on_exception(trainer, error)
        trainer._backend.signal_children(signal.SIGTERM)
        # Fabric kills the process that launched the others when one of them fails; it may still be saving.
        raise InterruptedRun(0 if trainer._backend.launched_by_us else 1) from error
    except BaseException as error:
        if type(error).__name__ == "ProcessRaisedException":  # which told its own callbacks
            trainer.state.status = TrainerStatus.INTERRUPTED
        else:
            _on_exception(trainer, error)
        trainer.state.stage = None
        if isinstance(error, SIGTERMException) and trainer._backend.launched_by_us:
            error.code = 0
        raise


def _the_module(model: Any) -> LightningModule:
    from relight.module import LightningModule

    original = getattr(model, "_orig_mod", model)  # torch.compile(module)
    if not isinstance(original, LightningModule):
        name = f"{type(original).__module__}.{type(original).__qualname__}"
        bases = [f"{base.__module__}.{base.__qualname__}" for base in type(original).__mro__]
        foreign = any(base.startswith(("lightning.", "pytorch_lightning.")) for base in bases)
        hint = " It derives from Lightning's: import `LightningModule` from `relight`." if foreign else ""
        raise TypeError(f"`model` must be a `relight.LightningModule`, not {name}.{hint}")
    if original is not model:
        from relight.utilities.compile import from_compiled

        return from_compiled(model)
    module: LightningModule = original
    return module


def _run_in_process(
    trainer: Trainer,
    fn: TrainerFn,
    module: LightningModule,
    loaders: dict[str, Any],
    datamodule: LightningDataModule | None,
    ckpt_path: str | os.PathLike[str] | None,
    weights_only: bool | None,
    provided: bool,
) -> Any:
    """What every process does."""
    _attach_data(trainer, module, loaders, datamodule)
    path = restore.select_path(trainer, fn, ckpt_path, provided)
    results = _run(trainer, fn, module, path, weights_only)
    trainer.state.stage = None
    return tensors_to_scalars(results) if fn in (TrainerFn.VALIDATING, TrainerFn.TESTING) else results


def _spawn(trainer: Trainer, *args: Any) -> Any:
    """Run in processes that end with the entry point, and take back what they found out."""
    data = trainer._backend.launch(_spawned, trainer, *args)
    results, state = torch.load(io.BytesIO(data), weights_only=False)  # from our own process
    trainer.lightning_module.load_state_dict(state["weights"])
    trainer.fit_loop.load_state_dict(state["fit_loop"])
    trainer.fit_loop.on_iteration_done()
    trainer.fit_loop.epoch_loop.on_iteration_done()
    trainer.fit_loop.epoch_loop.val_loop.on_iteration_done()
    trainer.fit_loop.max_epochs = state["max_epochs"]
    trainer._logger_connector._callback_metrics = state["callback_metrics"]
    trainer._logger_connector._logged_metrics = state["logged_metrics"]
    for callback, saved in zip(trainer.callbacks, state["callbacks"], strict=True):
        if saved:
            callback.load_state_dict(saved)
    trainer.lightning_module.trainer = trainer
    trainer.should_stop = state["should_stop"]
    trainer.state.status, trainer.state.stage = TrainerStatus.FINISHED, None
    return results


def _spawned(trainer: Trainer, *args: Any) -> bytes:
    try:
        results = _run_in_process(trainer, *args)
    except BaseException as error:  # the process that started this one has other callbacks and loggers
        _on_exception(trainer, error)
        raise
    state = {
        "weights": {name: tensor.cpu() for name, tensor in trainer.lightning_module.state_dict().items()},
        "fit_loop": trainer.fit_loop.state_dict(),
        "max_epochs": trainer.max_epochs,
        "callback_metrics": dict(trainer.callback_metrics),
        "logged_metrics": dict(trainer.logged_metrics),
        "callbacks": [callback.state_dict() for callback in trainer.callbacks],
        "should_stop": trainer.should_stop,
    }
    # As bytes: a tensor's shared memory would end with the process before anyone reads it.
    buffer = io.BytesIO()
    torch.save((results, state), buffer)
    return buffer.getvalue()


def _attach_data(
    trainer: Trainer, module: LightningModule, loaders: dict[str, Any], datamodule: LightningDataModule | None
) -> None:
    fit, val = trainer.fit_loop, trainer.fit_loop.epoch_loop.val_loop
    for loop, name in (
        (fit, "train"), (val, "val"), (trainer.validate_loop, "val"), (trainer.test_loop, "test"),
        (trainer.predict_loop, "predict"),
    ):  # fmt: skip
        loop.combined_loader = None
        given = loaders[name]
        loop.source.instance = (
            datamodule if datamodule is not None else given if given is not None else module
        )
    trainer.datamodule = datamodule
    if datamodule is not None:
        datamodule.trainer = trainer
    module.trainer = trainer


def _run(
    trainer: Trainer,
    fn: TrainerFn,
    module: LightningModule,
    ckpt_path: str | os.PathLike[str] | None,
    weights_only: bool | None,
) -> Any:
    fitting = fn == TrainerFn.FITTING
    if fitting:
        _settle_epochs(trainer)
    connect.attach_module_callbacks(trainer)
    connect.attach_log_functions(trainer)
    trainer._stopping_conditions = _stopping_conditions(trainer)
    trainer._step = trainer._transfer = None
    trainer._hooks = trainer._make_hooks()
    _verify(trainer, fn)

    if not trainer._backend.single_device:
        reset_seed()  # processes start at different times; from here on they draw the same numbers
    profiler = trainer.profiler
    local_rank = trainer.local_rank if trainer.world_size > 1 else None
    profiler.setup(stage=str(fn), local_rank=local_rank, log_dir=trainer.log_dir)
    _prepare_data(trainer)
    _setup(trainer, fn)
    _configure_model(trainer)
    restore.restore_modules_and_callbacks(trainer, ckpt_path, weights_only)
    connector = trainer._logger_connector
    connector.reset_results()
    connector.reset_metrics()

    trainer._backend.setup_module(module)
    if fitting:
        _setup_optimizers(trainer)
        trainer._call("on_fit_start")
    connect.log_hyperparameters(trainer)
    restore.restore_training_state(trainer)
    restore.resume_end(trainer)

    with trainer._signals.watched():
        results = _run_stage(trainer, fn)
    _teardown(trainer)
    if fitting:
        trainer._call("on_fit_end")
    _call_teardown(trainer, fn)
    trainer.state.status = TrainerStatus.FINISHED
    return results


def _settle_epochs(trainer: Trainer) -> None:
    loop = trainer.fit_loop
    if loop.max_epochs is None:
        if trainer.max_steps == -1:
            rank_zero_warn(
                "`max_epochs` was not set: training for 1000 epochs. For no limit, set `max_epochs=-1`.",
                category=PossibleUserWarning,
            )
            loop.max_epochs = 1000
        else:
            loop.max_epochs = -1


def _stopping_conditions(trainer: Trainer) -> list[Any]:
    from relight.callbacks import StoppingCondition

    def matters(condition: Any) -> bool:
        return any(is_overridden(name, condition, StoppingCondition) for name in ("should_stop", "may_stop"))

    return [c for c in trainer.callbacks if isinstance(c, StoppingCondition) and matters(c)]


def _verify(trainer: Trainer, fn: TrainerFn) -> None:
    """Check that the module has what the entry point runs.

    Raises:
        MisconfigurationException: If not.
        NotImplementedError: If it has legacy hooks.
    """
    from relight.module import LightningModule

    module = trainer.lightning_module

    def has(name: str) -> bool:
        return is_overridden(name, module, LightningModule)

    if fn == TrainerFn.FITTING:
        for name in ("training_step", "configure_optimizers"):
            if not has(name):
                raise MisconfigurationException(
                    f"`{type(module).__name__}` has no `{name}()`, which `fit` needs"
                )
        has_loader = trainer.fit_loop.epoch_loop.val_loop.source.is_defined()
        if has_loader and not has("validation_step"):
            rank_zero_warn("There is a validation loader, but no `validation_step`: validation is skipped.")
        if has("validation_step") and not has_loader:
            rank_zero_warn(
                "There is a `validation_step`, but no validation loader: validation is skipped.",
                category=PossibleUserWarning,
            )
        if not module.automatic_optimization:
            _verify_manual(trainer)
    elif fn == TrainerFn.PREDICTING:
        if not callable(module.predict_step) or not (has("predict_step") or has("forward")):
            raise MisconfigurationException("`predict` needs a `predict_step()` or a `forward()`")
    else:
        step = "test_step" if fn == TrainerFn.TESTING else "validation_step"
        if not has(step):
            raise MisconfigurationException(
                f"`{type(module).__name__}` has no `{step}()`, which `{fn}` needs"
            )
    for name in ("training_step", "validation_step", "test_step", "predict_step"):
        method = getattr(module, name)
        if callable(method) and takes_parameter(method, "dataloader_iter", explicit=True):
            raise MisconfigurationException(
                f"`{type(module).__name__}.{name}(dataloader_iter)`: relight hands out batches, not"
                " iterators; take `batch` and `batch_idx`"
            )
    trainer._check_legacy_hooks(str(fn))


def _verify_manual(trainer: Trainer) -> None:
    for name, value, neutral in (
        ("gradient_clip_val", trainer.gradient_clip_val or None, None),
        ("accumulate_grad_batches", trainer.accumulate_grad_batches, 1),
    ):
        if value != neutral:
            raise MisconfigurationException(
                f"`{name}={value}` is for automatic optimization; with `automatic_optimization = False` the"
                " training step does it"
            )


def _prepare_data(trainer: Trainer) -> None:
    """Let one process (of all, or of each machine) download and write data, while the others wait."""
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule

    for owner, parent in (
        (trainer.datamodule, LightningDataModule),
        (trainer.lightning_module, LightningModule),
    ):
        if owner is None or not has_own("prepare_data", owner, parent):
            continue
        first_here = trainer.local_rank == 0
        first_of_all = first_here and trainer.node_rank == 0
        if first_here if owner.prepare_data_per_node else first_of_all:
            call_own_hook(trainer, owner, "prepare_data")
        trainer.strategy.barrier("prepare_data")


def _setup(trainer: Trainer, fn: TrainerFn) -> None:
    from relight.module import LightningModule

    for module in trainer.lightning_module.modules():  # they are not moved yet, but `setup` may ask
        if isinstance(module, LightningModule):
            module._device = trainer._backend.device
    for logger in sorted(trainer.loggers, key=lambda each: not getattr(each, "begins_first", False)):
        if hasattr(logger, "experiment"):
            _ = logger.experiment  # loggers are lazy; from here on their files and versions are known
    trainer.strategy.barrier("pre_setup")
    if trainer.datamodule is not None:
        call_own_hook(trainer, trainer.datamodule, "setup", stage=fn)
    trainer._call("setup", stage=fn)
    trainer.strategy.barrier("post_setup")


def _configure_model(trainer: Trainer) -> None:
    from relight.module import LightningModule

    module = trainer.lightning_module
    if has_own("configure_model", module, LightningModule):
        backend = trainer._backend
        with backend.strategy.module_init_context() if not backend.plain else backend.device:
            call_own_hook(trainer, module, "configure_model")


def _setup_optimizers(trainer: Trainer) -> None:
    module = trainer.lightning_module
    returned = call_own_hook(trainer, module, "configure_optimizers")
    optimizers, configs = trainer._read_optimizers(returned)
    trainer.optimizers = trainer._backend.setup_optimizers(optimizers)
    trainer.lr_scheduler_configs = configs


def _run_stage(trainer: Trainer, fn: TrainerFn) -> Any:
    trainer.strategy.barrier("run-stage")
    trainer.lightning_module.zero_grad()
    if fn == TrainerFn.VALIDATING:
        return trainer.validate_loop.run()
    if fn == TrainerFn.TESTING:
        return trainer.test_loop.run()
    if fn == TrainerFn.PREDICTING:
        return trainer.predict_loop.run()
    with isolate_rng():
        _sanity_check(trainer)
    if trainer.detect_anomaly:
        with torch.autograd.set_detect_anomaly(True):
            trainer.fit_loop.run()
    else:
        trainer.fit_loop.run()
    return None


def _sanity_check(trainer: Trainer) -> None:
    """Validate a few batches before training, so that an error in validation shows now."""
    loop, connector = trainer.fit_loop.epoch_loop.val_loop, trainer._logger_connector
    if not trainer.enable_validation or trainer.num_sanity_val_steps <= 0 or loop.restarting:
        return
    resumed = trainer.fit_loop.resumed
    if resumed is not None and resumed.phase != "begin":
        return  # callbacks that count validations would go on with one more than in an unbroken run
    stage = trainer.state.stage
    trainer.sanity_checking = True
    connector.reset_results()
    connector.reset_metrics()
    hooks = trainer._hooks
    assert hooks is not None
    if (start := hooks.callbacks("on_sanity_check_start")) is not None:
        start()
    loop.run()
    if (end := hooks.callbacks("on_sanity_check_end")) is not None:
        end()
    connector.reset_results()
    connector.reset_metrics()
    loop.batch_progress.reset()
    trainer.state.stage = stage


def _teardown(trainer: Trainer) -> None:
    """Let go of devices, loaders and processes."""
    with suppress(NotImplementedError):  # sharding strategies have no `checkpoint_io` to tear down
        trainer.strategy.teardown()
    trainer._backend.model = None
    if trainer._backend.device.type != "cpu" and trainer._backend.sharded is None:
        trainer.lightning_module.cpu()
        for optimizer in trainer.optimizers:
            for state in optimizer.state.values():
                for name, value in state.items():
                    if isinstance(value, torch.Tensor):
                        state[name] = value.cpu()
    loop = trainer._active_loop
    if loop is not None:
        loop.teardown()
    trainer._logger_connector.teardown()


def _call_teardown(trainer: Trainer, fn: TrainerFn) -> None:
    if trainer.datamodule is not None:
        call_own_hook(trainer, trainer.datamodule, "teardown", stage=fn)
    trainer._call("teardown", stage=fn)
    trainer.lightning_module._metric_attributes = None
    for logger in trainer.loggers:
        logger.finalize("success")
    trainer.profiler.describe()


def _on_exception(trainer: Trainer, error: BaseException) -> None:
    """Tell everyone who wants to know that the run failed."""
    trainer.state.status = TrainerStatus.INTERRUPTED
    ending = isinstance(error, (KeyboardInterrupt, SIGTERMException)) and trainer._signals.term
    trainer._ends_alone = not ending  # else all processes have agreed to end after the same batch
    trainer._scope.hook = None
    with suppress(Exception):  # must not hide what went wrong
        trainer._logger_connector.flush()
    hooks = trainer._make_hooks()
    if (hook := hooks.callbacks("on_exception")) is not None:
        hook(error)
    if trainer.datamodule is not None:
        call_own_hook(trainer, trainer.datamodule, "on_exception", error)
    for logger in trainer.loggers:
        logger.finalize("failed")
    _teardown(trainer)

"""The Trainer: runs a module through training, validation, testing and prediction."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor
from torch.optim import Optimizer

from relight.trainer import connect, run
from relight.trainer.backend import Backend
from relight.trainer.eval_loop import EvaluationLoop
from relight.trainer.fit_loop import FitLoop
from relight.trainer.hooks import HOOK_ORDER, Hooks, Order
from relight.trainer.logging import LoggerConnector
from relight.trainer.messages import (
    argument_names,
    check_legacy_hooks,
    unknown_arguments,
    unknown_entry_point_arguments,
)
from relight.trainer.optimizers import configure_optimizers
from relight.trainer.options import UNSET, Options, Unset, settle, whole_number
from relight.trainer.predict_loop import PredictionLoop
from relight.trainer.properties import TrainerProperties
from relight.trainer.scope import Scope
from relight.trainer.signals import Signals
from relight.trainer.states import RunningStage, TrainerFn, TrainerState
from relight.utilities.exceptions import MisconfigurationException

if TYPE_CHECKING:  # `relight.cli` reads these annotations
    from lightning_fabric.accelerators.accelerator import Accelerator
    from lightning_fabric.plugins import CheckpointIO, ClusterEnvironment, Precision
    from lightning_fabric.strategies.strategy import Strategy

    from relight.callbacks import Callback
    from relight.core.optimizer import LightningOptimizer
    from relight.datamodule import LightningDataModule
    from relight.loggers.logger import Logger
    from relight.module import LightningModule
    from relight.plugins import LayerSync
    from relight.profilers import Profiler
    from relight.trainer.epoch_loop import EpochLoop
    from relight.trainer.step import Step
    from relight.utilities.types import LRSchedulerConfig

    Plugin = Precision | ClusterEnvironment | CheckpointIO | LayerSync

__all__ = ["Trainer"]

F = TypeVar("F", bound=Callable[..., Any])
Path = str | os.PathLike[str]


def _explains_unknown(init: F) -> F:
    """Make ``TypeError`` of unknown arguments say what to write instead."""

    @functools.wraps(init)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        known = argument_names(init)
        if args:
            raise TypeError("Trainer() takes keyword arguments only")
        if unknown := [name for name in kwargs if name not in known]:
            raise TypeError(unknown_arguments(unknown, known, Options.names()))
        init(self, **kwargs)

    return wrapper  # type: ignore[return-value]


def _explains_unknown_of_entry_point(entry_point: F) -> F:
    """The same for an entry point."""
    known = argument_names(entry_point)

    @functools.wraps(entry_point)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if unknown := [name for name in kwargs if name not in known]:
            raise TypeError(unknown_entry_point_arguments(entry_point.__name__, unknown, known))
        return entry_point(self, *args, **kwargs)

    return wrapper  # type: ignore[return-value]


class Trainer(TrainerProperties):
    """Runs a :class:`LightningModule`.

    What one entry point alone needs is an argument of that entry point (:meth:`fit`, :meth:`validate`,
    :meth:`test`, :meth:`predict`); everything else is here, a callback, a plugin, or a property of the
    module.
    """

    hook_order: Mapping[str, Order] = HOOK_ORDER
    _saver: Callback | None = None  # the callback that saves a checkpoint now
    _saves_again: tuple[int, str] | None = None  # it, and the hook, if the file was saved in a run before
    _ends_alone = False  # whether this process ends by an exception that others may not have
    #: Whether callbacks get their state from a checkpoint that is validated, tested or predicted with, too.
    restores_callbacks = True

    @_explains_unknown
    def __init__(
        self,
        *,
        accelerator: str | Accelerator = "auto",
        strategy: str | Strategy = "auto",
        devices: list[int] | str | int = "auto",
        num_nodes: int = 1,
        precision: int | str | None = None,
        plugins: Plugin | list[Plugin] | None = None,
        callbacks: list[Callback | str] | Callback | str | None = None,
        logger: Logger | list[Logger] | bool | None = None,
        profiler: Profiler | str | None = None,
        default_root_dir: Path | None = None,
        enable_checkpointing: bool | None = None,
        enable_progress_bar: bool | None = None,
        max_epochs: int | None = None,
        max_steps: int = -1,
        fast_dev_run: int | bool = False,
        options: Options | Mapping[str, Any] | None = None,
    ) -> None:
        """Say where to run, what to plug in, and for how long.

        Args:
            accelerator: ``"cpu"``, ``"gpu"``, ``"tpu"``, ``"mps"``, ``"auto"`` or an accelerator of Lightning
                Fabric.
            strategy: ``"ddp"``, ``"fsdp"``, ``"deepspeed"`` …, ``"auto"`` or a strategy of Lightning Fabric.
            devices: How many (int), which (list, or text such as ``"0,1"``), -1 for all, or ``"auto"``.
            num_nodes: How many machines.
            precision: ``"32-true"`` (also for ``None``), ``"16-mixed"``, ``"bf16-mixed"``, ``"64-true"`` …
            plugins: Plugins of Lightning Fabric and :mod:`relight.plugins`.
            callbacks: Callbacks, or the names of registered ones.
            logger: A logger, a list of them, False for none; ``None`` and True make the default one.
            profiler: A profiler, ``"simple"``, ``"advanced"`` or ``"pytorch"``.
            default_root_dir: Where loggers and checkpoints write unless told otherwise; the working
                directory.
            enable_checkpointing: False for no ``ModelCheckpoint``; otherwise one is added if none is given.
            enable_progress_bar: False for no progress bar; otherwise one is added if none is given.
            max_epochs: When to stop; -1 for no limit, ``None`` for 1000 unless ``max_steps`` is set.
            max_steps: When to stop, in optimizer steps; -1 for no limit.
            fast_dev_run: Run this number of batches (True: 1) of everything, without logs and checkpoints.
            options: Defaults for the entry points' own arguments.

        Raises:
            TypeError: For an argument that does not exist, naming the modern spelling of a legacy one.
            MisconfigurationException: For values that do not go together.
        """
        max_epochs = None if max_epochs is None else whole_number(max_epochs, "max_epochs")
        max_steps = whole_number(max_steps, "max_steps")
        if fast_dev_run < 0:
            raise MisconfigurationException(f"`fast_dev_run` is a number of batches; not {fast_dev_run}")
        self.options = Options.make(options)
        self.fast_dev_run: int | bool = True if fast_dev_run == 1 else fast_dev_run
        self._default_root_dir = os.fspath(default_root_dir) if default_root_dir is not None else os.getcwd()
        self._backend = Backend(accelerator, strategy, devices, num_nodes, precision, plugins)
        self._logger_connector = LoggerConnector(self)
        self._scope = Scope()
        self.state = TrainerState()
        self.should_stop = False
        self._signals = Signals(self)

        self.max_steps = int(fast_dev_run) if fast_dev_run else max_steps
        self.fit_loop = FitLoop(self)
        self.fit_loop.max_epochs = 1 if fast_dev_run else max_epochs
        self.validate_loop = EvaluationLoop(self, TrainerFn.VALIDATING, RunningStage.VALIDATING)
        self.test_loop = EvaluationLoop(self, TrainerFn.TESTING, RunningStage.TESTING)
        self.predict_loop = PredictionLoop(self)

        self.callbacks: list[Callback] = connect.make_callbacks(
            callbacks, enable_checkpointing, enable_progress_bar
        )
        self.loggers = connect.make_loggers(logger, self.default_root_dir)
        if fast_dev_run and self.loggers:
            from relight.loggers import DummyLogger

            self.loggers = [DummyLogger()]
        self.profiler = connect.make_profiler(profiler)
        self._active_profiler = connect.active(self.profiler)

        # What the entry points set
        self.limit_train_batches: int | float
        self.limit_val_batches: int | float
        self.limit_test_batches: int | float
        self.limit_predict_batches: int | float
        self.overfit_batches: int | float
        self.val_check_interval: int | float
        self.val_check_batch: int | float | None = None
        self.check_val_every_n_epoch: int | None
        self.num_sanity_val_steps: int | float
        self.accumulate_grad_batches: int
        self.gradient_clip_val: float | None
        self.gradient_clip_algorithm: str | None
        self.log_every_n_steps: int
        self.reload_dataloaders_every_n_epochs: int
        self.use_distributed_sampler: bool
        self.detect_anomaly: bool
        self.inference_mode: bool | None
        self._val_check_seconds: float | None
        self._last_val_time = 0.0
        settle(self, Options())

        # What a run sets
        self._module: LightningModule | None = None
        self.datamodule: LightningDataModule | None = None
        self._optimizers: list[Optimizer] = []
        self._lightning_optimizers: list[LightningOptimizer] = []
        self.lr_scheduler_configs: list[LRSchedulerConfig] = []
        self._hooks: Hooks | None = None
        self._step: Step | None = None
        self._transfer: Callable[[Any, int], Any] | None = None
        self._stopping_conditions: list[Any] = []
        self._validates: bool | None = None
        self._ckpt_path: Path | None = None
        self._user_managed_ckpt_path = False
        self._loaded_checkpoint: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what a run bound to this very object; the next one binds it anew."""
        return {**vars(self), "_hooks": None, "_step": None, "_transfer": None}

    # Entry points

    @_explains_unknown_of_entry_point
    def fit(
        self,
        model: LightningModule,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        datamodule: LightningDataModule | None = None,
        ckpt_path: Path | None = None,
        *,
        weights_only: bool | None = None,
        limit_train_batches: int | float | None = None,
        limit_val_batches: int | float | None = None,
        overfit_batches: int | float | None = None,
        val_check_interval: int | float | str | timedelta | dict[str, Any] | None = None,
        check_val_every_n_epoch: int | Unset | None = UNSET,
        num_sanity_val_steps: int | None = None,
        accumulate_grad_batches: int | None = None,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
        log_every_n_steps: int | None = None,
        reload_dataloaders_every_n_epochs: int | None = None,
        use_distributed_sampler: bool | None = None,
        detect_anomaly: bool | None = None,
        inference_mode: bool | None = None,
    ) -> None:
        """Train ``model``.

        Args:
            model: The module.
            train_dataloaders: The training loader, a collection of them, or a data module; the module's own
                if ``None``.
            val_dataloaders: The validation loader(s); the module's own if ``None``.
            datamodule: Brings all loaders.
            ckpt_path: A checkpoint to go on from: a path, ``"best"``, ``"last"`` or ``"hpc"``.
            weights_only: ``None`` and True load data only; False runs whatever code the file carries.
            limit_train_batches: See :class:`Options`, as for all that follow.
            limit_val_batches: Batches of a validation.
            overfit_batches: Batches to train on again and again.
            val_check_interval: How often validation runs.
            check_val_every_n_epoch: In which epochs validation runs.
            num_sanity_val_steps: Validation batches before training.
            accumulate_grad_batches: Batches to an optimizer step.
            gradient_clip_val: Where gradients are clipped.
            gradient_clip_algorithm: How gradients are clipped.
            log_every_n_steps: How often loggers are told.
            reload_dataloaders_every_n_epochs: How often loaders are asked for again.
            use_distributed_sampler: Whether loaders are split over processes.
            detect_anomaly: Whether to look for the origin of NaN gradients.
            inference_mode: Whether validation within fit runs in ``torch.inference_mode``.

        Raises:
            MisconfigurationException: If module, data and options do not go together.
            NotImplementedError: If the module has legacy hooks that nothing calls any more.
            FileNotFoundError: If there is no checkpoint at ``ckpt_path``.
        """
        settle(self, Options(
            limit_train_batches=limit_train_batches, limit_val_batches=limit_val_batches,
            overfit_batches=overfit_batches, val_check_interval=val_check_interval,
            check_val_every_n_epoch=check_val_every_n_epoch, num_sanity_val_steps=num_sanity_val_steps,
            accumulate_grad_batches=accumulate_grad_batches, gradient_clip_val=gradient_clip_val,
            gradient_clip_algorithm=gradient_clip_algorithm, log_every_n_steps=log_every_n_steps,
            reload_dataloaders_every_n_epochs=reload_dataloaders_every_n_epochs,
            use_distributed_sampler=use_distributed_sampler, detect_anomaly=detect_anomaly,
            inference_mode=inference_mode,
        ))  # fmt: skip
        self.fit_loop.epoch_loop.val_loop.inference_mode = bool(inference_mode)
        self.should_stop = False
        run.enter(
            self, TrainerFn.FITTING, model, train=train_dataloaders, val=val_dataloaders,
            datamodule=datamodule,
            ckpt_path=ckpt_path, weights_only=weights_only,
        )  # fmt: skip

    @_explains_unknown_of_entry_point
    def validate(
        self,
        model: LightningModule | None = None,
        dataloaders: Any = None,
        ckpt_path: Path | None = None,
        verbose: bool = True,
        datamodule: LightningDataModule | None = None,
        *,
        weights_only: bool | None = None,
        limit_batches: int | float | None = None,
        inference_mode: bool | None = None,
    ) -> list[Mapping[str, float]]:
        """Validate ``model``.

        Args:
            model: The module; that of the last entry point if ``None``.
            dataloaders: The loader(s), or a data module; the module's own if ``None``.
            ckpt_path: Weights to load: a path, ``"best"``, ``"last"`` or ``"hpc"``. Without a module, the
                best.
            verbose: Whether to print the results.
            datamodule: Brings the loaders.
            weights_only: ``None`` and True load data only; False runs whatever code the file carries.
            limit_batches: Number (int) or share (float) of the batches of each loader.
            inference_mode: Whether to run in ``torch.inference_mode`` (``None``: yes) or ``torch.no_grad``.

        Returns:
            What was logged, as numbers, one dict a loader.
        """
        settle(self, Options(limit_val_batches=limit_batches, inference_mode=inference_mode))
        self.validate_loop.verbose = verbose
        self.validate_loop.inference_mode = self.inference_mode is not False
        return run.enter(  # type: ignore[no-any-return]
            self, TrainerFn.VALIDATING, model, val=dataloaders, datamodule=datamodule, ckpt_path=ckpt_path,
            weights_only=weights_only,
        )  # fmt: skip

    @_explains_unknown_of_entry_point
    def test(
        self,
        model: LightningModule | None = None,
        dataloaders: Any = None,
        ckpt_path: Path | None = None,
        verbose: bool = True,
        datamodule: LightningDataModule | None = None,
        *,
        weights_only: bool | None = None,
        limit_batches: int | float | None = None,
        inference_mode: bool | None = None,
    ) -> list[Mapping[str, float]]:
        """Test ``model``; arguments and result as for :meth:`validate`."""
        settle(self, Options(limit_test_batches=limit_batches, inference_mode=inference_mode))
        self.test_loop.verbose = verbose
        self.test_loop.inference_mode = self.inference_mode is not False
        return run.enter(  # type: ignore[no-any-return]
            self, TrainerFn.TESTING, model, test=dataloaders, datamodule=datamodule, ckpt_path=ckpt_path,
            weights_only=weights_only,
        )  # fmt: skip

    @_explains_unknown_of_entry_point
    def predict(
        self,
        model: LightningModule | None = None,
        dataloaders: Any = None,
        datamodule: LightningDataModule | None = None,
        return_predictions: bool | None = None,
        ckpt_path: Path | None = None,
        *,
        weights_only: bool | None = None,
        limit_batches: int | float | None = None,
        inference_mode: bool | None = None,
    ) -> Any:
        """Predict with ``model``; arguments as for :meth:`validate`.

        Returns:
            What ``predict_step`` returned, on the CPU: a list of batches, or one for each of several loaders;
            ``None`` if ``return_predictions`` is False.
        """
        settle(self, Options(limit_predict_batches=limit_batches, inference_mode=inference_mode))
        self.predict_loop.return_predictions = return_predictions
        self.predict_loop.inference_mode = self.inference_mode is not False
        return run.enter(
            self, TrainerFn.PREDICTING, model, predict=dataloaders, datamodule=datamodule,
            ckpt_path=ckpt_path,
            weights_only=weights_only,
        )  # fmt: skip

    # Tools

    def save_checkpoint(
        self, filepath: Path, weights_only: bool | None = None, storage_options: Any = None
    ) -> None:
        """Write a checkpoint that this Trainer and Lightning 2.x can read; call it in all processes.

        Args:
            filepath: Where to.
            weights_only: Leave out the state of optimizers, schedulers and callbacks.
            storage_options: Options of a checkpoint plugin.

        Raises:
            AttributeError: If there is no module yet.
        """
        from relight.checkpoint import dump, write

        if self._module is None:
            raise AttributeError("There is nothing to save before an entry point was given a module")
        with self._profile("save_checkpoint"):
            write(self, dump(self, bool(weights_only)), filepath, storage_options)
            self.strategy.barrier("Trainer.save_checkpoint")

    def print(self, *args: Any, **kwargs: Any) -> None:
        """Print in the first process of each machine."""
        if self.local_rank == 0:
            print(*args, **kwargs)

    def init_module(self, empty_init: bool | None = None) -> AbstractContextManager[Any]:
        """Return a context in which modules are made on the device and in the precision of this Trainer."""
        return self._backend.fabric.init_module(empty_init=empty_init)

    # What the other parts use

    def _profile(self, entry: str) -> AbstractContextManager[Any]:
        profiler = self._active_profiler
        return profiler.profile(entry) if profiler is not None else nullcontext()

    def _call(self, hook: str, *args: Any, **kwargs: Any) -> Any:
        """Give a hook to the module and the callbacks that override it."""
        assert self._hooks is not None
        return self._hooks.call(hook, *args, **kwargs)

    def _make_hooks(self) -> Hooks:
        """Return the hooks of a run; compat's also call what 1.x had."""
        return Hooks(self)

    def _check_legacy_hooks(self, fn: str) -> None:
        """Refuse a module with hooks that nothing would call; compat calls them."""
        check_legacy_hooks(self.lightning_module, fn)

    def _read_optimizers(self, returned: Any) -> tuple[list[Optimizer], list[LRSchedulerConfig]]:
        """Return optimizers and schedulers of what ``configure_optimizers`` returned; compat takes more
        forms.
        """
        return configure_optimizers(returned, self.lightning_module)

    def _make_step(self, loop: EpochLoop) -> Step:
        """Return what runs a training batch; compat has other ways."""
        return loop.make_step()

    def _backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        assert self._step is not None
        self._step.backward(loss, *args, **kwargs)

    def _optimizer_step(self, optimizer: Optimizer, closure: Callable[[], Any], **kwargs: Any) -> Any:
        if self._step is None:
            closure()
            return optimizer.step(**kwargs)
        return self._step.optimizer_step(optimizer, closure, **kwargs)

    def _print_results(self, outputs: list[dict[str, Tensor]], stage: RunningStage) -> None:
        from relight.trainer.tables import print_results

        print_results(outputs, stage)

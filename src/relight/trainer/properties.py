"""What a Trainer can be asked: the public attributes, as in Lightning 2.6."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from relight.trainer.states import RunningStage, TrainerFn, TrainerState, TrainerStatus
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_info

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from torch.optim import Optimizer

    from relight.callbacks import Callback
    from relight.core.optimizer import LightningOptimizer
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule
    from relight.trainer.backend import Backend
    from relight.trainer.eval_loop import EvaluationLoop
    from relight.trainer.fit_loop import FitLoop
    from relight.trainer.logging import LoggerConnector
    from relight.trainer.predict_loop import PredictionLoop
    from relight.trainer.results import ResultCollection
    from relight.trainer.signals import Signals
    from relight.utilities.types import LRSchedulerConfig

__all__ = ["TrainerProperties"]


class TrainerProperties:
    """Read-only views (and a few setters) on the parts of a Trainer."""

    _backend: Backend
    _logger_connector: LoggerConnector
    _module: LightningModule | None
    _optimizers: list[Optimizer]
    _lightning_optimizers: list[LightningOptimizer]
    _default_root_dir: str
    _signals: Signals
    _validates: bool | None
    _ckpt_path: str | os.PathLike[str] | None
    _user_managed_ckpt_path: bool
    callbacks: list[Callback]
    _loggers: list[Any]
    datamodule: LightningDataModule | None
    fit_loop: FitLoop
    validate_loop: EvaluationLoop
    test_loop: EvaluationLoop
    predict_loop: PredictionLoop
    lr_scheduler_configs: list[LRSchedulerConfig]
    limit_val_batches: int | float
    num_sanity_val_steps: int | float
    accumulate_grad_batches: int
    max_steps: int
    state: TrainerState

    # Where it runs

    @property
    def strategy(self) -> Any:
        """Lightning Fabric's strategy."""
        return self._backend.strategy

    @property
    def accelerator(self) -> Any:
        """Lightning Fabric's accelerator."""
        return self._backend.fabric.accelerator

    @property
    def precision(self) -> str:
        """The precision, such as ``"32-true"``."""
        return str(self._backend.precision_plugin.precision)

    @property
    def precision_plugin(self) -> Any:
        """Lightning Fabric's precision plugin."""
        return self._backend.precision_plugin

    @property
    def scaler(self) -> Any:
        """The gradient scaler of half precision, ``None`` otherwise."""
        return self._backend.scaler

    @property
    def global_rank(self) -> int:
        """The index of this process among all."""
        return self._backend.fabric.global_rank

    @property
    def local_rank(self) -> int:
        """The index of this process on its machine."""
        return self._backend.fabric.local_rank

    @property
    def node_rank(self) -> int:
        """The index of this machine."""
        return self._backend.fabric.node_rank

    @property
    def world_size(self) -> int:
        """The number of processes."""
        return self._backend.fabric.world_size

    @property
    def num_nodes(self) -> int:
        """The number of machines."""
        return getattr(self.strategy, "num_nodes", 1)

    @property
    def is_global_zero(self) -> bool:
        """Whether this is the first process of all."""
        return bool(self._backend.fabric.is_global_zero)

    @property
    def device_ids(self) -> list[int]:
        """The indices of the devices on this machine."""
        return [device.index or i for i, device in enumerate(self._backend.devices)]

    @property
    def num_devices(self) -> int:
        """The number of devices on this machine."""
        return len(self.device_ids)

    # The module and what trains it

    @property
    def lightning_module(self) -> LightningModule:
        """The module as the user wrote it (``None`` before the first entry point)."""
        return self._module  # type: ignore[return-value]

    @property
    def model(self) -> nn.Module | None:
        """The module, wrapped if the strategy wraps it."""
        return self._backend.model if self._backend.model is not None else self._module

    @property
    def optimizers(self) -> list[Optimizer]:
        """The optimizers."""
        return self._optimizers

    @optimizers.setter
    def optimizers(self, optimizers: list[Optimizer]) -> None:
        from relight.core.optimizer import LightningOptimizer

        self._optimizers = optimizers
        self._lightning_optimizers = [
            opt if isinstance(opt, LightningOptimizer) else LightningOptimizer(opt, self)  # type: ignore[arg-type]
            for opt in optimizers
        ]
        for optimizer in self._lightning_optimizers:
            optimizer._trainer = self  # type: ignore[assignment]

    # Callbacks and loggers

    @property
    def loggers(self) -> list[Any]:
        """The loggers."""
        return self._loggers

    @loggers.setter
    def loggers(self, loggers: list[Any] | None) -> None:
        self._loggers = loggers or []

    @property
    def logger(self) -> Any:
        """The first logger or ``None``."""
        return self.loggers[0] if self.loggers else None

    @logger.setter
    def logger(self, logger: Any) -> None:
        self.loggers = [logger] if logger else []

    def _callbacks_of(self, name: str) -> list[Any]:
        import relight.callbacks

        return [
            callback for callback in self.callbacks if isinstance(callback, getattr(relight.callbacks, name))
        ]

    @property
    def checkpoint_callbacks(self) -> list[Any]:
        """All callbacks that write checkpoints."""
        return self._callbacks_of("Checkpoint")

    @property
    def checkpoint_callback(self) -> Any:
        """The first callback that writes checkpoints, or ``None``."""
        return next(iter(self.checkpoint_callbacks), None)

    @property
    def early_stopping_callbacks(self) -> list[Any]:
        """All ``EarlyStopping`` callbacks."""
        return self._callbacks_of("EarlyStopping")

    @property
    def early_stopping_callback(self) -> Any:
        """The first ``EarlyStopping`` callback or ``None``."""
        return next(iter(self.early_stopping_callbacks), None)

    @property
    def progress_bar_callback(self) -> Any:
        """The progress bar or ``None``."""
        return next(iter(self._callbacks_of("ProgressBar")), None)

    @property
    def callback_metrics(self) -> dict[str, Tensor]:
        """What callbacks can monitor."""
        return self._logger_connector.callback_metrics

    @property
    def logged_metrics(self) -> dict[str, Tensor]:
        """What was sent to the loggers."""
        return self._logger_connector.logged_metrics

    @property
    def progress_bar_metrics(self) -> dict[str, Any]:
        """What the progress bar shows."""
        return self._logger_connector.progress_bar_metrics

    # Paths

    @property
    def default_root_dir(self) -> str:
        """Where loggers and checkpoints write unless told otherwise; the working directory unless given."""
        path = self._default_root_dir
        return path if "://" in path else os.path.normpath(os.path.expanduser(path))

    @property
    def log_dir(self) -> str | None:
        """The directory of the first logger, else ``default_root_dir``. Ask in all processes."""
        directory: Any = self.default_root_dir
        if self.loggers:
            first = self.loggers[0]
            directory = getattr(first, "log_dir", None) or first.save_dir
        return self.strategy.broadcast(directory)  # type: ignore[no-any-return]

    @property
    def ckpt_path(self) -> str | os.PathLike[str] | None:
        """The checkpoint that the last entry point loaded; set it to have the next ones load it."""
        return self._ckpt_path

    @ckpt_path.setter
    def ckpt_path(self, path: str | os.PathLike[str] | None) -> None:
        self._ckpt_path = path
        self._user_managed_ckpt_path = bool(path)

    # State

    def _set_stage(self, stage: RunningStage, on: bool) -> None:
        if on:
            self.state.stage = stage
        elif self.state.stage == stage:
            self.state.stage = None

    @property
    def training(self) -> bool:
        """Whether training runs."""
        return self.state.stage == RunningStage.TRAINING

    @training.setter
    def training(self, on: bool) -> None:
        self._set_stage(RunningStage.TRAINING, on)

    @property
    def validating(self) -> bool:
        """Whether validation runs."""
        return self.state.stage == RunningStage.VALIDATING

    @validating.setter
    def validating(self, on: bool) -> None:
        self._set_stage(RunningStage.VALIDATING, on)

    @property
    def testing(self) -> bool:
        """Whether testing runs."""
        return self.state.stage == RunningStage.TESTING

    @testing.setter
    def testing(self, on: bool) -> None:
        self._set_stage(RunningStage.TESTING, on)

    @property
    def predicting(self) -> bool:
        """Whether prediction runs."""
        return self.state.stage == RunningStage.PREDICTING

    @predicting.setter
    def predicting(self, on: bool) -> None:
        self._set_stage(RunningStage.PREDICTING, on)

    @property
    def sanity_checking(self) -> bool:
        """Whether the sanity check before training runs."""
        return self.state.stage == RunningStage.SANITY_CHECKING

    @sanity_checking.setter
    def sanity_checking(self, on: bool) -> None:
        self._set_stage(RunningStage.SANITY_CHECKING, on)

    @property
    def evaluating(self) -> bool:
        """Whether validation, testing or the sanity check runs."""
        return self.state.stage is not None and self.state.stage.evaluating

    @property
    def interrupted(self) -> bool:
        """Whether the last entry point ended before its time."""
        return self.state.status == TrainerStatus.INTERRUPTED

    @property
    def received_sigterm(self) -> bool:
        """Whether the process was asked to end."""
        signals = self._signals
        return signals.term if self.training else signals.term_here

    # Progress

    @property
    def current_epoch(self) -> int:
        """The number of epochs completed, so the index of the one that runs."""
        return self.fit_loop.epoch_progress.current.completed

    @property
    def global_step(self) -> int:
        """The number of optimizer steps taken, of all optimizers together."""
        return self.fit_loop.epoch_loop.global_step

    @property
    def max_epochs(self) -> int | None:
        """The largest number of epochs, -1 for no limit, ``None`` until fit settles it."""
        return self.fit_loop.max_epochs

    def _minimum(self, name: str) -> int | None:
        values = [getattr(condition, name) for condition in self._callbacks_of("TrainAtLeast")]
        return max((value for value in values if value is not None), default=None)

    @property
    def min_epochs(self) -> int | None:
        """The smallest number of epochs, from ``TrainAtLeast``."""
        return self._minimum("epochs")

    @property
    def min_steps(self) -> int | None:
        """The smallest number of optimizer steps, from ``TrainAtLeast``."""
        return self._minimum("steps")

    @property
    def is_last_batch(self) -> bool:
        """Whether the batch that runs is the last of its epoch."""
        return self.fit_loop.epoch_loop.batch_progress.is_last_batch

    @property
    def estimated_stepping_batches(self) -> int | float:
        """The number of optimizer steps that fit will take, if it can be told; loads the training data."""
        if self.max_epochs == -1:
            return math.inf if self.max_steps == -1 else self.max_steps
        if self.train_dataloader is None:
            rank_zero_info("Loading the training data to count its batches.")
            self.fit_loop.setup_data()
        batches = self.num_training_batches
        if batches == math.inf:
            return self.max_steps
        assert self.max_epochs is not None
        steps = math.ceil(batches / self.accumulate_grad_batches) * max(self.max_epochs, 1)
        return min(steps, self.max_steps) if self.max_steps != -1 else steps

    # Data

    @property
    def train_dataloader(self) -> Any:
        """The training loader(s) in use."""
        combined = self.fit_loop.combined_loader
        return combined.iterables if combined is not None else None

    @property
    def val_dataloaders(self) -> Any:
        """The validation loader(s) in use, of fit or of validate."""
        for loop in (self.fit_loop.epoch_loop.val_loop, self.validate_loop):
            if loop.combined_loader is not None:
                return loop.combined_loader.iterables
        return None

    @property
    def test_dataloaders(self) -> Any:
        """The test loader(s) in use."""
        combined = self.test_loop.combined_loader
        return combined.iterables if combined is not None else None

    @property
    def predict_dataloaders(self) -> Any:
        """The predict loader(s) in use."""
        combined = self.predict_loop.combined_loader
        return combined.iterables if combined is not None else None

    @property
    def num_training_batches(self) -> int | float:
        """The number of training batches of an epoch, infinity if unknown."""
        return self.fit_loop.max_batches

    @property
    def num_sanity_val_batches(self) -> list[int | float]:
        """The number of batches of each loader in the sanity check."""
        return [min(self.num_sanity_val_steps, n) for n in self.fit_loop.epoch_loop.val_loop.batches]

    @property
    def num_val_batches(self) -> list[int | float]:
        """The number of batches of each validation loader."""
        if self.state.fn == TrainerFn.VALIDATING:
            return self.validate_loop.batches
        return self.fit_loop.epoch_loop.val_loop.batches

    @property
    def num_test_batches(self) -> list[int | float]:
        """The number of batches of each test loader."""
        return self.test_loop.batches

    @property
    def num_predict_batches(self) -> list[int | float]:
        """The number of batches of each predict loader."""
        return self.predict_loop.max_batches

    @property
    def enable_validation(self) -> bool:
        """Whether fit validates: there is a loader and a step, and batches are allowed."""
        if self._validates is None:  # asked after every batch, and the same all along an entry point
            from relight.module import LightningModule

            self._validates = (
                self.fit_loop.epoch_loop.val_loop.source.is_defined()
                and is_overridden("validation_step", self.lightning_module, LightningModule)
                and self.limit_val_batches > 0
            )
        return self._validates

    @property
    def distributed_sampler_kwargs(self) -> dict[str, Any] | None:
        """What a distributed sampler of this process is built with, ``None`` with one process."""
        return getattr(self.strategy, "distributed_sampler_kwargs", None)

    # Loops

    @property
    def _active_loop(self) -> Any:
        stage = self.state.stage
        if stage == RunningStage.TRAINING:
            return self.fit_loop
        if stage == RunningStage.PREDICTING:
            return self.predict_loop
        if stage is None:
            return None
        return {
            TrainerFn.VALIDATING: self.validate_loop,
            TrainerFn.TESTING: self.test_loop,
        }.get(self.state.fn, self.fit_loop.epoch_loop.val_loop)  # type: ignore[arg-type]

    @property
    def _results(self) -> ResultCollection | None:
        if self.state.stage == RunningStage.TRAINING:
            return self.fit_loop.epoch_loop.results
        loop = self._active_loop
        return loop.results if loop is not None else None

    @property
    def device(self) -> torch.device:
        """The device of this process."""
        return self._backend.device

"""How much a run gets done in a second, as metrics for the loggers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from relight.callbacks.callback import Callback
from relight.trainer.states import RunningStage, TrainerFn
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from lightning_fabric.utilities.throughput import Throughput

    from relight.module import LightningModule
    from relight.trainer import Trainer
    from relight.utilities.types import STEP_OUTPUT

__all__ = ["ThroughputMonitor"]


class ThroughputMonitor(Callback):
    """Log batches, samples, items and FLOPs a second, with Lightning Fabric's ``Throughput``.

    What is logged is called ``train/time``, ``validate/device/samples_per_sec`` and the like (as in Lightning
    2.6), over a window of the last batches and as often as metrics of a step are. A module that has
    ``flops_per_batch`` (see ``lightning_fabric.utilities.throughput.measure_flops``) has its FLOPs logged,
    too, and how much of the device they use where the device is known.

    Args:
        batch_size_fn: returns how many samples are in a batch; all batches should have as many.
        length_fn: returns how many items, such as tokens, are in a sample of a batch.
        kwargs: more arguments of ``Throughput``: ``window_size`` (100 batches), ``separator`` (``"/"``).
    """

    def __init__(
        self,
        batch_size_fn: Callable[[Any], int],
        length_fn: Callable[[Any], int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.batch_size_fn = batch_size_fn
        self.length_fn = length_fn
        self.kwargs = kwargs
        self.available_flops: float | None = None
        self._throughputs: dict[RunningStage, Throughput] = {}
        self._meters: dict[RunningStage, _Meter] = {}
        self._has_flops: bool | None = None

    # Beginning

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Ask what the device can do, and make the windows."""
        from lightning_fabric.utilities.throughput import Throughput, get_available_flops

        device = trainer.strategy.root_device
        self.available_flops = get_available_flops(device, _computes_in(trainer.precision_plugin))
        stages = [trainer.state.stage]
        if stage == TrainerFn.FITTING and trainer.enable_validation:
            stages.append(RunningStage.VALIDATING)
        for each in stages:
            assert each is not None
            self._throughputs[each] = Throughput(
                available_flops=self.available_flops, world_size=trainer.world_size, **self.kwargs
            )

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock."""
        self._start(trainer)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock."""
        if not trainer.sanity_checking:
            self._start(trainer)

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock."""
        self._start(trainer)

    def on_predict_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock."""
        self._start(trainer)

    # Measuring

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: STEP_OUTPUT, batch: Any, batch_idx: int
    ) -> None:
        """Count a batch; log once its optimizer step is in the time, too."""
        if self._update(trainer, pl_module, batch) and not trainer.fit_loop.epoch_loop.should_accumulate():
            self._log(trainer)

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count a batch and log."""
        if not trainer.sanity_checking and self._update(trainer, pl_module, batch):
            self._log(trainer, trainer._active_loop.batch_progress.total.ready)

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count a batch and log."""
        if self._update(trainer, pl_module, batch):
            self._log(trainer, trainer._active_loop.batch_progress.total.ready)

    def on_predict_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count a batch and log."""
        if self._update(trainer, pl_module, batch):
            self._log(trainer, trainer._active_loop.batch_progress.total.ready)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the time of a validation within a fit out of the training's."""
        training = self._meters.get(RunningStage.TRAINING)
        validation = self._meters.get(RunningStage.VALIDATING)
        if trainer.sanity_checking or trainer.state.fn != TrainerFn.FITTING:
            return
        if training is not None and validation is not None:
            trained_until = training.start + training.elapsed
            training.start += validation.start + validation.elapsed - trained_until

    def _start(self, trainer: Trainer) -> None:
        stage = trainer.state.stage
        if not trainer.is_global_zero or stage is None:
            return
        meter = self._meters.get(stage)
        if meter is None or trainer.state.fn == TrainerFn.FITTING:
            self._throughputs[stage].reset()
            self._meters[stage] = meter = _Meter()
        meter.start = time.perf_counter()

    @torch.inference_mode()  # in case the functions compute with the batch
    def _update(self, trainer: Trainer, pl_module: LightningModule, batch: Any) -> bool:
        """Count a batch; return whether this process does."""
        stage = trainer.state.stage
        if not trainer.is_global_zero or stage is None:
            return False
        if trainer.strategy.root_device.type == "cuda":
            torch.cuda.synchronize()  # else the clock shows when work was handed out, not when it was done
        meter = self._meters[stage]
        meter.elapsed = time.perf_counter() - meter.start
        if self.length_fn is not None:
            meter.lengths += self.length_fn(batch)
        if self._has_flops is None:
            self._has_flops = hasattr(pl_module, "flops_per_batch")
            if not self._has_flops:
                rank_zero_warn(
                    f"{type(self).__name__} logs no FLOPs: `{type(pl_module).__name__}` has no"
                    " `flops_per_batch`, an attribute or a property"
                )
        meter.samples += self.batch_size_fn(batch)
        meter.batches += 1
        self._throughputs[stage].update(
            time=meter.elapsed,
            batches=meter.batches,
            samples=meter.samples,
            lengths=None if self.length_fn is None else meter.lengths,
            flops=pl_module.flops_per_batch if self._has_flops else None,  # type: ignore[arg-type]
        )
        return True

    def _log(self, trainer: Trainer, step: int | None = None) -> None:
        connector, stage = trainer._logger_connector, trainer.state.stage
        if not connector.should_update_logs or stage is None:
            return
        throughput = self._throughputs[stage]
        metrics: Any = throughput.compute()
        connector.log_metrics(
            {f"{stage.value}{throughput.separator}{name}": value for name, value in metrics.items()}, step
        )


class _Meter:
    """The sums of one stage."""

    def __init__(self) -> None:
        self.start = 0.0
        self.elapsed = 0.0  # seconds from the start to the end of the last batch
        self.batches = self.samples = self.lengths = 0


def _computes_in(precision: Any) -> torch.dtype:
    """Return the type in which a precision plugin of Lightning Fabric computes."""
    name = str(precision.precision)
    if name.startswith("transformer-engine"):
        return torch.int8
    for part, dtype in (("bf16", torch.bfloat16), ("16", torch.half), ("64", torch.double)):
        if name.startswith(part):
            return dtype
    return torch.float32

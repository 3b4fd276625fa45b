"""Log memory and load of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class DeviceStatsMonitor(Callback):
    """Log the device's statistics before and after each batch, when the loggers are due.

    Names are ``DeviceStatsMonitor.<hook>/<name>``. CPU: ``cpu_percent``, ``cpu_vm_percent``,
    ``cpu_swap_percent`` (percent of the whole system, needs ``psutil``). CUDA: ``torch.cuda.memory_stats``
    (bytes and counts).

    Args:
        cpu_stats: log those of the CPU too; None for when the model runs on it, False never.

    Raises:
        MisconfigurationException: in a fit without a logger.
        ModuleNotFoundError: if ``psutil`` is needed and missing.
    """

    def __init__(self, cpu_stats: bool | None = None) -> None:
        self._cpu_stats = cpu_stats

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Refuse what cannot work."""
        if stage != "fit":
            return
        if not trainer.loggers:
            raise MisconfigurationException("Cannot use `DeviceStatsMonitor` callback with no logger.")
        if self._wants_cpu(trainer.strategy.root_device):
            _cpu_stats()

    def _wants_cpu(self, device: torch.device) -> bool:
        return self._cpu_stats is True or (self._cpu_stats is None and device.type == "cpu")

    def _log(self, trainer: Trainer, hook: str) -> None:
        if not trainer._logger_connector.should_update_logs:
            return
        device = trainer.strategy.root_device
        stats: dict[str, Any] = {}
        if device.type == "cuda":
            stats.update(torch.cuda.memory_stats(device))
        if self._wants_cpu(device):
            stats.update(_cpu_stats())
        if stats:
            for logger in trainer.loggers:
                prefix = f"{type(self).__qualname__}.{hook}{logger.group_separator}"
                metrics = {prefix + name: value for name, value in stats.items()}
                logger.log_metrics(metrics, step=trainer.fit_loop.epoch_loop._batches_that_stepped)

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Log before a training batch."""
        self._log(trainer, "on_train_batch_start")

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: STEP_OUTPUT, batch: Any, batch_idx: int
    ) -> None:
        """Log after a training batch."""
        self._log(trainer, "on_train_batch_end")

    def on_validation_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Log before a validation batch."""
        self._log(trainer, "on_validation_batch_start")

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Log after a validation batch."""
        self._log(trainer, "on_validation_batch_end")

    def on_test_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Log before a test batch."""
        self._log(trainer, "on_test_batch_start")

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Log after a test batch."""
        self._log(trainer, "on_test_batch_end")


def _cpu_stats() -> dict[str, float]:
    try:
        import psutil  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "`DeviceStatsMonitor` logs CPU statistics with `psutil`, which is not installed:"
            " `pip install psutil`, or pass `cpu_stats=False`."
        ) from error
    return {
        "cpu_percent": psutil.cpu_percent(),
        "cpu_vm_percent": psutil.virtual_memory().percent,
        "cpu_swap_percent": psutil.swap_memory().percent,
    }

"""Predictions that are written as they come instead of being returned."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["BasePredictionWriter", "WriteInterval"]


class WriteInterval(str, Enum):
    """When predictions are written."""

    BATCH = "batch"
    EPOCH = "epoch"
    BATCH_AND_EPOCH = "batch_and_epoch"

    @property
    def on_batch(self) -> bool:
        """Whether after each batch."""
        return self is not WriteInterval.EPOCH

    @property
    def on_epoch(self) -> bool:
        """Whether after all batches."""
        return self is not WriteInterval.BATCH


class BasePredictionWriter(Callback):
    """Base of callbacks that write predictions; override :meth:`write_on_batch_end` or
    :meth:`write_on_epoch_end`.

    With several processes each one writes its own part; the indices tell which samples these are.

    Args:
        write_interval: ``"batch"``, ``"epoch"`` or ``"batch_and_epoch"``.

    Raises:
        MisconfigurationException: For another interval.
    """

    def __init__(self, write_interval: str = "batch") -> None:
        try:
            self.interval = WriteInterval(write_interval)
        except ValueError:
            known = [interval.value for interval in WriteInterval]
            raise MisconfigurationException(
                f"`write_interval` is one of {known}, not {write_interval!r}"
            ) from None

    def write_on_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        prediction: Any,
        batch_indices: Sequence[int] | None,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int,
    ) -> None:
        """Write the predictions of one batch.

        Args:
            trainer: The Trainer.
            pl_module: The module.
            prediction: What ``predict_step`` returned.
            batch_indices: The samples' places in the dataset, ``None`` if the loader does not tell.
            batch: The batch.
            batch_idx: Its index.
            dataloader_idx: The index of its loader.
        """
        raise NotImplementedError(f"`{type(self).__name__}` must override `write_on_batch_end`")

    def write_on_epoch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        predictions: Sequence[Any],
        batch_indices: Sequence[Any],
    ) -> None:
        """Write all predictions.

        Args:
            trainer: The Trainer.
            pl_module: The module.
            predictions: A list of batches, or one such list for each of several loaders.
            batch_indices: For each loader and batch the samples' places in the dataset.
        """
        raise NotImplementedError(f"`{type(self).__name__}` must override `write_on_epoch_end`")

    def on_predict_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Write a batch."""
        if self.interval.on_batch:
            indices = trainer.predict_loop.current_batch_indices
            self.write_on_batch_end(trainer, pl_module, outputs, indices, batch, batch_idx, dataloader_idx)

    def on_predict_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Write everything."""
        if self.interval.on_epoch:
            loop = trainer.predict_loop
            self.write_on_epoch_end(trainer, pl_module, loop.predictions, loop.epoch_batch_indices)

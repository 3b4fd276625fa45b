"""The hooks a user may override, with the names and signatures of Lightning 2.6.

Every default here does nothing (or the obvious thing); the Trainer finds out once, when an entry point
starts, which of them are overridden and never calls the others.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.types import STEP_OUTPUT

__all__ = ["CheckpointHooks", "DataHooks", "ModelHooks"]


class ModelHooks:
    """Hooks around training and evaluation."""

    def on_fit_start(self) -> None:
        """Called when fit begins, after the optimizers were made."""

    def on_fit_end(self) -> None:
        """Called when fit ends."""

    def on_train_start(self) -> None:
        """Called before the first training epoch, after the sanity check."""

    def on_train_end(self) -> None:
        """Called after the last training epoch."""

    def on_validation_start(self) -> None:
        """Called before a validation run."""

    def on_validation_end(self) -> None:
        """Called after a validation run."""

    def on_test_start(self) -> None:
        """Called before a test run."""

    def on_test_end(self) -> None:
        """Called after a test run."""

    def on_predict_start(self) -> None:
        """Called before a predict run."""

    def on_predict_end(self) -> None:
        """Called after a predict run."""

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> int | None:
        """Called before a training batch. Return -1 to skip the rest of the epoch."""

    def on_train_batch_end(self, outputs: STEP_OUTPUT, batch: Any, batch_idx: int) -> None:
        """Called after a training batch; ``outputs`` holds the detached loss and what the step returned."""

    def on_validation_batch_start(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Called before a validation batch."""

    def on_validation_batch_end(
        self, outputs: STEP_OUTPUT, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Called after a validation batch with what the step returned."""

    def on_test_batch_start(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Called before a test batch."""

    def on_test_batch_end(
        self, outputs: STEP_OUTPUT, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Called after a test batch with what the step returned."""

    def on_predict_batch_start(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Called before a predict batch."""

    def on_predict_batch_end(self, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Called after a predict batch with what the step returned."""

    def on_validation_model_zero_grad(self) -> None:
        """Called before a validation run inside training, to free the gradients."""
        self.zero_grad()  # type: ignore[attr-defined]

    def on_validation_model_eval(self) -> None:
        """Called to put the model into evaluation mode before validation."""
        self.trainer.model.eval()  # type: ignore[attr-defined]

    def on_validation_model_train(self) -> None:
        """Called, if overridden, instead of giving every module its mode back after validation."""
        self.trainer.model.train()  # type: ignore[attr-defined]

    def on_test_model_eval(self) -> None:
        """Called to put the model into evaluation mode before testing."""
        self.trainer.model.eval()  # type: ignore[attr-defined]

    def on_test_model_train(self) -> None:
        """Called, if overridden, instead of giving every module its mode back after testing."""
        self.trainer.model.train()  # type: ignore[attr-defined]

    def on_predict_model_eval(self) -> None:
        """Called to put the model into evaluation mode before predicting."""
        self.trainer.model.eval()  # type: ignore[attr-defined]

    def on_train_epoch_start(self) -> None:
        """Called before a training epoch."""

    def on_train_epoch_end(self) -> None:
        """Called after a training epoch, before the callbacks' hook of this name."""

    def on_validation_epoch_start(self) -> None:
        """Called before the batches of a validation run."""

    def on_validation_epoch_end(self) -> None:
        """Called after the batches of a validation run, before the callbacks' hook of this name."""

    def on_test_epoch_start(self) -> None:
        """Called before the batches of a test run."""

    def on_test_epoch_end(self) -> None:
        """Called after the batches of a test run, before the callbacks' hook of this name."""

    def on_predict_epoch_start(self) -> None:
        """Called before the batches of a predict run."""

    def on_predict_epoch_end(self) -> None:
        """Called after the batches of a predict run, before the callbacks' hook of this name."""

    def on_before_zero_grad(self, optimizer: Optimizer) -> None:
        """Called after the step and before the gradients are set to zero."""

    def on_before_backward(self, loss: Tensor) -> None:
        """Called before ``loss.backward()``; the loss is already divided by the accumulation."""

    def on_after_backward(self) -> None:
        """Called after ``loss.backward()``."""

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        """Called when the gradients are ready, before they are clipped and the optimizer steps."""

    def configure_model(self) -> None:
        """Create modules on the right device and in the right precision; must be safe to call twice."""


class DataHooks:
    """Hooks that bring and move data; shared by modules and data modules."""

    def __init__(self) -> None:
        super().__init__()
        self.prepare_data_per_node: bool = True
        self.allow_zero_length_dataloader_with_multiple_devices: bool = False

    def prepare_data(self) -> None:
        """Download and write data; called in one process (of each node, see ``prepare_data_per_node``)."""

    def setup(self, stage: str) -> None:
        """Called in every process when an entry point starts.

        Args:
            stage: ``"fit"``, ``"validate"``, ``"test"`` or ``"predict"``.
        """

    def teardown(self, stage: str) -> None:
        """Called in every process when an entry point ends."""

    def train_dataloader(self) -> Any:
        """Return the loader(s) for training: an iterable or a collection of them."""
        raise MisconfigurationException("`train_dataloader` must be implemented to be used with the Trainer")

    def val_dataloader(self) -> Any:
        """Return the loader(s) for validation."""
        raise MisconfigurationException("`val_dataloader` must be implemented to be used with the Trainer")

    def test_dataloader(self) -> Any:
        """Return the loader(s) for testing."""
        raise MisconfigurationException("`test_dataloader` must be implemented to be used with the Trainer")

    def predict_dataloader(self) -> Any:
        """Return the loader(s) for predicting."""
        raise MisconfigurationException(
            "`predict_dataloader` must be implemented to be used with the Trainer"
        )

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Return the batch moved to ``device``; override for types that know no ``to``."""
        from relight.utilities.memory import move_data_to_device

        return move_data_to_device(batch, device)

    def on_before_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
        """Return the batch, changed as needed before it is moved."""
        return batch

    def on_after_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
        """Return the batch, changed as needed after it was moved."""
        return batch


class CheckpointHooks:
    """Hooks to see and change checkpoints."""

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Called before the state is restored from ``checkpoint``."""

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Called before ``checkpoint`` is written; add what should be stored."""

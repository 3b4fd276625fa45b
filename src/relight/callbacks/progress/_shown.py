"""What the bars have in common: whether they are shown, and which bar a batch of an evaluation moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relight.callbacks.progress.progress_bar import ProgressBar
from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class ShownBar(ProgressBar):
    """A progress bar that a refresh rate of 0 hides; bars are called sanity, val, test and predict."""

    _refresh_rate: int

    def __init__(self) -> None:
        super().__init__()
        self._enabled = True

    @property
    def is_enabled(self) -> bool:
        """Whether anything is shown."""
        return self._enabled and self._refresh_rate > 0

    @property
    def is_disabled(self) -> bool:
        """Whether nothing is shown."""
        return not self.is_enabled

    def disable(self) -> None:
        """Show nothing."""
        self._enabled = False

    def enable(self) -> None:
        """Show again."""
        self._enabled = True

    # -- what a kind of bar brings --------------------------------------------------------------------------

    def _begin_loader(self, which: str, total: float, text: str, dataloader_idx: int) -> None:
        """Start a bar again for a loader of ``total`` batches."""
        raise NotImplementedError

    def _move(self, which: str, done: int) -> None:
        """Let a bar show that ``done`` batches of its loader are over."""
        raise NotImplementedError

    # -- hooks: batches of an evaluation --------------------------------------------------------------------

    def on_validation_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Start the validation bar again for each loader."""
        if self.has_dataloader_changed(dataloader_idx):
            checking = trainer.sanity_checking
            text = self.sanity_check_description if checking else self.validation_description
            which, total = "sanity" if checking else "val", self.total_val_batches_current_dataloader
            self._begin_loader(which, total, text, dataloader_idx)

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Move the validation bar."""
        self._move("sanity" if trainer.sanity_checking else "val", batch_idx + 1)

    def on_test_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Start the test bar again for each loader."""
        if self.has_dataloader_changed(dataloader_idx):
            total = self.total_test_batches_current_dataloader
            self._begin_loader("test", total, self.test_description, dataloader_idx)

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Move the test bar."""
        self._move("test", batch_idx + 1)

    def on_predict_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Start the predict bar again for each loader."""
        if self.has_dataloader_changed(dataloader_idx):
            total = self.total_predict_batches_current_dataloader
            self._begin_loader("predict", total, self.predict_description, dataloader_idx)

    def on_predict_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Move the predict bar."""
        self._move("predict", batch_idx + 1)

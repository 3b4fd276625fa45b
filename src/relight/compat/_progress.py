"""Progress bars with the names and metrics that they had up to 1.9."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from torch import Tensor

from relight import callbacks as core
from relight.callbacks.progress import RichProgressBarTheme
from relight.compat._callback import DeadHooks

__all__ = ["ProgressBar", "RichProgressBar", "TQDMProgressBar"]

_WINDOW = 20  # so many batches' losses are averaged

if TYPE_CHECKING:

    class _Base(DeadHooks, core.ProgressBar):
        pass
else:
    _Base = DeadHooks


class _Legacy(_Base):
    """What a bar had: the index of the batch at hand, sums over loaders, and the running loss."""

    @property
    def train_batch_idx(self) -> int:
        """How many training batches of this epoch are done."""
        return self.trainer.fit_loop.epoch_loop.batch_progress.current.processed

    @property
    def val_batch_idx(self) -> int:
        """How many validation batches are done."""
        trainer = self.trainer
        loop = trainer.fit_loop.epoch_loop.val_loop if trainer.state.fn == "fit" else trainer.validate_loop
        return loop.batch_progress.current.processed

    @property
    def test_batch_idx(self) -> int:
        """How many test batches are done."""
        return self.trainer.test_loop.batch_progress.current.processed

    @property
    def predict_batch_idx(self) -> int:
        """How many batches to predict are done."""
        return self.trainer.predict_loop.batch_progress.current.processed

    @property
    def total_test_batches(self) -> int | float:
        """Number of test batches of all loaders."""
        return sum(self.trainer.num_test_batches)

    @property
    def total_predict_batches(self) -> int | float:
        """Number of batches to predict of all loaders."""
        return sum(self.trainer.num_predict_batches)

    @property
    def total_batches_current_epoch(self) -> int | float:
        """Number of batches of this epoch: training, and validation as often as it runs."""
        trainer, train, val = self.trainer, self.total_train_batches, self.total_val_batches
        every = trainer.val_check_batch
        if float("inf") in (train, val) or not every:
            return train + val
        if trainer.check_val_every_n_epoch is None:
            done = trainer.fit_loop.total_batch_idx + 1
            return train + val * ((done + train) // every - done // every)
        return train + val * (train // every)

    @property
    def main_progress_bar(self) -> Any:
        """The bar of training, under its name up to 1.9."""
        return self.train_progress_bar

    @main_progress_bar.setter
    def main_progress_bar(self, bar: Any) -> None:
        self.train_progress_bar = bar

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *rest: Any) -> None:
        """Note the loss."""
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if isinstance(loss, Tensor):
            parts = self.__dict__.setdefault("_compat_parts", [])
            parts.append(loss.detach())
            if not trainer.fit_loop.epoch_loop.should_accumulate():
                recent = self.__dict__.setdefault("_compat_losses", deque(maxlen=_WINDOW))
                recent.append(sum(parts) / len(parts) * trainer.accumulate_grad_batches)
                parts.clear()
                trainer._compat_running_loss = sum(recent) / len(recent)
        super().on_train_batch_end(trainer, pl_module, outputs, *rest)

    def on_train_epoch_end(
        self, trainer: Any, pl_module: Any, outputs: Any = None, unused: Any = None
    ) -> None:
        """Finish the bar; 1.3 and 1.4 passed the outputs, or nothing under their name."""
        super().on_train_epoch_end(trainer, pl_module)

    def get_metrics(self, trainer: Any, pl_module: Any = None) -> dict[str, Any]:
        """Return what to show: the running loss, the version and what was logged with ``prog_bar=True``."""
        module = pl_module if pl_module is not None else trainer.lightning_module
        own: dict[str, Any] = getattr(module, "get_progress_bar_dict", dict)()
        return {**own, **super().get_metrics(trainer, module)}


class ProgressBar(_Legacy, core.ProgressBar):
    """See :class:`relight.callbacks.ProgressBar`."""


class TQDMProgressBar(_Legacy, core.TQDMProgressBar):
    """See :class:`relight.callbacks.TQDMProgressBar`."""


class RichProgressBar(_Legacy, core.RichProgressBar):
    """See :class:`relight.callbacks.RichProgressBar`; its rate was a number of batches, not of drawings."""

    def __init__(
        self,
        refresh_rate: int = 1,
        leave: bool = False,
        theme: RichProgressBarTheme = RichProgressBarTheme(),  # noqa: B008  (as Lightning's signature)
        console_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(leave=leave, theme=theme, console_kwargs=console_kwargs)
        self._compat_batches = refresh_rate

    @property
    def refresh_rate(self) -> int:
        """What was given; bars are drawn twenty times a second at most, whatever the number of batches."""
        return self._compat_batches

    @property
    def is_enabled(self) -> bool:
        """Whether anything is shown."""
        return self._enabled and self._compat_batches > 0

"""The base of progress bars: what there is to show, not how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relight.callbacks.callback import Callback
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class ProgressBar(Callback):
    """Base of progress bars; it shows nothing itself.

    A subclass calls ``super().__init__()``, overrides :meth:`enable` and :meth:`disable` and draws in the
    hooks it likes; the properties here say how much there is to do. The Trainer accepts one progress bar.
    """

    def __init__(self) -> None:
        self._trainer: Trainer | None = None
        self._current_eval_dataloader_idx: int | None = None

    @property
    def trainer(self) -> Trainer:
        """The Trainer.

        Raises:
            TypeError: before ``setup``.
        """
        if self._trainer is None:
            raise TypeError(f"The `{type(self).__name__}._trainer` reference has not been set yet.")
        return self._trainer

    # -- texts ----------------------------------------------------------------------------------------------

    @property
    def sanity_check_description(self) -> str:
        """Text of the bar during the sanity check."""
        return "Sanity Checking"

    @property
    def train_description(self) -> str:
        """Text of the training bar before the first epoch."""
        return "Training"

    @property
    def validation_description(self) -> str:
        """Text of the validation bar."""
        return "Validation"

    @property
    def test_description(self) -> str:
        """Text of the test bar."""
        return "Testing"

    @property
    def predict_description(self) -> str:
        """Text of the predict bar."""
        return "Predicting"

    # -- how much -------------------------------------------------------------------------------------------

    @property
    def total_train_batches(self) -> int | float:
        """Number of training batches of this epoch, ``inf`` if unknown."""
        trainer = self.trainer
        if trainer.max_epochs == -1 and trainer.max_steps > 0:
            return min(trainer.num_training_batches, trainer.max_steps - trainer.global_step)
        return trainer.num_training_batches

    @property
    def total_val_batches(self) -> int | float:
        """Number of validation batches of all loaders, 0 if this epoch has no validation."""
        every = self.trainer.check_val_every_n_epoch
        if every is not None and (self.trainer.current_epoch + 1) % every:
            return 0
        batches = self.trainer.num_val_batches
        return sum(batches) if isinstance(batches, list) else batches

    @property
    def total_val_batches_current_dataloader(self) -> int | float:
        """Number of validation (or sanity check) batches of the current loader."""
        trainer = self.trainer
        return self._of_current(
            trainer.num_sanity_val_batches if trainer.sanity_checking else trainer.num_val_batches
        )

    @property
    def total_test_batches_current_dataloader(self) -> int | float:
        """Number of test batches of the current loader."""
        return self._of_current(self.trainer.num_test_batches)

    @property
    def total_predict_batches_current_dataloader(self) -> int | float:
        """Number of batches to predict of the current loader."""
        return self._of_current(self.trainer.num_predict_batches)

    def _of_current(self, batches: int | float | list[int | float]) -> int | float:
        if not isinstance(batches, list):
            return batches
        assert self._current_eval_dataloader_idx is not None
        return batches[self._current_eval_dataloader_idx]

    def has_dataloader_changed(self, dataloader_idx: int) -> bool:
        """Note the loader in use; tell whether it is another than before."""
        before, self._current_eval_dataloader_idx = self._current_eval_dataloader_idx, dataloader_idx
        return before != dataloader_idx

    def reset_dataloader_idx_tracker(self) -> None:
        """Forget which loader was in use."""
        self._current_eval_dataloader_idx = None

    # -- to override ----------------------------------------------------------------------------------------

    def disable(self) -> None:
        """Stop showing anything. A subclass must override this; it is called on ranks other than 0."""
        raise NotImplementedError

    def enable(self) -> None:
        """Show again. A subclass must override this."""
        raise NotImplementedError

    def print(self, *args: Any, **kwargs: Any) -> None:
        """Print without breaking the bar; what ``LightningModule.print`` uses."""
        print(*args, **kwargs)

    def get_metrics(self, trainer: Trainer, pl_module: LightningModule) -> dict[str, Any]:
        """Return what to show beside the bar: the run's version and what was logged with ``prog_bar=True``.

        Override it to show other things.
        """
        standard = get_standard_metrics(trainer)
        logged = trainer.progress_bar_metrics
        if same := sorted(standard.keys() & logged.keys()):
            rank_zero_warn(
                f"The progress bar already tracks a metric with the name(s) '{', '.join(same)}' and"
                f" `self.log('{same[0]}', ..., prog_bar=True)` will overwrite this value."
                " If this is undesired, change the name or override `get_metrics()` in the progress bar"
                " callback."
            )
        return {**standard, **logged}

    # -- hooks ----------------------------------------------------------------------------------------------

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Remember the Trainer; be silent on other ranks than 0."""
        self._trainer = trainer
        if not trainer.is_global_zero:
            self.disable()


def get_standard_metrics(trainer: Trainer) -> dict[str, int | str]:
    """Return ``{"v_num": version}`` of the loggers; of a long version the last four characters."""
    loggers = trainer.loggers
    if not loggers:
        return {}
    version = (
        loggers[0].version
        if len(loggers) == 1
        else "_".join(dict.fromkeys(str(logger.version) for logger in loggers))
    )
    if version is None or version == "":
        return {}
    return {"v_num": version[-4:] if isinstance(version, str) else version}

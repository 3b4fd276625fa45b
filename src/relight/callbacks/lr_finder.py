"""Search a learning rate at the beginning of fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import RunEnded
from relight.utilities.seed import isolate_rng

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer
    from relight.tuner.lr import LRFinder

__all__ = ["LearningRateFinder"]


class LearningRateFinder(Callback):
    """Runs a learning rate range test before training, which then begins with its suggestion.

    A subclass may call :meth:`lr_find` in other hooks, such as ``on_train_epoch_start``.

    Args:
        min_lr: The first rate.
        max_lr: The last rate.
        num_training_steps: How many steps lie between.
        mode: ``"exponential"`` or ``"linear"`` growth.
        early_stop_threshold: Stop once the smoothed loss is this many times the best; ``None``: never.
        update_attr: Whether the module's attribute is set to the suggestion.
        attr_name: That attribute; ``lr`` or ``learning_rate`` unless given.

    Attributes:
        optimal_lr: What was found, ``None`` before.

    Raises:
        ValueError: For an unknown mode.
    """

    SUPPORTED_MODES = ("linear", "exponential")

    def __init__(
        self,
        min_lr: float = 1e-8,
        max_lr: float = 1,
        num_training_steps: int = 100,
        mode: str = "exponential",
        early_stop_threshold: float | None = 4.0,
        update_attr: bool = True,
        attr_name: str = "",
    ) -> None:
        if mode.lower() not in self.SUPPORTED_MODES:
            raise ValueError(f"`mode` must be one of {self.SUPPORTED_MODES}, not {mode!r}")
        self._min_lr, self._max_lr = min_lr, max_lr
        self._num_training_steps, self._mode = num_training_steps, mode.lower()
        self._early_stop_threshold = early_stop_threshold
        self._update_attr, self._attr_name = update_attr, attr_name
        self._early_exit = False  # the Tuner wants the search only
        self.optimal_lr: LRFinder | None = None

    def lr_find(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search; random states are left as they were."""
        from relight.tuner.lr import find_lr

        with isolate_rng():
            self.optimal_lr = find_lr(
                trainer, self._min_lr, self._max_lr, self._num_training_steps, self._mode,
                self._early_stop_threshold, self._update_attr, self._attr_name,
            )  # fmt: skip
        if self._early_exit:
            raise RunEnded

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search."""
        self.lr_find(trainer, pl_module)

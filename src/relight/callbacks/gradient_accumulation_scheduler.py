"""Change how many batches are accumulated from epoch to epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class GradientAccumulationScheduler(Callback):
    """Set ``trainer.accumulate_grad_batches`` at the start of each epoch.

    Args:
        scheduling: number of batches to accumulate by the epoch, counted from 0, from which on it holds;
            ``{4: 2}`` accumulates 2 batches from the fifth epoch on and 1 before.

    Raises:
        TypeError: if ``scheduling`` is empty.
        MisconfigurationException: for a key that is no int ≥ 0 or a value that is no int ≥ 1.
        RuntimeError: in a fit with manual optimization.
        ValueError: in a fit that also sets ``accumulate_grad_batches``.
    """

    def __init__(self, scheduling: dict[int, int]) -> None:
        super().__init__()
        if not scheduling:
            raise TypeError("Empty dict cannot be interpreted correct")
        if any(not isinstance(epoch, int) or epoch < 0 for epoch in scheduling):
            raise MisconfigurationException(
                f"Epoch should be an int greater than or equal to 0. Got {list(scheduling)}."
            )
        if any(not isinstance(factor, int) or factor < 1 for factor in scheduling.values()):
            raise MisconfigurationException(
                f"Accumulation factor should be an int greater than 0. Got {list(scheduling.values())}."
            )
        self.scheduling = {**scheduling} if 0 in scheduling else {**scheduling, 0: 1}
        self.epochs = sorted(self.scheduling)

    def going_to_accumulate_grad_batches(self) -> bool:
        """Tell whether any epoch accumulates."""
        return any(factor > 1 for factor in self.scheduling.values())

    def get_accumulate_grad_batches(self, epoch: int) -> int:
        """Return the number that holds in ``epoch``."""
        return self.scheduling[max(start for start in self.epochs if start <= epoch)]

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Refuse what cannot work."""
        from relight.module import LightningModule

        if not pl_module.automatic_optimization:
            raise RuntimeError(
                "Automatic gradient accumulation and the `GradientAccumulationScheduler` is not supported for"
                " manual optimization. Please remove the callback or switch to automatic optimization."
            )
        own_step = any(
            is_overridden(name, pl_module, LightningModule)
            for name in ("optimizer_step", "optimizer_zero_grad")
        )
        if own_step and self.going_to_accumulate_grad_batches():
            rank_zero_warn(
                "`LightningModule.optimizer_step` or `optimizer_zero_grad` is overridden: with accumulation"
                " it is called for each optimizer step, not for each batch."
            )
        if trainer.accumulate_grad_batches != 1:
            raise ValueError(
                "You have set `accumulate_grad_batches` and are using the `GradientAccumulationScheduler`"
                " callback. Either remove `accumulate_grad_batches` from the Trainer or remove the callback."
            )

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Set the number for this epoch."""
        trainer.accumulate_grad_batches = self.get_accumulate_grad_batches(trainer.current_epoch)

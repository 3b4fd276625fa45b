"""``Trainer(stochastic_weight_avg=True)`` of 1.2 to 1.6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relight.callbacks import StochasticWeightAveraging
from relight.utilities.exceptions import MisconfigurationException
from trainer_upgrade.catalogue import trainer_argument

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["SwitchedOnAveraging"]


class SwitchedOnAveraging(StochasticWeightAveraging):
    """Averages with the learning rates that the optimizer has when averaging begins, as the flag did."""

    def __init__(self) -> None:
        super().__init__(swa_lrs=1.0)
        self._own_rates = False

    @property
    def state_key(self) -> str:
        """The name its state had in checkpoints."""
        return StochasticWeightAveraging.__qualname__

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Refuse what would end with other weights."""
        super().on_fit_start(trainer, pl_module)
        if self._has_batch_norm:
            entry = trainer_argument("stochastic_weight_avg")
            raise MisconfigurationException(
                f"{entry.code if entry else ''} `stochastic_weight_avg=True` with batch normalization went on"
                " stepping the optimizer, with its last gradients, while it renewed the statistics, which"
                " relight does not repeat: say callbacks=[StochasticWeightAveraging(swa_lrs=...)] to average"
                " as Lightning 2.x does"
            )

    def _begin(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not self._own_rates:
            self._own_rates = True
            self._swa_lrs = [float(group["lr"]) for group in trainer.optimizers[0].param_groups]
        super()._begin(trainer, pl_module)

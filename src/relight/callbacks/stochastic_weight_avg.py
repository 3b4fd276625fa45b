"""Average the weights of the last epochs under a schedule of its own (SWA)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.swa_utils import SWALR

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn
from relight.utilities.types import LRSchedulerConfig

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["StochasticWeightAveraging"]

AvgFn = Callable[[Tensor, Tensor, Tensor], Tensor]


class StochasticWeightAveraging(Callback):
    """Average the weights of the epochs from ``swa_epoch_start`` on; the model ends with the average.

    From then on ``torch.optim.swa_utils.SWALR`` takes the place of the model's scheduler. With batch
    normalization one more pass over the training data, without gradients, renews its statistics. One
    optimizer, and schedulers that step once an epoch. The schedule and the moments of averaging are those of
    Lightning 2.6.

    Args:
        swa_lrs: the learning rate of averaging, one for all parameter groups or one for each.
        swa_epoch_start: the first epoch, counted from 1, or the part of ``max_epochs`` after which it begins.
        annealing_epochs: over how many epochs the learning rate gets there.
        annealing_strategy: ``"cos"`` or ``"linear"``.
        avg_fn: makes the new average of the old one, the weights and the number averaged so far; the mean
            by default.
        device: where the average is kept; ``None`` for the model's device.

    Raises:
        MisconfigurationException: for arguments of the wrong kind or out of range; in ``fit`` for several
            optimizers or schedulers, or sharded models.
    """

    def __init__(
        self,
        swa_lrs: float | list[float],
        swa_epoch_start: int | float = 0.8,
        annealing_epochs: int = 10,
        annealing_strategy: Literal["cos", "linear"] = "cos",
        avg_fn: AvgFn | None = None,
        device: torch.device | str | None = torch.device("cpu"),  # noqa: B008 - Lightning's default
    ) -> None:
        super().__init__()
        _check(swa_lrs, swa_epoch_start, avg_fn, device)
        self.n_averaged: Tensor | None = None
        self.momenta: dict[_BatchNorm, float | None] = {}
        self._swa_epoch_start = swa_epoch_start
        self._swa_lrs = swa_lrs
        self._annealing_epochs = annealing_epochs
        self._annealing_strategy = annealing_strategy
        self._avg_fn: AvgFn = avg_fn or _mean
        self._device = device
        self._has_batch_norm = False
        self._average_model: LightningModule | None = None
        self._initialized = False
        self._swa_scheduler: LRScheduler | None = None
        self._scheduler_state: dict[str, Any] | None = None
        self._init_n_averaged = 0
        self._latest_update_epoch = -1
        self._max_epochs = -1
        self._accumulate = 1  # what the pass over the statistics puts back

    @property
    def swa_start(self) -> int:
        """The first epoch that is averaged, counted from 0."""
        assert isinstance(self._swa_epoch_start, int), "a fraction is worked out when a fit starts"
        return max(self._swa_epoch_start - 1, 0)

    @property
    def swa_end(self) -> float:
        """The last one; infinite for a run without end."""
        return float("inf") if self._max_epochs == -1 else self._max_epochs - 1

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Copy the model."""
        if trainer._backend.sharded is not None:
            raise MisconfigurationException("StochasticWeightAveraging cannot average a sharded model")
        self._average_model = deepcopy(pl_module)

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Work out when to start."""
        if len(trainer.optimizers) != 1:
            raise MisconfigurationException("StochasticWeightAveraging works with one optimizer")
        if len(trainer.lr_scheduler_configs) > 1:
            raise MisconfigurationException("StochasticWeightAveraging works with one scheduler at most")
        epochs = trainer.max_epochs
        assert epochs is not None
        if isinstance(self._swa_epoch_start, float):
            if epochs == -1:
                raise MisconfigurationException(
                    "StochasticWeightAveraging(swa_epoch_start=<a fraction>) needs a number of epochs, and"
                    " `max_epochs` is -1: give the epoch itself"
                )
            self._swa_epoch_start = int(epochs * self._swa_epoch_start)
        self._has_batch_norm = any(isinstance(module, _BatchNorm) for module in pl_module.modules())
        self._max_epochs = epochs
        if self._has_batch_norm and epochs != -1:
            trainer.fit_loop.max_epochs = epochs + 1  # for the pass over the statistics
        if self._scheduler_state is not None:
            # The file holds the state of the SWALR, which is not for the model's own scheduler.
            trainer.lr_scheduler_configs.clear()

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Average, or begin the pass over the statistics."""
        epoch = trainer.current_epoch
        averaging = self.swa_start <= epoch <= self.swa_end
        if averaging and not self._initialized:
            self._initialized = True
            self._begin(trainer, pl_module)
        if averaging and epoch > self._latest_update_epoch:
            self._update(pl_module)
            self._latest_update_epoch = epoch
        if self._max_epochs != -1 and epoch == self.swa_end + 1:
            self._transfer(pl_module)
            self._reset_statistics(pl_module)
            loop = trainer.fit_loop
            if not isinstance(loop.max_batches, int):
                raise MisconfigurationException(
                    "StochasticWeightAveraging renews the statistics of batch normalization in one pass over"
                    " the training data, which needs a length"
                )
            # One more than there are, so that the last batch makes no optimizer step either.
            loop.max_batches += 1
            loop._skip_backward = True
            self._accumulate = trainer.accumulate_grad_batches
            trainer.accumulate_grad_batches = loop.max_batches

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Let gradients be computed again."""
        trainer.fit_loop._skip_backward = False

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the average in the model."""
        last = trainer.current_epoch - 1  # the count has gone on already
        if self._has_batch_norm and self._max_epochs != -1 and last == self.swa_end + 1:
            trainer.accumulate_grad_batches = self._accumulate
            trainer.fit_loop.max_batches -= 1
            trainer.fit_loop.max_epochs = self._max_epochs
            for module, momentum in self.momenta.items():
                module.momentum = momentum
        elif self._initialized and (last == self.swa_end or self._max_epochs == -1):
            self._transfer(pl_module)

    def state_dict(self) -> dict[str, Any]:
        """Return the average and where averaging is."""
        scheduler, model = self._swa_scheduler, self._average_model
        return {
            "n_averaged": 0 if self.n_averaged is None else int(self.n_averaged.item()),
            "latest_update_epoch": self._latest_update_epoch,
            "scheduler_state": None if scheduler is None else scheduler.state_dict(),
            "average_model_state": None if model is None else model.state_dict(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        self._init_n_averaged = state_dict["n_averaged"]
        self._latest_update_epoch = state_dict["latest_update_epoch"]
        self._scheduler_state = state_dict["scheduler_state"]
        if self._average_model is not None and state_dict["average_model_state"] is not None:
            self._average_model.load_state_dict(state_dict["average_model_state"])

    # -- the parts -------------------------------------------------------------------------------------------

    def _begin(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Put the schedule of averaging in place of the model's own."""
        assert self._average_model is not None
        self._average_model = self._average_model.to(self._device or pl_module.device)
        optimizer = trainer.optimizers[0]
        if isinstance(self._swa_lrs, float):
            self._swa_lrs = [self._swa_lrs] * len(optimizer.param_groups)
        for rate, group in zip(self._swa_lrs, optimizer.param_groups, strict=False):
            group["initial_lr"] = rate
        assert trainer.max_epochs is not None
        self._swa_scheduler = SWALR(
            optimizer,
            swa_lr=self._swa_lrs,  # type: ignore[arg-type]
            anneal_epochs=self._annealing_epochs,
            anneal_strategy=self._annealing_strategy,
            last_epoch=trainer.max_epochs if self._annealing_strategy == "cos" else -1,
        )
        if self._scheduler_state is not None:
            self._swa_scheduler.load_state_dict(self._scheduler_state)
        elif trainer.current_epoch != self.swa_start:
            rank_zero_warn(
                f"StochasticWeightAveraging starts in epoch {trainer.current_epoch}, later than it was to,"
                " and the checkpoint holds no state of it: the epochs before are not in the average."
            )
        configs = trainer.lr_scheduler_configs
        if not configs:
            configs.append(LRSchedulerConfig(self._swa_scheduler))
        else:
            if configs[0].interval != "epoch" or configs[0].frequency != 1:
                rank_zero_warn(
                    "StochasticWeightAveraging steps its schedule once an epoch; that of the model had"
                    f" interval={configs[0].interval!r}, frequency={configs[0].frequency}."
                )
            rank_zero_info(f"SWALR takes the place of {type(configs[0].scheduler).__name__}.")
            configs[0] = LRSchedulerConfig(self._swa_scheduler)
        if self.n_averaged is None:
            self.n_averaged = torch.tensor(self._init_n_averaged, dtype=torch.long, device=pl_module.device)

    def _update(self, pl_module: LightningModule) -> None:
        assert self._average_model is not None
        assert self.n_averaged is not None
        for average, current in zip(self._average_model.parameters(), pl_module.parameters(), strict=True):
            average_, current_ = average.detach(), current.detach().to(average.device)
            if self.n_averaged == 0:
                average_.copy_(current_)
            else:
                average_.copy_(self._avg_fn(average_, current_, self.n_averaged.to(average.device)))
        self.n_averaged += 1

    def _transfer(self, pl_module: LightningModule) -> None:
        assert self._average_model is not None
        for average, current in zip(self._average_model.parameters(), pl_module.parameters(), strict=True):
            current.detach().copy_(average.to(current.device))

    def _reset_statistics(self, pl_module: LightningModule) -> None:
        """Start the statistics anew; without a momentum they become the mean over all batches."""
        self.momenta = {}
        for module in pl_module.modules():
            if isinstance(module, _BatchNorm):
                self.momenta[module] = module.momentum
                module.momentum = None
                module.reset_running_stats()


def _mean(average: Tensor, current: Tensor, averaged: Tensor) -> Tensor:
    return average + (current - average) / (averaged + 1)


def _check(
    swa_lrs: object, swa_epoch_start: int | float, avg_fn: object, device: torch.device | str | None
) -> None:
    rates = swa_lrs if isinstance(swa_lrs, list) else [swa_lrs]
    if not all(isinstance(rate, float) and rate > 0 for rate in rates):
        raise MisconfigurationException(
            f"StochasticWeightAveraging(swa_lrs={swa_lrs!r}): expected a positive float, or a list of them"
        )
    number = not isinstance(swa_epoch_start, bool) and isinstance(swa_epoch_start, (int, float))
    right = number and (
        0 <= swa_epoch_start <= 1 if isinstance(swa_epoch_start, float) else swa_epoch_start >= 1
    )
    if not right:
        raise MisconfigurationException(
            f"StochasticWeightAveraging(swa_epoch_start={swa_epoch_start!r}): expected an epoch from 1 on, or"
            " a float between 0 and 1"
        )
    if avg_fn is not None and not callable(avg_fn):
        raise MisconfigurationException(f"StochasticWeightAveraging(avg_fn={avg_fn!r}): not a function")
    if device is not None and not isinstance(device, (torch.device, str)):
        raise MisconfigurationException(
            f"StochasticWeightAveraging(device={device!r}): expected a device or its name"
        )

"""The learning rate range test: train a few steps with a growing rate, and see where the loss falls most."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.lr_scheduler import LRScheduler

from relight.callbacks.callback import Callback
from relight.tuner import attributes
from relight.tuner.search import Search
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn
from relight.utilities.types import LRSchedulerConfig

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer

__all__ = ["MODES", "LRFinder", "find_lr"]

MODES = ("linear", "exponential")
_ATTRIBUTES = ("lr", "learning_rate")
_SMOOTHING = 0.98  # share of the past in the smoothed loss
_log = logging.getLogger(__name__)


class LRFinder:
    """What a range test found.

    Attributes:
        results: ``"lr"``, the rates tried, and ``"loss"``, the smoothed loss after a step with each.
        mode: How the rate grew.
        lr_min: The first rate.
        lr_max: Where it was heading.
        num_training: In how many steps.
    """

    def __init__(self, mode: str, lr_min: float, lr_max: float, num_training: int) -> None:
        if mode not in MODES:
            raise ValueError(f"`mode` must be one of {MODES}, not {mode!r}")
        self.mode, self.lr_min, self.lr_max, self.num_training = mode, lr_min, lr_max, num_training
        self.results: dict[str, list[float]] = {}
        self._optimal_idx: int | None = None

    def suggestion(self, skip_begin: int = 10, skip_end: int = 1) -> float | None:
        """Return the rate at which the loss fell most steeply.

        Args:
            skip_begin: How many of the first rates are left out, where the loss is not smooth yet.
            skip_end: How many of the last rates are left out, where it may explode.

        Returns:
            The rate; ``None`` (and an error in the log) when fewer than two finite losses are left.
        """
        losses = torch.tensor(self.results["loss"][skip_begin:-skip_end])
        rates = torch.tensor(self.results["lr"][skip_begin:-skip_end])
        finite = torch.isfinite(losses)
        if int(finite.sum()) < 2:
            _log.error(
                "No learning rate can be suggested: there are too few losses. Test more rates"
                " (`num_training`), with more data."
            )
            self._optimal_idx = None
            return None
        slope = torch.gradient(losses[finite], spacing=[rates[finite]])[0]
        steepest = finite.nonzero().flatten()[torch.argmin(slope)]
        self._optimal_idx = range(len(self.results["loss"]))[skip_begin:-skip_end][int(steepest)]
        return self.results["lr"][self._optimal_idx]

    def plot(self, suggest: bool = False, show: bool = False, ax: Any = None) -> Any:
        """Draw the loss over the rate.

        Args:
            suggest: Mark the suggestion with a red point.
            show: Show the figure.
            ax: The matplotlib axes to draw on; those of a new figure unless given.

        Returns:
            The figure.

        Raises:
            MisconfigurationException: Without matplotlib.
        """
        try:
            import matplotlib.pyplot as plt  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise MisconfigurationException("`plot` needs matplotlib: pip install matplotlib") from None
        if ax is None:
            figure, ax = plt.subplots()
        else:
            figure = ax.figure
        rates, losses = self.results["lr"], self.results["loss"]
        ax.plot(rates, losses)
        if self.mode == "exponential":
            ax.set_xscale("log")
        ax.set_xlabel("Learning rate")
        ax.set_ylabel("Loss")
        if suggest and self.suggestion() is not None:
            assert self._optimal_idx is not None
            index = self._optimal_idx
            ax.plot(rates[index], losses[index], markersize=10, marker="o", color="red")
        if show:
            plt.show()
        return figure


class _Growth(LRScheduler):
    """Lets the rate grow from what it is to ``end``; the first two steps have the first rate."""

    def __init__(self, optimizer: Optimizer, end: float, steps: int, mode: str) -> None:
        self._end, self._steps, self._exponential = end, steps, mode == "exponential"
        super().__init__(optimizer)

    def get_lr(self) -> list[Any]:
        """Return the rates of the next step."""
        if self.last_epoch <= 0:
            self.current = list(self.base_lrs)
        else:
            share = (self.last_epoch + 1) / self._steps
            self.current = [
                base * (self._end / base) ** share if self._exponential else base + share * (self._end - base)
                for base in self.base_lrs
            ]
        return self.current


class _Probe(Callback):
    """Notes rates and smoothed losses, and stops when the loss explodes."""

    def __init__(self, threshold: float | None, start: int) -> None:
        self.rates: list[float] = []
        self.losses: list[float] = []
        self._threshold, self._start = threshold, start
        self._average = self._best = 0.0

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        if self._steps_now(trainer):
            self.rates.append(trainer.lr_scheduler_configs[0].scheduler.current[0])

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if not self._steps_now(trainer):
            return
        if outputs is None or (not isinstance(outputs, torch.Tensor) and not outputs):
            self.losses.append(math.nan)  # no loss for this rate: it is no candidate
            return
        loss = (outputs if isinstance(outputs, torch.Tensor) else outputs["loss"]).item()
        step = trainer.global_step - self._start  # 2.6 counts from 0, and finds nothing in later epochs
        self._average = _SMOOTHING * self._average + (1 - _SMOOTHING) * loss
        smoothed = self._average / (1 - _SMOOTHING ** (step + 1))
        if self._threshold is not None and step > 1 and smoothed > self._threshold * self._best:
            trainer.should_stop = True
        trainer.should_stop = trainer.strategy.broadcast(trainer.should_stop)
        if smoothed < self._best or step == 1:
            self._best = smoothed
        self.losses.append(smoothed)

    @staticmethod
    def _steps_now(trainer: Trainer) -> bool:
        return (trainer.fit_loop.batch_idx + 1) % trainer.accumulate_grad_batches == 0


def find_lr(
    trainer: Trainer,
    min_lr: float = 1e-8,
    max_lr: float = 1,
    num_training: int = 100,
    mode: str = "exponential",
    early_stop_threshold: float | None = 4.0,
    update_attr: bool = False,
    attr_name: str = "",
) -> LRFinder | None:
    """Run the test within ``fit``; arguments as for :meth:`relight.tuner.Tuner.lr_find`.

    Returns:
        What was found; ``None`` with ``fast_dev_run``.

    Raises:
        AttributeError: If there is no attribute to update.
        MisconfigurationException: If there is not exactly one optimizer.
    """
    if trainer.fast_dev_run:
        rank_zero_warn("`fast_dev_run` is on: no learning rate is searched.")
        return None
    if update_attr:
        attr_name = _attribute_name(trainer, attr_name)
    if (count := len(trainer.optimizers)) != 1:
        raise MisconfigurationException(
            f"A learning rate can be searched for one optimizer; `configure_optimizers` returned {count}"
        )
    start = trainer.global_step
    finder = LRFinder(mode, min_lr, max_lr, num_training)
    probe = _Probe(early_stop_threshold, start)
    with Search(trainer, "lr_find", probe) as search:
        trainer.max_steps = start + num_training
        trainer.limit_val_batches = num_training
        optimizer: Any = trainer.optimizers[0]
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] = min_lr
        scheduler = _Growth(getattr(optimizer, "optimizer", optimizer), max_lr, num_training, mode)
        trainer.lr_scheduler_configs = [LRSchedulerConfig(scheduler, interval="step")]
        search.run()
        if trainer.global_step != start + num_training:
            rank_zero_info(f"The search for a learning rate ended early, after {trainer.global_step} steps.")
        finder.results = trainer.strategy.broadcast({"lr": probe.rates, "loss": probe.losses})
    if update_attr and (rate := finder.suggestion()) is not None:
        attributes.put(trainer, attr_name, rate)
        for each in trainer.optimizers:
            for group in each.param_groups:
                group["lr"] = rate
        rank_zero_info(f"Learning rate set to {rate}")
    return finder


def _attribute_name(trainer: Trainer, given: str) -> str:
    if given:
        if not attributes.has(trainer, given):
            raise AttributeError(
                f"`attr_name={given!r}`: neither the module nor the data module, nor their `hparams`, have it"
            )
        return given
    for name in _ATTRIBUTES:
        if attributes.has(trainer, name):
            return name
    raise AttributeError(
        f"The learning rate found has no place: the module and its `hparams` have none of {_ATTRIBUTES}."
        " Name the attribute with `attr_name`, or pass `update_attr=False`."
    )

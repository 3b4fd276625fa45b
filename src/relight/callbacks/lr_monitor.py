"""Log learning rates, and momentum and weight decay if wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch.optim import Optimizer

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class _Entry(NamedTuple):
    """An optimizer, the names of its parameter groups, and when its scheduler steps (None: it has none)."""

    optimizer: Optimizer
    names: list[str]
    interval: str | None


class LearningRateMonitor(Callback):
    """Log the learning rate of every parameter group to the loggers, and to ``callback_metrics``.

    Names are those of Lightning: ``lr-<Optimizer>``, for a second one of the class ``lr-<Optimizer>-1``, with
    several groups ``…/pg1``, ``…/pg2`` or the group's own ``name``; the scheduler configuration's ``name``
    takes the place of ``lr-<Optimizer>``.

    Args:
        logging_interval: ``"step"``, ``"epoch"``, or None for the interval of each scheduler.
        log_momentum: also log ``<name>-momentum`` (the first of the ``betas`` for Adam and its like).
        log_weight_decay: also log ``<name>-weight_decay``.

    Attributes:
        lrs: all learning rates seen, by name.

    Raises:
        MisconfigurationException: for another interval; in a fit without a logger; for two groups of an
            optimizer that have the same name.
    """

    def __init__(
        self,
        logging_interval: Literal["step", "epoch"] | None = None,
        log_momentum: bool = False,
        log_weight_decay: bool = False,
    ) -> None:
        if logging_interval not in (None, "step", "epoch"):
            raise MisconfigurationException("logging_interval should be `step` or `epoch` or `None`.")
        self.logging_interval = logging_interval
        self.log_momentum = log_momentum
        self.log_weight_decay = log_weight_decay
        self.lrs: dict[str, list[float]] = {}
        self.last_momentum_values: dict[str, float | None] = {}
        self.last_weight_decay_values: dict[str, float | None] = {}

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Find the names."""
        if not trainer.loggers:
            raise MisconfigurationException(
                "Cannot use `LearningRateMonitor` callback with `Trainer` that has no logger."
            )
        entries = list(_entries(trainer))
        if self.log_momentum and any(
            not {"momentum", "betas"} & entry.optimizer.defaults.keys() for entry in entries
        ):
            rank_zero_warn(
                "You have set log_momentum=True, but some optimizers do not have momentum."
                " This will log a value 0 for the momentum.",
                category=RuntimeWarning,
            )
        names = [name for entry in entries for name in entry.names]
        self.lrs = {name: [] for name in names}
        self.last_momentum_values = dict.fromkeys(f"{name}-momentum" for name in names)
        self.last_weight_decay_values = dict.fromkeys(f"{name}-weight_decay" for name in names)

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Log what is logged by step."""
        if self.logging_interval != "epoch" and trainer._logger_connector.should_update_logs:
            self._log(trainer, "step")

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log what is logged by epoch."""
        if self.logging_interval != "step":
            self._log(trainer, "epoch")

    def _log(self, trainer: Trainer, interval: str) -> None:
        stats: dict[str, float] = {}
        for entry in _entries(trainer):
            # Without an interval of our own the scheduler's decides; without a scheduler, both log.
            if self.logging_interval is None and entry.interval not in (None, interval):
                continue
            for group, name in zip(entry.optimizer.param_groups, entry.names, strict=True):
                stats.update(self._stats(group, name, "betas" in entry.optimizer.defaults))
        if not stats:
            return
        device = trainer.strategy.root_device
        trainer.callback_metrics.update(
            {name: torch.tensor(value, device=device) for name, value in stats.items()}
        )
        for logger in trainer.loggers:
            logger.log_metrics(stats, step=trainer.fit_loop.epoch_loop._batches_that_stepped)

    def _stats(self, group: dict[str, Any], name: str, betas: bool) -> dict[str, float]:
        if name not in self.lrs and name.endswith("/pg1"):
            # a second group was added during training: the first one's history goes on under its new name
            self.lrs[name] = self.lrs.pop(name.removesuffix("/pg1"), [])
        self.lrs.setdefault(name, []).append(group["lr"])
        stats = {name: group["lr"]}
        if self.log_momentum:
            key = f"{name}-momentum"
            stats[key] = group["betas"][0] if betas else group.get("momentum", 0)
            self.last_momentum_values[key] = stats[key]
        if self.log_weight_decay:
            key = f"{name}-weight_decay"
            stats[key] = self.last_weight_decay_values[key] = group["weight_decay"]
        return stats


def _entries(trainer: Trainer) -> Iterator[_Entry]:
    """Yield the optimizers that have a scheduler, once for each scheduler, then those that have none."""
    seen: list[Optimizer] = []
    of_class: Counter[type[Optimizer]] = Counter()
    for config in trainer.lr_scheduler_configs:
        optimizer = config.scheduler.optimizer
        seen.append(optimizer)
        yield _Entry(optimizer, _names(optimizer, config.name, of_class), config.interval)
    for wrapped in trainer.optimizers:
        optimizer = getattr(wrapped, "optimizer", wrapped)
        if not any(optimizer is other for other in seen):
            seen.append(optimizer)
            yield _Entry(optimizer, _names(optimizer, None, of_class), None)


def _names(optimizer: Optimizer, name: str | None, of_class: Counter[type[Optimizer]]) -> list[str]:
    kind = type(optimizer)
    if name is None:
        name = f"lr-{kind.__name__}"
        of_class[kind] += 1
    # Counting stays in step with Lightning: it also numbers a named scheduler by its optimizer's class.
    if of_class[kind] > 1:
        name += f"-{of_class[kind] - 1}"
    groups = optimizer.param_groups
    own = [group.get("name", f"pg{i}") for i, group in enumerate(groups, start=1)]
    if twice := {text for text in own if own.count(text) > 1}:
        raise MisconfigurationException(
            "A single `Optimizer` cannot have multiple parameter groups with identical"
            f" `name` values. {name} has duplicated parameter group names {twice}"
        )
    if len(groups) == 1:
        return [f"{name}/{groups[0]['name']}" if groups[0].get("name") else name]
    return [f"{name}/{text}" for text in own]

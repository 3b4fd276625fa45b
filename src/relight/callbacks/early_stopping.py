"""Stop training when a monitored metric stops improving."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from lightning_utilities.core import rank_zero
from torch import Tensor

from relight.callbacks.stopping import StoppingCondition
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class EarlyStoppingReason(Enum):
    """Why training was stopped (values as Lightning 2.6 writes them into checkpoints)."""

    NOT_STOPPED = 0
    STOPPING_THRESHOLD = 1
    DIVERGENCE_THRESHOLD = 2
    PATIENCE_EXHAUSTED = 3
    NON_FINITE_METRIC = 4


class EarlyStopping(StoppingCondition):
    """Stop training when ``monitor`` has stopped improving.

    Args:
        monitor: name of the logged metric.
        min_delta: smallest change that counts as an improvement; a change of exactly ``min_delta`` does not.
        patience: number of checks in a row without improvement after which training stops. A check is made
            once an epoch or once a validation, see ``check_on_train_epoch_end``.
        verbose: report improvements and the reason for stopping.
        mode: ``"min"`` or ``"max"``.
        strict: raise if the metric is missing; otherwise skip the check.
        check_finite: stop when the metric is NaN or infinite.
        stopping_threshold: stop at once when the metric is better than this.
        divergence_threshold: stop at once when the metric is worse than this.
        check_on_train_epoch_end: check at the end of the training epoch rather than of the validation. By
            default at the end of the epoch if validation runs exactly once in each.
        log_rank_zero_only: with ``verbose``, report from rank 0 only.

    Attributes:
        wait_count: checks without improvement so far.
        best_score: the best value seen.
        stopped_epoch: the epoch in which training was stopped, 0 if it was not.
        stopping_reason: an :class:`EarlyStoppingReason`.
        stopping_reason_message: the same in words, or None.

    Raises:
        MisconfigurationException: if ``mode`` is unknown.
        RuntimeError: in a check, if ``strict`` and the metric is missing.
    """

    mode_dict: dict[str, Callable[..., Tensor]] = {"min": torch.lt, "max": torch.gt}
    order_dict = {"min": "<", "max": ">"}

    def __init__(
        self,
        monitor: str,
        min_delta: float = 0.0,
        patience: int = 3,
        verbose: bool = False,
        mode: str = "min",
        strict: bool = True,
        check_finite: bool = True,
        stopping_threshold: float | None = None,
        divergence_threshold: float | None = None,
        check_on_train_epoch_end: bool | None = None,
        log_rank_zero_only: bool = False,
    ) -> None:
        super().__init__()
        if mode not in self.mode_dict:
            raise MisconfigurationException(f"`mode` can be {', '.join(self.mode_dict)}, got {mode}")
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.mode = mode
        self.strict = strict
        self.check_finite = check_finite
        self.stopping_threshold = stopping_threshold
        self.divergence_threshold = divergence_threshold
        self.log_rank_zero_only = log_rank_zero_only
        # Signed, so that "current - min_delta" works for both modes; users read it with its sign in 2.6 too.
        self.min_delta = min_delta if mode == "max" else -min_delta
        self.wait_count = 0
        self.stopped_epoch = 0
        self.stopping_reason = EarlyStoppingReason.NOT_STOPPED
        self.stopping_reason_message: str | None = None
        self.best_score = torch.tensor(torch.inf if mode == "min" else -torch.inf)
        self._check_on_train_epoch_end = check_on_train_epoch_end
        self._wants_to_stop = False

    # -- identity and state ---------------------------------------------------------------------------------

    @property
    def state_key(self) -> str:
        """The class name with monitor and mode, as Lightning writes it."""
        return self._generate_state_key(monitor=self.monitor, mode=self.mode)

    @property
    def monitor_op(self) -> Callable[..., Tensor]:
        """``torch.lt`` or ``torch.gt``: whether the first value is better than the second."""
        return self.mode_dict[self.mode]

    def state_dict(self) -> dict[str, Any]:
        """Count, best value and reason, with the keys of Lightning 2.6."""
        return {
            "wait_count": self.wait_count,
            "stopped_epoch": self.stopped_epoch,
            "best_score": self.best_score,
            "patience": self.patience,
            "stopping_reason": self.stopping_reason.value,
            "stopping_reason_message": self.stopping_reason_message,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back a state of this or of an older release, which knew no reason."""
        self.wait_count = state_dict["wait_count"]
        self.stopped_epoch = state_dict.get("stopped_epoch", self.stopped_epoch)
        self.best_score = state_dict.get("best_score", self.best_score)
        self.patience = state_dict.get("patience", self.patience)
        reason = state_dict.get("stopping_reason", EarlyStoppingReason.NOT_STOPPED.value)
        self.stopping_reason = EarlyStoppingReason(reason)
        self.stopping_reason_message = state_dict.get("stopping_reason_message")

    # -- hooks ----------------------------------------------------------------------------------------------

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Settle when to check, if the user left it open."""
        self._wants_to_stop = False
        if self._check_on_train_epoch_end is None and stage == "fit":
            self._check_on_train_epoch_end = (
                trainer.val_check_interval == 1.0 and trainer.check_val_every_n_epoch == 1
            )

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Check here if checks are made once a training epoch."""
        if self._check_on_train_epoch_end and not self._should_skip_check(trainer):
            self._run_early_stopping_check(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Check here if checks are made once a validation."""
        if not self._check_on_train_epoch_end and not self._should_skip_check(trainer):
            self._run_early_stopping_check(trainer)

    def should_stop(self, trainer: Trainer) -> bool:
        """Tell whether a check of this run decided to stop."""
        return self._wants_to_stop

    # -- the check ------------------------------------------------------------------------------------------

    def _should_skip_check(self, trainer: Trainer) -> bool:
        return trainer.state.fn != "fit" or trainer.sanity_checking

    def _run_early_stopping_check(self, trainer: Trainer) -> None:
        """Look at the metric; set ``trainer.should_stop`` on all processes if one of them wants to stop."""
        metrics = trainer.callback_metrics
        if trainer.fast_dev_run or not self._validate_condition_metric(metrics):
            return
        wants, reason = self._evaluate_stopping_criteria(metrics[self.monitor].squeeze())
        wants = trainer.strategy.reduce_boolean_decision(wants, all=False)
        if wants:
            self._wants_to_stop = trainer.should_stop = True
            self.stopped_epoch = trainer.current_epoch
            self.stopping_reason_message = reason
        if reason and self.verbose:
            self._log_info(trainer, reason, self.log_rank_zero_only)

    def _validate_condition_metric(self, logs: Mapping[str, Tensor]) -> bool:
        if self.monitor in logs:
            return True
        message = (
            f"Early stopping conditioned on metric `{self.monitor}` which is not available."
            " Pass in or modify your `EarlyStopping` callback to use any of the following:"
            f" `{'`, `'.join(logs)}`"
        )
        if self.strict:
            raise RuntimeError(message)
        if self.verbose:
            rank_zero_warn(message, category=RuntimeWarning)
        return False

    def _evaluate_stopping_criteria(self, current: Tensor) -> tuple[bool, str | None]:
        """Update the state for a new value; return whether to stop and what to tell."""
        metric = f"{self.monitor} = {current}"
        if self.check_finite and not torch.isfinite(current):
            self.stopping_reason = EarlyStoppingReason.NON_FINITE_METRIC
            return True, (
                f"Monitored metric {metric} is not finite."
                f" Previous best value was {self.best_score:.3f}. Signaling Trainer to stop."
            )
        better, sign = self.monitor_op, self.order_dict[self.mode]
        if self.stopping_threshold is not None and better(current, self.stopping_threshold):
            self.stopping_reason = EarlyStoppingReason.STOPPING_THRESHOLD
            return True, (
                f"Stopping threshold reached: {metric} {sign} {self.stopping_threshold}."
                " Signaling Trainer to stop."
            )
        if self.divergence_threshold is not None and better(-current, -self.divergence_threshold):
            self.stopping_reason = EarlyStoppingReason.DIVERGENCE_THRESHOLD
            return True, (
                f"Divergence threshold reached: {metric} {sign} {self.divergence_threshold}."
                " Signaling Trainer to stop."
            )
        if better(current - self.min_delta, self.best_score.to(current.device)):
            message = self._improvement_message(current)
            self.best_score = current
            self.wait_count = 0
            return False, message
        self.wait_count += 1
        if self.wait_count < self.patience:
            return False, None
        self.stopping_reason = EarlyStoppingReason.PATIENCE_EXHAUSTED
        return True, (
            f"Monitored metric {self.monitor} did not improve in the last {self.wait_count} records."
            f" Best score: {self.best_score:.3f}. Signaling Trainer to stop."
        )

    def _improvement_message(self, current: Tensor) -> str:
        if torch.isfinite(self.best_score):
            return (
                f"Metric {self.monitor} improved by {abs(self.best_score - current):.3f} >="
                f" min_delta = {abs(self.min_delta)}. New best score: {current:.3f}"
            )
        return f"Metric {self.monitor} improved. New best score: {current:.3f}"

    @staticmethod
    def _log_info(trainer: Trainer, message: str, log_rank_zero_only: bool) -> None:
        if trainer.world_size > 1:
            message = f"[rank: {trainer.global_rank}] {message}"
        if not log_rank_zero_only or trainer.is_global_zero:
            rank_zero.log.info(message)  # the logger of rank_zero_info, on any rank

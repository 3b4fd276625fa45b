"""Measure the time of each stage and stop training when a limit is reached."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from relight.callbacks.stopping import StoppingCondition
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_info

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

# As they stand in checkpoints of Lightning 2.6, in that order.
_STAGES = ("train", "sanity_check", "validate", "test", "predict")
_INTERVALS = ("step", "epoch")


class Timer(StoppingCondition):
    """Measure training, validation and test time; stop training after ``duration``.

    Time spent in earlier runs counts after a resume: it is part of the checkpoint.

    Args:
        duration: ``"DD:HH:MM:SS"``, a ``timedelta``, a dict of its arguments (``{"hours": 12}``), or None to
            measure only.
        interval: look at the clock after every ``"step"`` or every ``"epoch"``.
        verbose: tell when the limit is reached.

    Raises:
        MisconfigurationException: if ``duration`` or ``interval`` cannot be understood.
    """

    def __init__(
        self,
        duration: str | timedelta | dict[str, int] | None = None,
        interval: str = "step",
        verbose: bool = True,
    ) -> None:
        super().__init__()
        interval = str(getattr(interval, "value", interval))
        if interval not in _INTERVALS:
            raise MisconfigurationException(
                f"Unsupported parameter value `Timer(interval={interval})`."
                f" Possible choices are: {', '.join(_INTERVALS)}"
            )
        self._duration = _seconds(duration)
        self._interval = interval
        self._verbose = verbose
        self._start_time: dict[str, float | None] = dict.fromkeys(_STAGES)
        self._end_time: dict[str, float | None] = dict.fromkeys(_STAGES)
        self._offset: float = 0
        self._wants_to_stop = False

    # -- reading it -----------------------------------------------------------------------------------------

    def start_time(self, stage: str = "train") -> float | None:
        """When ``stage`` began, on the monotonic clock in seconds; None if it did not."""
        return self._start_time[_stage(stage)]

    def end_time(self, stage: str = "train") -> float | None:
        """When ``stage`` ended, on the monotonic clock in seconds; None if it did not."""
        return self._end_time[_stage(stage)]

    def time_elapsed(self, stage: str = "train") -> float:
        """Seconds spent in ``stage``; for training with those of the runs before."""
        stage = _stage(stage)
        offset = self._offset if stage == "train" else 0
        start, end = self._start_time[stage], self._end_time[stage]
        if start is None:
            return offset
        return (time.monotonic() if end is None else end) - start + offset

    def time_remaining(self, stage: str = "train") -> float | None:
        """Seconds left of ``duration``; None without a limit."""
        return None if self._duration is None else self._duration - self.time_elapsed(stage)

    # -- stopping -------------------------------------------------------------------------------------------

    def should_stop(self, trainer: Trainer) -> bool:
        """Tell whether the limit was found to be reached in this run."""
        return self._wants_to_stop

    def _check_time_remaining(self, trainer: Trainer) -> None:
        over = self._duration is not None and self.time_elapsed() >= self._duration
        if not trainer.strategy.broadcast(over):
            return
        self._wants_to_stop = trainer.should_stop = True
        if self._verbose:
            elapsed = timedelta(seconds=int(self.time_elapsed()))
            rank_zero_info(f"Time limit reached. Elapsed time is {elapsed}. Signaling Trainer to stop.")

    # -- hooks ----------------------------------------------------------------------------------------------

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Look at once: the time may have been used up in the run that is resumed."""
        self._wants_to_stop = False
        if self._duration is not None:
            self._check_time_remaining(trainer)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock."""
        self._start_time["train"] = time.monotonic()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Stop the clock."""
        self._end_time["train"] = time.monotonic()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Look at the clock if the interval is a step."""
        if self._duration is not None and self._interval == "step":
            self._check_time_remaining(trainer)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Look at the clock if the interval is an epoch."""
        if self._duration is not None and self._interval == "epoch":
            self._check_time_remaining(trainer)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the validation clock."""
        self._start_time["validate"] = time.monotonic()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Stop the validation clock."""
        self._end_time["validate"] = time.monotonic()

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the test clock."""
        self._start_time["test"] = time.monotonic()

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Stop the test clock."""
        self._end_time["test"] = time.monotonic()

    # -- state ----------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Seconds by stage, as Lightning 2.6 writes them."""
        return {"time_elapsed": {stage: self.time_elapsed(stage) for stage in _STAGES}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Count on from the training time of the run that is resumed."""
        self._offset = state_dict.get("time_elapsed", {}).get("train", 0)


def _seconds(duration: str | timedelta | dict[str, int] | None) -> float | None:
    if duration is None:
        return None
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    if isinstance(duration, dict):
        return timedelta(**duration).total_seconds()
    match = re.fullmatch(r"(\d+):(\d\d):(\d\d):(\d\d)", duration.strip())
    if match is None:
        raise MisconfigurationException(
            f"`Timer(duration={duration!r})` is not a valid duration."
            " Expected a string in the format DD:HH:MM:SS."
        )
    days, hours, minutes, seconds = map(int, match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()


def _stage(stage: str) -> str:
    name = str(getattr(stage, "value", stage))
    if name not in _STAGES:
        raise ValueError(f"{stage!r} is not a stage; stages are {', '.join(_STAGES)}")
    return name

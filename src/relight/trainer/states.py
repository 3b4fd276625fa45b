"""Where a Trainer is: which entry point runs, in which stage, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["RunningStage", "TrainerFn", "TrainerState", "TrainerStatus"]


class _Text(str, Enum):
    def __str__(self) -> str:
        return str(self.value)


class TrainerStatus(_Text):
    """How the Trainer is doing."""

    INITIALIZING = "initializing"
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"

    @property
    def stopped(self) -> bool:
        """Whether nothing runs any more."""
        return self in (TrainerStatus.FINISHED, TrainerStatus.INTERRUPTED)


class TrainerFn(_Text):
    """The entry point that was called; also what ``setup(stage)`` and ``teardown(stage)`` are given."""

    FITTING = "fit"
    VALIDATING = "validate"
    TESTING = "test"
    PREDICTING = "predict"


class RunningStage(_Text):
    """What is being done within the entry point."""

    TRAINING = "train"
    SANITY_CHECKING = "sanity_check"
    VALIDATING = "validate"
    TESTING = "test"
    PREDICTING = "predict"

    @property
    def evaluating(self) -> bool:
        """Whether an evaluation loop runs."""
        return self in (RunningStage.VALIDATING, RunningStage.TESTING, RunningStage.SANITY_CHECKING)

    @property
    def dataloader_prefix(self) -> str:
        """What a loader of this stage is called: ``val`` for ``val_dataloader``."""
        if self in (RunningStage.VALIDATING, RunningStage.SANITY_CHECKING):
            return "val"
        return str(self.value)


@dataclass
class TrainerState:
    """The Trainer's state.

    Attributes:
        status: How the last or running entry point is doing.
        fn: The entry point, ``None`` before the first.
        stage: What is being done, ``None`` when nothing is.
    """

    status: TrainerStatus = TrainerStatus.INITIALIZING
    fn: TrainerFn | None = None
    stage: RunningStage | None = None

    @property
    def finished(self) -> bool:
        """Whether the last entry point ended as it should."""
        return self.status == TrainerStatus.FINISHED

    @property
    def stopped(self) -> bool:
        """Whether the last entry point ended, well or not."""
        return self.status.stopped

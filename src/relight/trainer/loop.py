"""What all loops share: whether they go on from a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relight.trainer.results import ResultCollection

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["Loop"]


class Loop:
    """A loop whose progress can be saved and loaded.

    Attributes:
        restarting: The loop was saved in the middle, and goes on there.
        loaded: The loop's progress came from a checkpoint and nothing was done since.
    """

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.restarting = False
        self.loaded = False
        self.results: ResultCollection | None = None

    def on_iteration_done(self) -> None:
        """Something was done: the checkpoint is history."""
        self.restarting = self.loaded = False

    def state_dict(self) -> dict[str, Any]:
        """Return the progress as a checkpoint of Lightning 2.x stores it."""
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the progress from a checkpoint; what an older file lacks stays as it is."""
        raise NotImplementedError

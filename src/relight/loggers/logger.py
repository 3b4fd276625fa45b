"""The base of loggers, and one that does nothing."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lightning_fabric.loggers.logger import Logger as FabricLogger
from lightning_fabric.loggers.logger import _DummyExperiment as DummyExperiment
from lightning_fabric.loggers.logger import rank_zero_experiment

if TYPE_CHECKING:
    from relight.callbacks import Checkpoint

__all__ = ["DummyExperiment", "DummyLogger", "Logger", "rank_zero_experiment"]


class Logger(FabricLogger, ABC):
    """Base of loggers; Lightning Fabric's, with what a Trainer needs besides.

    A subclass has to bring ``name``, ``version``, ``log_metrics(metrics, step)`` and
    ``log_hyperparams(params)``. Decorate its writing methods with
    :func:`relight.utilities.rank_zero.rank_zero_only` and its ``experiment`` property with
    :func:`rank_zero_experiment`.
    """

    #: Whether the experiment has to begin before those of other loggers.
    begins_first = False

    def after_save_checkpoint(self, checkpoint_callback: Checkpoint) -> None:
        """Called on rank 0 after a checkpoint was written, with a weak proxy of the callback that did."""

    @property
    def save_dir(self) -> str | None:
        """Directory below which this logger writes, or None if it writes no files."""
        return None


class DummyLogger(Logger):
    """A logger that does nothing, whatever is called; ``fast_dev_run`` puts it in place of the user's."""

    def __init__(self) -> None:
        super().__init__()
        self._experiment = DummyExperiment()

    @property
    def experiment(self) -> DummyExperiment:
        """An object whose methods do nothing."""
        return self._experiment

    @property
    def name(self) -> str:
        """Empty."""
        return ""

    @property
    def version(self) -> str:
        """Empty."""
        return ""

    def log_metrics(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""

    def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""

    def __getitem__(self, index: Any) -> DummyLogger:
        """Return itself: ``self.logger[0].experiment`` was the way to one of several loggers."""
        return self

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return a method that does nothing."""
        if name.startswith("__"):  # copying and pickling ask whether these exist
            raise AttributeError(name)
        return self._experiment.nop

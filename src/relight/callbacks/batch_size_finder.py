"""Search the largest batch size at the beginning of an entry point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException, RunEnded
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer

__all__ = ["BatchSizeFinder"]


class BatchSizeFinder(Callback):
    """Finds the largest batch size that fits into memory before the run, which then has it.

    A subclass may call :meth:`scale_batch_size` in other hooks.

    Args:
        mode: ``"power"`` doubles the size until memory runs out; ``"binsearch"`` then looks between the last
            two.
        steps_per_trial: Batches to a trial.
        init_val: The first size.
        max_trials: How many sizes are tried at most.
        batch_arg_name: The attribute of module, data module or the ``hparams`` of either.
        margin: Share, from 0 and below 1, by which ``"binsearch"`` reduces what it found.
        max_val: The largest size.

    Attributes:
        optimal_batch_size: What was found; ``init_val`` before.

    Raises:
        ValueError: For an unknown mode, or a margin out of bounds.
    """

    SUPPORTED_MODES = ("power", "binsearch")

    def __init__(
        self,
        mode: str = "power",
        steps_per_trial: int = 3,
        init_val: int = 2,
        max_trials: int = 25,
        batch_arg_name: str = "batch_size",
        margin: float = 0.05,
        max_val: int = 8192,
    ) -> None:
        if mode.lower() not in self.SUPPORTED_MODES:
            raise ValueError(f"`mode` must be one of {self.SUPPORTED_MODES}, not {mode!r}")
        if not 0.0 <= margin < 1.0:
            raise ValueError(f"`margin` must be from 0 and below 1, not {margin!r}")
        self.optimal_batch_size: int | None = init_val
        self._mode, self._steps_per_trial = mode.lower(), steps_per_trial
        self._init_val, self._max_trials = init_val, max_trials
        self._batch_arg_name, self._margin, self._max_val = batch_arg_name, margin, max_val
        self._early_exit = False  # the Tuner wants the search only

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str | None = None) -> None:
        """Check that the size can be changed.

        Raises:
            MisconfigurationException: If not.
        """
        from relight.tuner import attributes
        from relight.tuner.search import ask_for_data

        if trainer.world_size > 1:
            raise MisconfigurationException("A batch size can be searched with one process only")
        loop = trainer._active_loop
        if not loop.source.is_module():
            raise MisconfigurationException(
                "A batch size cannot be searched with loaders that were passed to the Trainer: let the module"
                " or a data module make them, with the size that its attribute says"
            )
        if stage != "fit":
            ask_for_data(loop)
            if loop.combined_loader is not None and len(loop.combined_loader.flattened) > 1:
                raise MisconfigurationException(
                    f"A batch size cannot be searched with several {trainer.state.stage} loaders"
                )
        name = self._batch_arg_name
        if not attributes.has(trainer, name):
            raise MisconfigurationException(
                f"Neither the module nor the data module, nor their `hparams`, have {name!r}; name the"
                " attribute with `batch_arg_name`"
            )
        if hasattr(pl_module, name) and name in pl_module.hparams:
            rank_zero_warn(
                f"Both the module and its `hparams` have {name!r}, and a batch size is searched for both."
                " Keep one."
            )

    def scale_batch_size(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search."""
        from relight.tuner.batch_size import find_batch_size

        self.optimal_batch_size = find_batch_size(
            trainer, self._mode, self._steps_per_trial, self._init_val, self._max_trials,
            self._batch_arg_name, self._margin, self._max_val,
        )  # fmt: skip
        if self._early_exit:
            raise RunEnded

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search."""
        self.scale_batch_size(trainer, pl_module)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search, unless fit validates."""
        if not trainer.sanity_checking and trainer.state.fn == "validate":
            self.scale_batch_size(trainer, pl_module)

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search."""
        self.scale_batch_size(trainer, pl_module)

    def on_predict_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Search."""
        self.scale_batch_size(trainer, pl_module)

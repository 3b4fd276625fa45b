"""Print the model's layers when a fit begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relight.callbacks._layer_table import LayerTable
from relight.callbacks.callback import Callback
from relight.utilities.rank_zero import rank_zero_info

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class ModelSummary(Callback):
    """Show a table of the model's layers and parameters when a fit begins, on rank 0.

    Args:
        max_depth: levels of nesting to list; -1 all, 0 turns the summary off.
        **summarize_kwargs: passed on to :meth:`summarize`, for subclasses.
    """

    def __init__(self, max_depth: int = 1, **summarize_kwargs: Any) -> None:
        self._max_depth = max_depth
        self._summarize_kwargs = summarize_kwargs

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Make and show the table."""
        if self._max_depth and trainer.is_global_zero:
            self.summarize(LayerTable(pl_module, self._max_depth), **self._summarize_kwargs)

    @staticmethod
    def summarize(table: LayerTable, **summarize_kwargs: Any) -> None:
        """Show ``table``; override it to show it elsewhere."""
        rank_zero_info(f"\n{table}")

"""Print the model's layers when a fit begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relight.callbacks._layer_table import LayerTable, table_text
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
            table = LayerTable(pl_module, self._max_depth)
            self.summarize(
                table.columns(),
                table.total_parameters,
                table.trainable_parameters,
                table.model_size,
                table.total_training_modes,
                total_flops=table.total_flops,
                **self._summarize_kwargs,
            )

    @staticmethod
    def summarize(
        summary_data: list[tuple[str, list[str]]],
        total_parameters: int,
        trainable_parameters: int,
        model_size: float,
        total_training_modes: dict[str, int],
        total_flops: int,
        **summarize_kwargs: Any,
    ) -> None:
        """Show the table; override it to show it elsewhere.

        Args:
            summary_data: titles and cells of the columns.
            total_parameters: how many there are.
            trainable_parameters: how many of them need a gradient.
            model_size: their megabytes.
            total_training_modes: the number of layers in ``"train"`` and in ``"eval"`` mode.
            total_flops: of a forward pass with the module's ``example_input_array``, 0 without.
            **summarize_kwargs: those of the constructor.
        """
        text = table_text(
            summary_data,
            total_parameters,
            trainable_parameters,
            model_size,
            total_training_modes,
            total_flops,
        )
        rank_zero_info(f"\n{text}")

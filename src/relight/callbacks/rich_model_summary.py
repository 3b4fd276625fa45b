"""Print the model's layers as a rich table."""

from __future__ import annotations

from typing import Any

from relight.callbacks._layer_table import human_count
from relight.callbacks.model_summary import ModelSummary


class RichModelSummary(ModelSummary):
    """Like :class:`ModelSummary`, drawn by rich on the terminal.

    Args:
        max_depth: levels of nesting to list; -1 all, 0 turns the summary off.
        **summarize_kwargs: arguments of :class:`rich.table.Table`.
    """

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
        """Draw the table; arguments as for :meth:`ModelSummary.summarize`."""
        from rich import get_console
        from rich.table import Table

        drawn = Table(header_style="bold", **summarize_kwargs)
        for title, _ in summary_data:
            drawn.add_column(title)
        for row in zip(*(cells for _, cells in summary_data), strict=True):
            drawn.add_row(*row)
        console = get_console()
        console.print(drawn)
        console.print(
            f"Trainable params: {human_count(trainable_parameters)}, all: {human_count(total_parameters)},"
            f" size: {model_size:,.3f} MB"
        )

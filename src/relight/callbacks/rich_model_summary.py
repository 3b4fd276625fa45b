"""Print the model's layers as a rich table."""

from __future__ import annotations

from typing import Any

from relight.callbacks._layer_table import LayerTable, human_count
from relight.callbacks.model_summary import ModelSummary


class RichModelSummary(ModelSummary):
    """Like :class:`ModelSummary`, drawn by rich on the terminal.

    Args:
        max_depth: levels of nesting to list; -1 all, 0 turns the summary off.
        **summarize_kwargs: arguments of :class:`rich.table.Table`.
    """

    @staticmethod
    def summarize(table: LayerTable, **summarize_kwargs: Any) -> None:
        """Draw ``table``."""
        from rich import get_console
        from rich.table import Table

        rows = table.rows()
        drawn = Table(header_style="bold", **summarize_kwargs)
        for title in next(rows):
            drawn.add_column(title)
        for row in rows:
            drawn.add_row(*row)
        console = get_console()
        console.print(drawn)
        total = table.total_parameters
        console.print(
            f"Trainable params: {human_count(table.trainable_parameters)}, all: {human_count(total)},"
            f" size: {table.model_size:,.3f} MB"
        )

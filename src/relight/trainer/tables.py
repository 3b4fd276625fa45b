"""The table of results that validate and test print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from relight.trainer.states import RunningStage

__all__ = ["print_results"]


def print_results(outputs: Sequence[Mapping[str, Any]], stage: RunningStage) -> None:
    """Print what was logged, a row for each metric and a column for each loader."""
    columns = [
        {name.split("/dataloader_idx_")[0]: value for name, value in output.items()} for output in outputs
    ]
    names = sorted({name for column in columns for name in column})
    if not names:
        return
    rows = [[name, *(_text(column.get(name)) for column in columns)] for name in names]
    header = [f"{str(stage).capitalize()} metric", *(f"DataLoader {i}" for i in range(len(columns)))]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    bar = "─" * (sum(widths) + 3 * len(widths))
    print(bar)
    for row in (header, None, *rows):
        if row is None:
            print(bar)
        else:
            print("   ".join(cell.center(width) for cell, width in zip(row, widths, strict=True)))
    print(bar)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Tensor):
        value = value.item() if value.numel() == 1 else value.tolist()
    return str(value)

"""The progress bar under Lightning's other name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relight.callbacks.progress.tqdm_progress import TQDMProgressBar


@dataclass
class RichProgressBarTheme:
    """Colours, which the one bar of relight does not use; kept so that code which sets them runs."""

    description: str = ""
    progress_bar: str = "#6206E0"
    progress_bar_finished: str = "#6206E0"
    progress_bar_pulse: str = "#6206E0"
    batch_progress: str = ""
    time: str = "dim"
    processing_speed: str = "dim underline"
    metrics: str = "italic"
    metrics_text_delimiter: str = " "
    metrics_format: str = ".3f"


class RichProgressBar(TQDMProgressBar):
    """The same bar as :class:`TQDMProgressBar`, with the arguments of Lightning's ``RichProgressBar``.

    Args:
        refresh_rate: number of batches between two updates; 0 shows nothing.
        leave: leave a line for every finished epoch.
        theme: accepted and ignored.
        console_kwargs: accepted and ignored.
    """

    def __init__(
        self,
        refresh_rate: int = 1,
        leave: bool = False,
        theme: RichProgressBarTheme | None = None,
        console_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(refresh_rate=refresh_rate, leave=leave)
        self.theme = theme or RichProgressBarTheme()
        self._console_kwargs = console_kwargs or {}

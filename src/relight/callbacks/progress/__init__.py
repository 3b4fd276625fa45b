"""Progress bars."""

from __future__ import annotations

from relight.callbacks.progress.progress_bar import ProgressBar
from relight.callbacks.progress.rich_progress import RichProgressBar, RichProgressBarTheme
from relight.callbacks.progress.tqdm_progress import TQDMProgressBar

__all__ = ["ProgressBar", "RichProgressBar", "RichProgressBarTheme", "TQDMProgressBar"]

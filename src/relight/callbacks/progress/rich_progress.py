"""A progress bar drawn by rich, in colours that can be chosen."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relight.callbacks.progress._shown import ShownBar
from relight.utilities.memory import map_tensors
from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID
    from rich.style import Style

    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["RichProgressBar", "RichProgressBarTheme"]

#: Drawings a second: the eye sees no more, and drawing is what costs.
_MOST = 20


@dataclass
class RichProgressBarTheme:
    """Styles of the parts of a bar, as https://rich.readthedocs.io/en/stable/style.html describes them.

    Args:
        description: the text in front.
        progress_bar: the bar.
        progress_bar_finished: the bar once it is full.
        progress_bar_pulse: the bar of a loader without a length.
        batch_progress: the count of batches.
        time: time passed and time left.
        processing_speed: batches a second.
        metrics: the metrics.
        metrics_text_delimiter: what stands between two of them.
        metrics_format: how their numbers are written.
    """

    description: str | Style = ""
    progress_bar: str | Style = "#6206E0"
    progress_bar_finished: str | Style = "#6206E0"
    progress_bar_pulse: str | Style = "#6206E0"
    batch_progress: str | Style = ""
    time: str | Style = "dim"
    processing_speed: str | Style = "dim underline"
    metrics: str | Style = "italic"
    metrics_text_delimiter: str = " "
    metrics_format: str = ".3f"


class RichProgressBar(ShownBar):
    """Show progress with rich: redrawn on a terminal, the last state elsewhere (a file, a CI log).

    Override :meth:`configure_columns` to show other columns, :meth:`get_metrics` for other metrics.

    Args:
        refresh_rate: at most so many drawings a second (more than 20 are never made); 0 shows nothing.
        leave: leave the bar of every finished epoch.
        theme: the colours.
        console_kwargs: arguments of ``rich.console.Console``.
    """

    def __init__(
        self,
        refresh_rate: int = 100,
        leave: bool = False,
        theme: RichProgressBarTheme = RichProgressBarTheme(),  # noqa: B008  (as Lightning's signature)
        console_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.theme = theme
        self.progress: Progress | None = None
        self._refresh_rate = refresh_rate
        self._leave = leave
        self._console_kwargs = console_kwargs or {}
        self._drawn_at = 0.0
        self._tasks: dict[str, TaskID] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what holds locks."""
        return {**vars(self), "progress": None, "_tasks": {}}

    # -- settings -------------------------------------------------------------------------------------------

    @property
    def refresh_rate(self) -> float:
        """Drawings a second, at most."""
        return self._refresh_rate

    def configure_columns(self, trainer: Trainer) -> list[Any]:
        """Return the columns before the metrics, of :mod:`rich.progress`."""
        from rich.progress import BarColumn, TextColumn

        theme = self.theme
        return [
            TextColumn("[progress.description]{task.description}"),
            BarColumn(
                complete_style=theme.progress_bar,
                finished_style=theme.progress_bar_finished,
                pulse_style=theme.progress_bar_pulse,
            ),
            _column(_count, theme.batch_progress),
            _column(_clock, theme.time),
            _column(_speed, theme.processing_speed),
        ]

    def get_metrics(self, trainer: Trainer, pl_module: LightningModule) -> dict[str, Any]:
        """Return what to show beside the bar, as numbers."""
        metrics: dict[str, Any] = map_tensors(super().get_metrics(trainer, pl_module), lambda t: t.item())
        return metrics

    # -- the bars -------------------------------------------------------------------------------------------

    def _bar(self, which: str) -> Task:
        if self.progress is None or which not in self._tasks:
            raise TypeError(f"The {which} bar of `{type(self).__name__}` has not been made yet.")
        return self.progress.tasks[self.progress.task_ids.index(self._tasks[which])]

    @property
    def train_progress_bar(self) -> Task:
        """The training bar."""
        return self._bar("train")

    @property
    def val_sanity_check_bar(self) -> Task:
        """The bar of the sanity check."""
        return self._bar("sanity")

    @property
    def val_progress_bar(self) -> Task:
        """The validation bar."""
        return self._bar("val")

    @property
    def test_progress_bar(self) -> Task:
        """The test bar."""
        return self._bar("test")

    @property
    def predict_progress_bar(self) -> Task:
        """The predict bar."""
        return self._bar("predict")

    def _begin(self, trainer: Trainer) -> None:
        if self.is_disabled or self.progress is not None:
            return
        from rich import get_console
        from rich.console import Console
        from rich.progress import Progress

        self._tasks = {}
        self.progress = Progress(
            *self.configure_columns(trainer),
            _column(_metrics, self.theme.metrics),
            auto_refresh=False,  # by us: a thread would take time from the steps
            console=Console(**self._console_kwargs) if self._console_kwargs else get_console(),
        )
        self.progress.start()

    def _end(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress, self._tasks = None, {}

    def _restart(self, which: str, total: float, text: str) -> None:
        """Show a bar from its start; one bar stands for all epochs and loaders."""
        if self.progress is None or self.is_disabled:
            return
        known = None if math.isinf(total) else total
        text = f"[{self.theme.description}]{text}" if self.theme.description else text
        if which in self._tasks:
            task = self._tasks[which]
            self.progress.reset(task, description=text, visible=True)
            # `reset` and `update` take `None` for "as before".
            self._bar(which).total = known
        else:
            self._tasks[which] = self.progress.add_task(text, total=known, metrics="")
        self._draw(now=True)

    def _move(self, which: str, done: int) -> None:
        if self.progress is None or self.is_disabled or which not in self._tasks:
            return
        self.progress.update(self._tasks[which], completed=done)
        self._draw()

    def _begin_loader(self, which: str, total: float, text: str, dataloader_idx: int) -> None:
        self._restart(which, total, text)

    def _hide(self, which: str) -> None:
        if self.progress is not None and which in self._tasks:
            self.progress.update(self._tasks[which], visible=False)
            self._draw(now=True)

    def _due(self) -> bool:
        return time.monotonic() - self._drawn_at >= 1 / min(self._refresh_rate, _MOST)

    def _draw(self, now: bool = False) -> None:
        if self.progress is not None and self.is_enabled and (now or self._due()):
            self.progress.refresh()
            self._drawn_at = time.monotonic()

    def refresh(self, hard: bool = False) -> None:
        """Draw if it is time to, or, if ``hard``, in any case."""
        self._draw(now=hard)

    def _show_metrics(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self.progress is None or self.is_disabled or "train" not in self._tasks:
            return
        theme = self.theme
        texts = [
            f"{name}: {_number(value, theme.metrics_format)}"
            for name, value in self.get_metrics(trainer, pl_module).items()
        ]
        self.progress.update(self._tasks["train"], metrics=theme.metrics_text_delimiter.join(texts))

    def _train_text(self, trainer: Trainer) -> str:
        epochs = trainer.max_epochs
        last = "" if epochs is None or epochs < 0 else f"/{epochs - 1}"
        # As wide as the validation's text, so that bars stand below each other.
        return f"Epoch {trainer.current_epoch}{last}".ljust(len(self.validation_description))

    # -- hooks: training ------------------------------------------------------------------------------------

    def on_sanity_check_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin."""
        self._begin(trainer)

    def on_sanity_check_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take the bar of the sanity check away."""
        self._hide("sanity")
        self.reset_dataloader_idx_tracker()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin."""
        self._begin(trainer)

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the training bar again."""
        if self._leave and "train" in self._tasks:
            self._end()
            self._begin(trainer)
        self._restart("train", self.total_train_batches, self._train_text(trainer))

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Move the training bar."""
        if self.progress is None or self.is_disabled:
            return
        if "train" not in self._tasks:  # a run that goes on within an epoch
            self._restart("train", self.total_train_batches, self._train_text(trainer))
        if self._due():  # reading metrics waits for the device: only for what is drawn
            self._show_metrics(trainer, pl_module)
        self._move("train", batch_idx + 1)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the metrics of the epoch."""
        self._show_metrics(trainer, pl_module)
        self._draw(now=True)

    # -- hooks: evaluation ----------------------------------------------------------------------------------

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin."""
        self._begin(trainer)

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin."""
        self._begin(trainer)

    def on_predict_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin."""
        self._begin(trainer)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take the validation bar of a fit away."""
        if trainer.state.fn == "fit":
            self._hide("val")

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """During a fit show the new metrics on the training bar."""
        if trainer.state.fn == "fit":
            self._show_metrics(trainer, pl_module)
        self.reset_dataloader_idx_tracker()

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Forget the loader."""
        self.reset_dataloader_idx_tracker()

    def on_predict_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Forget the loader."""
        self.reset_dataloader_idx_tracker()

    # -- the end --------------------------------------------------------------------------------------------

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Leave the terminal as it was."""
        self._end()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Leave the terminal as it was, before the traceback."""
        self._end()


# What the columns show


def _column(text_of: Any, style: str | Style) -> Any:
    """Return a column of rich that shows what ``text_of`` returns for a task."""
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Column(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(text_of(task), style=style)

    return Column()


def _count(task: Task) -> str:
    return f"{int(task.completed)}/{'--' if task.total is None else int(task.total)}"


def _clock(task: Task) -> str:
    elapsed = task.finished_time if task.finished else task.elapsed
    return f"{_time(elapsed)} • {_time(task.time_remaining)}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-:--:--"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def _speed(task: Task) -> str:
    return f"{task.speed or 0.0:.2f}it/s"


def _metrics(task: Task) -> str:
    return str(task.fields.get("metrics", ""))


def _number(value: Any, form: str) -> str:
    if isinstance(value, str):
        return value
    try:
        return format(value, form)
    except (TypeError, ValueError):
        return str(value)

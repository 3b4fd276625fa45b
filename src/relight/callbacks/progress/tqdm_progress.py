"""The default progress bar."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

from relight.callbacks.progress._bar import Bar
from relight.callbacks.progress._shown import ShownBar
from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class TQDMProgressBar(ShownBar):
    """Show progress: a line that is redrawn on a terminal, a line an epoch elsewhere (a file, a CI log).

    Name, arguments and attributes are those of Lightning's bar; tqdm itself is not needed. To change a bar,
    override ``init_train_tqdm`` and its sisters; they may also return a ``tqdm.tqdm``. A bar is drawn at most
    ten times a second, and only then are metrics fetched.

    Args:
        refresh_rate: number of batches between two updates; 0 shows nothing.
        process_position: number of lines to leave free above.
        leave: leave a line for every finished epoch.
    """

    def __init__(self, refresh_rate: int = 1, process_position: int = 0, leave: bool = False) -> None:
        super().__init__()
        self._refresh_rate = _resolve_refresh_rate(refresh_rate)
        self._process_position = process_position
        self._leave = leave
        # Any, not Bar: a user's own bar need only look like tqdm's.
        self._train_progress_bar: Any = None
        self._val_progress_bar: Any = None
        self._test_progress_bar: Any = None
        self._predict_progress_bar: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the bars, which hold open files."""
        return {name: None if name.endswith("_progress_bar") else v for name, v in vars(self).items()}

    # -- settings -------------------------------------------------------------------------------------------

    @property
    def refresh_rate(self) -> int:
        """Number of batches between two updates."""
        return self._refresh_rate

    @property
    def process_position(self) -> int:
        """Number of lines left free above."""
        return self._process_position

    # -- the bars -------------------------------------------------------------------------------------------

    def _bar(self, which: str) -> Any:
        bar = getattr(self, f"_{which}_progress_bar")
        if bar is None:
            raise TypeError(
                f"The `{type(self).__name__}._{which}_progress_bar` reference has not been set yet."
            )
        return bar

    @property
    def train_progress_bar(self) -> Any:
        """The training bar."""
        return self._bar("train")

    @train_progress_bar.setter
    def train_progress_bar(self, bar: Any) -> None:
        self._train_progress_bar = bar

    @property
    def val_progress_bar(self) -> Any:
        """The validation bar, also of the sanity check."""
        return self._bar("val")

    @val_progress_bar.setter
    def val_progress_bar(self, bar: Any) -> None:
        self._val_progress_bar = bar

    @property
    def test_progress_bar(self) -> Any:
        """The test bar."""
        return self._bar("test")

    @test_progress_bar.setter
    def test_progress_bar(self, bar: Any) -> None:
        self._test_progress_bar = bar

    @property
    def predict_progress_bar(self) -> Any:
        """The predict bar."""
        return self._bar("predict")

    @predict_progress_bar.setter
    def predict_progress_bar(self, bar: Any) -> None:
        self._predict_progress_bar = bar

    def _new(self, desc: str, leave: bool, below: int = 0) -> Bar:
        return Bar(
            desc=desc,
            position=2 * self._process_position + below,
            disable=self.is_disabled,
            leave=leave,
            file=sys.stdout,
        )

    def init_sanity_tqdm(self) -> Any:
        """Make the bar of the sanity check."""
        return self._new(self.sanity_check_description, leave=False)

    def init_train_tqdm(self) -> Any:
        """Make the training bar."""
        return self._new(self.train_description, leave=True)

    def init_validation_tqdm(self) -> Any:
        """Make the validation bar, during a fit one line below the training bar."""
        alone = self.trainer.state.fn == "validate"
        return self._new(self.validation_description, leave=alone, below=0 if alone else 1)

    def init_test_tqdm(self) -> Any:
        """Make the test bar."""
        return self._new(self.test_description, leave=True)

    def init_predict_tqdm(self) -> Any:
        """Make the predict bar."""
        return self._new(self.predict_description, leave=True)

    # -- hooks: training ------------------------------------------------------------------------------------

    def on_sanity_check_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the bar of the sanity check."""
        self.val_progress_bar = self.init_sanity_tqdm()
        self.train_progress_bar = Bar(disable=True)  # hooks of a user's subclass may ask for it

    def on_sanity_check_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Close the bar of the sanity check."""
        self.val_progress_bar.close()

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the training bar."""
        self.train_progress_bar = self.init_train_tqdm()

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the training bar again."""
        if self._leave and trainer.current_epoch > 0:
            self.train_progress_bar = self.init_train_tqdm()
        _restart(self.train_progress_bar, self.total_train_batches, f"Epoch {trainer.current_epoch}")

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Move the training bar."""
        bar, n = self._train_progress_bar, batch_idx + 1
        if bar is not None and self._should_update(n, bar.total) and _advance(bar, n):
            bar.set_postfix(self.get_metrics(trainer, pl_module))

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the metrics of the epoch."""
        bar = self.train_progress_bar
        if not bar.disable:
            bar.set_postfix(self.get_metrics(trainer, pl_module))
            if isinstance(bar, Bar):
                bar.flush_line()
        if self._leave:
            bar.close()

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Close the training bar."""
        self.train_progress_bar.close()

    # -- hooks: evaluation ----------------------------------------------------------------------------------

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the validation bar."""
        if not trainer.sanity_checking:
            self.val_progress_bar = self.init_validation_tqdm()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Close the validation bar; during a fit show the new metrics on the training bar."""
        self.val_progress_bar.close()
        self.reset_dataloader_idx_tracker()
        bar = self._train_progress_bar
        if trainer.state.fn == "fit" and bar is not None and not bar.disable:
            bar.set_postfix(self.get_metrics(trainer, pl_module))

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the test bar."""
        self.test_progress_bar = self.init_test_tqdm()

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Close the test bar."""
        self.test_progress_bar.close()
        self.reset_dataloader_idx_tracker()

    def on_predict_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the predict bar."""
        self.predict_progress_bar = self.init_predict_tqdm()

    def on_predict_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Close the predict bar."""
        self.predict_progress_bar.close()
        self.reset_dataloader_idx_tracker()

    # -- the rest -------------------------------------------------------------------------------------------

    def print(self, *args: Any, sep: str = " ", **kwargs: Any) -> None:
        """Print above the bar that is open; without one, nowhere (as on ranks other than 0)."""
        bars = (self._train_progress_bar, self._val_progress_bar, self._test_progress_bar)
        for bar in (*bars, self._predict_progress_bar):
            if bar is not None and not bar.disable:
                bar.write(sep.join(map(str, args)), **kwargs)
                return

    def _should_update(self, current: int, total: float | None) -> bool:
        rate = self._refresh_rate
        return self._enabled and rate > 0 and (current % rate == 0 or current == total)

    def _begin_loader(self, which: str, total: float, text: str, dataloader_idx: int) -> None:
        bar = getattr(self, f"{'val' if which == 'sanity' else which}_progress_bar")
        _restart(bar, total, f"{text} DataLoader {dataloader_idx}")

    def _move(self, which: str, done: int) -> None:
        bar = getattr(self, f"_{'val' if which == 'sanity' else which}_progress_bar")
        if bar is not None and self._should_update(done, bar.total) and _advance(bar, done):
            bar.refresh()


def _advance(bar: Any, n: int) -> bool:
    """Set the count; tell whether to draw. A user's own bar is drawn every time, as in Lightning."""
    if isinstance(bar, Bar):
        return bar.due(n)
    if not bar.disable:
        bar.n = n
    return not bar.disable


def _restart(bar: Any, total: float | None, text: str) -> None:
    bar.reset()
    bar.total = None if total is None or not math.isfinite(total) else total
    bar.initial = 0
    bar.set_description(text)


def _resolve_refresh_rate(refresh_rate: int) -> int:
    if os.getenv("COLAB_GPU") and refresh_rate == 1:
        return 20  # a notebook there hangs when it is updated more often
    return max(int(os.environ.get("TQDM_MINITERS", 0)), refresh_rate)

"""The bar that rich draws."""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import pytest
import torch

import relight
from relight.callbacks import RichProgressBar
from relight.callbacks.progress import RichProgressBarTheme


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.fails = False

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        if self.fails:
            raise ValueError("no more")
        self.log("half", 0.5, prog_bar=True)
        return self.layer(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("name", 2.0, prog_bar=True)

    def test_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        pass

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        return batch

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.1)

    def train_dataloader(self) -> Any:
        return torch.utils.data.DataLoader(torch.ones(6, 2), batch_size=2)

    val_dataloader = predict_dataloader = train_dataloader

    def test_dataloader(self) -> Any:
        return [self.train_dataloader(), torch.utils.data.DataLoader(torch.ones(2, 2))]


def make(terminal: bool = False, **arguments: Any) -> tuple[RichProgressBar, io.StringIO, relight.Trainer]:
    out = io.StringIO()
    console = {
        "file": out,
        "width": 120,
        "force_terminal": terminal,
        "color_system": "truecolor" if terminal else None,
    }
    bar = RichProgressBar(console_kwargs=console, **arguments)
    trainer = relight.Trainer(
        accelerator="cpu", callbacks=bar, logger=False, enable_checkpointing=False, max_epochs=2
    )
    return bar, out, trainer


def test_a_file_gets_the_last_state() -> None:
    _, out, trainer = make()
    trainer.fit(Net())
    (line,) = out.getvalue().splitlines()
    assert line.startswith("Epoch 1/1  ━")
    assert " 3/3 0:00:00 • 0:00:00 " in line
    assert line.rstrip().endswith("it/s half: 0.500 name: 2.000")


def test_every_epoch_is_left() -> None:
    _, out, trainer = make(leave=True)
    trainer.fit(Net())
    assert [line.split(" ━")[0] for line in out.getvalue().splitlines()] == ["Epoch 0/1 ", "Epoch 1/1 "]


def test_the_other_entry_points() -> None:
    bar, out, trainer = make()
    trainer.validate(Net(), verbose=False)
    trainer.test(Net(), verbose=False)
    trainer.predict(Net())
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert [(line[0], line[2]) for line in lines] == [
        ("Validation", "3/3"),
        ("Testing", "2/2"),
        ("Predicting", "3/3"),
    ]
    with pytest.raises(TypeError, match="test bar"):
        _ = bar.test_progress_bar


def test_a_loader_without_a_length() -> None:
    seen: list[Any] = []

    class Bar(RichProgressBar):
        def on_train_batch_end(self, *args: Any) -> None:
            super().on_train_batch_end(*args)
            seen.append(
                (self.total_train_batches, self.train_progress_bar.total, self.train_progress_bar.completed)
            )

    class Endless(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            yield from torch.ones(3, 2)

    out = io.StringIO()
    bar = Bar(console_kwargs={"file": out, "width": 120})
    trainer = relight.Trainer(
        accelerator="cpu", callbacks=bar, logger=False, enable_checkpointing=False, max_epochs=1
    )
    trainer.fit(Net(), torch.utils.data.DataLoader(Endless()))
    assert seen == [(math.inf, None, 1), (math.inf, None, 2), (math.inf, None, 3)]
    assert " 3/-- " in out.getvalue()


def test_themes_and_metrics_on_a_terminal() -> None:
    theme = RichProgressBarTheme(
        description="red",
        metrics="bold",
        metrics_text_delimiter="|",
        metrics_format=".1f",
        progress_bar_finished="#010203",
    )
    _, out, trainer = make(terminal=True, theme=theme)
    trainer.fit(Net())
    text = out.getvalue()
    assert "\x1b[31mEpoch 1/1" in text
    assert "\x1b[38;2;1;2;3m━" in text
    assert "\x1b[1mhalf: 0.5|name: 2.0" in text
    assert "Sanity Checking" in text
    assert "Validation" in text


def test_a_terminal_is_drawn_on_no_more_often_than_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from relight.callbacks.progress import rich_progress

    class Clock:
        now = 0.0

        @classmethod
        def monotonic(cls) -> float:
            return cls.now

    monkeypatch.setattr(rich_progress, "time", Clock)
    bar, _, trainer = make(refresh_rate=4)
    drawn: list[float] = []
    bar._begin(trainer)
    assert bar.progress is not None
    bar._restart("train", 20, "Epoch")
    monkeypatch.setattr(bar.progress, "refresh", lambda: drawn.append(Clock.now))
    for i in range(20):
        Clock.now = i / 16
        bar._move("train", i)
    bar._end()
    assert drawn == [0.25, 0.5, 0.75, 1.0]


def test_a_rate_of_0_shows_nothing() -> None:
    bar, out, trainer = make(refresh_rate=0)
    trainer.fit(Net())
    assert bar.is_disabled
    assert out.getvalue() == ""


def test_an_exception_frees_the_terminal() -> None:
    bar, out, trainer = make(terminal=True)
    model = Net()
    model.fails = True
    with pytest.raises(ValueError, match="no more"):
        trainer.fit(model)
    assert bar.progress is None
    assert out.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is back


def test_a_copy_can_be_pickled_while_it_shows() -> None:
    bar, _, trainer = make()
    bar._console_kwargs = {}
    bar._begin(trainer)
    try:
        copied = pickle.loads(pickle.dumps(bar))
    finally:
        bar._end()
    assert copied.progress is None
    assert copied.theme == bar.theme


def test_the_rate_of_1_x_was_a_number_of_batches() -> None:
    import relight.compat as pl

    bars = [pl.callbacks.RichProgressBar(), pl.callbacks.RichProgressBar(7), pl.callbacks.RichProgressBar(0)]
    assert [(bar.refresh_rate, bar.is_enabled) for bar in bars] == [(1, True), (7, True), (0, False)]

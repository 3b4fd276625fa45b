"""The progress bar: what it draws, and that it draws seldom."""

from __future__ import annotations

import io
import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from relight.callbacks import ProgressBar, TQDMProgressBar
from relight.callbacks.progress._bar import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def make_trainer(**settings: Any) -> Any:
    values: dict[str, Any] = {
        "is_global_zero": True,
        "loggers": [],
        "progress_bar_metrics": {},
        "sanity_checking": False,
        "state": SimpleNamespace(fn="fit"),
        "current_epoch": 0,
        "global_step": 0,
        "max_epochs": 2,
        "max_steps": -1,
        "num_training_batches": 4,
        "num_val_batches": [2, 3],
        "num_sanity_val_batches": [1, 1],
        "num_test_batches": [5],
        "num_predict_batches": [6],
        "check_val_every_n_epoch": 1,
    }
    return SimpleNamespace(**{**values, **settings})


def run_epoch(bar: TQDMProgressBar, trainer: Any, batches: int = 4) -> None:
    bar.setup(trainer, None, "fit")
    bar.on_train_start(trainer, None)
    bar.on_train_epoch_start(trainer, None)
    for i in range(batches):
        trainer.progress_bar_metrics = {"loss": torch.tensor(0.5)}
        bar.on_train_batch_end(trainer, None, None, None, i)
    bar.on_train_epoch_end(trainer, None)
    bar.on_train_end(trainer, None)


def test_a_file_gets_one_line_an_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    run_epoch(TQDMProgressBar(), make_trainer())
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert out.startswith("Epoch 0: 100%|██████████| 4/4 [")
    assert out.endswith("it/s, loss=0.500]\n")
    assert "\r" not in out
    assert "\x1b" not in out


def test_a_terminal_is_redrawn_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    run_epoch(TQDMProgressBar(), make_trainer())
    text = terminal.getvalue()
    assert text.count("\n") == 1
    assert "4/4" in text.split("\r")[-1]


def test_drawing_and_metrics_are_limited_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr("sys.stdout", Terminal())
    bar, trainer, asked = TQDMProgressBar(), make_trainer(num_training_batches=1000), []
    monkeypatch.setattr(bar, "get_metrics", lambda *a: asked.append(a) or {})
    bar.setup(trainer, None, "fit")
    bar.on_train_start(trainer, None)
    bar.on_train_epoch_start(trainer, None)
    for i in range(1000):
        now += 0.001
        bar.on_train_batch_end(trainer, None, None, None, i)
    assert bar.train_progress_bar.n == 1000
    assert 5 <= len(asked) <= 12, "metrics are to be fetched about ten times a second"


def test_a_rate_of_0_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bar = TQDMProgressBar(refresh_rate=0)
    assert bar.is_disabled
    run_epoch(bar, make_trainer())
    bar.print("unseen")
    assert capsys.readouterr().out == ""


def test_other_ranks_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bar = TQDMProgressBar()
    run_epoch(bar, make_trainer(is_global_zero=False))
    assert capsys.readouterr().out == ""
    bar.enable()
    assert bar.is_enabled


def test_refresh_rate_counts_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = TQDMProgressBar(refresh_rate=3)
    seen = []
    monkeypatch.setattr("relight.callbacks.progress.tqdm_progress._advance", lambda b, n: seen.append(n))
    run_epoch(bar, make_trainer(num_training_batches=8), batches=8)
    assert seen == [3, 6, 8]


def test_a_bar_that_looks_like_tqdms_is_driven_as_lightning_does() -> None:
    class Tqdm:
        disable = False
        n = total = initial = 0

        def __init__(self) -> None:
            self.calls: list[Any] = []

        def reset(self) -> None:
            self.calls.append("reset")

        def set_description(self, text: str) -> None:
            self.calls.append(text)

        def set_postfix(self, metrics: Any) -> None:
            self.calls.append((self.n, metrics))

        def close(self) -> None:
            self.calls.append("close")

    tqdm = Tqdm()

    class Own(TQDMProgressBar):
        def init_train_tqdm(self) -> Any:
            return tqdm

        def get_metrics(self, *_: Any) -> Any:
            return {"v": 1}

    run_epoch(Own(refresh_rate=2), make_trainer())
    assert tqdm.calls == ["reset", "Epoch 0", (2, {"v": 1}), (4, {"v": 1}), (4, {"v": 1}), "close"]
    assert tqdm.total == 4


def test_validation_has_its_own_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    bar, trainer = TQDMProgressBar(), make_trainer()
    bar.setup(trainer, None, "fit")
    bar.on_train_start(trainer, None)
    bar.on_validation_start(trainer, None)
    for loader, batches in enumerate((2, 3)):
        for i in range(batches):
            bar.on_validation_batch_start(trainer, None, None, i, loader)
            bar.on_validation_batch_end(trainer, None, None, None, i, loader)
        assert bar.val_progress_bar.total == batches
        assert bar.val_progress_bar.n == batches
    bar.on_validation_end(trainer, None)
    assert "Validation DataLoader 1: 100%" in terminal.getvalue()
    assert bar.val_progress_bar.disable


def test_test_and_predict_bars(capsys: pytest.CaptureFixture[str]) -> None:
    bar, trainer = TQDMProgressBar(), make_trainer()
    bar.setup(trainer, None, "test")
    bar.on_test_start(trainer, None)
    bar.on_test_batch_start(trainer, None, None, 0)
    bar.on_test_batch_end(trainer, None, None, None, 4)
    bar.on_test_end(trainer, None)
    bar.on_predict_start(trainer, None)
    bar.on_predict_batch_start(trainer, None, None, 0)
    bar.on_predict_batch_end(trainer, None, None, None, 5)
    bar.on_predict_end(trainer, None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("[")[0].rstrip() for line in lines] == [
        "Testing DataLoader 0: 100%|██████████| 5/5",
        "Predicting DataLoader 0: 100%|██████████| 6/6",
    ]


def test_printing_goes_above_the_bar(capsys: pytest.CaptureFixture[str]) -> None:
    bar, trainer = TQDMProgressBar(), make_trainer()
    bar.setup(trainer, None, "fit")
    bar.on_train_start(trainer, None)
    bar.print("a", 1, sep="-")
    assert capsys.readouterr().out == "a-1\n"


def test_totals() -> None:
    bar = TQDMProgressBar()
    with pytest.raises(TypeError, match="has not been set yet"):
        bar.trainer
    with pytest.raises(TypeError, match="has not been set yet"):
        bar.train_progress_bar
    trainer = make_trainer(check_val_every_n_epoch=2)
    bar.setup(trainer, None, "fit")
    assert bar.total_val_batches == 0
    trainer.current_epoch = 1
    assert bar.total_val_batches == 5
    assert bar.total_train_batches == 4
    trainer.max_epochs, trainer.max_steps, trainer.global_step = -1, 10, 8
    assert bar.total_train_batches == 2


def test_an_endless_loader_has_no_total() -> None:
    bar = Bar(desc="x", file=Terminal())
    bar.total = None
    bar.due(5)
    assert bar.text().startswith("x: 5it [")
    run_epoch(TQDMProgressBar(), make_trainer(num_training_batches=math.inf))


def test_metrics_shown(recwarn: pytest.WarningsRecorder) -> None:
    bar = ProgressBar()
    trainer = make_trainer(
        loggers=[SimpleNamespace(version=3)], progress_bar_metrics={"loss": torch.tensor(1.0)}
    )
    assert bar.get_metrics(trainer, None) == {"v_num": 3, "loss": torch.tensor(1.0)}
    trainer.loggers = [SimpleNamespace(version="a-long-name")]
    assert bar.get_metrics(trainer, None)["v_num"] == "name"
    trainer.loggers = [SimpleNamespace(version=1), SimpleNamespace(version=1), SimpleNamespace(version="x")]
    assert bar.get_metrics(trainer, None)["v_num"] == "1_x"
    trainer.loggers = [SimpleNamespace(version="")]
    assert "v_num" not in bar.get_metrics(trainer, None)
    assert not recwarn.list
    trainer.loggers = [SimpleNamespace(version=1)]
    trainer.progress_bar_metrics = {"v_num": 9}
    with pytest.warns(UserWarning, match="v_num"):
        assert bar.get_metrics(trainer, None) == {"v_num": 9}


def test_a_line_longer_than_the_terminal_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    bar = Bar(desc="x" * 100, total=2, file=terminal)
    bar.refresh()
    drawn = terminal.getvalue().removeprefix("\r").removesuffix("\x1b[K")
    assert len(drawn) == 39

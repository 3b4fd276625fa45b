"""Loggers on their own."""

from __future__ import annotations

import csv
import enum
import pickle
import sys
import threading
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import relight
import relight.loggers as loggers
from relight.loggers._versions import next_version


def test_versions_count_up(tmp_path: Path) -> None:
    assert next_version(str(tmp_path / "none")) == 0
    for name in ("version_0", "version_3", "version_x", "other", "version_2_old"):
        (tmp_path / name).mkdir()
    (tmp_path / "version_9").touch()  # a file is no run
    assert next_version(str(tmp_path)) == 4


def test_nothing_is_written_before_something_is_logged(tmp_path: Path) -> None:
    logger = loggers.CSVLogger(tmp_path)
    assert logger.version == 0
    assert logger.log_dir == str(tmp_path / "lightning_logs" / "version_0")
    logger.finalize("success")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.dictionaries(st.sampled_from("abcde"), st.floats(-1e6, 1e6), min_size=1), min_size=1, max_size=8
    ),
    flush=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_any_order_of_columns_and_flushes_gives_one_table(
    rows: list[dict[str, float]], flush: list[bool], tmp_path_factory: pytest.TempPathFactory
) -> None:
    logger = loggers.CSVLogger(tmp_path_factory.mktemp("csv"))
    for step, row in enumerate(rows):
        logger.log_metrics(row, step=step)
        if flush[step]:
            logger.save()
    logger.finalize("success")
    with open(Path(logger.log_dir, "metrics.csv"), newline="") as file:
        reader = csv.DictReader(file)
        written = list(reader)
    assert reader.fieldnames == sorted({*(key for row in rows for key in row), "step"})
    assert [{key: float(value) for key, value in row.items() if value != ""} for row in written] == [
        {**row, "step": float(step)} for step, row in enumerate(rows)
    ]


def test_rows_are_flushed_every_n_steps(tmp_path: Path) -> None:
    logger = loggers.CSVLogger(tmp_path, flush_logs_every_n_steps=3)
    file = Path(logger.log_dir, "metrics.csv")
    for step in range(5):
        logger.log_metrics({"a": torch.tensor(float(step))}, step=step)
        assert file.exists() is (step >= 2)
    assert file.read_text().count("\n") == 4


def test_a_used_directory_warns_and_starts_anew(tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        logger = loggers.CSVLogger(tmp_path, name="x", version=0)
        if value == 2.0:
            with pytest.warns(UserWarning, match="exists and is not empty"):
                logger.log_metrics({"a": value}, step=0)
        else:
            logger.log_metrics({"a": value}, step=0)
        logger.save()
    assert Path(logger.log_dir, "metrics.csv").read_bytes() == b"a,step\r\n2.0,0\r\n"


class Colour(enum.Enum):
    RED = 1


def test_hyperparameters(tmp_path: Path) -> None:
    logger = loggers.CSVLogger(tmp_path)
    logger.log_hyperparams(Namespace(b=1, colour=Colour.RED))
    with pytest.warns(UserWarning, match="Skipping 'bad'"):
        logger.log_hyperparams({"a": [1, 2], "bad": threading.Lock()})
    text = Path(logger.log_dir, "hparams.yaml").read_text()
    assert "a:\n- 1\n- 2\nb: 1\ncolour: RED\n" in text


def test_remote_directory() -> None:
    import fsspec

    logger = loggers.CSVLogger("memory://logs")
    logger.log_metrics({"a": 1.0}, step=0)
    logger.save()
    logger.log_metrics({"b": 1.0}, step=1)
    logger.save()
    fs = fsspec.filesystem("memory")
    assert fs.cat("/logs/lightning_logs/version_0/metrics.csv") == b"a,b,step\r\n1.0,,0\r\n,1.0,1\r\n"
    assert loggers.CSVLogger("memory://logs").version == 1


def test_other_ranks_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from relight.utilities.rank_zero import rank_zero_only

    monkeypatch.setattr(rank_zero_only, "rank", 1)
    logger = loggers.CSVLogger(tmp_path)
    logger.log_metrics({"a": 1.0}, step=0)
    logger.save()
    logger.experiment[2].anything(1)
    assert isinstance(logger.experiment, loggers.logger.DummyExperiment)
    assert list(tmp_path.iterdir()) == []


def test_the_dummy_takes_everything() -> None:
    dummy: Any = loggers.DummyLogger()
    dummy.experiment.add_image("x", 1)
    dummy[0].experiment[1].whatever()
    dummy.log_text("x")
    dummy.log_metrics({"a": 1}, step=1)
    assert (dummy.name, dummy.version, dummy.save_dir) == ("", "", None)
    assert isinstance(pickle.loads(pickle.dumps(dummy)), loggers.DummyLogger)


def test_tensorboard_directories_and_files(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    logger = loggers.TensorBoardLogger(tmp_path, name="n", sub_dir="s")
    logger.log_hyperparams({"lr": 0.1, "nested": {"a": 1}})
    logger.log_metrics({"a": torch.tensor(1.5), "several": {"x": 1.0}}, step=3)
    logger.finalize("success")
    directory = tmp_path / "n" / "version_0" / "s"
    assert logger.log_dir == str(directory)
    assert (directory / "hparams.yaml").read_text() == "lr: 0.1\nnested:\n  a: 1\n"
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(directory)).Reload()
    assert [(e.step, e.value) for e in events.Scalars("a")] == [(3, 1.5)]
    assert loggers.TensorBoardLogger(tmp_path, name="n").version == 1


def test_tensorboard_graph_without_a_trainer(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")

    class Net(relight.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x)

    logger = loggers.TensorBoardLogger(tmp_path, log_graph=True)
    logger.log_graph(Net(), torch.ones(3, 2))
    logger.finalize("success")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert "layer" in str(EventAccumulator(logger.log_dir).Reload().Graph())
    with pytest.warns(UserWarning, match="Could not log computational graph"):
        logger.log_graph(Net())


def test_tensorboard_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[loggers.TensorBoardLogger.__mro__[2].__module__]
    for name in ("_TENSORBOARD_AVAILABLE", "_TENSORBOARDX_AVAILABLE"):
        monkeypatch.setattr(module, name, False)
    with pytest.raises(ModuleNotFoundError, match="tensorboard"):
        loggers.TensorBoardLogger(tmp_path)


@pytest.mark.parametrize(("installed", "kind"), [(True, "TensorBoardLogger"), (False, "CSVLogger")])
def test_default_logger(installed: bool, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if installed:
        pytest.importorskip("tensorboard")
    else:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert type(loggers.default_logger(tmp_path)).__name__ == kind


def test_the_base_asks_for_what_a_logger_must_have() -> None:
    with pytest.raises(TypeError, match="abstract"):
        loggers.Logger()  # type: ignore[abstract]

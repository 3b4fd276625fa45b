"""ModelCheckpoint against a brute-force model of "keep the best k", and its small parts."""

from __future__ import annotations

import math
import os
import tempfile
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relight.callbacks import ModelCheckpoint
from relight.utilities.exceptions import MisconfigurationException


class FakeTrainer(SimpleNamespace):
    """As much of a Trainer as ModelCheckpoint asks for."""

    def __init__(self, directory: str, **settings: Any) -> None:
        alone = SimpleNamespace(
            broadcast=lambda x: x, reduce_boolean_decision=lambda x, all=True: x, barrier=lambda: None
        )
        super().__init__(
            default_root_dir=directory,
            strategy=alone,
            loggers=[],
            is_global_zero=True,
            fast_dev_run=False,
            sanity_checking=False,
            state=SimpleNamespace(fn="fit"),
            check_val_every_n_epoch=1,
            _val_check_seconds=None,
            val_check_interval=1.0,
            num_val_batches=[1],
            current_epoch=0,
            global_step=0,
            ckpt_path=None,
            callback_metrics={},
            written=[],
            is_last_batch=False,
        )
        self.__dict__.update(settings)

    def save_checkpoint(self, path: str, weights_only: bool = False) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(str(self.global_step))
        self.written.append(path)

    def epoch(self, callback: ModelCheckpoint, **metrics: float) -> None:
        self.global_step += 1
        self.callback_metrics = {name: torch.tensor(value) for name, value in metrics.items()}
        callback.on_train_epoch_end(self, None)
        self.current_epoch += 1


def fit(directory: str, values: list[float], **arguments: Any) -> tuple[ModelCheckpoint, FakeTrainer]:
    trainer = FakeTrainer(directory)
    callback = ModelCheckpoint(monitor="m", **arguments)
    callback.setup(trainer, None, "fit")
    for value in values:
        trainer.epoch(callback, m=value)
    return callback, trainer


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.one_of(st.floats(-3, 3, width=32), st.just(math.nan)), min_size=1, max_size=12),
    k=st.integers(-1, 4),
    mode=st.sampled_from(["min", "max"]),
)
def test_keeps_the_best_k(values: list[float], k: int, mode: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        callback, _ = fit(directory, values, save_top_k=k, mode=mode)
        left = sorted(int(p.read_text()) - 1 for p in Path(directory).rglob("*.ckpt"))
    # The model: go through the epochs, keep k, drop the worst when a strictly better one comes.
    # Among equals the one kept longest goes first, as Lightning's dict order has it.
    worst = math.inf if mode == "min" else -math.inf
    sign = 1 if mode == "min" else -1
    kept: list[tuple[float, int]] = []
    for epoch, raw in enumerate(values):
        value = worst if math.isnan(raw) else raw
        if k == 0:
            continue
        if k == -1 or len(kept) < k:
            kept.append((value, epoch))
        elif not math.isnan(raw) and sign * value < sign * (out := _worst(kept, sign))[0]:
            kept.remove(out)
            kept.append((value, epoch))
    assert left == sorted(epoch for _, epoch in kept)
    if kept:
        best = min(kept, key=lambda item: sign * item[0])
        assert callback.best_model_path.endswith(f"epoch={best[1]}-step={best[1] + 1}.ckpt")
        assert float(callback.best_model_score) == pytest.approx(best[0])  # type: ignore[arg-type]
        assert len(callback.best_k_models) == len(kept)


def _worst(kept: list[tuple[float, int]], sign: int) -> tuple[float, int]:
    return max(kept, key=lambda item: sign * item[0])  # the first of equals


@settings(max_examples=60, deadline=None)
@given(
    name=st.from_regex(r"[a-zA-Z_][\w./ -]{0,12}", fullmatch=True),
    value=st.floats(-1e6, 1e6, width=32),
    spec=st.sampled_from([".2f", "03.0f", ".3e", ""]),
    insert=st.booleans(),
)
def test_names_hold_any_metric(name: str, value: float, spec: str, insert: bool) -> None:
    template = f"a-{{{name}:{spec}}}" if spec else f"a-{{{name}}}"
    callback = ModelCheckpoint(filename=template, auto_insert_metric_name=insert)
    tensor = torch.tensor(value)
    expected = format(tensor.item(), spec)
    assert callback.format_checkpoint_name({name: tensor}) == (
        f"a-{name}={expected}.ckpt" if insert else f"a-{expected}.ckpt"
    )


def test_names_with_prefix_and_version() -> None:
    callback = ModelCheckpoint(dirpath="runs", filename="{epoch:02d}")
    path = callback.format_checkpoint_name({"epoch": torch.tensor(3)}, prefix="best", ver=2)
    assert path == os.path.join(os.path.realpath("runs"), "best-epoch=03-v2.ckpt")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "median"}, "mode"),
        ({"save_top_k": -2}, "save_top_k=-2"),
        ({"save_top_k": 2}, "monitor=None"),
        ({"every_n_epochs": -1}, "every_n_epochs=-1"),
        ({"every_n_train_steps": -3}, "every_n_train_steps=-3"),
        ({"every_n_epochs": 1, "every_n_train_steps": 1}, "mutually exclusive"),
        ({"every_n_epochs": 1, "train_time_interval": timedelta(1)}, "mutually exclusive"),
    ],
)
def test_contradictions_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(MisconfigurationException, match=message):
        ModelCheckpoint(**arguments)


def test_files_outside_the_directory_and_the_resumed_one_are_spared(tmp_path: Path) -> None:
    callback, trainer = fit(str(tmp_path / "a"), [3.0])
    elsewhere = tmp_path / "b" / "x.ckpt"
    assert not callback._should_remove_checkpoint(trainer, str(elsewhere), "new")
    assert callback._should_remove_checkpoint(trainer, callback.best_model_path, "new")
    trainer.ckpt_path = callback.best_model_path
    trainer.epoch(callback, m=2.0)
    assert Path(trainer.ckpt_path).exists(), "the file the fit resumed from was removed"


def test_state_is_taken_back_only_for_the_same_directory(tmp_path: Path) -> None:
    callback, _ = fit(str(tmp_path), [3.0, 2.0], save_top_k=2)
    state = callback.state_dict()
    same = ModelCheckpoint(dirpath=callback.dirpath, monitor="m", save_top_k=2)
    same.load_state_dict(state)
    # Lightning stores the current score and does not read it either
    assert same.state_dict() == {**state, "current_score": None}
    other = ModelCheckpoint(dirpath=tmp_path / "other", monitor="m", save_top_k=2)
    with pytest.warns(UserWarning, match="dirpath has changed"):
        other.load_state_dict(state)
    assert other.best_model_path == callback.best_model_path
    assert other.best_k_models == {}


def test_missing_metric_warns_once_before_validation_and_names_what_there_is(tmp_path: Path) -> None:
    trainer = FakeTrainer(str(tmp_path))
    callback = ModelCheckpoint(monitor="nope")
    callback.setup(trainer, None, "fit")
    with pytest.warns(UserWarning, match=r"'nope'.*could not find.*'loss'.*log\('nope', value\)"):
        trainer.epoch(callback, loss=1.0)
    trainer.epoch(callback, loss=1.0)
    callback.on_validation_end(trainer, None)
    with pytest.raises(MisconfigurationException, match="nope"):
        trainer.epoch(callback, loss=1.0)


def test_link_to_last_needs_a_local_directory() -> None:
    callback = ModelCheckpoint(dirpath="memory://runs", save_last="link")
    with pytest.raises(ValueError, match="local file paths"):
        callback.setup(FakeTrainer("."), None, "fit")


def test_remote_directory(tmp_path: Path) -> None:
    import fsspec

    fs = fsspec.filesystem("memory")

    class Remote(FakeTrainer):
        def save_checkpoint(self, path: str, weights_only: bool = False) -> None:
            fs.pipe(path, b"x")

    trainer = Remote(str(tmp_path))
    callback = ModelCheckpoint(dirpath="memory://run1", monitor="m")
    callback.setup(trainer, None, "fit")
    trainer.epoch(callback, m=2.0)
    trainer.epoch(callback, m=1.0)
    assert [os.path.basename(p) for p in fs.ls("/run1", detail=False)] == ["epoch=1-step=2.ckpt"]


def test_find_last_files(tmp_path: Path) -> None:
    for name in ("last.ckpt", "last-v1.ckpt", "lastly.txt", "epoch=1.ckpt"):
        (tmp_path / name).touch()
    callback = ModelCheckpoint(dirpath=tmp_path)
    found = callback._find_last_checkpoints(FakeTrainer("."))
    assert {os.path.basename(p) for p in found} == {"last.ckpt", "last-v1.ckpt"}


def test_to_yaml(tmp_path: Path) -> None:
    callback, _ = fit(str(tmp_path), [0.5])
    callback.to_yaml()
    assert (tmp_path / "checkpoints" / "best_k_models.yaml").read_text() == (
        f"{callback.best_model_path}: 0.5\n"
    )

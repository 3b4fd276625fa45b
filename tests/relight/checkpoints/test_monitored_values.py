"""A checkpoint is named and ranked by the value that belongs to it, and no file of another is removed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from test_atomic_files import Net, fit
from torch.utils.data import DataLoader

import relight
from relight import checkpoint
from relight.callbacks import ModelCheckpoint

pytestmark = pytest.mark.filterwarnings("ignore")


class Validated(Net):
    """Logs in validation the step it ran at."""

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val", float(self.global_step))


@pytest.mark.parametrize(
    ("options", "saves", "when"),
    [
        ({"val_check_interval": 2}, {"every_n_train_steps": 2}, [2, 4, 6, 8, 10, 12]),
        ({"val_check_interval": 2, "check_val_every_n_epoch": None}, {"every_n_train_steps": 4}, [4, 8, 12]),
        ({}, {"every_n_train_steps": 6}, [6, 12]),
        ({}, {"every_n_train_steps": 6, "save_on_train_epoch_end": False}, [6, 12]),
        (
            {"val_check_interval": 0.5},
            {"every_n_train_steps": 3, "save_on_train_epoch_end": True},
            [3, 6, 9, 12],
        ),
        ({}, {}, [6, 12]),
        ({"val_check_interval": 3}, {}, [3, 6, 9, 12]),
        ({"check_val_every_n_epoch": 2}, {"every_n_epochs": 2}, [12]),
    ],
)
def test_the_value_is_that_of_the_validation_after_the_batch(
    options: dict[str, Any], saves: dict[str, Any], when: list[int], tmp_path: Path
) -> None:
    saver = ModelCheckpoint(tmp_path, "{step}-{val:.0f}", monitor="val", save_top_k=-1, **saves)
    trainer = relight.Trainer(
        accelerator="cpu", devices=1, max_epochs=2, logger=False, enable_progress_bar=False, callbacks=[saver],
        default_root_dir=tmp_path,
    )  # fmt: skip
    data: Any = torch.ones(12, 2)
    trainer.fit(Validated(), DataLoader(data, 2), DataLoader(data, 6), **options)
    assert sorted(os.listdir(tmp_path)) == sorted(f"step={step}-val={step}.ckpt" for step in when)
    assert {float(score) for score in saver.best_k_models.values()} == set(map(float, when))


def test_a_value_of_training_waits_for_nothing(tmp_path: Path) -> None:
    saver = ModelCheckpoint(tmp_path, monitor="step_of_batch", save_top_k=-1, every_n_train_steps=1)
    fit(tmp_path, saver, epochs=1)
    assert sorted(os.listdir(tmp_path)) == [f"epoch=0-step={step}.ckpt" for step in (1, 2, 3)]


@pytest.mark.parametrize(
    "options", [{}, {"save_top_k": 1, "monitor": "step_of_batch", "mode": "max"}, {"save_last": True}]
)
@pytest.mark.parametrize("where", ["old/new", ".", "elsewhere"])
def test_resuming_in_another_folder_removes_nothing_of_the_old_one(
    where: str, options: dict[str, Any], tmp_path: Path
) -> None:
    old = tmp_path / "old"
    fit(tmp_path, ModelCheckpoint(old, **options), epochs=2)
    (old / "epoch=9-step=9.ckpt").write_text("of someone else")
    before = {path.name: path.read_bytes() for path in old.glob("*.ckpt")}
    fit(tmp_path, ModelCheckpoint(tmp_path / where, **options), path=old / "epoch=1-step=6.ckpt", epochs=4)
    assert {path.name: path.read_bytes() for path in old.glob("*.ckpt")} == before
    assert checkpoint.load(tmp_path / where / "epoch=3-step=12.ckpt")["global_step"] == 12


def test_files_of_others_in_the_same_folder_stay(tmp_path: Path) -> None:
    for name in ("epoch=1-step=6.ckpt", "last.ckpt", "mine.ckpt"):
        (tmp_path / name).write_text("of someone else")
    fit(tmp_path, ModelCheckpoint(tmp_path, save_last=True))
    for name in ("epoch=1-step=6.ckpt", "last.ckpt", "mine.ckpt"):
        assert (tmp_path / name).read_text() == "of someone else"
    assert {"epoch=2-step=9.ckpt", "last-v1.ckpt"} < set(os.listdir(tmp_path))


def test_a_resumed_run_goes_on_with_its_own_files(tmp_path: Path) -> None:
    fit(tmp_path, ModelCheckpoint(tmp_path, save_last=True), epochs=2)
    fit(tmp_path, ModelCheckpoint(tmp_path, save_last=True), path="last", epochs=4)
    assert sorted(os.listdir(tmp_path)) == ["epoch=3-step=12.ckpt", "last.ckpt"]

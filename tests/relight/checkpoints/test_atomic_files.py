"""Files are there whole or not at all; errors say what happened; links and URLs work."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import checkpoint
from relight.callbacks import ModelCheckpoint
from relight.utilities import atomic

pytestmark = pytest.mark.filterwarnings("ignore")


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self.layer(batch).sum()
        self.log("step_of_batch", float(self.global_step))
        return loss

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters(), lr=0.1)


def loader() -> DataLoader[Any]:
    return DataLoader(torch.ones(6, 2), batch_size=2)  # type: ignore[arg-type]


def fit(directory: Any, *callbacks: Any, path: Any = None, epochs: int = 3) -> relight.Trainer:
    trainer = relight.Trainer(
        accelerator="cpu", devices=1, max_epochs=epochs, logger=False, enable_progress_bar=False,
        callbacks=list(callbacks), default_root_dir=directory,
    )  # fmt: skip
    trainer.fit(Net(), loader(), ckpt_path=path)
    return trainer


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_killed_at_any_step_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_while_saving.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(done.stdout)
    states = [what for what, _, _ in results]
    assert len(states) > 30
    assert set(states) == {"old", "new"}
    assert states == sorted(states, reverse=True)  # the old one up to a step, the new one from there on
    assert states[-1] == "new"
    assert any(files == 2 for _, _, files in results)  # killed children left something
    assert all(left == ["a.ckpt"] for _, left, _ in results)  # which the next save removed


def test_a_file_that_is_being_written_is_not_taken_for_abandoned(tmp_path: Path) -> None:
    def write_another(file: IO[bytes]) -> None:
        file.write(b"first half ")
        atomic.write_atomically(tmp_path / "b", lambda other: other.write(b"b") and None)
        file.write(b"second half")

    atomic.write_atomically(tmp_path / "a", write_another)
    assert (tmp_path / "a").read_bytes() == b"first half second half"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


class FullDisk:
    """Takes some bytes and then has no more room, as a file does."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: Any) -> int:
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *error: Any) -> None:
        self.file.close()


@pytest.mark.parametrize("room", [0, 100, 5000])
def test_a_full_disk_is_said_and_leaves_the_old_file(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ckpt"
    checkpoint.save_atomically({"a": torch.zeros(5000)}, path)
    before = path.read_bytes()
    really = atomic._temporary
    monkeypatch.setattr(atomic, "_temporary", lambda directory: _full(*really(directory), room))
    with pytest.raises(
        OSError, match=r"No space left.*MiB free there.*the previous file is as it was.*a\.ckpt"
    ) as raised:
        checkpoint.save_atomically({"a": torch.ones(5000)}, path)
    assert raised.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ckpt"]


def _full(file: Any, path: str, room: int) -> Any:
    return FullDisk(file, room), path


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "best.ckpt", tmp_path / "last.ckpt"
    target.write_text("best")
    link.symlink_to("best.ckpt")
    checkpoint.save_atomically({"a": 1}, link)
    assert target.read_text() == "best"
    assert not link.is_symlink()
    atomic.link_atomically(str(target), str(link))
    assert os.readlink(link) == "best.ckpt"
    assert sorted(os.listdir(tmp_path)) == ["best.ckpt", "last.ckpt"]


def test_a_directory_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    saver = ModelCheckpoint(tmp_path / "link", save_last="link", monitor="step_of_batch", save_top_k=2)
    fit(tmp_path, saver)
    assert sorted(os.listdir(tmp_path / "real")) == [
        "epoch=0-step=3.ckpt",
        "epoch=1-step=6.ckpt",
        "last.ckpt",
    ]
    assert checkpoint.load(tmp_path / "link" / "last.ckpt")["global_step"] == 6


def test_the_longest_name_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".ckpt")
    checkpoint.save_atomically({"a": 1}, path)
    assert torch.load(path) == {"a": 1}


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_urls(scheme: str, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    url = f"memory://{tmp_path.name}" if scheme == "memory" else f"file://{tmp_path}/files"
    fs = fsspec.filesystem(scheme)
    saver = ModelCheckpoint(url, monitor="step_of_batch", save_top_k=2, mode="max", save_last=True)
    trainer = fit(tmp_path, saver)
    names = sorted(Path(path).name for path in fs.ls(url, detail=False))
    assert names == ["epoch=1-step=6.ckpt", "epoch=2-step=9.ckpt", "last.ckpt"]
    assert checkpoint.load(f"{url}/last.ckpt")["global_step"] == 9
    loaded = Net.load_from_checkpoint(saver.best_model_path)
    assert torch.equal(loaded.layer.weight, trainer.lightning_module.layer.weight)

    again = ModelCheckpoint(url, monitor="step_of_batch", save_top_k=2, mode="max", save_last=True)
    resumed = fit(tmp_path, again, path="last", epochs=4)
    assert resumed.global_step == 12
    names = sorted(Path(path).name for path in fs.ls(url, detail=False))
    assert names == ["epoch=2-step=9.ckpt", "epoch=3-step=12.ckpt", "last.ckpt"]
    with pytest.raises(FileNotFoundError, match="no file at the checkpoint path"):
        checkpoint.load(f"{url}/none.ckpt")
    fs.rm(url, recursive=True)

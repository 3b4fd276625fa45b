"""Checkpoints: written whole or not at all, read without running code, useful messages."""

from __future__ import annotations

import argparse
import fractions
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import Trainer, checkpoint
from relight.utilities.exceptions import CheckpointLoadError, MisconfigurationException

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}
pytestmark = pytest.mark.filterwarnings("ignore")


class Net(relight.LightningModule):
    def __init__(self, width: int = 1, name: str = "net") -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = nn.Linear(2, width)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters(), lr=0.1)


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.path),))


def loader() -> DataLoader[Any]:
    return DataLoader(torch.ones(4, 2), batch_size=2)  # type: ignore[arg-type]


def fitted(tmp_path: Path, module: Any = None, name: str = "a.ckpt") -> Path:
    trainer = Trainer(**QUIET, max_epochs=1, default_root_dir=tmp_path)
    trainer.fit(module or Net(), loader())
    trainer.save_checkpoint(tmp_path / name)
    return tmp_path / name


def test_form_of_the_file(tmp_path: Path) -> None:
    loaded = torch.load(fitted(tmp_path), weights_only=True)
    assert list(loaded) == [
        "epoch", "global_step", "pytorch-lightning_version", "state_dict", "loops", "callbacks",
        "optimizer_states", "lr_schedulers", "hparams_name", "hyper_parameters", "relight",
    ]  # fmt: skip
    assert loaded["pytorch-lightning_version"] == "2.6.6"
    assert loaded["hyper_parameters"] == {"width": 1, "name": "net"}


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = fitted(tmp_path)
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(Exception, match=r"pickle|lambda"):
        checkpoint.save_atomically({"x": lambda: None}, path)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


def test_a_file_has_the_usual_permissions(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert fitted(tmp_path).stat().st_mode == plain.stat().st_mode


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file at the checkpoint path"):
        Trainer(**QUIET, max_epochs=2).fit(Net(), loader(), ckpt_path=tmp_path / "none.ckpt")
    with pytest.raises(FileNotFoundError, match="a directory"):
        Net.load_from_checkpoint(tmp_path)


def test_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    path, trace = tmp_path / "harmful.ckpt", tmp_path / "trace"
    content = torch.load(fitted(tmp_path), weights_only=True)
    torch.save({**content, "extra": Harmful(trace)}, path)
    for read in (
        lambda: Net.load_from_checkpoint(path),
        lambda: Trainer(**QUIET, max_epochs=2).fit(Net(), loader(), ckpt_path=path),
    ):
        with pytest.raises(CheckpointLoadError, match=r"mkdir.*weights_only=False"):
            read()
        assert not trace.exists()


def test_a_trusted_file_may_hold_objects(tmp_path: Path) -> None:
    path = tmp_path / "objects.ckpt"
    content = torch.load(fitted(tmp_path), weights_only=True)
    torch.save({**content, "extra": fractions.Fraction(1, 3)}, path)
    with pytest.raises(CheckpointLoadError, match=r"fractions\.Fraction"):
        checkpoint.load(path)
    assert checkpoint.load(path, weights_only=False)["extra"] == fractions.Fraction(1, 3)
    torch.save({**content, "extra": argparse.Namespace(width=3)}, path)  # nothing but data
    assert checkpoint.load(path)["extra"] == argparse.Namespace(width=3)


def test_every_file_passes_the_seam_for_older_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = fitted(tmp_path), []
    monkeypatch.setattr(checkpoint, "migrate", lambda loaded: seen.append(loaded["epoch"]) or loaded)
    Net.load_from_checkpoint(path)
    Trainer(**QUIET, max_epochs=2).fit(Net(), loader(), ckpt_path=path)
    assert seen == [1, 1]


def test_load_from_checkpoint(tmp_path: Path) -> None:
    path = fitted(tmp_path, Net(3, "three"))
    loaded = Net.load_from_checkpoint(path, name="other")
    assert (loaded.hparams.width, loaded.hparams.name) == (3, "other")
    with pytest.raises(TypeError, match="on the class"):
        loaded.load_from_checkpoint(path)
    with pytest.raises(RuntimeError, match="size mismatch"):
        Net.load_from_checkpoint(path, width=2)
    with open(path, "rb") as file:
        assert Net.load_from_checkpoint(file).hparams.name == "three"
    hparams = tmp_path / "hparams.yaml"
    hparams.write_text("width: 3\nname: yaml\n")
    assert Net.load_from_checkpoint(path, hparams_file=hparams).hparams.name == "yaml"


def test_one_argument_that_holds_all_hyperparameters(tmp_path: Path) -> None:
    class FromNamespace(Net):
        def __init__(self, config: Any) -> None:
            relight.LightningModule.__init__(self)
            self.save_hyperparameters(config)
            self.layer = nn.Linear(2, self.hparams.width)

    path = fitted(tmp_path, FromNamespace(argparse.Namespace(width=2, more="x")))
    stored = torch.load(path, weights_only=True)
    assert stored["hyper_parameters"] == {"width": 2, "more": "x"}

    class FromDict(Net):
        def __init__(self, config: Any) -> None:
            relight.LightningModule.__init__(self)
            self.save_hyperparameters(config)
            self.layer = nn.Linear(2, config["width"])

    path = fitted(tmp_path, FromDict({"width": 2}), "b.ckpt")
    assert torch.load(path, weights_only=True)["hparams_name"] == "config"
    assert FromDict.load_from_checkpoint(path).layer.out_features == 2


def test_strict_loading(tmp_path: Path) -> None:
    path = fitted(tmp_path)

    class Bigger(Net):
        def __init__(self, width: int = 1, name: str = "net") -> None:
            super().__init__(width, name)
            self.more = nn.Linear(1, 1)

    with pytest.raises(RuntimeError, match="Missing key"):
        Bigger.load_from_checkpoint(path)
    assert isinstance(Bigger.load_from_checkpoint(path, strict=False), Bigger)

    class Lenient(Bigger):
        def __init__(self, width: int = 1, name: str = "net") -> None:
            super().__init__(width, name)
            self.strict_loading = False

    assert isinstance(Lenient.load_from_checkpoint(path), Lenient)
    with pytest.raises(ValueError, match="contradicts"):
        Lenient.load_from_checkpoint(path, strict=True)


def test_what_cannot_be_resumed(tmp_path: Path) -> None:
    trainer = Trainer(**QUIET, max_epochs=2, default_root_dir=tmp_path)
    trainer.fit(Net(), loader())
    trainer.save_checkpoint(tmp_path / "weights.ckpt", weights_only=True)
    trainer.save_checkpoint(tmp_path / "all.ckpt")
    with pytest.raises(KeyError, match="save_weights_only"):
        Trainer(**QUIET, max_epochs=3).fit(Net(), loader(), ckpt_path=tmp_path / "weights.ckpt")
    with pytest.raises(MisconfigurationException, match="more than max_epochs=1"):
        Trainer(**QUIET, max_epochs=1).fit(Net(), loader(), ckpt_path=tmp_path / "all.ckpt")
    with pytest.raises(ValueError, match="no `ModelCheckpoint`"):
        Trainer(**QUIET, max_epochs=1).fit(Net(), loader(), ckpt_path="best")
    with pytest.raises(ValueError, match="hpc_ckpt"):
        Trainer(**QUIET, max_epochs=1, default_root_dir=tmp_path).fit(Net(), loader(), ckpt_path="hpc")


def test_last_without_a_file_begins_anew_and_hpc_takes_the_newest(tmp_path: Path) -> None:
    trainer = Trainer(**QUIET, max_epochs=1)
    trainer.fit(Net(), loader(), ckpt_path="last")
    assert trainer.global_step == 2
    for number in (2, 10):
        fitted(tmp_path, name=f"hpc_ckpt_{number}.ckpt")
    trainer = Trainer(**QUIET, max_epochs=2, default_root_dir=tmp_path)
    trainer.fit(Net(), loader(), ckpt_path="hpc")
    assert str(trainer.ckpt_path).endswith("hpc_ckpt_10.ckpt")
    assert trainer.global_step == 4


def test_ckpt_path_can_be_set(tmp_path: Path) -> None:
    path = fitted(tmp_path)
    trainer = Trainer(**QUIET, max_epochs=2)
    trainer.ckpt_path = path
    trainer.fit(Net(), loader())
    assert trainer.global_step == 4
    assert trainer.ckpt_path == path


def test_saving_is_a_hook_of_module_and_callbacks(tmp_path: Path) -> None:
    class Adds(relight.Callback):
        def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
            checkpoint["order"] = ["callback"]

    class Last(Net):
        def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
            checkpoint["order"].append("module")

    trainer = Trainer(**QUIET, max_epochs=1, callbacks=[Adds()])
    trainer.fit(Last(), loader())
    trainer.save_checkpoint(tmp_path / "a.ckpt")
    assert torch.load(tmp_path / "a.ckpt", weights_only=True)["order"] == ["callback", "module"]

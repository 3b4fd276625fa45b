"""Hyperparameters on their way through checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import relight


class Net(relight.LightningModule):
    def __init__(self, conf: Any) -> None:
        super().__init__()
        self.save_hyperparameters(conf)
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def saved(module: Net, folder: Path) -> Path:
    trainer = relight.Trainer(
        accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        max_steps=1,
    )  # fmt: skip
    trainer.fit(module, torch.ones(1, 1))
    trainer.save_checkpoint(folder / "file.ckpt")
    return folder / "file.ckpt"


def test_omegaconf_comes_back_as_omegaconf_from_a_file_without_code(tmp_path: Path) -> None:
    omegaconf = pytest.importorskip("omegaconf")
    conf = omegaconf.OmegaConf.create({"width": 3, "list": [1, {"a": "${width}"}]})
    path = saved(Net(conf), tmp_path)
    assert torch.load(path, weights_only=True)["hyper_parameters"]["list"][1] == {"a": "${width}"}
    loaded = Net.load_from_checkpoint(path)
    assert isinstance(loaded.hparams, omegaconf.DictConfig)
    assert loaded.hparams.list[1].a == 3


@pytest.mark.parametrize("key", ["hparams", "module_arguments"])
def test_keys_of_old_files(tmp_path: Path, key: str) -> None:
    path = saved(Net({"width": 3}), tmp_path)
    checkpoint = torch.load(path)
    checkpoint[key] = {**checkpoint.pop("hyper_parameters"), "width": 4}
    torch.save(checkpoint, path)
    assert Net.load_from_checkpoint(path).hparams["width"] == 4


def test_a_missing_file_of_hyperparameters_warns(tmp_path: Path) -> None:
    path = saved(Net({"width": 3}), tmp_path)
    with pytest.warns(UserWarning, match="no hyperparameters"):
        loaded = Net.load_from_checkpoint(path, hparams_file=tmp_path / "hparams.yaml", conf={"width": 5})
    assert loaded.hparams["width"] == 5

"""The command line under compat: old paths, old arguments, and the Trainer's arguments of 1.x."""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from torch.utils.data import DataLoader, TensorDataset

pytest.importorskip("jsonargparse")

import relight.cli
import relight.compat as pl
from relight.compat import _notices

pytestmark = pytest.mark.filterwarnings("ignore:There are .* training batches", "ignore:No seed found")


class Net(pl.LightningModule):
    def __init__(self, rate: float = 0.1) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.rate = rate
        self.layer = torch.nn.Linear(2, 1)
        self.outputs = 0

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return self.layer(batch[0]).square().mean()

    def training_epoch_end(self, outputs: list[Any]) -> None:
        self.outputs += len(outputs)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), self.rate)


class Data(pl.LightningDataModule):
    def train_dataloader(self) -> Any:
        return DataLoader(TensorDataset(torch.ones(4, 2)))


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["main.py"])
    _notices.forget()


def cli_class(path: str = "cli") -> Any:
    with pl.install(), warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.LegacyWarning)
        return importlib.import_module(f"pytorch_lightning.{path}").LightningCLI


@pytest.mark.parametrize("path", ["cli", "utilities.cli"])
def test_it_is_served_at_its_old_paths(path: str) -> None:
    assert issubclass(cli_class(path), relight.cli.LightningCLI)


def test_the_trainer_takes_arguments_of_1_x(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "argv",
        ["main.py", "fit", "--trainer.gpus=0", "--trainer.max_epochs=2", "--trainer.progress_bar_refresh_rate=0",
         "--trainer.limit_train_batches=3", "--model.rate=0.5", "--trainer.callbacks+=LearningRateMonitor",
         "--trainer.logger=CSVLogger", "--trainer.logger.save_dir=."],
    )  # fmt: skip
    with pytest.warns(pl.LegacyWarning) as told:
        cli = cli_class()(Net, Data, seed_everything_default=3)
    codes = {str(warning.message).partition(" ")[0] for warning in told}
    assert {"TRU101", "TRU119"} <= codes
    # Arguments at their defaults, which the parser filled in, are not reported.
    assert not codes & {"TRU124", "TRU136", "TRU169"}
    assert (cli.model.outputs, cli.model.rate, cli.trainer.max_epochs) == (6, 0.5, 2)
    assert "LearningRateMonitor" in [type(callback).__name__ for callback in cli.trainer.callbacks]
    saved = yaml.safe_load(Path("lightning_logs/version_0/config.yaml").read_text())
    assert (saved["trainer"]["gpus"], saved["seed_everything"]) == ("0", 3)


def test_arguments_of_1_5() -> None:
    with pytest.warns(pl.LegacyWarning) as told:
        cli = cli_class("utilities.cli")(
            Net, Data, relight.cli.SaveConfigCallback, "c.yaml", True, seed_everything_default=None, run=False,
            description="Mine", trainer_defaults={"max_epochs": 5},
        )  # fmt: skip
    messages = " ".join(str(warning.message) for warning in told)
    for name in ("save_config_filename", "save_config_overwrite", "seed_everything_default", "description"):
        assert f"`LightningCLI({name}=…)`" in messages
    assert cli.save_config_kwargs == {"config_filename": "c.yaml", "overwrite": True}
    assert cli.parser.description == "Mine"
    assert cli.config["seed_everything"] is False
    assert cli.trainer.max_epochs == 5
    assert isinstance(cli.trainer, pl.Trainer)


def test_arguments_of_1_9_by_position() -> None:
    cli = cli_class()(Net, None, None, {"overwrite": True}, pl.Trainer, {"max_epochs": 7}, 5, run=False)
    assert (cli.trainer.max_epochs, cli.config["seed_everything"]) == (7, 5)
    assert cli.save_config_callback is None

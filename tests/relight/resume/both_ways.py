"""Run by relight's Python and by one with Lightning 2.6.6: save files, and go on from files of either.

Usage: ROOT save|resume DIRECTORY [FILE …]; prints one line of JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

ROOT, MODE, DIRECTORY, *FILES = sys.argv[1:]
pl = importlib.import_module(ROOT)
callbacks = importlib.import_module(f"{ROOT}.callbacks")
warnings.filterwarnings("ignore")


class Data(pl.LightningDataModule):
    def __init__(self, size: int = 14) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.asked = 0

    def train_dataloader(self) -> Any:
        self.asked += 1
        draw = torch.Generator().manual_seed(3)
        return DataLoader(torch.randn(self.hparams.size, 4, generator=draw), batch_size=2)

    def val_dataloader(self) -> Any:
        return DataLoader(torch.ones(4, 4), batch_size=2)

    def state_dict(self) -> dict[str, Any]:
        return {"asked": self.asked}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.asked = state_dict["asked"] + 10


class Net(pl.LightningModule):
    def __init__(self, width: int = 3, rate: float = 0.05) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))
        self.losses: list[float] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self.net(batch).pow(2).mean()
        self.losses.append(float(loss))
        self.log("loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val_loss", self.net(batch).mean())

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.rate)
        return [optimizer], [
            {
                "scheduler": torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=40),
                "interval": "step",
            },
            {
                "scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0),
                "monitor": "val_loss",
            },
        ]


class Tally(pl.Callback):
    """Has a state, and saves files within an epoch and at its end."""

    def __init__(self) -> None:
        self.batches = 0

    def on_train_batch_end(self, trainer: Any, *args: Any) -> None:
        self.batches += 1
        if MODE == "save" and trainer.global_step == 10:
            trainer.save_checkpoint(f"{DIRECTORY}/{ROOT}-middle.ckpt")

    def on_train_epoch_end(self, trainer: Any, *args: Any) -> None:
        if MODE == "save" and trainer.global_step == 14:
            trainer.save_checkpoint(f"{DIRECTORY}/{ROOT}-end.ckpt")

    def state_dict(self) -> dict[str, Any]:
        return {"batches": self.batches}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.batches = state_dict["batches"]


def scaled() -> Any:
    """Return the precision plugin with a scaler, which the CPU would not be given by name."""
    where = "lightning_fabric" if ROOT == "relight" else "lightning.pytorch"
    precision = importlib.import_module(
        f"{where}.plugins.precision.amp" if ROOT != "relight" else f"{where}.plugins"
    )
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
    return precision.MixedPrecision("16-mixed", "cpu", scaler=scaler)


def fit(path: str | None, where: str) -> dict[str, Any]:
    pl.seed_everything(5, verbose=False)
    tally = Tally()
    kept = callbacks.ModelCheckpoint(
        Path(DIRECTORY) / where, monitor="val_loss", save_top_k=2, save_last=True, every_n_epochs=1
    )
    early = callbacks.EarlyStopping("val_loss", patience=50)
    trainer = pl.Trainer(
        accelerator="cpu", devices=1, max_epochs=4, logger=False, enable_progress_bar=False,
        callbacks=[early, tally, kept], plugins=[scaled()], default_root_dir=DIRECTORY,
        **({"enable_model_summary": False} if ROOT != "relight" else {}),
    )  # fmt: skip
    net, data = Net(), Data()
    trainer.fit(net, datamodule=data, ckpt_path=path)
    precision = trainer.precision_plugin
    return {
        "losses": net.losses,
        "weights": [value.tolist() for value in net.state_dict().values()],
        "optimizer": [v["exp_avg"].tolist() for v in trainer.optimizers[0].state_dict()["state"].values()],
        "rates": [group["lr"] for group in trainer.optimizers[0].param_groups],
        "schedulers": [str(sorted(c.scheduler.state_dict().items())) for c in trainer.lr_scheduler_configs],
        "tally": tally.batches,
        "early": str(early.state_dict()),
        "kept": str(kept.state_dict()).replace(DIRECTORY, "D").replace(where, "W"),
        "precision": precision.state_dict(),
        "asked": data.asked,
        "epoch": trainer.current_epoch,
        "step": trainer.global_step,
    }


if MODE == "save":
    result = fit(None, f"{ROOT}-saved")
else:
    result = {}
    for number, file in enumerate(FILES):
        result[Path(file).name] = fit(file, f"{ROOT}-{number}")
        result[Path(file).name]["loaded"] = str(dict(Net.load_from_checkpoint(file).hparams)) + str(
            dict(Data.load_from_checkpoint(file).hparams)
        )
print("REPORT" + json.dumps(result))

"""The model of the recorded old checkpoints, for any release and for relight."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

QUIET = {"enable_progress_bar": False, "enable_model_summary": False}


def loader() -> Any:
    """Return batches in a fixed order."""
    draw = torch.Generator().manual_seed(1)
    return DataLoader(torch.randn(12, 4, generator=draw), batch_size=2)


def make(pl: Any) -> Any:
    """Return the module's class, made of a release's."""

    class Net(pl.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self, hparams: Any) -> None:
            super().__init__()
            self.save_hyperparameters(hparams)
            self.net = nn.Sequential(
                nn.Linear(4, self.hparams.width), nn.Tanh(), nn.Linear(self.hparams.width, 1)
            )
            self.losses: list[float] = []

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            loss = self.net(batch).pow(2).mean()
            self.losses.append(loss.item())
            self.log("loss", loss, on_step=False, on_epoch=True)
            return loss

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.rate)
            return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]

    return Net

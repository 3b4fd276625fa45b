"""Run in two processes, one of which fails: ``python failing.py STRATEGY RANK ERROR``."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

import relight

STRATEGY, RANK, ERROR = sys.argv[1], int(sys.argv[2]), sys.argv[3]
warnings.filterwarnings("ignore")


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        if batch_idx == 2 and self.global_rank == RANK:
            if ERROR == "none":
                return None
            raise ValueError("broken on purpose")
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Tells(relight.Callback):
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        print(f"rank {trainer.global_rank} ends with {type(exception).__name__}", flush=True)


if __name__ == "__main__":
    trainer = relight.Trainer(
        accelerator="cpu", devices=2, strategy=STRATEGY, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, max_epochs=1, callbacks=[Tells()],
    )  # fmt: skip
    trainer.fit(Net(), DataLoader(torch.ones(40, 2), 2))  # type: ignore[arg-type]
    print("never reached", flush=True)

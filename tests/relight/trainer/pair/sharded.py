"""Run in two processes whose weights lie in pieces: ``python sharded.py DIRECTORY``.

Fabric's FSDP wants GPUs; torch's own runs on CPUs, too, if it is told the device.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import lightning_fabric.connector
import torch
from lightning_fabric.strategies import FSDPStrategy
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.data import DataLoader

import relight

warnings.filterwarnings("ignore")
DIRECTORY = Path(sys.argv[1])
lightning_fabric.connector._Connector._check_strategy_and_fallback = lambda self: None


class OnCPU(FSDPStrategy):
    root_device = torch.device("cpu")  # type: ignore[assignment]

    def setup_module(self, module: Any) -> Any:
        return FullyShardedDataParallel(module, device_id=self.root_device, **self._fsdp_kwargs)

    def barrier(self, *args: Any, **kwargs: Any) -> None:
        torch.distributed.barrier()


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.net(batch).square().mean()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val", self.net(batch).mean(), sync_dist=True)

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters(), lr=0.1)


def main() -> None:
    relight.seed_everything(1, verbose=False)
    data = DataLoader(torch.randn(16, 4), 2)  # type: ignore[arg-type]
    initial = {name: value.clone() for name, value in Net().state_dict().items()}
    steps: list[int] = []

    def fit(epochs: int, strategy: str, name: str, ckpt_path: Path | None = None) -> Any:
        trainer = relight.Trainer(
            accelerator="cpu", devices=2, strategy=OnCPU() if strategy == "fsdp" else strategy, logger=False,
            enable_progress_bar=False, enable_checkpointing=False, max_epochs=epochs, default_root_dir=DIRECTORY,
        )  # fmt: skip
        net = Net()
        if ckpt_path is None:
            net.load_state_dict(initial)
        options: Any = {"gradient_clip_val": 0.5, "accumulate_grad_batches": 2}
        trainer.fit(net, data, data, ckpt_path=ckpt_path, **options)
        trainer.save_checkpoint(DIRECTORY / f"{name}.ckpt")
        steps.append(trainer.global_step)
        return trainer

    half = DIRECTORY / "half.ckpt"
    fit(2, "fsdp", "half")
    fit(4, "fsdp", "whole")
    resumed = fit(4, "fsdp", "resumed", half)
    plain = fit(4, "ddp", "ddp")
    fit(4, "ddp", "ddp_resumed", half)
    # Once in pieces, the module stays so; files still load into it.
    validated = [
        float(trainer.validate(trainer.lightning_module, data, ckpt_path=half, verbose=False)[0]["val"])
        for trainer in (resumed, plain)
    ]
    if plain.is_global_zero:
        (DIRECTORY / "report.json").write_text(json.dumps([steps, validated]))


if __name__ == "__main__":
    main()

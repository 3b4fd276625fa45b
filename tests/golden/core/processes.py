"""Trains in two processes and prints what came out: ``python processes.py ROOT STRATEGY DIRECTORY``."""

import importlib
import json
import logging
import sys
import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset

ROOT = sys.argv[1] if len(sys.argv) > 1 else "relight"
pl = importlib.import_module(ROOT)


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 2)
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss, on_step=True, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, batch_idx):
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("val_loss", loss, sync_dist=True)
        self.log("val_max", loss, sync_dist=True, reduce_fx="max")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1, momentum=0.5)


def main():
    strategy, directory = sys.argv[2], sys.argv[3]
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning_utilities.core.rank_zero").setLevel(logging.ERROR)
    pl.seed_everything(3, verbose=False)
    generator = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(28, 4, generator=generator), torch.randint(0, 2, (28,), generator=generator))
    limits = {"limit_val_batches": 3, "accumulate_grad_batches": 2, "gradient_clip_val": 0.5}
    extra = {"options": limits} if ROOT == "relight" else {**limits, "enable_model_summary": False}
    trainer = pl.Trainer(
        accelerator="cpu", devices=2, strategy=strategy, max_epochs=2, logger=False, enable_progress_bar=False,
        enable_checkpointing=False, default_root_dir=directory, **extra,
    )  # fmt: skip
    module = Net()
    trainer.fit(module, DataLoader(data, 4, shuffle=True), DataLoader(data, 4))
    fitted = {k: float(v).hex() for k, v in trainer.callback_metrics.items()}
    steps = trainer.global_step
    if strategy == "ddp":
        trainer.save_checkpoint(f"{directory}/after.ckpt")
    results = trainer.validate(module, DataLoader(data, 4), verbose=False)
    if trainer.global_rank == 0:
        weights = [float(value.double().sum()).hex() for value in module.state_dict().values()]
        report = {"weights": weights, "metrics": fitted, "steps": steps, "results": str(results)}
        print("REPORT" + json.dumps(report), flush=True)


if __name__ == "__main__":
    main()

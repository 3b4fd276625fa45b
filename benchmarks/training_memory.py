"""What a long fit keeps in memory: resident memory, Python objects and traced bytes along 10^5 steps.

::

    python benchmarks/training_memory.py            # 100,000 steps of relight
    python benchmarks/training_memory.py --steps 20000 --root lightning.pytorch

Memory must be flat: the last column is the growth since the tenth part of the run, when everything that is
made once is there.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch import nn


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Batches:
    """So many batches, always the same tensors."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.batch = torch.randn(32, 32), torch.randint(0, 2, (32,))

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Any:
        return (self.batch for _ in range(self.steps))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--root", default="relight", help="relight or lightning.pytorch")
    parser.add_argument("--most", type=float, default=4.0, help="fail if memory grew by more MiB")
    options = parser.parse_args()
    pl = importlib.import_module(options.root)
    warnings.filterwarnings("ignore")
    logging.disable(logging.INFO)

    class Net(pl.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss, on_step=True, on_epoch=True, prog_bar=True)
            self.log_dict({"most": loss.max(), "number": float(batch_idx)}, on_epoch=True)
            return {"loss": loss, "features": torch.zeros(1024)}

        def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
            self.log("end", outputs["loss"], reduce_fx="max", on_epoch=True)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.01)

    rows: list[tuple[int, float, int]] = []
    every = max(1, options.steps // 10)

    class Watch(pl.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
            if batch_idx % every == every - 1:
                gc.collect()
                rows.append((batch_idx + 1, resident(), len(gc.get_objects())))
                step, memory, objects = rows[-1]
                grown = memory - rows[0][1]
                print(
                    f"{step:>8} steps  {memory:8.1f} MiB  {objects:>8} objects  {grown:+6.2f} MiB", flush=True
                )

    quiet = {} if options.root == "relight" else {"enable_model_summary": False}
    trainer = pl.Trainer(
        accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        max_epochs=1, callbacks=[Watch()], **quiet,
    )  # fmt: skip
    trainer.fit(Net(), Batches(options.steps))
    grown = rows[-1][1] - rows[0][1]
    return int(grown > options.most)


if __name__ == "__main__":
    sys.exit(main())

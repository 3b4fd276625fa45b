"""What the Trainer costs on top of a plain PyTorch loop, in microseconds of CPU time a step.

A contender and the plain loop alternate in blocks of steps within one process: the loader handed to the
contender runs a block of the plain loop before each block of its own, so what else the machine does hits
both. The overhead is the difference of the block medians::

    python benchmarks/training_overhead.py  # relight, plain, and Lightning if it is installed
    python benchmarks/training_overhead.py --python .../python   # Lightning in that interpreter
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

BLOCK = 100
WARM_UP = 3  # blocks
Batch = tuple[Tensor, Tensor]


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


def batches(steps: int) -> list[Batch]:
    torch.manual_seed(0)
    some = [(torch.randn(32, 32), torch.randint(0, 2, (32,))) for _ in range(50)]
    return [some[i % len(some)] for i in range(steps)]


class Plain:
    """The loop everyone would write."""

    def __init__(self, data: Any) -> None:
        self.model, self.data = network(), data
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.iterator: Iterator[Batch] = iter(data)

    def block(self) -> float:
        model, optimizer = self.model, self.optimizer
        begin = time.thread_time()
        for _ in range(BLOCK):
            x, y = next(self.iterator)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return (time.thread_time() - begin) / BLOCK * 1e6


class Alternating:
    """Serves batches to a contender, and runs a block of the plain loop before each of its blocks."""

    def __init__(self, data: list[Batch]) -> None:
        self.data = self.dataset = data
        self.plain = Plain(data)
        self.times: list[tuple[float, float]] = []

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Batch]:
        for start in range(0, len(self.data), BLOCK):
            with torch.enable_grad():
                plain = self.plain.block()
            begin = time.thread_time()
            yield from self.data[start : start + BLOCK]
            self.times.append((plain, (time.thread_time() - begin) / BLOCK * 1e6))


class AlternatingDataset(Dataset[Batch]):
    """The same from within a ``DataLoader``."""

    def __init__(self, data: list[Batch]) -> None:
        self.data = data
        self.plain = Plain(DataLoader(data, batch_size=None))  # type: ignore[arg-type]
        self.times: list[tuple[float, float]] = []
        self._plain_time = self._begin = 0.0

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> Batch:
        if index % BLOCK == 0:
            if index:
                self.times.append((self._plain_time, (time.thread_time() - self._begin) / BLOCK * 1e6))
            with torch.enable_grad():
                self._plain_time = self.plain.block()
            self._begin = time.thread_time()
        return self.data[index]


def train(root: str, loader: Any, log: bool, steps: int) -> None:
    """Run all steps through the contender."""
    if root == "plain":
        plain = Plain(loader)
        for _ in range(steps // BLOCK):
            plain.block()
        return
    pl = importlib.import_module(root)

    class Net(pl.LightningModule):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = network()

        def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
            x, y = batch
            loss = nn.functional.cross_entropy(self.net(x), y)
            if log:
                self.log("loss", loss)
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.01)

    extra = {} if root == "relight" else {"enable_model_summary": False}
    trainer = pl.Trainer(
        accelerator="cpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, **extra,
    )  # fmt: skip
    trainer.fit(Net(), loader)


def measure(root: str, kind: str, log: bool, steps: int) -> dict[str, Any]:
    """Return medians of plain and contender over the blocks, and the overhead."""
    data = batches(steps)
    source: Any = Alternating(data) if kind == "list" else AlternatingDataset(data)
    loader = source if kind == "list" else DataLoader(source, batch_size=None)
    train(root, loader, log, steps)
    times = source.times[WARM_UP:]
    plain = statistics.median(p for p, _ in times)
    return {
        "contender": root,
        "data": kind,
        "log": log,
        "plain": round(plain, 1),
        "overhead": round(statistics.median(c - p for p, c in times), 1),
        "ratio": round(statistics.median(c / p for p, c in times), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", help="an interpreter that has lightning")
    parser.add_argument("--only", help="measure one contender and print JSON lines")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    for name in ("lightning.pytorch", "lightning_utilities.core.rank_zero"):
        logging.getLogger(name).setLevel(logging.ERROR)
    cases = [(kind, log) for log in (False, True) for kind in ("list", "loader")]
    if arguments.only:
        for kind, log in cases:
            if log and arguments.only == "plain":
                continue
            print(json.dumps(measure(arguments.only, kind, log, arguments.steps)), flush=True)
        return
    contenders = [("plain", sys.executable), ("relight", sys.executable)]
    if arguments.python or importlib.util.find_spec("lightning"):
        contenders.append(("lightning.pytorch", arguments.python or sys.executable))
    rows: dict[tuple[str, str, bool], list[dict[str, Any]]] = {}
    for _ in range(arguments.rounds):
        for name, python in contenders:
            command = [python, __file__, "--only", name, "--steps", str(arguments.steps)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for line in output.splitlines():
                if line.startswith("{"):
                    row = json.loads(line)
                    rows.setdefault((name, row["data"], row["log"]), []).append(row)
    print("| contender | data | self.log | plain, µs | overhead, µs (best … worst round) | ratio |")
    print("|---|---|---|---|---|---|")
    for (name, kind, log), found in rows.items():
        overheads = sorted(row["overhead"] for row in found)
        ratio = statistics.median(row["ratio"] for row in found)
        plain = statistics.median(row["plain"] for row in found)
        said = "yes" if log else "no"
        print(f"| {name} | {kind} | {said} | {plain:.0f} | {overheads[0]} … {overheads[-1]} | {ratio:.3f} |")


if __name__ == "__main__":
    main()

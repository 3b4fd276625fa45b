"""A small training that draws from every random source, and the means to stop it anywhere and compare."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import torch
import torchmetrics
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

import relight
from relight.callbacks import Checkpoint, EarlyStopping
from relight.loggers import Logger
from relight.utilities.random_state import random_state


class Rows(Dataset[Any]):
    def __init__(self, n: int, noise: str | None = None) -> None:
        draw = torch.Generator().manual_seed(n)
        self.x, self.noise = torch.randn(n, 4, generator=draw), noise

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> Any:
        return self.x[index] + noise(self.noise)


def noise(kind: str | None) -> Any:
    """Draw as an augmentation does."""
    if kind == "torch":
        return torch.randn(4)
    if kind == "python":
        return random.random()
    return numpy.random.rand() if kind == "numpy" else 0.0


class Stream(IterableDataset[Any]):
    """Rows in the order of a shuffle buffer."""

    def __init__(self, n: int, noise: str | None = None, sized: bool = False) -> None:
        self.rows, self.sized = Rows(n, noise), sized

    def __iter__(self) -> Iterator[Any]:
        buffer: list[int] = []
        for index in range(len(self.rows)):
            buffer.append(index)
            if len(buffer) == 3:
                yield self.rows[buffer.pop(random.randrange(3))]
        for index in buffer:
            yield self.rows[index]


class SizedStream(Stream):
    def __len__(self) -> int:
        return len(self.rows)


class StatefulStream(IterableDataset[Any]):
    """Goes on from its state, as streaming datasets do."""

    def __init__(self, n: int) -> None:
        self.rows, self.at, self.passes = Rows(n), 0, 0

    def __iter__(self) -> Iterator[Any]:
        while self.at < len(self.rows):
            self.at += 1
            yield self.rows[(self.at - 1 + self.passes) % len(self.rows)]
        self.at, self.passes = 0, self.passes + 1

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at, self.passes = state["at"], state["passes"]


class StatefulSampler(Sampler[int]):
    """Orders by a state of its own, which goes on over epochs."""

    def __init__(self, n: int) -> None:
        self.n, self.seed, self.at = n, 1, 0

    def __iter__(self) -> Iterator[int]:
        if self.at == self.n:
            self.seed, self.at = self.seed + 1, 0
        order = torch.randperm(self.n, generator=torch.Generator().manual_seed(self.seed)).tolist()
        while self.at < self.n:
            self.at += 1
            yield order[self.at - 1]

    def __len__(self) -> int:
        return self.n

    def state_dict(self) -> dict[str, Any]:
        return {"seed": self.seed, "at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seed, self.at = state["seed"], state["at"]


class StatefulLoader:
    """A loader that knows where it is."""

    def __init__(self, n: int) -> None:
        self.rows, self.seed, self.at = Rows(n), 1, 0

    def __len__(self) -> int:
        return len(self.rows) // 2

    def __iter__(self) -> Iterator[Any]:
        if self.at == len(self):
            self.seed, self.at = self.seed + 1, 0
        order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(self.seed)).tolist()
        while self.at < len(self):
            self.at += 1
            yield torch.stack([self.rows[i] for i in order[2 * self.at - 2 : 2 * self.at]])

    def state_dict(self) -> dict[str, Any]:
        return {"seed": self.seed, "at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seed, self.at = state["seed"], state["at"]


class Net(relight.LightningModule):
    """Has all that a run keeps beside weights: normalisation, dropout, metrics, schedulers."""

    def __init__(self, manual: bool = False, draw: Any = random.random) -> None:
        super().__init__()
        self.draw = draw
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.3), nn.Linear(4, 1))
        self.seen = torchmetrics.MeanMetric()
        self.spread = torchmetrics.MetricCollection(
            {"max": torchmetrics.MaxMetric(), "sum": torchmetrics.SumMetric()}
        )
        self.val_seen = torchmetrics.CatMetric()
        if manual:
            self.automatic_optimization = False

    def loss(self, batch: Any) -> Any:
        parts = (
            batch
            if isinstance(batch, (list, tuple))
            else batch.values()
            if isinstance(batch, dict)
            else [batch]
        )
        return sum(self.body(part).pow(2).mean() for part in parts if part is not None)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self.loss(batch) * (1 + 0.1 * self.draw() + 0.1 * numpy.random.rand())
        self.seen(loss.detach())
        self.log("seen", self.seen, on_step=True, on_epoch=True)
        self.spread.update(loss.detach())
        self.log("loss", loss, on_step=True, on_epoch=True, prog_bar=True)
        self.log("most", loss, on_step=False, on_epoch=True, reduce_fx="max")
        if not self.automatic_optimization:
            self.manual(loss, batch_idx)
            return None
        return loss

    def manual(self, loss: Any, batch_idx: int) -> None:
        self.manual_backward(loss)
        if batch_idx % 2:
            self.optimizers().step()
            self.optimizers().zero_grad()

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.log("late", float(batch_idx), on_step=True, on_epoch=True)

    def on_train_epoch_start(self) -> None:
        self.log("began", self.draw())

    def on_train_epoch_end(self) -> None:
        self.log_dict({f"spread_{name}": value for name, value in self.spread.compute().items()})
        self.spread.reset()

    def validation_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        loss = self.loss(batch) + 0.01 * torch.rand(())
        self.val_seen.update(loss)
        self.log("val_loss", loss, on_step=True, on_epoch=True, batch_size=len(batch))

    def on_validation_epoch_end(self) -> None:
        self.log("val_sum", self.val_seen.compute().sum())
        self.val_seen.reset()

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        if not self.automatic_optimization:
            return optimizer
        return [optimizer], [
            {"scheduler": torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.97), "interval": "step"},
            {
                "scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=0.5),
                "monitor": "loss_epoch",
            },
        ]


class Counts(relight.Callback):
    """Counts every hook of an epoch and keeps a running value."""

    def __init__(self, draw: Any = random.random) -> None:
        self.counts: dict[str, float] = {}
        self.draw = draw

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1 + self.draw() / 10

    def on_train_batch_start(self, *args: Any) -> None:
        self.count("batch_start")

    def on_train_batch_end(self, *args: Any) -> None:
        self.count("batch_end")

    def on_train_epoch_start(self, *args: Any) -> None:
        self.count("epoch_start")

    def on_train_epoch_end(self, *args: Any) -> None:
        self.count("epoch_end")

    def on_validation_start(self, *args: Any) -> None:
        self.count("validation_start")

    def on_validation_end(self, *args: Any) -> None:
        self.count("validation_end")

    def on_validation_batch_end(self, *args: Any) -> None:
        self.count("validation_batch_end")

    def state_dict(self) -> dict[str, Any]:
        return dict(self.counts)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.counts = dict(state_dict)


class Kept(Logger):
    """Keeps what it is told."""

    def __init__(self, rows: list[Any] | None = None) -> None:
        self.rows: list[Any] = rows if rows is not None else []

    @property
    def name(self) -> str:
        return "kept"

    @property
    def version(self) -> int:
        return 0

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.rows.append((step, dict(metrics)))

    def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
        pass


class SaveAll(Checkpoint):
    """Saves a file at every moment of the named hooks."""

    def __init__(self, directory: Path, *hooks: str) -> None:
        self.directory, self.files = directory, []
        for hook in hooks:
            setattr(self, hook, self._saver(hook))

    def _saver(self, hook: str) -> Any:
        def save(trainer: Any, *args: Any) -> None:
            if trainer.sanity_checking:
                return
            path = self.directory / f"{len(self.files):03}-{hook}.ckpt"
            trainer._saver = self
            trainer.save_checkpoint(path)
            trainer._saver = None
            self.files.append((path, len(trainer.loggers[0].rows)))

        return save


def copied(data: Any) -> Any:
    """Return a comparable copy: tensors as lists."""
    if isinstance(data, torch.Tensor):
        return data.detach().cpu().double().tolist()
    if isinstance(data, dict):
        return {str(key): copied(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [copied(item) for item in data]
    return data


def scramble(seed: int) -> None:
    """Leave the random states as another program would."""
    relight.seed_everything(seed, verbose=False)
    random.random()


def report(trainer: Any, rows: list[Any]) -> dict[str, Any]:
    """Return all that must be equal."""
    module = trainer.lightning_module
    return {
        "rows": copied(rows),
        "weights": copied(module.state_dict()),
        "optimizer": copied([optimizer.state_dict()["state"] for optimizer in trainer.optimizers]),
        "rates": [group["lr"] for optimizer in trainer.optimizers for group in optimizer.param_groups],
        "schedulers": copied([c.scheduler.state_dict() for c in trainer.lr_scheduler_configs]),
        "metrics": copied(trainer.callback_metrics),
        "logged": copied(trainer.logged_metrics),
        "bar": copied(trainer.progress_bar_metrics),
        "callbacks": copied({c.state_key: c.state_dict() for c in trainer.callbacks}),
        "progress": copied(trainer.fit_loop.state_dict(loaders=False)),
        "epoch": trainer.current_epoch,
        "step": trainer.global_step,
        "draws": copied(random_state()),
    }


class World:
    """A training, run unbroken or from a file."""

    def __init__(
        self, directory: Path, train: Any, val: Any = None, manual: bool = False, **options: Any
    ) -> None:
        self.directory, self.train, self.val, self.manual = directory, train, val, manual
        self.limits = {key: options.pop(key) for key in ("max_epochs", "max_steps") if key in options}
        self.callbacks = options.pop("callbacks", list)
        #: Numbers from Python's generator, unless the data alone draw from it.
        self.draw = random.random if options.pop("draws", True) else lambda: 0.5
        self.options = {"log_every_n_steps": 2, "num_sanity_val_steps": 1, **options}

    def trainer(self, rows: list[Any], callbacks: list[Any], **limits: Any) -> relight.Trainer:
        return relight.Trainer(
            accelerator="cpu", devices=1, logger=Kept(rows), enable_progress_bar=False,
            callbacks=[Counts(self.draw), EarlyStopping("loss", patience=100, check_on_train_epoch_end=True),
                       *self.callbacks(), *callbacks],
            default_root_dir=self.directory, **{"max_epochs": 2, **self.limits, **limits},
        )  # fmt: skip

    def fit(self, rows: list[Any], *callbacks: Any, seed: int = 1, path: Any = None, **limits: Any) -> Any:
        scramble(seed)
        trainer = self.trainer(rows, list(callbacks), **limits)
        trainer.fit(
            Net(self.manual, self.draw),
            self.train(),
            self.val() if self.val else None,
            ckpt_path=path,
            **self.options,
        )
        return trainer

    def unbroken(self, *hooks: str) -> tuple[dict[str, Any], list[Any], list[Any]]:
        """Train without a stop, saving at each of the hooks; return the report, the files and all rows."""
        rows: list[Any] = []
        saver = SaveAll(self.directory, *hooks)
        trainer = self.fit(rows, saver)
        return report(trainer, rows), saver.files, rows

    def resumed(self, path: Path, before: list[Any]) -> dict[str, Any]:
        """Go on from a file; ``before`` is what loggers were told until then."""
        rows = list(before)
        trainer = self.fit(rows, SaveAll(self.directory), seed=99, path=path)
        return report(trainer, rows)


def loader(dataset: Any, **kwargs: Any) -> DataLoader[Any]:
    return DataLoader(dataset, **{"batch_size": 2, **kwargs})


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return the names of what is not equal, with the first difference of each."""
    return [f"{key}: {_first(expected[key], found[key])}" for key in expected if expected[key] != found[key]]


def _first(a: Any, b: Any) -> str:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next(f".{key}{_first(a[key], b[key])}" for key in a if a[key] != b[key])
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next(f"[{i}]{_first(x, y)}" for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
    return f" {str(a)[:300]} != {str(b)[:300]}"

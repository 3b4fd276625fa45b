"""Searches of the Tuner, written once for Lightning and for relight; every number is kept bit for bit."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Dialect:
    """The names of one of the two libraries."""

    def __init__(self, root: str) -> None:
        self.pl = importlib.import_module(root)
        self.callbacks = importlib.import_module(f"{root}.callbacks")
        self.Tuner = importlib.import_module(f"{root}.tuner").Tuner
        self.relight = root == "relight"

    def trainer(self, directory: str, fit: dict[str, Any] | None = None, **arguments: Any) -> Any:
        common = {"accelerator": "cpu", "devices": 1, "enable_progress_bar": False, "logger": False}
        common |= {"default_root_dir": directory, "enable_checkpointing": False, **arguments}
        if self.relight:
            common["options"] = fit or {}
        else:
            common |= {"enable_model_summary": False, **(fit or {})}
        return self.pl.Trainer(**common)


def hexed(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return [float(v).hex() for v in value.detach().flatten().tolist()]
    return [float(v).hex() for v in value]


def weights(model: nn.Module) -> dict[str, Any]:
    return {name: hexed(tensor) for name, tensor in model.state_dict().items()}


def make_model(dialect: Dialect, **options: Any) -> Any:
    class Net(dialect.pl.LightningModule):
        def __init__(
            self, lr: float = 0.02, batch_size: int = 4, oom_from: int = 0, samples: int = 80
        ) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Dropout(0.2), nn.Linear(5, 1))
            self.tried: list[int] = []
            self.hooks: list[str] = []

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            x, y = batch
            if not self.tried or self.tried[-1] != len(x):
                self.tried.append(len(x))
            if self.hparams.oom_from and len(x) >= self.hparams.oom_from:
                raise RuntimeError("CUDA out of memory. Tried to allocate a lot")
            loss = nn.functional.mse_loss(self.net(x), y)
            self.log("loss", loss, on_epoch=True)
            return loss

        def validation_step(self, batch: Any, batch_idx: int) -> None:
            self.log("val_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]))

        def test_step(self, batch: Any, batch_idx: int) -> None:
            self.tried.append(len(batch[0]))
            self.log("test_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]))

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]

        def on_fit_start(self) -> None:
            self.hooks.append("on_fit_start")

        def on_fit_end(self) -> None:
            self.hooks.append("on_fit_end")

        def teardown(self, stage: str) -> None:
            self.hooks.append(f"teardown {getattr(stage, 'value', stage)}")

        def _data(self) -> Any:
            generator = torch.Generator().manual_seed(5)
            x = torch.randn(self.hparams.samples, 6, generator=generator)
            return TensorDataset(x, x.sum(1, keepdim=True))

        def train_dataloader(self) -> Any:
            return DataLoader(self._data(), self.hparams.batch_size, shuffle=True)

        def val_dataloader(self) -> Any:
            return DataLoader(self._data(), self.hparams.batch_size)

        def test_dataloader(self) -> Any:
            return DataLoader(self._data(), self.hparams.batch_size)

    dialect.pl.seed_everything(3, verbose=False)
    return Net(**options)


def told(dialect: Dialect) -> tuple[Any, list[str]]:
    """Return a callback that writes down what it is told, and its notes."""
    notes: list[str] = []

    class Notes(dialect.callbacks.Callback):
        def on_train_start(self, trainer: Any, module: Any) -> None:
            notes.append("train_start")

        def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
            notes.append(f"batch_end {trainer.global_step}")

        def on_validation_end(self, trainer: Any, module: Any) -> None:
            notes.append("validation_end")

    return Notes(), notes


def random_states() -> list[int]:
    return [int(v) for v in torch.randint(0, 1 << 30, (3,))]


def _of_finder(finder: Any) -> dict[str, Any]:
    suggestion = finder.suggestion()
    return {
        "lr": hexed(finder.results["lr"]),
        "loss": hexed(finder.results["loss"]),
        "suggestion": None if suggestion is None else float(suggestion).hex(),
        "whole": None if (every := finder.suggestion(0, 1)) is None else float(every).hex(),
    }


LR = {
    "exponential": ({}, {}),
    "linear": ({}, {"mode": "linear", "min_lr": 1e-4, "max_lr": 0.5, "num_training": 30}),
    "diverging": ({}, {"max_lr": 1000.0, "min_lr": 1e-3, "num_training": 60}),
    "no threshold": ({}, {"max_lr": 1000.0, "num_training": 50, "early_stop_threshold": None}),
    "accumulating": ({"accumulate_grad_batches": 2}, {"num_training": 20}),
    "few": ({}, {"num_training": 5}),
}
SIZES = {
    "power": ({"oom_from": 16}, {}),
    "power to the end": ({}, {}),
    "power, first too large": ({"oom_from": 12, "batch_size": 16}, {"init_val": 16}),
    "trials": ({}, {"max_trials": 2}),
    "binsearch": ({"oom_from": 23}, {"mode": "binsearch"}),
    "binsearch, no margin": ({"oom_from": 23}, {"mode": "binsearch", "margin": 0.0}),
    "limit": ({"samples": 300}, {"max_val": 20}),
    "binsearch, limit": ({"samples": 300}, {"mode": "binsearch", "max_val": 20}),
}


def lr_find(dialect: Dialect, directory: str, name: str) -> dict[str, Any]:
    fit, arguments = LR[name]
    model = make_model(dialect)
    callback, notes = told(dialect)
    trainer = dialect.trainer(directory, fit, max_epochs=20, callbacks=[callback])
    before = weights(model)
    finder = dialect.Tuner(trainer).lr_find(model, **arguments)
    out = {"finder": _of_finder(finder), "notes": list(notes), "hooks": list(model.hooks)}
    out |= {"same": weights(model) == before, "lr": float(model.hparams.lr).hex(), "draws": random_states()}
    out |= {
        "step": trainer.global_step,
        "epoch": trainer.current_epoch,
        "status": str(trainer.state.status.value),
    }
    trainer.fit_loop.max_epochs = 1
    trainer.fit(model)
    return {**out, "then": weights(model), "then_step": trainer.global_step, "then_notes": notes}


def lr_callback(dialect: Dialect, directory: str) -> dict[str, Any]:
    model = make_model(dialect)
    callback, notes = told(dialect)
    finder = dialect.callbacks.LearningRateFinder(num_training_steps=25)
    trainer = dialect.trainer(directory, max_epochs=2, callbacks=[callback, finder])
    trainer.fit(model)
    return {
        "finder": _of_finder(finder.optimal_lr), "weights": weights(model), "notes": notes,
        "hooks": model.hooks, "step": trainer.global_step, "draws": random_states(),
        "lr": hexed([trainer.optimizers[0].param_groups[0]["lr"], model.hparams.lr]),
    }  # fmt: skip


def lr_at_epochs(dialect: Dialect, directory: str, epochs: tuple[int, ...] = (0,)) -> dict[str, Any]:
    found: list[Any] = []

    class Again(dialect.callbacks.LearningRateFinder):
        def on_fit_start(self, *_: Any) -> None:
            return

        def on_train_epoch_start(self, trainer: Any, module: Any) -> None:
            if trainer.current_epoch in epochs:
                self.lr_find(trainer, module)
                found.append(_of_finder(self.optimal_lr))

    model = make_model(dialect)
    trainer = dialect.trainer(directory, max_epochs=3, callbacks=[Again(num_training_steps=12)])
    trainer.fit(model)
    return {"found": found, "weights": weights(model), "step": trainer.global_step, "draws": random_states()}


def sizes(dialect: Dialect, directory: str, name: str) -> dict[str, Any]:
    options, arguments = SIZES[name]
    model = make_model(dialect, **options)
    callback, notes = told(dialect)
    trainer = dialect.trainer(directory, max_epochs=3, callbacks=[callback])
    before = weights(model)
    found = dialect.Tuner(trainer).scale_batch_size(model, **arguments)
    return {
        "found": found, "tried": model.tried, "size": model.hparams.batch_size, "notes": notes,
        "hooks": model.hooks, "same": weights(model) == before, "step": trainer.global_step,
        "draws": random_states(),
    }  # fmt: skip


def size_callback(dialect: Dialect, directory: str) -> dict[str, Any]:
    model = make_model(dialect, oom_from=17)
    callback, notes = told(dialect)
    finder = dialect.callbacks.BatchSizeFinder(steps_per_trial=2)
    trainer = dialect.trainer(directory, max_epochs=1, callbacks=[callback, finder])
    trainer.fit(model)
    return {
        "found": finder.optimal_batch_size, "tried": model.tried, "weights": weights(model), "notes": notes,
        "step": trainer.global_step, "draws": random_states(),
    }  # fmt: skip


def size_of_test(dialect: Dialect, directory: str) -> dict[str, Any]:
    model = make_model(dialect)
    trainer = dialect.trainer(directory)
    found = dialect.Tuner(trainer).scale_batch_size(model, method="test", max_trials=4)
    tried = list(model.tried)
    results = trainer.test(model, verbose=False)
    return {"found": found, "tried": tried, "results": [hexed(each.values()) for each in results]}


def attribute_places(dialect: Dialect, directory: str) -> dict[str, Any]:
    """Where a size lives: all places are set, the last one counts."""
    model = make_model(dialect)
    model.batch_size = 7

    class Data(dialect.pl.LightningDataModule):
        def __init__(self) -> None:
            super().__init__()
            self.batch_size = 5

        def train_dataloader(self) -> Any:
            return DataLoader(model._data(), self.batch_size)

        def val_dataloader(self) -> Any:
            return DataLoader(model._data(), self.batch_size)

    data = Data()
    trainer = dialect.trainer(directory, max_epochs=1)
    found = dialect.Tuner(trainer).scale_batch_size(model, datamodule=data, max_trials=3)
    return {"found": found, "sizes": [model.batch_size, model.hparams.batch_size, data.batch_size]}


def run_all(dialect: Dialect, fresh: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded = {f"lr {name}": lr_find(dialect, fresh(), name) for name in LR}
        recorded |= {f"size {name}": sizes(dialect, fresh(), name) for name in SIZES}
        for function in (lr_callback, lr_at_epochs, size_callback, size_of_test, attribute_places):
            recorded[function.__name__] = function(dialect, fresh())
    return recorded

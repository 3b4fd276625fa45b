"""Fits with averaged weights; the same code runs on real Lightning 2.6 and on relight (see callback_scenarios)."""

from __future__ import annotations

import os
from typing import Any

import torch
from callback_scenarios import Dialect
from torch.utils.data import DataLoader, TensorDataset


def _model(dialect: Dialect, norm: bool, scheduler: bool = False) -> Any:
    class Net(dialect.pl.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            layers = [torch.nn.Linear(3, 4)]
            if norm:
                layers.append(torch.nn.BatchNorm1d(4))
            self.net = torch.nn.Sequential(*layers, torch.nn.Linear(4, 1))
            self.seen: list[Any] = []

        def on_trainer(self, trainer: Any) -> None:
            self.fit_trainer = None

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return (self.net(batch[0]) - batch[1]).pow(2).mean()

        def validation_step(self, batch: Any, batch_idx: int) -> None:
            self.seen.append(float((self.net(batch[0]) - batch[1]).pow(2).mean()))

        def on_train_batch_end(self, *_: Any) -> None:
            self.seen.append(float(self.trainer.optimizers[0].param_groups[0]["lr"]))

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.SGD(self.parameters(), 0.1)
            if not scheduler:
                return optimizer
            return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]

        def _data(self) -> Any:
            x = torch.linspace(-1, 1, 30).reshape(10, 3)
            return DataLoader(TensorDataset(x, x.sum(1, keepdim=True).sin()), batch_size=4)

        def train_dataloader(self) -> Any:
            return self._data()

        def val_dataloader(self) -> Any:
            return self._data()

    torch.manual_seed(3)
    return Net()


def _numbers(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.tolist() if isinstance(value, torch.Tensor) else value for name, value in state.items()
    }


def _fit(dialect: Dialect, directory: str, make: Any, **options: Any) -> dict[str, Any]:
    """Fit, then resume from the file of the second epoch."""
    norm, scheduler = options.pop("norm", False), options.pop("scheduler", False)
    result: dict[str, Any] = {}
    path = None
    for name in ("whole", "resumed"):
        callback = make()
        keeper = dialect.callbacks.ModelCheckpoint(
            dirpath=os.path.join(directory, name),
            filename="{epoch}",
            save_top_k=-1,
            enable_version_counter=False,
        )
        model = _model(dialect, norm, scheduler)
        arguments = {"max_epochs": 4, "logger": False, "num_sanity_val_steps": 0, "log_every_n_steps": 1}
        trainer = dialect.fit(
            model,
            callbacks=[callback, keeper],
            default_root_dir=directory,
            ckpt_path=path,
            **{**arguments, **options},
        )
        path = path or os.path.join(directory, "whole", "epoch=1.ckpt")
        saved = torch.load(os.path.join(directory, name, "epoch=3.ckpt"), weights_only=False)
        states = saved["callbacks"].get(type(callback).__name__, {})
        result[name] = {
            "seen": model.seen,
            "weights": _numbers(model.state_dict()),
            "epochs": [trainer.current_epoch, trainer.global_step, trainer.max_epochs],
            "saved": _numbers(saved["state_dict"]),
            "other": {
                key: _numbers(saved[key])
                for key in ("current_model_state", "averaging_state")
                if key in saved
            },
            "state": {
                key: _numbers(value) if key == "average_model_state" and value else value
                for key, value in states.items()
                if key != "scheduler_state"
            },
        }
    return result


def run_averaging(dialect: Dialect, fresh: Any) -> dict[str, Any]:
    """Run all scenarios; ``fresh`` makes a directory for each."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # batch normalization adds up in another order with more
    try:
        return _run(dialect, fresh)
    finally:
        torch.set_num_threads(threads)


def _run(dialect: Dialect, fresh: Any) -> dict[str, Any]:
    cb = dialect.callbacks

    class EverySecondEpoch(cb.WeightAveraging):  # type: ignore[misc,name-defined]
        def should_update(self, step_idx: Any = None, epoch_idx: Any = None) -> bool:
            return epoch_idx is not None and epoch_idx % 2 == 0

    swa = cb.StochasticWeightAveraging
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "swa": (lambda: swa(0.05, swa_epoch_start=2), {}),
        "swa_fraction_linear": (
            lambda: swa([0.02], 0.5, annealing_epochs=2, annealing_strategy="linear"),
            {"scheduler": True},
        ),
        "swa_batch_norm": (lambda: swa(0.05, swa_epoch_start=2), {"norm": True, "scheduler": True}),
        "swa_batch_norm_accumulates": (lambda: swa(0.05, 2), {"norm": True, "accumulate_grad_batches": 2}),
        "swa_own_mean": (lambda: swa(0.05, 1, avg_fn=lambda a, b, n: 0.9 * a + 0.1 * b, device=None), {}),
        "mean": (lambda: cb.WeightAveraging(), {"norm": True}),
        "mean_without_buffers": (lambda: cb.WeightAveraging("cpu", use_buffers=False), {"norm": True}),
        "mean_of_epochs": (EverySecondEpoch, {}),
        "ema": (lambda: cb.EMAWeightAveraging(decay=0.8, update_every_n_steps=2), {"norm": True}),
        "ema_late": (lambda: cb.EMAWeightAveraging(decay=0.8, update_starting_at_step=5), {}),
        "ema_epochs": (
            lambda: cb.EMAWeightAveraging(decay=0.7, update_every_n_steps=0, update_starting_at_epoch=1),
            {"accumulate_grad_batches": 2},
        ),
    }
    return {name: _fit(dialect, fresh(name), make, **options) for name, (make, options) in kinds.items()}

"""Fits that prune and that measure their throughput; for real Lightning 2.6 and relight (see callback_scenarios)."""

from __future__ import annotations

import importlib
import logging
import os
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from callback_scenarios import Dialect
from torch.utils.data import DataLoader, TensorDataset


def _model(dialect: Dialect, flops: bool = False) -> Any:
    class Net(dialect.pl.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
            if flops:
                self.flops_per_batch = 100
            self.seen: list[Any] = []

        def on_trainer(self, trainer: Any) -> None:
            pass

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            loss = (self.net(batch[0]) - batch[1]).pow(2).mean()
            self.seen.append(float(loss))
            return loss

        def validation_step(self, batch: Any, batch_idx: int) -> None:
            self.seen.append(float((self.net(batch[0]) - batch[1]).pow(2).mean()))

        test_step = validation_step

        def predict_step(self, batch: Any, batch_idx: int) -> Any:
            return self.net(batch[0])

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

        def _data(self) -> Any:
            x = torch.linspace(-1, 1, 30).reshape(10, 3)
            return DataLoader(TensorDataset(x, x.sum(1, keepdim=True).sin()), batch_size=4)

        train_dataloader = val_dataloader = test_dataloader = predict_dataloader = _data

    torch.manual_seed(3)
    return Net()


def _numbers(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value.tolist() for name, value in state.items()}


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _prune(dialect: Dialect, directory: str, make: Any) -> dict[str, Any]:
    model = _model(dialect)
    keeper = dialect.callbacks.ModelCheckpoint(
        dirpath=directory, filename="{epoch}", save_top_k=-1, enable_version_counter=False
    )
    lines = _Lines()
    logger = logging.getLogger(f"{dialect.root}.callbacks.pruning")
    level, off = logger.level, logging.root.manager.disable
    logging.disable(logging.NOTSET)
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    try:
        torch.manual_seed(5)
        dialect.fit(
            model, callbacks=[make(model), keeper], default_root_dir=directory, logger=False, max_epochs=3
        )
    finally:
        logger.removeHandler(lines)
        logger.setLevel(level)
        logging.disable(off)
    saved = {
        name: _numbers(torch.load(os.path.join(directory, name), weights_only=False)["state_dict"])
        for name in sorted(os.listdir(directory))
    }
    return {
        "seen": model.seen,
        "weights": _numbers(model.state_dict()),
        "saved": saved,
        "lines": lines.lines,
    }


def run_pruning(dialect: Dialect, fresh: Any) -> dict[str, Any]:
    """Prune in all ways; ``fresh`` makes a directory for each."""
    pruning = dialect.callbacks.ModelPruning

    class Largest(torch.nn.utils.prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def __init__(self, amount: float) -> None:
            self.amount = amount

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[t.abs().view(-1).argmax()] = 0
            return mask

    class OnlyFirst(pruning):  # type: ignore[misc,valid-type]
        def filter_parameters_to_prune(self, parameters_to_prune: Any = ()) -> Any:
            return parameters_to_prune[:1]

    kinds: dict[str, Any] = {
        "whole_model": lambda _: pruning("l1_unstructured", amount=0.3, verbose=2),
        "without_ticket": lambda _: pruning(
            "L1_Unstructured", amount=2, use_lottery_ticket_hypothesis=False, verbose=1
        ),
        "masks_stay": lambda _: pruning(
            "l1_unstructured",
            make_pruning_permanent=False,
            use_lottery_ticket_hypothesis=lambda epoch: epoch == 1,
        ),
        "by_parameter": lambda _: pruning(
            "l1_unstructured",
            use_global_unstructured=False,
            parameter_names=["weight"],
            amount=0.25,
            verbose=1,
        ),
        "slices": lambda model: pruning(
            "ln_structured",
            [(model.net[0], "weight")],
            use_global_unstructured=False,
            amount=0.34,
            pruning_dim=0,
            pruning_norm=2,
        ),
        "random_new_start": lambda _: pruning("random_unstructured", resample_parameters=True, amount=0.2),
        "own_method": lambda _: pruning(Largest, parameter_names=["weight"], amount=0.1),
        "by_epoch_in_validation": lambda _: pruning(
            "l1_unstructured",
            amount=lambda epoch: 0.1 * (epoch + 1),
            apply_pruning=lambda epoch: epoch != 1,
            prune_on_train_epoch_end=False,
        ),
        "filtered": lambda _: OnlyFirst(
            "random_structured", pruning_dim=1, use_global_unstructured=False, amount=1
        ),
    }
    return {name: _prune(dialect, fresh(name), make) for name, make in kinds.items()}


def run_throughput(dialect: Dialect, fresh: Any) -> dict[str, Any]:
    """Measure with a clock that goes on half a second each time it is looked at."""

    class Keeper(dialect.loggers.CSVLogger):  # type: ignore[misc,name-defined]
        def log_metrics(self, metrics: Any, step: Any = None) -> None:
            rows.append([step, dict(metrics)])

    results: dict[str, Any] = {}
    monitor = importlib.import_module(f"{dialect.root}.callbacks.throughput_monitor")
    for name, arguments, options in (
        ("plain", {}, {"log_every_n_steps": 2}),
        (
            "items",
            {"length_fn": lambda batch: 7, "window_size": 3, "separator": "|"},
            {"log_every_n_steps": 1},
        ),
        ("accumulates", {"window_size": 2}, {"log_every_n_steps": 1, "accumulate_grad_batches": 2}),
        ("flops", {"window_size": 4}, {"log_every_n_steps": 3, "val_check_interval": 1}),
    ):
        rows: list[Any] = []
        ticks = [0.0]

        def clock(ticks: list[float] = ticks) -> float:
            ticks[0] += 0.5
            return ticks[0]

        directory = fresh(f"throughput_{name}")
        model = _model(dialect, flops=name == "flops")
        callback = dialect.callbacks.ThroughputMonitor(batch_size_fn=lambda batch: len(batch[0]), **arguments)
        with mock.patch.object(monitor, "time", SimpleNamespace(perf_counter=clock)):
            trainer = dialect.fit(
                model,
                callbacks=[callback],
                default_root_dir=directory,
                logger=Keeper(directory),
                enable_checkpointing=False,
                max_epochs=2,
                **({"options": options} if dialect.is_relight else options),  # for all entry points
            )
            trainer.validate(model, verbose=False)
            trainer.test(model, verbose=False)
            trainer.predict(model)
        results[name] = rows
    return results

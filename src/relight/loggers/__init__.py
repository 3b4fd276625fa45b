"""Loggers: where metrics and hyperparameters go."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relight.loggers.comet import CometLogger
    from relight.loggers.csv_logs import CSVLogger
    from relight.loggers.default import default_logger
    from relight.loggers.logger import DummyLogger, Logger
    from relight.loggers.mlflow import MLFlowLogger
    from relight.loggers.neptune import NeptuneLogger
    from relight.loggers.tensorboard import TensorBoardLogger
    from relight.loggers.wandb import WandbLogger

__all__ = [
    "CSVLogger",
    "CometLogger",
    "DummyLogger",
    "Logger",
    "MLFlowLogger",
    "NeptuneLogger",
    "TensorBoardLogger",
    "WandbLogger",
    "default_logger",
]

_WHERE = {
    "CSVLogger": "csv_logs",
    "CometLogger": "comet",
    "DummyLogger": "logger",
    "Logger": "logger",
    "MLFlowLogger": "mlflow",
    "NeptuneLogger": "neptune",
    "TensorBoardLogger": "tensorboard",
    "WandbLogger": "wandb",
    "default_logger": "default",
}


def __getattr__(name: str) -> Any:
    # Loggers derive from Lightning Fabric's, which takes its time to import.
    if name in _WHERE:
        return getattr(importlib.import_module(f"relight.loggers.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

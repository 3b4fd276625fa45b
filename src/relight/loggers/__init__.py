"""Loggers: where metrics and hyperparameters go."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relight.loggers.csv_logs import CSVLogger
    from relight.loggers.logger import DummyLogger, Logger
    from relight.loggers.tensorboard import TensorBoardLogger

__all__ = ["CSVLogger", "DummyLogger", "Logger", "TensorBoardLogger", "default_logger"]

_WHERE = {
    "CSVLogger": "csv_logs",
    "DummyLogger": "logger",
    "Logger": "logger",
    "TensorBoardLogger": "tensorboard",
    "default_logger": "default",
}


def __getattr__(name: str) -> Any:
    # Loggers derive from Lightning Fabric's, which takes its time to import.
    if name in _WHERE:
        return getattr(importlib.import_module(f"relight.loggers.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

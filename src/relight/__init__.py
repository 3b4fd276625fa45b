"""relight: a slim Trainer that speaks the modern Lightning dialect.

Everything is imported when it is first asked for, so ``import relight`` costs nothing beyond torch and never
imports Lightning Fabric (a :class:`Trainer` does, when it is built).
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if importlib.util.find_spec("torch") is None:  # the plain install is the tool only
    raise ImportError(
        "`import relight` needs PyTorch, which the plain install leaves out: pip install 'relight[train]'"
    )

if TYPE_CHECKING:
    from relight import callbacks, cli, compat, loggers, plugins, profilers, tuner, utilities
    from relight.callbacks import Callback
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule
    from relight.trainer import Options, Trainer, call_hook
    from relight.trainer.states import TrainerFn, TrainerStatus
    from relight.utilities.seed import seed_everything

__version__ = "0.1.0.dev0"

_NAMES = {
    "Trainer": "relight.trainer",
    "Options": "relight.trainer",
    "call_hook": "relight.trainer",
    "LightningModule": "relight.module",
    "LightningDataModule": "relight.datamodule",
    "Callback": "relight.callbacks",
    "seed_everything": "relight.utilities.seed",
    "TrainerFn": "relight.trainer.states",
    "TrainerStatus": "relight.trainer.states",
}
_SUBMODULES = (
    "callbacks",
    "cli",
    "compat",
    "loggers",
    "plugins",
    "profilers",
    "trainer",
    "tuner",
    "utilities",
)

__all__ = [
    "Callback",
    "LightningDataModule",
    "LightningModule",
    "Options",
    "Trainer",
    "TrainerFn",
    "TrainerStatus",
    "call_hook",
    "callbacks",
    "cli",
    "compat",
    "loggers",
    "plugins",
    "profilers",
    "seed_everything",
    "tuner",
    "utilities",
]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"relight.{name}")
    raise AttributeError(f"module 'relight' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

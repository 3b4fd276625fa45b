"""A command line for any module: :class:`LightningCLI`, on jsonargparse (``pip install 'relight[cli]'``).

    from relight.cli import LightningCLI

    LightningCLI(Net, Data)      # python main.py fit --model.lr 0.1 --trainer.max_epochs 3

Arguments, configuration files and what is saved are those of Lightning 2.6. What one entry point alone
needs is an argument of its subcommand (``fit --limit_train_batches 5``), or, for all of them, below the
Trainer's options (``--trainer.options.limit_train_batches 5``).
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relight.cli._cli import LightningCLI
    from relight.cli._instantiate import instantiate_class, instantiate_module
    from relight.cli._parser import LightningArgumentParser
    from relight.cli._save_config import SaveConfigCallback
    from relight.cli._types import (
        ArgsType,
        LRSchedulerCallable,
        LRSchedulerType,
        LRSchedulerTypeTuple,
        LRSchedulerTypeUnion,
        OptimizerCallable,
        ReduceLROnPlateau,
    )

__all__ = [
    "ArgsType",
    "LRSchedulerCallable",
    "LRSchedulerType",
    "LRSchedulerTypeTuple",
    "LRSchedulerTypeUnion",
    "LightningArgumentParser",
    "LightningCLI",
    "OptimizerCallable",
    "ReduceLROnPlateau",
    "SaveConfigCallback",
    "instantiate_class",
    "instantiate_module",
]

_WHERE = {
    "LightningCLI": "_cli",
    "instantiate_class": "_instantiate",
    "instantiate_module": "_instantiate",
    "LightningArgumentParser": "_parser",
    "SaveConfigCallback": "_save_config",
}
_NEEDED = ("jsonargparse", "docstring_parser", "typeshed_client")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for package in _NEEDED:
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(
                "`relight.cli` needs `jsonargparse[signatures]`, which is not installed:"
                " pip install 'relight[cli]'",
                name=package,
            )
    value = getattr(importlib.import_module(f"relight.cli.{_WHERE.get(name, '_types')}"), name)
    globals()[name] = value
    return value

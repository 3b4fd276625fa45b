"""Small things that releases dropped and that are cheaper to bring back than to explain."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import io
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice
from relight.loggers import Logger
from relight.utilities.seed import seed_everything as core_seed_everything
from trainer_upgrade.catalogue import Area

#: Type aliases of old releases: they only ever stood in annotations.
ANY = Any


def seed_everything(seed: int | None = None, workers: bool = False, verbose: bool = True) -> int:
    """Seed Python, NumPy and torch; without a number, with ``PL_GLOBAL_SEED`` or, up to 2.1, a random one.

    Args:
        seed: A number from 0 to 2**32 - 1.
        workers: Whether the workers of loaders are seeded from it, too.
        verbose: Whether to say which seed is used.
    """
    if seed is None and not os.environ.get("PL_GLOBAL_SEED"):
        seed = random.randint(0, 2**32 - 1)
    return core_seed_everything(seed, workers=workers, verbose=verbose)


def module_available(path: str) -> bool:
    """Return whether a module can be imported."""
    try:
        return importlib.util.find_spec(path) is not None
    except ModuleNotFoundError:
        return False


def get_filesystem(path: str | Path, **kwargs: Any) -> Any:
    """Return the file system of a path or URL."""
    from fsspec.core import url_to_fs  # type: ignore[import-untyped]

    return url_to_fs(str(path), **kwargs)[0]


def load(path: Any, map_location: Any = None) -> Any:
    """Load a file as ``torch.load`` does: what a checkpoint holds, but no code that it carries."""
    if isinstance(path, (str, Path)) and "://" in str(path):
        with get_filesystem(path).open(str(path), "rb") as stream:
            return torch.load(io.BytesIO(stream.read()), map_location=map_location)
    return torch.load(path, map_location=map_location)


def atomic_save(checkpoint: Mapping[str, Any], filepath: str | Path) -> None:
    """Save a checkpoint so that the file is there whole or not at all."""
    path = Path(filepath)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    torch.save(dict(checkpoint), scratch)
    os.replace(scratch, path)


def data_loader(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method itself: the decorator of 0.6 and older does nothing."""
    return function


def auto_move_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """Move the arguments of a method to the module's device before it is called (left in 1.5)."""

    @functools.wraps(function)
    def moved(self: Any, *args: Any, **kwargs: Any) -> Any:
        from relight.utilities.memory import move_data_to_device

        args, kwargs = move_data_to_device((args, kwargs), self.device)
        return function(self, *args, **kwargs)

    return moved


class PatchDataLoader:
    """Stands for a loader method of a module: returns the loaders it was given (private in 1.x)."""

    def __init__(self, dataloader: Any, stage: str = "") -> None:
        self.dataloader = dataloader
        self.stage = stage

    def __call__(self, *args: Any) -> Any:
        """Return the loaders."""
        return self.dataloader


class LoggerCollection(Logger):
    """Several loggers that count as one (left in 1.8: a Trainer takes a list)."""

    def __init__(self, logger_iterable: Iterable[Any]) -> None:
        super().__init__()
        notice(
            code_for(Area.IMPORT, "pytorch_lightning.loggers", "LoggerCollection", "TRU300"),
            "LoggerCollection",
            advice_for(
                Area.IMPORT,
                "pytorch_lightning.loggers",
                "LoggerCollection",
                "give the Trainer a list of loggers",
            ),
        )
        self._loggers = list(logger_iterable)

    def __getitem__(self, index: int) -> Any:
        return self._loggers[index]

    def __len__(self) -> int:
        return len(self._loggers)

    def __iter__(self) -> Any:
        return iter(self._loggers)

    @property
    def experiment(self) -> list[Any]:
        """The experiments of all."""
        return [logger.experiment for logger in self._loggers]

    @property
    def name(self) -> str:
        """The names of all, joined."""
        return "_".join(dict.fromkeys(str(logger.name) for logger in self._loggers))

    @property
    def version(self) -> str:
        """The versions of all, joined."""
        return "_".join(dict.fromkeys(str(logger.version) for logger in self._loggers))

    @property
    def save_dir(self) -> str | None:
        """The first logger's."""
        return self._loggers[0].save_dir if self._loggers else None

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Send values to all."""
        for logger in self._loggers:
            logger.log_metrics(metrics, step)

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Send hyperparameters to all."""
        for logger in self._loggers:
            logger.log_hyperparams(params, *args, **kwargs)

    def save(self) -> None:
        """Save all."""
        for logger in self._loggers:
            logger.save()

    def finalize(self, status: str) -> None:
        """Finish all."""
        for logger in self._loggers:
            logger.finalize(status)


def all_gather_if_available(
    tensor: torch.Tensor, group: Any = None, sync_grads: bool = False
) -> torch.Tensor:
    """Return the tensors of all processes, stacked; the tensor itself with one process."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return tensor
    if sync_grads:
        from torch.distributed.nn.functional import all_gather

        return torch.stack(all_gather(tensor, group))  # type: ignore[no-untyped-call]
    return torch.stack(gather_all_tensors(tensor, group))


def gather_all_tensors(result: torch.Tensor, group: Any = None) -> list[torch.Tensor]:
    """Return the tensors (of one shape) of all processes."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return [result]
    gathered = [torch.zeros_like(result) for _ in range(torch.distributed.get_world_size(group))]
    torch.distributed.all_gather(gathered, result.contiguous(), group)
    return gathered


def sync_if_available(result: torch.Tensor, group: Any = None, reduce_op: Any = None) -> torch.Tensor:
    """Return the sum (or mean) over all processes; the tensor itself with one process."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return result
    result = result.clone()
    torch.distributed.all_reduce(result, group=group)
    if isinstance(reduce_op, str) and reduce_op.lower() in ("avg", "mean"):
        result = result / torch.distributed.get_world_size(group)
    return result


def summary(module: torch.nn.Module, mode: Any = "top") -> Any:
    """Return a summary of a module's layers, one level deep unless ``mode`` says ``"full"`` or a depth."""
    from relight.callbacks._layer_table import LayerTable

    depth = {"top": 1, "full": -1, None: 0}.get(mode, mode)
    return LayerTable(module, depth)  # type: ignore[arg-type]


_NOT_MODULES = {
    "XLA": "torch_xla",
    "TPU": "torch_xla",
    "APEX": "apex",
    "HYDRA": "hydra",
    "RICH": "rich",
    "NATIVE_AMP": "torch",
}


def _have(what: str) -> tuple[int, int]:
    """Return the release of a package (or of Python) that is here, (0, 0) for none."""
    if what == "python":
        return sys.version_info[0], sys.version_info[1]
    try:
        text = torch.__version__ if what == "torch" else importlib.metadata.version(what)
    except importlib.metadata.PackageNotFoundError:
        return 0, 0
    major, minor = text.split("+")[0].split(".")[:2]
    return int(major), int(minor)


def __getattr__(name: str) -> Any:
    greater = re.fullmatch(r"_?(TORCH|TORCHMETRICS|PYTHON)_GREATER_EQUAL_(\d+)_(\d+)(?:_\d+)?", name)
    if greater:
        return _have(greater[1].lower()) >= (int(greater[2]), int(greater[3]))
    available = re.fullmatch(r"_?([A-Z0-9]+(?:_[A-Z0-9]+)*)_AVAILABLE", name)
    if available:
        return module_available(_NOT_MODULES.get(available[1], available[1].lower()))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

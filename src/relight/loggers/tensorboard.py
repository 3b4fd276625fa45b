"""Metrics as TensorBoard events, hyperparameters also as YAML."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from lightning_fabric.loggers.tensorboard import TensorBoardLogger as FabricTensorBoardLogger
from torch import Tensor

from relight.callbacks._files import filesystem
from relight.loggers._hparams import as_dict, write_hparams
from relight.loggers._versions import next_version
from relight.loggers.logger import Logger
from relight.utilities.rank_zero import rank_zero_only, rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule

__all__ = ["TensorBoardLogger"]


class TensorBoardLogger(Logger, FabricTensorBoardLogger):
    """Log to ``<save_dir>/<name>/version_<n>`` for TensorBoard; Lightning Fabric's logger does the writing.

    Args:
        save_dir: directory or URL.
        name: name of the experiment; None or empty for no directory of its own.
        version: number, or name of the run's directory; by default the next free number.
        log_graph: write the model's graph; needs ``example_input_array``.
        default_hp_metric: give hyperparameters without metrics the metric ``hp_metric``, which the
            hyperparameter view needs.
        prefix: put before every metric's name, with a ``-``.
        sub_dir: directory below the version's to write the events into.
        **kwargs: arguments of ``SummaryWriter``.

    Raises:
        ModuleNotFoundError: if neither ``tensorboard`` nor ``tensorboardX`` is installed.
    """

    NAME_HPARAMS_FILE = "hparams.yaml"

    def __init__(
        self,
        save_dir: str | os.PathLike[str],
        name: str | None = "lightning_logs",
        version: int | str | None = None,
        log_graph: bool = False,
        default_hp_metric: bool = True,
        prefix: str = "",
        sub_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> None:
        FabricTensorBoardLogger.__init__(
            self,
            root_dir=os.fspath(save_dir),
            name=name,
            version=version,
            default_hp_metric=default_hp_metric,
            prefix=prefix,
            sub_dir=None if sub_dir is None else os.fspath(sub_dir),
            **kwargs,
        )
        self._save_dir = os.fspath(save_dir)
        self._log_graph = log_graph
        self._given_version = version
        self.hparams: dict[str, Any] = {}

    @property
    def version(self) -> int | str:
        """Number or name of the run; settled when it is first asked for."""
        if self._given_version is None:
            self._given_version = next_version(self.root_dir)
        return self._given_version

    @property
    def save_dir(self) -> str:
        """The directory given."""
        return self._save_dir

    @property
    def root_dir(self) -> str:
        """Directory of all versions of the experiment."""
        return os.path.join(self._save_dir, self.name)

    @property
    def log_dir(self) -> str:
        """Directory of this run's events, with variables and ``~`` expanded."""
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        path = os.path.join(self.root_dir, version, *([self.sub_dir] if self.sub_dir else []))
        return os.path.expanduser(os.path.expandvars(path))

    @rank_zero_only
    def log_hyperparams(
        self,
        params: dict[str, Any] | Namespace,
        metrics: dict[str, Any] | None = None,
        step: int | None = None,
    ) -> None:
        """Write hyperparameters, with the metrics that belong to them."""
        params = as_dict(params)
        self.hparams.update(params)
        FabricTensorBoardLogger.log_hyperparams(self, params=params, metrics=metrics, step=step)

    @rank_zero_only
    def log_graph(  # type: ignore[override]
        self, model: LightningModule, input_array: Tensor | tuple[Any, ...] | None = None
    ) -> None:
        """Write the model's graph, if asked for at the start."""
        if not self._log_graph:
            return
        example = model.example_input_array if input_array is None else input_array
        if not isinstance(example, (Tensor, tuple)):
            rank_zero_warn(
                "Could not log computational graph to TensorBoard: `model.example_input_array` or"
                f" `input_array` has to be a tensor or a tuple of the arguments of `forward`,"
                f" got {type(example).__name__}."
            )
            return
        example = model.transfer_batch_to_device(
            model.on_before_batch_transfer(example, 0), model.device, dataloader_idx=0
        )
        # Tracing reads all properties, and `trainer` raises where there is none.
        with model._exporting() if model._trainer is None else nullcontext():
            self.experiment.add_graph(model, model.on_after_batch_transfer(example, 0))

    @rank_zero_only
    def save(self) -> None:
        """Write what is kept; also the hyperparameters, if the directory is there and has none yet."""
        FabricTensorBoardLogger.save(self)
        directory = self.log_dir
        fs, path = filesystem(directory), os.path.join(directory, self.NAME_HPARAMS_FILE)
        if fs.isdir(directory) and not fs.isfile(path):
            write_hparams(path, self.hparams)

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Write what is kept and close the file."""
        FabricTensorBoardLogger.finalize(self, status)
        if status == "success":
            self.save()

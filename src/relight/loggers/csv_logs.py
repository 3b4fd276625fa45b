"""Metrics as CSV, hyperparameters as YAML, in a numbered directory."""

from __future__ import annotations

import csv
import os
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from relight.callbacks._files import filesystem
from relight.loggers._hparams import as_dict, write_hparams
from relight.loggers._versions import next_version
from relight.loggers.logger import Logger, rank_zero_experiment
from relight.utilities.rank_zero import rank_zero_only, rank_zero_warn

__all__ = ["CSVLogger", "ExperimentWriter"]


class ExperimentWriter:
    """Writes ``metrics.csv`` and ``hparams.yaml`` into one directory, local or remote.

    The files are those of Lightning 2.6, byte for byte: columns sorted by name, a row for each call.

    Args:
        log_dir: the directory; files of an earlier run in it are replaced, with a warning.
    """

    NAME_HPARAMS_FILE = "hparams.yaml"
    NAME_METRICS_FILE = "metrics.csv"

    def __init__(self, log_dir: str) -> None:
        self.log_dir = log_dir
        self.hparams: dict[str, Any] = {}
        self.metrics: list[dict[str, Any]] = []
        self.metrics_keys: list[str] = []
        self.metrics_file_path = os.path.join(log_dir, self.NAME_METRICS_FILE)
        self._fs = filesystem(log_dir)
        if self._fs.exists(log_dir) and self._fs.ls(log_dir):
            rank_zero_warn(
                f"Experiment logs directory {log_dir} exists and is not empty."
                " Previous log files in this directory will be deleted when the new ones are saved!"
            )
            if self._fs.isfile(self.metrics_file_path):
                self._fs.rm_file(self.metrics_file_path)
        self._fs.makedirs(log_dir, exist_ok=True)

    def log_hparams(self, params: Mapping[str, Any]) -> None:
        """Add hyperparameters and write all of them."""
        self.hparams.update(params)
        write_hparams(os.path.join(self.log_dir, self.NAME_HPARAMS_FILE), self.hparams)

    def log_metrics(self, metrics_dict: Mapping[str, Any], step: int | None = None) -> None:
        """Keep a row until the next :meth:`save`."""
        row = {
            name: value.item() if isinstance(value, Tensor) else value for name, value in metrics_dict.items()
        }
        row["step"] = len(self.metrics) if step is None else step
        self.metrics.append(row)

    def save(self) -> None:
        """Append the rows kept; write the file anew if they bring new columns."""
        if not self.metrics:
            return
        new = {name for row in self.metrics for name in row}.difference(self.metrics_keys)
        exists = self._fs.isfile(self.metrics_file_path)
        rows: list[dict[str, Any]] = self.metrics
        if new:
            self.metrics_keys = sorted([*self.metrics_keys, *new])
            if exists:
                with self._fs.open(self.metrics_file_path, "r", newline="") as file:
                    rows = [*csv.DictReader(file), *rows]
        with self._fs.open(self.metrics_file_path, "w" if new else "a", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=self.metrics_keys)
            if new or not exists:
                writer.writeheader()
            writer.writerows(rows)
        self.metrics = []


class CSVLogger(Logger):
    """Log to ``<save_dir>/<name>/version_<n>/metrics.csv`` and ``hparams.yaml``; needs nothing installed.

    Args:
        save_dir: directory or URL.
        name: name of the experiment; None or empty for no directory of its own.
        version: number, or name of the run's directory; by default the next free number.
        prefix: put before every metric's name, with a ``-``.
        flush_logs_every_n_steps: write after so many steps.
    """

    LOGGER_JOIN_CHAR = "-"

    def __init__(
        self,
        save_dir: str | os.PathLike[str],
        name: str | None = "lightning_logs",
        version: int | str | None = None,
        prefix: str = "",
        flush_logs_every_n_steps: int = 100,
    ) -> None:
        super().__init__()
        self._save_dir = os.fspath(save_dir)
        self._name = name or ""
        self._version = version
        self._prefix = prefix
        self._flush_logs_every_n_steps = flush_logs_every_n_steps
        self._experiment: ExperimentWriter | None = None

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self._name

    @property
    def version(self) -> int | str:
        """Number or name of the run; settled when it is first asked for."""
        if self._version is None:
            self._version = next_version(self.root_dir)
        return self._version

    @property
    def save_dir(self) -> str:
        """The directory given."""
        return self._save_dir

    @property
    def root_dir(self) -> str:
        """Directory of all versions of the experiment."""
        return os.path.join(self.save_dir, self.name)

    @property
    def log_dir(self) -> str:
        """Directory of this run."""
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        return os.path.join(self.root_dir, version)

    @property
    @rank_zero_experiment
    def experiment(self) -> ExperimentWriter:
        """The writer; it is made, and the directory with it, when it is first asked for."""
        if self._experiment is None:
            filesystem(self.root_dir).makedirs(self.root_dir, exist_ok=True)
            self._experiment = ExperimentWriter(self.log_dir)
        return self._experiment

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace | None = None) -> None:
        """Write hyperparameters."""
        self.experiment.log_hparams(as_dict(params))

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Tensor | float], step: int | None = None) -> None:
        """Keep a row; by default its step is the number of rows kept."""
        if self._prefix:
            metrics = {f"{self._prefix}{self.LOGGER_JOIN_CHAR}{name}": v for name, v in metrics.items()}
        if step is None:
            step = len(self.experiment.metrics)
        self.experiment.log_metrics(metrics, step)
        if (step + 1) % self._flush_logs_every_n_steps == 0:
            self.save()

    @rank_zero_only
    def save(self) -> None:
        """Write the rows kept."""
        self.experiment.save()

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Write the rows kept, if anything was logged at all."""
        if self._experiment is not None:
            self.save()

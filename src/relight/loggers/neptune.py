"""Metrics, hyperparameters and checkpoints to Neptune."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from relight.callbacks import Checkpoint
from relight.loggers._hparams import as_dict
from relight.loggers._optional import require
from relight.loggers._params import named_callables
from relight.loggers.logger import Logger, rank_zero_experiment
from relight.utilities.rank_zero import rank_zero_only

if TYPE_CHECKING:
    from relight.module import LightningModule

__all__ = ["NeptuneLogger"]

_INTEGRATION = "source_code/integrations/relight"


class NeptuneLogger(Logger):
    """Log to a Neptune run; needs ``pip install neptune``.

    Neptune's public service was closed in 2026, and Lightning 2.6.2 dropped its logger. This one, with the
    arguments it had in Lightning 1.9 to 2.6.1, is for servers of one's own and for ``mode="offline"``,
    ``"debug"`` and ``"read-only"``. The run begins when it is first needed, on rank 0 only.

    Args:
        api_key: Token; by default ``$NEPTUNE_API_TOKEN``.
        project: ``"workspace/project"``; by default ``$NEPTUNE_PROJECT``.
        name: Shown name of the run.
        run: A run that is there already, or one of its namespaces (``run["fold_1"]``).
        log_model_checkpoints: Upload the checkpoints that the callback keeps.
        prefix: Namespace of everything that is logged.
        neptune_run_kwargs: More arguments of ``neptune.init_run``: ``mode``, ``tags``, ``description`` …

    Raises:
        ModuleNotFoundError: Without neptune.
        ValueError: For ``run`` beside arguments of a new one, or a ``run`` that is none.
    """

    LOGGER_JOIN_CHAR = "/"
    PARAMETERS_KEY = "hyperparams"
    ARTIFACTS_KEY = "artifacts"

    def __init__(
        self,
        *,
        api_key: str | None = None,
        project: str | None = None,
        name: str | None = None,
        run: Any = None,
        log_model_checkpoints: bool | None = True,
        prefix: str = "training",
        **neptune_run_kwargs: Any,
    ) -> None:
        require("neptune", "neptune", at_least="1.0", by="NeptuneLogger")
        super().__init__()
        given = {"project": project, "api_token": api_key, "name": name, **neptune_run_kwargs}
        self._arguments = {key: value for key, value in given.items() if value is not None}
        if run is not None:
            _check_run(run, self._arguments)
        self._run_instance = run
        self._run_name = name
        self._run_short_id: str | None = None
        self._log_model_checkpoints = log_model_checkpoints
        self._prefix = prefix
        if run is not None:
            self._read_identity(run)

    @property
    @rank_zero_experiment
    def experiment(self) -> Any:
        """The ``neptune.Run``; it begins when it is first asked for."""
        return self.run

    @property
    @rank_zero_experiment
    def run(self) -> Any:
        """The ``neptune.Run``; it begins when it is first asked for."""
        if self._run_instance is None:
            import neptune

            self._run_instance = neptune.init_run(**self._arguments)
            self._read_identity(self._run_instance)
        return self._run_instance

    def _read_identity(self, run: Any) -> None:
        import relight

        root = run.get_root_object() if hasattr(run, "get_root_object") else run
        root.wait()
        if root.exists("sys/id"):
            self._run_short_id, self._run_name = root["sys/id"].fetch(), root["sys/name"].fetch()
        else:  # as Lightning calls them
            self._run_short_id, self._run_name = "OFFLINE", "offline-name"
        root[_INTEGRATION] = relight.__version__

    def __getstate__(self) -> dict[str, Any]:
        """Leave the connection out; a process that gets this logger goes on with the run by its id."""
        state = {**self.__dict__, "_run_instance": None}
        if self._run_short_id not in (None, "OFFLINE"):
            state["_arguments"] = {**self._arguments, "with_id": self._run_short_id}
        return state

    @property
    def name(self) -> str | None:
        """Name of the run; ``"offline-name"`` offline."""
        return self._run_name

    @property
    def version(self) -> str | None:
        """Short id of the run; ``"OFFLINE"`` offline."""
        return self._run_short_id

    @property
    def save_dir(self) -> str | None:
        """``.neptune`` in the working directory, where Neptune keeps what it has not sent."""
        return os.path.join(os.getcwd(), ".neptune")

    def _path(self, *parts: str) -> str:
        return self.LOGGER_JOIN_CHAR.join([self._prefix, *parts] if self._prefix else parts)

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace | None = None) -> None:
        """Log hyperparameters under ``<prefix>/hyperparams``."""
        from neptune.utils import stringify_unsupported

        self.run[self._path(self.PARAMETERS_KEY)] = stringify_unsupported(named_callables(as_dict(params)))

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Tensor | float], step: int | None = None) -> None:
        """Append numbers; ``step`` is not used, as Neptune refuses steps that do not rise."""
        for name, value in metrics.items():
            self.run[self._path(name)].append(value.item() if isinstance(value, Tensor) else value)

    @rank_zero_only
    def log_model_summary(self, model: LightningModule, max_depth: int = -1) -> None:
        """Upload the summary of a module as text."""
        from neptune.types import File

        from relight.callbacks._layer_table import LayerTable

        text = str(LayerTable(model, max_depth=max_depth))
        self.run[self._path("model/summary")] = File.from_content(content=text, extension="txt")

    @rank_zero_only
    def after_save_checkpoint(self, checkpoint_callback: Checkpoint) -> None:
        """Upload the checkpoints that the callback keeps, and drop those that it dropped."""
        if not self._log_model_checkpoints:
            return
        callback: Any = checkpoint_callback
        best = getattr(callback, "best_model_path", "")
        kept = [getattr(callback, "last_model_path", ""), *getattr(callback, "best_k_models", {}), best]
        files = {self._file_name(path, callback): path for path in kept if path}
        namespace = self._path("model/checkpoints")
        for name, path in files.items():
            self.run[f"{namespace}/{name}"].upload(path)
        for name in sorted(self._uploaded(namespace) - set(files)):
            del self.run[f"{namespace}/{name}"]
        if best:
            self.run[self._path("model/best_model_path")] = best
        if (score := getattr(callback, "best_model_score", None)) is not None:
            self.run[self._path("model/best_model_score")] = float(score)

    @staticmethod
    def _file_name(path: str, callback: Any) -> str:
        """Return the path below the callback's directory, without suffix."""
        directory = getattr(callback, "dirpath", None)
        if directory and os.path.abspath(path).startswith(os.path.join(os.path.abspath(directory), "")):
            path = os.path.relpath(path, directory)
        return os.path.splitext(path)[0].replace(os.sep, "/").lstrip("/")

    def _uploaded(self, namespace: str) -> set[str]:
        structure: Any = self.run.get_structure()
        for part in namespace.split("/"):
            structure = structure.get(part, {}) if isinstance(structure, dict) else {}
        return set(_leaves(structure))

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Log how the run ended; it stays open."""
        if self._run_instance is not None and status:
            self.run[self._path("status")] = status


def _leaves(structure: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    for name, value in structure.items():
        path = f"{parent}/{name}" if parent else name
        if isinstance(value, Mapping):
            yield from _leaves(value, path)
        else:
            yield path


def _check_run(run: Any, arguments: Mapping[str, Any]) -> None:
    from neptune import Run
    from neptune.handler import Handler

    if not isinstance(run, (Run, Handler)):
        raise ValueError(f"`run` is a `neptune.Run` or one of its namespaces, not {type(run).__name__}")
    if arguments:
        raise ValueError(
            f"`NeptuneLogger(run=…)` goes on with that run; {sorted(arguments)} are arguments of a new one"
        )

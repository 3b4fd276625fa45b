"""Metrics, hyperparameters and checkpoints to MLflow."""

from __future__ import annotations

import os
import re
import tempfile
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from relight.callbacks import Checkpoint
from relight.loggers._hparams import as_dict, yaml_module
from relight.loggers._model_files import ModelFile, Uploads, settings
from relight.loggers._optional import require
from relight.loggers._params import flat, prefixed
from relight.loggers.logger import Logger, rank_zero_experiment
from relight.utilities.rank_zero import rank_zero_only, rank_zero_warn

__all__ = ["MLFlowLogger"]

_FILE = "file:"
_PARAM_LENGTH = 250  # what every server takes
_PARAMS_AT_ONCE = 100
_STATUS = {"success": "FINISHED", "finished": "FINISHED", "failed": "FAILED"}
_CHECKPOINT_SETTINGS = (
    "monitor", "mode", "save_last", "save_top_k", "save_weights_only", "_every_n_train_steps",
    "_every_n_val_epochs",
)  # fmt: skip


class MLFlowLogger(Logger):
    """Log to `MLflow <https://mlflow.org>`_; needs ``pip install mlflow``, or ``mlflow-skinny`` for a server.

    The run begins when it is first needed, on rank 0 only.

    Args:
        experiment_name: Name of the experiment, made if it is not there.
        run_name: Name of the run; goes before the tag ``mlflow.runName``.
        tracking_uri: A server, a database (``"sqlite:///runs.db"``) or ``file:`` directory; by default
            ``$MLFLOW_TRACKING_URI``, else ``file:<save_dir>``. MLflow since 3.7 takes directories only with
            ``MLFLOW_ALLOW_FILE_STORE=true``.
        tags: Tags of the run.
        save_dir: The directory, without ``tracking_uri``.
        log_model: Log checkpoints as artifacts: ``"all"`` when they are written, True at the end.
        prefix: Put before every metric's name, with a ``-``.
        artifact_location: Where artifacts of a new experiment go.
        run_id: A run to go on with.
        synchronous: Whether a call waits until the server has the values (MLflow 2.8).

    Raises:
        ModuleNotFoundError: Without MLflow, or with one too old for ``synchronous``.
    """

    LOGGER_JOIN_CHAR = "-"

    def __init__(
        self,
        experiment_name: str = "lightning_logs",
        run_name: str | None = None,
        tracking_uri: str | None = None,
        tags: dict[str, Any] | None = None,
        save_dir: str | os.PathLike[str] | None = "./mlruns",
        log_model: Literal["all"] | bool = False,
        prefix: str = "",
        artifact_location: str | None = None,
        run_id: str | None = None,
        synchronous: bool | None = None,
    ) -> None:
        oldest = "1.1" if synchronous is None else "2.8"
        require("mlflow", "mlflow", "mlflow-skinny", at_least=oldest, by="MLFlowLogger")
        super().__init__()
        self._experiment_name = experiment_name
        self._experiment_id: str | None = None
        self._tracking_uri = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or f"{_FILE}{save_dir}"
        self._run_name = run_name
        self._run_id = run_id
        self.tags = tags
        self._prefix = prefix
        self._artifact_location = artifact_location
        self._batch_arguments = {} if synchronous is None else {"synchronous": synchronous}
        self._uploads = Uploads(log_model)
        self._client: Any = None

    @property
    @rank_zero_experiment
    def experiment(self) -> Any:
        """The ``MlflowClient``; the run begins when it is first asked for."""
        if self._client is None:
            import mlflow
            from mlflow.tracking import MlflowClient

            mlflow.set_tracking_uri(self._tracking_uri)  # so that the user's own calls go there, too
            client = MlflowClient(self._tracking_uri)
            if self._run_id is not None:
                self._experiment_id = client.get_run(self._run_id).info.experiment_id
            else:
                self._begin(client)
            self._client = client
        return self._client

    def _begin(self, client: Any) -> None:
        from mlflow.tracking.context.registry import resolve_tags
        from mlflow.utils.mlflow_tags import MLFLOW_RUN_NAME

        if self._experiment_id is None:
            found = client.get_experiment_by_name(self._experiment_name)
            if found is not None and found.lifecycle_stage != "deleted":
                self._experiment_id = found.experiment_id
            else:
                self._experiment_id = client.create_experiment(
                    name=self._experiment_name, artifact_location=self._artifact_location
                )
        if self._run_name is not None:
            self.tags = {**(self.tags or {}), MLFLOW_RUN_NAME: self._run_name}
        run = client.create_run(experiment_id=self._experiment_id, tags=resolve_tags(self.tags))
        self._run_id = run.info.run_id

    def __getstate__(self) -> dict[str, Any]:
        """Leave the connection out; a process that gets this logger goes on with the same run."""
        return {**self.__dict__, "_client": None}

    @property
    def run_id(self) -> str | None:
        """Id of the run, which begins if it has not."""
        _ = self.experiment
        return self._run_id

    @property
    def experiment_id(self) -> str | None:
        """Id of the experiment, which is made if it is not there."""
        _ = self.experiment
        return self._experiment_id

    @property
    def name(self) -> str | None:
        """Id of the experiment."""
        return self.experiment_id

    @property
    def version(self) -> str | None:
        """Id of the run."""
        return self.run_id

    @property
    def save_dir(self) -> str | None:
        """The directory, ``None`` for a server or a database."""
        return self._tracking_uri[len(_FILE) :] if self._tracking_uri.startswith(_FILE) else None

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace | None = None) -> None:
        """Log hyperparameters, nested ones as ``outer/inner``, values cut to 250 characters."""
        from mlflow.entities import Param

        items = [
            Param(key=name, value=str(value)[:_PARAM_LENGTH]) for name, value in flat(as_dict(params)).items()
        ]
        for start in range(0, len(items), _PARAMS_AT_ONCE):
            self.experiment.log_batch(
                run_id=self.run_id, params=items[start : start + _PARAMS_AT_ONCE], **self._batch_arguments
            )

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Log numbers; texts are left out, and names lose the characters that MLflow refuses."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        items = []
        for name, value in prefixed(metrics, self._prefix, self.LOGGER_JOIN_CHAR).items():
            if isinstance(value, str):
                rank_zero_warn(f"MLflow takes numbers: the metric {name}={value!r} is not logged.")
                continue
            allowed = re.sub(r"[^a-zA-Z0-9_/. -]+", "", name)
            if allowed != name:
                rank_zero_warn(
                    f"MLflow allows letters, digits and `_/. -` in names: {name!r} is logged as {allowed!r}.",
                    category=RuntimeWarning,
                )
            items.append(Metric(key=allowed, value=float(value), timestamp=now, step=step or 0))
        self.experiment.log_batch(run_id=self.run_id, metrics=items, **self._batch_arguments)

    def after_save_checkpoint(self, checkpoint_callback: Checkpoint) -> None:
        """Log checkpoints as they come, if asked for."""
        for file in self._uploads.saved(checkpoint_callback):
            self._upload(checkpoint_callback, file)

    @rank_zero_only
    def finalize(self, status: str = "success") -> None:
        """Log the checkpoints that waited for the end, and end the run."""
        if self._client is None:
            return
        for callback, files in self._uploads.rest():
            for file in files:
                self._upload(callback, file)
        if self._client.get_run(self._run_id):
            self._client.set_terminated(self._run_id, _STATUS.get(status, status))

    def _upload(self, callback: Any, file: ModelFile) -> None:
        directory = Path(file.path).stem
        metadata = {
            "score": file.score,
            "original_filename": Path(file.path).name,
            "Checkpoint": settings(callback, *_CHECKPOINT_SETTINGS),
        }
        self.experiment.log_artifact(self._run_id, file.path, directory)
        with tempfile.TemporaryDirectory() as local:
            Path(local, "metadata.yaml").write_text(yaml_module().dump(metadata, default_flow_style=False))
            Path(local, "aliases.txt").write_text(str(file.aliases))
            self.experiment.log_artifacts(self._run_id, local, directory)
        self._uploads.done(file)

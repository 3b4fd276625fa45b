"""Metrics, hyperparameters and graphs to Comet."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from relight.loggers._hparams import as_dict
from relight.loggers._optional import require
from relight.loggers.logger import Logger, rank_zero_experiment
from relight.utilities.rank_zero import rank_zero_deprecation, rank_zero_only

if TYPE_CHECKING:
    from relight.module import LightningModule

__all__ = ["CometLogger"]

#: Arguments before 2.5.1 and what they are called since.
RENAMED = {"experiment_name": "name", "project_name": "project", "save_dir": "offline_directory"}


class CometLogger(Logger):
    """Log to `Comet <https://www.comet.com>`_; needs ``pip install comet_ml``.

    The experiment begins when it is first needed, on rank 0 only (Lightning 2.6 begins it in the
    constructor), and stays open after a run, so that more can be logged: ``logger.experiment.end()`` ends it.

    Args:
        api_key: Key of the account; by default what Comet finds in its configuration.
        workspace: Workspace; the default one.
        project: Project; Comet's ``"Uncategorized"``.
        experiment_key: Key (32 to 50 letters and digits) of an experiment to go on with, or for a new one.
        mode: ``"get_or_create"``, ``"get"`` to go on with ``experiment_key``, or ``"create"``.
        online: False writes an archive into ``offline_directory`` for ``comet upload``.
        prefix: Put before every metric's name, with a ``_``.
        kwargs: More settings of ``comet_ml.ExperimentConfig``: ``name``, ``offline_directory`` …

    Raises:
        ModuleNotFoundError: Without comet_ml.
        TypeError: For an argument given under its old and its new name.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        workspace: str | None = None,
        project: str | None = None,
        experiment_key: str | None = None,
        mode: Literal["get_or_create", "get", "create"] | None = None,
        online: bool | None = None,
        prefix: str | None = None,
        **kwargs: Any,
    ) -> None:
        require("comet_ml", "comet_ml", at_least="3.44", by="CometLogger")
        super().__init__()
        given = {**kwargs, "project": project, "online": online}
        if "offline" in given:
            _rename("offline", "online", given, lambda offline: not offline)
        for old, new in RENAMED.items():
            if old in given:
                _rename(old, new, given)
        self._start: dict[str, Any] = {
            "api_key": api_key,
            "workspace": workspace,
            "project": given.pop("project"),
            "experiment_key": experiment_key,
            "mode": mode,
            "online": given.pop("online"),
        }
        self._prefix = prefix
        self._config = given
        self._experiment: Any = None

    @property
    @rank_zero_experiment
    def experiment(self) -> Any:
        """The Comet experiment; it begins when it is first asked for."""
        if self._experiment is None:
            # Comet would hook into torch's backward and the module's steps, which the Trainer logs itself.
            os.environ.setdefault("COMET_DISABLE_AUTO_LOGGING", "1")
            import comet_ml

            experiment = comet_ml.start(
                **self._start, experiment_config=comet_ml.ExperimentConfig(**self._config)
            )
            if experiment is None:
                raise RuntimeError("Comet did not start an experiment; its log says why")
            self._start["experiment_key"] = experiment.get_key()
            self._start["project"] = experiment.project_name
            experiment.log_other("Created from", "relight")
            self._experiment = experiment
        return self._experiment

    def __getstate__(self) -> dict[str, Any]:
        """Leave the experiment out; a process that gets this logger goes on with it by its key."""
        return {**self.__dict__, "_experiment": None}

    @property
    def name(self) -> str | None:
        """The project."""
        project: str | None = self._start["project"]
        return project

    @property
    def version(self) -> str | None:
        """Key of the experiment; before it begins, the key given."""
        key: str | None = self._start["experiment_key"]
        return key

    @property
    def save_dir(self) -> str | None:
        """Directory of offline archives."""
        directory = self._config.get("offline_directory")
        return None if directory is None else os.fspath(directory)

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace | None = None) -> None:
        """Log hyperparameters, nested ones one by one."""
        self.experiment.log_parameters(as_dict(params), nested_support=True)

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Tensor | float], step: int | None = None) -> None:
        """Log numbers; ``epoch`` becomes Comet's own."""
        row = {name: v.detach().cpu() if isinstance(v, Tensor) else v for name, v in metrics.items()}
        epoch = row.pop("epoch", None)
        self.experiment.log_metrics(row, step=step, epoch=epoch, prefix=self._prefix)

    @rank_zero_only
    def log_graph(  # type: ignore[override]
        self, model: LightningModule, input_array: Tensor | None = None
    ) -> None:
        """Log how the module is built."""
        if self._experiment is not None:
            self._experiment.set_model_graph(model)

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Send what is kept; the experiment stays open."""
        if self._experiment is not None:
            self._experiment.flush()


def _rename(old: str, new: str, given: dict[str, Any], convert: Any = lambda value: value) -> None:
    rank_zero_deprecation(f"`CometLogger({old}=…)` is called `{new}` since Lightning 2.5.1.")
    value = given.pop(old)
    if given.get(new) is not None:
        raise TypeError(f"`CometLogger` got both `{old}` and `{new}`, which are the same")
    if value is not None:
        given[new] = convert(value)

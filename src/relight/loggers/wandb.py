"""Metrics, media and checkpoints to Weights & Biases."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from torch import nn

from relight.callbacks import Checkpoint
from relight.loggers._hparams import as_dict
from relight.loggers._model_files import ModelFile, Uploads, settings
from relight.loggers._optional import require
from relight.loggers._params import json_ready, named_callables, prefixed
from relight.loggers.logger import Logger, rank_zero_experiment
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_only, rank_zero_warn

__all__ = ["WandbLogger"]

_Path = str | os.PathLike[str]
_CHECKPOINT_SETTINGS = (
    "monitor", "mode", "save_last", "save_top_k", "save_weights_only", "_every_n_train_steps",
)  # fmt: skip


class WandbLogger(Logger):
    """Log to a `Weights & Biases <https://docs.wandb.ai>`_ run; needs ``pip install wandb``.

    The run begins when it is first needed, on rank 0 only; metrics are put over ``trainer/global_step``.

    Args:
        name: Shown name of the run.
        save_dir: Where the run's files go.
        version: Id of the run, to go on with one.
        offline: Write files only; ``wandb sync`` uploads them later.
        dir: Another name of ``save_dir``.
        id: Another name of ``version``.
        anonymous: Whether a run without an account is allowed (releases of wandb that still know this).
        project: Name of the project; by default ``$WANDB_PROJECT``, else ``"lightning_logs"``.
        log_model: Upload checkpoints as artifacts: ``"all"`` when they are written, True at the end.
        experiment: A run that is there already.
        prefix: Put before every metric's name, with a ``-``.
        checkpoint_name: Name of the artifacts; ``"model-<id of the run>"`` by default.
        add_file_policy: ``"mutable"`` copies a checkpoint before it is uploaded, ``"immutable"`` does not.
        kwargs: More arguments of ``wandb.init``.

    Raises:
        ModuleNotFoundError: Without wandb.
        MisconfigurationException: For ``offline`` with ``log_model``.
    """

    LOGGER_JOIN_CHAR = "-"
    begins_first = True  # it patches TensorBoard's writers, if it is to sync them (wandb #1782)

    def __init__(
        self,
        name: str | None = None,
        save_dir: _Path = ".",
        version: str | None = None,
        offline: bool = False,
        dir: _Path | None = None,
        id: str | None = None,
        anonymous: bool | None = None,
        project: str | None = None,
        log_model: Literal["all"] | bool = False,
        experiment: Any = None,
        prefix: str = "",
        checkpoint_name: str | None = None,
        add_file_policy: Literal["mutable", "immutable"] = "mutable",
        **kwargs: Any,
    ) -> None:
        require("wandb", "wandb", at_least="0.16", by="WandbLogger")
        if offline and log_model:
            raise MisconfigurationException(
                f"`WandbLogger(offline=True, log_model={log_model!r})`: checkpoints cannot be uploaded"
                " offline. Leave one of the two out."
            )
        super().__init__()
        directory = save_dir or dir
        self._init: dict[str, Any] = {
            "name": name,
            "project": project or os.environ.get("WANDB_PROJECT", "lightning_logs"),
            "dir": None if directory is None else os.fspath(directory),
            "id": version or id,
            "resume": "allow",
        }
        if anonymous:  # recent releases warn of the argument whatever it is
            self._init["anonymous"] = "allow"
        if offline:
            self._init["mode"] = "offline"
        self._init.update(kwargs)
        self._prefix = prefix
        self._experiment = experiment
        self._attach_id: str | None = None
        self._uploads = Uploads(log_model)
        self._checkpoint_name = checkpoint_name
        self.add_file_policy = add_file_policy

    @property
    @rank_zero_experiment
    def experiment(self) -> Any:
        """The ``wandb.Run``; it begins when it is first asked for."""
        if self._experiment is None:
            import wandb

            if wandb.run is not None:
                rank_zero_warn(
                    "A wandb run is in progress, and this `WandbLogger` goes on with it. For a new one,"
                    " call `wandb.finish()` before."
                )
                self._experiment = wandb.run
            elif self._attach_id is not None and hasattr(wandb, "_attach"):
                self._experiment = wandb._attach(self._attach_id)
            else:
                self._experiment = wandb.init(**self._init)
                self._define_axis(self._experiment)
        return self._experiment

    def _define_axis(self, run: Any) -> None:
        define = getattr(run, "define_metric", None)
        if define is None:
            return
        if self._init.get("sync_tensorboard"):
            define("*", step_metric="global_step")
        else:
            define("trainer/global_step")
            define("*", step_metric="trainer/global_step", step_sync=True)

    def __getstate__(self) -> dict[str, Any]:
        """Begin the run here, so that a process that gets this logger can attach to it."""
        run = self.experiment
        state = self.__dict__.copy()
        if self._experiment is not None:
            state["_init"] = {**self._init, "id": run.id, "name": run.name}
            state["_attach_id"] = getattr(run, "_attach_id", None)
        state["_experiment"] = None
        return state

    @property
    def save_dir(self) -> str | None:
        """Directory of the run's files."""
        directory: str | None = self._init["dir"]
        return directory

    @property
    def name(self) -> str | None:
        """The project (the run's own name is ``logger.experiment.name``)."""
        project: str | None = self._init["project"]
        return project

    @property
    def version(self) -> str | None:
        """Id of the run; before it begins, the id given."""
        if self._experiment is None:
            given: str | None = self._init["id"]
            return given
        return str(self._experiment.id)

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Log numbers and media."""
        row = prefixed(metrics, self._prefix, self.LOGGER_JOIN_CHAR)
        if step is not None and not self._init.get("sync_tensorboard"):
            row["trainer/global_step"] = step
        self.experiment.log(row)

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace | None = None) -> None:
        """Add hyperparameters to the run's configuration."""
        config = json_ready(named_callables(as_dict(params)))
        self.experiment.config.update(config, allow_val_change=True)

    @rank_zero_only
    def watch(
        self,
        model: nn.Module,
        log: Literal["gradients", "parameters", "all"] | None = "gradients",
        log_freq: int = 100,
        log_graph: bool = True,
    ) -> None:
        """Log gradients (or ``"parameters"``, ``"all"``) of a model every ``log_freq`` batches."""
        self.experiment.watch(model, log=log, log_freq=log_freq, log_graph=log_graph)

    @rank_zero_only
    def unwatch(self, model: nn.Module | None = None) -> None:
        """Watch a model (all, without one) no longer."""
        self.experiment.unwatch(model)

    @rank_zero_only
    def log_table(
        self,
        key: str,
        columns: list[str] | None = None,
        data: list[list[Any]] | None = None,
        dataframe: Any = None,
        step: int | None = None,
    ) -> None:
        """Log a table of anything, given by ``columns`` and ``data``, or by ``dataframe``."""
        import wandb

        self.log_metrics({key: wandb.Table(columns=columns, data=data, dataframe=dataframe)}, step)

    @rank_zero_only
    def log_text(
        self,
        key: str,
        columns: list[str] | None = None,
        data: list[list[str]] | None = None,
        dataframe: Any = None,
        step: int | None = None,
    ) -> None:
        """Log texts as a table."""
        self.log_table(key, columns, data, dataframe, step)

    @rank_zero_only
    def log_image(self, key: str, images: list[Any], step: int | None = None, **kwargs: Any) -> None:
        """Log images: tensors, arrays, PIL images or paths.

        Args:
            key: Name.
            images: The images.
            step: Step.
            kwargs: Lists with one value an image, for the arguments of ``wandb.Image`` (``caption=[…]``).

        Raises:
            TypeError: If ``images`` is no list.
            ValueError: If a list of arguments is of another length.
        """
        import wandb

        self._log_media(key, "images", images, wandb.Image, step, kwargs)

    @rank_zero_only
    def log_audio(self, key: str, audios: list[Any], step: int | None = None, **kwargs: Any) -> None:
        """Log sounds, arrays or paths; arguments as for :meth:`log_image`."""
        import wandb

        self._log_media(key, "audios", audios, wandb.Audio, step, kwargs)

    @rank_zero_only
    def log_video(self, key: str, videos: list[Any], step: int | None = None, **kwargs: Any) -> None:
        """Log videos, arrays or paths; arguments as for :meth:`log_image`."""
        import wandb

        self._log_media(key, "videos", videos, wandb.Video, step, kwargs)

    def _log_media(
        self,
        key: str,
        argument: str,
        items: list[Any],
        kind: Callable[..., Any],
        step: int | None,
        lists: Mapping[str, Sequence[Any]],
    ) -> None:
        if not isinstance(items, list):
            raise TypeError(f"`{argument}` of {key!r} is a list, not {type(items).__name__}")
        for name, values in lists.items():
            if len(values) != len(items):
                raise ValueError(f"`{name}` of {key!r} has {len(values)} items for {len(items)} {argument}")
        media = [kind(item, **{name: lists[name][i] for name in lists}) for i, item in enumerate(items)]
        self.log_metrics({key: media}, step)

    @staticmethod
    @rank_zero_only
    def download_artifact(
        artifact: str,
        save_dir: _Path | None = None,
        artifact_type: str | None = None,
        use_artifact: bool | None = True,
    ) -> str:
        """Download an artifact and return the directory.

        Args:
            artifact: Path of the artifact (``entity/project/name:alias``).
            save_dir: Where to put it.
            artifact_type: Its type.
            use_artifact: Whether the current run, if there is one, is recorded as a user of it.
        """
        import wandb

        if wandb.run is not None and use_artifact:
            found = wandb.run.use_artifact(artifact)
        else:
            found = wandb.Api().artifact(artifact, type=artifact_type)
        return str(found.download(root=None if save_dir is None else os.fspath(save_dir)))

    def use_artifact(self, artifact: str, artifact_type: str | None = None) -> Any:
        """Record that this run uses an artifact, and return it."""
        return self.experiment.use_artifact(artifact, type=artifact_type)

    def after_save_checkpoint(self, checkpoint_callback: Checkpoint) -> None:
        """Upload checkpoints as they come, if asked for."""
        for file in self._uploads.saved(checkpoint_callback):
            self._upload(checkpoint_callback, file)

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Upload the checkpoints that waited for the end, after a success only; the run stays open."""
        if status != "success" or self._experiment is None:
            return
        for callback, files in self._uploads.rest():
            for file in files:
                self._upload(callback, file)

    def _upload(self, callback: Any, file: ModelFile) -> None:
        import wandb

        if not self._checkpoint_name:
            self._checkpoint_name = f"model-{self.experiment.id}"
        metadata = {
            "score": file.score,
            "original_filename": Path(file.path).name,
            callback.__class__.__name__: settings(callback, *_CHECKPOINT_SETTINGS),
        }
        artifact = wandb.Artifact(name=self._checkpoint_name, type="model", metadata=metadata)
        artifact.add_file(file.path, name="model.ckpt", policy=self.add_file_policy)
        self.experiment.log_artifact(artifact, aliases=file.aliases)
        self._uploads.done(file)

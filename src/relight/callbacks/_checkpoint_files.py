"""Where checkpoint files lie, what they are called and which may be removed."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from relight.callbacks import _files
from relight.callbacks.checkpoint import Checkpoint
from relight.utilities.atomic import local_path

if TYPE_CHECKING:
    from relight.trainer import Trainer

_FIELD = re.compile(r"\{(?P<name>[^{}:]*)(?::(?P<spec>[^{}]*))?\}")


def fill_template(template: str, metrics: MutableMapping[str, Tensor], equals: str | None) -> str:
    """Replace every ``{metric:format}`` of ``template`` by the metric's value.

    Args:
        template: such as ``"{epoch}-{val/loss:.2f}"``; a metric's name may hold dots and slashes.
        metrics: values by name; a metric that the template names and that is missing counts as 0 and is
            added, as in Lightning.
        equals: put the metric's name and this in front of each value; None for the value alone.
    """

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        text = format(metrics.setdefault(name, torch.tensor(0)), match["spec"] or "")
        return text if equals is None else f"{name}{equals}{text}"

    return _FIELD.sub(value, template)


class NamedCheckpoint(Checkpoint):
    """A checkpoint callback whose files are named by a template and lie in one directory or at one URL."""

    CHECKPOINT_JOIN_CHAR = "-"
    CHECKPOINT_EQUALS_CHAR = "="
    CHECKPOINT_NAME_LAST = "last"
    FILE_EXTENSION = ".ckpt"
    STARTING_VERSION = 1

    def __init__(
        self,
        dirpath: str | os.PathLike[str] | None,
        filename: str | None,
        auto_insert_metric_name: bool,
        enable_version_counter: bool,
    ) -> None:
        self.dirpath: str | os.PathLike[str] | None = dirpath
        if dirpath and (local := local_path(dirpath)) is not None:
            self.dirpath = os.path.realpath(os.path.expanduser(local))
        self.filename = filename
        self._own: set[str] = set()  # the files that it wrote, and so may remove
        self.auto_insert_metric_name = auto_insert_metric_name
        self._enable_version_counter = enable_version_counter

    @property
    def _fs(self) -> Any:
        return _files.filesystem(self.dirpath or "")

    def _resolve_directory(self, trainer: Trainer) -> str | os.PathLike[str]:
        if self.dirpath is not None:
            return self.dirpath
        if not trainer.loggers:
            return os.path.join(trainer.default_root_dir, "checkpoints")
        logger = trainer.loggers[0]
        save_dir = logger.save_dir if logger.save_dir is not None else trainer.default_root_dir
        version = logger.version if isinstance(logger.version, str) else f"version_{logger.version}"
        return os.path.join(save_dir, str(logger.name), version, "checkpoints")

    def format_checkpoint_name(
        self,
        metrics: dict[str, Tensor],
        filename: str | None = None,
        ver: int | None = None,
        prefix: str | None = None,
    ) -> str:
        """Make a file name from the template, e.g. ``<dirpath>/epoch=2-val_loss=0.12-v1.ckpt``.

        Args:
            metrics: values by name; one that is missing counts as 0.
            filename: template instead of the callback's.
            ver: version to append.
            prefix: text to put in front.
        """
        join = self.CHECKPOINT_JOIN_CHAR
        template = filename or self.filename or join.join(("{epoch}", "{step}"))
        equals = self.CHECKPOINT_EQUALS_CHAR if self.auto_insert_metric_name else None
        name = fill_template(template, metrics, equals)
        if prefix is not None:
            name = f"{prefix}{join}{name}"
        if ver is not None:
            name = f"{name}{join}v{ver}"
        name += self.FILE_EXTENSION
        return os.path.join(self.dirpath, name) if self.dirpath else name

    def _free_path(
        self,
        trainer: Trainer,
        metrics: dict[str, Tensor],
        keep: str | None,
        template: str | None = None,
    ) -> str:
        """Return a path that no file has, or ``keep``, which this callback may overwrite."""
        path = self.format_checkpoint_name(metrics, template)
        version = self.STARTING_VERSION
        while (
            self._enable_version_counter
            and path != keep
            and self.file_exists(path, trainer)
            and not self._wrote_it_then(path, trainer)
        ):
            path = self.format_checkpoint_name(metrics, template, ver=version)
            version += 1
        return path

    def _wrote_it_then(self, path: str, trainer: Trainer) -> bool:
        """Whether a resumed run comes to write a file that the stopped run wrote in this very hook."""
        from relight.checkpoint import is_of_saver

        again = trainer._saves_again
        own = again is not None and trainer.is_global_zero and is_of_saver(path, again, trainer.global_step)
        return again is not None and bool(trainer.strategy.broadcast(own))

    def file_exists(self, filepath: str | os.PathLike[str], trainer: Trainer) -> bool:
        """Tell whether rank 0 sees the file; all processes get the same answer."""
        exists = trainer.is_global_zero and self._fs.exists(filepath)
        return bool(trainer.strategy.reduce_boolean_decision(exists, all=False))

    def _should_remove_checkpoint(self, trainer: Trainer, previous: str, current: str) -> bool:
        """Spare the file just written, the one resumed from, and any that this callback did not write."""
        if previous == current or previous not in self._own:
            return False
        if not _files.is_local(previous):
            return True
        path = Path(previous).absolute()
        if trainer.ckpt_path is not None and path == Path(trainer.ckpt_path).absolute():
            return False
        assert self.dirpath is not None
        return Path(self.dirpath).absolute() in path.parents

    def _remove_checkpoint(self, trainer: Trainer, filepath: str) -> None:
        if trainer.is_global_zero and self._fs.exists(filepath):
            self._fs.rm(filepath, recursive=True)
        self._own.discard(filepath)

    def _find_last_checkpoints(self, trainer: Trainer) -> dict[str, float]:
        """Return the ``last`` files in the directory and when they were written, for ``ckpt_path="last"``."""
        directory = str(self._resolve_directory(trainer))
        fs = _files.filesystem(directory)
        if not fs.exists(directory):
            return {}
        last = re.compile(rf"{re.escape(self.CHECKPOINT_NAME_LAST)}(-\d+)?")
        found: dict[str, float] = {}
        for path in fs.ls(directory, detail=False):
            name = Path(path)
            if name.suffix == self.FILE_EXTENSION and last.match(name.stem) and fs.exists(path):
                local = _files.is_local(directory)
                written = os.path.getmtime(path) if local else fs.modified(path).timestamp()
                found[os.path.normpath(path) if local else fs.unstrip_protocol(path)] = written
        return found

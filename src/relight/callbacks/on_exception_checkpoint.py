"""Save a checkpoint when an exception ends a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from relight.callbacks._files import filesystem
from relight.callbacks.checkpoint import Checkpoint

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["OnExceptionCheckpoint"]


class OnExceptionCheckpoint(Checkpoint):
    """Save the state of a run that an exception or Ctrl-C ends, for a resume.

    A run that goes well leaves no file: one from an earlier, failed run is removed when the run ends. While
    it is there, ``fit`` resumes from it if no ``ckpt_path`` is given, and it counts for ``ckpt_path="last"``.

    Args:
        dirpath: the folder; a path or URL that fsspec knows.
        filename: without the extension ``.ckpt``.

    Raises:
        ValueError: if ``filename`` is empty.
    """

    FILE_EXTENSION = ".ckpt"

    def __init__(self, dirpath: str | Path, filename: str = "on_exception") -> None:
        super().__init__()
        if not filename:
            raise ValueError("The filename of OnExceptionCheckpoint cannot be empty")
        self.dirpath = dirpath
        self.filename = filename

    @property
    def ckpt_path(self) -> str:
        """Where the file is."""
        return os.path.join(self.dirpath, self.filename + self.FILE_EXTENSION)

    def _find_last_checkpoints(self, trainer: Trainer) -> dict[str, float]:
        """Return the file, if it is there, with the time at which it was written."""
        files = filesystem(self.dirpath)
        if not files.exists(self.ckpt_path):
            return {}
        return {self.ckpt_path: files.modified(self.ckpt_path).timestamp()}

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Save it."""
        trainer.save_checkpoint(self.ckpt_path)

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Remove the file once a run has gone well."""
        if trainer.is_global_zero:
            files = filesystem(self.dirpath)
            if files.exists(self.ckpt_path):
                files.rm(self.ckpt_path, recursive=True)

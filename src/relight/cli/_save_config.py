"""Keeps the configuration of a run beside its logs."""

from __future__ import annotations

import os
from typing import Any

from jsonargparse import Namespace

from relight.callbacks import Callback
from relight.callbacks._files import filesystem
from relight.cli._instantiate import WITH_NONE
from relight.cli._parser import LightningArgumentParser
from relight.module import LightningModule
from relight.trainer import Trainer
from relight.utilities.overrides import is_overridden

__all__ = ["SaveConfigCallback"]


class SaveConfigCallback(Callback):
    """Writes the configuration to the log directory when an entry point begins.

    Args:
        parser: The parser that made it.
        config: The configuration.
        config_filename: Name of the file.
        overwrite: Whether a file that is there may be replaced.
        multifile: Whether what came from several files is written to several.
        save_to_log_dir: False only calls :meth:`save_config`, which a subclass brings.

    Raises:
        ValueError: For ``save_to_log_dir=False`` without a :meth:`save_config`.
        RuntimeError: When it begins, if there is a file, so that no earlier run's is lost.
    """

    def __init__(
        self,
        parser: LightningArgumentParser,
        config: Namespace,
        config_filename: str = "config.yaml",
        overwrite: bool = False,
        multifile: bool = False,
        save_to_log_dir: bool = True,
    ) -> None:
        self.parser = parser
        self.config = config
        self.config_filename = config_filename
        self.overwrite = overwrite
        self.multifile = multifile
        self.save_to_log_dir = save_to_log_dir
        self.already_saved = False
        if not save_to_log_dir and not is_overridden("save_config", self, SaveConfigCallback):
            raise ValueError(
                "`save_to_log_dir=False` saves nothing, unless a subclass of `SaveConfigCallback` has a"
                " `save_config` that does"
            )

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Save, once."""
        if self.already_saved:
            return
        if self.save_to_log_dir:
            self._write(trainer)
        if trainer.is_global_zero:
            self.save_config(trainer, pl_module, stage)
            self.already_saved = True
        self.already_saved = trainer.strategy.broadcast(self.already_saved)

    def _write(self, trainer: Trainer) -> None:
        directory = trainer.log_dir  # asks all processes
        if directory is None:
            raise RuntimeError(
                "There is no log directory for the configuration: give the Trainer a logger, or say"
                " `LightningCLI(save_config_callback=None)`."
            )
        path = os.path.join(directory, self.config_filename)
        fs = filesystem(directory)
        if not self.overwrite:
            there = fs.isfile(path) if trainer.is_global_zero else False
            if trainer.strategy.broadcast(there):
                raise RuntimeError(
                    f"{type(self).__name__} does not replace {path}, the configuration of an earlier run."
                    " Delete it,"
                    ' or say `LightningCLI(save_config_kwargs={"overwrite": True})`, or'
                    " `LightningCLI(save_config_callback=None)` for none."
                )
        if trainer.is_global_zero:
            fs.makedirs(directory, exist_ok=True)  # loggers make it later
            self.parser.save(
                self.config, path, overwrite=self.overwrite, multifile=self.multifile, **WITH_NONE
            )

    def save_config(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> Any:
        """Save the configuration elsewhere, too; called on rank 0 only, so ask no other process here."""

"""The logger that a Trainer makes when it is told nothing."""

from __future__ import annotations

import importlib.util
import os

from relight.loggers.logger import Logger
from relight.utilities.rank_zero import WarningCache

_warnings = WarningCache()


def default_logger(save_dir: str | os.PathLike[str]) -> Logger:
    """Return a TensorBoardLogger if it can be used, else a CSVLogger, as Lightning since 1.9 does."""
    if any(importlib.util.find_spec(name) is not None for name in ("tensorboard", "tensorboardX")):
        from lightning_fabric.plugins.environments.slurm import SLURMEnvironment

        from relight.loggers.tensorboard import TensorBoardLogger

        return TensorBoardLogger(save_dir, version=SLURMEnvironment.job_id())
    from relight.loggers.csv_logs import CSVLogger

    _warnings.warn(
        "Neither `tensorboard` nor `tensorboardX` is installed: metrics go to a `CSVLogger`."
        " Install one of them to log to TensorBoard by default, or pass `logger=`."
    )
    return CSVLogger(save_dir)

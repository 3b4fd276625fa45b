"""Callbacks of the core that took other arguments in older releases."""

from __future__ import annotations

import os
from typing import Any

from relight import callbacks as core
from relight.compat._binding import plan
from relight.compat._callback import DeadHooks
from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice
from relight.utilities.exceptions import MisconfigurationException
from trainer_upgrade.catalogue import Area

__all__ = ["BackboneFinetuning", "BaseFinetuning", "EarlyStopping", "LearningRateLogger", "ModelCheckpoint"]


def _argument(owner: str, name: str, default: str) -> None:
    notice(
        code_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, "TRU600"),
        f"{owner}({name}=…)",
        advice_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, f"`{owner}({name}=…)` left: {default}"),
    )


class ModelCheckpoint(DeadHooks, core.ModelCheckpoint):
    """See :class:`relight.callbacks.ModelCheckpoint`; takes the arguments of 0.7 to 1.6 as well.

    Args:
        dirpath: Directory; up to 1.0 ``filepath`` stood first, see there.
        filename: Pattern of the names.
        filepath: Left in 1.2: directory and pattern in one.
        prefix: Left in 1.4: put before the name.
        period: Left in 1.5: ``every_n_epochs``.
        every_n_val_epochs: Left in 1.6: ``every_n_epochs``.
        arguments: Everything else.
    """

    def __init__(
        self,
        dirpath: Any = None,
        filename: str | None = None,
        *positional: Any,
        filepath: Any = None,
        prefix: str | None = None,
        period: int | None = None,
        every_n_val_epochs: int | None = None,
        **arguments: Any,
    ) -> None:
        if filepath is not None:
            _argument("ModelCheckpoint", "filepath", "say `dirpath` and `filename`")
            if dirpath is not None or filename is not None:
                raise MisconfigurationException("`filepath` and `dirpath` or `filename` say the same: choose")
            path = os.fspath(filepath)
            if os.path.isdir(path) or path.endswith(os.sep):
                dirpath = path
            else:
                dirpath, name = os.path.split(path)
                dirpath, filename = dirpath or None, name or None
        if prefix:
            _argument("ModelCheckpoint", "prefix", "put it into `filename`")
            filename = f"{prefix}-{filename or '{epoch}-{step}'}"
        for name, value in (("period", period), ("every_n_val_epochs", every_n_val_epochs)):
            if value is not None:
                _argument("ModelCheckpoint", name, "say `every_n_epochs`")
                if value < 1:
                    # It switched saving off.
                    arguments.update(every_n_epochs=0, save_on_train_epoch_end=False)
                else:
                    arguments.setdefault("every_n_epochs", value)
        if arguments.get("mode") == "auto" or (len(positional) > 5 and positional[5] == "auto"):
            _argument("ModelCheckpoint", "mode", 'say "min" or "max"')
            arguments["mode"] = _mode(arguments.get("monitor") or (positional[0] if positional else None))
        names = ("monitor", "verbose", "save_last", "save_top_k", "save_weights_only", "mode")
        if isinstance(arguments.get("save_top_k"), bool):
            arguments["save_top_k"] = int(arguments["save_top_k"])
        for name, value in zip(names, positional, strict=False):
            arguments.setdefault(name, value)
        super().__init__(dirpath=dirpath, filename=filename, **arguments)

    def _resolve_directory(self, trainer: Any) -> Any:
        """Return where to write: below ``weights_save_path``, if the Trainer was given one, as up to 1.7."""
        base = getattr(trainer, "_compat_given", {}).get("weights_save_path")
        if self.dirpath is not None or not base:
            return super()._resolve_directory(trainer)
        if not trainer.loggers:
            return os.path.join(base, "checkpoints")
        logger = trainer.loggers[0]
        version = logger.version if isinstance(logger.version, str) else f"version_{logger.version}"
        return os.path.join(base, str(logger.name), version, "checkpoints")

    def _steps_done(self, trainer: Any) -> int:
        # Up to 1.5 the step that is ending was not counted yet.
        return int(trainer.global_step) + (getattr(trainer, "_compat_step_shift", None) is not None)

    def on_train_epoch_end(
        self, trainer: Any, pl_module: Any, outputs: Any = None, unused: Any = None
    ) -> None:
        """Save at the end of an epoch; up to 1.5 under the number of its last step."""
        shift = getattr(trainer, "_compat_step_shift", None)
        if shift is None:
            super().on_train_epoch_end(trainer, pl_module)
            return
        trainer._compat_step_shift = shift - 1
        try:
            super().on_train_epoch_end(trainer, pl_module)
        finally:
            trainer._compat_step_shift = shift

    @property
    def period(self) -> int:
        """Left in 1.5: ``every_n_epochs``."""
        return int(getattr(self, "_every_n_epochs", 1))

    def save_checkpoint(self, trainer: Any) -> None:
        """Left in 2.0: save a checkpoint now, as at the end of an epoch."""
        self._save(trainer, self._monitor_candidates(trainer))

    @property
    def save_function(self) -> Any:
        """Left in 1.4."""
        return getattr(self, "_save_function", None)

    @save_function.setter
    def save_function(self, value: Any) -> None:
        self._save_function = value


class EarlyStopping(DeadHooks, core.EarlyStopping):
    """See :class:`relight.callbacks.EarlyStopping`; ``monitor`` may be left out and ``mode`` be "auto" as
    before 1.5."""

    def __init__(
        self, monitor: str | None = None, *positional: Any, mode: str | None = None, **arguments: Any
    ) -> None:
        if monitor is None:
            _argument("EarlyStopping", "monitor", "it has no default since 1.5")
            monitor = "early_stop_on"
        if mode == "auto" or (len(positional) > 3 and positional[3] == "auto"):
            _argument("EarlyStopping", "mode", 'say "min" or "max"')
            mode = _mode(monitor)
            positional = (*positional[:3], mode, *positional[4:]) if len(positional) > 3 else positional
        names = ("min_delta", "patience", "verbose", "mode", "strict")
        for name, value in zip(names, positional, strict=False):
            arguments.setdefault(name, value)
        if mode is not None:
            arguments["mode"] = mode
        super().__init__(monitor=monitor, **arguments)

    def on_train_epoch_end(
        self, trainer: Any, pl_module: Any, outputs: Any = None, unused: Any = None
    ) -> None:
        """Look at the metric."""
        super().on_train_epoch_end(trainer, pl_module)


class BaseFinetuning(DeadHooks, core.BaseFinetuning):
    """See :class:`relight.callbacks.BaseFinetuning`; ``finetune_function`` may take an optimizer's index."""

    def _finetune(self, module: Any, epoch: int, optimizer: Any, index: int) -> None:
        values = {"pl_module": module, "epoch": epoch, "optimizer": optimizer, "optimizer_idx": index}
        layouts = (("pl_module", "epoch", "optimizer", "optimizer_idx"), ("pl_module", "epoch", "optimizer"))
        aliases = {"opt_idx": "optimizer_idx", "module": "pl_module", "model": "pl_module"}
        method = self.finetune_function
        plan(method, layouts, aliases=aliases, optional=("optimizer_idx",)).call(method, values)


class BackboneFinetuning(BaseFinetuning, core.BackboneFinetuning):
    """See :class:`relight.callbacks.BackboneFinetuning`."""

    def finetune_function(self, pl_module: Any, epoch: int, optimizer: Any, opt_idx: int = 0) -> None:
        """Unfreeze the backbone, or raise its rate."""
        super().finetune_function(pl_module, epoch, optimizer)


class BasePredictionWriter(DeadHooks, core.BasePredictionWriter):
    """See :class:`relight.callbacks.BasePredictionWriter`; up to 1.9 there was a list of predictions for each
    loader, also for a single one."""

    def on_predict_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Write everything."""
        if self.interval.on_epoch:
            loop = trainer.predict_loop
            self.write_on_epoch_end(trainer, pl_module, loop._predictions, loop.epoch_batch_indices)


class LearningRateMonitor(DeadHooks, core.LearningRateMonitor):
    """See :class:`relight.callbacks.LearningRateMonitor`."""

    @property
    def lr_sch_names(self) -> list[str]:
        """Left in 1.7: the names of the rates."""
        return list(self.lrs)


class LearningRateLogger(LearningRateMonitor):
    """Left in 1.0: :class:`relight.callbacks.LearningRateMonitor` under its first name."""

    def __init__(self, *positional: Any, **arguments: Any) -> None:
        _argument("LearningRateLogger", "-", "say `LearningRateMonitor`")
        super().__init__(*positional, **arguments)


def _mode(monitor: str | None) -> str:
    """Return what "auto" meant for a metric: up for accuracies and F-scores, down for the rest."""
    name = monitor or ""
    return "max" if "acc" in name or name.startswith("fmeasure") else "min"

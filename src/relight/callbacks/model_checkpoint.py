"""Save checkpoints while training: the best ones, the last one, every so often."""

from __future__ import annotations

import os
import time
import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal
from weakref import proxy

import torch
from torch import Tensor

from relight.callbacks import _files
from relight.callbacks._checkpoint_files import NamedCheckpoint
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn
from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

_BETTER = {"min": torch.lt, "max": torch.gt}


class ModelCheckpoint(NamedCheckpoint):
    """Save the state of a fit, by default at the end of every epoch, keeping the newest file.

    Arguments, file names and state are those of Lightning 2.6; checkpoint files go both ways.

    Args:
        dirpath: directory or URL. By default ``<save_dir>/<name>/version_<n>/checkpoints`` of the first
            logger, without a logger ``<default_root_dir>/checkpoints``.
        filename: template such as ``"{epoch}-{val_loss:.2f}"``, without suffix; default ``"{epoch}-{step}"``.
        monitor: metric that decides which files are kept; None keeps the newest.
        verbose: tell what was saved and why.
        save_last: also keep ``last.ckpt``, a copy of what was saved last; ``"link"`` makes it a symbolic
            link.
        save_top_k: how many files to keep; -1 all, 0 none. More than 1 needs ``monitor``.
        save_on_exception: save when an exception ends the fit.
        save_weights_only: leave out the state of optimizers, schedulers and loops.
        mode: ``"min"`` or ``"max"``: which values of ``monitor`` are good.
        auto_insert_metric_name: write ``val_loss=0.12`` for ``{val_loss:.2f}`` rather than ``0.12``.
        every_n_train_steps: save every so many optimizer steps.
        train_time_interval: save every so often, looked at after each batch.
        every_n_epochs: save every so many epochs. At most one of these three may be given; with none of them
            every epoch.
        save_on_train_epoch_end: save at the end of the training epoch rather than of the validation. By
            default at the end of the epoch if validation runs exactly once in each, or never.
        enable_version_counter: append ``-v1``, ``-v2``, … rather than overwrite a file of an earlier run.

    Attributes:
        best_model_path: the best file, without ``monitor`` the newest; empty before the first.
        best_model_score: its value, or None.
        best_k_models: value by path of the files kept.
        kth_best_model_path, kth_value: the worst file kept and its value, once ``save_top_k`` are.
        last_model_path: the ``last`` file, or empty.
        current_score: value at the last save.

    Raises:
        MisconfigurationException: for arguments that contradict each other, and in a fit if ``monitor`` was
            not logged although validation has run.
        ValueError: in a fit, for ``save_last="link"`` on a remote file system.
    """

    def __init__(
        self,
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        monitor: str | None = None,
        verbose: bool = False,
        save_last: bool | Literal["link"] | None = None,
        save_top_k: int = 1,
        save_on_exception: bool = False,
        save_weights_only: bool = False,
        mode: str = "min",
        auto_insert_metric_name: bool = True,
        every_n_train_steps: int | None = None,
        train_time_interval: timedelta | None = None,
        every_n_epochs: int | None = None,
        save_on_train_epoch_end: bool | None = None,
        enable_version_counter: bool = True,
    ) -> None:
        super().__init__(dirpath, filename, auto_insert_metric_name, enable_version_counter)
        if mode not in _BETTER:
            raise MisconfigurationException(f"`mode` can be {', '.join(_BETTER)} but got {mode}")
        if every_n_train_steps is None and every_n_epochs is None and train_time_interval is None:
            every_n_epochs = 1
        self.monitor = monitor
        self.verbose = verbose
        self.save_last = save_last
        self.save_top_k = save_top_k
        self.save_on_exception = save_on_exception
        self.save_weights_only = save_weights_only
        self.mode = mode
        self._every_n_train_steps = every_n_train_steps or 0
        self._every_n_epochs = every_n_epochs or 0
        self._train_time_interval = train_time_interval
        self._save_on_train_epoch_end = save_on_train_epoch_end
        self._validate_configuration()

        self.current_score: Tensor | None = None
        self.best_k_models: dict[str, Tensor] = {}
        self.best_model_path = ""
        self.best_model_score: Tensor | None = None
        self.kth_best_model_path = ""
        self.kth_value = torch.tensor(torch.inf if mode == "min" else -torch.inf)
        self.last_model_path = ""

        self._last_global_step_saved = 0  # nothing to save before the first step
        self._last_checkpoint_saved = ""
        self._last_time_checked: float | None = None
        self._time_before = 0.0  # how long ago the clock was looked at when the file resumed from was saved
        self._wait_for_validation = False  # for the first value of the metric
        self._wait_for_renewal = False  # for the value of the validation that comes next
        self._validation_has_run = False
        self._warned_missing = False
        self._to_do: dict[str, Any] = {}  # what follows the file that is being written

    def _validate_configuration(self) -> None:
        if self.save_top_k < -1:
            raise MisconfigurationException(f"Invalid value for save_top_k={self.save_top_k}. Must be >= -1")
        for name in ("every_n_train_steps", "every_n_epochs"):
            value = getattr(self, f"_{name}")
            if value < 0:
                raise MisconfigurationException(f"Invalid value for {name}={value}. Must be >= 0")
        triggers = (
            self._every_n_train_steps >= 1,
            self._every_n_epochs >= 1,
            self._train_time_interval is not None,
        )
        if sum(triggers) > 1:
            raise MisconfigurationException(
                f"Combination of parameters every_n_train_steps={self._every_n_train_steps},"
                f" every_n_epochs={self._every_n_epochs} and train_time_interval={self._train_time_interval}"
                " should be mutually exclusive."
            )
        if self.monitor is None and self.save_top_k not in (-1, 0, 1):
            raise MisconfigurationException(
                f"ModelCheckpoint(save_top_k={self.save_top_k}, monitor=None) is not a valid"
                " configuration. No quantity for top_k to track."
            )

    # -- identity and state ---------------------------------------------------------------------------------

    @property
    def every_n_epochs(self) -> int:
        """Number of epochs between saves, 0 if epochs do not decide."""
        return self._every_n_epochs

    @property
    def state_key(self) -> str:
        """The class name with what tells two of these apart, as Lightning writes it."""
        return self._generate_state_key(
            monitor=self.monitor,
            mode=self.mode,
            every_n_train_steps=self._every_n_train_steps,
            every_n_epochs=self._every_n_epochs,
            train_time_interval=self._train_time_interval,
        )

    def state_dict(self) -> dict[str, Any]:
        """Paths and values of the files kept, with the keys of Lightning 2.6."""
        return {
            "monitor": self.monitor,
            "best_model_score": self.best_model_score,
            "best_model_path": self.best_model_path,
            "current_score": self.current_score,
            "dirpath": self.dirpath,
            "best_k_models": self.best_k_models,
            "kth_best_model_path": self.kth_best_model_path,
            "kth_value": self.kth_value,
            "last_model_path": self.last_model_path,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back a state; if the directory has changed, only ``best_model_path``."""
        old_dirpath = state_dict.get("dirpath", self.dirpath)
        if self.dirpath == old_dirpath:
            self.best_model_score = state_dict.get("best_model_score")
            for name in ("kth_best_model_path", "kth_value", "best_k_models", "last_model_path"):
                setattr(self, name, state_dict.get(name, getattr(self, name)))
            self._own |= {*self.best_k_models, self.last_model_path, state_dict.get("best_model_path", "")}
        else:
            warnings.warn(
                f"The dirpath has changed from {old_dirpath!r} to {self.dirpath!r}, therefore"
                " `best_model_score`, `kth_best_model_path`, `kth_value`, `last_model_path` and"
                " `best_k_models` won't be reloaded. Only `best_model_path` will be reloaded.",
                stacklevel=2,
            )
        self.best_model_path = state_dict.get("best_model_path", "")

    # -- hooks ----------------------------------------------------------------------------------------------

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Settle the directory, the same on all processes."""
        self.dirpath = trainer.strategy.broadcast(self._resolve_directory(trainer))
        if self.save_last == "link" and not _files.is_local(self.dirpath):
            raise ValueError(
                "`ModelCheckpoint(save_last='link')` is only supported for local file paths,"
                f" got `dirpath={self.dirpath}`."
            )
        if stage == "fit" and trainer.is_global_zero and self.save_top_k != 0:
            fs = self._fs
            if fs.isdir(self.dirpath) and fs.ls(self.dirpath):
                rank_zero_warn(f"Checkpoint directory {self.dirpath} exists and is not empty.")

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the clock of ``train_time_interval``."""
        self._last_time_checked = time.monotonic() - self._time_before
        self._time_before = 0.0

    def _steps_done(self, trainer: Trainer) -> int:
        return trainer.global_step

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Save if a step or the clock says so."""
        n = self._every_n_train_steps
        due = n >= 1 and self._steps_done(trainer) % n == 0
        if not due and self._train_time_interval is None:
            return
        if not pl_module.automatic_optimization:
            # As 2.6: with manual optimization only steps trigger, and the metric may be an old one.
            if due and not self._should_skip_saving_checkpoint(trainer):
                candidates = self._monitor_candidates(trainer)
                if self._is_missing(candidates):
                    self._wait_for_validation = True
                else:
                    self._save(trainer, candidates)
            return
        if not self._time_is_up(trainer) and not due:
            return
        candidates = self._monitor_candidates(trainer)
        # Wait for a metric that is not there yet, or that the validation after this batch will renew.
        if self._validation_will_renew_monitor(trainer):
            self._wait_for_renewal = True
        elif self._is_missing(candidates):
            self._wait_for_validation = True
        elif not self._should_skip_saving_checkpoint(trainer):
            self._save(trainer, candidates)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Save here if saving is not left to the end of the validation."""
        if not self._should_skip_saving_checkpoint(trainer) and self._should_save_on_train_epoch_end(trainer):
            self._save_for_epoch(trainer, self._monitor_candidates(trainer))

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Save here if not at the end of the training epoch, or if a save was waiting for validation."""
        if trainer.state.fn == "fit" and not trainer.sanity_checking:
            self._validation_has_run = True
        if self._should_skip_saving_checkpoint(trainer):
            return
        at_epoch_end = self._should_save_on_train_epoch_end(trainer)
        if self._wait_for_renewal or (self._wait_for_validation and not at_epoch_end):
            self._wait_for_validation = self._wait_for_renewal = False
            self._save(trainer, self._monitor_candidates(trainer))
        elif not at_epoch_end:
            self._save_for_epoch(trainer, self._monitor_candidates(trainer))

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Save if ``save_on_exception`` and something has been learned since the last save."""
        if (
            not self.save_on_exception
            or trainer.fast_dev_run
            or trainer.sanity_checking
            or self._last_global_step_saved == trainer.global_step
        ):
            return
        candidates = self._monitor_candidates(trainer)
        filepath = self.format_checkpoint_name(candidates)
        self._write(trainer, filepath, None, self._plan_last(trainer, candidates, new=filepath))
        rank_zero_info(f"{type(exception).__name__} was raised: {exception}. Saved checkpoint to {filepath}")

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Write the ``last`` file if nothing was saved at all."""
        if self.save_last and not self._last_checkpoint_saved:
            self._write(trainer, "", None, self._plan_last(trainer, self._monitor_candidates(trainer)))

    # -- when -----------------------------------------------------------------------------------------------

    def _should_skip_saving_checkpoint(self, trainer: Trainer) -> bool:
        return (
            bool(trainer.fast_dev_run)
            or trainer.state.fn != "fit"
            or trainer.sanity_checking
            or self._last_global_step_saved == trainer.global_step
        )

    def _should_save_on_train_epoch_end(self, trainer: Trainer) -> bool:
        if self._save_on_train_epoch_end is not None:
            return self._save_on_train_epoch_end
        if trainer._val_check_seconds is not None:
            return False  # nobody knows when the next validation is: save there
        if trainer.check_val_every_n_epoch != 1:
            return False  # not every epoch ends with a validation: save where there is one
        return _total(trainer.num_val_batches) == 0 or trainer.val_check_interval == 1.0

    def _time_is_up(self, trainer: Trainer) -> bool:
        if self._train_time_interval is None:
            return False
        now, before = time.monotonic(), self._last_time_checked
        up = before is not None and now - before >= self._train_time_interval.total_seconds()
        up = trainer.strategy.broadcast(up)  # clocks differ: rank 0 decides
        if up:
            self._last_time_checked = now
        return bool(up)

    def _is_missing(self, candidates: dict[str, Tensor]) -> bool:
        return self.monitor is not None and self.monitor not in candidates

    def _validation_will_renew_monitor(self, trainer: Trainer) -> bool:
        """Whether validation comes right after this batch and logs the metric (Lightning #20185, #14431).

        Lightning looks at the last batch of an epoch only, and there not if epochs' ends save.
        """
        if self.monitor is None or not _total(trainer.num_val_batches):
            return False
        epoch_loop = trainer.fit_loop.epoch_loop
        if not trainer.is_last_batch or self._should_save_on_train_epoch_end(trainer):
            return not epoch_loop.results.has_name(self.monitor) and epoch_loop.validates_now()
        every = trainer.check_val_every_n_epoch
        return every is None or (trainer.current_epoch + 1) % every == 0

    # -- what -----------------------------------------------------------------------------------------------

    def _monitor_candidates(self, trainer: Trainer) -> dict[str, Tensor]:
        """Metrics that may be monitored or stand in a file name, with ``epoch`` and ``step``."""
        candidates = {
            name: value.clone() if isinstance(value, Tensor) else value
            for name, value in trainer.callback_metrics.items()
        }
        for name, number in (("epoch", trainer.current_epoch), ("step", trainer.global_step)):
            logged = candidates.get(name)  # a user may log a value of that name; logging makes it a float
            candidates[name] = logged.int() if isinstance(logged, Tensor) else torch.tensor(number)
        return candidates

    # All that a save changes in the state is worked out before anything is written: a run that is resumed
    # from one of its files knows of the others.

    def _save(self, trainer: Trainer, candidates: dict[str, Tensor]) -> None:
        new, worst = self._plan_topk(trainer, candidates)
        self._write(trainer, new, worst, self._plan_last(trainer, candidates, new))

    def _save_for_epoch(self, trainer: Trainer, candidates: dict[str, Tensor]) -> None:
        new, worst = "", None
        if self._every_n_epochs >= 1 and (trainer.current_epoch + 1) % self._every_n_epochs == 0:
            new, worst = self._plan_topk(trainer, candidates)
        saved_now = new or self._last_global_step_saved == trainer.global_step
        last: dict[str, Any] = {}
        if saved_now or (self.save_last == "link" and self._last_checkpoint_saved):
            last = self._plan_last(trainer, candidates, new)
        self._write(trainer, new, worst, last)

    def _plan_topk(self, trainer: Trainer, monitor_candidates: dict[str, Tensor]) -> tuple[str, str | None]:
        """Return the file to write, empty for none, and the one to remove after that."""
        if self.save_top_k == 0:
            return "", None
        if self.monitor is None:
            previous = self.best_model_path
            self.best_model_path = self._free_path(trainer, monitor_candidates, keep=previous)
            return self.best_model_path, previous if self.save_top_k == 1 else None
        if self.monitor not in monitor_candidates:
            message = (
                f"`ModelCheckpoint(monitor={self.monitor!r})` could not find the monitored key in the"
                f" returned metrics: {list(monitor_candidates)}."
                f" HINT: Did you call `log({self.monitor!r}, value)` in the `LightningModule`?"
            )
            if self._validation_has_run:
                raise MisconfigurationException(message)
            if not self._warned_missing:
                self._warned_missing = True
                rank_zero_warn(message)
        current = monitor_candidates.get(self.monitor)
        if current is not None and self.check_monitor_top_k(trainer, current):
            return self._take_into_top_k(current, trainer, monitor_candidates)
        if self.verbose:
            where = _describe(monitor_candidates)
            rank_zero_info(f"{where}: {self.monitor!r} was not in top {self.save_top_k}")
        return "", None

    def check_monitor_top_k(self, trainer: Trainer, current: Tensor | None = None) -> bool:
        """Tell whether a value deserves a file; all processes agree."""
        if current is None:
            return False
        if self.save_top_k == -1 or len(self.best_k_models) < self.save_top_k:
            return True
        better = _BETTER[self.mode](current, self.best_k_models[self.kth_best_model_path])
        return bool(trainer.strategy.reduce_boolean_decision(bool(better)))

    def _take_into_top_k(
        self, current: Tensor, trainer: Trainer, monitor_candidates: dict[str, Tensor]
    ) -> tuple[str, str | None]:
        k = len(self.best_k_models) + 1 if self.save_top_k == -1 else self.save_top_k
        worst = None
        if len(self.best_k_models) == k and k > 0:
            worst = self.kth_best_model_path
            del self.best_k_models[worst]
        if torch.isnan(current):  # a NaN would never be beaten
            current = torch.full_like(current, torch.inf if self.mode == "min" else -torch.inf)

        filepath = self._free_path(trainer, monitor_candidates, keep=worst)
        self.current_score = current
        self.best_k_models[filepath] = current
        best, last = (min, max) if self.mode == "min" else (max, min)
        if len(self.best_k_models) == k:
            self.kth_best_model_path = last(self.best_k_models, key=self.best_k_models.__getitem__)
            self.kth_value = self.best_k_models[self.kth_best_model_path]
        self.best_model_path = best(self.best_k_models, key=self.best_k_models.__getitem__)
        self.best_model_score = self.best_k_models[self.best_model_path]

        if self.verbose:
            rank_zero_info(
                f"{_describe(monitor_candidates)}: {self.monitor!r} reached {current:0.5f}"
                f" (best {self.best_model_score:0.5f}), saving model to {filepath!r} as top {k}"
            )
        return filepath, worst

    def _plan_last(
        self, trainer: Trainer, monitor_candidates: dict[str, Tensor], new: str = ""
    ) -> dict[str, Any]:
        """Return what is to become of the ``last`` file, which comes after ``new``."""
        if not self.save_last:
            return {}
        previous = self.last_model_path
        self.last_model_path = self._free_path(
            trainer, monitor_candidates, keep=previous, template=self.CHECKPOINT_NAME_LAST
        )
        target = new or self._last_checkpoint_saved
        linked = self.save_last == "link" and target and self.save_top_k != 0
        return {"last": self.last_model_path, "target": target if linked else "", "previous": previous}

    # -- files ----------------------------------------------------------------------------------------------

    def _write(self, trainer: Trainer, new: str, worst: str | None, last: dict[str, Any]) -> None:
        self._to_do = {"remove": worst if new and worst else "", "new": new, **last}
        if new:
            self._save_checkpoint(trainer, new)
        self._finish(trainer)

    def _finish(self, trainer: Trainer) -> None:
        """Do what follows the best file: remove the worst, write the ``last`` file, remove that of before."""
        do = self._to_do
        if (worst := do.get("remove")) and self._should_remove_checkpoint(trainer, worst, do["new"]):
            self._remove_checkpoint(trainer, worst)
        do["remove"] = ""
        if (path := do.pop("last", None)) is None:
            return
        previous = do.pop("previous")
        if do["target"]:
            if trainer.is_global_zero:
                _files.link(do["target"], path)
            self._own.add(path)
            trainer.strategy.barrier()
        else:
            do.update(remove=previous, new=path)  # what is left to do when this file is resumed from
            self._save_checkpoint(trainer, path)
            do["remove"] = ""
        if previous and self._should_remove_checkpoint(trainer, previous, path):
            self._remove_checkpoint(trainer, previous)

    def _save_checkpoint(self, trainer: Trainer, filepath: str) -> None:
        before = self._last_global_step_saved, self._last_checkpoint_saved
        self._last_global_step_saved, self._last_checkpoint_saved = trainer.global_step, filepath
        self._own.add(filepath)
        trainer._saver = self
        try:
            trainer.save_checkpoint(filepath, self.save_weights_only)
        except BaseException:
            self._last_global_step_saved, self._last_checkpoint_saved = before
            raise
        finally:
            trainer._saver = None
        if trainer.is_global_zero:
            for logger in trainer.loggers:
                logger.after_save_checkpoint(proxy(self))

    # -- going on exactly: what a file holds beside the state that Lightning knows --------------------------

    def _place(self) -> dict[str, Any]:
        since = time.monotonic() - self._last_time_checked if self._last_time_checked is not None else 0.0
        return {
            "dirpath": str(self.dirpath),
            "step": self._last_global_step_saved,
            "path": self._last_checkpoint_saved,
            "since": since,
            "wait": [self._wait_for_validation, self._wait_for_renewal],
            "validated": self._validation_has_run,
            "current_score": self.current_score,
            "to_do": dict(self._to_do),
        }

    def _set_place(self, place: dict[str, Any]) -> None:
        self._last_global_step_saved = place["step"]
        self._wait_for_validation, self._wait_for_renewal = place["wait"]
        self._validation_has_run = place["validated"]
        self._time_before = place["since"]
        if str(self.dirpath) == place["dirpath"]:
            self._last_checkpoint_saved = place["path"]
            self.current_score = place["current_score"]
            self._to_do = dict(place["to_do"])

    def to_yaml(self, filepath: str | os.PathLike[str] | None = None) -> None:
        """Write value by path of the files kept as YAML, by default into ``<dirpath>/best_k_models.yaml``."""
        from relight.loggers._hparams import yaml_module

        if filepath is None:
            assert self.dirpath is not None
            filepath = os.path.join(self.dirpath, "best_k_models.yaml")
        with self._fs.open(filepath, "w") as file:
            yaml_module().dump({path: value.item() for path, value in self.best_k_models.items()}, file)


def _total(batches: int | float | list[int | float]) -> int | float:
    return sum(batches) if isinstance(batches, list) else batches


def _describe(candidates: dict[str, Tensor]) -> str:
    return f"Epoch {candidates['epoch']:d}, global step {candidates['step']:d}"

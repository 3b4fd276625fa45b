"""One epoch of training: batches, schedulers, and validation in between."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from relight.trainer.data import make_transfer
from relight.trainer.eval_loop import EvaluationLoop
from relight.trainer.fetch import Fetcher
from relight.trainer.loop import Loop
from relight.trainer.progress import BatchProgress, OptimizerProgress, Progress
from relight.trainer.results import ResultCollection
from relight.trainer.resume import Resumed
from relight.trainer.states import RunningStage, TrainerFn
from relight.trainer.step import AutomaticStep, ManualStep, Step
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import PossibleUserWarning, WarningCache, rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["EpochLoop"]

_warn_once = WarningCache()


class EpochLoop(Loop):
    """Runs the batches of an epoch."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__(trainer)
        self.batch_progress = BatchProgress()
        self.scheduler_progress = Progress(("ready", "completed"))
        self.optim_progress = OptimizerProgress()
        self.manual_progress = Progress(("ready", "completed"))
        self.val_loop = EvaluationLoop(trainer, TrainerFn.FITTING, RunningStage.VALIDATING)
        self.results: ResultCollection = ResultCollection(training=True)
        self.skip_backward = False
        self._batches_that_stepped = (
            0  # the step that loggers are told; public in Lightning's files under this name
        )
        self._skip_next_val = False
        self._epoch_validates = False
        self._said_not_yet = False
        self._validated_after = -1  # after how many batches of the run validation ran last
        self._finished = 0  # after how many batches of the run all that follows a batch was done
        self._outer_first_batch: bool | None = None  # the connector's, while validation runs
        self._saved_on_batch_end = False  # where the checkpoint was saved: in on_train_batch_end …
        self._saved_between_batches = False  # … or between two batches

    # Facts

    @property
    def total_batch_idx(self) -> int:
        """The index of the batch in the whole run."""
        return self.batch_progress.total.ready - 1

    @property
    def batch_idx(self) -> int:
        """The index of the batch in the epoch."""
        return self.batch_progress.current.ready - 1

    @property
    def global_step(self) -> int:
        """How many optimizer steps were taken."""
        module = self.trainer.lightning_module
        if module is None or module.automatic_optimization:
            return self.optim_progress.step.total.completed
        return self.manual_progress.total.completed

    @property
    def validated_last_batch(self) -> bool:
        """Whether validation ran after the batch that came last."""
        return self._validated_after == self.batch_progress.total.ready

    @property
    def last_batch_reached(self) -> bool:
        """Whether the batch at hand is the epoch's last."""
        progress = self.batch_progress
        return progress.is_last_batch or progress.current.ready == self.trainer.fit_loop.max_batches

    def should_accumulate(self) -> bool:
        """Whether the gradients of the batch at hand are kept for the next one."""
        every = self.trainer.accumulate_grad_batches
        if every == 1:
            return False
        return self.batch_progress.current.ready % every != 0 and not self.last_batch_reached

    @property
    def done(self) -> bool:
        """Whether the epoch is over."""
        trainer = self.trainer
        progress = self.batch_progress
        if (
            progress.is_last_batch
            or progress.current.ready == trainer.fit_loop.max_batches
            or (trainer.max_steps != -1 and self.global_step >= trainer.max_steps)
        ):
            return not self.restarting or self.val_loop.has_run
        if trainer.should_stop:
            allowed = trainer.fit_loop.may_stop
            if not allowed and not self._said_not_yet:
                self._said_not_yet = True
                rank_zero_info(
                    "The Trainer was told to stop, but a minimum of epochs or steps is not met yet."
                )
            return allowed
        return False

    # The epoch

    def run(self, fetcher: Fetcher, resumed: Resumed | None = None) -> None:
        """Run the batches of one epoch, or what was left of them when a file was saved."""
        if resumed is None:
            self._begin(fetcher)
        else:
            self._epoch_validates = self.should_check_val_epoch()
        step, transfer, on_batch_start, on_batch_end = self._bind()
        run_step, automatic = step.run, step.module.automatic_optimization
        trainer, progress, results = self.trainer, self.batch_progress, self.results
        total, current = progress.total, progress.current
        connector, conditions = trainer._logger_connector, trainer._stopping_conditions

        if resumed is not None:
            self._finish_batch(resumed)
        while not self.done:
            try:
                if self.restarting and self._epoch_validates and self._validation_is_due():
                    if self.val_loop.saved_in_batch:
                        self._after_batch()  # the file was saved while validating: finish that first
                        continue
                    if self._saved_between_batches:
                        self._skip_next_val = True
                        self._after_batch()
                        continue
                    self.val_loop.skip_to_end()
                self.val_loop.restarting = False

                batch, _, _ = next(fetcher)
                batch_idx = current.ready
                progress.is_last_batch = fetcher.done
                if transfer is not None:
                    batch = transfer(batch, 0)
                total.ready += 1
                current.ready += 1
                connector.first_batch = connector.first_batch is None
                results.batch, results.batch_size = batch, None

                outputs: dict[str, Any] | None = None
                skip_rest = False
                if batch is None:
                    _warn_once.warn("The training loader gave `None` for a batch; it is skipped.")
                else:
                    if on_batch_start is not None and on_batch_start(batch, batch_idx) == -1:
                        skip_rest = progress.is_last_batch = True
                    else:
                        total.started += 1
                        current.started += 1
                        outputs = run_step(batch, batch_idx)
                total.processed += 1
                current.processed += 1
                if trainer.lr_scheduler_configs:
                    self.update_lr_schedulers("step", plateau=False)
                    if self.last_batch_reached:
                        self.update_lr_schedulers("epoch", plateau=False)
                if skip_rest:
                    break

                if on_batch_end is not None:
                    on_batch_end(outputs, batch, batch_idx)
                results.batch = None
                total.completed += 1
                current.completed += 1
                if results and trainer._loggers and (not automatic or not self.should_accumulate()):
                    connector.update_train_step_metrics()
                for condition in conditions:
                    if condition.should_stop(trainer):
                        trainer.should_stop = True
                self._after_batch()
            except StopIteration:
                break
            finally:
                self.restarting = self.loaded = False
                self._saved_on_batch_end = self._saved_between_batches = False
                self.val_loop.saved_in_batch = False

    def _after_batch(self, resumed: Resumed | None = None) -> None:
        """Validate if it is time to, and count the step."""
        trainer = self.trainer
        if resumed is not None and resumed.moment in ("validation", "validated"):
            if resumed.moment == "validation":
                self._validate(resumed)
        else:
            validate = self.validates_now()
            if self._skip_next_val:
                validate = self._skip_next_val = False
            if validate:
                if trainer.should_stop and not self._validation_is_due(False):
                    trainer.fit_loop.note_cut()  # a longer run would not validate here
                self._validate()
        if trainer.lr_scheduler_configs:
            self.update_lr_schedulers("step", plateau=True)
        if trainer.accumulate_grad_batches == 1 or not self.should_accumulate():
            self._batches_that_stepped += 1
        self._finished = self.batch_progress.total.ready
        if trainer.should_stop:
            for logger in trainer.loggers:
                logger.save()
        signals = trainer._signals
        if signals.polls:
            signals.poll()
        if signals.term and not self.last_batch_reached:
            raise trainer._signals.end()

    def _validate(self, resumed: Resumed | None = None) -> None:
        trainer = self.trainer
        connector = trainer._logger_connector
        if resumed is None:
            connector.flush()  # what training logged must be there for callbacks that monitor it
            self._outer_first_batch = connector.first_batch
        trainer.validating = True
        if resumed is None and not self.should_accumulate():
            trainer._hooks.module("on_validation_model_zero_grad", always=True)()  # type: ignore[union-attr, misc]
        self.val_loop.run(resumed)
        trainer.training = True
        connector.first_batch = self._outer_first_batch
        self._validated_after = self.batch_progress.total.ready

    # Going on from a file of ours

    def moment(self) -> str:
        """Return where the run is, at the last batch that was begun."""
        current = self.batch_progress.current
        if current.ready != current.processed:
            return "in batch"
        if current.completed != current.processed:
            return "batch end"  # in the hooks
        if self.val_loop.phase is not None:
            return "validation"
        if self._finished == self.batch_progress.total.ready:
            return "between batches"
        return "validated" if self.validated_last_batch else "completed"

    @property
    def stops_early(self) -> bool:
        """Whether something other than the end of the data ends the epoch."""
        trainer = self.trainer
        if trainer.max_steps != -1 and self.global_step >= trainer.max_steps:
            return True
        return trainer.should_stop and trainer.fit_loop.may_stop

    def keeps_gradients(self, within: bool) -> bool:
        """Whether gradients are kept for the next batch; ``within`` an epoch, or over its end."""
        step = self.trainer._step
        if isinstance(step, ManualStep):
            return step.steps_before == self.manual_progress.total.completed
        return within and self.batch_progress.current.ready > 0 and self.should_accumulate()

    def _finish_batch(self, resumed: Resumed) -> None:
        """Do what was left to do after a batch when the file was saved."""
        trainer, progress = self.trainer, self.batch_progress
        if resumed.moment in ("in batch", "between batches"):
            return
        try:
            if resumed.moment == "batch end":
                resumed.run_saver_rest(trainer, "on_train_batch_end", None, None, self.batch_idx)
                progress.total.completed += 1
                progress.current.completed += 1
                automatic = trainer.lightning_module.automatic_optimization
                if self.results and trainer._loggers and (not automatic or not self.should_accumulate()):
                    trainer._logger_connector.update_train_step_metrics()
                for condition in trainer._stopping_conditions:
                    if condition.should_stop(trainer):
                        trainer.should_stop = True
            self._after_batch(resumed)
        except StopIteration:
            return

    def _bind(self) -> tuple[Step, Any, Any, Any]:
        trainer, hooks = self.trainer, self.trainer._hooks
        assert hooks is not None
        if trainer._step is None:
            trainer._step = trainer._make_step(self)
            trainer._transfer = make_transfer(trainer)
        return (
            trainer._step,
            trainer._transfer,
            hooks.bind("on_train_batch_start"),
            hooks.bind("on_train_batch_end"),
        )

    def make_step(self) -> Step:
        """Return what runs a batch: compat has others for other ways to optimize."""
        automatic = self.trainer.lightning_module.automatic_optimization
        return AutomaticStep(self.trainer, self) if automatic else ManualStep(self.trainer, self)

    # Beginning, and going on from a checkpoint

    def update_restart_stage(self) -> None:
        """Work out where in a batch the checkpoint was saved."""
        total = self.batch_progress.total
        begun = self.restarting and total.started == total.ready and total.processed == total.started
        self._saved_on_batch_end = begun and total.completed == total.processed - 1
        self._saved_between_batches = begun and total.completed == total.processed
        self.val_loop.update_restart_stage()

    @property
    def saved_on_batch_end(self) -> bool:
        """Whether the checkpoint was saved in ``on_train_batch_end``."""
        return self._saved_on_batch_end

    def _begin(self, fetcher: Fetcher) -> None:
        trainer = self.trainer
        restarting, progress = self.restarting, self.batch_progress
        self._epoch_validates = self.should_check_val_epoch()
        if (
            restarting
            and not self.should_accumulate()
            and (self._saved_on_batch_end or not self._saved_between_batches)
        ):
            self._batches_that_stepped += 1  # it is counted after the moments in which files are saved
        if self._saved_on_batch_end:
            progress.increment_completed()
            if progress.current.completed >= trainer.num_training_batches:
                self._reset_on_run()
        if restarting:
            progress.reset_on_restart()
            self.scheduler_progress.reset_on_restart()
            self.optim_progress.reset_on_restart()
            self._warn_if_not_resumable()
        else:
            self._reset_on_run()
        # The fit loop made the first iterator; one that came with a checkpoint's epoch is not made twice.
        if trainer.current_epoch > 0 and not trainer.fit_loop.loaded and not restarting:
            fetcher.start()
        fetcher.fetched += progress.current.ready

    def _reset_on_run(self) -> None:
        self.batch_progress.reset_on_run()
        self.scheduler_progress.reset_on_run()
        self.optim_progress.reset_on_run()
        self.val_loop.batch_progress.total.reset()  # counts the batches of an epoch

    def _warn_if_not_resumable(self) -> None:
        trainer = self.trainer
        if trainer.num_training_batches == math.inf:
            return
        expected = math.ceil(trainer.num_training_batches / trainer.accumulate_grad_batches)
        loader = trainer.fit_loop.combined_loader
        assert loader is not None
        stateful = all(
            hasattr(dl, "state_dict") and hasattr(dl, "load_state_dict") for dl in loader.flattened
        )
        if self.global_step % expected != 0 and not stateful:
            rank_zero_warn(
                "The checkpoint was saved in the middle of an epoch, and the loader cannot go on"
                " there: it has no"
                " `state_dict` and `load_state_dict`. The batches will differ from those of an unbroken run.",
                category=PossibleUserWarning,
            )

    # Schedulers

    def update_lr_schedulers(self, interval: str, plateau: bool) -> None:
        """Step the schedulers of an interval: those that monitor a value (``plateau``), or the others."""
        if interval == "step" and self.should_accumulate():
            return
        trainer = self.trainer
        if not trainer.lr_scheduler_configs or not trainer.lightning_module.automatic_optimization:
            return
        for config in trainer.lr_scheduler_configs:
            if config.reduce_on_plateau != plateau or config.interval != interval:
                continue
            index = self.batch_idx if interval == "step" else trainer.current_epoch
            if (index + 1) % config.frequency != 0:
                continue
            value = None
            if config.reduce_on_plateau:
                assert config.monitor is not None
                metrics = trainer.callback_metrics
                value = metrics.get(config.monitor)
                if value is None:
                    message = (
                        f"A learning rate scheduler monitors {config.monitor!r}, which was not logged."
                        f" Logged are: {list(metrics)}."
                    )
                    if config.strict:
                        raise MisconfigurationException(message)
                    rank_zero_warn(f"{message} The scheduler is skipped.", category=RuntimeWarning)
                    continue
            self.scheduler_progress.increment_ready()
            assert trainer._hooks is not None
            trainer._hooks.module("lr_scheduler_step", always=True)(config.scheduler, value)  # type: ignore[misc]
            self.scheduler_progress.increment_completed()

    # Validation

    def should_check_val_epoch(self) -> bool:
        """Whether this epoch validates."""
        trainer = self.trainer
        every = trainer.check_val_every_n_epoch
        return trainer.enable_validation and (every is None or (trainer.current_epoch + 1) % every == 0)

    def validates_now(self) -> bool:
        """Whether validation runs right after the batch at hand."""
        return self._epoch_validates and self._validation_is_due()

    def _validation_is_due(self, also_when_stopping: bool = True) -> bool:
        trainer, is_last = self.trainer, self.batch_progress.is_last_batch
        every = trainer.val_check_batch
        if is_last and every == math.inf:
            return True
        if also_when_stopping and trainer.should_stop and trainer.fit_loop.may_stop:
            return True
        if trainer._val_check_seconds is not None:
            due = time.monotonic() - trainer._last_val_time >= trainer._val_check_seconds
            # Clocks differ: the first process decides.
            return due if trainer.world_size == 1 else bool(trainer.strategy.broadcast(due))
        if every == math.inf:  # the loader has no length
            limit = trainer.limit_train_batches
            return (self.batch_idx + 1) % limit == 0 if isinstance(limit, int) else is_last
        index = self.total_batch_idx if trainer.check_val_every_n_epoch is None else self.batch_idx
        return (index + 1) % every == 0  # type: ignore[operator]

    # Saving

    def state_dict(self) -> dict[str, Any]:
        """Return the progress as a checkpoint of Lightning 2.x stores it."""
        return {
            "state_dict": {"_batches_that_stepped": self._batches_that_stepped},
            "batch_progress": self.batch_progress.state_dict(),
            "scheduler_progress": self.scheduler_progress.state_dict(),
            "automatic_optimization.state_dict": {},
            "automatic_optimization.optim_progress": self.optim_progress.state_dict(),
            "manual_optimization.state_dict": {},
            "manual_optimization.optim_step_progress": self.manual_progress.state_dict(),
            **{f"val_loop.{name}": value for name, value in self.val_loop.state_dict().items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the progress from a checkpoint."""
        self._batches_that_stepped = state.get("state_dict", {}).get("_batches_that_stepped", 0)
        for name, progress in (
            ("batch_progress", self.batch_progress),
            ("scheduler_progress", self.scheduler_progress),
            ("automatic_optimization.optim_progress", self.optim_progress),
            ("manual_optimization.optim_step_progress", self.manual_progress),
        ):
            if name in state:
                progress.load_state_dict(state[name])
        prefix = "val_loop."
        self.val_loop.load_state_dict({k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)})
        self.restarting = self.loaded = True

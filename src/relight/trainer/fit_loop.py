"""All epochs of a fit."""

from __future__ import annotations

import copy
import math
import time
from typing import TYPE_CHECKING, Any

import torch

from relight.trainer.data import DataSource, combine, num_batches, set_sampler_epoch, sized
from relight.trainer.epoch_loop import EpochLoop
from relight.trainer.fetch import Fetcher
from relight.trainer.loop import Loop
from relight.trainer.progress import Progress
from relight.trainer.resume import Resumed, ask_under, capture
from relight.trainer.states import RunningStage
from relight.utilities.combined_loader import CombinedLoader, sized_len
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import PossibleUserWarning, rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["FitLoop"]


class FitLoop(Loop):
    """Runs epochs until it is enough."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__(trainer)
        self.epoch_loop = EpochLoop(trainer)
        self.epoch_progress = Progress()
        self.max_epochs: int | None = None
        self.max_batches: int | float = math.inf
        self.source = DataSource("train_dataloader")
        self.combined_loader: CombinedLoader | None = None
        self.fetcher: Fetcher | None = None
        self._loader_states: list[dict[str, Any]] = []
        self._last_reload_epoch = -math.inf
        self.asked_under: dict[str, Any] | None = None  # the random states when the loaders were asked for
        self._saved_at: str | None = None  # where in an epoch the checkpoint was saved
        self.phase = "begin"  # where in an epoch the run is: begin, epoch_start, batches, epoch_end, between
        self.resumed: Resumed | None = None  # where a file of ours was saved, until the run is there again
        self.cut: dict[str, Any] | None = None  # the state before an epoch was ended early

    # Facts

    @property
    def batch_idx(self) -> int:
        """The index of the batch in the epoch."""
        return self.epoch_loop.batch_idx

    @property
    def total_batch_idx(self) -> int:
        """The index of the batch in the whole run."""
        return self.epoch_loop.total_batch_idx

    @property
    def min_epochs(self) -> int | None:
        """The smallest number of epochs."""
        return self.trainer.min_epochs

    @property
    def max_steps(self) -> int:
        """The largest number of optimizer steps, -1 for no limit."""
        return self.trainer.max_steps

    @property
    def min_steps(self) -> int | None:
        """The smallest number of optimizer steps."""
        return self.trainer.min_steps

    @property
    def _skip_backward(self) -> bool:
        return self.epoch_loop.skip_backward

    @_skip_backward.setter
    def _skip_backward(self, value: bool) -> None:
        self.epoch_loop.skip_backward = value

    @property
    def may_stop(self) -> bool:
        """Whether no stopping condition objects to an end."""
        return all(condition.may_stop(self.trainer) for condition in self.trainer._stopping_conditions)

    @property
    def done(self) -> bool:
        """Whether there is no further epoch."""
        trainer = self.trainer
        if self.max_batches == 0:
            rank_zero_info("`Trainer.fit` stopped: No training batches.")
            return True
        if trainer.max_steps != -1 and self.epoch_loop.global_step >= trainer.max_steps:
            rank_zero_info(f"`Trainer.fit` stopped: `max_steps={trainer.max_steps!r}` reached.")
            return True
        current = self.epoch_progress.current
        assert self.max_epochs is not None
        if self.max_epochs != -1 and current.processed >= self.max_epochs:
            current.completed = current.processed  # a file saved at an epoch's end has not counted it yet
            rank_zero_info(f"`Trainer.fit` stopped: `max_epochs={self.max_epochs!r}` reached.")
            return True
        return trainer.should_stop and self.may_stop

    # The run

    def run(self) -> None:
        """Run epochs until one of the limits, or a wish to stop, ends it."""
        trainer, resumed = self.trainer, self.resumed
        self.cut = None
        self.setup_data()
        if resumed is None:
            self.phase, self.epoch_loop.val_loop.phase = "begin", None
        else:
            self._end_resumed_epoch(resumed)
        within = resumed is not None and self._goes_on_within_epoch(resumed)
        if trainer.limit_train_batches == 0 or (not within and self.done):
            if resumed is not None:
                resumed.restore_draws(trainer)
                self.resumed = None
            return
        self._begin()
        self._start()
        if resumed is not None:
            self._go_on(resumed)
        while within or not self.done:
            try:
                if not within:
                    self._start_epoch()
                assert self.fetcher is not None
                self.phase = "batches"
                with trainer._profile("run_training_epoch"):
                    self.epoch_loop.run(self.fetcher, resumed if within else None)
                self._end_epoch()
            except StopIteration:
                break
            finally:
                within = False
                self.on_iteration_done()
                self._saved_at = None
        self.restarting = False
        trainer._call("on_train_end")

    # Going on from a file of ours

    def _goes_on_within_epoch(self, resumed: Resumed) -> bool:
        """Whether the epoch in which the file was saved is to be finished.

        One whose last step was the last of the run is, too, unless the run had ended it already.
        """
        if resumed.phase != "batches" or self.max_batches == 0:
            return False
        limit = self.trainer.max_steps
        steps = self.epoch_loop.global_step
        return limit == -1 or steps < limit or (steps == limit and not resumed.cut)

    def _end_resumed_epoch(self, resumed: Resumed) -> None:
        """Do what is left of an epoch's end in which the file was saved."""
        if resumed.phase == "epoch_end":
            resumed.restore_values(self.trainer)
            resumed.run_saver_rest(self.trainer, "on_train_epoch_end")
            self._close_epoch()

    def _go_on(self, resumed: Resumed) -> None:
        """Bring everything to where the file was saved."""
        trainer = self.trainer
        assert self.combined_loader is not None
        resumed.restore_data_counts(trainer)
        if resumed.phase != "epoch_end":
            resumed.restore_values(trainer)
        for loader in self.combined_loader.flattened:
            set_sampler_epoch(loader, self.epoch_progress.current.processed)
        resumed.restore_loaders(trainer)
        resumed.restore_draws(trainer)
        self.resumed = None

    def note_cut(self) -> None:
        """The epoch is ended before its last batch: keep the state that a longer run would go on with."""
        if self.cut is not None or self.trainer.fast_dev_run:
            return
        from relight.callbacks import Checkpoint

        # Callbacks that keep files know best which there are, so they are not set back.
        states = {
            c.state_key: c.state_dict() for c in self.trainer.callbacks if not isinstance(c, Checkpoint)
        }
        self.cut = {
            **capture(self.trainer),
            "loops": self.state_dict(loaders=False),
            "callbacks": copy.deepcopy({key: state for key, state in states.items() if state}),
            "schedulers": copy.deepcopy(
                [c.scheduler.state_dict() for c in self.trainer.lr_scheduler_configs]
            ),
            "groups": [
                [{key: value for key, value in group.items() if key != "params"} for group in o.param_groups]
                for o in self.trainer.optimizers
            ],
        }

    def setup_data(self) -> None:
        """Ask for the loader, unless it is there and need not be renewed."""
        trainer = self.trainer
        every = trainer.reload_dataloaders_every_n_epochs
        reload = every and trainer.current_epoch - self._last_reload_epoch >= every
        if self.combined_loader is not None and not reload:
            return
        module = trainer.lightning_module
        if trainer.limit_train_batches == 0 or not is_overridden("training_step", module, _base()):
            return
        self.asked_under = ask_under(self.source, self.resumed, 0)
        combined = combine(trainer, self.source, RunningStage.TRAINING, "max_size_cycle")
        if combined._mode == "sequential":
            raise ValueError('Training cannot use `CombinedLoader(mode="sequential")`')
        self.combined_loader = combined
        combined.limits = [
            num_batches(RunningStage.TRAINING, sized(trainer, loader), trainer.limit_train_batches)
            for loader in combined.flattened
        ]
        self._load_loader_states()
        self.fetcher = Fetcher(combined, trainer, "[FitLoop].train_dataloader_next", resumable=True)
        if self.resumed is None:
            self.fetcher.start()
        length = sized_len(combined)
        self.max_batches = math.inf if length is None else length
        if self.max_batches == 0:
            return
        self._last_reload_epoch = trainer.current_epoch
        self._set_val_check(has_length=length is not None)
        few = self.max_batches < trainer.log_every_n_steps
        if trainer.loggers and few and not trainer.fast_dev_run:
            rank_zero_warn(
                f"There are {self.max_batches} training batches, fewer than log_every_n_steps="
                f"{trainer.log_every_n_steps}: no step will be logged.",
                category=PossibleUserWarning,
            )

    def _set_val_check(self, has_length: bool) -> None:
        """Work out after how many batches validation runs."""
        trainer, every = self.trainer, self.trainer.val_check_interval
        if trainer._val_check_seconds is not None:
            trainer.val_check_batch = None
            trainer._last_val_time = time.monotonic()
        elif isinstance(every, int):
            trainer.val_check_batch = every
            in_epoch = trainer.check_val_every_n_epoch is not None
            if every > self.max_batches and in_epoch and trainer.limit_val_batches > 0:
                raise ValueError(
                    f"`val_check_interval={every}` is more than the {self.max_batches} training"
                    " batches of an epoch."
                    " Pass `check_val_every_n_epoch=None` to count over epochs, or"
                    " `limit_val_batches=0` not to"
                    " validate."
                )
        elif has_length:
            trainer.val_check_batch = max(1, int(self.max_batches * every))
        elif every == 1.0:
            trainer.val_check_batch = math.inf
        else:
            raise MisconfigurationException(
                "`val_check_interval` must be 1.0 or an int for a training loader without a length"
            )

    def _load_loader_states(self) -> None:
        states = self._loader_states
        if not self.restarting or not states or self.combined_loader is None:
            return
        stateful = [dl for dl in self.combined_loader.flattened if hasattr(dl, "load_state_dict")]
        if len(stateful) != len(states):
            raise RuntimeError(
                f"The checkpoint holds the state of {len(states)} loaders, but {len(stateful)} can take it:"
                " use the loaders that it was saved with"
            )
        for loader, state in zip(stateful, states, strict=True):
            loader.load_state_dict(state)
        self._loader_states = []

    def _begin(self) -> None:
        """Set the counters right after a checkpoint was loaded."""
        torch.set_grad_enabled(True)
        if self.resumed is not None:
            return
        total = self.epoch_progress.total
        processed, completed = total.started - total.processed, total.processed - total.completed
        started = total.ready - total.started
        self._saved_at = None
        if self.restarting:
            self._saved_at = {(1, 0, 0): "start", (0, 1, 0): "middle", (0, 0, 1): "end"}.get(
                (started, processed, completed)
            )
        elif self.loaded and (started, processed, completed) == (0, 0, 1):
            self._saved_at = "done"  # the epoch was over, only its last count is missing
        self.epoch_loop.update_restart_stage()

        if self._saved_at == "start":
            self.epoch_progress.reset_on_restart()
        if self._saved_at == "done":
            self.epoch_progress.increment_completed()
        if self.epoch_loop.saved_on_batch_end and self.epoch_loop.batch_progress.is_last_batch:
            if self._saved_at == "middle":
                self.epoch_progress.increment_processed()
                self.epoch_progress.increment_completed()
            elif not self.epoch_loop.val_loop.batch_progress.is_last_batch:
                self.epoch_progress.increment_completed()

    def _start(self) -> None:
        trainer = self.trainer
        if trainer.max_steps == -1 and self.resumed is None:
            self.epoch_progress.current.completed = self.epoch_progress.current.processed
        if self.epoch_loop.should_check_val_epoch() and trainer.val_dataloaders is None:
            trainer.validating = True
            self.epoch_loop.val_loop.setup_data()
            trainer.training = True
        evaluating = [
            name for name, module in trainer.lightning_module.named_modules() if not module.training
        ]
        if evaluating:
            rank_zero_warn(
                f"{len(evaluating)} module(s) are in evaluation mode as training starts."
                " Fine if you froze them.",
                category=PossibleUserWarning,
            )
        trainer._call("on_train_start")

    def _start_epoch(self) -> None:
        self.setup_data()
        assert self.combined_loader is not None
        for loader in self.combined_loader.flattened:
            set_sampler_epoch(loader, self.epoch_progress.current.processed)
        if self._saved_at in ("middle", "end"):
            return
        if self._saved_at != "start":
            self.epoch_progress.increment_ready()
        self.phase = "epoch_start"
        self.trainer._call("on_train_epoch_start")
        self.epoch_progress.increment_started()

    def _end_epoch(self) -> None:
        trainer = self.trainer
        if not self.epoch_loop.last_batch_reached and self.epoch_loop.stops_early:
            self.note_cut()
        connector = trainer._logger_connector
        # Validation took them already; taken again they would replace what it logged under the same name.
        connector.epoch_end_reached(taken=self.epoch_loop.validated_last_batch)
        self.epoch_progress.increment_processed()
        self.phase = "epoch_end"
        trainer._call("on_train_epoch_end")
        self._close_epoch()

    def _close_epoch(self) -> None:
        trainer = self.trainer
        connector = trainer._logger_connector
        connector.on_epoch_end()
        for condition in trainer._stopping_conditions:
            if condition.should_stop(trainer):
                trainer.should_stop = True
        if not self.restarting and self.epoch_loop.last_batch_reached:
            self.epoch_loop.update_lr_schedulers("epoch", plateau=True)
        # Loggers are told the step of the last batch for what belongs to the epoch.
        self.epoch_loop._batches_that_stepped -= 1
        connector.update_train_epoch_metrics()
        self.epoch_loop._batches_that_stepped += 1
        self.epoch_progress.increment_completed()
        self.phase = "between"
        if trainer.received_sigterm:
            raise trainer._signals.end()

    def teardown(self) -> None:
        """Let go of iterators and workers."""
        if self.fetcher is not None:
            self.fetcher.teardown()
            self.fetcher = None
        self.epoch_loop.val_loop.teardown()

    # Saving

    def state_dict(self, loaders: bool = True) -> dict[str, Any]:
        """Return the progress as a checkpoint of Lightning 2.x stores it; ``loaders``: with their states."""
        own: dict[str, Any] = {}
        if self.combined_loader is not None and loaders:
            stateful = [dl for dl in self.combined_loader.flattened if hasattr(dl, "load_state_dict")]
            if states := [loader.state_dict() for loader in stateful]:
                own["combined_loader"] = states
        return {
            "state_dict": own,
            **{f"epoch_loop.{name}": value for name, value in self.epoch_loop.state_dict().items()},
            "epoch_progress": self.epoch_progress.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the progress from a checkpoint."""
        self._loader_states = state.get("state_dict", {}).get("combined_loader", [])
        if "epoch_progress" in state:
            self.epoch_progress.load_state_dict(state["epoch_progress"])
        prefix = "epoch_loop."
        self.epoch_loop.load_state_dict(
            {k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)}
        )
        self.loaded = True
        # A fit that counts steps goes on in the middle even if the epoch was over.
        current = self.epoch_progress.current
        unfinished = current.ready != current.processed or current.started != current.processed
        self.restarting = unfinished or self.trainer.max_steps != -1
        self.epoch_loop.restarting = self.epoch_loop.val_loop.restarting = self.restarting


def _base() -> type:
    from relight.module import LightningModule

    return LightningModule

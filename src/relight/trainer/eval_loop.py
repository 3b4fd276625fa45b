"""Validation and testing."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from relight.trainer.data import DataSource, combine, make_transfer, num_batches, set_sampler_epoch, sized
from relight.trainer.fetch import Fetcher
from relight.trainer.loop import Loop
from relight.trainer.progress import BatchProgress
from relight.trainer.results import ResultCollection
from relight.trainer.resume import Resumed, ask_under
from relight.trainer.states import RunningStage, TrainerFn
from relight.utilities.combined_loader import CombinedLoader
from relight.utilities.overrides import is_overridden, takes_parameter

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["EvaluationLoop", "ModuleModes", "check_dataloader_idx", "no_grad_context"]


class ModuleModes:
    """Remembers which modules train, and gives it back to them."""

    def __init__(self) -> None:
        self._modes: dict[str, bool] = {}

    def capture(self, model: nn.Module) -> None:
        """Remember the mode of every module in ``model``."""
        self._modes = {name: module.training for name, module in model.named_modules()}

    def restore(self, model: nn.Module) -> None:
        """Give every module its mode back; one that came later keeps its own."""
        for name, module in model.named_modules():
            if name in self._modes:
                module.training = self._modes[name]
        self._modes = {}


def no_grad_context(trainer: Trainer, inference_mode: bool) -> AbstractContextManager[Any]:
    """Return the context to evaluate in: ``inference_mode``, or ``no_grad`` where that is known to fail."""
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    gloo = distributed and torch.distributed.get_backend() == "gloo"
    fails = gloo or type(trainer.strategy).__name__.startswith(("FSDP", "XLA", "SingleDeviceXLA"))
    return torch.inference_mode() if inference_mode and not fails else torch.no_grad()


def check_dataloader_idx(
    trainer: Trainer, names: tuple[str, ...], several: bool, stage: RunningStage
) -> None:
    """Check that steps and hooks take ``dataloader_idx`` if, and only if, there are several loaders.

    Raises:
        RuntimeError: Naming the method and what to do.
    """
    import inspect

    module = trainer.lightning_module
    for name in names:
        method = getattr(module, name)
        place = f"`{type(module).__name__}.{name}`"
        if several and not takes_parameter(method, "dataloader_idx"):
            raise RuntimeError(
                f"There are several {stage.dataloader_prefix} loaders, but {place} does not take"
                " `dataloader_idx`:"
                " add `dataloader_idx=0` to its signature."
            )
        if not several and takes_parameter(method, "dataloader_idx", explicit=True):
            parameter = inspect.signature(method).parameters.get("dataloader_idx")
            if parameter is not None and parameter.default is parameter.empty:
                raise RuntimeError(
                    f"There is one {stage.dataloader_prefix} loader, but {place} must be given"
                    " `dataloader_idx`:"
                    " remove it, or give it a default (`dataloader_idx=0`)."
                )


class EvaluationLoop(Loop):
    """Runs the batches of all validation (or test) loaders, one loader after the other."""

    def __init__(self, trainer: Trainer, fn: TrainerFn, stage: RunningStage) -> None:
        super().__init__(trainer)
        self.fn, self.stage = fn, stage
        self.verbose = fn != TrainerFn.FITTING
        self.inference_mode = fn != TrainerFn.FITTING
        self.batch_progress = BatchProgress()
        self.results: ResultCollection = ResultCollection(training=False)
        self.source = DataSource(f"{stage.dataloader_prefix}_dataloader")
        self.combined_loader: CombinedLoader | None = None
        self.fetcher: Fetcher | None = None
        self.batches: list[int | float] = []  # of each loader
        self.has_run = False
        self.saved_in_batch = False
        self._outputs: list[dict[str, Tensor]] = []
        self._seen: defaultdict[int, int] = defaultdict(int)
        self._last_reload_epoch = -math.inf
        self.asked_under: dict[str, Any] | None = None  # the random states when the loaders were asked for
        self._modes = ModuleModes()
        self.phase: str | None = None  # where the run is: batches, epoch_end, end; None: it does not run
        self._current = 0  # the loader at hand
        self._before = 0  # how many batches came from the loaders before it
        #: States of the loaders' own random generators and samplers, from a checkpoint.
        self.random_sources: dict[str, Any] | None = None

    # Facts

    @property
    def prefix(self) -> str:
        """``validation`` or ``test``."""
        return "test" if self.stage == RunningStage.TESTING else "validation"

    @property
    def max_batches(self) -> list[int | float]:
        """The number of batches of each loader, a few during the sanity check."""
        if not self.trainer.sanity_checking:
            return self.batches
        return [min(self.trainer.num_sanity_val_steps, batches) for batches in self.batches]

    @property
    def num_dataloaders(self) -> int:
        """The number of loaders."""
        assert self.combined_loader is not None
        return len(self.combined_loader.flattened)

    # The run

    def run(self, resumed: Resumed | None = None) -> list[dict[str, Tensor]]:
        """Evaluate, or finish what was being evaluated, and return what was logged, one dict a loader."""
        with no_grad_context(self.trainer, self.inference_mode):
            return self._run(resumed)

    def _run(self, resumed: Resumed | None) -> list[dict[str, Tensor]]:
        trainer = self.trainer
        self.setup_data()
        if sum(self.max_batches) == 0:
            return []
        if resumed is not None:
            self._go_on(resumed)
            if self.phase != "batches":
                return self._end(resumed)
        else:
            self._begin()
            self.phase = "batches"
            self._start()
        fetcher, connector = self.fetcher, trainer._logger_connector
        assert fetcher is not None
        several = self._indexed
        step, transfer, on_batch_start, on_batch_end, takes_batch_idx = self._bind()
        progress, results, signals = self.batch_progress, self.results, trainer._signals
        total, current = progress.total, progress.current
        while not fetcher.done:
            try:
                batch, batch_idx, dataloader_idx = next(fetcher)
                if dataloader_idx != self._current:
                    self._store_outputs()
                    self._current, self._before = dataloader_idx, current.ready
                progress.is_last_batch = fetcher.done
                if transfer is not None:
                    batch = transfer(batch, dataloader_idx)
                index = (dataloader_idx,) if several else ()
                total.ready += 1
                current.ready += 1
                connector.on_batch_start(results, batch, dataloader_idx if several else None)
                if on_batch_start is not None:
                    on_batch_start(batch, batch_idx, *index)
                total.started += 1
                current.started += 1
                output = step(batch, batch_idx, *index) if takes_batch_idx else step(batch, *index)
                total.processed += 1
                current.processed += 1
                if on_batch_end is not None:
                    on_batch_end(output, batch, batch_idx, *index)
                self._finish_batch()
                if signals.polls:
                    signals.poll_alone()
                if signals.term_here and not progress.is_last_batch:
                    raise trainer._signals.end()
            except StopIteration:
                break
            finally:
                self.on_iteration_done()
                self.saved_in_batch = False
        self._store_outputs()
        return self._end()

    def _finish_batch(self) -> None:
        """The hooks of a batch's end ran: count it and take what it logged."""
        trainer, progress, results = self.trainer, self.batch_progress, self.results
        connector = trainer._logger_connector
        connector.on_batch_end(results)
        progress.total.completed += 1
        progress.current.completed += 1
        if not trainer.sanity_checking:
            self.has_run = True
            if results.logs_steps:
                connector.update_eval_step_metrics(results, self._seen[self._current])
            self._seen[self._current] += 1

    def _bind(self) -> tuple[Any, ...]:
        trainer, hooks, name = self.trainer, self.trainer._hooks, f"{self.prefix}_step"
        assert hooks is not None
        method = getattr(trainer.lightning_module, name)
        return (
            hooks.step(name),
            make_transfer(trainer),
            hooks.bind(f"on_{self.prefix}_batch_start"),
            hooks.bind(f"on_{self.prefix}_batch_end"),
            takes_parameter(method, "batch_idx", min_args=2),
        )

    @property
    def _indexed(self) -> bool:
        """Whether steps and hooks are told the loader."""
        assert self.combined_loader is not None
        return self.combined_loader._mode == "sequential" and self.num_dataloaders > 1

    def setup_data(self) -> None:
        """Ask for the loaders, unless they are there and need not be renewed."""
        trainer = self.trainer
        fitting = self.fn == TrainerFn.FITTING
        every = trainer.reload_dataloaders_every_n_epochs
        reload = every and trainer.current_epoch - self._last_reload_epoch >= every
        if self.combined_loader is not None and fitting and not reload:
            return
        limit = (
            trainer.limit_test_batches if self.stage == RunningStage.TESTING else trainer.limit_val_batches
        )
        from relight.module import LightningModule

        if limit == 0 or not is_overridden(f"{self.prefix}_step", trainer.lightning_module, LightningModule):
            return
        if fitting and (not trainer.sanity_checking or trainer.fit_loop.epoch_loop.should_check_val_epoch()):
            self._last_reload_epoch = trainer.current_epoch
        if fitting:
            self.asked_under = ask_under(self.source, trainer.fit_loop.resumed, 1)
        combined = combine(trainer, self.source, self.stage, "sequential")
        self.combined_loader = combined
        self.batches = [num_batches(self.stage, sized(trainer, dl), limit) for dl in combined.flattened]
        self._seen = defaultdict(int)

    def _begin(self) -> None:
        trainer = self.trainer
        self.has_run = False
        self._outputs = []
        if self.restarting and self.fn == TrainerFn.FITTING:
            self.batch_progress.reset_on_restart()
        else:
            self.batch_progress.reset_on_run()
        combined = self.combined_loader
        assert combined is not None
        if self.fn == TrainerFn.FITTING:
            for loader in combined.flattened:
                set_sampler_epoch(loader, trainer.fit_loop.epoch_progress.current.processed)
        combined.limits = self.max_batches
        self._current = self._before = 0
        self._make_fetcher()
        assert self.fetcher is not None
        self.fetcher.start()
        self.fetcher.fetched += self.batch_progress.current.ready

    def _make_fetcher(self) -> None:
        combined = self.combined_loader
        assert combined is not None
        name = f"[EvaluationLoop].{self.stage.dataloader_prefix}_next"
        self.fetcher = Fetcher(combined, self.trainer, name, resumable=self.fn == TrainerFn.FITTING)
        if self.random_sources is not None:
            self.fetcher.set_random_sources(self.random_sources)
            self.random_sources = None

    def _start(self) -> None:
        trainer, prefix = self.trainer, self.prefix
        check_dataloader_idx(
            trainer,
            (f"{prefix}_step", f"on_{prefix}_batch_start", f"on_{prefix}_batch_end"),
            self._indexed,
            self.stage,
        )
        self._modes.capture(trainer.lightning_module)
        assert trainer._hooks is not None
        trainer._hooks.module(f"on_{prefix}_model_eval", always=True)()  # type: ignore[misc]
        trainer._call(f"on_{prefix}_start")
        trainer._call(f"on_{prefix}_epoch_start")

    def _store_outputs(self) -> None:
        """A loader is done: keep what was logged with it."""
        connector = self.trainer._logger_connector
        connector.epoch_end_reached()
        self._outputs.append(connector.update_eval_epoch_metrics())

    def _end(self, resumed: Resumed | None = None) -> list[dict[str, Tensor]]:
        """Run the hooks of the end; what a resumed run had done of it is left out."""
        trainer, prefix = self.trainer, self.prefix
        connector = trainer._logger_connector
        outputs: list[dict[str, Tensor]] = []
        if self.phase == "end" and resumed is not None:
            resumed.run_saver_rest(trainer, f"on_{prefix}_end")
        else:
            if self.phase == "epoch_end" and resumed is not None:
                resumed.run_saver_rest(trainer, f"on_{prefix}_epoch_end")
            else:
                connector.epoch_end_reached()
                self.results.dataloader_idx = None
                self.phase = "epoch_end"
                trainer._call(f"on_{prefix}_epoch_end")
            outputs = self._report()
            self.phase = "end"
            trainer._call(f"on_{prefix}_end")
        connector.reset_results()
        self._restore_modes()
        self.phase = None
        if self.verbose and trainer.is_global_zero:
            trainer._print_results(outputs, self.stage)
        trainer._last_val_time = time.monotonic()
        return outputs

    def _report(self) -> list[dict[str, Tensor]]:
        """Send what was logged to the loggers and return it, one dict a loader."""
        connector = self.trainer._logger_connector
        connector.on_epoch_end()
        outputs, self._outputs = self._outputs, []
        epoch_metrics = connector.update_eval_epoch_metrics()
        everything: dict[str, Tensor] = {}
        for loader_outputs in reversed(outputs):  # of equal names the first loader's counts
            everything.update(loader_outputs)
        everything.update(epoch_metrics)
        for loader_outputs in outputs:
            loader_outputs.update(epoch_metrics)
        connector.log_eval_end_metrics(everything)
        return outputs

    def _restore_modes(self) -> None:
        hooks = self.trainer._hooks
        assert hooks is not None
        own = hooks.module(f"on_{self.prefix}_model_train")
        if own is not None:
            own()
        else:
            self._modes.restore(self.trainer.lightning_module)

    # Going on from a file of ours

    def position(self) -> dict[str, Any]:
        """Return where a validation within a fit is, as plain data."""
        current = self.batch_progress.current
        return {
            "phase": self.phase,
            "batch_end": current.ready == current.processed != current.completed,
            "loaders": self.fetcher.state_dict(self._before, self._current) if self.fetcher else None,
            "current": self._current,
            "before": self._before,
            "outputs": [dict(outputs) for outputs in self._outputs],
            "modes": dict(self._modes._modes),
            "results": self.results.state_dict(),
            "dataloader_idx": self.results.dataloader_idx,
        }

    def _go_on(self, resumed: Resumed) -> None:
        """Bring everything to where the file was saved."""
        trainer, state, progress = self.trainer, resumed.validation, self.batch_progress
        assert state is not None
        assert self.combined_loader is not None
        self.has_run = True
        self.phase = state["phase"]
        self._current, self._before = state["current"], state["before"]
        self._outputs = [dict(outputs) for outputs in state["outputs"]]
        self._modes._modes = dict(state["modes"])
        resumed.restore_results(trainer, self.results, state["results"])
        self.results.dataloader_idx = state["dataloader_idx"]
        self.combined_loader.limits = self.max_batches
        for loader in self.combined_loader.flattened:
            set_sampler_epoch(loader, trainer.fit_loop.epoch_progress.current.processed)
        self._make_fetcher()
        if self.phase != "batches":
            return
        connector = trainer._logger_connector
        if state["batch_end"]:
            self._finish_batch()
        elif progress.current.ready != progress.current.completed:
            undone = progress.current.ready - progress.current.completed
            for count in (progress.total, progress.current):
                count.ready -= undone
                count.started, count.processed = count.ready, count.ready
            if progress.current.completed == 0:
                connector.first_batch = None
        assert self.fetcher is not None
        self.fetcher.resume(state["loaders"], progress.current.completed - self._before, self._before)
        resumed.restore_draws(trainer)

    # Going on from a checkpoint

    def update_restart_stage(self) -> None:
        """Work out whether the checkpoint was saved within a batch."""
        total = self.batch_progress.total
        self.saved_in_batch = (
            self.restarting
            and total.started == total.ready
            and total.processed == total.started - 1
            and total.completed == total.processed
        )

    def skip_to_end(self) -> None:
        """Count the batches of a validation that the saved run had done."""
        self.setup_data()
        if sum(self.max_batches) == 0:
            return
        self._begin()
        most = max(self.max_batches)
        if most != math.inf and most != -1:
            self.batch_progress.increment_by(int(most))
            self.batch_progress.is_last_batch = True

    def teardown(self) -> None:
        """Let go of iterators and workers."""
        if self.fetcher is not None:
            self.fetcher.teardown()
            self.fetcher = None

    def state_dict(self) -> dict[str, Any]:
        """Return the progress as a checkpoint of Lightning 2.x stores it."""
        return {"state_dict": {}, "batch_progress": self.batch_progress.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the progress from a checkpoint."""
        if "batch_progress" in state:
            self.batch_progress.load_state_dict(state["batch_progress"])
        self.restarting = self.loaded = True

"""What a checkpoint holds beyond Lightning's format, so that a resumed run goes on bit for bit.

Lightning's files hold weights, optimizers, schedulers, callbacks and counters. What is missing there lies
under the key :data:`KEY`, for each process: where in the epoch the file was saved, the random states, where
the loaders stand, what was logged and not reduced yet, the states of metric objects, metrics that callbacks
and schedulers monitor, gradients that still accumulate, and which modules were in evaluation mode. Lightning
2.x passes over the key; a file without it is resumed as Lightning does.
"""

from __future__ import annotations

import copy
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from relight.trainer.hooks import call_own_hook
from relight.trainer.states import TrainerFn
from relight.utilities.memory import map_tensors
from relight.utilities.overrides import has_own
from relight.utilities.random_state import random_state, set_random_state
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.trainer.data import DataSource
    from relight.trainer.results import ResultCollection
    from relight.trainer.trainer import Trainer

__all__ = ["KEY", "Resumed", "ask_under", "capture", "gather", "read"]

KEY = "relight"
VERSION = 1


# Saving


def capture(trainer: Trainer) -> dict[str, Any]:
    """Return this process's state as plain data."""
    fit, cut = trainer.fit_loop, trainer.fit_loop.cut
    if cut is not None:
        return cut
    epoch, validation = fit.epoch_loop, fit.epoch_loop.val_loop
    connector, module = trainer._logger_connector, trainer.lightning_module
    state: dict[str, Any] = {
        "phase": fit.phase,
        "moment": epoch.moment() if fit.phase == "batches" else None,
        "validated_after": epoch._validated_after,
        "outer_first_batch": epoch._outer_first_batch,
        "asked_under": [fit.asked_under, validation.asked_under],
        "reloaded": [_whole(fit._last_reload_epoch), _whole(validation._last_reload_epoch)],
        "accumulate": trainer.accumulate_grad_batches,
        "results": _plain(epoch.results.state_dict()),
        "seen": dict(validation._seen),
        "metrics": _plain(connector.state_dict()),
        "metric_objects": _metric_objects(module),
        "evaluating": [name for name, part in module.named_modules() if not part.training],
        "loaders": fit.fetcher.state_dict() if fit.fetcher is not None else None,
        "val_sources": validation.fetcher.random_sources() if validation.fetcher is not None else None,
        "validation": _plain(validation.position()) if validation.phase is not None else None,
    }
    if epoch.keeps_gradients(within=fit.phase == "batches"):
        state["gradients"] = {
            name: parameter.grad
            for name, parameter in module.named_parameters()
            if parameter.grad is not None
        }
    if (parallel := _data_parallel(trainer)) is not None:
        state["sync_buffers"] = parallel.require_forward_param_sync
    state["draws"] = random_state()
    return state


def _data_parallel(trainer: Trainer) -> Any:
    """Return what torch wraps a module in for several processes; it remembers whether to send buffers."""
    wrapper = getattr(trainer._backend.model, "_forward_module", None)
    return wrapper if hasattr(wrapper, "require_forward_param_sync") else None


def gather(trainer: Trainer) -> dict[str, Any] | None:
    """Return what goes into the file: the states of all processes; call it in all of them.

    ``None`` where there is nothing to go on from: no fit was begun here.
    """
    fit, ranks = trainer.fit_loop, trainer.world_size
    if fit.phase == "begin" and trainer.state.fn != TrainerFn.FITTING:
        return None
    together = ranks > 1 and torch.distributed.is_available() and torch.distributed.is_initialized()
    if ranks > 1 and not together:
        return None  # the processes that ran the fit are gone
    own = capture(trainer)
    states: list[Any] = [None] * ranks
    states[trainer.global_rank] = own
    if together and not trainer._ends_alone:
        buffers = dict(trainer.lightning_module.named_buffers())
        if not trainer.is_global_zero:  # statistics of normalisation layers differ; weights do not
            own["buffers"] = {name: buffer.cpu() for name, buffer in buffers.items()}
        torch.distributed.all_gather_object(states, own)
        for state in states:
            theirs = state.get("buffers", {}).items()
            unlike = {n: buffer for n, buffer in theirs if not torch.equal(buffer, buffers[n].cpu())}
            state["buffers"] = unlike
    places = [[c.state_key, c._place() if hasattr(c, "_place") else None] for c in savers(trainer)]
    return {
        "version": VERSION,
        "saver": _saver(trainer),
        "places": _plain(places),  # of callbacks that keep files: what was saved last
        "processes": states,
    }


def savers(trainer: Trainer) -> list[Any]:
    """Return the callbacks that write checkpoints."""
    from relight.callbacks import Checkpoint

    return [callback for callback in trainer.callbacks if isinstance(callback, Checkpoint)]


def _saver(trainer: Trainer) -> list[Any] | None:
    """Return which of the callbacks that write checkpoints saves now, and the hook in which it does."""
    for index, callback in enumerate(savers(trainer)):
        if callback is trainer._saver:
            return [index, trainer._scope.hook]
    return None


def _whole(epoch: float) -> int | None:
    return None if epoch == float("-inf") else int(epoch)


def _plain(data: Any) -> Any:
    """Return a copy whose tensors are detached and share nothing with those of the run."""
    return map_tensors(data, lambda tensor: tensor.detach().clone())


def _metrics_of(module: nn.Module) -> dict[str, Any]:
    torchmetrics = sys.modules.get("torchmetrics")
    if torchmetrics is None:
        return {}
    return {name: part for name, part in module.named_modules() if isinstance(part, torchmetrics.Metric)}


def _metric_objects(module: nn.Module) -> dict[str, dict[str, Any]]:
    """Return the states of the ``torchmetrics`` objects in a module, which are not part of its weights."""
    torchmetrics = sys.modules.get("torchmetrics")
    for part in module.modules() if torchmetrics is not None else ():
        if isinstance(part, torchmetrics.MetricCollection):  # type: ignore[union-attr]
            part._compute_groups_create_state_ref()  # those that share a state are behind until they are read
    return {
        name: {key: _plain(value) for key, value in vars(metric).items() if _belongs(metric, key, value)}
        for name, metric in _metrics_of(module).items()
    }


def _belongs(metric: Any, key: str, value: Any) -> bool:
    """Whether an attribute of a metric object is part of its state rather than of how it was made."""
    if key in metric._defaults:
        return True
    if key == "_computed":  # worked out again when asked for
        return False
    counter = key.startswith("_") and isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, Tensor) or counter or (key == "_forward_cache" and _is_data(value))


def _is_data(value: Any) -> bool:
    return value is None or isinstance(value, (Tensor, dict, list, tuple))


# Resuming


def read(trainer: Trainer, checkpoint: dict[str, Any]) -> Resumed | None:
    """Return what this process finds in a file, ``None`` if the file has nothing for it."""
    stored = checkpoint.get(KEY)
    if not stored or stored.get("version", 0) > VERSION:
        return None
    processes = stored["processes"]
    if len(processes) != trainer.world_size or processes[trainer.global_rank] is None:
        rank_zero_warn(
            f"The checkpoint was saved by {sum(p is not None for p in processes)} process(es), and"
            f" {trainer.world_size} resume it: random states, the order of batches and what was logged in the"
            " epoch cannot be taken over."
        )
        return None
    return Resumed(processes[trainer.global_rank], stored["saver"], stored["places"])


class Resumed:
    """A place in a run that was saved, and how to come back to it."""

    def __init__(self, state: dict[str, Any], saver: list[Any] | None, places: list[Any]) -> None:
        self.state = state
        self.saver, self.places = saver, places
        self.phase: str = state["phase"]
        self.moment: str | None = state["moment"]
        self.validation: dict[str, Any] | None = state["validation"]
        #: Whether the epoch was ended before its last batch, which a longer run would not do.
        self.cut = "loops" in state

    def restore_counts(self, trainer: Trainer) -> None:
        """Set what is counted beside the loops' own progress, and that if the epoch was cut short."""
        fit, state = trainer.fit_loop, self.state
        if self.cut:
            fit.load_state_dict(state["loops"])
            self._restore_callbacks(trainer)
        epoch = fit.epoch_loop
        for loop in (fit, epoch, epoch.val_loop):
            loop.restarting = loop.loaded = False
        epoch._validated_after = state["validated_after"]
        epoch._outer_first_batch = state["outer_first_batch"]
        epoch._finished = epoch.batch_progress.total.ready
        fit.phase = self.phase
        if self.phase == "epoch_start":
            for count in (fit.epoch_progress.total, fit.epoch_progress.current):
                count.ready -= 1
        if self.phase == "batches" and self.moment == "in batch":
            _undo_batch(epoch)

    def restore_rest(self, trainer: Trainer) -> None:
        """Set what callbacks keep beside their state, and schedulers as they were before a cut."""
        places = list(self.places)
        for callback in savers(trainer):
            found = next((index for index, (key, _) in enumerate(places) if key == callback.state_key), None)
            if found is not None and (place := places.pop(found)[1]) is not None:
                callback._set_place(place)
        for config, state in zip(
            trainer.lr_scheduler_configs, self.state.get("schedulers", []), strict=False
        ):
            config.scheduler.load_state_dict(copy.deepcopy(state))
        for optimizer, groups in zip(trainer.optimizers, self.state.get("groups", []), strict=False):
            for group, saved in zip(optimizer.param_groups, groups, strict=False):
                group.update(copy.deepcopy(saved))

    def _restore_callbacks(self, trainer: Trainer) -> None:
        """Give callbacks what they had before an epoch was cut short."""
        for callback in trainer.callbacks:
            saved = self.state.get("callbacks", {}).get(callback.state_key)
            if saved is not None:
                callback.load_state_dict(copy.deepcopy(saved))

    def restore_data_counts(self, trainer: Trainer) -> None:
        """Set when loaders were asked for last and what they gave, once they are here."""
        fit = trainer.fit_loop
        seen = fit.epoch_loop.val_loop._seen
        seen.clear()
        seen.update({int(i): n for i, n in self.state["seen"].items()})
        train, val = (float("-inf") if epoch is None else epoch for epoch in self.state["reloaded"])
        fit._last_reload_epoch, fit.epoch_loop.val_loop._last_reload_epoch = train, val

    def restore_values(self, trainer: Trainer) -> None:
        """Set what was logged and measured, the mode of modules and kept gradients."""
        state, module = self.state, trainer.lightning_module
        epoch = trainer.fit_loop.epoch_loop
        for name, metric in _metrics_of(module).items():
            if name in state["metric_objects"]:
                vars(metric).update(_on(state["metric_objects"][name], metric.device), _computed=None)
        self.restore_results(trainer, epoch.results, state["results"])
        trainer._logger_connector.load_state_dict(_on(state["metrics"], trainer._backend.device))
        buffers = dict(module.named_buffers())
        for name, buffer in state.get("buffers", {}).items():
            if name in buffers:
                buffers[name].copy_(buffer)
        if (parallel := _data_parallel(trainer)) is not None and "sync_buffers" in state:
            parallel.require_forward_param_sync = state["sync_buffers"]
        gradients = state.get("gradients", {})
        for name, parameter in module.named_parameters():
            if name in gradients:
                parameter.grad = gradients[name].to(parameter.device)
        if self.phase != "batches":
            return
        if self.moment == "in batch" and epoch.batch_progress.current.completed == 0:
            trainer._logger_connector.first_batch = None
            for fx in {entry.fx for entry in epoch.results.values()} - {
                "on_train_start",
                "on_train_epoch_start",
            }:
                epoch.results.reset(fx=fx)  # the batch begins anew, and it is the first
        evaluating = set(state["evaluating"])
        for name, part in module.named_modules():
            part.training = name not in evaluating
        if trainer.accumulate_grad_batches == 1:  # a schedule of it begins with the epoch
            trainer.accumulate_grad_batches = state["accumulate"]

    def restore_results(self, trainer: Trainer, results: ResultCollection, state: Any) -> None:
        """Set what a loop has logged and not reduced yet."""
        module, backend = trainer.lightning_module, trainer._backend
        results.load_state_dict(_on(state, backend.device), module.get_submodule, backend.reduce)

    def run_saver_rest(self, trainer: Trainer, hook: str, *args: Any) -> None:
        """Let checkpoint callbacks have the hook in which an earlier one of them saved the file."""
        from relight.callbacks import Callback

        callbacks = savers(trainer)
        same = [callback.state_key for callback in callbacks] == [key for key, _ in self.places]
        if self.saver is None or self.saver[1] != hook or not same:
            return
        first = self.saver[0]
        if hasattr(callbacks[first], "_finish"):
            callbacks[first]._finish(trainer)
        for index, callback in enumerate(callbacks):
            if index > first and has_own(hook, callback, Callback):
                trainer._saves_again = (index, hook)
                try:
                    call_own_hook(trainer, callback, hook, trainer, trainer.lightning_module, *args)
                finally:
                    trainer._saves_again = None

    def restore_loaders(self, trainer: Trainer) -> None:
        """Bring the training loaders to where they stood."""
        fit, loaders = trainer.fit_loop, self.state["loaders"]
        begun = self.phase == "batches" or fit.epoch_progress.total.ready == 0
        fetcher = fit.fetcher
        if fetcher is None:
            return
        if not begun:  # the next epoch makes its iterators itself
            if loaders is not None:
                fetcher.load_states(loaders)
            return
        count = len(fetcher.loader.flattened)
        if loaders is None or len(loaders["now"]) != count:
            rank_zero_warn("The training loaders are not those that the checkpoint was saved with.")
            fetcher.start()
            fetcher.fetched += fit.epoch_loop.batch_progress.current.ready
        else:
            fetcher.resume(loaders, fit.epoch_loop.batch_progress.current.ready)

    def restore_draws(self, trainer: Trainer) -> None:
        """Set the random states; the last thing before the run goes on."""
        validation = trainer.fit_loop.epoch_loop.val_loop
        validation.random_sources = self.state["val_sources"]
        set_random_state(self.state["draws"])


def ask_under(source: DataSource, resumed: Resumed | None, which: int) -> dict[str, Any] | None:
    """Return the random states under which a hook is asked for loaders, after setting those of a file.

    A hook may split a dataset at random; a resumed run has to get the same parts.
    """
    if not source.is_module():
        return None
    if resumed is not None and (draws := resumed.state["asked_under"][which]) is not None:
        set_random_state(draws)
    return random_state()


def _on(data: Any, device: torch.device) -> Any:
    return map_tensors(data, lambda tensor: tensor.to(device))


def _undo_batch(epoch: Any) -> None:
    """Take back the counts of a batch that was not done: it is done again."""
    progress = epoch.batch_progress
    undone = progress.current.ready - progress.current.completed
    for count in (progress.total, progress.current):
        count.ready -= undone
        count.started = min(count.started, count.ready)
        count.processed = min(count.processed, count.ready)
    for part in (epoch.optim_progress.step, epoch.optim_progress.zero_grad, epoch.manual_progress):
        for count in (part.total, part.current):
            count.reset_on_restart()
    progress.is_last_batch = False

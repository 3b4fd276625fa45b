"""Calling hooks: order, nesting, profiling, results, and what is refused."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import Trainer, call_hook
from relight.trainer import HOOK_ORDER, Order
from relight.trainer.hooks import Hooks

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.calls: list[str] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def on_train_start(self) -> str:  # type: ignore[override]
        return "returned"


class Watcher(relight.Callback):
    """Takes its name into its state key."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def state_key(self) -> str:
        return self._generate_state_key(name=self.name)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        pass


class Recorder(relight.profilers.Profiler):
    def __init__(self) -> None:
        super().__init__()
        self.entries: list[str] = []

    @contextmanager
    def profile(self, action_name: str) -> Any:
        self.entries.append(action_name)
        yield action_name

    def start(self, action_name: str) -> None:
        pass

    def stop(self, action_name: str) -> None:
        pass


def loader() -> DataLoader[Any]:
    return DataLoader(torch.ones(2, 2), batch_size=2)  # type: ignore[arg-type]


def test_returns_what_the_hook_returns_and_needs_no_module() -> None:
    trainer = Trainer(**QUIET)
    module = Net()
    assert trainer.lightning_module is None
    assert call_hook(trainer, module.on_train_start) == "returned"
    batch = torch.ones(3)
    assert call_hook(trainer, module.on_after_batch_transfer, batch, dataloader_idx=0) is batch


def test_one_callback_alone() -> None:
    trainer, seen = Trainer(**QUIET), []

    class Mine(relight.Callback):
        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            seen.append((trainer, pl_module, exception))

    module, error = Net(), ValueError()
    call_hook(trainer, Mine().on_exception, trainer, module, error)
    assert seen == [(trainer, module, error)]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: None,
        Net.on_train_start,
        "on_train_start",
        print,
        [].append,
        Trainer(**QUIET).fit,
        nn.Linear(1, 1).forward,
    ],
)
def test_refuses_what_is_no_bound_hook(wrong: Any) -> None:
    with pytest.raises(TypeError, match="bound method"):
        call_hook(Trainer(**QUIET), wrong)


def test_hooks_of_strategy_accelerator_and_logger() -> None:
    trainer = Trainer(**QUIET)
    logger = relight.loggers.DummyLogger()
    assert call_hook(trainer, trainer.strategy.barrier, "here") is None
    assert call_hook(trainer, trainer.accelerator.setup_device, torch.device("cpu")) is None
    assert call_hook(trainer, logger.finalize, "success") is None


def test_scope_nests_and_is_given_back() -> None:
    trainer, seen = Trainer(**QUIET), []

    class Nested(Net):
        def on_train_start(self) -> Any:
            seen.append(trainer._scope.hook)
            call_hook(trainer, self.on_train_end)
            seen.append(trainer._scope.hook)

        def on_train_end(self) -> None:
            seen.append(trainer._scope.hook)

    call_hook(trainer, Nested().on_train_start)
    assert seen == ["on_train_start", "on_train_end", "on_train_start"]
    assert trainer._scope.hook is None


def test_scope_is_given_back_after_an_exception() -> None:
    trainer = Trainer(**QUIET)

    class Failing(Net):
        def on_train_start(self) -> Any:
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        call_hook(trainer, Failing().on_train_start)
    assert trainer._scope.hook is None


def test_logging_follows_the_inner_hook() -> None:
    """A value logged by a hook that a step calls counts as that hook's; the step's own stays the step's."""

    class Nested(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            call_hook(self.trainer, self.on_train_epoch_start)
            self.log("of_step", 1.0)
            return super().training_step(batch, batch_idx)

        def on_train_epoch_start(self) -> None:
            self.log("of_epoch", 2.0)

    trainer = Trainer(**QUIET, max_epochs=1)
    trainer.fit(Nested(), loader())
    levels = {
        e.name: (e.options.on_step, e.options.on_epoch) for e in trainer.fit_loop.epoch_loop.results.values()
    }
    assert levels == {"of_step": (True, False), "of_epoch": (False, True)}


def test_profiler_tells_owners_apart() -> None:
    profiler = Recorder()
    trainer = Trainer(**QUIET, max_epochs=1, profiler=profiler, callbacks=[Watcher("a"), Watcher("b")])
    trainer.fit(Net(), loader())
    assert "[Callback]Watcher{'name': 'a'}.on_train_start" in profiler.entries
    assert "[Callback]Watcher{'name': 'b'}.on_train_start" in profiler.entries
    assert "[LightningModule]Net.on_train_start" in profiler.entries
    assert "[LightningModule]Net.training_step" in profiler.entries
    assert profiler.entries.index("[Callback]Watcher{'name': 'b'}.on_train_start") < profiler.entries.index(
        "[LightningModule]Net.on_train_start"
    )
    assert not any(entry.endswith("on_train_end") for entry in profiler.entries)  # nobody overrides it
    profiler.entries.clear()
    call_hook(trainer, Watcher("c").on_train_start, trainer, Net())
    assert profiler.entries == ["[Callback]Watcher{'name': 'c'}.on_train_start"]


def test_empty_hooks_are_not_called() -> None:
    trainer = Trainer(**QUIET, callbacks=[Watcher("a")])
    trainer._module = Net()
    hooks = Hooks(trainer)
    assert hooks.bind("on_train_end") is None
    assert hooks.bind("on_train_start") is hooks.bind("on_train_start") is not None
    assert hooks.module("optimizer_step") is None
    assert hooks.module("optimizer_step", always=True) is not None
    assert hooks.callbacks("on_fit_start") is None


@pytest.mark.parametrize("hook", ["on_train_epoch_end", "on_train_start"])
@pytest.mark.parametrize("order", [None, Order.MODULE_FIRST, Order.CALLBACKS_FIRST])
def test_order_is_read_from_the_table(hook: str, order: Order | None) -> None:
    calls: list[str] = []
    module_class = type("Mine", (Net,), {hook: lambda self: calls.append("module")})
    callback = type(
        "Cb", (relight.Callback,), {hook: lambda self, trainer, pl_module: calls.append("callback")}
    )()

    class Ordered(Trainer):
        hook_order = HOOK_ORDER if order is None else {**HOOK_ORDER, hook: order}

    Ordered(**QUIET, max_epochs=1, callbacks=[callback]).fit(module_class(), loader())
    effective = order or HOOK_ORDER.get(hook, Order.CALLBACKS_FIRST)
    expected = ["module", "callback"] if effective is Order.MODULE_FIRST else ["callback", "module"]
    assert calls == expected


def test_any_callback_can_monitor_what_the_module_logs_at_the_epochs_end() -> None:
    seen: list[float] = []

    class Logs(Net):
        def on_train_epoch_end(self) -> None:
            self.log("late", 3.0)

    class Reads(relight.Callback):
        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            seen.append(float(trainer.callback_metrics["late"]))

    Trainer(**QUIET, max_epochs=1, callbacks=[Reads()]).fit(Logs(), loader())
    assert seen == [3.0]


def test_a_hook_set_on_the_instance_is_called() -> None:
    module, calls = Net(), []
    module.on_train_end = lambda: calls.append("instance")  # type: ignore[method-assign]
    Trainer(**QUIET, max_epochs=1).fit(module, loader())
    assert calls == ["instance"]

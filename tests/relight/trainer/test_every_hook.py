"""Every hook that a user may override: called through ``call_hook``'s machinery, once a moment, in the
documented order, and nobody else's method of that name.

The hooks are found by looking at the classes, so a new one is tested, or asked for, at once.
"""

from __future__ import annotations

import inspect
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import LightningDataModule, LightningModule, Trainer
from relight.core.hooks import CheckpointHooks, DataHooks, ModelHooks
from relight.trainer import HOOK_ORDER, Order

pytestmark = pytest.mark.filterwarnings("ignore")

#: Public methods of `LightningModule` itself that a user overrides; the others are tools to call.
STEPS_AND_SETTINGS = {
    "training_step", "validation_step", "test_step", "predict_step", "configure_callbacks",
    "configure_optimizers", "backward", "optimizer_step", "optimizer_zero_grad", "lr_scheduler_step",
    "configure_gradient_clipping",
}  # fmt: skip
TOOLS_OF_MODULES = {
    "all_gather", "clip_gradients", "forward", "freeze", "unfreeze", "load_from_checkpoint", "log", "log_dict",
    "lr_schedulers", "manual_backward", "optimizers", "print", "toggle_optimizer", "toggled_optimizer",
    "untoggle_optimizer", "to_onnx", "to_torchscript", "logged_values",
}  # fmt: skip
TOOLS_OF_DATA_MODULES = {"from_datasets", "load_from_checkpoint"}


def public(cls: type) -> set[str]:
    """Return the names of the functions that ``cls`` itself defines, without what starts with ``_``."""
    return {
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and not isinstance(value, property) and callable(getattr(cls, name))
    }


def hooks_of_module() -> set[str]:
    hooks = public(ModelHooks) | public(DataHooks) | public(CheckpointHooks)
    return hooks | (public(LightningModule) - TOOLS_OF_MODULES)


def hooks_of_data_module() -> set[str]:
    return public(DataHooks) | (public(LightningDataModule) - TOOLS_OF_DATA_MODULES)


def hooks_of_callback() -> set[str]:
    return public(relight.Callback)


class Recorder(relight.profilers.Profiler):
    """Counts entries, and says which one is open."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: Counter[str] = Counter()

    @contextmanager
    def profile(self, action_name: str) -> Any:
        self.entries[action_name] += 1
        yield action_name

    def start(self, action_name: str) -> None:
        pass

    def stop(self, action_name: str) -> None:
        pass


class Log:
    """What was called, in order: (owner, hook, what the logging scope said)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str | None]] = []
        self.trainer: Any = None

    def overriding(self, cls: type, owner: str, hooks: set[str]) -> type:
        """Return a subclass of ``cls`` whose hooks note each call and then do what they did."""

        def make(name: str) -> Any:
            original = getattr(cls, name)

            def hook(instance: Any, *args: Any, **kwargs: Any) -> Any:
                self.calls.append((owner, name, self.trainer._scope.hook))
                return original(instance, *args, **kwargs)

            hook.__name__ = name
            hook.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
            return hook

        return type(owner, (cls,), {name: make(name) for name in hooks})


class Net(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    test_step = validation_step

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch)

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


class Data(LightningDataModule):
    def train_dataloader(self) -> Any:
        return DataLoader(torch.ones(6, 2), batch_size=2)  # type: ignore[arg-type]

    val_dataloader = test_dataloader = predict_dataloader = train_dataloader

    def state_dict(self) -> dict[str, Any]:
        return {"seen": 1}


class Stateful(relight.Callback):
    def state_dict(self) -> dict[str, Any]:
        return {"key": 1}


def run_everything(log: Log, directory: Path, profiler: Any = None, **loaders_of_module: Any) -> Trainer:
    """Fit, save, go on, validate, test, predict and fail once, all hooks overridden everywhere."""
    net = log.overriding(Net, "Net", hooks_of_module())()
    data = log.overriding(Data, "Data", hooks_of_data_module())()
    callbacks = [
        log.overriding(Stateful, name, hooks_of_callback() - {"state_key"})() for name in ("One", "Two")
    ]
    trainer = log.trainer = Trainer(
        accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        max_epochs=2, callbacks=callbacks, profiler=profiler, default_root_dir=directory,
    )  # fmt: skip
    trainer.fit(net, datamodule=data, val_check_interval=2, num_sanity_val_steps=1)
    trainer.save_checkpoint(directory / "after.ckpt")
    trainer.fit_loop.max_epochs = 3
    trainer.fit(net, datamodule=data, ckpt_path=directory / "after.ckpt")
    trainer.validate(net, datamodule=data, verbose=False)
    trainer.test(net, datamodule=data, verbose=False)
    trainer.predict(net, datamodule=data)

    def fails(*_: Any) -> Any:
        raise RuntimeError("on purpose")

    net.layer.forward = fails  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="on purpose"):
        trainer.test(net, datamodule=data, verbose=False)
    del net.layer.forward
    # A module brings its own data, too.
    own = type("Own", (type(net),), {name: getattr(Data, name) for name in vars(Data) if "loader" in name})
    module = log.overriding(own, "Net", {name for name in vars(Data) if "loader" in name})()
    trainer.fit_loop.max_epochs = 4
    trainer.fit(module)
    trainer.test(module, verbose=False)
    trainer.predict(module)
    return trainer


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Log:
    log = Log()
    run_everything(log, tmp_path_factory.mktemp("plain"))
    return log


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Log, Recorder]:
    log, recorder = Log(), Recorder()
    run_everything(log, tmp_path_factory.mktemp("profiled"), recorder)
    return log, recorder


@pytest.mark.parametrize(
    ("owner", "hooks"),
    [
        ("Net", hooks_of_module()),
        ("Data", hooks_of_data_module()),
        ("One", hooks_of_callback()),
        ("Two", hooks_of_callback()),
    ],
)
def test_each_is_called(plain: Log, owner: str, hooks: set[str]) -> None:
    assert hooks - {name for who, name, _ in plain.calls if who == owner} == set()


def test_the_scope_says_which_one_runs(plain: Log) -> None:
    """Whatever calls a hook sets the scope: that is what makes it a call of ``call_hook``."""
    assert {(owner, name, scope) for owner, name, scope in plain.calls if scope != name} == set()


def test_one_profiler_entry_for_each_call(profiled: tuple[Log, Recorder]) -> None:
    log, recorder = profiled
    kinds = {"Net": "LightningModule", "Data": "LightningDataModule", "One": "Callback", "Two": "Callback"}
    calls = Counter(f"[{kinds[owner]}]{owner}.{name}" for owner, name, _ in log.calls)
    entries = Counter(
        {name: n for name, n in recorder.entries.items() if name.split("]")[0][1:] in kinds.values()}
    )
    assert entries - calls == Counter()
    assert calls - entries == Counter()


def test_the_profiler_changes_nothing(plain: Log, profiled: tuple[Log, Recorder]) -> None:
    assert profiled[0].calls == plain.calls


@pytest.mark.parametrize("hook", sorted(hooks_of_module() & hooks_of_callback()))
def test_order_of_module_and_callbacks(plain: Log, hook: str) -> None:
    calls = [owner for owner, name, _ in plain.calls if name == hook and owner in ("Net", "One", "Two")]
    expected = ["One", "Two", "Net"]
    if HOOK_ORDER.get(hook, Order.CALLBACKS_FIRST) is Order.MODULE_FIRST:
        expected = ["Net", "One", "Two"]
    times = calls.count("One")
    assert times > 0
    assert calls == expected * times


@pytest.mark.parametrize("hook", ["setup", "teardown", "on_exception"])
def test_the_data_module_among_them(plain: Log, hook: str) -> None:
    calls = [owner for owner, name, _ in plain.calls if name == hook]
    first = calls.index("Data")
    if hook == "on_exception":
        assert calls == ["One", "Two", "Data"]
    else:
        assert calls[first : first + 4] == ["Data", "One", "Two", "Net"]


def test_the_table_names_hooks_that_exist() -> None:
    assert set(HOOK_ORDER) <= hooks_of_module() & hooks_of_callback()


def trap(name: str) -> Any:
    def method(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"`{name}` is no hook of this object and was called")

    return method


def test_nothing_is_called_by_its_name_alone(tmp_path: Path) -> None:
    """The Trainer, the strategy, the accelerator, a layer and a logger bear methods named like hooks."""
    from lightning_fabric.accelerators import CPUAccelerator
    from lightning_fabric.strategies import SingleDeviceStrategy

    every = hooks_of_module() | hooks_of_data_module() | hooks_of_callback()

    def trapped(cls: type, *, also: set[str] = frozenset()) -> Any:  # type: ignore[assignment]
        names = {name for name in every if not hasattr(cls, name)} | also
        assert len(names) > 50
        return type(cls.__name__, (cls,), {name: trap(f"{cls.__name__}.{name}") for name in names})

    strategy = trapped(SingleDeviceStrategy)(torch.device("cpu"), accelerator=trapped(CPUAccelerator)())
    trainer = trapped(Trainer)(
        strategy=strategy, logger=trapped(relight.loggers.DummyLogger)(), enable_checkpointing=False,
        enable_progress_bar=False, max_epochs=1, callbacks=[Stateful()], default_root_dir=tmp_path,
    )  # fmt: skip
    net = Net()
    net.layer = trapped(nn.Linear)(2, 1)
    data = Data()
    trainer.fit(net, datamodule=data)
    trainer.save_checkpoint(tmp_path / "x.ckpt")
    for run in (trainer.validate, trainer.test):
        run(net, datamodule=data, verbose=False, ckpt_path=tmp_path / "x.ckpt")
    trainer.predict(net, datamodule=data)
    assert trainer.global_step == 3


def test_hooks_that_a_callback_lacks_are_not_looked_for_there() -> None:
    """A callback may have methods of its own, named like hooks of a module."""
    names = hooks_of_module() - hooks_of_callback()
    callback = type("Mine", (relight.Callback,), {name: trap(name) for name in names})()
    trainer = Trainer(
        accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        max_epochs=1, callbacks=[callback],
    )  # fmt: skip
    trainer.fit(Net(), datamodule=Data())
    assert trainer.global_step == 3


def test_the_users_own_loop() -> None:
    """`call_hook` needs no entry point: one's own loop calls hooks, and gets what they return."""
    recorder = Recorder()
    trainer = Trainer(
        accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        profiler=recorder,
    )  # fmt: skip
    seen: list[Any] = []

    class Doubles(Net):
        def on_after_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
            return batch * 2

        def on_train_epoch_start(self) -> None:
            seen.append(trainer._scope.hook)

    class Answers(relight.Callback):
        state_key = "Answers"

        def on_train_batch_end(self, *args: Any) -> Any:
            seen.append(args[2])
            return "from a callback"

    net, callback = Doubles(), Answers()
    optimizer = relight.call_hook(trainer, net.configure_optimizers)[0][0]
    for batch in (torch.ones(2, 2), torch.zeros(2, 2)):
        relight.call_hook(trainer, net.on_train_epoch_start)
        batch = relight.call_hook(trainer, net.on_after_batch_transfer, batch, 0)
        loss = relight.call_hook(trainer, net.training_step, batch, 0)
        optimizer.zero_grad()
        relight.call_hook(trainer, net.backward, loss)
        optimizer.step()
        answer = relight.call_hook(
            trainer, callback.on_train_batch_end, trainer, net, float(batch.sum()), batch, 0
        )
        assert answer == "from a callback"
    assert seen == ["on_train_epoch_start", 8.0, "on_train_epoch_start", 0.0]
    assert recorder.entries["[LightningModule]Doubles.training_step"] == 2  # entries of one name add up
    assert recorder.entries["[Callback]Answers.on_train_batch_end"] == 2


def test_what_the_strategy_does_is_profiled_apart() -> None:
    recorder = Recorder()
    trainer = Trainer(
        accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        max_epochs=1, profiler=recorder,
    )  # fmt: skip
    trainer.fit(Net(), datamodule=Data())
    for what, times in (("batch_to_device", 3 + 3 + 2), ("backward", 3), ("optimizer_step", 3)):
        assert recorder.entries[f"[Strategy]SingleDeviceStrategy.{what}"] == times

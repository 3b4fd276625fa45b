"""Runs that fail, end early or are set up in unusual ways."""

from __future__ import annotations

import signal
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import Trainer
from relight.utilities.exceptions import MisconfigurationException

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}
pytestmark = pytest.mark.filterwarnings("ignore")


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        self.log("val", self(batch).sum())

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(n: int = 6) -> DataLoader[Any]:
    return DataLoader(torch.ones(n, 2), batch_size=2)  # type: ignore[arg-type]


def variant(**attributes: Any) -> Net:
    return type("Variant", (Net,), attributes)()


def fit(module: Any, **options: Any) -> Trainer:
    trainer = Trainer(**QUIET, max_epochs=1)
    trainer.fit(module, loader(), loader(), **options)
    return trainer


# What cannot run


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("training_epoch_end", ["TRU200", "on_train_epoch_end"]),
        ("validation_epoch_end", ["TRU201", "on_validation_epoch_end"]),
        ("training_step_end", ["TRU203"]),
    ],
)
def test_legacy_hooks_are_refused_with_their_code(name: str, words: list[str]) -> None:
    with pytest.raises(NotImplementedError) as caught:
        fit(variant(**{name: lambda self, outputs: None}))
    for word in [*words, name, "relight.compat"]:
        assert word in str(caught.value)


def test_a_hook_of_testing_does_not_disturb_a_fit() -> None:
    fit(variant(test_epoch_end=lambda self, outputs: None))


@pytest.mark.parametrize(
    "module",
    [
        variant(
            configure_optimizers=lambda self: [torch.optim.SGD(self.parameters(), 0.1) for _ in range(2)]
        ),
        variant(training_step=lambda self, batch, batch_idx, optimizer_idx: None),
    ],
)
def test_several_automatic_optimizers_are_refused(module: Any) -> None:
    with pytest.raises(RuntimeError, match=r"automatic_optimization = False.*relight\.compat.*TRU214"):
        fit(module)


@pytest.mark.parametrize("missing", ["training_step", "configure_optimizers"])
def test_what_fit_needs(missing: str) -> None:
    method = getattr(relight.LightningModule, missing)
    with pytest.raises(MisconfigurationException, match=missing):
        fit(variant(**{missing: method}))


def test_steps_of_the_other_entry_points() -> None:
    trainer = Trainer(**QUIET)
    with pytest.raises(MisconfigurationException, match="test_step"):
        trainer.test(Net(), loader())
    with pytest.raises(TypeError, match="needs a module"):
        Trainer(**QUIET).validate()
    with pytest.raises(TypeError, match="LightningModule"):
        trainer.fit(nn.Linear(2, 1), loader())  # type: ignore[arg-type]
    with pytest.raises(MisconfigurationException, match="not both"):
        trainer.fit(Net(), loader(), datamodule=relight.LightningDataModule())


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        (lambda m: 3, MisconfigurationException),
        (lambda m: [_sgd(m), 3], MisconfigurationException),
        (lambda m: _scheduled(m, {"interval": "batch"}), MisconfigurationException),
        (lambda m: _scheduled(m, {}, "ReduceLROnPlateau"), MisconfigurationException),
        (lambda m: {**_scheduled(m, {}), "optimizer": _sgd(m)}, MisconfigurationException),
        (lambda m: {"optimizer": _sgd(m), "lr_scheduler": {"interval": "step"}}, MisconfigurationException),
        (lambda m: ([_sgd(m)], [object()]), TypeError),
    ],
)  # fmt: skip
def test_what_configure_optimizers_may_not_return(returned: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        fit(variant(configure_optimizers=returned))


def _sgd(module: Any) -> Any:
    return torch.optim.SGD(module.parameters(), 0.1)


def _scheduled(module: Any, config: dict[str, Any], kind: str = "StepLR") -> dict[str, Any]:
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    arguments = (1,) if kind == "StepLR" else ()
    scheduler = getattr(torch.optim.lr_scheduler, kind)(optimizer, *arguments)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, **config}}


def test_a_missing_monitor() -> None:
    def configured(strict: bool) -> Any:
        config = {"monitor": "nothing", "strict": strict}
        return lambda module: _scheduled(module, config, "ReduceLROnPlateau")

    with pytest.raises(MisconfigurationException, match="'nothing'"):
        fit(variant(configure_optimizers=configured(True)))
    fit(variant(configure_optimizers=configured(False)))


@pytest.mark.parametrize(
    ("returned", "words"),
    [("text", "must return"), ({"no": 1}, "no key 'loss'")],
)
def test_what_a_training_step_may_not_return(returned: Any, words: str) -> None:
    with pytest.raises(MisconfigurationException, match=words):
        fit(variant(training_step=lambda self, batch, batch_idx: returned))


def test_an_optimizer_step_that_forgets_the_closure() -> None:
    def optimizer_step(self: Any, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Any) -> None:
        optimizer.optimizer.step()

    with pytest.raises(MisconfigurationException, match="closure"):
        fit(variant(optimizer_step=optimizer_step))


def test_manual_optimization_does_not_go_with_automatic_options() -> None:
    module = Net()
    module.automatic_optimization = False
    for options in ({"gradient_clip_val": 1.0}, {"accumulate_grad_batches": 2}):
        with pytest.raises(MisconfigurationException, match=next(iter(options))):
            fit(module, **options)
    with pytest.raises(MisconfigurationException, match="manual optimization"):
        fit(variant(training_step=lambda self, batch, batch_idx: self.manual_backward(self(batch).sum())))


def test_loaders_that_do_not_fit() -> None:
    trainer = Trainer(**QUIET, max_epochs=1)
    with pytest.raises(TypeError, match=r"train_dataloaders"):
        trainer.fit(Net(), 3)
    with pytest.raises(TypeError, match=r"returned by `Variant\.train_dataloader"):
        trainer.fit(variant(train_dataloader=lambda self: 3))
    with pytest.raises(ValueError, match="check_val_every_n_epoch=None"):
        trainer.fit(Net(), loader(), loader(), val_check_interval=4)
    with pytest.raises(MisconfigurationException, match="less than one"):
        trainer.fit(Net(), loader(), limit_train_batches=0.1)
    with pytest.raises(RuntimeError, match="dataloader_idx"):
        trainer.fit(Net(), loader(), [loader(), loader()])


# Logging


@pytest.mark.parametrize(
    ("log", "error"),
    [
        (lambda self: self.log("a", torch.ones(2)), ValueError),
        (lambda self: self.log("a", {"b": 1}), ValueError),
        (lambda self: self.log("a", "text"), ValueError),
        (lambda self: self.log("a", 1.0, on_step=False, on_epoch=False), MisconfigurationException),
        (lambda self: self.log("a", 1.0, reduce_fx=torch.prod), MisconfigurationException),
        (lambda self: self.log("a/dataloader_idx_0", 1.0), MisconfigurationException),
        (lambda self: [self.log("a", 1.0), self.log("a", 1.0, prog_bar=True)], MisconfigurationException),
    ],
)
def test_what_cannot_be_logged(log: Any, error: type[Exception]) -> None:
    def training_step(self: Any, batch: Any, batch_idx: int) -> Any:
        log(self)
        return self(batch).sum()

    with pytest.raises(error):
        fit(variant(training_step=training_step))


@pytest.mark.parametrize(
    "hook", ["on_fit_start", "on_train_end", "on_validation_end", "configure_optimizers"]
)
def test_where_nothing_can_be_logged(hook: str) -> None:
    with pytest.raises(MisconfigurationException, match=hook):
        fit(variant(**{hook: lambda self: self.log("a", 1.0)}))
    with pytest.raises(MisconfigurationException, match="once an epoch"):
        fit(variant(on_train_epoch_end=lambda self: self.log("a", 1.0, on_step=True)))


def test_a_logged_tensor_may_change_afterwards() -> None:
    class Counting(Net):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            self.log("count", self.count)
            self.count += 10
            return self(batch).sum()

    assert float(fit(Counting()).callback_metrics["count"]) == 20.0


# Ends


def test_keyboard_interrupt_ends_the_process_gracefully() -> None:
    seen: list[str] = []

    class Watch(relight.Callback):
        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            seen.append(type(exception).__name__)

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
            seen.append("teardown")

    def training_step(self: Any, batch: Any, batch_idx: int) -> Any:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    trainer = Trainer(**QUIET, max_epochs=1, callbacks=[Watch()])
    with pytest.raises(SystemExit) as caught:
        trainer.fit(variant(training_step=training_step), loader())
    assert caught.value.code == 1
    assert isinstance(caught.value, KeyboardInterrupt)
    assert signal.getsignal(signal.SIGINT) is before
    assert seen == ["KeyboardInterrupt"]
    assert trainer.interrupted


def test_sigterm_ends_between_batches_and_handlers_come_back() -> None:
    seen: list[int] = []

    def training_step(self: Any, batch: Any, batch_idx: int) -> Any:
        seen.append(batch_idx)
        signal.raise_signal(signal.SIGTERM)
        return self(batch).sum()

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught:
        Trainer(**QUIET, max_epochs=3).fit(variant(training_step=training_step), loader())
    assert caught.value.code == 128 + signal.SIGTERM
    assert seen == [0]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_failed_run_can_be_followed_by_another() -> None:
    def fail(self: Any) -> None:
        raise RuntimeError("on purpose")

    trainer = Trainer(**QUIET, max_epochs=1)
    with pytest.raises(RuntimeError, match="on purpose"):
        trainer.fit(variant(on_train_start=fail), loader())
    assert trainer.interrupted
    assert trainer.state.stage is None
    trainer.fit(Net(), loader())
    assert trainer.state.finished
    assert trainer.global_step == 3


def test_unusual_limits() -> None:
    trainer = Trainer(**QUIET, max_epochs=0)
    trainer.fit(Net(), loader())
    assert (trainer.current_epoch, trainer.global_step) == (0, 0)
    trainer = Trainer(**QUIET, max_epochs=2)
    trainer.fit(Net(), loader(), limit_train_batches=0)
    assert trainer.global_step == 0


# Where and how


def test_modes_and_contexts() -> None:
    seen: dict[str, Any] = {}

    def note(name: str) -> Any:
        def step(self: Any, batch: Any, batch_idx: int) -> Any:
            seen[name] = (self.training, torch.is_grad_enabled(), torch.is_inference_mode_enabled())
            return self(batch).sum()

        return step

    module = variant(training_step=note("train"), validation_step=note("val"), test_step=note("test"))
    trainer = fit(module)
    assert seen == {"train": (True, True, False), "val": (False, False, False)}
    trainer.validate(module, loader(), verbose=False)
    trainer.test(module, loader(), verbose=False, inference_mode=False)
    assert seen["val"] == (False, False, True)
    assert seen["test"] == (False, False, False)
    assert module.training


def test_detect_anomaly() -> None:
    def training_step(self: Any, batch: Any, batch_idx: int) -> Any:
        return (self(batch) * 0).sqrt().sum() * 0

    with pytest.raises(RuntimeError, match="nan"):
        fit(variant(training_step=training_step), detect_anomaly=True)
    fit(variant(training_step=training_step))


@pytest.mark.parametrize(("precision", "dtype"), [("bf16-mixed", torch.bfloat16), ("64-true", torch.float64)])
def test_precisions(precision: str, dtype: torch.dtype) -> None:
    seen: list[torch.dtype] = []

    def training_step(self: Any, batch: Any, batch_idx: int) -> Any:
        output = self(batch)
        seen.append(output.dtype)
        return output.float().sum()

    trainer = Trainer(**QUIET, precision=precision, max_epochs=1)
    trainer.fit(variant(training_step=training_step), loader(), loader())
    assert set(seen) == {dtype}
    assert trainer.precision == precision
    assert trainer.global_step == 3


def test_sync_batch_norm_is_a_plugin() -> None:
    plugin = relight.plugins.TorchSyncBatchNorm()
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    synced = plugin.apply(model)
    assert isinstance(synced[1], nn.SyncBatchNorm)
    synced[1].running_mean += 3
    back = plugin.revert(synced)
    assert not isinstance(back[1], nn.SyncBatchNorm)
    assert float(back[1].running_mean[0]) == 3.0
    Trainer(**QUIET, plugins=[plugin], max_epochs=1).fit(Net(), loader())
    with pytest.raises(MisconfigurationException, match="More than one"):
        Trainer(**QUIET, plugins=[plugin, relight.plugins.TorchSyncBatchNorm()])


def test_configure_model_makes_the_module_in_time() -> None:
    class Late(Net):
        def __init__(self) -> None:
            super().__init__()
            self.layer = None  # type: ignore[assignment]

        def configure_model(self) -> None:
            if self.layer is None:
                self.layer = nn.Linear(2, 1)

    assert fit(Late()).global_step == 3


def test_foreign_optimizers_are_given_the_closure() -> None:
    calls: list[bool] = []

    class Foreign(torch.optim.Optimizer):
        def __init__(self, parameters: Any) -> None:
            super().__init__(parameters, {})

        def step(self, closure: Any = None) -> Any:
            calls.append(closure is not None)
            return closure()

    fit(variant(configure_optimizers=lambda self: Foreign(self.parameters())))
    assert calls == [True, True, True]


def test_hooks_see_what_a_step_returned_detached() -> None:
    outputs: list[Any] = []

    class Watch(relight.Callback):
        def on_train_batch_end(
            self, trainer: Any, pl_module: Any, out: Any, batch: Any, batch_idx: int
        ) -> None:
            outputs.append(out)

    module = variant(
        training_step=lambda self, batch, batch_idx: {"loss": self(batch).sum(), "more": batch_idx}
    )
    Trainer(**QUIET, max_epochs=1, callbacks=[Watch()]).fit(module, loader(), accumulate_grad_batches=2)
    assert [out["more"] for out in outputs] == [0, 1, 2]
    assert not any(out["loss"].requires_grad for out in outputs)

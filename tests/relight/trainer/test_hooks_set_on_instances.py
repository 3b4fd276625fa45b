"""Hooks that are no methods of a class: set on an instance, wrapped, mocked, or switched off."""

from __future__ import annotations

import functools
from typing import Any
from unittest.mock import Mock, patch

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import Callback, Trainer
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import has_own, is_overridden

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "max_epochs": 1,
}
pytestmark = pytest.mark.filterwarnings("ignore")


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        self.log("val", self.layer(batch).sum())

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self) -> Any:
        return loader()

    def val_dataloader(self) -> Any:
        return loader()


def loader() -> DataLoader[Any]:
    return DataLoader(torch.ones(4, 2), batch_size=2)  # type: ignore[arg-type]


def noted(calls: list[str], name: str, method: Any) -> Any:
    """Wrap ``method`` as decorators do, so that its own code is still found underneath."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return method(*args, **kwargs)

    return call


@pytest.mark.parametrize("name", ["validation_step", "val_dataloader"])
def test_none_switches_a_step_or_a_loader_off(name: str) -> None:
    module = Net()
    setattr(module, name, None)
    trainer = Trainer(**QUIET)
    trainer.fit(module)
    assert trainer.global_step == 2
    assert "val" not in trainer.callback_metrics


@pytest.mark.parametrize(
    ("call", "name"), [("fit", "training_step"), ("validate", "validation_step"), ("predict", "predict_step")]
)
def test_what_an_entry_point_needs_cannot_be_switched_off(call: str, name: str) -> None:
    module = Net()
    setattr(module, name, None)
    with pytest.raises(MisconfigurationException, match=name):
        getattr(Trainer(**QUIET), call)(module, loader())


def test_wrappers_around_empty_hooks_are_called() -> None:
    calls: list[str] = []
    module, callback = Net(), Callback()
    for owner, name in (
        (module, "on_train_start"), (module, "configure_gradient_clipping"), (module, "optimizer_step"),
        (module, "prepare_data"), (module, "on_before_batch_transfer"), (module, "configure_callbacks"),
        (callback, "on_train_batch_end"), (callback, "setup"),
    ):  # fmt: skip
        setattr(owner, name, noted(calls, name, getattr(owner, name)))
    Trainer(**QUIET, callbacks=[callback]).fit(module, num_sanity_val_steps=0, limit_val_batches=0)
    batch = [
        "on_before_batch_transfer",
        "optimizer_step",
        "configure_gradient_clipping",
        "on_train_batch_end",
    ]
    assert calls == ["configure_callbacks", "prepare_data", "setup", "on_train_start", *batch, *batch]


def test_mocks_and_functions_may_stand_where_methods_do() -> None:
    module, callback, data = Net(), Callback(), relight.LightningDataModule()
    module.configure_optimizers = lambda: torch.optim.SGD(module.parameters(), lr=0.5)  # type: ignore[method-assign]
    module.on_fit_start = Mock()  # type: ignore[method-assign]
    callback.on_fit_end = Mock()  # type: ignore[method-assign]
    callback.state_dict = Mock(return_value={})  # type: ignore[method-assign]
    data.train_dataloader = data.val_dataloader = loader  # type: ignore[method-assign]
    data.setup = Mock()  # type: ignore[method-assign]
    trainer = Trainer(**QUIET, callbacks=[callback])
    trainer.fit(module, datamodule=data)
    assert trainer.optimizers[0].param_groups[0]["lr"] == 0.5
    module.on_fit_start.assert_called_once_with()
    callback.on_fit_end.assert_called_once_with(trainer, module)
    data.setup.assert_called_once_with(stage="fit")


def test_a_base_class_whose_hook_was_replaced() -> None:
    with patch.object(relight.LightningModule, "on_train_end") as hook:
        Trainer(**QUIET).fit(Net())
    assert hook.call_count == 1


def test_a_data_module_takes_over_only_what_it_brings() -> None:
    class Moves(Net):
        def on_after_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
            calls.append("module")
            return batch

    calls: list[str] = []
    data = relight.LightningDataModule()
    data.on_after_batch_transfer = noted(calls, "data", data.on_after_batch_transfer)  # type: ignore[method-assign]
    data.train_dataloader = loader  # type: ignore[method-assign]
    Trainer(**QUIET).fit(Moves(), datamodule=data)
    assert calls == ["module", "module"]


def test_questions_about_wrappers() -> None:
    module = Net()
    wrapped = noted([], "", module.on_train_start)
    module.on_train_start = wrapped  # type: ignore[method-assign]
    assert not is_overridden("on_train_start", module, relight.LightningModule)
    assert has_own("on_train_start", module, relight.LightningModule)
    assert has_own("training_step", module, relight.LightningModule)
    assert not has_own("on_train_end", module, relight.LightningModule)
    around_none = functools.partial(print)
    around_none.__wrapped__ = None  # type: ignore[attr-defined]
    module.on_train_end = around_none  # type: ignore[method-assign]
    assert not is_overridden("on_train_end", module, relight.LightningModule)
    assert not has_own("on_train_end", module, relight.LightningModule)


def test_loggers_may_be_taken_away() -> None:
    trainer = Trainer(**{**QUIET, "logger": True})
    assert len(trainer.loggers) == 1
    trainer.loggers = None
    assert trainer.loggers == []
    assert trainer.logger is None

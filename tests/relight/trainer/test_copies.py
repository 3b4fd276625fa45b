"""A Trainer, and what it hands out, can be copied and pickled after a run."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import relight
from relight.callbacks import BasePredictionWriter, ModelCheckpoint

QUIET: dict[str, Any] = {"accelerator": "cpu", "devices": 1, "logger": False, "enable_progress_bar": False}
pytestmark = pytest.mark.filterwarnings("ignore")


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> None: ...

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        return batch

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.25)


def data() -> Any:
    return torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda trainer: pickle.loads(pickle.dumps(trainer))])
def test_a_trainer_after_a_run(copied: Any) -> None:
    trainer = relight.Trainer(**QUIET, enable_checkpointing=False, max_epochs=1)
    trainer.fit(Net(), data())
    twin = copied(trainer)
    optimizer = twin._lightning_optimizers[0]
    assert optimizer is not trainer.lightning_module.optimizers()
    assert isinstance(optimizer, torch.optim.SGD)
    assert optimizer.optimizer is twin.optimizers[0]
    assert optimizer._trainer is twin
    assert optimizer.param_groups[0]["lr"] == 0.25
    twin.fit_loop.max_epochs = 2
    twin.fit(twin.lightning_module, data())
    assert (trainer.global_step, twin.global_step) == (2, 4)


def test_a_checkpoint_of_what_nobody_logged_waits_for_the_first_validation(tmp_path: Any) -> None:
    saver = ModelCheckpoint(tmp_path, monitor="unknown")
    trainer = relight.Trainer(**QUIET, callbacks=[saver], max_steps=1)
    with pytest.warns(UserWarning, match="unknown"):
        trainer.fit(Net(), data(), data())  # the check before training is no validation yet
    assert list(tmp_path.iterdir()) == []


def test_indices_are_kept_for_those_who_ask_for_an_epoch() -> None:
    class Writer(BasePredictionWriter):
        seen: list[Any] = []

        def write_on_batch_end(
            self, trainer: Any, pl_module: Any, prediction: Any, indices: Any, *_: Any
        ) -> None:
            self.seen.append(indices)

        def write_on_epoch_end(self, *args: Any) -> None: ...

    for interval, kept in (("batch", [[]]), ("batch_and_epoch", [[[0, 1], [2, 3]]])):
        Writer.seen = []
        trainer = relight.Trainer(**QUIET, callbacks=[Writer(interval)])
        trainer.predict(Net(), data())
        assert Writer.seen == [[0, 1], [2, 3]]
        assert trainer.predict_loop.epoch_batch_indices == kept


def test_one_device_by_name() -> None:
    trainer = relight.Trainer(**QUIET, strategy="single_device")
    assert (trainer.world_size, type(trainer.strategy).__name__) == (1, "SingleDeviceStrategy")
    with pytest.raises(relight.utilities.exceptions.MisconfigurationException, match="several"):
        relight.Trainer(**{**QUIET, "devices": 2}, strategy="single_device")


@pytest.mark.parametrize(("interval", "at_epoch_end"), [(1.0, True), ("00:01:00:00", False), (0.5, False)])
def test_when_epochs_save(tmp_path: Any, interval: Any, at_epoch_end: bool) -> None:
    """With validation by the clock nobody knows whether this epoch has one, so validation saves."""
    saver = ModelCheckpoint(tmp_path)
    trainer = relight.Trainer(**QUIET, callbacks=[saver], max_epochs=1)
    trainer.fit(Net(), data(), data(), val_check_interval=interval, num_sanity_val_steps=0)
    assert saver._should_save_on_train_epoch_end(trainer) is at_epoch_end
    assert len(list(tmp_path.iterdir())) == (0 if isinstance(interval, str) else 1)

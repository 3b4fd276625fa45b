"""Stopping conditions asked by the loop of a real fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import relight
from relight.callbacks import Callback, StoppingCondition, TrainAtLeast


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).mean()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.01)


class AtStep5(StoppingCondition):
    """A rule of a user's own: no hook, no Trainer argument."""

    def should_stop(self, trainer: Any) -> bool:
        return trainer.global_step == 5  # a wish that is not repeated


class NotIn(StoppingCondition):
    def __init__(self, epochs: set[int]) -> None:
        self.epochs = epochs

    def may_stop(self, trainer: Any) -> bool:
        return trainer.current_epoch not in self.epochs


class SetsFlag(Callback):
    def on_train_batch_end(self, trainer: Any, *args: Any) -> None:
        if trainer.global_step == 3:
            trainer.should_stop = True


@pytest.mark.parametrize(
    ("callbacks", "steps"),
    [
        ([], 32),
        ([AtStep5()], 5),
        ([SetsFlag()], 3),
        ([AtStep5(), SetsFlag()], 3),
        ([AtStep5(), TrainAtLeast(steps=11)], 11),
        ([AtStep5(), TrainAtLeast(epochs=2)], 16),
        ([AtStep5(), TrainAtLeast(epochs=2), TrainAtLeast(steps=20)], 20),
        ([SetsFlag(), NotIn({0, 1})], 16),
        ([AtStep5(), TrainAtLeast(epochs=99)], 32),
    ],
    ids=lambda value: "+".join(type(c).__name__ for c in value) if isinstance(value, list) else None,
)
def test_training_ends_when_one_wants_and_none_forbids(
    callbacks: list[Callback], steps: int, tmp_path: Path
) -> None:
    trainer = relight.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=4,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(Net(), torch.utils.data.DataLoader(torch.randn(8, 4)))
    assert trainer.global_step == steps

"""A run that an exception ended goes on where it was, as with Lightning 2.6, if `OnExceptionCheckpoint` saved it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import relight
from relight.callbacks import OnExceptionCheckpoint


class Net(relight.LightningModule):
    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.fails_at, self.seen = fails_at, 0

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        if batch_idx == self.fails_at:
            raise RuntimeError("on purpose")
        self.seen += 1
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.1)


def _trainer(folder: Path) -> relight.Trainer:
    return relight.Trainer(
        accelerator="cpu",
        max_epochs=1,
        logger=False,
        enable_progress_bar=False,
        callbacks=[OnExceptionCheckpoint(folder)],
    )


def test_the_next_fit_goes_on(tmp_path: Path) -> None:
    data = DataLoader(torch.ones(8, 2), batch_size=1)
    with pytest.raises(RuntimeError, match="on purpose"):
        _trainer(tmp_path).fit(Net(fails_at=5), data)
    assert (tmp_path / "on_exception.ckpt").exists()
    net, trainer = Net(), _trainer(tmp_path)
    with pytest.warns(UserWarning, match="goes on where an exception ended the last one"):
        trainer.fit(net, data)
    assert (net.seen, trainer.global_step) == (3, 8)
    assert not (tmp_path / "on_exception.ckpt").exists()
    again = Net()
    _trainer(tmp_path).fit(again, data)
    assert again.seen == 8

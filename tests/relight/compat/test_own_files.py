"""A checkpoint that this process wrote is read back whole; one from elsewhere gives data only."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import relight.compat as pl
from relight.utilities.exceptions import CheckpointLoadError

pytestmark = pytest.mark.filterwarnings("ignore")


class Net(pl.LightningModule):
    def __init__(self, activation: Any) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(2, 1)
        self.activation = activation

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.activation(self.layer(batch)).sum()

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self.log("x", 1.0)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader() -> DataLoader[Any]:
    return DataLoader(torch.rand(4, 2), batch_size=2)  # type: ignore[arg-type]


@pytest.fixture
def trained(tmp_path: Path) -> Any:
    trainer = pl.Trainer(
        default_root_dir=str(tmp_path), logger=False, max_epochs=1, enable_progress_bar=False,
        enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Net(functools.partial(torch.nn.functional.leaky_relu, negative_slope=0.2)), loader())
    return trainer


def test_the_best_model_of_this_run_is_loaded_with_all_that_was_saved(trained: Any) -> None:
    path = trained.checkpoint_callback.best_model_path
    loaded = Net.load_from_checkpoint(path)
    assert loaded.activation.keywords == {"negative_slope": 0.2}
    assert trained.test(ckpt_path="best", dataloaders=loader(), verbose=False) == [{"x": 1.0}]
    again = pl.Trainer(
        logger=False, max_epochs=2, enable_checkpointing=False, enable_progress_bar=False,
        resume_from_checkpoint=path,
    )  # fmt: skip
    again.fit(Net(torch.relu), loader())
    assert again.current_epoch == 2


@pytest.mark.parametrize("change", ["copied", "touched", "replaced"])
def test_any_other_file_gives_data_only(trained: Any, change: str) -> None:
    path = Path(trained.checkpoint_callback.best_model_path)
    if change == "copied":
        path = Path(shutil.copy(path, path.with_name("copy.ckpt")))
    elif change == "touched":
        os.utime(path, ns=(1, 1))
    else:
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    with pytest.raises(CheckpointLoadError, match=r"functools\.partial"):
        Net.load_from_checkpoint(path)
    loaded = Net.load_from_checkpoint(path, weights_only=False)
    assert loaded.activation.keywords == {"negative_slope": 0.2}

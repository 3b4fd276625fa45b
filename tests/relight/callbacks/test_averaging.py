"""Averaged weights: numbers of Lightning 2.6.6 (see averaging_scenarios.py), and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import relight
from golden_values import same
from relight.callbacks import OnExceptionCheckpoint, StochasticWeightAveraging, WeightAveraging
from relight.utilities.exceptions import MisconfigurationException

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "callbacks" / "averaging.json"


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Any:
    sys.path.insert(0, str(HERE))
    try:
        import averaging_scenarios
        import callback_scenarios
    finally:
        sys.path.remove(str(HERE))
    dialect = callback_scenarios.Dialect("relight")
    result = averaging_scenarios.run_averaging(dialect, lambda name: str(tmp_path_factory.mktemp(name)))
    return json.loads(json.dumps(result))


@pytest.mark.parametrize("name", sorted(json.loads(GOLDEN.read_text())["data"]))
def test_as_lightning(name: str, ours: Any) -> None:
    theirs = json.loads(GOLDEN.read_text())["data"][name]
    assert theirs["whole"]["weights"] == theirs["resumed"]["weights"]  # or the resume shows nothing
    assert same(ours[name], theirs)


@pytest.mark.parametrize(
    "arguments",
    [
        {"swa_lrs": 0.0},
        {"swa_lrs": 1},
        {"swa_lrs": [0.1, -0.1]},
        {"swa_lrs": 0.1, "swa_epoch_start": 0},
        {"swa_lrs": 0.1, "swa_epoch_start": 1.5},
        {"swa_lrs": 0.1, "swa_epoch_start": "2"},
        {"swa_lrs": 0.1, "avg_fn": 3},
        {"swa_lrs": 0.1, "device": 0},
    ],
)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(MisconfigurationException, match="StochasticWeightAveraging"):
        StochasticWeightAveraging(**arguments)


class Net(relight.LightningModule):
    def __init__(self, optimizers: int = 1) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.optimizer_count = optimizers
        self.automatic_optimization = optimizers == 1
        self.fails = False

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        if self.fails and batch_idx == 1:
            raise ValueError("no more")
        return self.layer(batch).sum()

    def train_dataloader(self) -> Any:
        return torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2)

    def configure_optimizers(self) -> Any:
        return [torch.optim.SGD(self.parameters(), 0.1) for _ in range(self.optimizer_count)]


def trainer(tmp_path: Path, *callbacks: Any, **arguments: Any) -> relight.Trainer:
    off = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    return relight.Trainer(
        accelerator="cpu", callbacks=list(callbacks), default_root_dir=tmp_path, **{**off, **arguments}
    )


def test_several_optimizers_are_refused(tmp_path: Path) -> None:
    fitting = trainer(tmp_path, StochasticWeightAveraging(0.1), max_epochs=2)
    with pytest.raises(MisconfigurationException, match="one optimizer"):
        fitting.fit(Net(optimizers=2))


def test_a_fraction_of_no_end_is_refused(tmp_path: Path) -> None:
    fitting = trainer(tmp_path, StochasticWeightAveraging(0.1, 0.5), max_epochs=-1, max_steps=3)
    with pytest.raises(MisconfigurationException, match="fraction"):
        fitting.fit(Net())


def test_a_file_saved_without_averaging_starts_both(tmp_path: Path) -> None:
    first = trainer(tmp_path, max_epochs=1, enable_checkpointing=True)
    first.fit(Net())
    first.save_checkpoint(tmp_path / "plain.ckpt")
    averaging = WeightAveraging()
    model = Net()
    with pytest.warns(UserWarning, match="saved without WeightAveraging"):
        trainer(tmp_path, averaging, max_epochs=2).fit(model, ckpt_path=tmp_path / "plain.ckpt")
    assert averaging._average_model is not None
    assert averaging._average_model.n_averaged == 2


def test_an_exception_leaves_a_file_that_resumes(tmp_path: Path) -> None:
    keeper = OnExceptionCheckpoint(tmp_path, "broken")
    model = Net()
    model.fails = True
    fitting = trainer(tmp_path, keeper, max_epochs=1, enable_checkpointing=None)
    with pytest.raises(ValueError, match="no more"):
        fitting.fit(model)
    assert Path(keeper.ckpt_path).name == "broken.ckpt"
    assert torch.load(keeper.ckpt_path, weights_only=True)["global_step"] == 1

    again = trainer(
        tmp_path, OnExceptionCheckpoint(tmp_path, "broken"), max_epochs=1, enable_checkpointing=None
    )
    again.fit(Net(), ckpt_path=keeper.ckpt_path)
    assert again.global_step == 2
    assert not Path(keeper.ckpt_path).exists()


def test_a_file_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="filename"):
        OnExceptionCheckpoint(tmp_path, "")

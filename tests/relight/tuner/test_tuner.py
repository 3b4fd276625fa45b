"""The Tuner and its callbacks against what Lightning 2.6.6 did, bit for bit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
import tuner_scenarios as scenarios

from golden_values import same
from relight.callbacks import BatchSizeFinder, LearningRateFinder
from relight.tuner import LRFinder, Tuner
from relight.tuner.batch_size import is_out_of_memory
from relight.utilities.exceptions import MisconfigurationException

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "tuner.json").read_text())["data"]
DIALECT = scenarios.Dialect("relight")

pytestmark = pytest.mark.filterwarnings("ignore")


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", scenarios.LR)
def test_rates_losses_and_suggestions(name: str, tmp_path: Path) -> None:
    assert same(plain(scenarios.lr_find(DIALECT, str(tmp_path), name)), GOLDEN[f"lr {name}"])
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", scenarios.SIZES)
def test_batch_sizes(name: str, tmp_path: Path) -> None:
    assert same(plain(scenarios.sizes(DIALECT, str(tmp_path), name)), GOLDEN[f"size {name}"])
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "name", ["lr_callback", "lr_at_epochs", "size_callback", "size_of_test", "attribute_places"]
)
def test_searches_in_runs(name: str, tmp_path: Path) -> None:
    assert same(plain(getattr(scenarios, name)(DIALECT, str(tmp_path))), GOLDEN[name])


def test_a_search_in_a_later_epoch_finds_something(tmp_path: Path) -> None:
    found = scenarios.lr_at_epochs(DIALECT, str(tmp_path), (2,))
    (search,) = found["found"]
    assert len(search["lr"]) == len(search["loss"]) > 2
    assert found["step"] == 60


def test_fast_dev_run_searches_nothing(tmp_path: Path) -> None:
    model = scenarios.make_model(DIALECT)
    tuner = Tuner(DIALECT.trainer(str(tmp_path), fast_dev_run=True))
    assert tuner.lr_find(model) is None
    assert tuner.scale_batch_size(model) is None
    assert model.hparams == {"lr": 0.02, "batch_size": 4, "oom_from": 0, "samples": 80}


def test_the_state_comes_back_after_an_error(tmp_path: Path) -> None:
    model = scenarios.make_model(DIALECT, oom_from=4)
    callback, _ = scenarios.told(DIALECT)
    trainer = DIALECT.trainer(str(tmp_path), max_epochs=1, callbacks=[callback])
    before, loop = scenarios.weights(model), trainer.fit_loop
    with pytest.raises(RuntimeError, match="CUDA out of memory"):
        Tuner(trainer).lr_find(model)
    assert trainer.callbacks == [callback]
    assert trainer.fit_loop is loop
    assert (trainer.max_steps, trainer.limit_val_batches) == (-1, 1.0)
    assert scenarios.weights(model) == before
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"method": "test"}, MisconfigurationException, "only 'fit'"),
        ({"dataloaders": []}, MisconfigurationException, "not `dataloaders`"),
        ({"mode": "steep"}, ValueError, "'steep'"),
        ({"attr_name": "rate"}, AttributeError, "rate"),
    ],
)
def test_bad_arguments_of_lr_find(
    arguments: dict[str, Any], error: type[Exception], says: str, tmp_path: Path
) -> None:
    trainer = DIALECT.trainer(str(tmp_path), max_epochs=1)
    with pytest.raises(error, match=says):
        Tuner(trainer).lr_find(scenarios.make_model(DIALECT), **arguments)


def test_bad_arguments_of_scale_batch_size(tmp_path: Path) -> None:
    model = scenarios.make_model(DIALECT)
    tuner = Tuner(DIALECT.trainer(str(tmp_path), max_epochs=1))
    with pytest.raises(MisconfigurationException, match="loaders that were passed"):
        tuner.scale_batch_size(model, model.train_dataloader())
    with pytest.raises(MisconfigurationException, match="'size'"):
        tuner.scale_batch_size(model, batch_arg_name="size")
    with pytest.raises(ValueError, match="'eval'"):
        tuner.scale_batch_size(model, method="eval")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="margin"):
        BatchSizeFinder(margin=1.0)


@pytest.mark.parametrize(
    ("callback", "method"), [(LearningRateFinder(), "lr_find"), (BatchSizeFinder(), "scale_batch_size")]
)
def test_not_both_tuner_and_callback(callback: Any, method: str, tmp_path: Path) -> None:
    trainer = DIALECT.trainer(str(tmp_path), callbacks=[callback])
    with pytest.raises(ValueError, match=type(callback).__name__):
        getattr(Tuner(trainer), method)(scenarios.make_model(DIALECT))


def test_what_says_that_memory_ran_out() -> None:
    assert is_out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory. Tried"))
    assert is_out_of_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you"))
    assert not is_out_of_memory(RuntimeError("shapes cannot be multiplied"))
    assert not is_out_of_memory(MemoryError("CUDA out of memory"))


def test_plot(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    finder = LRFinder("exponential", 1e-3, 1.0, 14)
    finder.results = {"lr": [1e-3 * 1.5**i for i in range(14)], "loss": [9.0 - i for i in range(14)]}
    figure = finder.plot(suggest=True)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert len(axes.lines) == 2


def test_data_modules_without_a_validation_loader_and_prediction(tmp_path: Path) -> None:
    model = scenarios.make_model(DIALECT)
    model.predict_step = lambda batch, batch_idx: model.net(batch[0])

    class Data(DIALECT.pl.LightningDataModule):  # type: ignore[misc]
        batch_size = 2

        def train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(model._data(), self.batch_size)

        predict_dataloader = train_dataloader

    data, trainer = Data(), DIALECT.trainer(str(tmp_path), max_epochs=1)
    assert Tuner(trainer).scale_batch_size(model, datamodule=data, max_trials=4) == data.batch_size == 16
    found = Tuner(trainer).scale_batch_size(model, datamodule=data, method="predict", max_trials=3)
    assert found == data.batch_size == 8
    assert len(trainer.predict(model, datamodule=data)) == 10

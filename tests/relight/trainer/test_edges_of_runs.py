"""Rare combinations that once went another way than in Lightning 2.6.6; the numbers were read off it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight.utilities.combined_loader import CombinedLoader
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

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(n: int = 6) -> Any:
    return DataLoader(torch.ones(n, 2), batch_size=2)  # type: ignore[arg-type]


def test_validation_keeps_a_name_that_training_logs_too() -> None:
    class Both(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            self.log("loss", 1.0 + batch_idx, prog_bar=True)
            return super().training_step(batch, batch_idx)

        def validation_step(self, batch: Any, batch_idx: int) -> None:
            self.log("loss", 10.0, prog_bar=True)

    trainer = relight.Trainer(**QUIET, max_epochs=2)
    trainer.fit(Both(), loader(), loader())
    assert trainer.callback_metrics["loss"] == 10.0
    assert trainer.logged_metrics["loss"] == 10.0
    assert trainer.progress_bar_metrics["loss"] == 10.0
    trainer = relight.Trainer(**QUIET, max_epochs=1)
    trainer.fit(Both(), loader(), loader(), val_check_interval=2)
    assert trainer.callback_metrics["loss"] == 3.0  # the third batch came after validation


@pytest.mark.parametrize("empty", [[], [[]], {}])
def test_no_loader_at_all_is_one_without_batches(empty: Any) -> None:
    trainer = relight.Trainer(**QUIET, max_epochs=1)
    trainer.fit(Net(), empty)
    assert trainer.num_training_batches == 0
    assert trainer.global_step == 0


def test_an_iterable_of_numbers_is_a_loader() -> None:
    combined = CombinedLoader([[1, 2], {"a": [3]}, []], "sequential")
    assert combined.flattened == [[1, 2], [3], []]
    assert [item[0] for item in combined] == [1, 2, 3]


def test_validation_over_epochs_needs_no_interval_unless_it_is_a_share() -> None:
    trainer = relight.Trainer(**QUIET, max_epochs=1)
    trainer.fit(Net(), loader(), check_val_every_n_epoch=None)
    with pytest.raises(MisconfigurationException, match="val_check_interval"):
        trainer.fit(Net(), loader(), check_val_every_n_epoch=None, val_check_interval=1.0)


@pytest.mark.parametrize("name", ["max_epochs", "max_steps"])
def test_limits_are_whole_numbers(name: str) -> None:
    given: dict[str, Any] = {name: 1e1}
    trainer = relight.Trainer(**QUIET, **given)
    assert getattr(trainer, name) == 10
    assert isinstance(getattr(trainer, name), int)
    for bad in ("3", 2.5, float("inf"), float("nan"), -2, [1]):
        given[name] = bad
        with pytest.raises(MisconfigurationException, match=name):
            relight.Trainer(**QUIET, **given)


def test_a_step_that_wants_the_iterator_is_told_so() -> None:
    class Iterates(Net):
        def training_step(self, dataloader_iter: Any) -> Any:  # type: ignore[override]
            return None

    with pytest.raises(MisconfigurationException, match="dataloader_iter"):
        relight.Trainer(**QUIET, max_epochs=1).fit(Iterates(), loader())


def test_jit_compiles_a_module_that_has_a_trainer() -> None:
    class Compiled(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    module = Compiled()
    relight.Trainer(**QUIET, max_epochs=1).fit(module, loader())
    for compiled in (torch.jit.script(module), torch.jit.trace(module, torch.ones(1))):  # type: ignore[no-untyped-call]
        assert compiled(torch.ones(1)) == 2

"""What modules say to Fabric, and data modules to those who print them."""

from __future__ import annotations

import os
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from lightning_fabric import Fabric
from torch.utils.data import DataLoader, IterableDataset

import relight


@pytest.fixture
def under_fabric() -> tuple[Fabric, relight.LightningModule]:
    fabric = Fabric(accelerator="cpu", devices=1)
    module = relight.LightningModule()
    module.layer = torch.nn.Linear(1, 1)
    fabric.setup(module)
    return fabric, module


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        ((0.5, "value"), {"clip_val": 0.5, "max_norm": None}),
        ((2, "norm"), {"clip_val": None, "max_norm": 2}),
        ((2,), {"clip_val": None, "max_norm": 2}),
    ],
)
def test_fabric_clips(under_fabric: Any, arguments: Any, limits: dict[str, Any]) -> None:
    fabric, module = under_fabric
    fabric.clip_gradients = Mock()
    optimizer = Mock()
    module.clip_gradients(optimizer, *arguments)
    fabric.clip_gradients.assert_called_once_with(module, optimizer, **limits)
    module.clip_gradients(optimizer)
    fabric.clip_gradients.assert_called_once()
    with pytest.raises(relight.utilities.exceptions.MisconfigurationException, match="not 'cut'"):
        module.clip_gradients(optimizer, 1.0, "cut")


def test_a_dict_is_logged_as_one_row(under_fabric: Any) -> None:
    fabric, module = under_fabric
    fabric.log_dict = Mock()
    module.log_dict({"a": 1, "b": 2.0})
    fabric.log_dict.assert_called_once_with({"a": 1, "b": 2.0})
    module.log_dict({"c": 1}, logger=False)
    fabric.log_dict.assert_called_once()
    assert module.logged_values() == {"a": 1, "b": 2, "c": 1}


def test_a_data_module_tells_the_sizes_of_its_data() -> None:
    class Endless(IterableDataset[Any]):
        def __iter__(self) -> Any:
            yield torch.ones(1)

    class Data(relight.LightningDataModule):
        def train_dataloader(self) -> Any:
            return DataLoader(torch.ones(6, 1), batch_size=2)  # type: ignore[arg-type]

        def val_dataloader(self) -> Any:
            return [self.train_dataloader(), DataLoader(Endless())]

        def test_dataloader(self) -> Any:
            return self.made_in_setup

    assert str(Data()).split(os.linesep) == [
        "{Train dataloader: size=6}",
        "{Validation dataloader: 1. size=6 ; 2. size=NA}",
        "{Test dataloader: None}",
        "{Predict dataloader: None}",
    ]

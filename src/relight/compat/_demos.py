"""The small models of Lightning's bug-report template: ``pytorch_lightning.demos.boring_classes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset

from relight.compat._datamodule import LightningDataModule
from relight.compat._module import LightningModule

__all__ = [
    "BoringDataModule",
    "BoringModel",
    "DemoModel",
    "ManualOptimBoringModel",
    "RandomDataset",
    "RandomDictDataset",
    "RandomIterableDataset",
]


class RandomDataset(Dataset[Tensor]):
    """``length`` normal vectors of ``size`` numbers."""

    def __init__(self, size: int, length: int) -> None:
        self.len = length
        self.data = torch.randn(length, size)

    def __getitem__(self, index: int) -> Tensor:
        return self.data[index]

    def __len__(self) -> int:
        return self.len


class RandomDictDataset(Dataset[dict[str, Tensor]]):
    """The same, as ``{"a": x, "b": x + 2}``."""

    def __init__(self, size: int, length: int) -> None:
        self.len = length
        self.data = torch.randn(length, size)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"a": self.data[index], "b": self.data[index] + 2}

    def __len__(self) -> int:
        return self.len


class RandomIterableDataset(IterableDataset[Tensor]):
    """``count`` normal vectors of ``size`` numbers, without a length."""

    def __init__(self, size: int, count: int) -> None:
        self.size = size
        self.count = count

    def __iter__(self) -> Iterator[Tensor]:
        for _ in range(self.count):
            yield torch.randn(self.size)


class BoringModel(LightningModule):
    """One linear layer from 32 numbers to 2, and every loader that a Trainer asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(32, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output."""
        out: Tensor = self.layer(x)
        return out

    def loss(self, preds: Tensor, labels: Tensor | None = None) -> Tensor:
        """Return the squared distance from ones."""
        return torch.nn.functional.mse_loss(preds, torch.ones_like(preds) if labels is None else labels)

    def step(self, batch: Any) -> Tensor:
        """Return the loss of a batch."""
        return self.loss(self(batch))

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        """Return the loss."""
        return {"loss": self.step(batch)}

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        """Return the loss as ``x``."""
        return {"x": self.step(batch)}

    def test_step(self, batch: Any, batch_idx: int) -> Any:
        """Return the loss as ``y``."""
        return {"y": self.step(batch)}

    def configure_optimizers(self) -> Any:
        """Return SGD and a schedule by epoch."""
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)]

    def train_dataloader(self) -> Any:
        """Return 64 vectors."""
        return DataLoader(RandomDataset(32, 64))

    def val_dataloader(self) -> Any:
        """Return 64 vectors."""
        return DataLoader(RandomDataset(32, 64))

    def test_dataloader(self) -> Any:
        """Return 64 vectors."""
        return DataLoader(RandomDataset(32, 64))

    def predict_dataloader(self) -> Any:
        """Return 64 vectors."""
        return DataLoader(RandomDataset(32, 64))


class ManualOptimBoringModel(BoringModel):
    """The same with manual optimization."""

    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        """Step by hand."""
        optimizer = self.optimizers()
        loss = self.step(batch)
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        return loss


class DemoModel(LightningModule):
    """One layer and Adam, for examples."""

    def __init__(self, out_dim: int = 10, learning_rate: float = 0.02) -> None:
        super().__init__()
        self.l1 = torch.nn.Linear(32, out_dim)
        self.learning_rate = learning_rate

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output, at least 0."""
        return torch.relu(self.l1(x.view(x.size(0), -1)))

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        """Return the sum of the outputs."""
        return self(batch).sum()

    def configure_optimizers(self) -> Any:
        """Return Adam."""
        return torch.optim.Adam(self.parameters(), lr=self.learning_rate)


class BoringDataModule(LightningDataModule):
    """64 vectors for each of training, validation, test and prediction."""

    def __init__(self) -> None:
        super().__init__()
        self.random_full = RandomDataset(32, 64 * 4)
        self.random_predict = Subset(self.random_full, indices=range(64 * 3, 64 * 4))

    def setup(self, stage: Any = None) -> None:
        """Cut the data."""
        if stage in ("fit", None):
            self.random_train = Subset(self.random_full, indices=range(64))
        if stage in ("fit", "validate", None):
            self.random_val = Subset(self.random_full, indices=range(64, 64 * 2))
        if stage in ("test", None):
            self.random_test = Subset(self.random_full, indices=range(64 * 2, 64 * 3))

    def train_dataloader(self) -> Any:
        """Return the training data."""
        return DataLoader(self.random_train)

    def val_dataloader(self) -> Any:
        """Return the validation data."""
        return DataLoader(self.random_val)

    def test_dataloader(self) -> Any:
        """Return the test data."""
        return DataLoader(self.random_test)

    def predict_dataloader(self) -> Any:
        """Return the data to predict."""
        return DataLoader(self.random_predict)

"""A program with a command line, on relight or, with CLI_ROOT=lightning.pytorch, on Lightning."""

from __future__ import annotations

import importlib
import os
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ROOT = os.environ.get("CLI_ROOT", "relight")
pl = importlib.import_module(ROOT)
cli = importlib.import_module(f"{ROOT}.cli")
callbacks = importlib.import_module(f"{ROOT}.callbacks")


class Encoder(nn.Module):
    def __init__(self, size: int = 2, inner: nn.Module | None = None) -> None:
        super().__init__()
        self.size, self.inner = size, inner


class Net(pl.LightningModule):
    """A net.

    Args:
        rate: Learning rate.
        encoder: Something made of a class and arguments.
        widths: A list.
        inputs: Number of inputs.
    """

    def __init__(
        self,
        rate: float = 0.1,
        encoder: nn.Module | None = None,
        widths: list[int] = [1, 2],  # noqa: B006
        inputs: int = 2,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.rate, self.encoder = rate, encoder
        self.layer = nn.Linear(inputs, 1)

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        loss = self.layer(batch[0]).square().mean()
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val_loss", self.layer(batch[0]).square().mean())

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self.log("test_loss", self.layer(batch[0]).square().mean())

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch[0])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), self.rate)


class Wide(Net):
    def __init__(self, wide: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.wide = wide


class WithCallables(Net):
    """Makes its optimizer itself, of what the command line gives.

    Args:
        optimizer: Makes it.
        scheduler: Makes the scheduler.
    """

    def __init__(
        self,
        optimizer: cli.OptimizerCallable = lambda p: torch.optim.SGD(p, lr=0.1),
        scheduler: cli.LRSchedulerCallable = torch.optim.lr_scheduler.ConstantLR,
    ) -> None:
        super().__init__()
        self.optimizer, self.scheduler = optimizer, scheduler

    def configure_optimizers(self) -> Any:
        optimizer = self.optimizer(self.parameters())
        return {"optimizer": optimizer, "lr_scheduler": self.scheduler(optimizer)}


class Data(pl.LightningDataModule):
    def __init__(self, batch_size: int = 1, samples: int = 4, width: int = 2) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.batch_size, self.samples, self.width = batch_size, samples, width

    def train_dataloader(self) -> Any:
        return DataLoader(TensorDataset(torch.ones(self.samples, self.width)), self.batch_size)

    val_dataloader = test_dataloader = predict_dataloader = train_dataloader


class CLI(cli.LightningCLI):
    def add_arguments_to_parser(self, parser: Any) -> None:
        parser.link_arguments("data.width", "model.inputs")
        parser.add_lightning_class_args(callbacks.EarlyStopping, "stop")
        parser.set_defaults({"stop.monitor": "val_loss", "stop.patience": 3})

    def before_fit(self) -> None:
        print("RESULT before_fit")

    def after_fit(self) -> None:
        print("RESULT after_fit", self.trainer.global_step)


def main() -> None:
    program = CLI(Net, Data, seed_everything_default=1)
    kinds = [type(callback).__name__ for callback in program.trainer.callbacks]
    # Progress bars and summaries differ by design.
    print("RESULT", [kind for kind in kinds if "Bar" not in kind and "Summary" not in kind])
    print("RESULT", dict(program.model.hparams))
    print("RESULT", os.path.relpath(program.trainer.log_dir))
    print("RESULT", [type(o).__name__ for o in program.trainer.optimizers])
    print("RESULT", [c.monitor for c in program.trainer.lr_scheduler_configs])
    print("RESULT", [parameter.tolist() for parameter in program.model.parameters()])


if __name__ == "__main__":
    main()

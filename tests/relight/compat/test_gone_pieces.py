"""Pieces that releases dropped and that projects still import: results of 0.9, metrics, enums, the boring model."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import relight.compat as pl

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET: dict[str, Any] = {
    "logger": False, "max_epochs": 1, "enable_checkpointing": False, "enable_progress_bar": False,
    "enable_model_summary": False, "num_sanity_val_steps": 0,
}  # fmt: skip


def loader() -> DataLoader[Any]:
    return DataLoader(torch.arange(8.0).view(4, 2), batch_size=2)  # type: ignore[arg-type]


class Returning(pl.LightningModule):
    """A module of 0.9 that returns result objects."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self.layer(batch).mean()
        result = pl.TrainResult(minimize=loss)
        result.log("train_loss", loss, prog_bar=True)
        result.log("batch_mean", batch.mean(), on_step=False, on_epoch=True)
        return result

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        from relight.compat.core.step_result import EvalResult

        result = EvalResult(checkpoint_on=batch.mean(), early_stop_on=batch.max())
        result.log_dict({"val_mean": batch.mean()})
        result.size = torch.tensor(float(len(batch)))
        return result

    def validation_epoch_end(self, outputs: Any) -> None:
        self.sizes = [float(each["size"]) for each in outputs]

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.5)


def test_result_objects_train_log_and_are_monitored() -> None:
    model = Returning()
    before = model.layer.weight.detach().clone()
    trainer = pl.Trainer(**QUIET, callbacks=[pl.callbacks.EarlyStopping(monitor="early_stop_on")])
    trainer.fit(model, loader(), loader())
    # d/dw of the mean over a batch of w x + b is the mean of x: (1, 2) and (5, 6).
    assert torch.allclose(model.layer.weight - before, -0.5 * torch.tensor([[6.0, 8.0]]))
    metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert {"train_loss", "batch_mean", "val_mean", "checkpoint_on", "early_stop_on"} <= set(metrics)
    assert metrics["batch_mean"] == metrics["val_mean"] == metrics["checkpoint_on"] == 3.5
    assert metrics["early_stop_on"] == 5.0  # the mean of 3 and 7
    assert model.sizes == [2.0, 2.0]


@pytest.mark.parametrize(
    ("preds", "target", "value"),
    [
        ([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1]], [0, 1, 2], 2 / 3),  # multi-class
        ([0.9, 0.2, 0.8, 0.6], [1, 0, 0, 1], 3 / 4),  # binary
        ([[0.9, 0.2], [0.8, 0.6]], [[1, 0], [0, 1]], 3 / 4),  # multi-label
        ([1, 0, 1, 1], [1, 0, 0, 1], 3 / 4),  # labels
    ],
)
def test_a_metric_finds_out_its_task(preds: Any, target: Any, value: float) -> None:
    pytest.importorskip("torchmetrics")
    from relight.compat.metrics import Accuracy

    metric = Accuracy()
    assert float(metric(torch.tensor(preds), torch.tensor(target))) == pytest.approx(value)
    assert float(metric.compute()) == pytest.approx(value)
    metric.reset()
    metric.update(torch.tensor(preds), torch.tensor(target))
    metric.update(torch.tensor(preds), torch.tensor(target))
    assert float(metric.compute()) == pytest.approx(value)


def test_metrics_with_classes_and_in_a_module() -> None:
    pytest.importorskip("torchmetrics")
    from relight.compat.metrics import ConfusionMatrix, Precision
    from relight.compat.metrics.classification import F1

    table = ConfusionMatrix(num_classes=3)
    table.update(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2]))
    assert table.compute().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert float(
        Precision(num_classes=3, average="macro")(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2]))
    ) == (pytest.approx(0.5))
    assert float(F1(num_classes=3)(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2]))) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="num_classes"):
        F1()(torch.tensor([0, 2]), torch.tensor([0, 1]))


def test_enums_of_1_x_compare_with_strings() -> None:
    from relight.compat.utilities import AMPType, DistributedType

    assert AMPType.NATIVE == "native"
    assert AMPType.NATIVE == "NATIVE"
    assert DistributedType.DDP == "ddp"
    assert DistributedType.DDP != "dp"
    assert AMPType.from_str("apex") is AMPType.APEX


def test_the_boring_model_trains_tests_and_predicts() -> None:
    from relight.compat.demos.boring_classes import BoringDataModule, BoringModel, ManualOptimBoringModel

    trainer = pl.Trainer(**QUIET, limit_train_batches=2, limit_val_batches=1)
    trainer.fit(BoringModel())
    assert trainer.global_step == 2
    assert trainer.test(BoringModel(), datamodule=BoringDataModule(), verbose=False) == [{}]
    pl.Trainer(**QUIET, limit_train_batches=1).fit(ManualOptimBoringModel())
    assert len(pl.Trainer(**QUIET).predict(BoringModel(), datamodule=BoringDataModule())) == 64


def test_loaders_in_use_are_lists() -> None:
    from relight.compat.demos.boring_classes import BoringModel

    trainer = pl.Trainer(**QUIET, limit_train_batches=1)
    val = loader()

    class Looks(BoringModel):
        def validation_step(self, batch: Any, batch_idx: int) -> None:
            assert self.trainer.val_dataloaders == [val]

    model = Looks()
    assert trainer.val_dataloaders is None
    model.layer = torch.nn.Linear(2, 2)
    trainer.fit(model, loader(), val)
    assert trainer.val_dataloaders[0].dataset is val.dataset


def test_install_refuses_once_the_real_package_is_imported(tmp_path: Path) -> None:
    package = tmp_path / "pytorch_lightning"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '1.9.5'\n")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import pytorch_lightning
        import relight.compat
        try:
            relight.compat.install()
        except RuntimeError as error:
            print(error)
    """)
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith(f"`pytorch_lightning` is imported already (from {package}")
    assert "before the first import" in done.stdout


def test_the_loader_in_use_has_what_was_given_as_loaders() -> None:
    class Looks(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            assert self.trainer.train_dataloader.loaders is given
            assert self.trainer.train_dataloader.batch_size == 2
            assert len(self.trainer.train_dataloader) == 2
            return self.layer(batch).sum()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    given = loader()
    trainer = pl.Trainer(**QUIET)
    trainer.fit(Looks(), given)
    assert trainer.global_step == 2


@pytest.mark.parametrize(
    "base", ["ModelCheckpoint", "EarlyStopping", "LearningRateMonitor", "TQDMProgressBar", "ProgressBarBase"]
)
def test_super_finds_the_hooks_that_left_on_callbacks_of_ours_too(base: str) -> None:
    parent: Any = getattr(pl.callbacks, base)
    calls: list[str] = []

    class Own(parent):  # type: ignore[misc]
        def on_epoch_start(self, trainer: Any, pl_module: Any) -> None:
            super().on_epoch_start(trainer, pl_module)
            calls.append("start")

    callback = Own("x") if base == "EarlyStopping" else Own()
    callback.on_epoch_start(None, None)
    assert calls == ["start"]


def test_switches_tell_what_is_here() -> None:
    from relight.compat.utilities import imports

    assert imports._TORCH_GREATER_EQUAL_1_12 is True
    assert imports._TORCH_GREATER_EQUAL_99_0 is False
    assert imports._PYTHON_GREATER_EQUAL_3_8_0 is True
    pytest.importorskip("torchmetrics")
    assert imports._TORCHMETRICS_GREATER_EQUAL_0_11 is True

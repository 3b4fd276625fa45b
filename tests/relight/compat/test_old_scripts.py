"""What scripts in the style of old tutorials do beyond the golden scenarios; values as 1.9.5 gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight.compat as pl

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Net(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        nn.init.ones_(self.layer.weight)
        self.example_input_array = torch.ones(1, 2)

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self(batch).mean()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val", self(batch).mean())

    def predict_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
        return len(batch)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(n: int = 6) -> Any:
    return DataLoader(torch.ones(n, 2), batch_size=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrapped", ["dictionary", "step_end", "instance"])
def test_a_step_with_an_adapter_keeps_its_signature(wrapped: str) -> None:
    seen: list[Any] = []

    class Two(Net):
        def training_step(self, batch: Any, batch_idx: int, optimizer_idx: int) -> Any:  # type: ignore[override]
            seen.append(optimizer_idx)
            loss = self(batch).mean()
            return {"loss": loss, "log": {"a": loss}} if wrapped == "dictionary" else loss

        def configure_optimizers(self) -> Any:
            return [torch.optim.SGD(self.parameters(), lr=0.1) for _ in range(2)], []

    module = Two()
    if wrapped == "step_end":
        Two.training_step_end = lambda self, output: output
    if wrapped == "instance":
        module.training_step = module.training_step  # type: ignore[method-assign]
        Two.training_step_end = lambda self, output: output
    trainer = pl.Trainer(max_epochs=1, enable_checkpointing=False, **QUIET)
    trainer.fit(module, loader(4))
    assert seen == [0, 1, 0, 1]
    assert ("a" in trainer.callback_metrics) == (wrapped == "dictionary")


def test_testing_a_checkpoint_leaves_callbacks_as_they_are(tmp_path: Path) -> None:
    saver = pl.callbacks.ModelCheckpoint(dirpath=tmp_path, monitor="val", mode="max")
    stop = pl.callbacks.EarlyStopping("val", mode="max", patience=1)
    trainer = pl.Trainer(max_epochs=9, callbacks=[saver, stop], **QUIET)
    trainer.fit(Net(), loader(), loader())
    assert stop.stopped_epoch == 1
    trainer.validate(ckpt_path="best", dataloaders=loader(), verbose=False)
    assert stop.stopped_epoch == 1


def test_bars_know_the_batches_and_the_running_loss() -> None:
    seen: list[Any] = []

    class Bar(pl.callbacks.ProgressBarBase):
        def enable(self) -> None:
            pass

        def disable(self) -> None:
            pass

        def on_train_batch_end(self, trainer: Any, pl_module: Any, *rest: Any) -> None:
            super().on_train_batch_end(trainer, pl_module, *rest)
            seen.append((self.train_batch_idx, self.get_metrics(trainer, pl_module)["loss"]))

        def on_validation_batch_end(self, *args: Any) -> None:
            super().on_validation_batch_end(*args)
            seen.append((self.val_batch_idx, self.total_batches_current_epoch))

    class Shown(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return 0 * super().training_step(batch, batch_idx) + batch_idx + 1

        def get_progress_bar_dict(self) -> dict[str, Any]:
            return {**super().get_progress_bar_dict(), "mine": 1}

    bar = Bar()
    trainer = pl.Trainer(
        max_epochs=1, callbacks=[bar], logger=False, checkpoint_callback=False, num_sanity_val_steps=0
    )
    trainer.fit(Shown(), loader(), loader(2))
    assert seen == [(1, "1"), (2, "1.5"), (3, "2"), (1, 4)]
    assert bar.get_metrics(trainer, trainer.lightning_module)["mine"] == 1
    plain = pl.Trainer(progress_bar_refresh_rate=7, logger=False).progress_bar_callback
    assert isinstance(plain, pl.callbacks.TQDMProgressBar)
    assert plain.refresh_rate == 7


def test_writers_get_a_list_for_each_loader() -> None:
    got: list[Any] = []

    class Writer(pl.callbacks.BasePredictionWriter):
        def write_on_epoch_end(
            self, trainer: Any, pl_module: Any, predictions: Any, batch_indices: Any
        ) -> None:
            got.extend([predictions, batch_indices])

    pl.Trainer(callbacks=[Writer(write_interval="epoch")], **QUIET).predict(Net(), loader(3))
    assert got == [[[2, 1]], [[[0, 1], [2]]]]


def test_a_data_module_sees_checkpoints_and_a_model_is_built_late(tmp_path: Path) -> None:
    class Data(pl.LightningDataModule):
        kept = 0

        def train_dataloader(self) -> Any:
            return loader()

        def on_save_checkpoint(self, checkpoint: Any) -> None:
            checkpoint["mine"] = 5

        def on_load_checkpoint(self, checkpoint: Any) -> None:
            self.kept = checkpoint["mine"]

    class Late(Net):
        def __init__(self) -> None:
            super().__init__()
            self.late: Any = None

        def configure_sharded_model(self) -> None:
            if self.late is None:
                self.late = nn.Linear(1, 1)

        def on_save_checkpoint(self, checkpoint: Any) -> None:
            checkpoint["module"] = 1

    trainer = pl.Trainer(max_epochs=1, **QUIET)
    trainer.fit(Late(), datamodule=Data())
    trainer.save_checkpoint(tmp_path / "x.ckpt")
    saved = torch.load(tmp_path / "x.ckpt")
    assert (saved["mine"], saved["module"]) == (5, 1)
    assert "late.weight" in saved["state_dict"]
    data, module = Data(), Late()
    pl.Trainer(max_epochs=2, resume_from_checkpoint=tmp_path / "x.ckpt", **QUIET).fit(module, datamodule=data)
    assert data.kept == 5
    assert module.late is not None
    assert not {"on_load_checkpoint", "configure_model"} & set(vars(module))


def test_a_module_compiles_with_jit(tmp_path: Path) -> None:
    module = Net()
    pl.Trainer(fast_dev_run=True, enable_progress_bar=False).fit(module, loader())
    for method in ("script", "trace"):
        script = module.to_torchscript(tmp_path / method, method=method)
        assert torch.equal(script(torch.ones(3, 2)), module(torch.ones(3, 2)))
        assert (tmp_path / method).is_file()
    assert module.training
    assert module.trainer is not None
    with pytest.raises(ValueError, match="method"):
        module.to_torchscript(method="magic")

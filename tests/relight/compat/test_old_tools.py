"""Tools that projects import from Lightning's ``utilities`` and ``core``."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight.compat as pl

pytestmark = pytest.mark.filterwarnings("ignore")


def old(path: str) -> Any:
    module, _, name = f"relight.compat.{path}".rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Net(pl.LightningModule):
    def __init__(self, width: int = 2, **rest: Any) -> None:
        self.given = old("utilities.parsing.get_init_args")(inspect.currentframe())
        super().__init__()
        self.backbone = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.head(self.backbone(batch)).mean()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.head.parameters(), lr=0.1)


def test_overrides_and_parameters() -> None:
    is_overridden = old("utilities.model_helpers.is_overridden")
    assert is_overridden("training_step", Net())
    assert not is_overridden("validation_step", Net())
    assert not is_overridden("validation_epoch_end", Net())
    assert not is_overridden("on_train_start", pl.Callback())
    assert is_overridden("state_dict", pl.callbacks.Timer("00:00:00:01"), parent=pl.Callback)
    with pytest.raises(ValueError, match="nope"):
        is_overridden("nope", Net())
    takes = old("utilities.signature_utils.is_param_in_hook_signature")
    assert takes(Net().training_step, "batch_idx")
    assert not takes(Net().training_step, "dataloader_iter", explicit=True)
    assert old("utilities.memory.is_oom_error")(RuntimeError("CUDA out of memory. Tried to"))
    assert Net(3, extra=1).given == {"width": 3, "extra": 1}


def test_hyperparameters_go_through_files(tmp_path: Path) -> None:
    wanted = {"lr": 0.1, "name": "x", "sizes": [1, 2]}
    for kind, suffix in (("yaml", "yaml"), ("tags_csv", "csv")):
        file = tmp_path / f"hparams.{suffix}"
        old(f"core.saving.save_hparams_to_{kind}")(file, wanted)
        assert old(f"core.saving.load_hparams_from_{kind}")(file) == wanted
        assert old(f"core.saving.load_hparams_from_{kind}")(tmp_path / "none") == {}


def test_a_summary_has_the_old_names() -> None:
    summary = old("core.memory.ModelSummary")(Net(), mode="top")
    assert summary.layer_names == ["backbone", "head"]
    assert summary.param_nums == [6, 3]
    assert summary.total_parameters == summary.trainable_parameters == 9
    assert "backbone" in str(summary)
    assert str(old("utilities.model_summary.summarize")(Net(), max_depth=1)) == str(summary)


def test_registries_register() -> None:
    registry = old("utilities.cli.MODEL_REGISTRY")
    assert registry(Net) is Net
    assert registry["Net"] is Net
    assert old("utilities.cli.MODEL_REGISTRY") is registry
    assert old("utilities.cli.CALLBACK_REGISTRY") is not registry


def test_the_test_tube_logger_writes_events(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    logger = old("loggers.TestTubeLogger")(str(tmp_path), name="run", version=3, debug=False)
    assert isinstance(logger, pl.loggers.TensorBoardLogger)
    logger.experiment.add_scalar("x", 1.0, 1)
    logger.save()
    assert list((tmp_path / "run" / "version_3").glob("events*"))


def test_finetuning_with_the_index_of_an_optimizer() -> None:
    seen: list[Any] = []

    class Old(pl.callbacks.BaseFinetuning):
        def freeze_before_training(self, pl_module: Any) -> None:
            self.freeze(pl_module.backbone)

        def finetune_function(self, pl_module: Any, epoch: int, optimizer: Any, opt_idx: int) -> None:
            seen.append((epoch, opt_idx, len(optimizer.param_groups)))
            if epoch == 1:
                self.unfreeze_and_add_param_group(pl_module.backbone, optimizer, 0.1)

    class Backbone(pl.callbacks.BackboneFinetuning):
        def finetune_function(self, pl_module: Any, epoch: int, optimizer: Any, opt_idx: int) -> None:
            super().finetune_function(pl_module, epoch, optimizer, opt_idx)

    callbacks = [Old(), Backbone(unfreeze_backbone_at_epoch=9)]
    trainer = pl.Trainer(
        max_epochs=3,
        callbacks=callbacks,
        logger=False,
        progress_bar_refresh_rate=0,
        checkpoint_callback=False,
    )
    trainer.fit(Net(), DataLoader(torch.ones(4, 2)))
    assert seen == [(0, 0, 1), (1, 0, 1), (2, 0, 2)]


def test_attributes_of_a_trainer_lead_where_the_catalogue_says() -> None:
    trainer = pl.Trainer(logger=False, progress_bar_refresh_rate=0, checkpoint_callback=False, max_epochs=3)
    assert trainer.max_nb_epochs == 3
    assert trainer.root_device == torch.device("cpu")
    assert not trainer.accelerator_connector.is_distributed
    with pytest.warns(pl.LegacyWarning, match=r"limit_val_batches"):
        assert trainer.val_percent_check == 1.0
    with pytest.raises(AttributeError, match=r"TRU490 .*delete the use"):
        trainer.run_training_epoch
    with pytest.warns(pl.LegacyWarning, match=r"TRU413 .*Tuner"):
        assert trainer.tuner.trainer is trainer
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        trainer.nope
    assert not hasattr(trainer, "_nope")

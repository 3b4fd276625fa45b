"""Where old releases differ, compat does as 1.9 did, or as the one that was chosen.

The numbers of 1.5 are those that 1.5.10 gave for the same script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import relight.compat as pl
from relight.compat._positions import positions
from relight.compat._release import release

pytestmark = pytest.mark.filterwarnings("ignore")


class Net(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen: list[tuple[Any, ...]] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        self.seen.append(("step", self.trainer.global_step))
        return self.layer(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.seen.append(("val", self.trainer.global_step))

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.seen.append(("batch end", self.trainer.global_step))

    def training_epoch_end(self, outputs: Any) -> None:
        self.seen.append(("epoch end", self.trainer.global_step, self.current_epoch))

    def on_train_end(self) -> None:
        self.seen.append(("end", self.trainer.global_step, self.current_epoch))

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader() -> DataLoader[Any]:
    return DataLoader(torch.rand(4, 2), batch_size=2)  # type: ignore[arg-type]


def fit(directory: Path, **arguments: Any) -> tuple[Any, Net]:
    trainer = pl.Trainer(
        default_root_dir=str(directory),
        logger=False,
        max_epochs=2,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        **arguments,
    )
    model = Net()
    trainer.fit(model, loader(), loader())
    return trainer, model


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*.ckpt"))


def test_up_to_1_5_a_step_counts_when_its_batch_is_over_and_the_epoch_stays(tmp_path: Path) -> None:
    every = pl.callbacks.ModelCheckpoint(dirpath=tmp_path / "steps", save_top_k=-1, every_n_train_steps=3)
    with pl.emulate("1.5"):
        assert pl.__version__ == "1.5.10"
        trainer, model = fit(tmp_path, callbacks=[pl.callbacks.ModelCheckpoint(save_top_k=-1), every])
    assert model.seen == [
        ("step", 0), ("batch end", 0), ("step", 1), ("batch end", 1), ("val", 1), ("val", 1), ("epoch end", 2, 0),
        ("step", 2), ("batch end", 2), ("step", 3), ("batch end", 3), ("val", 3), ("val", 3), ("epoch end", 4, 1),
        ("end", 4, 1),
    ]  # fmt: skip
    assert (trainer.global_step, trainer.current_epoch) == (4, 1)
    assert names(tmp_path) == ["epoch=0-step=1.ckpt", "epoch=1-step=2.ckpt", "epoch=1-step=3.ckpt"]
    saved = torch.load(tmp_path / "steps" / "epoch=1-step=2.ckpt", weights_only=True)
    assert saved["global_step"] == 3  # files hold the core's numbers: any release resumes from them


def test_from_1_6_a_step_counts_at_once_and_the_epoch_ends(tmp_path: Path) -> None:
    assert pl.__version__ == "1.9.5"
    trainer, model = fit(tmp_path, callbacks=[pl.callbacks.ModelCheckpoint(save_top_k=-1)])
    assert model.seen[:3] == [("step", 0), ("batch end", 1), ("step", 1)]
    assert model.seen[-1] == ("end", 4, 2)
    assert (trainer.global_step, trainer.current_epoch) == (4, 2)
    assert names(tmp_path) == ["epoch=0-step=2.ckpt", "epoch=1-step=4.ckpt"]


def test_a_trainer_keeps_the_release_it_was_made_under(tmp_path: Path) -> None:
    with pl.emulate("1.5"):
        trainer = pl.Trainer(logger=False, max_epochs=1)
    assert trainer._compat_release.release[:2] == (1, 5)
    assert release().release[:2] == (1, 9)


@pytest.mark.parametrize(
    ("version", "accumulated"), [("1.4", [2.0, 2.0]), ("1.5", [1.0, 1.0]), ("1.9", [1.0, 1.0])]
)
def test_losses_of_an_epoch_are_divided_by_the_accumulation_from_1_5(
    tmp_path: Path, version: str, accumulated: list[float]
) -> None:
    given: list[float] = []

    class Constant(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return self.layer(batch).sum() * 0 + 2.0

        def training_epoch_end(self, outputs: Any) -> None:
            given.extend(float(each["loss"]) for each in outputs)

    with pl.emulate(version):
        trainer = pl.Trainer(
            logger=False, max_epochs=1, accumulate_grad_batches=2, enable_checkpointing=False, num_sanity_val_steps=0
        )  # fmt: skip
    trainer.fit(Constant(), loader())
    assert given == accumulated


def test_positional_arguments_have_the_order_of_the_release() -> None:
    with pl.emulate("0.9"):
        trainer = pl.Trainer(False, False, False, [pl.callbacks.LearningRateMonitor()], "/somewhere")
    assert trainer.default_root_dir == "/somewhere"
    assert trainer._compat_given["early_stop_callback"] is False
    with pl.emulate("1.5"):  # checkpoint_callback, enable_checkpointing, callbacks
        assert positions(release()).index("callbacks") == 3
    assert positions(release())[:4] == ("logger", "enable_checkpointing", "callbacks", "default_root_dir")


def test_up_to_1_7_several_loggers_were_one(tmp_path: Path) -> None:
    loggers = [pl.loggers.CSVLogger(tmp_path, name="a"), pl.loggers.CSVLogger(tmp_path, name="b")]
    with pl.emulate("1.7"):
        trainer = pl.Trainer(logger=loggers)
    assert isinstance(trainer.logger, pl.loggers.LoggerCollection)
    assert [each.name for each in trainer.logger] == ["a", "b"]
    assert trainer.logger is trainer.logger
    assert pl.Trainer(logger=loggers).logger is loggers[0]


def test_up_to_1_4_a_number_in_quotes_was_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    from relight.compat._arguments import with_device_number

    assert with_device_number({"gpus": "1"}) == {"gpus": [1]}
    assert with_device_number({"gpus": "0,1"}) == {"gpus": "0,1"}


def test_weights_save_path_has_the_folders_of_the_logger_below_it(tmp_path: Path) -> None:
    logger = pl.loggers.CSVLogger(tmp_path / "logs", name="net", version=3)
    trainer = pl.Trainer(
        logger=logger, weights_save_path=str(tmp_path / "weights"), max_epochs=1, num_sanity_val_steps=0,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Net(), loader())
    where = tmp_path / "weights" / "net" / "version_3" / "checkpoints"
    assert [path.name for path in where.iterdir()] == ["epoch=0-step=2.ckpt"]
    assert not list((tmp_path / "logs").rglob("*.ckpt"))


@pytest.mark.parametrize("version", ["2.0", "0.5", "new"])
def test_only_releases_that_compat_knows_can_be_chosen(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"from 0\.7 to 1\.9"):
        pl.emulate(version)
    monkeypatch.setenv("RELIGHT_COMPAT_VERSION", version)
    with pytest.raises(ValueError, match="RELIGHT_COMPAT_VERSION"):
        pl.Trainer()

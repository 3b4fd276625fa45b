"""What compat's Trainer takes, shows and says."""

from __future__ import annotations

import inspect
import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import relight.compat as pl
from relight.compat import _arguments, _notices
from relight.utilities.exceptions import MisconfigurationException


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    _notices.forget()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


QUIET: dict[str, Any] = {
    "logger": False,
    "enable_progress_bar": False,
    "enable_checkpointing": False,
    "enable_model_summary": False,
    "max_epochs": 1,
}


def loader(length: int = 8, batch_size: int = 4) -> DataLoader[Any]:
    x = torch.arange(length * 2, dtype=torch.float32).reshape(length, 2)
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=batch_size)


class Model(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.001)


def legacy(caught: list[warnings.WarningMessage]) -> list[warnings.WarningMessage]:
    return [each for each in caught if each.category is pl.LegacyWarning]


# Arguments


def test_every_argument_of_every_release_is_known() -> None:
    """The fact table of Trainer arguments, copied for the catalogue, is what compat takes."""
    table = Path(__file__).parents[2] / "data" / "facts" / "trainer_args.tsv"
    if not table.exists():
        pytest.skip("the fact table is not in this tree")
    lines = table.read_text().splitlines()
    names = {line.split("\t")[0] for line in lines[1:]} - {"kwargs"}
    assert names <= set(_arguments.ARGUMENTS)
    assert set(_arguments.ARGUMENTS) - names == {"options"}


def test_the_signature_shows_the_arguments_of_1_9_in_their_order() -> None:
    parameters = list(inspect.signature(pl.Trainer.__init__).parameters)
    assert parameters[:4] == ["self", "logger", "enable_checkpointing", "callbacks"]
    assert "gpus" in parameters
    assert inspect.signature(pl.Trainer).parameters["max_steps"].default == -1


def test_positional_arguments_are_those_of_1_9() -> None:
    stop = pl.callbacks.Timer(duration={"hours": 1})
    with pytest.warns(pl.LegacyWarning):
        trainer = pl.Trainer(False, False, [stop], None, 0.5, "value", enable_progress_bar=False)
    assert trainer.loggers == []
    assert stop in trainer.callbacks
    trainer.fit(Model(), loader())
    assert (trainer.gradient_clip_val, str(trainer.gradient_clip_algorithm.value)) == (0.5, "value")


def test_an_argument_that_no_release_took_is_refused() -> None:
    with pytest.raises(TypeError, match="gpuss"):
        pl.Trainer(gpuss=1)
    with pytest.raises(TypeError, match="several values"):
        pl.Trainer(False, logger=False)


def test_combinations_that_the_old_release_refused_raise_its_error() -> None:
    with pytest.raises(MisconfigurationException):
        pl.Trainer(amp_level="O2", amp_backend="native")


def test_a_level_that_a_script_older_than_1_5_repeated_had_no_effect() -> None:
    # `enable_pl_optimizer` left in 1.3, when "O2" was amp_level's default and meant nothing without apex.
    with pytest.warns(pl.LegacyWarning, match="TRU113.*no effect"):
        trainer = pl.Trainer(amp_level="O2", enable_pl_optimizer=True, **QUIET)
    assert trainer.precision == "32-true"
    with pytest.raises(MisconfigurationException):
        pl.Trainer(amp_level="O2", profiler="simple", **QUIET)


def test_each_argument_warns_at_the_line_that_builds_the_trainer() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            pl.Trainer(gpus=0, checkpoint_callback=False, logger=False, progress_bar_refresh_rate=0)
    found = legacy(caught)
    assert {str(each.message).split()[0] for each in found} == {"TRU101", "TRU117", "TRU119"}
    assert len(found) == 3  # once a place
    assert {each.filename for each in found} == {__file__}
    assert all("(or run trainer-upgrade)" in str(each.message) for each in found)


def test_mode_error_makes_a_use_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIGHT_COMPAT", "error")
    with pytest.raises(pl.LegacyWarning, match="TRU101"):
        pl.Trainer(gpus=0)


def test_environment_variables_give_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PL_TRAINER_MAX_EPOCHS", "3")
    monkeypatch.setenv("RELIGHT_COMPAT", "ignore")
    assert pl.Trainer(**{key: value for key, value in QUIET.items() if key != "max_epochs"}).max_epochs == 3
    assert pl.Trainer(**QUIET).max_epochs == 1


def test_terminate_on_nan_looks_at_the_loss_and_not_at_autograd() -> None:
    class Nan(Model):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return super().training_step(batch, batch_idx) * float("nan")

    with pytest.warns(pl.LegacyWarning):
        trainer = pl.Trainer(**QUIET, terminate_on_nan=True)
    with pytest.raises(ValueError, match="terminate_on_nan"):
        trainer.fit(Nan(), loader())
    assert not trainer.detect_anomaly


# Attributes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpus", None),
        ("num_gpus", 0),
        ("root_gpu", None),
        ("num_processes", 1),
        ("on_gpu", False),
        ("use_ddp", False),
        ("running_sanity_check", False),
        ("data_parallel_device_ids", None),
        ("tpu_cores", None),
        ("amp_level", None),
        ("resume_from_checkpoint", None),
        ("progress_bar_refresh_rate", 1),
    ],
)
def test_attributes_that_left_warn_and_give_a_value(name: str, expected: Any) -> None:
    trainer = pl.Trainer(**QUIET)
    with pytest.warns(pl.LegacyWarning, match="TRU4") as caught:
        assert getattr(trainer, name) == expected
    assert any(each.filename == __file__ for each in caught)


def test_attributes_of_a_run() -> None:
    trainer, model = pl.Trainer(**QUIET), Model()
    trainer.fit(model, loader())
    expected: dict[str, Any] = {
        "train_loop": trainer.fit_loop,
        "training_type_plugin": trainer.strategy,
        "lr_schedulers": [],
        "weights_save_path": trainer.default_root_dir,
        "progress_bar_dict": {},
    }
    with pytest.warns(pl.LegacyWarning):
        found = {name: getattr(trainer, name) for name in expected}
    assert found == expected
    with pytest.warns(pl.LegacyWarning, match="get_model"):
        assert trainer.get_model() is model


def test_an_attribute_that_left_can_be_assigned() -> None:
    trainer = pl.Trainer(**QUIET)
    with pytest.warns(pl.LegacyWarning):
        trainer.gpus = 4
    with pytest.warns(pl.LegacyWarning):
        assert trainer.gpus == 4


def test_entry_points_take_their_old_names() -> None:
    class Evaluated(Model):
        def validation_step(self, batch: Any, batch_idx: int) -> None:
            self.log("v", 1.0)

        def test_step(self, batch: Any, batch_idx: int) -> None:
            self.log("t", 2.0)

    trainer, model = pl.Trainer(**QUIET), Evaluated()
    with pytest.warns(pl.LegacyWarning, match="train_dataloader"):
        trainer.fit(model, train_dataloader=loader(), val_dataloaders=loader())
    with pytest.warns(pl.LegacyWarning, match="TRU5"):
        assert trainer.test(model, test_dataloaders=loader(), verbose=False) == [{"t": 2.0}]
    with pytest.warns(pl.LegacyWarning, match="TRU5"):
        assert trainer.validate(model, val_dataloaders=loader(), verbose=False) == [{"v": 1.0}]
    with pytest.raises(MisconfigurationException), pytest.warns(pl.LegacyWarning):
        trainer.fit(model, loader(), train_dataloader=loader())


# Hooks


def test_outputs_are_kept_only_for_a_hook_that_takes_them() -> None:
    trainer, model = pl.Trainer(**QUIET), Model()
    trainer.fit(model, loader())
    assert trainer._compat_outputs.entries == []


def test_the_warning_of_an_epoch_end_hook_says_how_much_was_kept() -> None:
    class Keeps(Model):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return {"loss": super().training_step(batch, batch_idx), "large": torch.zeros(2**18)}

        def training_epoch_end(self, outputs: Any) -> None:
            assert len(outputs) == 2

    with pytest.warns(pl.LegacyWarning, match=r"training_epoch_end.* 2\.0 MB") as caught:
        pl.Trainer(**QUIET).fit(Keeps(), loader())
    (warning,) = [each for each in caught if "2.0 MB" in str(each.message)]
    assert warning.filename == __file__
    assert warning.lineno == Keeps.training_epoch_end.__code__.co_firstlineno


def test_training_epoch_end_must_return_none() -> None:
    class Returns(Model):
        def training_epoch_end(self, outputs: Any) -> Any:
            return 3

    with pytest.raises(MisconfigurationException, match="None"), pytest.warns(pl.LegacyWarning):
        pl.Trainer(**QUIET).fit(Returns(), loader())


def test_hooks_that_are_set_on_the_instance_are_called() -> None:
    model, seen = Model(), []
    model.training_epoch_end = lambda outputs: seen.append(len(outputs))
    model.on_train_epoch_end = lambda: seen.append("end")
    with pytest.warns(pl.LegacyWarning, match="training_epoch_end"):
        pl.Trainer(**QUIET).fit(model, loader())
    assert seen == [2, "end"]


def test_adapters_are_gone_after_a_run_also_after_an_error() -> None:
    class Old(Model):
        def optimizer_step(
            self, epoch: int, batch_idx: int, optimizer: Any, optimizer_idx: int, closure: Any
        ) -> None:
            assert "optimizer_step" in self.__dict__
            raise RuntimeError("stop")

    model = Old()
    with pytest.raises(RuntimeError, match="stop"), pytest.warns(pl.LegacyWarning):
        pl.Trainer(**QUIET).fit(model, loader())
    assert "optimizer_step" not in model.__dict__


def test_an_error_in_a_hook_is_never_taken_for_a_signature() -> None:
    calls = []

    class Old(pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
            calls.append(batch_idx)
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"), pytest.warns(pl.LegacyWarning):
        pl.Trainer(**QUIET, callbacks=[Old()]).fit(Model(), loader())
    assert calls == [0]


def test_super_calls_of_any_age_arrive() -> None:
    class Old(pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
            super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx, dataloader_idx)

        def on_epoch_end(self, trainer, pl_module):
            super().on_epoch_end(trainer, pl_module)

    class OldModel(Model):
        def on_train_batch_start(self, batch, batch_idx, dataloader_idx):
            return super().on_train_batch_start(batch, batch_idx, dataloader_idx)

        def configure_gradient_clipping(
            self, optimizer, optimizer_idx, gradient_clip_val=None, gradient_clip_algorithm=None
        ):
            super().configure_gradient_clipping(
                optimizer, optimizer_idx, gradient_clip_val, gradient_clip_algorithm
            )

        def training_epoch_end(self, outputs):
            super().training_epoch_end(outputs)

    with pytest.warns(pl.LegacyWarning):
        trainer = pl.Trainer(**QUIET, callbacks=[Old()], gradient_clip_val=0.5)
    with pytest.warns(pl.LegacyWarning):
        trainer.fit(OldModel(), loader())
    assert trainer.global_step == 2


def test_on_train_epoch_end_of_1_4_gets_the_outputs() -> None:
    seen = []

    class Old(pl.Callback):
        def on_train_epoch_end(self, trainer, pl_module, outputs):
            seen.append([sorted(entry) for entry in outputs])

    with pytest.warns(pl.LegacyWarning, match="on_train_epoch_end"):
        pl.Trainer(**QUIET, callbacks=[Old()]).fit(Model(), loader())
    assert seen == [[["loss"], ["loss"]]]


# Forms of 0.x


def test_dictionaries_of_0_9_are_logged_and_can_be_monitored() -> None:
    class Old(Model):
        def training_step(self, batch, batch_idx):
            loss = super().training_step(batch, batch_idx)
            return {"loss": loss, "log": {"train_loss": loss}, "progress_bar": {"shown": loss * 2}}

        def validation_step(self, batch, batch_idx):
            return {"val_loss": torch.tensor(float(batch_idx))}

        def validation_epoch_end(self, outputs):
            mean = torch.stack([out["val_loss"] for out in outputs]).mean()
            return {"val_loss": mean, "log": {"logged": mean + 1}, "progress_bar": {"bar": mean + 2}}

    trainer = pl.Trainer(**QUIET)
    with pytest.warns(pl.LegacyWarning):
        trainer.fit(Old(), loader(), loader())
    metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert {name: metrics[name] for name in ("val_loss", "logged", "bar")} == {
        "val_loss": 0.5,
        "logged": 1.5,
        "bar": 2.5,
    }
    assert metrics["shown"] == pytest.approx(2 * metrics["train_loss"])
    assert "train_loss" not in trainer.progress_bar_metrics
    assert {"shown", "bar"} <= set(trainer.progress_bar_metrics)


def test_what_an_epoch_end_hook_returns_means_nothing_where_it_logs() -> None:
    class Mixed(Model):
        def validation_step(self, batch, batch_idx):
            return torch.tensor(1.0)

        def validation_epoch_end(self, outputs):
            self.log("val_loss", torch.tensor(3.0))
            return {"val_loss": torch.tensor(7.0), "other": 1.0}

    trainer = pl.Trainer(**QUIET)
    with pytest.warns(pl.LegacyWarning):
        trainer.fit(Mixed(), loader(), loader())
    assert float(trainer.callback_metrics["val_loss"]) == 3.0
    assert "other" not in trainer.callback_metrics


def test_hparams_can_be_assigned() -> None:
    from argparse import Namespace

    class Old(Model):
        def __init__(self, hparams: Any) -> None:
            super().__init__()
            self.hparams = hparams

    with pytest.warns(pl.LegacyWarning, match="hparams"):
        model = Old(Namespace(lr=0.5))
    assert model.hparams.lr == 0.5
    trainer = pl.Trainer(**QUIET)
    trainer.fit(model, loader())
    trainer.save_checkpoint("a.ckpt")
    again = Old.load_from_checkpoint("a.ckpt")
    assert again.hparams.lr == 0.5


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_after_an_interrupt_the_script_goes_on() -> None:
    seen = []

    class Interrupted(Model):
        def training_step(self, batch, batch_idx):
            raise KeyboardInterrupt

    class Old(pl.Callback):
        def on_keyboard_interrupt(self, trainer, pl_module):
            seen.append("interrupt")

    before = signal.getsignal(signal.SIGINT)
    try:
        trainer = pl.Trainer(**QUIET, callbacks=[Old()])
        trainer.fit(Interrupted(), loader())
        assert trainer.interrupted
        assert seen == ["interrupt"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


# Constructors


def test_model_checkpoint_takes_the_arguments_of_old_releases(tmp_path: Path) -> None:
    with pytest.warns(pl.LegacyWarning, match="TRU6"):
        checkpoint = pl.callbacks.ModelCheckpoint(
            filepath=str(tmp_path / "best-{epoch}"), period=2, mode="auto", monitor="val_acc"
        )
    assert (checkpoint.dirpath, checkpoint.filename, checkpoint.mode) == (
        str(tmp_path),
        "best-{epoch}",
        "max",
    )
    assert checkpoint.period == 2


def test_early_stopping_takes_no_monitor_and_auto() -> None:
    with pytest.warns(pl.LegacyWarning):
        stop = pl.callbacks.EarlyStopping("val_acc", 0.1, 5, False, "auto")
    assert (stop.monitor, stop.min_delta, stop.patience, stop.mode) == ("val_acc", 0.1, 5, "max")
    with pytest.warns(pl.LegacyWarning):
        assert pl.callbacks.EarlyStopping().monitor == "early_stop_on"


def test_datamodule_takes_transforms_and_dims() -> None:
    with pytest.warns(pl.LegacyWarning):
        module = pl.LightningDataModule(train_transforms=str, dims=(1, 28, 28))
    assert module.train_transforms is str
    assert module.val_transforms is None
    with pytest.warns(pl.LegacyWarning):
        assert (module.size(), module.size(1)) == ((1, 28, 28), 28)


def test_spawned_processes_look_for_unused_parameters_as_they_did() -> None:
    strategy = pl.Trainer(num_processes=2, **QUIET).strategy
    assert strategy._start_method == "spawn"
    assert strategy._ddp_kwargs == {"find_unused_parameters": True}

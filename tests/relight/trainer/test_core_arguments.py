"""What the Trainer takes, what it refuses and how it says so; what importing it costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import Options, Trainer
from relight.utilities.exceptions import MisconfigurationException

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.seen: list[int] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        self.seen.append(batch_idx)
        return self(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        self.log("val", self(batch).sum())

    test_step = validation_step

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(n: int = 6) -> DataLoader[Any]:
    return DataLoader(torch.ones(n, 2), batch_size=2)  # type: ignore[arg-type]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_at_most_sixteen_keyword_only_parameters() -> None:
    parameters = list(inspect.signature(Trainer.__init__).parameters.values())[1:]
    assert [p.name for p in parameters] == [
        "accelerator", "strategy", "devices", "num_nodes", "precision", "plugins", "callbacks", "logger",
        "profiler", "default_root_dir", "enable_checkpointing", "enable_progress_bar", "max_epochs",
        "max_steps", "fast_dev_run", "options",
    ]  # fmt: skip
    assert len(parameters) <= 16
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters)


def test_options_are_arguments_of_the_entry_points() -> None:
    fit = set(inspect.signature(Trainer.fit).parameters)
    only_elsewhere = {"limit_test_batches", "limit_predict_batches"}
    assert set(Options.names()) - only_elsewhere <= fit
    for name in ("validate", "test", "predict"):
        assert {"limit_batches", "inference_mode"} <= set(
            inspect.signature(getattr(Trainer, name)).parameters
        )


def test_import_is_light() -> None:
    code = "import relight, sys; relight.LightningModule; print('lightning_fabric' in sys.modules)"
    assert run(code).strip() == "False"


def test_a_fit_needs_neither_compat_nor_the_catalogue() -> None:
    code = """
import sys, torch, relight
class Net(relight.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
trainer = relight.Trainer(
    accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, max_epochs=1
)
trainer.fit(Net(), torch.utils.data.DataLoader(torch.ones(4, 2)))
print(sorted(name for name in sys.modules if name.startswith(("relight.compat", "trainer_upgrade"))))
"""
    assert run(code).strip() == "[]"


def test_without_torch_the_extra_is_named() -> None:
    code = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else find(name, *rest)
try:
    import relight
except ImportError as error:
    print(error)
"""
    assert "relight[train]" in run(code)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gpus": 1}, ["`gpus` left in 2.0", "accelerator", "devices", "TRU101", "trainer-upgrade"]),
        ({"resume_from_checkpoint": "x"}, ["ckpt_path", "TRU116"]),
        ({"min_epochs": 2}, ["TrainAtLeast", "TRU132"]),
        ({"limit_train_batches": 2}, ["trainer.fit(..., limit_train_batches=...)", "TRU163"]),
        ({"max_epoch": 2}, ["did you mean `max_epochs`"]),
        ({"zzz": 2}, ["`zzz` is not known"]),
    ],
)
def test_unknown_arguments_are_explained(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        Trainer(**arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("entry_point", "arguments", "words"),
    [
        ("fit", {"train_dataloader": 1}, ["`train_dataloader`: say `train_dataloaders` (TRU501)"]),
        ("fit", {"max_epochs": 1}, ["`max_epochs` is an argument of `Trainer(...)`"]),
        ("fit", {"limit_batches": 1}, ["`limit_batches` is not known; did you mean `limit_val_batches`?"]),
        ("fit", {"gpus": 1, "zzz": 2}, ["`gpus`", "TRU101", "`zzz` is not known"]),
        ("validate", {"limit_val_batches": 3}, ["`limit_val_batches`: say `limit_batches` here"]),
        ("validate", {"val_dataloaders": 3}, ["`val_dataloaders`: say `dataloaders` (TRU502)"]),
        ("test", {"gradient_clip_val": 3}, ["`gradient_clip_val` is an argument of `trainer.fit(...)`"]),
        ("predict", {"datalaoders": 3}, ["did you mean `dataloaders`?"]),
    ],
)
def test_unknown_arguments_of_entry_points_are_explained(
    entry_point: str, arguments: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(Trainer(**QUIET), entry_point)(Net(), **arguments)
    for word in [f"trainer.{entry_point}()", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("max_epochs", "an argument of `Trainer(...)` itself"),
        ("limit_batches", "such as `limit_test_batches`"),
        ("track_grad_norm", "TRU127"),
        ("gradient_clip", "gradient_clip_val"),
        ("val_check_intervall", "did you mean `val_check_interval`?"),
    ],
)
def test_unknown_options_are_explained(name: str, words: str) -> None:
    with pytest.raises(TypeError, match="Unknown options") as caught:
        Trainer(**QUIET, options={name: 1})
    assert words in str(caught.value)


def test_signatures_stay_visible() -> None:
    assert "val_check_interval" in inspect.signature(Trainer.fit).parameters
    assert "limit_batches" in inspect.signature(Trainer.predict).parameters


def test_positional_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="keyword arguments only"):
        Trainer("cpu")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"max_epochs": -2}, MisconfigurationException),
        ({"max_steps": -2}, MisconfigurationException),
        ({"fast_dev_run": -1}, MisconfigurationException),
        ({"options": {"limit_train_batches": -1}}, MisconfigurationException),
        ({"options": {"limit_train_batches": 1.5}}, MisconfigurationException),
        ({"options": {"limit_train_batches": "all"}}, MisconfigurationException),
        ({"options": {"check_val_every_n_epoch": 1.5}}, MisconfigurationException),
        (
            {"options": {"check_val_every_n_epoch": None, "val_check_interval": 0.5}},
            MisconfigurationException,
        ),
        ({"options": {"gradient_clip_algorithm": "squeeze"}}, MisconfigurationException),
        ({"options": {"gradient_clip_val": "1"}}, TypeError),
        ({"options": {"val_check_interval": "1:2"}}, MisconfigurationException),
        ({"options": {"reload_dataloaders_every_n_epochs": -1}}, MisconfigurationException),
        ({"options": {"nonsense": 1}}, TypeError),
        ({"options": 3}, TypeError),
        ({"profiler": "nonsense"}, MisconfigurationException),
        ({"callbacks": "nonsense"}, ValueError),
        ({"enable_checkpointing": False, "callbacks": "model_checkpoint"}, MisconfigurationException),
        ({"enable_progress_bar": False, "callbacks": "progress_bar"}, MisconfigurationException),
    ],
)
def test_values_that_make_no_sense_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Trainer(**{**QUIET, "enable_checkpointing": None, "enable_progress_bar": None, **arguments})


def test_an_entry_point_goes_before_the_options_and_does_not_stick() -> None:
    trainer = Trainer(**QUIET, max_epochs=1, options={"limit_train_batches": 2})
    first, second = Net(), Net()
    trainer.fit(first, loader(), limit_train_batches=1)
    assert first.seen == [0]
    trainer.fit_loop.max_epochs = 2
    trainer.fit(second, loader())
    assert second.seen == [0, 1]


def test_limits_of_the_other_entry_points() -> None:
    trainer = Trainer(**QUIET, options=Options(limit_test_batches=1))
    trainer.test(Net(), loader(), verbose=False)
    assert trainer.num_test_batches == [1]
    trainer.test(Net(), loader(), verbose=False, limit_batches=2)
    assert trainer.num_test_batches == [2]
    trainer.validate(Net(), loader(), verbose=False)
    assert trainer.num_val_batches == [3]
    assert len(trainer.predict(Net(), loader(), limit_batches=2)) == 2


def test_names_of_callbacks_and_order() -> None:
    trainer = Trainer(
        **{**QUIET, "enable_checkpointing": True},
        callbacks=["early_stopping", relight.callbacks.ModelCheckpoint(), "learning_rate_monitor"],
    )
    names = [type(callback).__name__ for callback in trainer.callbacks]
    assert names == ["EarlyStopping", "LearningRateMonitor", "ModelCheckpoint"]


def test_callbacks_of_the_module_take_the_place_of_the_trainers() -> None:
    class WithCallbacks(Net):
        def configure_callbacks(self) -> Any:
            return [relight.callbacks.EarlyStopping("val", patience=7)]

    trainer = Trainer(**QUIET, max_epochs=1, callbacks=[relight.callbacks.EarlyStopping("val", patience=1)])
    trainer.fit(WithCallbacks(), loader(), loader())
    assert [callback.patience for callback in trainer.early_stopping_callbacks] == [7]


def test_two_callbacks_need_two_state_keys() -> None:
    with pytest.raises(RuntimeError, match="state key"):
        Trainer(
            **QUIET, callbacks=[relight.callbacks.EarlyStopping("a"), relight.callbacks.EarlyStopping("a")]
        )


def test_tools_of_the_trainer(tmp_path: Any) -> None:
    trainer = Trainer(**QUIET, default_root_dir=tmp_path)
    assert trainer.default_root_dir == str(tmp_path)
    assert trainer.log_dir == str(tmp_path)
    assert (trainer.world_size, trainer.global_rank, trainer.num_devices, trainer.num_nodes) == (1, 0, 1, 1)
    assert trainer.precision == "32-true"
    assert trainer.is_global_zero
    with pytest.raises(AttributeError, match="nothing to save"):
        trainer.save_checkpoint(tmp_path / "x.ckpt")

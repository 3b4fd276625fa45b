"""Files of old releases load, resume and are upgraded, and none of their code runs."""

from __future__ import annotations

import argparse
import collections
import enum
import functools
import importlib.util
import json
import os
import pathlib
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

import relight
from golden_values import same
from relight import checkpoint
from relight.callbacks import EarlyStopping, ModelCheckpoint
from relight.old_checkpoints import migrations, upgrade
from relight.utilities.exceptions import CheckpointLoadError

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "old_checkpoints"
RECORDED = ["1.5.10", "1.9.5"]
pytestmark = pytest.mark.filterwarnings("ignore")

_spec = importlib.util.spec_from_file_location("old_net", GOLDEN / "old_net.py")
assert _spec is not None
assert _spec.loader is not None
old_net = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(old_net)
Net = old_net.make(relight)


def fit(net: Any, path: Any, *callbacks: Any, epochs: int = 4) -> relight.Trainer:
    trainer = relight.Trainer(
        accelerator="cpu", devices=1, max_epochs=epochs, logger=False, enable_progress_bar=False,
        enable_checkpointing=any(isinstance(c, ModelCheckpoint) for c in callbacks), callbacks=list(callbacks),
    )  # fmt: skip
    trainer.fit(net, old_net.loader(), ckpt_path=path)
    return trainer


@pytest.mark.parametrize("release", RECORDED)
def test_a_file_of_a_real_release_goes_on_as_there(release: str, tmp_path: Path) -> None:
    path, expected = GOLDEN / f"{release}.ckpt", json.loads((GOLDEN / f"{release}.json").read_text())
    net = Net.load_from_checkpoint(path)
    assert net.hparams == {"width": 3, "rate": 0.05, "folder": Path("data")}
    stopping = EarlyStopping("loss", patience=9)
    trainer = fit(net, path, stopping, ModelCheckpoint(tmp_path))
    assert same(net.losses, expected["losses"][12:])
    assert same({name: value.tolist() for name, value in net.state_dict().items()}, expected["weights"])
    assert trainer.optimizers[0].param_groups[0]["lr"] == expected["rate"]
    assert trainer.global_step == expected["step"] == 24
    assert trainer.current_epoch == 4
    assert stopping.best_score < 1


@pytest.mark.parametrize("release", RECORDED)
def test_a_real_file_upgraded_loads_everywhere(release: str, tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    path.write_bytes((GOLDEN / f"{release}.ckpt").read_bytes())
    assert upgrade.upgrade_file(path) == release
    loaded = torch.load(path, weights_only=True)
    assert loaded["pytorch-lightning_version"] == "2.6.6"
    assert loaded[migrations.LEGACY_KEY] == release
    assert loaded["hyper_parameters"]["folder"] == "data"
    assert path.with_name("old.ckpt.bak").read_bytes() == (GOLDEN / f"{release}.ckpt").read_bytes()
    before = path.read_bytes()
    assert upgrade.upgrade_file(path) is None  # a second time there is nothing to do
    assert path.read_bytes() == before
    expected = json.loads((GOLDEN / f"{release}.json").read_text())
    net = Net.load_from_checkpoint(path)
    fit(net, path)
    assert same(net.losses, expected["losses"][12:])


# Releases that no longer run: their files as the table of facts describes them


@pytest.fixture
def legacy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes classes at old import paths, and one that takes them away again."""
    made: list[str] = []

    def at(path: str, base: Any = object, **attributes: Any) -> Any:
        module, _, name = path.rpartition(".")
        parts = module.split(".")
        for i in range(1, len(parts) + 1):
            parent = ".".join(parts[:i])
            if parent not in sys.modules:
                sys.modules[parent] = types.ModuleType(parent)
                made.append(parent)
        cls = attributes.pop("value", None) or type(name, (base,), {"__module__": module, **attributes})
        setattr(sys.modules[module], name, cls)
        return cls

    def forget() -> None:
        while made:
            sys.modules.pop(made.pop(), None)

    yield at, forget
    forget()


def content(version: str | None, **more: Any) -> dict[str, Any]:
    """Return what the first releases saved after two epochs."""
    torch.manual_seed(0)
    net = Net({"width": 3, "rate": 0.05})
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for _ in range(2):
        for batch in old_net.loader():
            optimizer.zero_grad()
            net.net(batch).pow(2).mean().backward()
            optimizer.step()
        scheduler.step()
    saved = {
        "epoch": 2, "global_step": 12, "state_dict": net.state_dict(), "optimizer_states": [optimizer.state_dict()],
        "lr_schedulers": [scheduler.state_dict()], **more,
    }  # fmt: skip
    if version is not None:
        saved["pytorch-lightning_version"] = version
    return saved


def unbroken() -> list[float]:
    torch.manual_seed(0)
    net = Net({"width": 3, "rate": 0.05})
    fit(net, None)
    return net.losses[12:]  # type: ignore[no-any-return]


HPARAMS: dict[str, Any] = {"hparams_name": "hparams", "hyper_parameters": {"width": 3, "rate": 0.05}}
OLD: dict[str, dict[str, Any]] = {
    "0.7.6": {"hparams": {"width": 3, "rate": 0.05}, "checkpoint_callback_best": 0.5, "early_stop_callback_wait": 3,
              "early_stop_callback_patience": 7},
    "0.8.5": {**HPARAMS, "checkpoint_callback_best_model_score": 0.5, "checkpoint_callback_best_model_path": "a.ckpt"},
    "0.9.0": {**HPARAMS, "early_stop_callback_wait": 3, "early_stop_callback_patience": 7},
    **dict.fromkeys(("1.0.8", "1.1.8", "1.2.10", "1.3.8", "1.4.9", "1.5.0"), HPARAMS),
}  # fmt: skip


@pytest.mark.parametrize("version", [None, *OLD])
def test_files_since_0_7_go_on_in_the_third_epoch(version: str | None, tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    torch.save(content(version, **OLD.get(str(version), HPARAMS)), path)
    net = Net.load_from_checkpoint(path)
    assert net.hparams.width == 3
    epochs: list[int] = []

    class Epochs(relight.Callback):
        def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
            epochs.append(trainer.current_epoch)

    stopping = EarlyStopping("loss", patience=4)
    trainer = fit(net, path, Epochs(), stopping)
    assert epochs == [2, 3]
    assert net.losses == unbroken()
    assert (trainer.global_step, trainer.current_epoch) == (24, 4)
    if "early_stop_callback_wait" in OLD.get(str(version), {}):
        assert stopping.patience == 7


def test_classes_of_old_releases_are_read_as_data(legacy: Any, tmp_path: Path) -> None:
    at, forget = legacy
    namespace = argparse.Namespace(
        width=3, rate=0.05, gpus=at("pytorch_lightning.utilities.argparse._gpus_arg_default")
    )
    namespace.folder = pathlib.PurePosixPath("a/b")
    namespace.mode = at(
        "pytorch_lightning.utilities.enums.DeviceType",
        value=enum.Enum("DeviceType", {"CPU": "cpu"}, module="pytorch_lightning.utilities.enums"),
    ).CPU
    saved = content(
        "1.1.8",
        hparams_name="hparams",
        hyper_parameters=namespace,
        datamodule_hyper_parameters=at("pytorch_lightning.utilities.parsing.AttributeDict", dict)(size=3),
        callbacks={
            at("pytorch_lightning.callbacks.early_stopping.EarlyStopping"): {"wait_count": 2, "patience": 8},
            at("pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint"): {
                "best_model_score": torch.tensor(0.5)
            },
            at("someones_project.Callback"): {"seen": 3},
        },
    )
    path = tmp_path / "old.ckpt"
    torch.save(saved, path)
    torch.save(saved, tmp_path / "older.ckpt", _use_new_zipfile_serialization=False)  # before torch 1.6
    forget()
    for file in (path, tmp_path / "older.ckpt"):
        loaded = checkpoint.load(file)
        assert loaded["hyper_parameters"] == {
            "width": 3, "rate": 0.05, "gpus": None, "folder": pathlib.Path("a/b"), "mode": "cpu",
        }  # fmt: skip
        assert loaded["datamodule_hyper_parameters"] == {"size": 3}
        assert set(loaded["callbacks"]) == {"EarlyStopping", "ModelCheckpoint", "Callback"}
        with open(file, "rb") as opened:
            assert checkpoint.load(opened)["callbacks"] == loaded["callbacks"]
    stopping = EarlyStopping("loss")
    fit(Net.load_from_checkpoint(path), path, stopping, epochs=2)
    assert (stopping.wait_count, stopping.patience) == (2, 8)


def test_omegaconf_is_read_with_and_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    omegaconf = pytest.importorskip("omegaconf")
    config = omegaconf.OmegaConf.create(
        {"width": 3, "inner": {"rates": [0.1, 0.05], "last": "${inner.rates.1}"}}
    )
    path = tmp_path / "old.ckpt"
    torch.save(content("1.4.9", hyper_parameters=config), path)
    assert checkpoint.load(path)["hyper_parameters"] == config
    monkeypatch.setitem(sys.modules, "omegaconf", None)
    plain = checkpoint.load(path)["hyper_parameters"]
    assert plain == {"width": 3, "inner": {"rates": [0.1, 0.05], "last": "${inner.rates.1}"}}


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> Any:
        return pathlib.Path.touch, (pathlib.PosixPath(self.path),)


def test_what_needs_trust_is_named_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    for extra, name in (
        (functools.partial(int, "3"), r"functools\.partial"),
        (collections.Counter, "Counter"),
        (Trap(tmp_path / "trap"), "touch|getattr"),
        ({"nested": [torch.nn.Linear(1, 1)]}, "Linear"),
    ):
        torch.save(content("1.4.9", extra=extra, hyper_parameters=argparse.Namespace(width=3)), path)
        if name == "Counter":
            continue  # torch itself vouches for it
        with pytest.raises(CheckpointLoadError, match=rf"(?s)({name}).*weights_only=False"):
            checkpoint.load(path)
        assert not (tmp_path / "trap").exists()
    assert checkpoint.load(path, weights_only=False)["extra"]["nested"][0].in_features == 1


def test_bare_weights_are_a_checkpoint_with_nothing_else(tmp_path: Path) -> None:
    net = Net({"width": 3, "rate": 0.05})
    torch.save(net.state_dict(), tmp_path / "weights.pt")
    loaded = Net.load_from_checkpoint(tmp_path / "weights.pt", hparams={"width": 3, "rate": 0.1})
    assert torch.equal(loaded.net[0].weight, net.net[0].weight)
    with pytest.raises(KeyError, match="no state of optimizers"):
        fit(net, tmp_path / "weights.pt")


def test_renamed_loops_and_keys() -> None:
    four = {"ready": 4, "completed": 4, "started": 4, "processed": 4}
    old = {
        "pytorch-lightning_version": "1.6.3", "epoch": 1, "global_step": 4, "state_dict": {},
        "native_amp_scaling_state": {"scale": 8.0}, "amp_scaling_state": {},
        "callbacks": {"ModelCheckpoint{'monitor': 'x', 'save_on_train_epoch_end': True}": {"a": 1}},
        "loops": {
            "fit_loop": {
                "epoch_loop.batch_loop.state_dict": {"hiddens": 1},
                "epoch_loop.batch_loop.optimizer_loop.optim_progress": {
                    "optimizer_position": 1, "optimizer": {"step": {"total": {"ready": 4, "completed": 4}}},
                },
                "epoch_loop.batch_loop.manual_loop.optim_step_progress": {"total": {"ready": 0, "completed": 0}},
                "epoch_loop.val_loop.dataloader_progress": {},
                "epoch_loop.val_loop.epoch_loop.batch_progress": {"total": four},
            },
            "validate_loop": {"dataloader_progress": {}, "epoch_loop.batch_progress": {"total": four}},
        },
    }  # fmt: skip
    new = migrations.migrate(old, "2.6.6")
    fit_loop = new["loops"]["fit_loop"]
    assert fit_loop == {
        "epoch_loop.state_dict": {"_batches_that_stepped": 4},
        "epoch_loop.automatic_optimization.optim_progress": {
            "optimizer": {"step": {"total": {"ready": 4, "completed": 4}}}
        },
        "epoch_loop.manual_optimization.optim_step_progress": {"total": {"ready": 4, "completed": 4}},
        "epoch_loop.val_loop.batch_progress": {"total": four},
    }
    assert new["loops"]["validate_loop"] == {"batch_progress": {"total": four}}
    assert new["callbacks"] == {"ModelCheckpoint{'monitor': 'x'}": {"a": 1}}
    assert new["MixedPrecision"] == {"scale": 8.0}
    assert not {"amp_scaling_state", "native_amp_scaling_state"} & set(new)


def test_the_command_goes_on_after_a_broken_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep").mkdir()
    for name, release in (("a.ckpt", "1.5.10"), ("deep/c.ckpt", "1.9.5")):
        (tmp_path / name).write_bytes((GOLDEN / f"{release}.ckpt").read_bytes())
    (tmp_path / "b.ckpt").write_bytes(b"no checkpoint")
    torch.save({"state_dict": {}, "pytorch-lightning_version": "2.1.0"}, tmp_path / "d.ckpt")
    assert upgrade.main(["upgrade", str(tmp_path)]) == 1
    output = capsys.readouterr()
    assert "a.ckpt: from 1.5.10" in output.out
    assert "c.ckpt: from 1.9.5" in output.out
    assert "2 upgraded, 1 up to date, 1 failed" in output.out
    assert "b.ckpt" in output.err
    assert (tmp_path / "b.ckpt").read_bytes() == b"no checkpoint"
    names = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert names == [
        "a.ckpt",
        "a.ckpt.bak",
        "b.ckpt",
        "d.ckpt",
        os.path.join("deep", "c.ckpt"),
        os.path.join("deep", "c.ckpt.bak"),
    ]
    (tmp_path / "b.ckpt").unlink()
    assert upgrade.main(["upgrade", str(tmp_path)]) == 0
    assert upgrade.main(["upgrade", str(tmp_path / "none.ckpt")]) == 1

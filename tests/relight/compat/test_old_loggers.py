"""Loggers of tracking services with the arguments that they took in 1.x."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import relight.compat as pl
from relight import loggers
from relight.compat import _notices
from relight.loggers import comet as core_comet
from relight.loggers import neptune as core_neptune
from relight.loggers import wandb as core_wandb

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def as_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are read before a service is asked for anything."""
    for module in (core_comet, core_neptune, core_wandb):
        monkeypatch.setattr(module, "require", lambda *args, **kwargs: None)
    monkeypatch.delenv("COMET_API_KEY", raising=False)
    _notices.forget()


@pytest.mark.parametrize(
    "path", ["loggers", "loggers.wandb", "loggers.comet", "loggers.mlflow", "loggers.neptune"]
)
def test_they_are_served_at_their_old_paths(path: str) -> None:
    with pl.install():
        module = importlib.import_module(f"pytorch_lightning.{path}")
    names = {
        "wandb": "WandbLogger",
        "comet": "CometLogger",
        "mlflow": "MLFlowLogger",
        "neptune": "NeptuneLogger",
    }
    for short, name in names.items():
        if path in ("loggers", f"loggers.{short}"):
            assert issubclass(getattr(module, name), getattr(loggers, name))


def test_wandb_in_the_order_of_1_5() -> None:
    logger = pl.loggers.WandbLogger("n", "d", False, "i", None, None, "p")
    assert (logger.name, logger.version, logger.save_dir) == ("p", "i", "d")
    assert logger._init["name"] == "n"


def test_wandb_in_the_order_of_1_9() -> None:
    logger = pl.loggers.WandbLogger("n", "d", "v", True, None, None, None, "p")
    assert (logger.name, logger.version, logger._init["mode"]) == ("p", "v", "offline")
    with pytest.raises(TypeError, match="'version' twice"):
        pl.loggers.WandbLogger("n", "d", "v", version="w")


def test_wandb_drops_what_has_no_effect() -> None:
    with pytest.warns(pl.LegacyWarning, match=r"^TRU624 .*sync_step"):
        logger = pl.loggers.WandbLogger(sync_step=False, tags=["t"])
    assert logger._init["tags"] == ["t"]
    assert "sync_step" not in logger._init


@pytest.mark.parametrize(
    ("arguments", "online"),
    [
        ({"save_dir": "d"}, False),
        ({"save_dir": "d", "api_key": "k"}, True),
        ({"save_dir": "d", "api_key": "k", "offline": True}, False),
        ({"project_name": "p", "api_key": "k"}, True),
        ({"api_key": "k"}, None),
    ],
)
def test_comet_is_offline_as_it_was(arguments: dict[str, Any], online: bool | None) -> None:
    with (
        pytest.warns(pl.LegacyWarning, match="^TRU623")
        if online is not None
        else pytest.MonkeyPatch.context()
    ):
        logger = pl.loggers.CometLogger(**arguments)
    assert logger._start["online"] is online
    assert logger.save_dir == arguments.get("save_dir")


def test_comet_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(pl.LegacyWarning, match="rest_api_key"):
        logger = pl.loggers.CometLogger("key", None, "p", "rest", "n", "e" * 32, False, "x", log_code=False)
    assert logger._start == {
        "api_key": "key", "workspace": None, "project": "p", "experiment_key": "e" * 32, "mode": None, "online": True,
    }  # fmt: skip
    assert logger._config == {"name": "n", "log_code": False}
    sent: list[Any] = []
    monkeypatch.setattr(
        core_comet.CometLogger, "log_metrics", lambda self, metrics, step: sent.append(metrics)
    )
    logger.log_metrics({"a": 1, "epoch": 2}, 3)
    assert sent == [{"x-a": 1, "epoch": 2}]


def test_neptune_of_1_4() -> None:
    cls = pl.loggers.NeptuneLogger
    with pytest.warns(pl.LegacyWarning, match="^TRU637") as told:
        logger = cls("key", "w/p", offline_mode=True, experiment_name="n", close_after_fit=False, tags=["t"])
    assert logger._arguments == {
        "api_token": "key", "project": "w/p", "mode": "offline", "name": "n", "tags": ["t"],
    }  # fmt: skip
    items = [str(w.message).partition("NeptuneLogger(")[2].partition("=")[0] for w in told]
    assert items == ["close_after_fit", "offline_mode", "project_name", "experiment_name"]


def test_neptune_of_1_4_writes_params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("neptune")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(pl.LegacyWarning, match="log_hyperparams"):
        logger = pl.loggers.NeptuneLogger(
            "key", "a/b", mode="debug", params={"lr": 0.1}, source_files=[], capture_stdout=False,
            capture_stderr=False, capture_hardware_metrics=False,
        )  # fmt: skip
    assert logger.experiment["training/hyperparams/lr"].fetch() == 0.1
    logger.experiment.stop()

"""Loggers of tracking services, with the real packages in their offline or file modes."""

from __future__ import annotations

import json
import pickle
import re
import struct
import sys
import time
import zipfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import relight
from relight import loggers
from relight.callbacks import ModelCheckpoint
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_only

PACKAGES = {
    "WandbLogger": "wandb",
    "MLFlowLogger": "mlflow",
    "CometLogger": "comet_ml",
    "NeptuneLogger": "neptune",
}


class Net(relight.LightningModule):
    def __init__(self, lr: float = 0.1, layer: Any = nn.ReLU, nested: Any = None) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        loss = self.layer(batch[0]).square().mean()
        self.log("loss", loss)
        self.log("index", float(self.global_step))
        return loss

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), self.hparams.lr)


def fit(logger: Any, directory: Path, epochs: int = 2, save_top_k: int = 1) -> ModelCheckpoint:
    """Three steps an epoch, each logged; the last checkpoint is the best."""
    checkpoint = ModelCheckpoint(
        directory / "checkpoints", monitor="index", mode="max", save_top_k=save_top_k, save_last=True
    )
    trainer = relight.Trainer(
        accelerator="cpu", max_epochs=epochs, logger=logger, callbacks=[checkpoint, "model_summary"],
        default_root_dir=directory, enable_progress_bar=False,
    )  # fmt: skip
    module = Net(nested={"a": [{"b": 1}]})
    trainer.fit(module, DataLoader(TensorDataset(torch.ones(3, 2))), log_every_n_steps=1)
    return checkpoint


# Weights & Biases


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DISABLE_GIT", "true")
    for variable, name in (("CONFIG", "config"), ("CACHE", "cache"), ("DATA", "data")):
        monkeypatch.setenv(f"WANDB_{variable}_DIR", str(tmp_path / name))
    yield module
    module.finish()


def wandb_records(directory: Path) -> list[tuple[str, Any]]:
    """What a run wrote; its service may be a moment behind ``finish()``."""
    (file,) = directory.glob("wandb/offline-run-*/run-*.wandb")
    for _ in range(600):
        records = list(wandb_log(file.read_bytes()))
        if records and records[-1][0] == "exit":
            return records
        time.sleep(0.05)
    raise AssertionError("the run did not end")


def wandb_log(data: bytes) -> Iterator[tuple[str, Any]]:
    """Records of the LevelDB log format in blocks of 32 KiB, after a head of 7 bytes."""
    from wandb.proto import wandb_internal_pb2

    position, parts = 7, b""
    while position + 7 <= len(data):
        if (left := 32768 - position % 32768) < 7:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", data[position : position + 7])
        parts += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4) and position <= len(data):  # whole, or the last of several
            record = wandb_internal_pb2.Record()
            record.ParseFromString(parts)
            name = record.WhichOneof("record_type")
            yield name, getattr(record, name)
            parts = b""


def items(record: Any) -> dict[str, Any]:
    fields = record.item if hasattr(record, "item") else record.update
    return {f.key or "/".join(f.nested_key): json.loads(f.value_json) for f in fields}


def test_wandb_writes_a_run(wandb: Any, tmp_path: Path) -> None:
    logger = loggers.WandbLogger(name="n", save_dir=tmp_path, project="p", offline=True, prefix="x")
    assert (logger.name, logger.version, logger.save_dir) == ("p", None, str(tmp_path))
    assert not (tmp_path / "wandb").exists()  # nothing is written before it is needed
    checkpoint = fit(logger, tmp_path)
    assert logger.version == logger.experiment.id
    logger.log_text("t", columns=["a"], data=[["b"]], step=7)
    logger.log_image("i", [torch.zeros(3, 4, 4)], step=8, caption=["c"])
    wandb.finish()
    records = wandb_records(tmp_path)
    run = next(value for name, value in records if name == "run")
    assert (run.project, run.display_name, run.run_id) == ("p", "n", logger.version)
    metrics = [(m.name, m.glob_name, m.step_metric) for name, m in records if name == "metric"]
    assert metrics == [("trainer/global_step", "", ""), ("", "*", "trainer/global_step")]
    config = {
        key: value for name, record in records if name == "config" for key, value in items(record).items()
    }
    assert config["lr"] == 0.1
    assert config["layer"] == "ReLU"
    assert config["nested"] == {"a": [{"b": 1}]}
    rows = [items(record) for name, record in records if name == "history"]
    assert [row["x-index"] for row in rows if "x-index" in row] == [0, 1, 2, 3, 4, 5]
    assert [row["trainer/global_step"] for row in rows] == [0, 1, 2, 3, 4, 5, 7, 8]
    assert {"x-loss", "x-epoch"} <= set(rows[0])
    assert rows[-2]["x-t/_type"] == "table-file"
    assert rows[-1]["x-i/captions"] == ["c"]
    assert "model" not in {a.type for name, a in records if name == "artifact"}
    assert Path(checkpoint.best_model_path).is_file()


@pytest.mark.parametrize(("log_model", "uploads"), [(True, 1), ("all", 2), (False, 0)])
def test_wandb_uploads_checkpoints(wandb: Any, tmp_path: Path, log_model: Any, uploads: int) -> None:
    logger = loggers.WandbLogger(save_dir=tmp_path, log_model=log_model, checkpoint_name="net")
    checkpoint = ModelCheckpoint(tmp_path, monitor="index", mode="max", filename="{epoch}")
    trainer = relight.Trainer(
        accelerator="cpu", max_epochs=2, logger=logger, callbacks=checkpoint, enable_progress_bar=False
    )
    trainer.fit(Net(), DataLoader(TensorDataset(torch.ones(3, 2))), log_every_n_steps=1)
    wandb.finish()
    artifacts = [a for name, a in wandb_records(tmp_path) if name == "artifact"]
    models = [a for a in artifacts if getattr(a, "type", "") == "model"]
    assert len(models) == uploads
    for number, model in enumerate(models, start=2 - uploads):
        metadata = json.loads(model.metadata)
        assert model.name == "net"
        assert sorted(model.aliases) == ["best", "latest"]
        assert [entry.path for entry in model.manifest.contents] == ["model.ckpt"]
        assert metadata["original_filename"] == f"epoch={number}.ckpt"
        assert metadata["score"] == 3 * number + 2
        assert metadata["ModelCheckpoint"]["monitor"] == "index"


def test_wandb_goes_on_with_a_run_in_progress(wandb: Any, tmp_path: Path) -> None:
    run = wandb.init(dir=tmp_path, mode="offline")
    logger = loggers.WandbLogger(save_dir=tmp_path)
    with pytest.warns(UserWarning, match="run is in progress"):
        assert logger.experiment is run
    given = loggers.WandbLogger(experiment=run)
    assert given.experiment is run
    assert given.version == run.id


def test_wandb_can_be_pickled(wandb: Any, tmp_path: Path) -> None:
    logger = loggers.WandbLogger(save_dir=tmp_path, version="abc")
    other = pickle.loads(pickle.dumps(logger))
    assert logger.experiment.id == other.version == "abc"
    other.log_metrics({"a": 1})
    assert other.experiment.id == "abc"


def test_wandb_watches(wandb: Any, tmp_path: Path) -> None:
    logger = loggers.WandbLogger(save_dir=tmp_path)
    module = Net()
    logger.watch(module, log_freq=1, log_graph=False)
    assert module.layer.weight._backward_hooks
    logger.unwatch(module)
    assert not module.layer.weight._backward_hooks


def test_wandb_arguments(wandb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_PROJECT", "from-environment")
    logger = loggers.WandbLogger(id="i", dir="d", save_dir="", tags=["t"])
    assert (logger.name, logger.version, logger.save_dir) == ("from-environment", "i", "d")
    assert loggers.WandbLogger(project="mine").name == "mine"
    with pytest.raises(MisconfigurationException, match="offline"):
        loggers.WandbLogger(offline=True, log_model="all")
    with pytest.raises(TypeError, match="`images` of 'k' is a list, not tuple"):
        logger.log_image("k", (1,))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`caption` of 'k' has 1 items for 2 audios"):
        logger.log_audio("k", [1, 2], caption=["one"])


# MLflow


@pytest.fixture(params=["file", "sqlite"])
def mlflow_uri(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # asked for since 3.7
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    if request.param == "sqlite":
        pytest.importorskip("sqlalchemy", reason="mlflow-skinny has no databases")
        return f"sqlite:///{tmp_path}/runs.db"
    return f"file:{tmp_path}/runs"


def test_mlflow_writes_a_run(mlflow_uri: str, tmp_path: Path) -> None:
    logger = loggers.MLFlowLogger(
        "e", run_name="r", tracking_uri=mlflow_uri, tags={"t": "u"}, prefix="x", log_model=True,
        artifact_location=f"file:{tmp_path}/artifacts",
    )  # fmt: skip
    assert not (tmp_path / "runs").exists()
    assert logger.save_dir == (f"{tmp_path}/runs" if mlflow_uri.startswith("file:") else None)
    checkpoint = fit(logger, tmp_path)
    client = logger.experiment
    run = client.get_run(logger.version)
    assert run.info.experiment_id == logger.name == logger.experiment_id
    assert run.info.status == "FINISHED"
    assert run.data.tags["mlflow.runName"] == "r"
    assert run.data.tags["t"] == "u"
    assert run.data.params["lr"] == "0.1"
    assert run.data.params["nested/a/0/b"] == "1"
    history = client.get_metric_history(logger.version, "x-index")
    assert [(m.step, m.value) for m in history] == [(i, float(i)) for i in range(6)]
    names = sorted(artifact.path for artifact in client.list_artifacts(logger.version))
    best = Path(checkpoint.best_model_path).stem
    assert names == sorted([best, "last"])
    inside = [Path(a.path).name for a in client.list_artifacts(logger.version, best)]
    assert sorted(inside) == ["aliases.txt", f"{best}.ckpt", "metadata.yaml"]


def test_mlflow_goes_on_with_a_run(mlflow_uri: str) -> None:
    first = loggers.MLFlowLogger(tracking_uri=mlflow_uri)
    first.log_metrics({"a": 1.0}, step=1)
    other = loggers.MLFlowLogger(tracking_uri=mlflow_uri, run_id=first.version)
    other.log_metrics({"a": torch.tensor(2.0)}, step=2)
    again = pickle.loads(pickle.dumps(other))
    again.log_metrics({"a": 3.0}, step=3)
    history = first.experiment.get_metric_history(first.version, "a")
    assert [m.value for m in history] == [1.0, 2.0, 3.0]
    assert first.name == other.name == loggers.MLFlowLogger(tracking_uri=mlflow_uri).name
    other.finalize("failed")
    assert first.experiment.get_run(first.version).info.status == "FAILED"


def test_mlflow_limits(mlflow_uri: str) -> None:
    logger = loggers.MLFlowLogger(tracking_uri=mlflow_uri)
    logger.log_hyperparams(Namespace(**{f"p{i}": i for i in range(205)}, long="x" * 300))
    with pytest.warns(RuntimeWarning, match=re.escape("'a@b' is logged as 'ab'")):
        logger.log_metrics({"a@b": 1.0})
    with pytest.warns(UserWarning, match="takes numbers"):
        logger.log_metrics({"text": "no"})
    data = logger.experiment.get_run(logger.version).data
    assert len(data.params) == 206
    assert data.params["long"] == "x" * 250
    assert data.metrics == {"ab": 1.0}


def test_mlflow_environment(mlflow_uri: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_uri)
    loggers.MLFlowLogger().log_metrics({"a": 1.0})
    assert any((tmp_path / name).exists() for name in ("runs", "runs.db"))


# Comet


@pytest.fixture
def comet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("comet_ml")
    monkeypatch.setenv("COMET_LOGGING_CONSOLE", "CRITICAL")
    monkeypatch.setenv("COMET_START_ONLINE", "0")
    settings = {
        "log_code": False, "log_git_metadata": False, "log_git_patch": False, "log_env_details": False,
        "auto_output_logging": False, "parse_args": False, "display_summary_level": 0,
    }  # fmt: skip
    return {"offline_directory": str(tmp_path / "comet"), **settings}


def comet_messages(directory: Path) -> list[dict[str, Any]]:
    (file,) = directory.glob("*.zip")
    with zipfile.ZipFile(file) as archive:
        lines = archive.read("messages.json").decode().splitlines()
    return [json.loads(line) for line in lines]


def test_comet_writes_an_archive(comet: Any, tmp_path: Path) -> None:
    logger = loggers.CometLogger(project="p", online=False, prefix="x", name="n", **comet)
    assert (logger.name, logger.version, logger.save_dir) == ("p", None, comet["offline_directory"])
    assert not (tmp_path / "comet").exists()
    fit(logger, tmp_path)
    assert logger.version == logger.experiment.get_key()
    logger.experiment.end()
    messages = [m["payload"] for m in comet_messages(tmp_path / "comet")]
    metrics = [m["metric"] for m in messages if "metric" in m]
    index = [(m["step"], float(m["metricValue"])) for m in metrics if m["metricName"] == "x_index"]
    assert index == [(i, float(i)) for i in range(6)]
    assert {m["epoch"] for m in metrics if m["metricName"] == "x_index"} == {0, 1}
    params = {m["param"]["paramName"]: m["param"]["paramValue"] for m in messages if m.get("param")}
    assert float(params["lr"]) == 0.1
    assert any("graph" in m for m in messages)


def test_comet_can_be_pickled(comet: Any) -> None:
    key = "a" * 32
    logger = loggers.CometLogger(online=False, experiment_key=key, mode="create", **comet)
    logger.log_metrics({"a": 1.0})
    other = pickle.loads(pickle.dumps(logger))
    assert other.version == logger.version == key
    assert other._experiment is None
    logger.experiment.end()


def test_comet_old_arguments(comet: Any) -> None:
    directory = comet.pop("offline_directory")
    with pytest.warns(DeprecationWarning, match="is called `"):
        logger = loggers.CometLogger(save_dir=directory, project_name="p", offline=True, experiment_name="n")
    assert (logger.name, logger.save_dir) == ("p", directory)
    assert logger._start["online"] is False
    assert logger._config["name"] == "n"
    with (
        pytest.raises(TypeError, match="both `project_name` and `project`"),
        pytest.warns(DeprecationWarning, match="is called `project`"),
    ):
        loggers.CometLogger(project_name="p", project="q")


# Neptune


@pytest.fixture
def neptune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = pytest.importorskip("neptune")
    monkeypatch.chdir(tmp_path)
    return module


QUIET = {
    "capture_stdout": False,
    "capture_stderr": False,
    "capture_hardware_metrics": False,
    "source_files": [],
}


def test_neptune_writes_offline(neptune: Any, tmp_path: Path) -> None:
    logger = loggers.NeptuneLogger(mode="offline", name="n", **QUIET)
    assert not (tmp_path / ".neptune").exists()
    checkpoint = fit(logger, tmp_path)
    assert (logger.name, logger.version) == ("offline-name", "OFFLINE")
    assert logger.save_dir == str(tmp_path / ".neptune")
    logger.log_model_summary(Net())
    logger.experiment.stop()
    (file,) = tmp_path.glob(".neptune/offline/*/data-1.log")
    text = file.read_text()
    decoder, position, operations = json.JSONDecoder(), 0, []
    while position < len(text):
        operation, position = decoder.raw_decode(text, position)
        operations.append(operation["obj"])
        while position < len(text) and text[position].isspace():
            position += 1
    paths = {"/".join(o["path"]) for o in operations}
    index = [v["value"] for o in operations if o["path"] == ["training", "index"] for v in o["values"]]
    assert index == [0, 1, 2, 3, 4, 5]
    assert {"training/hyperparams/lr", "training/hyperparams/nested/a", "training/model/summary"} <= paths
    best = Path(checkpoint.best_model_path).stem
    kept = {f"training/model/checkpoints/{name}" for name in (best, "last")}
    assert kept <= paths
    deleted = {"/".join(o["path"]) for o in operations if o["type"] == "DeleteAttribute"}
    assert deleted == {f"training/model/checkpoints/{best.replace('=1', '=0').replace('=6', '=3')}"}
    status = [o["value"] for o in operations if o["path"] == ["training", "status"]]
    assert status == ["success"]


def test_neptune_takes_a_run_of_the_user(neptune: Any, tmp_path: Path) -> None:
    run = neptune.init_run(mode="debug", project="a/b", **QUIET)
    logger = loggers.NeptuneLogger(run=run["fold"], prefix="", log_model_checkpoints=False)
    logger.log_metrics({"a": 1.0})
    logger.log_hyperparams(Namespace(lr=0.1, layer=nn.ReLU))
    assert run["fold/a"].fetch_last() == 1.0
    assert run["fold/hyperparams"].fetch() == {"lr": 0.1, "layer": "ReLU"}
    assert run.exists("source_code/integrations/relight")
    run.stop()
    with pytest.raises(ValueError, match=r"\['project'\] are arguments of a new one"):
        loggers.NeptuneLogger(run=run, project="a/b")
    with pytest.raises(ValueError, match="not str"):
        loggers.NeptuneLogger(run="a")


# All of them


@pytest.mark.parametrize(("name", "package"), PACKAGES.items())
def test_without_the_package(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    with pytest.raises(ModuleNotFoundError, match=f"`{name}` needs .* pip install '{package}>="):
        getattr(loggers, name)()


def test_with_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects put one into ``sys.modules`` in their tests."""
    stand_in = mock.MagicMock()
    monkeypatch.setitem(sys.modules, "wandb", stand_in)
    stand_in.run = None
    loggers.WandbLogger(save_dir="d").log_metrics({"a": 1}, step=2)
    stand_in.init.assert_called_once_with(name=None, project=mock.ANY, dir="d", id=None, resume="allow")
    stand_in.init().log.assert_called_once_with({"a": 1, "trainer/global_step": 2})


def test_wandb_begins_before_loggers_that_it_syncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", mock.MagicMock())
    begun: list[str] = []
    for cls in (loggers.CSVLogger, loggers.WandbLogger):
        monkeypatch.setattr(
            cls, "experiment", property(lambda self: begun.append(type(self).__name__) or mock.MagicMock())
        )
    pair = [loggers.CSVLogger(tmp_path), loggers.WandbLogger(save_dir=tmp_path, sync_tensorboard=True)]
    fit(pair, tmp_path, epochs=1)
    first = begun.index("CSVLogger")
    assert first > 0
    assert set(begun[:first]) == {"WandbLogger"}


def test_with_an_old_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda module: object())
    monkeypatch.setattr("relight.loggers._optional.version", lambda distribution: "0.12.1")
    with pytest.raises(ModuleNotFoundError, match=r"`wandb>=0\.16`; 0\.12\.1 is installed"):
        loggers.WandbLogger()


@pytest.mark.parametrize("name", PACKAGES)
def test_other_ranks_begin_nothing(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip(PACKAGES[name])
    monkeypatch.chdir(tmp_path)
    logger = getattr(loggers, name)()
    monkeypatch.setattr(rank_zero_only, "rank", 1)
    logger.experiment.anything(1)
    logger.log_metrics({"a": 1.0}, step=0)
    logger.log_hyperparams({"a": 1})
    logger.finalize("success")
    assert list(tmp_path.iterdir()) == []


class Callback:
    """What a logger reads of a callback that writes checkpoints."""

    def __init__(self, directory: Path, save_top_k: int = 1) -> None:
        self.directory, self.save_top_k = directory, save_top_k
        self.last_model_path = self.best_model_path = ""
        self.best_model_score = self.current_score = None
        self.best_k_models: dict[str, Any] = {}

    def write(self, name: str, score: float, changed: float) -> None:
        import os

        path = self.directory / name
        path.touch()
        os.utime(path, (changed, changed))
        self.best_model_path, self.best_model_score = str(path), torch.tensor(score)
        self.best_k_models = {str(path): torch.tensor(score)}


def test_a_checkpoint_is_uploaded_once_unless_written_again(tmp_path: Path) -> None:
    from relight.loggers._model_files import Uploads

    uploads, callback = Uploads("all"), Callback(tmp_path)
    assert uploads.saved(callback) == []  # nothing is written yet
    callback.write("a.ckpt", 1.0, changed=1)
    (file,) = uploads.saved(callback)
    assert (file.path, file.score, file.aliases) == (str(tmp_path / "a.ckpt"), 1.0, ["latest", "best"])
    uploads.done(file)
    assert uploads.saved(callback) == []
    callback.write("a.ckpt", 2.0, changed=2)
    assert [file.score for file in uploads.saved(callback)] == [2.0]


def test_checkpoints_wait_for_the_end_unless_all_are_kept(tmp_path: Path) -> None:
    from relight.loggers._model_files import Uploads

    uploads, callback = Uploads(True), Callback(tmp_path)
    callback.write("a.ckpt", 1.0, changed=1)
    assert uploads.saved(callback) == uploads.saved(callback) == []
    ((waiting, files),) = uploads.rest()
    assert waiting is callback
    assert len(files) == 1
    assert uploads.rest() == []  # so that a callback that is gone is not asked again
    callback.save_top_k = -1
    assert len(uploads.saved(callback)) == 1

"""Signals: what SLURM sends before it ends a job, and the clusters that are recognised."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning_fabric.plugins.environments import KubeflowEnvironment, LSFEnvironment, SLURMEnvironment
from torch import nn
from torch.utils.data import DataLoader

import relight

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no such signals"),
]
QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}


class Net(relight.LightningModule):
    """Sends itself a signal in chosen batches."""

    def __init__(self, at: int | None = None, number: int = signal.SIGUSR1, where: str = "train") -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.at, self.number, self.where = at, number, where
        self.steps: list[int] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        self.steps.append(self.global_step)
        if self.where == "train" and self.global_step == self.at:
            signal.raise_signal(self.number)
        return self.layer(batch).square().mean()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        if self.where == "validation" and self.global_step == self.at and batch_idx == 0:
            signal.raise_signal(self.number)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Finalized(relight.loggers.DummyLogger):
    def __init__(self) -> None:
        super().__init__()
        self.states: list[str] = []

    def finalize(self, status: str) -> None:
        self.states.append(status)


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Look like a job of SLURM; the fixture is the list of calls of ``scontrol``."""
    for name in list(os.environ):
        if name.startswith("SLURM_"):
            monkeypatch.delenv(name)
    for name, value in (
        ("NTASKS", "1"), ("NTASKS_PER_NODE", "1"), ("JOB_NAME", "train"), ("JOB_ID", "4200123"), ("PROCID", "0"),
        ("LOCALID", "0"), ("NODEID", "0"), ("NNODES", "1"), ("NODELIST", "node[3-5]"),
    ):  # fmt: skip
        monkeypatch.setenv(f"SLURM_{name}", value)
    calls: list[str] = []

    def call(command: Any, shell: bool = False) -> int:
        calls.append(command if shell else " ".join(command))
        return 0

    monkeypatch.setattr("subprocess.call", call)
    return calls


def fit(net: Net, directory: Path, **arguments: Any) -> relight.Trainer:
    relight.seed_everything(3, verbose=False)
    arguments = {"logger": False, "max_epochs": 2, **arguments}
    trainer = relight.Trainer(**QUIET, default_root_dir=directory, **arguments)
    data = DataLoader(torch.arange(12.0).reshape(6, 2) / 10, batch_size=2)  # type: ignore[arg-type]
    trainer.fit(net, data, data if net.where == "validation" else None)
    return trainer


def test_a_job_is_saved_queued_again_and_gone_on_with(slurm: list[str], tmp_path: Path) -> None:
    logger, first, whole = Finalized(), Net(at=1), Net()
    second, third = Net(at=3), Net()
    torch.manual_seed(0)
    for net in (first, second, third):
        net.load_state_dict(whole.state_dict())
    trainer = fit(first, tmp_path, logger=logger)
    assert slurm == ["scontrol requeue 4200123"]
    assert [path.name for path in tmp_path.glob("*.ckpt")] == ["hpc_ckpt_1.ckpt"]
    assert torch.load(tmp_path / "hpc_ckpt_1.ckpt", weights_only=True)["global_step"] == 2  # after the batch
    assert first.steps == [0, 1, 2, 3, 4, 5]  # until SLURM ends it
    assert logger.states == ["finished", "success"]
    assert trainer.state.finished
    # The job runs again: nothing is passed, and the newest file is found.
    fit(second, tmp_path)
    assert second.steps == [2, 3, 4, 5]
    assert sorted(path.name for path in tmp_path.glob("*.ckpt")) == ["hpc_ckpt_1.ckpt", "hpc_ckpt_2.ckpt"]
    fit(third, tmp_path)
    assert third.steps == [4, 5]
    fit(whole, tmp_path / "elsewhere")
    assert torch.equal(third.layer.weight, whole.layer.weight)
    again = relight.Trainer(**QUIET, default_root_dir=tmp_path, logger=False)
    again.validate(Net(), DataLoader(torch.ones(2, 2)), ckpt_path="hpc", verbose=False)  # type: ignore[arg-type]
    assert str(again.ckpt_path).endswith("hpc_ckpt_2.ckpt")


def test_a_signal_during_validation(slurm: list[str], tmp_path: Path) -> None:
    fit(Net(at=3, where="validation"), tmp_path, max_epochs=1)
    assert torch.load(tmp_path / "hpc_ckpt_1.ckpt", weights_only=True)["global_step"] == 3
    assert len(slurm) == 1


def test_the_number_of_an_array_job(
    slurm: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "17")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "5")
    fit(Net(at=0), tmp_path, max_epochs=1)
    assert slurm == ["scontrol requeue 17_5"]


def test_an_unfit_number_never_reaches_the_shell(
    slurm: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "1; rm -rf x")
    with caplog.at_level("WARNING", logger="relight"):
        fit(Net(at=0), tmp_path, max_epochs=1)
    assert slurm == []
    assert "cannot be requeued" in caplog.text


def test_scontrol_may_be_a_function_of_the_shell(
    slurm: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(command: Any, shell: bool = False) -> int:
        if not shell:
            raise FileNotFoundError(command[0])
        slurm.append(command)
        return 1

    monkeypatch.setattr("subprocess.call", call)
    fit(Net(at=0), tmp_path, max_epochs=1)
    assert slurm == ["scontrol requeue 4200123"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"auto_requeue": False}, None),
        ({"requeue_signal": signal.SIGUSR2}, signal.SIGUSR2),
        ({}, signal.SIGUSR1),
    ],
)
def test_the_environment_says_which_signal(
    slurm: list[str], tmp_path: Path, environment: dict[str, Any], expected: Any
) -> None:
    taken: list[Any] = []

    def training_step(self: Any, batch: Any, batch_idx: int) -> Any:
        taken.extend(
            number
            for number in (signal.SIGUSR1, signal.SIGUSR2)
            if signal.getsignal(number) is not signal.SIG_DFL
        )
        return self.layer(batch).sum()

    net = type("Asks", (Net,), {"training_step": training_step})()
    before = signal.getsignal(signal.SIGTERM)
    fit(net, tmp_path, max_steps=1, plugins=[SLURMEnvironment(**environment)])
    assert taken == ([] if expected is None else [expected])
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


def test_a_handler_of_the_users_stays(slurm: list[str], tmp_path: Path) -> None:
    seen: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        fit(Net(at=0), tmp_path, max_epochs=1)
    finally:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    assert seen == [signal.SIGUSR1]
    assert slurm == []


def test_an_interactive_session_is_no_job(
    slurm: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(Net(at=0), tmp_path, max_epochs=1)
    assert (tmp_path / "hpc_ckpt_1.ckpt").is_file()
    monkeypatch.setenv("SLURM_JOB_NAME", "bash")
    net = Net()
    trainer = fit(net, tmp_path, max_epochs=1)
    assert net.steps[0] == 0
    assert trainer._backend.cluster_environment is None


def test_elsewhere_no_file_of_a_job_is_picked_up(tmp_path: Path) -> None:
    net = Net()
    (tmp_path / "hpc_ckpt_1.ckpt").write_bytes(b"no checkpoint")
    fit(net, tmp_path, max_epochs=1)
    assert net.steps == [0, 1, 2]


# Clusters


def test_slurm_is_recognised(slurm: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_NTASKS", "2")
    monkeypatch.setenv("SLURM_NTASKS_PER_NODE", "2")
    monkeypatch.setenv("SLURM_PROCID", "1")
    monkeypatch.setenv("SLURM_LOCALID", "1")
    arguments = {**QUIET, "devices": 2}
    trainer = relight.Trainer(**arguments, strategy="ddp", logger=False)
    environment = trainer._backend.cluster_environment
    assert isinstance(environment, SLURMEnvironment)
    assert (environment.world_size(), environment.global_rank(), environment.local_rank()) == (2, 1, 1)
    assert environment.main_address == "node3"
    arguments["devices"] = 3
    with pytest.raises(ValueError, match=r"devices=3.*ntasks-per-node"):
        relight.Trainer(**arguments, strategy="ddp", logger=False).fit(Net(), DataLoader(torch.ones(2, 2)))  # type: ignore[arg-type]


def test_lsf_is_recognised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ranks").write_text("launcher\nnode1\nnode1\n")
    for name, value in (
        ("LSB_JOBID", "12"), ("LSB_DJOB_RANKFILE", str(tmp_path / "ranks")), ("JSM_NAMESPACE_SIZE", "2"),
        ("JSM_NAMESPACE_RANK", "1"), ("JSM_NAMESPACE_LOCAL_RANK", "1"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("socket.gethostname", lambda: "node1")
    trainer = relight.Trainer(**{**QUIET, "devices": 2}, strategy="ddp", logger=False)
    environment = trainer._backend.cluster_environment
    assert isinstance(environment, LSFEnvironment)
    assert environment.global_rank() == 1


def test_kubeflow_is_given_as_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("RANK", "3"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "main"), ("MASTER_PORT", "123")):
        monkeypatch.setenv(name, value)
    trainer = relight.Trainer(
        **QUIET, num_nodes=4, strategy="ddp", logger=False, plugins=[KubeflowEnvironment()]
    )
    environment = trainer._backend.cluster_environment
    assert isinstance(environment, KubeflowEnvironment)
    assert (environment.global_rank(), environment.world_size()) == (3, 4)

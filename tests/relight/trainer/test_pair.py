"""Two processes: what they agree on, who writes, and how both end when one fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

PAIR = Path(__file__).resolve().parent / "pair"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed package"),
]


def run(*command: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, timeout=timeout
    )


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each process saw; they are started by torchrun, in the other tests by the Trainer."""
    directory = tmp_path_factory.mktemp("pair")
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
    script = str(PAIR / "everything.py")
    done = run(*torchrun, script, "ddp_find_unused_parameters_true", str(directory))
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads((directory / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert [report["rank"] for report in found] == [0, 1]
    assert [report["world"] for report in found] == [2, 2]
    return found


def test_weights_are_equal(reports: list[dict[str, Any]]) -> None:
    for what in ("weights", "resumed"):
        assert reports[0][what] == reports[1][what]
    assert reports[0]["weights"] != reports[0]["resumed"]
    assert reports[0]["resumed_steps"] == reports[1]["resumed_steps"] == 12


def test_each_process_gets_its_share(reports: list[dict[str, Any]]) -> None:
    first, second = (report["train"] for report in reports)
    for epoch in (0, 1):
        assert sorted(first[epoch] + second[epoch]) == list(range(24))
    assert set(first[0]) != set(first[1])  # shuffled anew in each epoch
    assert reports[0]["val"][1] == [0, 2, 4, 6, 8]
    assert reports[1]["val"][1] == [1, 3, 5, 7, 9]
    assert sorted(reports[0]["predict"] + reports[1]["predict"]) == list(range(5))  # each once
    # The user's own sampler is split, not replaced; or left alone where that is asked for.
    assert set(reports[0]["own_sampler"] + reports[1]["own_sampler"]) == {3, 4, 5}
    assert reports[0]["own_sampler"][0] == 5
    assert reports[0]["unsplit"] == reports[1]["unsplit"] == [0, 1, 2]


def test_logged_values_are_reduced_if_asked_for(reports: list[dict[str, Any]]) -> None:
    for rank, report in enumerate(reports):
        metrics = report["metrics"]
        assert {name: metrics[f"rank_{name}"] for name in ("mean", "sum", "min", "max")} == {
            "mean": 0.5, "sum": 3.0, "min": 0.0, "max": 1.0,
        }  # fmt: skip
        assert metrics["rank_alone"] == rank
        assert metrics["rank_step"] == 1.5
        assert ("of_the_first" in metrics) == (rank == 0)
        assert report["gathered"] == [0.0, 1.0]
    assert reports[0]["metrics"]["loss"] != reports[1]["metrics"]["loss"]


def test_one_process_writes_and_prepares(reports: list[dict[str, Any]]) -> None:
    assert [report["saves"] > 0 for report in reports] == [True, False]
    assert [report["prepared"] for report in reports] == [1, 0]
    assert (
        reports[0]["files"]
        == reports[1]["files"]
        == ["epoch=0-step=4.ckpt", "epoch=1-step=8.ckpt", "last.ckpt"]
    )
    assert reports[0]["path"] == reports[1]["path"]
    assert [report["broadcast"] for report in reports] == ["from 0", "from 0"]


def test_a_step_asks_nothing_of_the_others_but_gradients(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        inside, steps = report["collectives"]
        assert steps == 8
        assert inside == 0


def test_stopping_is_agreed(reports: list[dict[str, Any]]) -> None:
    assert reports[0]["stopped"] == reports[1]["stopped"] == [2, 4, 1]


def test_one_clock_decides_when_to_validate(reports: list[dict[str, Any]]) -> None:
    assert [report["validated_by_time"] for report in reports] == [1, 1]


def test_a_signal_to_one_ends_both(reports: list[dict[str, Any]]) -> None:
    assert reports[0]["ended"] == reports[1]["ended"] == ["SIGTERMException", 2]


def test_weights_in_pieces(tmp_path: Path) -> None:
    """FSDP equals DDP, its files are those of a run without it, and both go on from them."""
    done = run(str(PAIR / "sharded.py"), str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    files = {path.stem: torch.load(path, weights_only=True) for path in tmp_path.glob("*.ckpt")}
    half, whole = files["half"], files["whole"]
    assert {name: tuple(value.shape) for name, value in whole["state_dict"].items()} == {
        "net.0.weight": (8, 4), "net.0.bias": (8,), "net.2.weight": (1, 8), "net.2.bias": (1,),
    }  # fmt: skip
    assert not torch.equal(half["state_dict"]["net.0.weight"], whole["state_dict"]["net.0.weight"])
    for other in ("resumed", "ddp", "ddp_resumed"):
        for name, value in files[other]["state_dict"].items():
            torch.testing.assert_close(value, whole["state_dict"][name])
        one, two = (file["optimizer_states"][0] for file in (files[other], whole))
        assert one["param_groups"][0].keys() == two["param_groups"][0].keys()
        assert one["param_groups"][0]["params"] == [0, 1, 2, 3]
        for number, state in one["state"].items():
            torch.testing.assert_close(state["exp_avg"], two["state"][number]["exp_avg"])
    steps, validated = json.loads((tmp_path / "report.json").read_text())
    assert steps == [4, 8, 8, 8, 8]
    assert validated[0] == pytest.approx(validated[1])


@pytest.mark.parametrize(
    ("strategy", "rank", "error"),
    [("ddp", 1, "error"), ("ddp_fork", 0, "error"), ("ddp_fork", 1, "none")],
)
def test_a_failure_of_one_ends_both(strategy: str, rank: int, error: str) -> None:
    done = run(str(PAIR / "failing.py"), strategy, str(rank), error)
    assert done.returncode != 0
    assert "never reached" not in done.stdout
    wanted = {"error": "ValueError: broken on purpose", "none": "several processes cannot do"}[error]
    assert wanted in done.stderr
    assert "in training_step" in done.stderr or error == "none"
    assert f"rank {rank} ends with" in done.stdout

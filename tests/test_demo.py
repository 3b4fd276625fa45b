"""The demo, and its project on real Lightning releases."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def load_demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("relight_demo", ROOT / "scripts" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


demo = load_demo()


def oracle(version: str) -> str:
    variable = f"RELIGHT_ORACLE_{version}"
    if not (python := os.environ.get(variable)):
        pytest.skip(f"{variable} is not set")
    return python


def copy_project(directory: Path) -> Path:
    shutil.copytree(demo.PROJECT, directory, ignore=shutil.ignore_patterns("__pycache__"))
    return directory


@pytest.fixture(scope="module")
def compat_numbers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str | int]]:
    """What the unchanged project computes under compat, by run.

    relight resumes exactly, with the random state of then, for which its files have a key that Lightning's
    have not; without it a resume is Lightning's.
    """
    import torch

    project = copy_project(tmp_path_factory.mktemp("compat") / "legacy")
    runs = demo.RUNS
    try:
        for each in runs:
            demo.RUNS = (each,)
            demo.run_project([sys.executable, "-m", "relight.compat", "train.py"], project, quiet=True)
            for path in project.rglob("*.ckpt"):
                saved = torch.load(path, weights_only=False)
                saved.pop("relight", None)
                torch.save(saved, path)
    finally:
        demo.RUNS = runs
    return {run: demo.metrics(project, run) for run, _ in runs}


@pytest.mark.slow
def test_demo_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--quiet", "--keep", str(tmp_path / "demo")]) == 0
    out = capsys.readouterr().out
    assert "All numbers are equal to the last bit" in out
    assert out.count(" 0 different") == 2


def test_a_difference_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    one = {"epochs[0].val_loss": "0x1.8p+0", "test.acc": "0x1.0p+0", "n": 3}
    assert demo.compare("first", one, dict(one)) == 0
    assert demo.compare("first", one, {**one, "test.acc": "0x1.0000000000001p+0"}) == 1
    assert demo.compare("first", one, {"n": 3, "epochs[0].val_loss": "0x1.8p+0"}) == 1
    assert capsys.readouterr().out.count("DIFFERS") == 2


@pytest.mark.oracle
@pytest.mark.slow
def test_unchanged_on_real_1_9_5(tmp_path: Path, compat_numbers: dict[str, dict[str, str | int]]) -> None:
    project = copy_project(tmp_path / "legacy")
    demo.run_project([oracle("1_9_5"), "train.py"], project, quiet=True)
    for run, numbers in compat_numbers.items():
        assert demo.metrics(project, run) == numbers


@pytest.mark.oracle
@pytest.mark.slow
def test_upgraded_on_real_2_6_6(tmp_path: Path, compat_numbers: dict[str, dict[str, str | int]]) -> None:
    project = copy_project(tmp_path / "upgraded")
    python = oracle("2_6_6")
    demo.upgrade("-q", "--unsafe-fixes", "--target", "lightning", project, expect=0)
    demo.run_project([python, "train.py"], project, quiet=True)
    for run, numbers in compat_numbers.items():
        assert demo.metrics(project, run) == numbers


@pytest.mark.oracle
@pytest.mark.slow
def test_the_project_is_honest_1_5_code(tmp_path: Path) -> None:
    """It runs on real 1.5.10 too; that release draws other random numbers, so only the form is compared."""
    project = copy_project(tmp_path / "legacy")
    demo.run_project([oracle("1_5_10"), "train.py"], project, quiet=True)
    first, second = (demo.metrics(project, run) for run, _ in demo.RUNS)
    assert {name for name in first if name.startswith("epochs")} == {
        f"epochs[{i}].{key}"
        for i in range(4)
        for key in ("epoch", "lr", "grad_norm", "n_train", "n_val", "val_loss", "val_acc")
    }
    assert second["epochs[0].epoch"] == 4

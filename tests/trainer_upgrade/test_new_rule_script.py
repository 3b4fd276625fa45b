"""scripts/new_rule.py: what it writes works as it stands."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("new_rule_script", ROOT / "scripts" / "new_rule.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


new_rule = _script()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the tool, and an empty place for tests."""
    shutil.copytree(ROOT / "codemods", tmp_path / "codemods", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests" / "trainer_upgrade" / "rules").mkdir(parents=True)
    return tmp_path


def _run(tree: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree / "codemods")}
    ran = subprocess.run(
        [sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_rules_of_all_kinds_work_at_once(tree: Path) -> None:
    """A constructor's argument, an attribute, a method, a default: codes that no rule reports."""
    wanted = {
        "stopping-check": "TRU612",
        "sanity-batches": "TRU457",
        "from-datasets": "TRU253",
        "csv": "TRU815",
    }
    written: list[Path] = []
    for name, code in wanted.items():
        written += new_rule.begin(name, code, tree)
    assert len({path for path in written if path.name.startswith("test_")}) == len(wanted)
    told = _run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert f"{2 * len(wanted)} passed" in told
    for code in wanted.values():
        page = _run(tree, "-m", "trainer_upgrade", "--explain", code)
        assert "## Before" in page, code
        assert "## The rule" in page, code
    _run(
        tree,
        "-m",
        "ruff",
        "check",
        "--config",
        str(ROOT / "pyproject.toml"),
        *map(str, set(written) - _texts(written)),
    )


def _texts(paths: list[Path]) -> set[Path]:
    return {path for path in paths if path.suffix == ".txt"}


def test_the_list_of_modules_stays_sorted(tree: Path) -> None:
    new_rule.begin("aaa", "TRU612", tree)
    new_rule.begin("zzz", "TRU457", tree)
    listed = _run(tree, "-c", "from trainer_upgrade.rules import MODULES; print(*MODULES)").split()
    assert listed == sorted(listed)
    assert (listed[0], listed[-1]) == ("aaa", "zzz")


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("gpus-again", "TRU101", "reported already, by trainer-arguments (trainer_arguments.py)"),
        ("moved", "TRU311", "an entry there is all it takes"),
        ("pin", "TRU905", "trainer_upgrade/documents"),
        ("nothing", "TRU999", "the catalogue has no TRU999"),
        ("Bad_Name", "TRU612", "no name for a rule"),
        ("hparams", "TRU612", "is there already"),
    ],
)
def test_what_cannot_be_begun_is_refused(tree: Path, name: str, code: str, why: str) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    with pytest.raises(new_rule.RefusedError) as error:
        new_rule.begin(name, code, tree)
    assert why in str(error.value)
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before

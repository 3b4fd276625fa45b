"""Which Lightning a project installs, read from the files that may say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainer_upgrade.project.pins import find_pins, newest, pins_in

POETRY = """[tool.poetry.dependencies]
python = "^3.8"
pytorch-lightning = {spec}
"""
PROJECT = """[project]
name = "x"
dependencies = ["torch", "pytorch_lightning>=1.5,<1.7"]
"""
LOCK = """[[package]]
name = "torch"
version = "1.12.1"

[[package]]
name = "pytorch-lightning"
version = "1.6.4"
"""
FILES = {
    "requirements.txt": ("torch\npytorch-lightning==1.5.10  # old\n", "1.5.10", 2),
    "requirements-dev.txt": ("-r requirements.txt\nPyTorch_Lightning[extra]~=1.4.0 ; python_version<'4'\n", "1.4.9", 2),
    "constraints.txt": ("pytorch-lightning==1.5.10 \\\n    --hash=sha256:00\n", "1.5.10", 1),
    "pyproject.toml": (PROJECT, "1.6.5", 3),
    "setup.cfg": ("[options]\ninstall_requires =\n    torch\n    pytorch-lightning<1.9\n", "1.8.6", 4),
    "setup.py": ("from setuptools import setup\nsetup(\n  install_requires=[\n   'pytorch-lightning>=1.2,<2'\n])\n", "1.9.5", 4),
    "environment.yml": ("dependencies:\n  - pip:\n    - pytorch-lightning==1.0.8\n", "1.0.8", 3),
    "environment.yaml": ("dependencies:\n  - conda-forge::pytorch-lightning=1.5\n", "1.5.10", 2),
    "conda.yaml": ("dependencies:\n  - pytorch-lightning=1.5.3=pyhd8ed1ab_0\n", "1.5.3", 2),
    "poetry.lock": (LOCK, "1.6.4", 6),
    "uv.lock": (LOCK, "1.6.4", 6),
    "pdm.lock": (LOCK, "1.6.4", 6),
    "Pipfile": ('[packages]\npytorch-lightning = "==1.3.8"\n', "1.3.8", 2),
    "Pipfile.lock": (json.dumps({"default": {"pytorch-lightning": {"version": "==1.3.8"}}}), "1.3.8", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_each_kind_of_file(tmp_path: Path, name: str) -> None:
    text, release, row = FILES[name]
    (tmp_path / name).write_text(text)
    (pin,) = pins_in(tmp_path / name)
    assert (pin.distribution, str(pin.installs), pin.row) == ("pytorch-lightning", release, row)


@pytest.mark.parametrize(
    ("spec", "release"),
    [
        ('"^1.5"', "1.9.5"),
        ('"^0.8"', "0.8.5"),
        ('"~1.5"', "1.5.10"),
        ('"~1.5.3"', "1.5.10"),
        ('"1.5.3"', "1.5.3"),
        ('"*"', "2.6.6"),
        ('{version = ">=1.4,<1.6", optional = true}', "1.5.10"),
        ('[{version = "^1.7"}]', "1.9.5"),
    ],
)
def test_what_poetry_means(tmp_path: Path, spec: str, release: str) -> None:
    (tmp_path / "pyproject.toml").write_text(POETRY.format(spec=spec))
    (pin,) = pins_in(tmp_path / "pyproject.toml")
    assert str(pin.installs) == release


def test_other_tables_of_a_project_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project.optional-dependencies]\ntrain = ["lightning<2.2"]\n'
        '[dependency-groups]\ndev = ["pytorch-lightning==1.9.0", {include-group = "x"}]\n'
        '[tool.uv]\ndev-dependencies = ["lightning==2.0.1"]\n'
    )
    found = pins_in(tmp_path / "pyproject.toml")
    assert [(each.distribution, str(each.installs)) for each in found] == [
        ("lightning", "2.1.4"),
        ("pytorch-lightning", "1.9.0"),
        ("lightning", "2.0.1"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "# pytorch-lightning==1.5",
        "pytorch-lightning-bolts==0.5",
        "lightning-fabric==2.1",
        "git+https://github.com/Lightning-AI/lightning.git",
        "-e ./pytorch-lightning",
        "lightning_bolts",
    ],
)
def test_what_is_no_pin(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(line + "\n")
    assert pins_in(tmp_path / "requirements.txt") == []


@pytest.mark.parametrize("name", ["pyproject.toml", "poetry.lock", "setup.cfg", "setup.py", "Pipfile.lock"])
def test_a_broken_file_says_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("pytorch-lightning [[[ = 'x\n{")
    assert pins_in(tmp_path / name) == []


def test_the_nearest_directory_counts_and_locks_come_first(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "sub" / "pkg"
    inner.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("pytorch-lightning==1.2.0\n")
    assert [str(each.installs) for each in find_pins(inner)] == ["1.2.0"]
    (tmp_path / "sub" / "requirements").mkdir()
    (tmp_path / "sub" / "requirements" / "base.txt").write_text("pytorch-lightning>=1.5,<1.7\n")
    (tmp_path / "sub" / "poetry.lock").write_text(LOCK)
    assert [str(each.installs) for each in find_pins(inner)] == ["1.6.4", "1.6.5"]


def test_a_release_that_is_not_known_stands_for_itself() -> None:
    from packaging.specifiers import SpecifierSet

    assert str(newest(SpecifierSet("==3.1.0"))) == "3.1.0"
    assert str(newest(SpecifierSet(">=1.5"))) == "2.6.6"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "torch\nrelight[train]>=0.1\n"),
        ("requirements.txt", "relight\n"),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = [\n    "relight[train]",\n]\n'),
        ("environment.yml", "dependencies:\n  - pip:\n    - relight[train]\n"),
    ],
)
def test_a_project_that_went_over_is_not_judged_by_an_old_lock_file(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "poetry.lock").write_text(LOCK)
    inner = tmp_path / "docs"
    inner.mkdir()
    assert find_pins(inner, tmp_path)
    (inner / name).write_text(text)
    assert find_pins(inner, tmp_path) == ()
    (tmp_path / name).write_text(text)
    assert find_pins(tmp_path, tmp_path) == ()


def test_a_package_called_nearly_so_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "poetry.lock").write_text(LOCK)
    (tmp_path / "requirements.txt").write_text("relight-tools==1\nmy-relight\n")
    assert find_pins(tmp_path, tmp_path)

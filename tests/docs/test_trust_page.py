"""What docs/trust.md says of the tool: it runs nothing of a project, connects to nothing, writes only what it fixes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_WATCHED = """
import json, sys
seen = []
def hook(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "socket.connect", "socket.getaddrinfo"):
        seen.append([event, repr(arguments[0])])
    elif event == "open" and isinstance(arguments[0], str) and set(str(arguments[1] or "")) & set("wax+"):
        seen.append(["write", arguments[0]])
    elif event == "open" and arguments[1] is None and isinstance(arguments[2], int) and arguments[2] & 3:
        seen.append(["write", str(arguments[0])])
    elif event == "os.rename":
        seen.append(["rename", str(arguments[1])])
    elif event == "exec" and sys.argv[1] in getattr(arguments[0], "co_filename", ""):
        seen.append(["exec", arguments[0].co_filename])
sys.dont_write_bytecode = True
sys.addaudithook(hook)
from trainer_upgrade.cli import main
code = main(sys.argv[2:])
foreign = sorted(name for name in ("torch", "lightning_fabric", "pytorch_lightning") if name in sys.modules)
print(json.dumps({"code": code, "seen": seen, "foreign": foreign}), file=sys.stderr)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "moons"
    shutil.copytree(ROOT / "examples" / "legacy", directory, ignore=shutil.ignore_patterns("__pycache__"))
    (directory / "setup.py").write_text(
        "open('ran', 'w')\nfrom setuptools import setup\nsetup(install_requires=['pytorch-lightning<2'])\n"
    )
    (directory / "bomb.py").write_text(
        "import pytorch_lightning as pl\nopen('ran', 'w')\npl.Trainer(gpus=1)\n"
    )
    return directory


def _watch(project: Path, *arguments: str) -> tuple[list[list[str]], list[str]]:
    ran = subprocess.run(
        [sys.executable, "-c", _WATCHED, str(project), *arguments],
        cwd=project, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    told = json.loads(ran.stderr.splitlines()[-1])
    assert told["code"] in (0, 1), ran.stderr
    assert not (project / "ran").exists()
    return told["seen"], told["foreign"]


def test_a_check_runs_nothing_and_writes_nothing(project: Path) -> None:
    before = {path: path.read_bytes() for path in project.iterdir()}
    assert _watch(project, "--check", ".") == ([], [])
    assert {path: path.read_bytes() for path in project.iterdir()} == before


def test_an_upgrade_writes_what_it_fixes_and_asks_git(project: Path) -> None:
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    seen, foreign = _watch(project, "-q", ".")
    assert foreign == []
    changed = {path.name for path in project.iterdir() if path.read_bytes() != before[path.name]}
    assert "bomb.py" in changed
    assert {Path(name).name for event, name in seen if event == "rename"} == changed
    for event, what in seen:
        assert event in ("rename", "write", "subprocess.Popen"), (event, what)
        if event == "write":
            assert Path(what).name.startswith(tuple(f".{name}." for name in changed)), what
        elif event == "subprocess.Popen":
            assert what == "'git'"

"""The flake8 plugin: through the real flake8, and against the command."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trainer_upgrade.flake8 import TrainerUpgradePlugin

BAD = """import pytorch_lightning as pl

# caf\u00e9
x = "\u00e9", pl.Trainer(gpus=2)
trainer = pl.Trainer(gpus=2)  # noqa: TRU101
trainer = pl.Trainer(gpus=2)  # trainer-upgrade: ignore[TRU101]


class Net(pl.LightningModule):
    def validation_epoch_end(self, outputs):
        print(outputs)
"""


def flake8(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "-j1", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def command(cwd: Path, *arguments: str) -> list[tuple[str, int, int, str, str]]:
    done = subprocess.run(
        [sys.executable, "-m", "trainer_upgrade", "--check", "--output-format", "json", *arguments],
        cwd=cwd,
        capture_output=True,
        check=False,
    )
    found = json.loads(done.stdout)
    return [
        (Path(e["filename"]).name, e["location"]["row"], e["location"]["column"], e["code"], e["message"])
        for e in found
    ]


def reported(done: subprocess.CompletedProcess[str]) -> list[tuple[str, int, int, str, str]]:
    assert done.stderr == ""
    found = []
    for line in done.stdout.splitlines():
        path, row, column, text = line.split(":", 3)
        code, message = text.strip().split(" ", 1)
        found.append((Path(path).name, int(row), int(column), code, message))
    return found


def test_flake8_and_the_command_agree(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "base.py").write_text(
        "from pytorch_lightning import LightningModule\nclass Base(LightningModule): ...\n"
    )
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "crlf.py").write_bytes(BAD.replace("\n", "\r\n").encode())
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbf" + BAD.encode())
    (tmp_path / "child.py").write_text(
        "from base import Base\nclass C(Base):\n    def validation_epoch_end(self, outs): print(outs)\n"
    )
    (tmp_path / "plain.py").write_text("x = 1\n")
    found = reported(flake8(tmp_path, "--select", "TRU", "."))
    assert sorted(found) == sorted(command(tmp_path, "."))
    codes = {(name, row, code) for name, row, _, code, _ in found}
    assert ("bad.py", 4, "TRU101") in codes
    assert not {(name, row) for name, row, _ in codes} & {("bad.py", 5), ("bad.py", 6), ("plain.py", 1)}
    assert [name for name, *_ in found].count("child.py") == 1


def test_the_prefix_is_on_by_default_and_can_be_ignored(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    assert "TRU101" in flake8(tmp_path, "bad.py").stdout
    assert "TRU101" not in flake8(tmp_path, "--extend-ignore", "TRU1", "bad.py").stdout
    assert "relight" in flake8(tmp_path, "--version").stdout  # flake8 names the distribution


def test_the_target_is_an_option_and_a_setting(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    for target in ("relight", "lightning"):
        found = reported(flake8(tmp_path, "--select", "TRU", "--trainer-upgrade-target", target, "bad.py"))
        assert found == command(tmp_path, "--target", target, "bad.py")
    config = tmp_path / "cfg"
    config.write_text("[flake8]\ntrainer-upgrade-target = lightning\n")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--config", str(config), "--select", "TRU", "bad.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert reported(done) == command(tmp_path, "--target", "lightning", "bad.py")


def test_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select", "TRU", "-"],
        cwd=tmp_path,
        input="import pytorch_lightning as pl\npl.Trainer(gpus=1)\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "stdin:2:12: TRU101" in done.stdout


def plugin(text: str, filename: str) -> list[tuple[int, int, str, type]]:
    return list(TrainerUpgradePlugin(ast.parse(text), filename, text.splitlines(keepends=True)).run())


def test_no_libcst_and_no_torch() -> None:
    script = (
        "import sys, ast; sys.modules['torch'] = None\n"
        "from trainer_upgrade.flake8 import TrainerUpgradePlugin as P\n"
        f"text = {BAD!r}\n"
        "found = list(P(ast.parse(text), 'x.py', text.splitlines(keepends=True)).run())\n"
        "assert any('TRU101' in each[2] for each in found), found\n"
        "assert 'libcst' not in sys.modules and 'rich' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_file_without_lightning_costs_next_to_nothing(tmp_path: Path) -> None:
    text = "import os\n" + "def f(x):\n    return os.path.join(x, 'a')\n" * 20_000
    tree = ast.parse(text)
    path = tmp_path / "big.py"
    path.write_text(text)
    lines = text.splitlines(keepends=True)
    begin = time.perf_counter()
    assert list(TrainerUpgradePlugin(tree, str(path), lines).run()) == []
    spent = time.perf_counter() - begin
    begin = time.perf_counter()
    ast.parse(text)
    assert spent < (time.perf_counter() - begin) / 2


def test_many_files_without_lightning_cost_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of the files looked at before is not worked out again, nor kept in memory."""
    monkeypatch.setattr(TrainerUpgradePlugin, "_projects", {})
    names = [f"m{number}" for number in range(40)]
    for name, other in zip(names, [*names[1:], "os"], strict=True):
        (tmp_path / f"{name}.py").write_text(f"import {other}\nfrom {other} import x\n")
    read: list[Path] = []
    plain = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or plain(path))
    for name in names:
        path = tmp_path / f"{name}.py"
        text = path.read_text()
        assert (
            list(TrainerUpgradePlugin(ast.parse(text), str(path), text.splitlines(keepends=True)).run()) == []
        )
    (project,) = TrainerUpgradePlugin._projects.values()
    assert len(read) <= len(names)
    assert all(project.module(tmp_path / f"{name}.py")._tree is None for name in names)


def test_another_text_than_the_one_on_disk_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import pytorch_lightning as pl\npl.Trainer(gpus=1)\n")
    (tmp_path / "y.py").write_text("from x import pl\npl.Trainer(gpus=1)\n")
    assert any(
        "TRU101" in each[2] for each in plugin((tmp_path / "y.py").read_text(), str(tmp_path / "y.py"))
    )
    assert plugin("import other as pl\npl.Trainer(gpus=1)\n", str(path)) == []
    assert not any(
        "TRU101" in each[2]
        for each in plugin("from x import pl\npl.Trainer(gpus=2)\n", str(tmp_path / "y.py"))
    )


def test_nothing_for_an_empty_file(tmp_path: Path) -> None:
    assert plugin("", str(tmp_path / "x.py")) == []


@pytest.mark.parametrize("target", ["relight", "lightning"])
def test_messages_begin_with_the_code(tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrainerUpgradePlugin, "target", target)
    found = plugin(BAD, str(tmp_path / "x.py"))
    assert found
    for row, column, message, kind in found:
        assert row >= 1
        assert column >= 0
        assert message[:3] == "TRU"
        assert message[3:6].isdigit()
        assert message[6] == " "
        assert kind is TrainerUpgradePlugin

"""Files with work that git does not know are not rewritten without being told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from trainer_upgrade.cli import main

BAD = "import pytorch_lightning as pl\npl.Trainer(gpus=2)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub dir").mkdir()
    for name in ("a.py", "sub dir/b.py"):
        (tmp_path / name).write_text(BAD)
    (tmp_path / "clean.py").write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "start")
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments], cwd=root, check=True
    )


def upgrade(*arguments: str) -> int:
    return main(["--target", "lightning", *arguments, "."])


def test_nothing_at_all_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sub dir/b.py").write_text(BAD + "# mine\n")
    assert upgrade() == 2
    err = capsys.readouterr().err
    assert "nothing was changed: 1 of the files to rewrite has changes that git does not know" in err
    assert "sub dir/b.py" in err
    assert "--allow-dirty" in err
    assert (project / "a.py").read_text() == BAD
    assert upgrade("--allow-dirty") == 0
    assert (project / "sub dir/b.py").read_text().endswith("devices=2)\n# mine\n")


def test_what_is_committed_staged_or_not_in_the_way_may_be_rewritten(project: Path) -> None:
    (project / "clean.py").write_text("x = 2\n")  # nothing to rewrite there
    (project / "a.py").write_text(BAD + "# staged\n")
    git(project, "add", "a.py")
    (project / "new.py").write_text(BAD)  # git does not track it
    assert upgrade() == 0
    for name in ("a.py", "sub dir/b.py", "new.py"):
        assert "devices=2" in (project / name).read_text()


def test_a_check_and_a_diff_change_nothing_and_refuse_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a.py").write_text(BAD + "# mine\n")
    assert upgrade("--check") == 1
    assert upgrade("--diff") == 1
    assert "devices=2" in capsys.readouterr().out


def test_without_git_nothing_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.py").write_text(BAD + "# mine\n")
    monkeypatch.setenv("PATH", str(project))
    assert upgrade() == 0

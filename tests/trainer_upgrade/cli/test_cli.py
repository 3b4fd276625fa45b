"""The command: exit codes, output, standard input, errors in one line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BAD = "import pytorch_lightning as pl\n\n\ndef main(model):\n    trainer = pl.Trainer(gpus=2, max_epochs=1)\n    trainer.fit(model)\n"


def run(*arguments: str, cwd: Path, stdin: str | bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "trainer_upgrade", *arguments],
        cwd=cwd,
        input=data,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").write_text(BAD)
    (tmp_path / "pkg" / "clean.py").write_text("x = 1\n")
    return tmp_path


def test_check_reports_and_changes_nothing(project: Path) -> None:
    done = run("--check", "--target", "lightning", "pkg", cwd=project)
    assert done.returncode == 1
    assert done.stderr == ""
    assert re.search(r"^pkg/train\.py:5:26: TRU101 \[\*\] .*gpus", done.stdout, re.MULTILINE)
    assert re.search(r"^Found 1 finding \(1 fixable\) in 2 files\.$", done.stdout, re.MULTILINE)
    assert (project / "pkg/train.py").read_text() == BAD


def test_verbose_shows_the_source_and_quiet_no_summary(project: Path) -> None:
    done = run("--check", "-v", "--target", "lightning", "pkg", cwd=project)
    lines = done.stdout.splitlines()
    (row,) = [index for index, line in enumerate(lines) if line.startswith("5 | ")]
    assert lines[row] == "5 |     trainer = pl.Trainer(gpus=2, max_epochs=1)"
    assert lines[row + 1].startswith("  | " + " " * 25 + "^^^^^^")
    done = run("--check", "-q", "--target", "lightning", "pkg", cwd=project)
    assert "Found" not in done.stdout
    assert "TRU101" in done.stdout


def test_upgrade_writes_then_has_nothing_left(project: Path) -> None:
    done = run("--target", "lightning", "pkg", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 fixed" in done.stdout
    assert "1 rewritten" in done.stdout
    new = (project / "pkg/train.py").read_text()
    assert new == BAD.replace("gpus=2", 'accelerator="gpu", devices=2')
    done = run("--target", "lightning", "pkg", cwd=project)
    assert (done.returncode, done.stdout) == (0, "Nothing to upgrade in 2 files.\n")
    assert run("--check", "--target", "lightning", "pkg", cwd=project).returncode == 0
    assert (project / "pkg/train.py").read_text() == new


def test_diff_can_be_applied(project: Path) -> None:
    done = run("--diff", "--target", "lightning", "pkg", cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith("--- pkg/train.py\n+++ pkg/train.py\n@@ ")
    assert "would be rewritten" in done.stderr
    assert "\x1b" not in done.stdout
    assert (project / "pkg/train.py").read_text() == BAD
    if shutil.which("patch"):
        subprocess.run(["patch", "-p0", "-s"], input=done.stdout.encode(), cwd=project, check=True)
        copied = (project / "pkg/train.py").read_text()
        (project / "pkg/train.py").write_text(BAD)
        run("--target", "lightning", "pkg", cwd=project)
        assert (project / "pkg/train.py").read_text() == copied


def test_json_has_the_fields_of_ruff(project: Path) -> None:
    done = run("--check", "--output-format", "json", "--target", "lightning", "pkg", cwd=project)
    (found,) = json.loads(done.stdout)
    assert {
        "cell",
        "code",
        "end_location",
        "filename",
        "fix",
        "location",
        "message",
        "noqa_row",
        "url",
    } <= set(found)
    assert found["code"] == "TRU101"
    assert found["location"] == {"row": 5, "column": 26}
    assert found["filename"] == str(project / "pkg" / "train.py")
    assert found["fix"]["applicability"] == "safe"
    assert found["fix"]["edits"]


def test_statistics(project: Path) -> None:
    done = run("--check", "--statistics", "--target", "lightning", "pkg", cwd=project)
    assert re.search(r"^ +1  TRU101  ", done.stdout, re.MULTILINE)


def test_standard_input(project: Path) -> None:
    done = run("--target", "lightning", "-", cwd=project, stdin=BAD)
    assert done.returncode == 0
    assert done.stdout == BAD.replace("gpus=2", 'accelerator="gpu", devices=2')
    assert "1 fixed" in done.stderr
    done = run("--check", "--stdin-filename", "pkg/new.py", "-", cwd=project, stdin=BAD)
    assert done.returncode == 1
    assert "pkg/new.py:5:26: TRU101" in done.stdout
    done = run("-", cwd=project, stdin=b"x = 1\r\n")
    assert (done.returncode, done.stdout) == (0, "x = 1\r\n")
    done = run("-", cwd=project, stdin=b"import lightning\nx = = 1\r\n")
    assert done.returncode == 2
    assert done.stdout == "import lightning\nx = = 1\r\n"
    assert "TRU001" in done.stderr


def test_the_stdin_file_is_seen_among_its_neighbours(project: Path) -> None:
    (project / "pkg/base.py").write_text(
        "import pytorch_lightning as pl\ndef make():\n    return pl.Trainer\n"
    )
    source = "from base import pl\npl.Trainer(gpus=1)\n"
    done = run("--check", "--stdin-filename", "pkg/x.py", "-", cwd=project, stdin=source)
    assert "TRU101" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give at least one file"),
        (("--select", "TRU999", "pkg"), "no code TRU999; did you mean TRU"),
        (("--ignore", "gpus", "pkg"), "did you mean TRU101?"),
        (("--explain", "TRU10"), "no code or legacy name TRU10"),
        (("--explain", "gpux"), "did you mean gpus?"),
        (("--target", "keras", "pkg"), "invalid choice"),
        (("--check", "--diff", "pkg"), "not allowed with"),
        (("gone",), "gone: no such file"),
        (("-", "pkg"), "stands alone"),
        (("--stdin-filename", "x.py", "pkg"), "goes with the path -"),
    ],
)
def test_wrong_usage(project: Path, arguments: tuple[str, ...], told: str) -> None:
    done = run(*arguments, cwd=project)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert (project / "pkg/train.py").read_text() == BAD


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--select", "TRU1"), 1),
        (("--select", "TRU2,TRU3"), 0),
        (("--select", "TRU2", "--extend-select", "TRU101"), 1),
        (("--ignore", "TRU101"), 0),
        (("--select", "ALL", "--ignore", "TRU1"), 0),
        (("--select", "tru101"), 1),
    ],
)
def test_codes_are_chosen(project: Path, options: tuple[str, ...], code: int) -> None:
    assert run("--check", "--target", "lightning", *options, "pkg", cwd=project).returncode == code


def test_explain(project: Path) -> None:
    done = run("--explain", "TRU101", cwd=project)
    assert done.returncode == 0
    assert "Trainer(gpus=…)" in done.stdout
    assert "| gone since | 2.0 |" in done.stdout
    assert 'accelerator="gpu", devices=2' in done.stdout
    assert run("--explain", "gpus", cwd=project).stdout.startswith(done.stdout)
    assert run("--explain", "tru001", cwd=project).returncode == 0


def test_trouble_with_one_file_gives_2_and_the_others_go_on(project: Path) -> None:
    (project / "pkg/broken.py").write_text("import lightning\nx = = 1\n")
    read_only = project / "pkg/read_only.py"
    read_only.write_text(BAD)
    read_only.chmod(0o444)
    done = run("--target", "lightning", "pkg", cwd=project)
    assert done.returncode == 2
    assert "pkg/broken.py:2:5: TRU001" in done.stdout
    assert "pkg/read_only.py:1:1: TRU003" in done.stdout
    assert "Traceback" not in done.stderr
    assert "gpus" not in (project / "pkg/train.py").read_text()
    assert read_only.read_text() == BAD


def test_findings_are_sorted_by_file_and_place(project: Path) -> None:
    for name in ("z.py", "a.py", "sub/m.py"):
        (project / "pkg" / name).parent.mkdir(exist_ok=True)
        (project / "pkg" / name).write_text(BAD + "pl.Trainer(gpus=1)\n")
    done = run("--check", "--target", "lightning", "pkg", cwd=project)
    places = re.findall(r"^(\S+):(\d+):\d+: TRU", done.stdout, re.MULTILINE)
    assert places == sorted(places, key=lambda each: (each[0], int(each[1])))
    assert len(places) == 7


BLOCKED = """
import sys
sys.modules["torch"] = None
sys.modules["lightning"] = None
sys.modules["pytorch_lightning"] = None
from trainer_upgrade.cli import main
code = main(sys.argv[1:])
assert "lightning_fabric" not in sys.modules
assert "libcst" not in sys.modules or "--version" not in sys.argv
sys.exit(code)
"""


@pytest.mark.parametrize(("arguments", "code"), [(("--check", "pkg"), 1), (("--version",), 0), (("pkg",), 0)])
def test_the_tool_works_without_torch(project: Path, arguments: tuple[str, ...], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments], cwd=project, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_version_and_help_import_little(project: Path) -> None:
    script = (
        "import sys; from trainer_upgrade.cli import main; main(['--version']); print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=False, env={
        **os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    })  # fmt: skip
    assert done.returncode == 0, done.stderr
    for heavy in (
        "libcst",
        "rich",
        "pathspec",
        "packaging",
        "trainer_upgrade.engine",
        "trainer_upgrade.catalogue",
    ):
        assert f"'{heavy}'" not in done.stdout

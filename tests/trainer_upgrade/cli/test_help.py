"""The command in a terminal: help that fits, hints for typing errors, colour only where it is wanted."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from trainer_upgrade.arguments import FORMATS, build_parser

TOOL = [sys.executable, "-m", "trainer_upgrade"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [*TOOL, *arguments], capture_output=True, text=True, env={**clean, **environment}, timeout=60
    )


def test_help_fits_80_columns() -> None:
    text = run("-h", COLUMNS="80", NO_COLOR="1").stdout
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "examples:" in text
    for each in FORMATS:
        assert each in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--chekc", "."), "did you mean --check?"),
        (("--outptu-format=json", "--isolatd", "."), "did you mean --output-format and --isolated?"),
        (("--output-format", "jsno", "."), "did you mean json?"),
        (("--target", "lighning", "."), "did you mean lightning?"),
        (("--qqqqq", "."), "unrecognized arguments: --qqqqq\n"),
        (("--target", "qqq", "."), "(choose from 'relight', 'lightning')\n"),
    ],
)
def test_an_error_says_what_was_meant(arguments: tuple[str, ...], hint: str) -> None:
    done = run(*arguments, NO_COLOR="1")
    assert done.returncode == 2
    assert hint.replace("'", "") in done.stderr.replace("'", "")  # 3.12 and later quote choices otherwise


def test_paths_can_be_completed() -> None:
    """What shtab reads: https://docs.iterative.ai/shtab."""
    actions = {action.dest: action for action in build_parser()._actions}
    for name in ("paths", "config", "baseline", "report", "stdin_filename"):
        assert actions[name].complete["bash"] == "_shtab_compgen_files"  # type: ignore[attr-defined]
    assert not hasattr(actions["select"], "complete")


def _in_a_terminal(directory: Path, **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [*TOOL, "--check", "--output-format", "grouped", "."],
        cwd=directory, stdout=theirs, stderr=theirs, env={**clean, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side has ended
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert done.wait(60) == 1
    return text.decode()


def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import pytorch_lightning as pl\n\npl.Trainer(gpus=1)\n")
    assert "\x1b[" in _in_a_terminal(tmp_path)
    assert "\x1b[" not in _in_a_terminal(tmp_path, NO_COLOR="1")
    assert "\x1b[" not in _in_a_terminal(tmp_path, TERM="dumb")
    piped = subprocess.run([*TOOL, "--check", "."], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "\x1b[" not in piped.stdout + piped.stderr


def test_a_reader_that_goes_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import pytorch_lightning as pl\n" + "pl.Trainer(gpus=1)\n" * 3000)
    command = f"'{sys.executable}' -m trainer_upgrade --check . | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""

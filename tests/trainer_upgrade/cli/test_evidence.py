"""``--evidence``: what a run under compat saw, where the code does not say it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODE = """\
import json
import pytorch_lightning as pl

cfg = json.loads('{"gpus": 0, "max_epochs": 1, "logger": false}')
trainer = pl.Trainer(checkpoint_callback=False, **cfg)
print(getattr(trainer, "num_" + "gpus"))
"""


def check(root: Path, *options: str) -> tuple[int, list[tuple[int, str]], str]:
    command = [sys.executable, "-m", "trainer_upgrade", "--isolated", "--check", "--output-format", "json"]
    done = subprocess.run([*command, *options, "."], cwd=root, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout) if done.stdout else []
    return done.returncode, [(each["location"]["row"], each["code"]) for each in found], done.stderr


def record(**given: Any) -> str:
    return (
        json.dumps(
            {"code": "TRU101", "file": "a.py", "line": 5, "item": "Trainer.gpus", "message": "m", **given}
        )
        + "\n"
    )


def test_a_real_run_shows_what_the_code_hides(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    environment = {**os.environ, "RELIGHT_COMPAT_LOG": "log.jsonl", "RELIGHT_COMPAT": "ignore"}
    run = [sys.executable, "-m", "relight.compat", "a.py"]
    subprocess.run(run, cwd=tmp_path, env=environment, check=True, capture_output=True)
    _, before, _ = check(tmp_path)
    code, after, errors = check(tmp_path, "--evidence", "log.jsonl")
    assert (code, errors) == (1, "")
    # `checkpoint_callback` stands in the code and in the log: it is told once.
    assert before == [(2, "TRU334"), (5, "TRU117")]
    assert after == [(2, "TRU334"), (5, "TRU101"), (5, "TRU117"), (6, "TRU407")]


def test_a_log_of_another_machine_is_matched_by_the_end_of_the_path(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a.py").write_text(CODE)
    (tmp_path / "log.jsonl").write_text(record(file="/home/else/project/pkg/a.py"))
    assert (5, "TRU101") in check(tmp_path, "--evidence", "log.jsonl")[1]


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (record(line=99), "a.py:99: the file has changed since it was run"),
        (record(file="gone.py"), "gone.py: not among the files looked at"),
        ("{broken\n", "log.jsonl:2: no line of a log of relight.compat"),
        (record(code="TRU9999"), "log.jsonl:2: no line of a log"),
        (record(line="5"), "log.jsonl:2: no line of a log"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, line: str, note: str) -> None:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "log.jsonl").write_text(record() + line)
    code, found, errors = check(tmp_path, "--evidence", "log.jsonl")
    assert code == 1
    assert (5, "TRU101") in found
    assert note in errors
    assert errors.count("\n") == 1


def test_comments_and_options_switch_it_off(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE.replace("**cfg)", "**cfg)  # noqa: TRU101"))
    (tmp_path / "log.jsonl").write_text(record())
    assert (5, "TRU101") not in check(tmp_path, "--evidence", "log.jsonl")[1]
    (tmp_path / "a.py").write_text(CODE)
    assert (5, "TRU101") not in check(tmp_path, "--evidence", "log.jsonl", "--ignore", "TRU1")[1]


@pytest.mark.parametrize(("text", "word"), [(None, "No such file"), ("hello\n", "no log of relight.compat")])
def test_wrong_files_are_refused(tmp_path: Path, text: str | None, word: str) -> None:
    (tmp_path / "a.py").write_text(CODE)
    if text is not None:
        (tmp_path / "log.jsonl").write_text(text)
    code, _, errors = check(tmp_path, "--evidence", "log.jsonl")
    assert code == 2
    assert word in errors


def test_it_goes_with_check(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trainer_upgrade", "--evidence", "x", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "goes with --check" in done.stderr

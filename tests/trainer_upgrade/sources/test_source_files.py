"""Files are written whole or not at all; comments switch findings off."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from trainer_upgrade.sources import files
from trainer_upgrade.sources.files import FileChangedError, write_atomically
from trainer_upgrade.sources.suppress import Suppressions
from trainer_upgrade.sources.text import LineIndex


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "sub" / "link.py"
    link.parent.mkdir()
    real.write_bytes(b"old")
    real.chmod(0o751)
    link.symlink_to("../real.py")
    write_atomically(link, b"new", expected=b"old")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o751
    assert sorted(os.listdir(tmp_path)) == ["real.py", "sub"]


def test_a_failure_leaves_the_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(OSError, match="disk"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]


def test_read_only_files_and_files_changed_meanwhile_are_left(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"newer")
    with pytest.raises(FileChangedError):
        write_atomically(path, b"new", expected=b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_atomically(path, b"new", expected=b"newer")
    assert path.read_bytes() == b"newer"


def off(text: str, code: str = "TRU101", row: int = 1, last: int | None = None) -> bool:
    return Suppressions(text, LineIndex(text)).off(code, row, last or row)


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# noqa", True),
        ("#noqa", True),
        ("# NOQA", True),
        ("# noqa: TRU101", True),
        ("# noqa:TRU101", True),
        ("# noqa: E501, TRU101", True),
        ("# noqa: E501 TRU101", True),
        ("# noqa: TRU", True),
        ("# noqa: TRU1", True),
        ("# noqa: tru101", True),
        ("# noqa: E501", False),
        ("# noqa: TRU102", False),
        ("# noqa: TRU101 because it is old", True),
        ("# type: ignore  # noqa: TRU101", True),
        ("# trainer-upgrade: ignore", True),
        ("# trainer-upgrade: ignore[TRU101]", True),
        ("# trainer-upgrade: ignore[TRU102, TRU101]", True),
        ("# trainer-upgrade: ignore[TRU102]", False),
        ("# something else", False),
    ],
)
def test_comments_on_a_line(comment: str, expected: bool) -> None:
    assert off(f"x = 1  {comment}\ny = 2\n") is expected
    assert not off(f"x = 1  {comment}\ny = 2\n", row=2)


def test_the_last_line_of_a_finding_counts_and_strings_are_one_line() -> None:
    assert off("f(\n  1,\n)  # noqa\n", row=1, last=3)
    # The first and the last line of the statement count for all of it, a line in between for itself.
    assert off("f(\n  1,\n)  # noqa\n", row=2, last=2)
    assert off("f(  # noqa\n  1,\n)\n", row=2, last=2)
    assert not off("f(\n  1,  # noqa\n  2,\n)\n", row=3, last=3)
    assert not off("def f(\n  a,\n):  # noqa\n  x = 1\n", row=4, last=4)
    assert off('f("""\n\n""")  # noqa\n', row=1)
    assert off("x = 1 + \\\n  2  # noqa\n", row=1)


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("# trainer-upgrade: ignore-file\nx\n", "TRU101", True),
        ("x\n  # trainer-upgrade: ignore-file\n", "TRU101", True),
        ("x = 1  # trainer-upgrade: ignore-file\ny\n", "TRU101", False),
        ("# flake8: noqa\nx\n", "TRU101", True),
        ("# flake8: noqa: TRU101\nx\n", "TRU101", True),
        ("# flake8: noqa: TRU101\nx\n", "TRU102", False),
        ("# flake8: noqa: E501,TRU1\nx\n", "TRU102", True),
    ],
)
def test_comments_for_a_file(text: str, code: str, expected: bool) -> None:
    assert off(text, code, row=2) is expected

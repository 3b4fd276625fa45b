"""A baseline: what is known is not shown, what is new is, and the number only goes down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainer_upgrade.cli import main

LINES = [
    "import pytorch_lightning as pl",
    "a = pl.Trainer(gpus=1)",
    "b = pl.Trainer(gpus=2)",
    "b = pl.Trainer(gpus=2)",
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.trainer-upgrade]\ntarget = 'lightning'\nbaseline = 'known.json'\noutput-format = 'concise'\n"
    )
    write(tmp_path, LINES)
    return tmp_path


def write(root: Path, lines: list[str], name: str = "a.py") -> None:
    (root / name).write_text("\n".join(lines) + "\n")


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = main(["--check", *arguments, "."])
    out = capsys.readouterr()
    return code, out.out.splitlines(), out.err


def counts(root: Path) -> dict[str, int]:
    data = json.loads((root / "known.json").read_text())
    return {name: sum(each["count"] for each in listed) for name, listed in data["findings"].items()}


def test_it_is_written_and_then_only_new_findings_count(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = check(capsys)
    assert (code, out) == (0, [])
    assert "known.json was written: 3 findings are known from now on" in err
    assert counts(project) == {"a.py": 3}
    assert check(capsys) == (0, [], "")
    # Moved, indented and reordered lines are known; another of the same kind is not.
    write(project, [LINES[0], "", "# more", LINES[2], "if a:", "    " + LINES[3], LINES[1]])
    assert check(capsys) == (0, [], "")
    write(project, [*LINES, LINES[3], "c = pl.Trainer(gpus=3)"])
    code, out, err = check(capsys)
    assert (code, err) == (1, "")
    assert [line.split(":")[1] for line in out] == ["5", "6"]
    assert counts(project) == {"a.py": 3}


def test_the_number_only_goes_down(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys)
    write(project, [LINES[0], LINES[2], "c = pl.Trainer(gpus=3)"])
    code, out, err = check(capsys)
    assert code == 1
    assert "2 of the findings in known.json are gone: lower it with --write-baseline" in err
    code, out, err = check(capsys, "--write-baseline")
    assert (code, len(out)) == (1, 1)  # what is new is not taken in
    assert "known.json was lowered by 2: 1 findings are known" in err
    assert counts(project) == {"a.py": 1}
    write(project, LINES)
    assert check(capsys)[0] == 1  # what was gone and comes back is new


def test_files_that_were_not_looked_at_are_not_missed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, LINES, "b.py")
    check(capsys)
    assert counts(project) == {"a.py": 3, "b.py": 3}
    assert main(["--check", "a.py"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["--check", "--select", "TRU2", "."]) == 0
    assert capsys.readouterr().err == ""
    (project / "b.py").unlink()
    assert main(["--check", "a.py"]) == 0
    assert "3 of the findings" in capsys.readouterr().err


def test_the_same_from_another_directory(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "sub").mkdir()
    write(project, LINES, "sub/c.py")
    check(capsys)
    monkeypatch.chdir(project / "sub")
    assert check(capsys) == (0, [], "")
    assert main(["--check", "--baseline", str(project / "known.json"), str(project)]) == 0


def test_an_upgrade_fixes_what_is_known(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys)
    assert main(["."]) == 0
    assert "gpus" not in (project / "a.py").read_text()
    assert "3 of the findings in known.json are gone" in capsys.readouterr().err


def test_trouble_is_never_known(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "b.py").write_text("import lightning\nx = = 1\n")
    assert main(["--check", "."]) == 2
    assert "b.py:2:5: TRU001" in capsys.readouterr().out
    assert counts(project) == {"a.py": 3}


def test_the_file_reads_well_and_says_what_the_summary_hides(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(capsys)
    lines = (project / "known.json").read_text().splitlines()
    assert '      {"code": "TRU101", "count": 2, "line": "b = pl.Trainer(gpus=2)"}' in lines
    assert main(["--check", "--output-format", "text", "."]) == 0
    assert "3 findings of the baseline are not shown." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no baseline"),
        ("[]", "is no baseline of trainer-upgrade"),
        ('{"version": 1}', "is no baseline of trainer-upgrade"),
        ('{"version": 9, "findings": {}}', "is a baseline of version 9, not 1"),
        ('{"version": 1, "findings": {"a.py": [{"code": "TRU101"}]}}', "is no baseline of trainer-upgrade"),
    ],
)
def test_a_broken_file_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    (project / "known.json").write_text(text)
    code, out, err = check(capsys)
    assert (code, out) == (2, [])
    assert err.startswith("trainer-upgrade: ")
    assert told in err
    assert (project / "known.json").read_text() == text

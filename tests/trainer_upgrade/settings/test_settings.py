"""Settings: where they come from, what overrides what, and errors in one line."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from trainer_upgrade.cli import main

BAD = "import pytorch_lightning as pl\npl.Trainer(gpus=2, checkpoint_callback=False)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("pkg/a.py", "pkg/old/b.py", "tests/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(BAD)
    configure(tmp_path, "target = 'lightning'")
    return tmp_path


def configure(root: Path, text: str) -> None:
    (root / "pyproject.toml").write_text(f"[project]\nname = 'x'\n\n[tool.trainer-upgrade]\n{text}\n")


def codes(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str]]:
    assert main(["--check", "--file-types", "python", "--output-format", "concise", *arguments]) in (0, 1)
    out = capsys.readouterr()
    assert out.err == ""
    return [(matched[1], matched[2]) for matched in re.finditer(r"^(\S+?):\d+:\d+: (TRU\d+)", out.out, re.M)]


def test_the_nearest_file_counts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = [
        (name, code) for name in ("pkg/a.py", "pkg/old/b.py", "tests/c.py") for code in ("TRU101", "TRU117")
    ]
    assert codes(capsys, ".") == everything
    configure(project / "pkg", "select = ['TRU117']")
    assert codes(capsys, "pkg/a.py") == [("pkg/a.py", "TRU117")]
    assert codes(capsys, "pkg/a.py", "tests") == [each for each in everything if "old" not in each[0]]
    # Without our table a file is passed over.
    (project / "pkg" / "pyproject.toml").write_text("[project]\nname = 'y'\n")
    assert len(codes(capsys, "pkg/a.py")) == 2


@pytest.mark.parametrize(
    ("text", "arguments", "left"),
    [
        ("ignore = ['TRU101']", (), ["TRU117"] * 3),
        ("ignore = ['TRU101']", ("--extend-ignore", "TRU117"), []),
        ("ignore = ['TRU101']", ("--ignore", "TRU117"), ["TRU101"] * 3),
        ("select = ['TRU101']", ("--extend-select", "TRU117"), ["TRU101", "TRU117"] * 3),
        ("select = ['silent']", (), []),
        (
            "per-file-ignores = { 'tests/*' = ['TRU1'], 'a.py' = ['TRU117'] }",
            (),
            ["TRU101", "TRU101", "TRU117"],
        ),
        ("exclude = ['old/']", (), ["TRU101", "TRU117"] * 2),
        ("exclude = ['old/']", ("--extend-exclude", "tests"), ["TRU101", "TRU117"]),
        ("exclude = ['old/']", ("--exclude", "tests,pkg/a.py"), ["TRU101", "TRU117"]),
        ("", ("--per-file-ignores", "pkg/**:TRU1"), ["TRU101", "TRU117"]),
        ("file_types = ['docs']", (), ["TRU101", "TRU117"] * 3),  # the command line says python
    ],
)
def test_settings_and_the_command_line_over_them(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: tuple[str, ...],
    left: list[str],
) -> None:
    configure(project, f"target = 'lightning'\n{text}")
    assert [code for _, code in codes(capsys, *arguments, ".")] == left


def test_patterns_are_relative_to_the_file_they_stand_in(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(project, "target = 'lightning'\nexclude = ['pkg/old']")
    monkeypatch.chdir(project / "pkg")
    assert {name for name, _ in codes(capsys, ".")} == {"a.py"}
    # A file that is named is looked at, unless hooks ask for more.
    assert {name for name, _ in codes(capsys, "old/b.py")} == {"old/b.py"}
    assert codes(capsys, "--force-exclude", "old/b.py") == []


def test_silent_findings_can_be_selected(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pkg/a.py").write_text(
        "import pytorch_lightning as pl\n\nclass Log(pl.Callback):\n    def on_batch_end(self, t, m): print(t.gpus)\n"
    )
    assert codes(capsys, "--select", "silent", ".") == [("pkg/a.py", "TRU264")]
    assert codes(capsys, "--select", "silent", "--ignore", "TRU264", ".") == []
    assert ("pkg/a.py", "TRU264") not in codes(capsys, "--ignore", "silent", ".")


def test_isolated_and_config(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, "target = 'lightning'\nignore = ['TRU1']")
    assert codes(capsys, "pkg/a.py") == []
    assert ("pkg/a.py", "TRU101") in codes(capsys, "--isolated", "pkg/a.py")
    (project / "own.toml").write_text("target = 'lightning'\nselect = ['TRU117']\n")
    assert codes(capsys, "--config", "own.toml", "pkg/a.py") == [("pkg/a.py", "TRU117")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("taget = 'lightning'", "[tool.trainer-upgrade] has no setting `taget`; did you mean `target`?"),
        ("unsafe_fix = true", "did you mean `unsafe-fixes`?"),
        ("xyz = 1", "has no setting `xyz`; there are target, target-version"),
        ("target = 'keras'", "target: 'keras' is neither `relight` nor `lightning`"),
        ("target-version = 1.9", "target-version: 1.9 is no release"),
        ("target-version = 'new'", "target-version: 'new' is no release"),
        ("select = ['TRU999']", "select: there is no code TRU999; did you mean"),
        ("select = 3", "select: must be a list of strings"),
        ("per-file-ignores = ['x']", "per-file-ignores: must be a table"),
        ("unsafe-fixes = 'yes'", "unsafe-fixes: must be true or false"),
        ("output-format = 'xml'", "output-format: there is no format 'xml'; there are text"),
        ("file-types = ['pdf']", "file-types: there is no file type pdf"),
        ("baseline = 3", "baseline: must be the path of a file"),
        ("= 3", "pyproject.toml: "),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    configure(project, text)
    assert main(["--check", "."]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.startswith("trainer-upgrade: ")
    assert out.err.count("\n") == 1
    assert told in out.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--config", "gone.toml", "."), "gone.toml: cannot be read"),
        (("--config", "x", "--isolated", "."), "do not go together"),
        (("--target-version", "new", "--check", "."), "--target-version: 'new' is no release"),
        (("--per-file-ignores", "tests", "."), "say it as PATTERN:CODES"),
        (("--diff", "--output-format", "json", "."), "--diff is text"),
        (("--write-baseline", "--check", "."), "--write-baseline wants --baseline FILE"),
    ],
)
def test_wrong_options(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert main(list(arguments)) == 2
    assert told in capsys.readouterr().err


def test_the_settings_in_force_are_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(
        project, "target = 'lightning'\nper-file-ignores = { 'tests/*' = ['TRU1'] }\nexclude = ['a b/']"
    )
    assert main(["--show-settings", "--target-version", "1.9", "--ignore", "TRU101", "pkg"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# from {project / 'pyproject.toml'}\n")
    for line in (
        'target = "lightning"',
        'target-version = "1.9"',
        'ignore = ["TRU101"]',
        'per-file-ignores = { "tests/*" = ["TRU1"] }',
        'exclude = ["a b/"]',
        "unsafe-fixes = false",
        'baseline = ""  # not set',
    ):
        assert f"{line}\n" in out


def test_check_looks_here_if_no_path_is_given(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(codes(capsys)) == 6
    assert main(["--fix-only"]) == 2
    assert (project / "pkg/a.py").read_text() == BAD


def test_exit_zero_and_fix_only(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--exit-zero", "."]) == 0
    assert "TRU101" in capsys.readouterr().out
    (project / "pkg/a.py").write_text(BAD + "pl.Trainer(track_grad_norm=2)\n")
    assert main(["--fix-only", "pkg/a.py"]) == 0
    out = capsys.readouterr().out
    assert "TRU" not in out
    assert re.match(r"Found \d fixed|Found \d findings \(\d fixed\)", out)
    assert "gpus=2" not in (project / "pkg/a.py").read_text()
    assert main(["--check", "pkg/a.py"]) == 1  # what is left is still there


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "examples:" in out
    assert "trainer-upgrade --check --select silent ." in out
    assert max(map(len, out.splitlines())) <= 110


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("options", "ci", "shown"),
    [((), "", True), (("-q",), "", False), (("--output-format", "json"), "", False), ((), "true", False)],
)
def test_progress_is_for_terminals(
    project: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], ci: str, shown: bool
) -> None:
    for number in range(60):
        (project / "pkg" / f"m{number}.py").write_text("x = 1\n")
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("sys.stderr", Terminal())
    assert main(["--check", *options, "."]) == 1
    written = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert ("\rtrainer-upgrade: 60 of 64 files" in written) is shown
    assert written == "" or written.endswith("\r\x1b[K")  # nothing of it stays

"""The code on every page runs; the commands exist, and print what the page shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import COMPILED, LEGACY, ROOT, Block, blocks, commands, page_name, pages, python_blocks

WITH_PYTHON = [page for page in pages() if python_blocks(page)]
WITH_CONSOLE = [page for page in pages() if any(block.kind == "console" for block in blocks(page))]
#: The README's first block is the legacy project it upgrades, the second what becomes of it (tests/test_readme.py).
NOT_RUN = {("README.md", 0), ("README.md", 1)}


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=page_name)
def test_code_runs(page: Path, tmp_path: Path) -> None:
    """In one process a page, in the order of the page: its blocks share a namespace."""
    program = tmp_path / "page.py"
    program.write_text(_program(page), encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "100"}
    environment.pop("RELIGHT_COMPAT", None)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(program)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert ran.returncode == 0, f"{page_name(page)}\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}"


def _program(page: Path) -> str:
    """Write a program that runs the blocks of a page; errors name the line of the page."""
    lines = ["names = {'__name__': 'page'}", "def run(text, page, line):"]
    lines.append("    exec(compile('\\n' * (line - 1) + text, page, 'exec'), names)")
    for number, block in enumerate(python_blocks(page)):
        where = f"{block.text!r}, {block.page!r}, {block.line + 1}"
        if (block.page, number) in NOT_RUN or block.above == COMPILED:
            lines.append(f"compile({block.text!r}, {block.page!r}, 'exec')")
        elif block.above == LEGACY:
            lines += ["import relight.compat", "relight.compat.install()", f"run({where})"]
            lines.append("relight.compat.uninstall()")
        else:
            lines.append(f"run({where})")
    return "\n".join(lines) + "\n"


def test_few_blocks_are_only_compiled() -> None:
    every = [block for page in pages() for block in python_blocks(page)]
    assert len(every) > 10
    assert sum(block.above == COMPILED for block in every) <= len(every) // 4


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CONSOLE, ids=page_name)
def test_console_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    """``console`` blocks are run in a copy of examples/legacy, in order; a line of … stands for any lines."""
    project = tmp_path / "moons"
    shutil.copytree(ROOT / "examples" / "legacy", project, ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(page):
        if block.kind != "console":
            continue
        for command, expected in _commands(block):
            printed = _run(command, project)
            pattern = "\n".join(".*" if line == "…" else re.escape(line) for line in expected)
            assert re.fullmatch(pattern, printed, re.DOTALL), (
                f"{block.page}:{block.line}: `{command}` prints\n{printed}\nand not\n" + "\n".join(expected)
            )


def _commands(block: Block) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in block.text.rstrip("\n").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line.rstrip())
    return found


def _run(command: str, project: Path) -> str:
    bin_directory = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{bin_directory}{os.pathsep}{os.environ.get('PATH', '')}",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONWARNINGS": "",
    }
    for name in ("RELIGHT_COMPAT", "RELIGHT_COMPAT_VERSION", "FORCE_COLOR"):
        environment.pop(name, None)
    ran = subprocess.run(
        ["bash", "-c", command], cwd=project, env=environment, capture_output=True, text=True, timeout=240
    )
    return "\n".join(line.rstrip() for line in (ran.stdout + ran.stderr).rstrip("\n").splitlines())


def test_console_comparison_sees_a_difference(tmp_path: Path) -> None:
    page = ROOT / "docs" / "index.md"
    block = next(each for each in blocks(page) if each.kind == "console")
    command, expected = _commands(block)[0]
    assert expected
    project = tmp_path / "moons"
    shutil.copytree(ROOT / "examples" / "legacy", project)
    (project / "model.py").write_text("import torch\n")
    assert _run(command, project).splitlines() != expected


def _options(help_text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", help_text))


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    def ask(*command: str) -> set[str]:
        ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr
        return _options(ran.stdout)

    return {
        "trainer-upgrade": ask("-m", "trainer_upgrade", "-h"),
        "relight.compat": ask("-m", "relight.compat", "-h"),
        "relight.checkpoint": ask("-m", "relight.checkpoint", "upgrade", "-h"),
    }


def _ours(words: list[str]) -> tuple[str, list[str]] | None:
    """Return which of our programs a command runs, and that program's own arguments."""
    if words[0] in ("trainer-upgrade", "trainer_upgrade"):
        return "trainer-upgrade", words[1:]
    for at, word in enumerate(words[:-1]):
        if word == "-m" and words[at + 1] == "trainer_upgrade":
            return "trainer-upgrade", words[at + 2 :]
        if word == "-m" and words[at + 1] == "relight.compat":
            own = []
            for each in words[at + 2 :]:
                own.append(each)
                if each == "-m" or not each.startswith("-"):
                    break  # what follows belongs to the script
            return "relight.compat", own
        if word == "-m" and words[at + 1] == "relight.checkpoint":
            return "relight.checkpoint", words[at + 2 :]
    return None


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_options_exist(page: Path, known: dict[str, set[str]]) -> None:
    for words in commands(page):
        ours = _ours(words)
        if ours is None:
            continue
        program, arguments = ours
        for word in arguments:
            if word.startswith("-") and word != "-":
                option = word.partition("=")[0]
                assert option in known[program], f"{page_name(page)}: {shlex.join(words)}: no {option}"


def test_options_are_looked_at(known: dict[str, set[str]]) -> None:
    assert len({shlex.join(words) for page in pages() for words in commands(page) if _ours(words)}) > 10
    assert "--chekc" not in known["trainer-upgrade"]
    assert _ours(["trainer-upgrade", "--chekc", "."]) == ("trainer-upgrade", ["--chekc", "."])
    assert _ours(["python", "-m", "relight.compat", "train.py", "--gpus", "0"]) == (
        "relight.compat",
        ["train.py"],
    )


def test_scripts_and_files_exist() -> None:
    """Paths below the root that pages name in backquotes or commands."""
    for page in pages():
        for path in re.findall(
            r"\b(?:scripts|benchmarks)/[\w/]+\.(?:py|tsv)", page.read_text(encoding="utf-8")
        ):
            assert (ROOT / path).exists(), f"{page_name(page)}: {path}"


SETTINGS = [
    block for page in pages() for block in blocks(page) if block.kind in ("yaml", "toml", "ini", "json")
]


@pytest.mark.parametrize("block", SETTINGS, ids=lambda block: f"{block.page}:{block.line}")
def test_settings_can_be_read(block: Block) -> None:
    """Configurations are what they say they are; options that workflows name are looked at, too."""
    if block.kind == "yaml":
        import yaml

        assert yaml.safe_load(block.text)
    elif block.kind == "toml":
        tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
        assert tomllib.loads(block.text)
    elif block.kind == "ini":
        from configparser import ConfigParser

        parser = ConfigParser()
        parser.read_string(block.text)
        assert parser.sections()
    else:
        assert json.loads(block.text)


def test_settings_of_the_tool_exist(tmp_path: Path) -> None:
    """Each ``[tool.trainer-upgrade]`` on a page is taken by the tool without a word."""
    seen = 0
    for number, block in enumerate(SETTINGS):
        if block.kind != "toml" or "[tool.trainer-upgrade]" not in block.text:
            continue
        seen += 1
        project = tmp_path / str(number)
        project.mkdir()
        (project / "pyproject.toml").write_text(block.text, encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-m", "trainer_upgrade", "--show-settings", "."],
            cwd=project, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, ""), f"{block.page}:{block.line}\n{ran.stderr}"
    assert seen >= 2


def test_flake8_takes_the_settings(tmp_path: Path) -> None:
    block = next(each for each in SETTINGS if each.kind == "ini" and "[flake8]" in each.text)
    (tmp_path / ".flake8").write_text(block.text, encoding="utf-8")
    (tmp_path / "train.py").write_text(
        "import pytorch_lightning as pl\n\npl.Trainer(gpus=1)\n", encoding="utf-8"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "flake8", "--select", "TRU", "train.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "train.py:3:12: TRU101" in ran.stdout, ran.stdout + ran.stderr

"""The page on the command line: its program runs, with each of its commands."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("jsonargparse")

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    python main\.py (.*)$", PAGE, re.MULTILINE)


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = re.findall(r"```python\n# main\.py\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "main.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["main.py", *shlex.split(command)])
    if "--print_config" in command:
        with pytest.raises(SystemExit) as ended:
            runpy.run_path("main.py", run_name="__main__")
        assert ended.value.code == 0
        return
    runpy.run_path("main.py", run_name="__main__")
    if "logger false" not in command:
        assert len(list(tmp_path.rglob("config.yaml"))) == 1

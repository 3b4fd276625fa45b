"""Pictures of the terminal for the README and the docs: real commands over a copy of examples/legacy.

usage: python scripts/screenshot.py

Writes ``docs/images/*.svg``. A test compares what they show with what the commands print today.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
WIDTH = 110
TOOL = [sys.executable, "-m", "trainer_upgrade"]
COMPAT = [sys.executable, "-W", "ignore::UserWarning", "-m", "relight.compat"]
#: Name of the picture, its title, and pairs of what is shown and what is run.
SCENES: dict[str, tuple[str, list[tuple[str, list[str]]]]] = {
    "check": (
        "what there is to do",
        [
            (
                "trainer-upgrade --check --output-format grouped .",
                [*TOOL, "--check", "--output-format", "grouped", "."],
            )
        ],
    ),
    "compat": (
        "or run it unchanged",
        [
            (
                "RELIGHT_COMPAT=summary python -m relight.compat train.py --max_epochs 2 | tail -1",
                [*COMPAT, "train.py", "--max_epochs", "2"],
            )
        ],
    ),
}


def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    for name in SCENES:
        path = IMAGES / f"{name}.svg"
        path.write_text(picture(name), encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


def picture(name: str) -> str:
    """Return a scene as SVG."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.terminal_theme import MONOKAI

    # Nothing is loaded from elsewhere, and the same text gives the same file.
    plain = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    console = _console(name)
    return console.export_svg(title=SCENES[name][0], theme=MONOKAI, code_format=plain, unique_id=name)


def shown(name: str) -> list[str]:
    """Return the lines of a scene without colours."""
    text: str = _console(name).export_text(styles=False)
    return [line.rstrip() for line in text.splitlines()]


def lines_of(svg: str) -> list[str]:
    """Return the lines that a picture shows."""
    found: dict[int, list[tuple[float, str]]] = {}
    for attributes, text in re.findall(r"<text ([^>]*clip-path[^>]*)>(.*?)</text>", svg, re.DOTALL):
        number = re.search(r"line-(\d+)\)", attributes)
        across = re.search(r'\bx="([\d.]+)"', attributes)
        if number and across:
            found.setdefault(int(number[1]), []).append((float(across[1]), _unescaped(text)))
    return ["".join(text for _, text in sorted(found[row])).rstrip() for row in sorted(found)]


def _unescaped(text: str) -> str:
    from html import unescape

    return unescape(text).replace("\xa0", " ")


def _console(name: str) -> Console:
    # Nothing about this machine's terminal may matter.
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        _environ={},
    )
    for line in _lines(name):
        console.print(line, soft_wrap=False, no_wrap=False, highlight=False)
    return console


def _lines(name: str) -> Iterator[Text]:
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "moons"
        shutil.copytree(ROOT / "examples" / "legacy", project, ignore=shutil.ignore_patterns("__pycache__"))
        for command, run in SCENES[name][1]:
            yield Text.assemble(("$ ", "bold green"), (command, "bold"))
            yield from (Text.from_ansi(line) for line in _output(run, project, command))


def _output(run: list[str], project: Path, command: str) -> list[str]:
    environment = {
        **os.environ,
        "FORCE_COLOR": "1",
        "COLUMNS": str(WIDTH),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    for name in ("NO_COLOR", "RELIGHT_COMPAT", "RELIGHT_COMPAT_VERSION", "CI"):
        environment.pop(name, None)
    if command.startswith("RELIGHT_COMPAT="):
        environment["RELIGHT_COMPAT"] = command.partition(" ")[0].partition("=")[2]
    done = subprocess.run(run, cwd=project, env=environment, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"`{command}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    out = done.stdout.splitlines()
    if command.endswith("| tail -1"):
        # Of standard error (progress bars, what Fabric says) only the summary at the end is kept.
        at = done.stderr.find("relight.compat: ")
        return [*out[-1:], *(done.stderr[at:].splitlines() if at >= 0 else [])]
    return out


if __name__ == "__main__":
    sys.exit(main())

"""What stands in the README, in CONTRIBUTING and on the pages of the docs: fenced blocks and shell commands."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: In the line above a Python block: it is compiled, not run (a project's file, or what needs a GPU).
COMPILED = "<!-- compiled only -->"
#: In the line above a Python block: code that is legacy on purpose, run under compat.
LEGACY = "<!-- legacy -->"
_FENCE = re.compile(
    r"(?P<above>[^\n]*)\n*^(?P<indent> *)```(?P<kind>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_INDENTED = re.compile(r"(?:^    \S[^\n]*\n?)+", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line above it, and where it begins."""

    page: str
    line: int
    kind: str
    text: str
    above: str


def pages() -> list[Path]:
    """Return everything that is checked, the README first."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return tuple(
        Block(
            page_name(page),
            text.count("\n", 0, found.start("kind")) + 1,
            found["kind"],
            textwrap.dedent(found["text"]),
            found["above"].strip(),
        )
        for found in _FENCE.finditer("\n" + text)
    )


def python_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.kind == "python"]


def commands(page: Path) -> Iterator[list[str]]:
    """Yield every shell command of a page as words: of shell and console blocks, and of indented ones."""
    fenced = "\n".join(
        block.text for block in blocks(page) if block.kind in ("console", "bash", "sh", "shell")
    )
    jobs = "\n".join(block.text for block in blocks(page) if block.kind == "yaml")
    fenced += "\n" + "\n".join(re.findall(r"(?:- run:|entry:|-) (trainer-upgrade .*)", jobs))
    prose = _FENCE.sub("\n", "\n" + page.read_text(encoding="utf-8"))
    indented = "\n".join(textwrap.dedent(found) for found in _INDENTED.findall(prose))
    inline = "\n".join(re.findall(r"`((?:trainer-upgrade|python -m relight)[^`\n]* [^`\n]*)`", prose))
    for line in f"{fenced}\n{indented}\n{inline}".replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|\||;", line.removeprefix("$ ")):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:
                continue
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                words.pop(0)
            if words:
                yield words

"""What a run would change, as a unified diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["coloured", "unified"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified(path: Path, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff, each with its line end; line ends count as part of a line."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    name = path.as_posix()
    for line in difflib.unified_diff(old, new, name, name):
        if line.endswith(("\n", "\r")):
            yield line
        else:
            yield line + "\n\\ No newline at end of file\n"


def coloured(lines: Iterator[str]) -> None:
    """Print the lines of a diff in colour."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        if line.startswith(("---", "+++")):
            style = "bold"
        elif line.startswith("@@"):
            style = "cyan"
        elif line.startswith("+"):
            style = "green"
        elif line.startswith("-"):
            style = "red"
        else:
            style = ""
        console.print(Text(line.rstrip("\r\n"), style=style))

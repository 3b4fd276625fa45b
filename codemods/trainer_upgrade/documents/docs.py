"""Markdown and reStructuredText: blocks of Python are upgraded like Python, command lines are looked at.

A block that imports Lightning begins a module of its own; those behind it that do not go on with its names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainer_upgrade.documents.commands import check_commands
from trainer_upgrade.documents.document import Document
from trainer_upgrade.documents.embedded_python import check_python
from trainer_upgrade.findings import Edit, Finding, Location
from trainer_upgrade.sources.embedded import Block
from trainer_upgrade.sources.fences import CodeBlock, code_blocks

__all__ = ["check_docs"]

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:pytorch_lightning|lightning|relight)\b", re.MULTILINE)


def check_docs(document: Document) -> Iterator[Finding]:
    """Yield what is found in the code blocks of a document."""
    groups: list[list[CodeBlock]] = []
    for each in code_blocks(document.text, document.path.suffix):
        if each.language in ("python", "doctest"):
            if not groups or _IMPORT.search(each.text):
                groups.append([])
            groups[-1].append(each)
        if each.language in ("shell", "") and each.lines:
            yield from check_commands(document, each.lines[0][0], each.lines[-1][1])
    for group in groups:
        if any("ightning" in each.text or "relight" in each.text for each in group):
            yield from _check(document, group)


def _check(document: Document, group: list[CodeBlock]) -> Iterator[Finding]:
    blocks = [Block(number, each.text, magics=True) for number, each in enumerate(group)]

    def write(position: int, text: str) -> list[Edit]:
        return group[position].edits(document.text, text)

    def place(block: Block, row: int, column: int) -> tuple[Location, int | None]:
        lines = group[block.number].lines
        start, end = lines[min(row, len(lines)) - 1]
        return Location(*document.lines.place(min(start + column - 1, end))), None

    yield from check_python(document, blocks, write, place=place)

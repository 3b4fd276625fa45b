"""Jupyter notebooks: all code cells are one module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from trainer_upgrade.documents.commands import check_commands
from trainer_upgrade.documents.document import BrokenDocumentError, Document
from trainer_upgrade.documents.embedded_python import check_python
from trainer_upgrade.findings import Edit, Finding, Fix, Location
from trainer_upgrade.sources.embedded import Block
from trainer_upgrade.sources.kinds import Kind
from trainer_upgrade.sources.notebook import Cell, Notebook
from trainer_upgrade.sources.text import SourceText, apply_edits
from trainer_upgrade.sources.tree import TreeError

__all__ = ["check_notebook", "notebook_error"]

SYNTAX_ERROR = "TRU001"
_COMMAND = re.compile(
    r"^[ \t]*(?:!|%(?=(?:pip|conda|mamba|env|sx|system|uv)\b))(?P<command>(?:[^\n\\]|\\\n?)*)", re.MULTILINE
)


def check_notebook(document: Document) -> Iterator[Finding]:
    """Yield what is found in a notebook; places are rows of a cell.

    Raises:
        BrokenDocumentError: It is no notebook.
    """
    try:
        notebook = Notebook(document.text)
    except TreeError as error:
        raise BrokenDocumentError(f"syntax error: {error.reason}", error.offset) from error
    if not notebook.python:
        return
    blocks = [Block(cell.number, cell.text, magics=True) for cell in notebook.cells]

    def write(position: int, text: str) -> list[Edit]:
        return notebook.edits(notebook.cells[position], text)

    def place(block: Block, row: int, column: int) -> tuple[Location, int | None]:
        return Location(row, column), block.number

    found = list(check_python(document, blocks, write, place=place))
    for block in blocks:
        if block.error is not None and "ightning" in block.text:
            reason, row, column = block.error
            where = Location(row, column)
            yield Finding(
                SYNTAX_ERROR,
                f"syntax error: {reason}; the cell is left as it is",
                document.shown,
                where,
                where,
                cell=block.number,
            )
    yield from found
    for cell in notebook.cells:
        yield from _shell(document, notebook, cell)


def _shell(document: Document, notebook: Notebook, cell: Cell) -> Iterator[Finding]:
    """What the shell lines of a cell install and run."""
    if re.match(r"\s*%%(?:bash|sh|script|system)\b", cell.text):
        spans = [(0, len(cell.text))]
    else:
        spans = [match.span("command") for match in _COMMAND.finditer(cell.text)]
    if not spans:
        return
    inner = Document(
        document.path,
        Kind.SCRIPT,
        SourceText(cell.text),
        document.project,
        shown=document.shown,
        options=document.options,
        fixing=document.fixing,
        after_upgrade=document.after_upgrade,
    )
    for start, stop in spans:
        for finding in check_commands(inner, start, stop):
            fix = finding.fix
            if fix is not None:
                edits = notebook.edits(cell, apply_edits(cell.text, list(fix.edits)))
                fix = Fix(fix.applicability, fix.message, tuple(sorted(edits)))
            yield replace(finding, fix=fix, cell=cell.number)


def notebook_error(text: str) -> str | None:
    """Return why a text is no notebook, or ``None``."""
    try:
        Notebook(text)
    except TreeError as error:
        return error.reason
    return None

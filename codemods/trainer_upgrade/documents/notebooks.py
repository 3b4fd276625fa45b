"""Jupyter notebooks: all code cells are one module."""

from __future__ import annotations

from collections.abc import Iterator

from trainer_upgrade.documents.document import BrokenDocumentError, Document
from trainer_upgrade.documents.embedded_python import check_python
from trainer_upgrade.findings import Finding, Location
from trainer_upgrade.sources.embedded import Block
from trainer_upgrade.sources.notebook import Notebook
from trainer_upgrade.sources.tree import TreeError

__all__ = ["check_notebook", "notebook_error"]

SYNTAX_ERROR = "TRU001"


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

    def write(position: int, text: str):  # type: ignore[no-untyped-def]
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


def notebook_error(text: str) -> str | None:
    """Return why a text is no notebook, or ``None``."""
    try:
        Notebook(text)
    except TreeError as error:
        return error.reason
    return None

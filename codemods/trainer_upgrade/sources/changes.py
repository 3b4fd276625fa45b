"""The edits between two texts, and what edits of a notebook's JSON change in its cells."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from trainer_upgrade.findings import Edit
from trainer_upgrade.sources.notebook import Notebook
from trainer_upgrade.sources.text import apply_edits
from trainer_upgrade.sources.tree import TreeError

__all__ = ["CellChange", "cell_changes", "edits_between"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class CellChange:
    """A notebook's cell before and after.

    Attributes:
        number: Its place among all cells, from 1.
        before: Its source as it is.
        after: Its source as the edits make it.
    """

    number: int
    before: str
    after: str


def edits_between(before: str, after: str) -> list[Edit]:
    """Return edits of whole lines, as few as can be, that make one text of another."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [
        Edit(starts[first], starts[last], "".join(new[low:high]))
        for tag, first, last, low, high in difflib.SequenceMatcher(None, old, new, False).get_opcodes()
        if tag != "equal"
    ]


def cell_changes(text: str, edits: Iterable[Edit]) -> list[CellChange]:
    """Return the cells that edits of a notebook's text change; none if it is no notebook before or after."""
    try:
        before = Notebook(text)
        after = Notebook(apply_edits(text, list(edits)))
    except (TreeError, ValueError):
        return []
    new = {cell.number: cell.text for cell in after.cells}
    return [
        CellChange(cell.number, cell.text, new[cell.number])
        for cell in before.cells
        if new.get(cell.number, cell.text) != cell.text
    ]

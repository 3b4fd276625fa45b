"""Jupyter notebooks: the code cells, and edits that touch no other byte.

A cell's source is a list of strings (a line each) or one string. A line that does not change keeps its text
in the JSON; a changed or new one is written as the notebook writes its own.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass

from trainer_upgrade.findings import Edit
from trainer_upgrade.sources.json_tree import parse_json
from trainer_upgrade.sources.tree import Node, TreeError

__all__ = ["Cell", "Notebook"]

_ESCAPED = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")


@dataclass(slots=True)
class Cell:
    """One code cell.

    Attributes:
        number: Its place among all cells, from 1.
        text: Its source.
        node: Where the source is written.
    """

    number: int
    text: str
    node: Node


class Notebook:
    """A notebook's text.

    Attributes:
        cells: The code cells.
        python: Whether the notebook's language is Python.
    """

    def __init__(self, text: str) -> None:
        """Read a notebook.

        Raises:
            TreeError: It is no JSON, or no notebook of format 3 or 4.
        """
        self.text = text
        self.root = parse_json(text)
        self.cells: list[Cell] = []
        self.prose: list[Cell] = []
        if self.root.kind != "map":
            raise TreeError("this is no notebook", 0)
        self.python = _language(self.root) in ("", "python", "ipython", "python3", "python2")
        number = 0
        for each in _cells(self.root):
            number += 1
            kind, source = each.get("cell_type"), each.get("source") or each.get("input")
            if kind is None or source is None:
                continue
            lines = _strings(source.value)
            if lines is None:
                continue
            cell = Cell(number, "".join(lines), source.value)
            (self.cells if kind.value.value == "code" else self.prose).append(cell)
        # What json.dump writes by default; nbformat writes characters as they are.
        self.ascii = text.isascii() and _ESCAPED.search(text) is not None

    def edits(self, cell: Cell, new: str) -> list[Edit]:
        """Return the edits of the notebook's text that give a cell another source."""
        if cell.node.kind != "list":
            return self._one_string(cell.node, cell.text, new)
        items = cell.node.items
        old_lines = [str(each.value) for each in items]
        new_lines = new.splitlines(keepends=True) if "\r" not in new else re.findall(r"[^\n]*\n|[^\n]+", new)
        if "".join(new_lines) != new:
            new_lines = re.findall(r"[^\n]*\n|[^\n]+", new)
        if not items:
            content = ", ".join(self._string(line) for line in new_lines)
            return [Edit(cell.node.start, cell.node.end, f"[{content}]")]
        separator = self._separator(cell.node)
        found: list[Edit] = []
        matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
        for tag, first, last, low, high in matcher.get_opcodes():
            texts = [self._string(line) for line in new_lines[low:high]]
            if tag == "replace":
                start, end = items[first].start, items[last - 1].end
                # Line by line where it comes out even, so that an edit is as small as can be.
                if last - first == high - low:
                    for item, text in zip(items[first:last], texts, strict=True):
                        found.append(Edit(item.start, item.end, text))
                else:
                    found.append(Edit(start, end, separator.join(texts)))
            elif tag == "insert":
                if first < len(items):
                    place = items[first].start
                    found.append(Edit(place, place, "".join(text + separator for text in texts)))
                else:
                    place = items[-1].end
                    found.append(Edit(place, place, "".join(separator + text for text in texts)))
            elif tag == "delete":
                if last < len(items):
                    found.append(Edit(items[first].start, items[last].start, ""))
                elif first > 0:
                    found.append(Edit(items[first - 1].end, items[-1].end, ""))
                else:
                    found.append(Edit(items[0].start, items[-1].end, '""'))
        return found

    def _string(self, line: str) -> str:
        return json.dumps(line, ensure_ascii=self.ascii)

    def _separator(self, node: Node) -> str:
        if len(node.items) > 1:
            return self.text[node.items[0].end : node.items[1].start]
        lead = self.text[node.start + 1 : node.items[0].start]
        return "," + (lead or " ")

    def _one_string(self, node: Node, old: str, new: str) -> list[Edit]:
        """Edits inside of one long string, a line each."""
        raw = self.text[node.start + 1 : node.end - 1]
        # Escapes are taken as wholes, so that `\\\\n` is no line end.
        pieces = re.findall(r"(?:\\(?!n).|[^\\])*?\\n|(?:\\(?!n).|[^\\])+", raw, re.DOTALL)
        if "".join(pieces) != raw or [json.loads(f'"{each}"', strict=False) for each in pieces] != _lines(
            old
        ):
            return [Edit(node.start, node.end, self._string(new))]
        offsets = [node.start + 1]
        for each in pieces:
            offsets.append(offsets[-1] + len(each))
        found: list[Edit] = []
        lines = _lines(new)
        matcher = difflib.SequenceMatcher(None, _lines(old), lines, autojunk=False)
        for tag, first, last, low, high in matcher.get_opcodes():
            if tag != "equal":
                content = "".join(self._string(line)[1:-1] for line in lines[low:high])
                found.append(Edit(offsets[first], offsets[last], content))
        return found


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _strings(node: Node) -> list[str] | None:
    if node.kind == "scalar":
        return [node.value] if isinstance(node.value, str) else None
    if node.kind != "list" or any(not isinstance(each.value, str) for each in node.items):
        return None
    return [each.value for each in node.items]


def _cells(root: Node) -> list[Node]:
    found = root.get("cells")
    if found is not None:
        return [each for each in found.value.items if each.kind == "map"]
    sheets = root.get("worksheets")
    if sheets is None:
        raise TreeError("this is no notebook", 0)
    return [
        cell
        for sheet in sheets.value.items
        for entry in (sheet.get("cells"),)
        if entry is not None
        for cell in entry.value.items
        if cell.kind == "map"
    ]


def _language(root: Node) -> str:
    metadata = root.get("metadata")
    for section, name in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        part = metadata.value.get(section) if metadata is not None and metadata.value.kind == "map" else None
        found = part.value.get(name) if part is not None and part.value.kind == "map" else None
        if found is not None and isinstance(found.value.value, str):
            return str(found.value.value).lower()
    return ""

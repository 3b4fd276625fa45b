"""TOML with places: tables, keys, arrays and strings know where they are written.

A table that is written in parts is one map per part; :func:`parse_toml` puts them under one root as their
headers say, so that a path leads to each part.
"""

from __future__ import annotations

import re
from typing import Any

from trainer_upgrade.sources.tree import Entry, Node, TreeError

__all__ = ["parse_toml"]

_BLANK = re.compile(r"[ \t]*")
_FILLER = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^\s,\]}#]+(?:[ ]\d{2}:\d{2}:\d{2}[^\s,\]}#]*)?")
_ESCAPE = re.compile(
    r"\\(?:([btnfre\"\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([ \t]*\r?\n\s*))"
)
_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}
_INTEGER = re.compile(r"[-+]?(?:0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|(?:0|[1-9][0-9_]*))$")


def parse_toml(text: str) -> Node:
    """Parse a TOML text to its root table.

    Raises:
        TreeError: It is none (not every mistake is seen).
    """
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def document(self) -> Node:
        root = Node("map", 0, len(self.text), style="block")
        table = root
        position = self.filler(0)
        while position < len(self.text):
            if self.text.startswith("[", position):
                double = self.text.startswith("[[", position)
                keys, end = self.keys(position + (2 if double else 1))
                close = "]]" if double else "]"
                if not self.text.startswith(close, end):
                    raise TreeError("a table's header does not end", end)
                end += len(close)
                table = self.open(root, keys, double, position, end)
            else:
                end = self.pair(table)(position)
                table.end = max(table.end, end)
            position = self.line_end(end)
        return root

    def pair(self, table: Node):  # type: ignore[no-untyped-def]
        def read(position: int) -> int:
            keys, end = self.keys(position)
            if not self.text.startswith("=", end):
                raise TreeError("an equals sign is missing", end)
            value, end = self.value(self.blank(end + 1))
            place = table
            for key in keys[:-1]:
                place = self.below(place, key)
            key = keys[-1]
            if len(keys) > 1:
                # `a.b = 1`: the key's text is all of it, so that the pair can be edited as a whole.
                key = Node("scalar", keys[0].start, keys[-1].end, keys[-1].value, "dotted")
            key.parent = value.parent = place
            place.entries.append(Entry(key, value))
            return end

        return read

    def below(self, table: Node, key: Node) -> Node:
        found = table.get(key.value)
        if found is not None:
            value = found.value
            if value.kind == "list" and value.items:
                value = value.items[-1]
            if value.kind != "map":
                raise TreeError(f"{key.value} is no table", key.start)
            return value
        made = Node("map", key.start, key.end, style="dotted", parent=table)
        table.entries.append(Entry(key, made))
        return made

    def open(self, root: Node, keys: list[Node], double: bool, start: int, end: int) -> Node:
        place = root
        for key in keys[:-1]:
            place = self.below(place, key)
        last = keys[-1]
        made = Node("map", end, end, style="block")
        known = place.get(last.value)
        if double:
            if known is None:
                known = Entry(last, Node("list", start, end, style="tables", parent=place))
                place.entries.append(known)
            if known.value.kind != "list":
                raise TreeError(f"{last.value} is no array of tables", last.start)
            made.parent = known.value
            known.value.items.append(made)
            return made
        if known is not None and known.value.kind == "map" and known.value.style == "dotted":
            known.value.style, known.value.start, known.value.end = "block", end, end
            return known.value
        made.parent = place
        place.entries.append(Entry(last, made))
        return made

    def keys(self, position: int) -> tuple[list[Node], int]:
        found: list[Node] = []
        while True:
            position = self.blank(position)
            first = self.text[position : position + 1]
            if first in ('"', "'") and first:
                value, end = self.string(position)
                found.append(Node("scalar", position, end, value, first))
            else:
                match = _BARE.match(self.text, position)
                if match is None:
                    raise TreeError("a key is missing", position)
                end = match.end()
                found.append(Node("scalar", position, end, match[0]))
            position = self.blank(end)
            if not self.text.startswith(".", position):
                return found, position
            position += 1

    def value(self, position: int) -> tuple[Node, int]:
        first = self.text[position : position + 1]
        if first in ('"', "'") and first:
            value, end = self.string(position)
            return Node("scalar", position, end, value, first), end
        if first == "[":
            node = Node("list", position, position, style="flow")
            here = self.filler(position + 1)
            while not self.text.startswith("]", here):
                item, here = self.value(here)
                item.parent = node
                node.items.append(item)
                here = self.filler(here)
                if self.text.startswith(",", here):
                    here = self.filler(here + 1)
                elif not self.text.startswith("]", here):
                    raise TreeError("a comma or a closing bracket is missing", here)
            node.end = here + 1
            return node, node.end
        if first == "{":
            node = Node("map", position, position, style="flow")
            here = self.filler(position + 1)
            while not self.text.startswith("}", here):
                here = self.filler(self.pair(node)(here))
                if self.text.startswith(",", here):
                    here = self.filler(here + 1)
                elif not self.text.startswith("}", here):
                    raise TreeError("a comma or a closing brace is missing", here)
            node.end = here + 1
            return node, node.end
        match = _SCALAR.match(self.text, position)
        if match is None:
            raise TreeError("a value is missing", position)
        return Node("scalar", position, match.end(), _plain(match[0], position)), match.end()

    def string(self, position: int) -> tuple[str, int]:
        quote = self.text[position]
        if self.text.startswith(quote * 3, position):
            close = self.text.find(quote * 3, position + 3)
            while close > 0 and quote == '"' and _escaped(self.text, close):
                close = self.text.find(quote * 3, close + 1)
            if close < 0:
                raise TreeError("a string does not end", position)
            while self.text.startswith(quote, close + 3):
                close += 1
            inside = re.sub(r"^\r?\n", "", self.text[position + 3 : close])
            return (_unescape(inside) if quote == '"' else inside), close + 3
        end = position + 1
        while True:
            end = self.text.find(quote, end)
            if end < 0 or "\n" in self.text[position:end]:
                raise TreeError("a string does not end", position)
            if quote == "'" or not _escaped(self.text, end):
                break
            end += 1
        inside = self.text[position + 1 : end]
        return (_unescape(inside) if quote == '"' else inside), end + 1

    def blank(self, position: int) -> int:
        match = _BLANK.match(self.text, position)
        assert match is not None
        return match.end()

    def filler(self, position: int) -> int:
        match = _FILLER.match(self.text, position)
        assert match is not None
        return match.end()

    def line_end(self, position: int) -> int:
        position = self.blank(position)
        if position < len(self.text) and self.text[position] not in "#\r\n":
            raise TreeError("the line should end here", position)
        return self.filler(position)


def _escaped(text: str, position: int) -> bool:
    count = 0
    while position > 0 and text[position - 1] == "\\":
        position, count = position - 1, count + 1
    return count % 2 == 1


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1]:
            return _SIMPLE[match[1]]
        code = match[2] or match[3] or match[4]
        return chr(int(code, 16)) if code else ""

    return _ESCAPE.sub(one, text) if "\\" in text else text


def _plain(text: str, position: int) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.match(text):
        return (
            int(text.replace("_", ""), 0)
            if not text.lstrip("+-").startswith("0") or len(text) > 2
            else int(text)
        )
    if re.match(r"\d{4}-\d\d-\d\d|\d\d:\d\d", text):
        return text  # a date or a time
    try:
        return float(text.replace("_", ""))
    except ValueError:
        raise TreeError(f"`{text}` is no value", position) from None

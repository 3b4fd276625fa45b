"""JSON with places: objects, arrays and strings know where they are written."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from trainer_upgrade.sources.tree import Entry, Node, TreeError

__all__ = ["parse_json"]

_BLANK = re.compile(r"[ \t\r\n]*")
_WORD = re.compile(r"true|false|null|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_DEPTH = 200


def parse_json(text: str) -> Node:
    """Parse a JSON text.

    Raises:
        TreeError: It is none.
    """
    reader = _Reader(text)
    start = reader.skip(0)
    node, end = reader.value(start, 0)
    end = reader.skip(end)
    if end != len(text):
        raise TreeError("something follows the value", end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, position: int) -> int:
        match = _BLANK.match(self.text, position)
        assert match is not None
        return match.end()

    def string(self, position: int) -> tuple[Any, int]:
        try:
            value, end = scanstring(self.text, position + 1, False)
        except json.JSONDecodeError as error:
            raise TreeError(error.msg, position) from error
        return value, end

    def value(self, position: int, depth: int) -> tuple[Node, int]:
        text = self.text
        first = text[position : position + 1]
        if depth > _DEPTH:
            raise TreeError("nested too deeply", position)
        if first == '"':
            value, end = self.string(position)
            return Node("scalar", position, end, value, '"'), end
        if first == "{":
            return self.object(position, depth)
        if first == "[":
            return self.array(position, depth)
        match = _WORD.match(text, position)
        if match is None:
            raise TreeError("a value is missing", position)
        return Node("scalar", position, match.end(), json.loads(match[0])), match.end()

    def object(self, position: int, depth: int) -> tuple[Node, int]:
        node = Node("map", position, position, style="flow")
        here = self.skip(position + 1)
        if self.text.startswith("}", here):
            node.end = here + 1
            return node, node.end
        while True:
            if not self.text.startswith('"', here):
                raise TreeError("a key is missing", here)
            name, end = self.string(here)
            key = Node("scalar", here, end, name, '"', parent=node)
            colon = self.skip(end)
            if not self.text.startswith(":", colon):
                raise TreeError("a colon is missing", colon)
            value, end = self.value(self.skip(colon + 1), depth + 1)
            value.parent = node
            node.entries.append(Entry(key, value))
            here = self.skip(end)
            if self.text.startswith(",", here):
                here = self.skip(here + 1)
            elif self.text.startswith("}", here):
                node.end = here + 1
                return node, node.end
            else:
                raise TreeError("a comma or a closing brace is missing", here)

    def array(self, position: int, depth: int) -> tuple[Node, int]:
        node = Node("list", position, position, style="flow")
        here = self.skip(position + 1)
        if self.text.startswith("]", here):
            node.end = here + 1
            return node, node.end
        while True:
            value, end = self.value(here, depth + 1)
            value.parent = node
            node.items.append(value)
            here = self.skip(end)
            if self.text.startswith(",", here):
                here = self.skip(here + 1)
            elif self.text.startswith("]", here):
                node.end = here + 1
                return node, node.end
            else:
                raise TreeError("a comma or a closing bracket is missing", here)

"""Edits of a configuration file's text: keys renamed, values set, entries dropped and added.

Only the characters that change are in the edits; comments, anchors, quotes and indentation of what stays are
not touched. New text is written as the file writes its own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from trainer_upgrade.findings import Edit
from trainer_upgrade.sources.tree import Entry, Node

__all__ = ["KEEP", "MapEditor", "Raw", "Unwritable", "Writer", "flavour_of"]


class Unwritable(ValueError):
    """The change cannot be written without touching more than it."""


class _Keep:
    def __repr__(self) -> str:
        return "KEEP"


KEEP: Any = _Keep()
"""Stands for the value an entry has."""


@dataclass(frozen=True)
class Raw:
    """A value that is written as it stands here (an interpolation, with its quotes)."""

    text: str


def flavour_of(suffix: str) -> str:
    """Return how a file with this ending is written: ``yaml``, ``json`` or ``toml``."""
    return {".json": "json", ".toml": "toml"}.get(suffix.lower(), "yaml")


class Writer:
    """Writes values in one file's style."""

    def __init__(self, text: str, flavour: str, newline: str = "\n") -> None:
        """Look at a file's text (``flavour``: ``yaml``, ``json`` or ``toml``)."""
        self.text = text
        self.flavour = flavour
        self.newline = newline
        single, double = len(re.findall(r"[:=]\s+'", text)), len(re.findall(r'[:=]\s+"', text))
        self.quote = "'" if single > double else '"'
        self.capital = (
            flavour == "yaml"
            and re.search(r":\s+(?:True|False)\b", text) is not None
            and not re.search(r":\s+(?:true|false)\b", text)
        )
        # Whether a list stands deeper than its key.
        self.deep = re.search(
            r"^([ \t]*)(?! |-)[^\n#]*:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*\r?\n)*\1[ \t]+- ", text, re.M
        ) is not None or not re.search(r"^([ \t]*)(?! |-)[^\n#]*:[ \t]*(?:#[^\n]*)?\r?\n\1- ", text, re.M)
        self.step = self._step()

    def _step(self) -> int:
        depths = [len(each) for each in re.findall(r"^( +)[^\s#-]", self.text, re.M)]
        return min(depths, default=2) if self.flavour == "yaml" else 2

    def scalar(self, value: Any) -> str:
        """Write a scalar.

        Raises:
            Unwritable: It is none, or the format has no such value.
        """
        if isinstance(value, Raw):
            return value.text
        if value is None:
            if self.flavour == "toml":
                raise Unwritable("TOML has no null")
            return "null"
        if isinstance(value, bool):
            word = "true" if value else "false"
            return word.capitalize() if self.capital else word
        if isinstance(value, (int, float)):
            return repr(value)
        if isinstance(value, str):
            return self._string(value)
        raise Unwritable(f"{type(value).__name__} is no scalar")

    def _string(self, value: str) -> str:
        if self.flavour == "json":
            return json.dumps(value, ensure_ascii=self.text.isascii())
        if self.flavour == "toml":
            return json.dumps(value, ensure_ascii=False)
        if _plain(value):
            return value
        return (
            f"'{value}'"
            if self.quote == "'" and "'" not in value and "\\" not in value
            else json.dumps(value)
        )

    def key(self, name: str) -> str:
        """Write a key."""
        if self.flavour == "json":
            return json.dumps(name)
        if self.flavour == "toml":
            return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
        return self._string(name)

    def flow(self, value: Any) -> str:
        """Write a value on one line."""
        if isinstance(value, Node):
            return self.moved(value, "", one_line=True)
        if isinstance(value, dict):
            sign = " = " if self.flavour == "toml" else ": "
            inside = ", ".join(f"{self.key(name)}{sign}{self.flow(each)}" for name, each in value.items())
            return f"{{ {inside} }}" if self.flavour == "toml" and inside else "{" + inside + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.flow(each) for each in value) + "]"
        return self.scalar(value)

    def pretty(self, value: Any, indent: str, step: str) -> str:
        """Write a JSON value over several lines, as the file does."""
        if isinstance(value, dict) and value:
            inner = indent + step
            parts = [
                f"{inner}{self.key(name)}: {self.pretty(each, inner, step)}" for name, each in value.items()
            ]
            return "{" + self.newline + f",{self.newline}".join(parts) + self.newline + indent + "}"
        if (
            isinstance(value, (list, tuple))
            and value
            and any(isinstance(each, (dict, list)) for each in value)
        ):
            inner = indent + step
            parts = [inner + self.pretty(each, inner, step) for each in value]
            return "[" + self.newline + f",{self.newline}".join(parts) + self.newline + indent + "]"
        return self.flow(value)

    def block(self, value: Any, indent: str) -> str:
        """Write what follows ``key:`` in block style: `` value``, or lines that are indented deeper."""
        if isinstance(value, Node):
            if value.real.kind == "scalar" or value.kind == "alias" or value.style == "flow":
                return " " + self.text[value.start : value.end]
            return self.newline + self.moved(value, indent + self._list_indent(value))
        if isinstance(value, dict) and value:
            return self.newline + self._entries(value, indent + " " * self.step)
        if isinstance(value, (list, tuple)) and any(isinstance(each, (dict, list, Node)) for each in value):
            inner = indent + (" " * self.step if self.deep else "")
            return self.newline + self.newline.join(inner + self.item(each, inner) for each in value)
        return " " + self.flow(value)

    def item(self, value: Any, indent: str) -> str:
        """Write ``- value`` of a block list; further lines are indented."""
        if isinstance(value, Node):
            if value.style == "flow" or value.real.kind == "scalar" or value.kind == "alias":
                return "- " + self.text[value.start : value.end]
            return "- " + self.moved(value, indent + "  ").lstrip(" ")
        if isinstance(value, dict) and value:
            return "- " + self._entries(value, indent + "  ").lstrip(" ")
        return "- " + self.flow(value)

    def _entries(self, value: dict[str, Any], indent: str) -> str:
        return self.newline.join(
            f"{indent}{self.key(name)}:{self.block(each, indent)}" for name, each in value.items()
        )

    def _list_indent(self, node: Node) -> str:
        return (" " * self.step if self.deep else "") if node.kind == "list" else " " * self.step

    def moved(self, node: Node, indent: str, *, one_line: bool = False) -> str:
        """Return the text of a node that stands elsewhere, indented anew (the first line, too).

        Raises:
            Unwritable: It cannot stand on one line, or is known by an anchor.
        """
        text = self.text[node.start : node.end]
        if node.anchor:
            raise Unwritable("an anchor stands here")
        if "\n" not in text:
            if one_line and node.style == "block" and node.kind != "scalar":
                raise Unwritable("a block cannot stand on one line")
            return indent + text
        if one_line:
            raise Unwritable("several lines cannot become one")
        column = node.start - (self.text.rfind("\n", 0, node.start) + 1)
        lines = text.split(self.newline)
        return self.newline.join(
            [indent + lines[0]]
            + [
                indent + line[column:] if line[:column].strip() == "" and line.strip() else line.strip()
                for line in lines[1:]
            ]
        )


_PLAIN = re.compile(r"[A-Za-z_./][\w./+-]*(?:[ ][\w./+-]+)*$|[A-Za-z_]\w*:[\w./]+$")
_RESOLVER = yaml.SafeLoader("")


def _plain(value: str) -> bool:
    """Whether a string needs no quotes in YAML (more are given them than need be)."""
    if _PLAIN.match(value) is None:
        return False
    return bool(_RESOLVER.resolve(yaml.ScalarNode, value, (True, False)) == "tag:yaml.org,2002:str")


@dataclass
class _Planned:
    entry: Entry
    pairs: list[tuple[str, Any]] = field(default_factory=list)


class MapEditor:
    """Changes the entries of one map.

    Attributes:
        node: The map.
    """

    def __init__(self, node: Node, writer: Writer) -> None:
        """Look at a map."""
        self.node = node
        self.writer = writer
        self.text = writer.text
        self._plan = [_Planned(each, [(each.name, KEEP)]) for each in node.entries]
        self._added: list[tuple[str, Any]] = []

    def _of(self, entry: Entry) -> _Planned:
        return next(each for each in self._plan if each.entry is entry)

    def replace(self, entry: Entry, pairs: list[tuple[str, Any]]) -> None:
        """Put other entries in the place of one (``KEEP`` for its own value); none of them drops it."""
        self._of(entry).pairs = pairs

    def add(self, name: str, value: Any) -> None:
        """Add an entry at the end."""
        self._added.append((name, value))

    def edits(self) -> list[Edit]:
        """Return the edits.

        Raises:
            Unwritable: They would touch more than they should.
        """
        if self.node.style == "flow":
            return self._flow_edits()
        if self.node.style != "block":
            raise Unwritable("this map is written in parts")
        return self._block_edits()

    # Block style: a line (or more) an entry

    def _block_edits(self) -> list[Edit]:
        plan = self._plan
        if not any(each.pairs for each in plan) and not self._added and plan:
            if self.writer.flavour == "toml":
                return [edit for each in plan for edit in self._drop(each.entry)]
            return [Edit(self.node.start, self.node.end, "{}")]
        found: list[Edit] = []
        for position, each in enumerate(plan):
            if each.pairs == [(each.entry.name, KEEP)]:
                continue
            if not each.pairs:
                found += self._drop_at(position)
                continue
            name, value = each.pairs[0]
            found += self._in_place(each.entry, name, value)
            if len(each.pairs) > 1:
                found.append(self._behind(each.entry, each.pairs[1:]))
        if self._added:
            if plan:
                found.append(self._behind(plan[-1].entry, self._added))
            else:
                found.append(self._first(self._added))
        return _joined(found)

    def _first(self, pairs: list[tuple[str, Any]]) -> Edit:
        """The first entries of a TOML table that has none."""
        if self.writer.flavour != "toml":
            raise Unwritable("an empty map")
        end = _line_end(self.text, self.node.end)
        return Edit(end, end, self._lines(pairs, "", end))

    def _indent(self, entry: Entry) -> str:
        start = self.text.rfind("\n", 0, entry.key.start) + 1
        lead = self.text[start : entry.key.start]
        if self.writer.flavour == "toml":
            return lead if not lead.strip() else ""
        if lead.strip(" -?\t") or "\t" in lead or "?" in lead:
            raise Unwritable("the entry does not begin its line")
        return " " * len(lead)

    def _behind(self, entry: Entry, pairs: list[tuple[str, Any]]) -> Edit:
        end = _line_end(self.text, max(entry.value.end, entry.key.end))
        return Edit(end, end, self._lines(pairs, self._indent(entry), end))

    def _lines(self, pairs: list[tuple[str, Any]], indent: str, at: int) -> str:
        newline = self.writer.newline
        lines = [self._pair(name, value, indent) for name, value in pairs]
        if at == len(self.text) and not self.text.endswith("\n"):
            return "".join(newline + line for line in lines)
        return "".join(line + newline for line in lines)

    def _pair(self, name: str, value: Any, indent: str) -> str:
        if self.writer.flavour == "toml":
            return f"{indent}{self.writer.key(name)} = {self.writer.flow(value)}"
        return f"{indent}{self.writer.key(name)}:{self.writer.block(value, indent)}"

    def _in_place(self, entry: Entry, name: str, value: Any) -> list[Edit]:
        found: list[Edit] = []
        if name != entry.name:
            found.append(Edit(entry.key.start, entry.key.end, self._key_like(entry.key, name)))
        if value is KEEP or value is entry.value:
            return found
        old = entry.value
        if old.anchor and old.aliased:
            raise Unwritable("an alias stands for this value")
        if self.writer.flavour == "toml":
            found.append(Edit(old.start, old.end, self.writer.flow(value)))
            return found
        written = self.writer.block(value, self._indent(entry))
        between = self.text[entry.key.end : old.start]
        if old.start == old.end:
            found.append(Edit(old.start, old.end, written))
        elif written.startswith(" ") and between.strip() == ":" and "\n" not in between:
            content = written[1:]
            if old.kind == "scalar" and isinstance(value, str) and old.style in ("'", '"'):
                content = _quoted(value, old.style)
            found.append(Edit(old.start, old.end, content))
        else:
            colon = entry.key.end + between.index(":") + 1
            if "#" in self.text[colon : old.start]:
                raise Unwritable("a comment stands between key and value")
            comment = re.compile(r"[ \t]+#[^\r\n]*").match(self.text, old.end)
            moved = comment is not None and comment[0].strip() in written
            found.append(Edit(colon, comment.end() if comment and moved else old.end, written))
        return found

    def _key_like(self, key: Node, name: str) -> str:
        if key.style in ("'", '"'):
            return f"{key.style}{name}{key.style}"
        return self.writer.key(name)

    def _drop_at(self, position: int) -> list[Edit]:
        entry = self._plan[position].entry
        start = self.text.rfind("\n", 0, entry.key.start) + 1
        if not self.text[start : entry.key.start].strip():
            return self._drop(entry)
        # `- key: value`: the next entry moves up behind the dash.
        following = self._plan[position + 1].entry if position + 1 < len(self._plan) else None
        if following is None:
            raise Unwritable("the only entry of a list's item")
        if "#" in self.text[entry.value.end : following.key.start] or not self._plan[position + 1].pairs:
            raise Unwritable("a comment stands here")
        return [Edit(entry.key.start, following.key.start, "")]

    def _drop(self, entry: Entry) -> list[Edit]:
        if entry.value.anchor and entry.value.aliased:
            raise Unwritable("an alias stands for this value")
        start = self.text.rfind("\n", 0, entry.key.start) + 1
        end = _line_end(self.text, max(entry.value.end, entry.key.end))
        if end == len(self.text) and not self.text.endswith("\n") and start > 0:
            start -= 2 if self.text[start - 2 : start] == "\r\n" else 1
        return [Edit(start, end, "")]

    # Flow style: between braces

    def _flow_edits(self) -> list[Edit]:
        if all(each.pairs and len(each.pairs) == 1 for each in self._plan) and not self._added:
            found: list[Edit] = []
            for each in self._plan:
                name, value = each.pairs[0]
                if name != each.entry.name:
                    key = each.entry.key
                    found.append(Edit(key.start, key.end, self._key_like(key, name)))
                if value is not KEEP and value is not each.entry.value:
                    found.append(self._flow_value(each.entry, value))
            return found
        start, end = self.node.start + 1, self.node.end - 1
        leads, bodies, position = [], [], start
        for each in self._plan:
            lead = self.text[position : each.entry.key.start]
            leads.append(lead)
            bodies.append(self.text[each.entry.key.start : each.entry.value.end])
            position = each.entry.value.end
            comma = re.compile(r"[ \t\r\n]*,").match(self.text, position)
            position = comma.end() if comma else position
        tail = self.text[position:end]
        if "#" in tail + "".join(leads) and self.writer.flavour != "json":
            raise Unwritable("a comment stands here")
        usual = leads[1] if len(leads) > 1 else leads[0] if leads else ""
        if "\n" not in usual and len(leads) < 2:
            usual = " "
        parts: list[str] = []
        for number, each in enumerate(self._plan):
            for place, (name, value) in enumerate(each.pairs):
                lead = leads[number] if place == 0 else usual
                if place == 0 and value is KEEP:
                    key = each.entry.key
                    body = bodies[number]
                    if name != each.entry.name:
                        body = self._key_like(key, name) + body[key.end - key.start :]
                    parts.append(lead + body)
                elif value is KEEP:
                    own = self.text[each.entry.value.start : each.entry.value.end]
                    parts.append(lead + self._flow_pair(name, Raw(own), lead))
                else:
                    parts.append(lead + self._flow_pair(name, value, lead))
        parts += [usual + self._flow_pair(name, value, usual) for name, value in self._added]
        if parts and leads:
            # What was first keeps the space behind the brace.
            first = parts[0]
            parts[0] = leads[0] + first.lstrip(" \t\r\n")
        new = ",".join(parts) + tail
        return [_smallest(self.text, start, end, new)]

    def _flow_pair(self, name: str, value: Any, lead: str) -> str:
        sign = " = " if self.writer.flavour == "toml" else ": "
        return f"{self.writer.key(name)}{sign}{self._flow_text(value, lead)}"

    def _flow_text(self, value: Any, lead: str) -> str:
        if self.writer.flavour == "json" and "\n" in lead:
            indent = lead[lead.rfind("\n") + 1 :]
            depth = _depth(self.node)
            step = indent[: max(len(indent) // depth, 1)] if indent else "  "
            return self.writer.pretty(value, indent, step)
        return self.writer.flow(value)

    def _flow_value(self, entry: Entry, value: Any) -> Edit:
        start = self.text.rfind("\n", 0, entry.key.start) + 1
        lead = self.text[start : entry.key.start]
        text = self._flow_text(value, "\n" + lead if not lead.strip() else "")
        if entry.value.start == entry.value.end:
            text = " " + text
        return Edit(entry.value.start, entry.value.end, text)


def _depth(node: Node) -> int:
    depth = 1
    while node.parent is not None:
        node, depth = node.parent, depth + 1
    return depth


def _quoted(value: str, style: str) -> str:
    if style == '"' or "'" in value:
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}'"


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _smallest(text: str, start: int, end: int, new: str) -> Edit:
    """Return the edit without what is the same at both ends."""
    old = text[start:end]
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Edit(start + head, end - tail, new[head : len(new) - tail])


def _joined(edits: list[Edit]) -> list[Edit]:
    """Make one edit of those that begin at one place (a line goes, another comes)."""
    found: dict[int, Edit] = {}
    for edit in edits:
        known = found.get(edit.start)
        if known is None:
            found[edit.start] = edit
        elif known.start == known.end:
            found[edit.start] = Edit(edit.start, edit.end, known.content + edit.content)
        elif edit.start == edit.end:
            found[edit.start] = Edit(known.start, known.end, edit.content + known.content)
        else:
            raise Unwritable("two changes of one place")
    return sorted(found.values())

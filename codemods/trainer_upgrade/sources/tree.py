"""Configuration files as one kind of tree that knows where each part of it is written.

YAML, JSON and TOML are read to the same nodes; edits are made to the text, at the offsets the nodes carry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Entry", "Node", "TreeError", "walk"]


class TreeError(ValueError):
    """The text cannot be parsed.

    Attributes:
        reason: Why, in a few words.
        offset: Where, in characters.
    """

    def __init__(self, reason: str, offset: int) -> None:
        """Say what is wrong where."""
        super().__init__(f"{reason} (at offset {offset})")
        self.reason = reason
        self.offset = offset


@dataclass(eq=False, slots=True)
class Node:
    """One value.

    Attributes:
        kind: ``map``, ``list``, ``scalar`` or ``alias``.
        start: Where its text begins, behind an anchor or tag.
        end: Where its text ends; comments and line ends behind it are not part of it.
        value: Of a scalar, what it means in Python; of an alias, the anchor's name.
        style: Of a scalar ``plain``, ``'``, ``"``, ``|`` or ``>``; of a collection ``block`` or ``flow``.
        entries: Of a map, its keys and values in order.
        items: Of a list, its elements.
        anchor: What aliases call it.
        tag: A tag written out (``!!python/tuple``).
        parent: The collection it stands in.
        target: Of an alias, the node it stands for.
        aliased: How many aliases stand for it.
    """

    kind: str
    start: int
    end: int
    value: Any = None
    style: str = "plain"
    entries: list[Entry] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    anchor: str | None = None
    tag: str | None = None
    parent: Node | None = None
    target: Node | None = None
    aliased: int = 0

    def get(self, name: str) -> Entry | None:
        """Return the last entry of a map with this key."""
        found = None
        for each in self.entries:
            if each.name == name:
                found = each
        return found

    @property
    def real(self) -> Node:
        """The node itself, or what an alias stands for."""
        node = self
        while node.kind == "alias" and node.target is not None:
            node = node.target
        return node


@dataclass(eq=False, slots=True)
class Entry:
    """A key and its value.

    Attributes:
        key: The key; its ``value`` is a string where the key is plain.
        value: The value; an empty scalar where nothing is written.
        merge: Whether it is YAML's ``<<``.
    """

    key: Node
    value: Node
    merge: bool = False

    @property
    def name(self) -> Any:
        """The key's value."""
        return self.key.value


def walk(node: Node, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Node]]:
    """Yield the nodes below one with their keys (indices in lists), parents first; no alias is followed."""
    yield path, node
    for entry in node.entries:
        yield from walk(entry.value, (*path, entry.name))
    for position, item in enumerate(node.items):
        yield from walk(item, (*path, position))

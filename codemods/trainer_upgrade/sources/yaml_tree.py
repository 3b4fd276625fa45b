"""YAML with places, as OmegaConf and jsonargparse read it (PyYAML's YAML 1.1, floats of 1.2).

Read from the parser's events, so that anchors, aliases, tags nobody knows and keys written twice are no
obstacle: nothing is constructed but plain scalars.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from trainer_upgrade.sources.tree import Entry, Node, TreeError

__all__ = ["parse_yaml"]

_PROPERTIES = re.compile(r"(?:(?:&[^\s,\[\]{}]+|!(?:<[^>\s]*>|[^\s,\[\]{}]*))(?:[ \t]+|(?=\r?\n)|$))+")
_FLOAT = re.compile(
    r"^[-+]?(?:[0-9][0-9_]*)(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)$|^[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?$"
)
_NULL, _BOOL, _INT, _NUMBER = (f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
_TRUE = frozenset({"yes", "true", "on"})
_DEPTH = 200
# libyaml's events come ten times faster; where the wheel lacks it, Python's are the same.
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> list[Node]:
    """Parse all documents of a YAML text (an empty one is an empty scalar).

    Raises:
        TreeError: It cannot be parsed.
    """
    try:
        return _Reader(text).documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise TreeError(error.problem or "no YAML", mark.index if mark is not None else 0) from error
    except yaml.YAMLError as error:
        raise TreeError(str(error).split("\n")[0], getattr(error, "position", 0)) from error
    except RecursionError as error:
        raise TreeError("nested too deeply", 0) from error


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.resolver = yaml.SafeLoader("")
        self.events = yaml.parse(text, Loader=_PARSER)
        self.anchors: dict[str, Node] = {}

    def documents(self) -> list[Node]:
        found: list[Node] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors = {}
                found.append(self.node(next(self.events), None, 0))
        return found

    def node(self, event: Any, parent: Node | None, depth: int) -> Node:
        if depth > _DEPTH:
            raise TreeError("nested too deeply", event.start_mark.index)
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.AliasEvent):
            node = Node("alias", start, end, event.anchor, parent=parent)
            node.target = self.anchors.get(event.anchor)
            if node.target is None:
                raise TreeError(f"there is no anchor {event.anchor}", start)
            node.target.aliased += 1
            return node
        properties = _PROPERTIES.match(self.text, start) if event.anchor or event.tag else None
        if properties is not None:
            start = properties.end()
        if isinstance(event, yaml.ScalarEvent):
            node = self.scalar(event, start, end)
        elif isinstance(event, yaml.MappingStartEvent):
            node = self.mapping(event, start, depth)
        else:
            node = self.sequence(event, start, depth)
        node.parent = parent
        node.tag = event.tag if not isinstance(event, yaml.ScalarEvent) or not event.implicit[0] else None
        node.anchor = event.anchor
        return node

    def remember(self, event: Any, node: Node) -> None:
        if event.anchor:
            self.anchors[event.anchor] = node

    def scalar(self, event: Any, start: int, end: int) -> Node:
        style = event.style or "plain"
        if style in ("|", ">"):
            end = start + len(self.text[start:end].rstrip("\r\n \t"))
        start = min(start, end)
        value: Any = event.value
        if style == "plain" and (event.tag is None or event.implicit[0]):
            value = self.resolve(event.value)
        node = Node("scalar", start, end, value, style)
        self.remember(event, node)
        return node

    def resolve(self, text: str) -> Any:
        tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))
        if _FLOAT.match(text):
            tag = _NUMBER
        try:
            if tag == _NULL:
                return None
            if tag == _BOOL:
                return text.lower() in _TRUE
            if tag == _INT:
                return self.resolver.construct_yaml_int(yaml.ScalarNode(tag, text))
            if tag == _NUMBER:
                return self.resolver.construct_yaml_float(yaml.ScalarNode(tag, text))
        except ValueError:
            return text
        return text

    def mapping(self, event: Any, start: int, depth: int) -> Node:
        node = Node("map", start, start, style="flow" if event.flow_style else "block")
        self.remember(event, node)
        for each in self.events:
            if isinstance(each, yaml.MappingEndEvent):
                node.end = each.end_mark.index if event.flow_style else node.end
                break
            key = self.node(each, node, depth + 1)
            if not node.entries and not event.flow_style:
                node.start = key.start  # an anchor may stand on the line above
            value = self.node(next(self.events), node, depth + 1)
            merge = key.kind == "scalar" and key.style == "plain" and key.value == "<<"
            node.entries.append(Entry(key, value, merge))
            if key.kind == "scalar" and not isinstance(key.value, str):
                pass  # a key like `on` or `1` stays what it means
            node.end = max(value.end, key.end)
        return node

    def sequence(self, event: Any, start: int, depth: int) -> Node:
        node = Node("list", start, start, style="flow" if event.flow_style else "block")
        self.remember(event, node)
        for each in self.events:
            if isinstance(each, yaml.SequenceEndEvent):
                node.end = each.end_mark.index if event.flow_style else node.end
                break
            item = self.node(each, node, depth + 1)
            node.items.append(item)
            node.end = item.end
        return node

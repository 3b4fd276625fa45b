"""Lists between parentheses in the source: parameters of a function, arguments of a call.

``ast`` knows where a parameter's name is, not where its comma or its comment is; here the text is split at
its commas by the tokenizer, so that one item can go, or come, and the rest stays as it was typed.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.classes import Function
from trainer_upgrade.project.module import Module
from trainer_upgrade.sources.text import LineIndex

__all__ = ["Item", "Items", "call_items", "dict_items", "parameter_items"]

_NAME = re.compile(r"\*{0,2}\s*([^\W\d]\w*)")
_KEYWORD = re.compile(r"([^\W\d]\w*)\s*=(?!=)")


@dataclass(frozen=True, slots=True)
class Item:
    """One parameter or argument: its place, without the comma, and its text."""

    start: int
    end: int
    text: str

    @property
    def stars(self) -> int:
        """How many stars it starts with (``*args`` 1, ``**kwargs`` 2)."""
        return len(self.text) - len(self.text.lstrip("*"))

    @property
    def name(self) -> str:
        """The name of a parameter (``""`` for a bare ``*`` or ``/``)."""
        match = _NAME.match(self.text)
        return match[1] if match else ""

    @property
    def keyword(self) -> str | None:
        """The keyword of an argument, ``None`` for a positional one."""
        match = _KEYWORD.match(self.text)
        return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Items:
    """The items between two parentheses.

    Attributes:
        source: The text of the file.
        open: Offset behind the opening parenthesis.
        close: Offset of the closing one.
        items: What stands between.
        colon: Offset behind a function header's colon; equal to ``close`` for a call.
    """

    source: str
    open: int
    close: int
    items: tuple[Item, ...]
    colon: int

    def index(self, name: str) -> int | None:
        """Return the position of the parameter called ``name``."""
        for position, item in enumerate(self.items):
            if item.name == name:
                return position
        return None

    def without(self, drop: Iterable[int]) -> list[Edit]:
        """Return the edits that take items away, each with the comma before it."""
        left = sorted(set(drop))
        runs: list[list[int]] = []
        for position in left:
            if runs and runs[-1][-1] == position - 1:
                runs[-1].append(position)
            else:
                runs.append([position])
        edits: list[Edit] = []
        for run in runs:
            first, last = run[0], run[-1]
            if first > 0:
                edits.append(Edit(self.items[first - 1].end, self.items[last].end, ""))
            elif last + 1 < len(self.items):
                edits.append(Edit(self.items[0].start, self.items[last + 1].start, ""))
            else:
                edits.append(Edit(self.open, self.close, ""))
        return edits

    def inserted(self, position: int, text: str) -> Edit:
        """Return the edit that puts ``text`` where item ``position`` is (or behind the last one)."""
        if not self.items:
            return Edit(self.open, self.open, text)
        if position >= len(self.items):
            end = self.items[-1].end
            return Edit(end, end, self._separator() + text)
        start = self.items[position].start
        return Edit(start, start, text + self._separator())

    @property
    def annotated(self) -> bool:
        """Whether a parameter is annotated."""
        return any(":" in item.text.split("=")[0] for item in self.items)

    def _separator(self) -> str:
        """Return how the list's items are parted: a comma and a blank, or one item a line."""
        if len(self.items) < 2:
            return ", "
        between = self.source[self.items[-2].end : self.items[-1].start]
        return between if "#" not in between and between.startswith(",") else ", "


def parameter_items(function: Function, module: Module) -> Items:
    """Split a function's parameters.

    Raises:
        ValueError: The header cannot be read.
    """
    lines = module.lines
    start = lines.span(function)[0]
    end = lines.span(function.body[0])[0]
    decorated = getattr(function.body[0], "decorator_list", None)
    if decorated:
        end = min(end, min(lines.span(each)[0] for each in decorated) - 1)
    return _split(module.source.text, start, end, header=True)


def call_items(call: ast.Call, module: Module) -> Items:
    """Split a call's arguments.

    Raises:
        ValueError: The call cannot be read.
    """
    return _split(
        module.source.text, module.lines.span(call.func)[1], module.lines.span(call)[1], header=False
    )


def dict_items(node: ast.Dict, module: Module) -> Items:
    """Split the entries of a dict display.

    Raises:
        ValueError: It cannot be read.
    """
    return _split(module.source.text, *module.lines.span(node), header=False, brackets="{}")


def _split(source: str, start: int, end: int, *, header: bool, brackets: str = "()") -> Items:
    text = source[start:end]
    index = LineIndex(text)
    depth = 0
    opened = closed = -1
    first: int | None = None
    last = 0
    items: list[Item] = []

    def finish() -> None:
        nonlocal first
        if first is not None:
            items.append(Item(start + first, start + last, text[first:last]))
        first = None

    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            begin, stop = _at(index, token.start), _at(index, token.end)
            if token.type in (
                tokenize.NL,
                tokenize.NEWLINE,
                tokenize.COMMENT,
                tokenize.INDENT,
                tokenize.DEDENT,
            ):
                continue
            if closed >= 0:
                if token.string == ":" and depth == 0:
                    return Items(source, start + opened, start + closed, tuple(items), start + stop)
                depth += _depth(token)
                continue
            if opened < 0:
                if token.string == brackets[0] and depth == 0:
                    opened = stop
                else:
                    depth += _depth(token)
                continue
            if token.string == brackets[1] and token.type == tokenize.OP and depth == 0:
                finish()
                closed = begin
                if not header:
                    return Items(source, start + opened, start + closed, tuple(items), start + closed)
                continue
            if token.string == "," and token.type == tokenize.OP and depth == 0:
                finish()
                continue
            depth += _depth(token)
            if first is None:
                first = begin
            last = stop
    except (tokenize.TokenError, IndentationError, SyntaxError) as error:
        raise ValueError(str(error)) from error
    raise ValueError("no closing parenthesis")


def _at(index: LineIndex, place: tuple[int, int]) -> int:
    row, column = place
    return index.starts[row - 1] + column


def _depth(token: tokenize.TokenInfo) -> int:
    if token.type != tokenize.OP:
        return 0
    if token.string in ("(", "[", "{"):
        return 1
    return -1 if token.string in (")", "]", "}") else 0

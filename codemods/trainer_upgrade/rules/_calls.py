"""Change the arguments of one call, or the names of one import, and nothing that is between them.

What is on one line stays on one line, what has a line for each item keeps that form, comments stay, and a
trailing comma stays. Only the text that has to go is in the edits.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.context import FileContext

__all__ = ["Argument", "CallEditor", "ListEditor"]

_SPACE = re.compile(r"[ \t\f]*")


@dataclass(slots=True)
class Argument:
    """One item of a list as it stands: an argument of a call, a name of an import.

    Attributes:
        node: The keyword, the positional expression, or the alias.
        name: The keyword's name; ``None`` for a positional argument and for ``*`` and ``**``.
        value: The expression (the node itself for an alias).
        start: Where it begins.
        end: Where its text ends, parentheses included.
        comma: The offset of the comma behind it, or ``None``.
    """

    node: ast.expr | ast.keyword | ast.alias
    name: str | None
    value: ast.AST
    start: int
    end: int
    comma: int | None = None


@dataclass(slots=True)
class _Change:
    texts: list[str] = field(default_factory=list)
    touched: bool = False


class ListEditor:
    """Collects changes of the items between two brackets and makes the edits."""

    def __init__(
        self,
        file: FileContext,
        nodes: list[ast.expr | ast.keyword | ast.alias],
        low: int,
        close: int,
        bracket: str = "(",
    ) -> None:
        """Look at the items ``nodes``, between the first ``bracket`` from ``low`` on and ``close``."""
        self._bracket = bracket
        self.file = file
        self.source = file.source
        self.low = low
        self.close = close
        self._open = self._find_open()
        self.arguments = self._arguments(nodes)
        self._changes = {id(each): _Change() for each in self.arguments}
        self._inserted: list[str] = []

    # Changes

    def replace(self, argument: Argument, *texts: str) -> None:
        """Put arguments (their full text, ``name=value``) in the place of one; none removes it."""
        change = self._changes[id(argument)]
        if change.touched:
            change.texts += texts
        else:
            change.touched, change.texts = True, list(texts)

    def remove(self, argument: Argument) -> None:
        """Take an argument out."""
        self.replace(argument)

    def set_value(self, argument: Argument, text: str) -> None:
        """Give a keyword argument another value, keeping its name and the space around ``=``."""
        head = self.source[argument.start : argument.end]
        at = head.index("=") + 1
        space = _SPACE.match(head, at)
        assert space is not None
        self.replace(argument, head[: space.end()] + text)

    def add(self, *texts: str) -> None:
        """Add arguments at the end, before ``**`` arguments."""
        self._inserted += texts

    def edits(self) -> tuple[Edit, ...]:
        """Return the edits, in order."""
        changes = list(self._edits())
        return tuple(sorted(changes))

    # Inner works

    def _arguments(self, nodes: list[ast.expr | ast.keyword | ast.alias]) -> list[Argument]:
        found: list[Argument] = []
        position = self._open
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            start, end = self.file.span(node)
            value: ast.AST = node.value if isinstance(node, ast.keyword) else node
            # Parentheses around a positional value are not part of its node.
            start = self._widen_left(position, max(start, self._open))
            end = self._widen_right(start, min(end, self.close))
            comma = self._comma(end)
            name = node.arg if isinstance(node, ast.keyword) else None
            found.append(Argument(node, name, value, start, end, comma))
            position = comma + 1 if comma is not None else end
        return found

    def _find_open(self) -> int:
        """Return the offset behind the opening bracket: the first one from ``low`` on."""
        position = self.low
        while self.source[position] != self._bracket:
            position = self._line_end(position) if self.source[position] == "#" else position + 1
        return position + 1

    def _widen_left(self, low: int, start: int) -> int:
        """Move left over opening parentheses that belong to the value; the call's own one stays out."""
        opened = []
        position = low
        while position < start:
            character = self.source[position]
            if character == "#":
                position = self._line_end(position)
                continue
            if character == "(":
                opened.append(position)
            position += 1
        return opened[0] if opened else start

    def _widen_right(self, start: int, end: int) -> int:
        missing = 0
        text = self.source[start:end]
        if text.startswith("("):
            missing = _unclosed(text)
        position = end
        while missing > 0 and position < self.close:
            if self.source[position] == "#":
                position = self._line_end(position)
                continue
            if self.source[position] == ")":
                missing -= 1
            position += 1
            if missing == 0:
                return position
        return end

    def _comma(self, position: int) -> int | None:
        while position < self.close:
            character = self.source[position]
            if character == ",":
                return position
            if character == "#":
                position = self._line_end(position)
                continue
            position += 1
        return None

    def _line_end(self, position: int) -> int:
        while position < len(self.source) and self.source[position] not in "\r\n":
            position += 1
        return position

    def _line_start(self, position: int) -> int:
        while position > 0 and self.source[position - 1] not in "\r\n":
            position -= 1
        return position

    def _starts_line(self, argument: Argument) -> bool:
        return not self.source[self._line_start(argument.start) : argument.start].strip()

    def _next_line(self, position: int) -> int:
        end = self._line_end(position)
        if self.source.startswith("\r\n", end):
            return end + 2
        return min(end + 1, len(self.source))

    def _separator(self) -> str:
        """What stands between two new arguments."""
        if len(self.arguments) > 1:
            rows = [self.source.count("\n", 0, each.start) for each in self.arguments]
            spread = len(set(rows)) == len(rows)
        else:
            spread = bool(self.arguments) and self._starts_line(self.arguments[0])
        if not spread:
            return ", "
        sample = next((each for each in self.arguments if self._starts_line(each)), self.arguments[0])
        start = self._line_start(sample.start)
        lead = self.source[start : sample.start]
        indent = lead if not lead.strip() else re.sub(r"[^\t]", " ", lead)
        return "," + self.file.newline + indent

    def _edits(self) -> Iterator[Edit]:
        separator = self._separator()
        if not self.arguments:
            if self._inserted:
                yield Edit(self._open, self._open, ", ".join(self._inserted))
            return
        kept = [each for each in self.arguments if not self._removed(each)]
        for each in self.arguments:
            change = self._changes[id(each)]
            if change.touched and change.texts:
                text = separator.join(change.texts)
                if text != self.source[each.start : each.end]:
                    yield Edit(each.start, each.end, text)
        if not kept:
            yield from self._all_gone(separator)
            return
        yield from self._insertions(kept, separator)
        run: list[Argument] = []
        previous: Argument | None = None
        following: list[Argument | None] = [*self.arguments, None]
        for one in following:
            if one is not None and self._removed(one):
                run.append(one)
                continue
            if run:
                yield from self._remove_run(previous, run, one, bool(self._inserted))
                run = []
            if one is not None:
                previous = one

    def _removed(self, argument: Argument) -> bool:
        change = self._changes[id(argument)]
        return change.touched and not change.texts

    def _insertions(self, kept: list[Argument], separator: str) -> Iterator[Edit]:
        if not self._inserted:
            return
        before = next(
            (each for each in kept if isinstance(each.node, ast.keyword) and each.name is None), None
        )
        if before is not None:
            text = separator.join([*self._inserted, ""])
            yield Edit(before.start, before.start, text)
            return
        last = kept[-1]
        text = separator.join(["", *self._inserted])
        if self._generator(last):
            # A lone generator must get parentheses once it has company.
            yield Edit(last.start, last.start, "(")
            text = ")" + text
        yield Edit(last.end, last.end, text)

    def _generator(self, argument: Argument) -> bool:
        return isinstance(argument.value, ast.GeneratorExp) and not self.source[
            argument.start : argument.end
        ].startswith("(")

    def _all_gone(self, separator: str) -> Iterator[Edit]:
        first, last = self.arguments[0], self.arguments[-1]
        end = last.comma + 1 if last.comma is not None else last.end
        if "#" in self.source[self._open : self.close]:
            # Comments stay: take out the arguments only.
            for each in self.arguments:
                stop = each.comma + 1 if each.comma is not None else each.end
                content = separator.join(self._inserted) if each is first else ""
                yield Edit(each.start, stop, content)
            return
        if self._inserted:
            yield Edit(first.start, end if last.comma is None else last.end, separator.join(self._inserted))
        else:
            yield Edit(self._open, self.close, "")

    def _remove_run(
        self, previous: Argument | None, run: list[Argument], following: Argument | None, inserting: bool
    ) -> Iterator[Edit]:
        left: list[Argument] = []
        for each in run:
            own = self._own_line(each)
            if own is None:
                left.append(each)
            else:
                yield Edit(*own, "")
        if not left:
            return
        # What is left of the run shares lines with others.
        groups: list[list[Argument]] = [[]]
        for each in run:
            if each in left:
                groups[-1].append(each)
            elif groups[-1]:
                groups.append([])
        groups = [group for group in groups if group]
        for group in groups:
            last = group is groups[-1]
            if following is not None or not last or group[-1] is not run[-1]:
                nearest = following if group[-1] is run[-1] else run[run.index(group[-1]) + 1]
                assert nearest is not None
                yield from self._cut(group[0].start, nearest.start, group)
            elif previous is not None:
                yield from self._cut(previous.end, self._tail(group[-1]), group)

    def _tail(self, argument: Argument) -> int:
        return argument.end

    def _cut(self, start: int, end: int, group: list[Argument]) -> Iterator[Edit]:
        gaps = (
            self.source[start : group[0].start]
            + "".join(self.source[one.end : two.start] for one, two in itertools.pairwise(group))
            + self.source[group[-1].end : max(end, group[-1].end)]
        )
        if "#" not in gaps:
            yield Edit(start, end, "")
            return
        for each in group:
            stop = each.comma + 1 if each.comma is not None else each.end
            blank = _SPACE.match(self.source, stop)
            assert blank is not None
            comment = self.source.startswith("#", blank.end())
            yield Edit(each.start, blank.end() if comment else stop, "")

    def _own_line(self, argument: Argument) -> tuple[int, int] | None:
        """Return what goes if the argument has a line for itself; a comment at its end stays there."""
        if not self._starts_line(argument):
            return None
        if argument.comma is None:
            return None
        after = argument.comma + 1
        blank = _SPACE.match(self.source, after)
        assert blank is not None
        rest = blank.end()
        if self.source.startswith("#", rest):
            return argument.start, rest
        if rest < len(self.source) and self.source[rest] in "\r\n":
            return self._line_start(argument.start), self._next_line(rest)
        return None


class CallEditor(ListEditor):
    """Changes the arguments of one call."""

    def __init__(self, file: FileContext, call: ast.Call) -> None:
        """Look at the arguments of ``call``."""
        self.call = call
        nodes: list[ast.expr | ast.keyword | ast.alias] = [*call.args, *call.keywords]
        super().__init__(file, nodes, file.span(call.func)[1], file.span(call)[1] - 1)

    def __getitem__(self, name: str) -> Argument:
        """Return the keyword argument of this name.

        Raises:
            KeyError: There is none.
        """
        for each in self.arguments:
            if each.name == name:
                return each
        raise KeyError(name)

    def get(self, name: str) -> Argument | None:
        """Return the keyword argument of this name, or ``None``."""
        return next((each for each in self.arguments if each.name == name), None)

    def value_text(self, argument: Argument) -> str:
        """Return the text of an argument's value, with the parentheses around it."""
        if isinstance(argument.node, ast.keyword) and argument.name is not None:
            text = self.source[argument.start : argument.end]
            return text[text.index("=") + 1 :].strip()
        return self.source[argument.start : argument.end]


def _unclosed(text: str) -> int:
    """Return how many parentheses ``text`` opens and does not close (strings and comments aside)."""
    depth = 0
    position = 0
    quote = ""
    while position < len(text):
        if quote:
            if text[position] == "\\":
                position += 2
                continue
            if text.startswith(quote, position):
                position += len(quote)
                quote = ""
                continue
            position += 1
            continue
        character = text[position]
        if character in "\"'":
            quote = character * 3 if text.startswith(character * 3, position) else character
            position += len(quote)
            continue
        if character == "#":
            while position < len(text) and text[position] not in "\r\n":
                position += 1
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        position += 1
    return depth

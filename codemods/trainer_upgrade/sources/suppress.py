"""Comments that switch findings off, and which of them do nothing.

- ``# noqa`` and ``# noqa: TRU101, TRU2`` on a line (flake8's grammar: a code stands for all it begins);
- ``# trainer-upgrade: ignore`` and ``# trainer-upgrade: ignore[TRU101]`` on a line;
- ``# trainer-upgrade: ignore-file`` (or ``ignore-file[TRU101]``) and ``# flake8: noqa`` (or
  ``# flake8: noqa: TRU101``), each on a line of its own, for the file.

A finding is off when its first or its last line says so, or the first or the last line of the statement it
begins in (of a ``def``, ``class``, ``if`` … only the part up to the colon counts). A string over several
lines, and lines joined by a backslash, count as one line.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainer_upgrade.findings import Edit
from trainer_upgrade.sources.text import LineIndex

__all__ = ["UNUSED", "Directive", "Suppressions", "may_suppress"]

_CODE_LIST = r"[A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]+)*"
# A code, or flake8's plain prefix of letters; several are parted by commas or blanks.
_NOQA = re.compile(rf"#\s*noqa(?::\s?(?P<codes>{_CODE_LIST}))?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*trainer-upgrade:\s*ignore(?!-)(?:\[(?P<codes>[^\]\n]*)\])?", re.IGNORECASE)
_FILE = re.compile(
    r"^[ \t\f]*(?P<comment>#\s*trainer-upgrade:\s*ignore-file\b(?:\[(?P<codes>[^\]\n]*)\])?)",
    re.IGNORECASE | re.MULTILINE,
)
_FLAKE8_FILE = re.compile(
    r"^[ \t\f]*(?P<comment>#\s*flake8[:=]\s*noqa"
    r"(?::\s?(?P<codes>[A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]*)*))?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ANY = re.compile(r"noqa|trainer-upgrade", re.IGNORECASE)
_BYTES = re.compile(rb"(?i)trainer-upgrade:\s*ignore|noqa[^\n]*\bTRU[0-9]")
_OURS = "TRU"
UNUSED = "TRU002"


def may_suppress(data: bytes) -> bool:
    """Whether a file may hold a comment of ours, told from its bytes."""
    return _BYTES.search(data) is not None


@dataclass(slots=True)
class Directive:
    """One comment that switches something off.

    Attributes:
        kind: ``noqa``, ``ignore``, ``ignore-file`` or ``flake8-noqa``.
        start: Where its ``#`` stands in the text.
        end: Where it ends: what follows in the comment is not part of it.
        row: Its line.
        codes: The codes it names with their offsets; ``None`` if it names none and stands for all.
        used: The codes (``""`` for one that names none) that switched something off.
    """

    kind: str
    start: int
    end: int
    row: int
    codes: tuple[tuple[str, int, int], ...] | None
    used: set[str] = field(default_factory=set)

    def covers(self, code: str) -> bool:
        """Whether it switches a code off; remembers that it did."""
        if self.codes is None:
            self.used.add("")
            return True
        fitting = [each for each, _, _ in self.codes if code.startswith(each)]
        self.used.update(fitting)
        return bool(fitting)

    @property
    def whole(self) -> bool:
        """Whether it is for the whole file."""
        return self.kind in ("ignore-file", "flake8-noqa")

    @property
    def name(self) -> str:
        """How it begins, as one would say it."""
        return {"noqa": "noqa", "flake8-noqa": "flake8: noqa"}.get(self.kind, f"trainer-upgrade: {self.kind}")


class Suppressions:
    """Which findings the comments of one file switch off."""

    def __init__(self, text: str, lines: LineIndex, *, noqa: bool = True) -> None:
        """Read the comments of a text.

        Args:
            text: The text.
            lines: Its lines.
            noqa: Whether ``noqa`` counts; our own comments always do.
        """
        self.directives: list[Directive] = []
        self._text = text
        self._lines = lines
        self._by_row: dict[int, list[Directive]] = {}
        self._whole: list[Directive] = []
        self._statements: dict[int, tuple[int, int]] = {}
        self._comments: dict[int, tuple[int, int]] = {}
        if _ANY.search(text) is None:
            return
        patterns = [(_FILE, "ignore-file"), *([(_FLAKE8_FILE, "flake8-noqa")] if noqa else [])]
        taken: set[int] = set()
        for pattern, kind in patterns:
            for match in pattern.finditer(text):
                self._whole.append(self._directive(kind, match, match.start("comment"), match.end("comment")))
                taken.add(match.start("comment"))
        rows = {lines.place(match.start())[0] for match in _ANY.finditer(text)}
        joined = self._read_tokens(text)
        for row in sorted(rows):
            line, begin = lines.line(row), lines.starts[row - 1]
            for pattern, kind in ((_NOQA, "noqa"), (_IGNORE, "ignore")):
                if kind == "noqa" and not noqa:
                    continue
                for match in pattern.finditer(line):
                    start = begin + match.start()
                    if start in taken:
                        continue
                    found = self._directive(kind, match, start, begin + match.end(), begin)
                    for each in joined.get(row, (row,)):
                        self._by_row.setdefault(each, []).append(found)
        unique = {id(each): each for group in self._by_row.values() for each in group}
        self.directives = sorted([*self._whole, *unique.values()], key=lambda each: each.start)

    def off(self, code: str, first_row: int, last_row: int) -> bool:
        """Whether a finding with a code from one row to another is switched off."""
        found = [each for each in self._whole if each.covers(code)]
        rows = dict.fromkeys((first_row, last_row, *self._statements.get(first_row, ())))
        for row in rows:
            found += [each for each in self._by_row.get(row, ()) if each.covers(code)]
        return bool(found)

    def quiet(self, directive: Directive) -> bool:
        """Whether a report on a comment itself is switched off: by code, or by another comment."""
        for each in (*self._whole, *self._by_row.get(directive.row, ())):
            named = each.codes is not None and any(UNUSED.startswith(code) for code, _, _ in each.codes)
            if named or (each is not directive and each.codes is None):
                return True
        return False

    def unused(self) -> Iterator[tuple[Directive, tuple[str, ...], Edit]]:
        """Yield the comments that switch nothing off: which of their codes, and the edit that removes those.

        Only what is ours to judge: codes of other tools, a bare ``noqa`` and what stands in a string are not.
        """
        for directive in self.directives:
            comment = self._comments.get(directive.row)
            if comment is None or not comment[0] <= directive.start < comment[1]:
                continue
            if directive.codes is None:
                if directive.kind in ("ignore", "ignore-file") and not directive.used:
                    yield directive, (), self._removal(directive, comment)
                continue
            ours = directive.kind in ("ignore", "ignore-file")
            gone = [
                code
                for code, _, _ in directive.codes
                if code not in directive.used
                and (ours or code.startswith(_OURS))
                and not UNUSED.startswith(code)
            ]
            if not gone:
                continue
            kept = [each for each in directive.codes if each[0] not in gone]
            first, last = directive.codes[0][1], directive.codes[-1][2]
            if kept:
                between = self._text[directive.codes[0][2] : directive.codes[1][1]]
                content = between.join(self._text[start:end] for _, start, end in kept)
                yield directive, tuple(gone), Edit(first, last, content)
            else:
                yield directive, tuple(gone), self._removal(directive, comment)

    # Inner works

    def _directive(self, kind: str, match: re.Match[str], start: int, end: int, begin: int = 0) -> Directive:
        codes: tuple[tuple[str, int, int], ...] | None = None
        listed = match.group("codes")
        if listed is not None:
            offset = begin + match.start("codes")
            codes = tuple(
                (each[0].upper(), offset + each.start(), offset + each.end())
                for each in re.finditer(r"[^,\s]+", listed)
            )
        return Directive(kind, start, end, self._lines.place(start)[0], codes)

    def _removal(self, directive: Directive, comment: tuple[int, int]) -> Edit:
        """Take a comment away, or only its part if it says more."""
        text = self._text
        start, end = directive.start, directive.end
        rest = text[end : comment[1]].strip()
        if rest and not rest.startswith("#"):
            return Edit(start, end, "#")  # a reason is kept
        if rest:
            return Edit(start, comment[1] - len(text[end : comment[1]].lstrip()), "")
        line_start = self._lines.starts[directive.row - 1]
        before = text[line_start:start].rstrip(" \t")
        if not before.strip():
            return Edit(line_start, self._lines.end(directive.row), "")
        return Edit(line_start + len(before), comment[1], "")

    def _read_tokens(self, text: str) -> dict[int, range]:
        """Find comments, statements, and rows that a string over several lines, or a backslash, joins."""
        rows: dict[int, range] = {}
        line: int | None = None
        statement: int | None = None
        skipped = (tokenize.ENDMARKER, tokenize.DEDENT, tokenize.INDENT)
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type in skipped:
                    continue
                row = token.start[0]
                line = row if line is None else line
                if token.type == tokenize.COMMENT:
                    start = self._lines.starts[row - 1] + token.start[1]
                    self._comments[row] = (start, start + len(token.string))
                elif token.type not in (tokenize.NL, tokenize.NEWLINE):
                    statement = row if statement is None else statement
                if token.type in (tokenize.NL, tokenize.NEWLINE):
                    if row > line:
                        joined = range(line, row + 1)
                        rows.update(dict.fromkeys(joined, joined))
                    line = None
                if token.type == tokenize.NEWLINE and statement is not None:
                    if row > statement:
                        self._statements.update(dict.fromkeys(range(statement, row + 1), (statement, row)))
                    statement = None
        except (tokenize.TokenError, SyntaxError, IndentationError, IndexError):
            return rows
        return rows

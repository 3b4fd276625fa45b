"""Comments that switch findings off.

- ``# noqa`` and ``# noqa: TRU101, TRU2`` on a line (flake8's grammar: a code stands for all it begins);
- ``# trainer-upgrade: ignore`` and ``# trainer-upgrade: ignore[TRU101]`` on a line;
- ``# trainer-upgrade: ignore-file`` and ``# flake8: noqa`` (or ``# flake8: noqa: TRU101``), each on a line
  of its own, for the file.

A finding is off when its first or its last line says so; a string over several lines counts as one line.
"""

from __future__ import annotations

import io
import re
import tokenize

from trainer_upgrade.sources.text import LineIndex

__all__ = ["Suppressions"]

_NOQA = re.compile(
    # A code, or flake8's plain prefix of letters; several are parted by commas or blanks.
    r"#\s*noqa(?::\s?(?P<codes>[A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]+)*))?",
    re.IGNORECASE,
)
_IGNORE = re.compile(r"#\s*trainer-upgrade:\s*ignore(?!-)(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
_FILE = re.compile(r"^[ \t\f]*#\s*trainer-upgrade:\s*ignore-file\b", re.IGNORECASE | re.MULTILINE)
_FLAKE8_FILE = re.compile(
    r"^[ \t\f]*#\s*flake8[:=]\s*noqa(?P<codes>:\s?(?P<list>[A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]*)*))?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ANY = re.compile(r"noqa|trainer-upgrade", re.IGNORECASE)


class Suppressions:
    """Which findings the comments of one file switch off."""

    def __init__(self, text: str, lines: LineIndex) -> None:
        """Read the comments of a text."""
        self.whole_file = False
        self.file_codes: tuple[str, ...] = ()
        self._lines: dict[int, tuple[str, ...] | None] = {}
        if _ANY.search(text) is None:
            return
        self.whole_file = _FILE.search(text) is not None
        for match in _FLAKE8_FILE.finditer(text):
            if match.group("codes") is None:
                self.whole_file = True
            else:
                self.file_codes += _codes(match.group("list"))
        rows = {lines.place(match.start())[0] for match in _ANY.finditer(text)}
        joined = _joined_rows(text) if rows else {}
        for row in rows:
            line = lines.line(row)
            found: list[tuple[str, ...] | None] = []
            for pattern in (_NOQA, _IGNORE):
                for match in pattern.finditer(line):
                    codes = match.group("codes")
                    found.append(None if codes is None else _codes(codes))
            for codes_found in found:
                for each in joined.get(row, (row,)):
                    known = self._lines.get(each, ())
                    both = None if codes_found is None or known is None else known + codes_found
                    self._lines[each] = both

    def off(self, code: str, first_row: int, last_row: int) -> bool:
        """Whether a finding with a code from one row to another is switched off."""
        if self.whole_file or any(code.startswith(each) for each in self.file_codes):
            return True
        for row in (first_row, last_row):
            if row in self._lines:
                codes = self._lines[row]
                if codes is None or any(code.startswith(each) for each in codes):
                    return True
        return False


def _codes(text: str) -> tuple[str, ...]:
    return tuple(each.upper() for each in re.split(r"[,\s]+", text) if each)


def _joined_rows(text: str) -> dict[int, range]:
    """Rows that a string over several lines, or a backslash, joins."""
    rows: dict[int, range] = {}
    first: int | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.ENDMARKER, tokenize.DEDENT, tokenize.INDENT):
                continue
            if first is None:
                first = token.start[0]
            if token.type in (tokenize.NL, tokenize.NEWLINE):
                last = token.start[0]
                if last > first:
                    joined = range(first, last + 1)
                    rows.update(dict.fromkeys(joined, joined))
                first = None
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return rows
    return rows

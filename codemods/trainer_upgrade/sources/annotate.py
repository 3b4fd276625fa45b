"""Comments that mark what is left to do: ``# TODO(trainer-upgrade TRU201): …`` above the statement.

A comment stands there once, and is gone when its finding is: all of them are taken out and put in anew, which
changes nothing where nothing has changed.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from trainer_upgrade.findings import Finding
from trainer_upgrade.sources.text import LineIndex

__all__ = ["MARK", "annotate"]

MARK = b"TODO(trainer-upgrade TRU"
_WIDTH = 100
_LINE = re.compile(r"^[ \t\f]*# TODO\(trainer-upgrade TRU\d+\).*(?:\r\n|\r|\n|$)", re.MULTILINE)


def annotate(text: str, findings: Iterable[Finding], newline: str = "\n") -> str:
    """Return a Python text with a comment above each statement that something is left to do in.

    Args:
        text: The text.
        findings: What is left, with places in this text.
        newline: The line end of new lines.
    """
    lines = LineIndex(text)
    strings = _string_rows(text)
    old = [match for match in _LINE.finditer(text) if lines.place(match.start())[0] not in strings]
    removed = {lines.place(match.start())[0] for match in old}
    begins = _statements(text)
    above: dict[int, dict[str, str]] = {}
    for finding in findings:
        row = begins.get(finding.start.row, finding.start.row)
        above.setdefault(row, {}).setdefault(finding.code, finding.message)
    parts: list[str] = []
    for row in range(1, len(lines.starts) + 1):
        line = text[lines.starts[row - 1] : lines.end(row)]
        if row in above:
            indent = line[: len(line) - len(line.lstrip(" \t\f"))]
            for code, message in above[row].items():
                parts.append(_comment(indent, code, message) + newline)
        if row not in removed:
            parts.append(line)
    return "".join(parts)


def _comment(indent: str, code: str, message: str) -> str:
    comment = f"{indent}# TODO(trainer-upgrade {code}): {' '.join(message.split())}"
    if len(comment) <= _WIDTH:
        return comment
    return comment[: _WIDTH - 2].rpartition(" ")[0].rstrip(" ,;:(") + " …"


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return []


def _string_rows(text: str) -> set[int]:
    """Rows that begin inside of a string: what looks like a comment there is none."""
    rows: set[int] = set()
    for token in _tokens(text):
        if token.type != tokenize.COMMENT and token.end[0] > token.start[0]:
            rows.update(range(token.start[0] + 1, token.end[0] + 1))
    return rows


def _statements(text: str) -> dict[int, int]:
    """Map each row of a statement to its first."""
    found: dict[int, int] = {}
    first: int | None = None
    skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in _tokens(text):
        if token.type in skipped:
            continue
        first = token.start[0] if first is None else first
        if token.type == tokenize.NEWLINE:
            found.update(dict.fromkeys(range(first, token.start[0] + 1), first))
            first = None
    return found

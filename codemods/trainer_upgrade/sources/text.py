"""A file's bytes as text and back, and places in it.

Nothing is normalised: line ends, tabs, form feeds, a byte order mark and a missing last newline are part
of the text, so that writing back what was not edited gives the same bytes.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass

from trainer_upgrade.findings import Edit

__all__ = ["LineIndex", "SourceText", "apply_edits", "decode"]

_BOM = b"\xef\xbb\xbf"
# Python ends a line at these only; str.splitlines would also end it at a form feed.
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file and how it was stored.

    Attributes:
        text: All characters, line ends as they are, without the byte order mark.
        encoding: As the file declares it (PEP 263), UTF-8 if it does not.
        bom: Whether the bytes began with a UTF-8 byte order mark.
    """

    text: str
    encoding: str = "utf-8"
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """Return the bytes of an edited text.

        Raises:
            UnicodeEncodeError: The file's encoding lacks a character of the new text.
        """
        data = text.encode(self.encoding)
        return _BOM + data if self.bom else data


def decode(data: bytes) -> SourceText:
    """Decode a Python file's bytes.

    Raises:
        SyntaxError: The encoding declared is unknown or contradicts the byte order mark.
        UnicodeDecodeError: The bytes are not in the encoding declared.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    bom = data.startswith(_BOM)
    if bom:
        data = data[len(_BOM) :]
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    return SourceText(data.decode(encoding), encoding, bom)


class LineIndex:
    """Turns places of ``ast`` (row, UTF-8 byte column) into character offsets, and offsets into places."""

    def __init__(self, text: str) -> None:
        """Index the lines of a text."""
        self.text = text
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def line(self, row: int) -> str:
        """Return a row (from 1) without its line end."""
        return self.text[self.starts[row - 1] : self.end(row)].rstrip("\r\n")

    def end(self, row: int) -> int:
        """Return the offset behind a row's line end."""
        return self.starts[row] if row < len(self.starts) else len(self.text)

    def offset(self, row: int, column: int) -> int:
        """Return the character offset of a row (from 1) and a UTF-8 byte column (from 0)."""
        start = self.starts[row - 1]
        piece = self.text[start : start + column]
        if piece.isascii():
            return start + column
        line = self.text[start : self.end(row)].encode("utf-8", "surrogatepass")[:column]
        return start + len(line.decode("utf-8", "surrogatepass"))

    def place(self, offset: int) -> tuple[int, int]:
        """Return row and column (both from 1, in characters) of an offset."""
        row = bisect_right(self.starts, offset)
        return row, offset - self.starts[row - 1] + 1

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the character offsets of a node: begin and end (exclusive)."""
        row, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        if row is None or column is None:
            return 0, len(self.text)
        end_row: int = getattr(node, "end_lineno", None) or row
        end_column: int = getattr(node, "end_col_offset", None) or column
        return self.offset(row, column), self.offset(end_row, end_column)


def apply_edits(text: str, edits: list[Edit]) -> str:
    """Return the text with edits made, from the end so that offsets stay true.

    Raises:
        ValueError: Two edits overlap, or one lies outside of the text.
    """
    pieces: list[str] = []
    position = len(text)
    for edit in sorted(edits, reverse=True):
        if not 0 <= edit.start <= edit.end <= position:
            raise ValueError(f"edit {edit.start}-{edit.end} overlaps another or lies outside of the text")
        pieces.append(text[edit.end : position])
        pieces.append(edit.content)
        position = edit.start
    pieces.append(text[:position])
    return "".join(reversed(pieces))

"""Python that stands in another kind of file: notebook cells, code blocks of Markdown and RST.

The blocks of a document are strung together to one text that is a Python module, each behind a comment that
marks it. What is no Python (magics, shell lines, a cell that does not parse) is held by a call that rules do
not know. Edits are made in that text as in any module's, and taken back to the blocks.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from trainer_upgrade.project.module import parse

__all__ = ["Block", "Embedded", "Misplaced"]

_MARK = "# <<block {}>>"
_MARKED = re.compile(r"^# <<block (\d+)>>\n", re.MULTILINE)
_HELD = re.compile(r"__not_python__\((\d+)\n*\)")
_PREFIXED = re.compile(r"^([ \t]*)(.*)  # <<magic (\d+)>>$", re.MULTILINE)

# Line magics whose argument is a Python statement, with their options.
_CODE_MAGIC = re.compile(
    r"%(?:time|timeit|prun|memit|mprun|lprun|snakeviz)\b(?:[ \t]+-[a-zA-Z]+(?:[ \t]*\d+)?)*[ \t]+(?=\S)"
)
# Cell magics below which the cell is Python all the same.
_PYTHON_CELLS = frozenset(
    [
        "time",
        "timeit",
        "capture",
        "prun",
        "python",
        "python3",
        "pypy",
        "memit",
        "debug",
        "ipytest",
        "snakeviz",
    ]
)
_MAGIC = re.compile(r"[ \t]*(?:[%!?]|[\w.]+\?{1,2}[ \t]*$)")
_ASSIGNED = re.compile(r"^([ \t]*[\w.,\[\]'\" \t]+=[ \t]*)((?:%|!)(?![ \t]*=).*)$", re.DOTALL)
_HELP = re.compile(r"^[ \t]*\??[\w.*\[\]]+\?{1,2}[ \t]*$|^[ \t]*\?{1,2}[\w.*]+[ \t]*$")


class Misplaced(ValueError):
    """An edit took away, doubled or moved something that is no Python."""


@dataclass(slots=True)
class Block:
    """One block of Python.

    Attributes:
        number: What findings call it (cells count from 1).
        text: Its source, line ends ``\\n``, no line end after its last line.
        magics: Whether lines of IPython may stand in it.
        error: Why it does not parse, with row and column in the block; set by :class:`Embedded`.
    """

    number: int
    text: str
    magics: bool = False
    error: tuple[str, int, int] | None = None
    _python: str = field(default="", repr=False)


class Embedded:
    """The blocks of a document as one Python module.

    Attributes:
        text: The module's text.
        tree: Its tree.
        blocks: The blocks, in order.
    """

    def __init__(self, blocks: Sequence[Block], filename: str = "<embedded>") -> None:
        """String blocks together; one that does not parse is held as a whole and has an ``error``."""
        self.blocks = list(blocks)
        self._held: list[str] = []
        self._prefixes: list[str] = []
        parts: list[str] = []
        self._rows: list[int] = []  # the row of each block's mark
        row = 1
        for position, block in enumerate(self.blocks):
            body = self._python_of(block, filename)
            parts.append(f"{_MARK.format(position)}\n{body}\n")
            self._rows.append(row)
            row += body.count("\n") + 2
        self.text = "".join(parts)
        self.tree: ast.Module = parse(self.text, filename)

    def place(self, row: int, column: int) -> tuple[Block, int, int]:
        """Turn a row and column of the module (both from 1) into the block's."""
        position = max(bisect_right(self._rows, row) - 1, 0)
        inside = row - self._rows[position]
        line = self.text.split("\n")[row - 1] if self._prefixes else ""
        match = _PREFIXED.match(line)
        if match is not None and column > len(match[1]):
            column += len(self._prefixes[int(match[3])])
        return self.blocks[position], max(inside, 1), column

    def texts(self, text: str) -> list[str]:
        """Return what the blocks are after the module's text was edited.

        Raises:
            Misplaced: A mark, or something that is no Python, is not where it was.
        """
        parts = _MARKED.split(text)
        head, numbers, bodies = parts[0], parts[1::2], parts[2::2]
        if [int(each) for each in numbers] != list(range(len(self.blocks))):
            raise Misplaced("a block's mark has gone")
        found: list[str] = []
        seen_held: list[int] = []
        seen_prefixes: list[int] = []
        for body in bodies:
            if not body.endswith("\n"):
                raise Misplaced("a block's end has gone")
            found.append(self._restore(body[:-1], seen_held, seen_prefixes))
        if seen_held != list(range(len(self._held))) or seen_prefixes != list(range(len(self._prefixes))):
            raise Misplaced("a line that is no Python has gone")
        if head:
            self._put_first(found, head)
        return found

    # Inner works

    def _hold(self, text: str) -> str:
        self._held.append(text)
        return f"__not_python__({len(self._held) - 1}{chr(10) * text.count(chr(10))})"

    def _python_of(self, block: Block, filename: str) -> str:
        mark = len(self._held), len(self._prefixes)
        body = self._without_magics(block.text) if block.magics else block.text
        error: SyntaxError | None = None
        if "# <<block" in block.text or "__not_python__" in block.text:
            error = SyntaxError("it looks like output of this tool")
        else:
            try:
                parse(body + "\n", filename)
            except SyntaxError as caught:
                error = caught
        if error is None:
            return body
        del self._held[mark[0] :], self._prefixes[mark[1] :]
        block.error = (str(error.msg), max(error.lineno or 1, 1), max(error.offset or 1, 1))
        return self._hold(block.text)

    def _without_magics(self, text: str) -> str:
        lines = text.split("\n")
        first = next((each for each, line in enumerate(lines) if line.strip()), None)
        if first is None:
            return text
        start = 0
        done: list[str] = []
        if lines[first].startswith("%%"):
            name = re.match(r"%%!?(\w*)", lines[first])
            if name is None or name[1] not in _PYTHON_CELLS:
                return self._hold(text)
            done = lines[:first]
            done.append(self._hold(lines[first]))
            start = first + 1
        inside = _StringState()
        position = start
        while position < len(lines):
            line = lines[position]
            if inside.open or not _may_be_magic(line):
                inside.feed(line)
                done.append(line)
                position += 1
                continue
            end = position + 1
            while lines[end - 1].endswith("\\") and end < len(lines):
                end += 1
            whole = "\n".join(lines[position:end])
            held = self._magic(whole)
            if held is None:
                inside.feed(line)
                done.append(line)
                position += 1
            else:
                done.append(held)
                position = end
        return "\n".join(done)

    def _magic(self, text: str) -> str | None:
        indent = text[: len(text) - len(text.lstrip(" \t"))]
        rest = text[len(indent) :]
        if rest.startswith("%") and "\n" not in text:
            match = _CODE_MAGIC.match(rest)
            if match is not None:
                statement = rest[match.end() :]
                if "#" not in statement and _parses(statement):
                    self._prefixes.append(match[0])
                    return f"{indent}{statement}  # <<magic {len(self._prefixes) - 1}>>"
        if rest.startswith(("%", "!")) or _HELP.match(text):
            return indent + self._hold(rest)
        assigned = _ASSIGNED.match(text)
        if assigned is not None and _parses(assigned[1].strip() + " None"):
            return assigned[1] + self._hold(assigned[2])
        return None

    def _restore(self, body: str, seen_held: list[int], seen_prefixes: list[int]) -> str:
        def held(match: re.Match[str]) -> str:
            number = int(match[1])
            seen_held.append(number)
            if number >= len(self._held):
                raise Misplaced("a line that is no Python was made up")
            return self._held[number]

        def prefixed(match: re.Match[str]) -> str:
            number = int(match[3])
            seen_prefixes.append(number)
            if not _parses(match[2]) or number >= len(self._prefixes):
                raise Misplaced("a magic's statement would need several lines")
            return f"{match[1]}{self._prefixes[number]}{match[2]}"

        return (
            _HELD.sub(held, _PREFIXED.sub(prefixed, body))
            if "__not_python__" in body or "<<magic" in body
            else body
        )

    def _put_first(self, found: list[str], head: str) -> None:
        """What was put before the first mark (an import) belongs into the first block with Python."""
        for position, block in enumerate(self.blocks):
            if block.error is not None or not block.text.strip():
                continue
            lines = found[position].split("\n")
            row = 0
            while row < len(lines) and (not lines[row].strip() or lines[row].startswith(("%", "!", "#"))):
                row += 1
            if row < len(lines):
                found[position] = "\n".join([*lines[:row], *head.rstrip("\n").split("\n"), *lines[row:]])
                return
        raise Misplaced("there is no place for an import")


def _parses(statement: str) -> bool:
    try:
        parse(statement)
    except SyntaxError:
        return False
    return True


def _may_be_magic(line: str) -> bool:
    if _MAGIC.match(line):
        return True
    return _ASSIGNED.match(line) is not None and re.search(r"=[ \t]*[%!]", line) is not None


class _StringState:
    """Whether a line ends inside of a triple-quoted string or of brackets (roughly, but never in vain)."""

    _TOKEN = re.compile(r"""\"\"\"|'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*|[()\[\]{}]|\\.""")

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0

    @property
    def open(self) -> bool:
        """Whether a next line belongs to what this one began."""
        return bool(self.quote) or self.depth > 0

    def feed(self, line: str) -> None:
        """Read one line."""
        position = 0
        while position < len(line):
            if self.quote:
                end = line.find(self.quote, position)
                if end < 0:
                    return
                position, self.quote = end + 3, ""
                continue
            match = self._TOKEN.search(line, position)
            if match is None:
                return
            position = match.end()
            if match[0] in ('"""', "'''"):
                self.quote = match[0]
            elif match[0] in "([{":
                self.depth += 1
            elif match[0] in ")]}":
                self.depth = max(self.depth - 1, 0)

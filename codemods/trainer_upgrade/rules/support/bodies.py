"""Statements put into a method's body, and methods put into a class, in the style of what is there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.classes import Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.lists import parameter_items

__all__ = [
    "BodyEdits",
    "docstring",
    "indent_unit",
    "insert_after",
    "insert_before",
    "methods_before",
    "starts_line",
]


def docstring(function: Function) -> ast.Expr | None:
    """Return the statement that is a function's docstring."""
    first = function.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first
    return None


def indent_unit(file: FileContext, function: Function) -> str:
    """Return what one more level of indentation is, judged by a function's body."""
    outer = file.line_indent(function)
    for statement in function.body:
        inner = file.line_indent(statement)
        if statement.lineno > function.lineno and inner.startswith(outer) and len(inner) > len(outer):
            return inner[len(outer) :]
    return "\t" if outer.endswith("\t") else "    "


def starts_line(file: FileContext, statement: ast.stmt) -> bool:
    """Whether a statement has its lines to itself (a comment behind it aside)."""
    start, end = file.span(statement)
    before = file.module.lines.line(statement.lineno)
    row_start = file.module.lines.starts[statement.lineno - 1]
    row_end = _row_end(file, statement.end_lineno or statement.lineno)
    after = file.source[end:row_end].strip()
    return not before[: start - row_start].strip(" \t\f") and (not after or after.startswith("#"))


def insert_before(file: FileContext, statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """Return the edit that puts lines before a statement that starts its line."""
    indent = file.line_indent(statement)
    start = file.module.lines.starts[statement.lineno - 1]
    return Edit(start, start, "".join(f"{indent}{line}{file.newline}" for line in lines))


def insert_after(file: FileContext, statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """Return the edit that puts lines behind a simple statement that ends its line."""
    indent = file.line_indent(statement)
    end = _row_end(file, statement.end_lineno or statement.lineno)
    return Edit(end, end, "".join(f"{file.newline}{indent}{line}" for line in lines))


class BodyEdits:
    """Collects lines for the begin and the end of one function's body and makes the edits."""

    def __init__(self, file: FileContext, function: Function) -> None:
        """Edit a function of a file."""
        self.file = file
        self.function = function
        self.unit = indent_unit(file, function)
        self.indent = file.line_indent(function) + self.unit
        first = function.body[0]
        self.colon = parameter_items(function, file.module).colon
        self.one_line = file.source[self.colon : file.span(first)[0]].strip(" \t") == ""
        if not self.one_line:
            self.indent = file.line_indent(first)
        self.head: list[str] = []
        self.tail: list[str] = []

    def edits(self) -> list[Edit]:
        """Return the edits.

        Raises:
            ValueError: The body is written in a way that leaves no place for a statement.
        """
        file, newline = self.file, self.file.newline
        if not self.head and not self.tail:
            return []
        last = self.function.body[-1]
        if self.one_line:
            start = file.span(self.function.body[0])[0]
            head = "".join(f"{newline}{self.indent}{line}" for line in self.head)
            if docstring(self.function) is not None:
                if len(self.function.body) > 1:
                    raise ValueError("a docstring and statements in one line")
                self.tail = [*self.head, *self.tail]
                head = ""
            found = [Edit(self.colon, start, f"{head}{newline}{self.indent}")]
            if self.tail:
                found.append(self._behind(last))
            return found
        found = []
        if self.head:
            doc = docstring(self.function)
            if doc is None:
                found.append(self._at_row_end(self._header_row(), self.head))
            elif len(self.function.body) == 1:
                self.tail = [*self.head, *self.tail]
            elif not starts_line(file, doc):
                raise ValueError("a docstring and a statement in one line")
            else:
                found.append(self._at_row_end(doc.end_lineno or doc.lineno, self.head))
        if self.tail:
            found.append(self._behind(last))
        return found

    def _header_row(self) -> int:
        return self.file.module.lines.place(self.colon - 1)[0]

    def _at_row_end(self, row: int, lines: Sequence[str]) -> Edit:
        end = _row_end(self.file, row)
        return Edit(end, end, "".join(f"{self.file.newline}{self.indent}{line}" for line in lines))

    def _behind(self, last: ast.stmt) -> Edit:
        """Put the tail behind the last statement and the comments that belong to its block."""
        lines = self.file.module.lines
        row = last.end_lineno or last.lineno
        while row < len(lines.starts):
            line = lines.line(row + 1)
            text = line.lstrip(" \t\f")
            deeper = len(line) - len(text) > len(self.indent)
            if not (text.startswith("#") and deeper):
                break
            row += 1
        return self._at_row_end(row, self.tail)


def methods_before(file: FileContext, function: Function, methods: Sequence[Sequence[str]]) -> Edit:
    """Return the edit that puts whole methods before another one (and before its decorators and comments).

    Args:
        file: The file.
        function: The method before which they go.
        methods: Each a list of lines; the first at the level of ``def``, one tab for each deeper level.
    """
    lines = file.module.lines
    row = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    indent = file.line_indent(function)
    unit = indent_unit(file, function)
    while row > 1:
        above = lines.line(row - 1)
        if not above.startswith(indent + "#"):
            break
        row -= 1
    start = lines.starts[row - 1]
    texts = []
    for method in methods:
        for line in method:
            depth = len(line) - len(line.lstrip("\t"))
            texts.append(f"{indent}{unit * depth}{line[depth:]}{file.newline}")
        texts.append(file.newline)
    return Edit(start, start, "".join(texts))


def _row_end(file: FileContext, row: int) -> int:
    """Return the offset of a row's line end."""
    lines = file.module.lines
    return lines.starts[row - 1] + len(lines.line(row))


def reserve(file: FileContext, node: ast.ClassDef, method: str) -> Edit:
    """Return an edit that changes nothing, but lets fixes that define the same method wait for each other.

    Fixes whose edits touch are not made in the same pass, so the second sees what the first has defined.
    """
    place = file.span(node)[0] + sum(method.encode()) % (len("class ") + len(node.name))
    return Edit(place, place, "")

"""Imports that new text needs, and imports it no longer needs.

Both work on the text after the edits. An import is never put into a ``try`` or under ``TYPE_CHECKING``, never
after its first use, never twice, and never taken from where it may be wanted: a package's ``__init__``,
``__all__``, a ``try``, a line with ``noqa``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from trainer_upgrade.findings import Edit, ImportRequest
from trainer_upgrade.project.canonical import canonical
from trainer_upgrade.project.module import parse
from trainer_upgrade.project.scopes import FileScopes, build_scopes
from trainer_upgrade.sources.text import LineIndex, apply_edits

__all__ = ["add_imports", "remove_imports"]

_WIDTH = 100  # a longer line gets a second import instead of one more name


def add_imports(text: str, requests: Iterable[ImportRequest], newline: str = "\n") -> str:
    """Return the text with the imports it lacks.

    Raises:
        SyntaxError: The text is no Python.
    """
    for request in dict.fromkeys(requests):
        tree = parse(text)
        if not _bound(tree, request):
            text = _add(text, tree, request, newline)
    return text


def remove_imports(
    text: str, names: Iterable[str], *, is_package: bool = False, wanted: Callable[[str], bool] | None = None
) -> str:
    """Return the text without the imports of names that nothing uses any more.

    Args:
        text: The file's text.
        names: Local names.
        is_package: Whether it is a package's ``__init__``, whose imports are its public names.
        wanted: Says whether another file imports a name from this one.

    Raises:
        SyntaxError: The text is no Python.
    """
    if is_package:
        return text
    for name in dict.fromkeys(names):
        if wanted is not None and wanted(name):
            continue
        scopes = build_scopes(parse(text))
        edit = _removal(text, scopes, name)
        if edit is not None:
            text = apply_edits(text, [edit])
    return text


def _same(found: str, wanted: str) -> bool:
    if found == wanted:
        return True
    # Whether a name comes from the core or from compat makes a difference, the old and the new root do not:
    # the import rules bring them together.
    if found.startswith("relight.compat") != wanted.startswith("relight.compat"):
        return False
    return canonical(found) is not None and canonical(found) == canonical(wanted)


def _bound(tree: ast.Module, request: ImportRequest) -> bool:
    local = request.asname or request.name or request.module
    for statement in tree.body:
        if isinstance(statement, ast.Import) and request.name is None:
            for alias in statement.names:
                if (alias.asname or alias.name) == local and _same(alias.name, request.module):
                    return True
                if (
                    alias.asname is None
                    and request.asname is None
                    and alias.name.startswith(request.module + ".")
                ):
                    return True
        if isinstance(statement, ast.ImportFrom) and statement.level == 0:
            for alias in statement.names:
                wanted = f"{request.module}.{request.name}" if request.name else request.module
                if (alias.asname or alias.name) == local and _same(
                    f"{statement.module}.{alias.name}", wanted
                ):
                    return True
    return False


def _add(text: str, tree: ast.Module, request: ImportRequest, newline: str) -> str:
    lines = LineIndex(text)
    if request.name is not None:
        merged = _merge(text, tree, lines, request)
        if merged is not None:
            return apply_edits(text, [merged])
    if request.name is None:
        statement = f"import {request.module}" + (f" as {request.asname}" if request.asname else "")
    else:
        statement = f"from {request.module} import {request.name}" + (
            f" as {request.asname}" if request.asname else ""
        )
    anchor = _anchor(tree, request)
    if anchor is None:
        position = _top(text, tree, lines)
        after = text[position:].lstrip(" \t\f")
        first = tree.body[1] if len(tree.body) > 1 and _is_docstring(tree.body[0]) else None
        blank = newline if after and not _starts_with_import(after) else ""
        before = (
            newline if first is not None and _is_docstring(tree.body[0]) and text[:position].strip() else ""
        )
        content = f"{before}{statement}{newline}{blank}"
    else:
        position = lines.end(anchor.end_lineno or anchor.lineno)
        content = statement + newline
    if position and text[position - 1] not in "\r\n":
        content = newline + content.removesuffix(newline)
    return apply_edits(text, [Edit(position, position, content)])


def _merge(text: str, tree: ast.Module, lines: LineIndex, request: ImportRequest) -> Edit | None:
    use = _first_use(tree, request)
    for statement in tree.body:
        if not isinstance(statement, ast.ImportFrom) or statement.level or statement.module != request.module:
            continue
        if any(alias.name == "*" for alias in statement.names) or (
            use is not None and statement.lineno > use
        ):
            continue
        new = f"{request.name} as {request.asname}" if request.asname else str(request.name)
        last = statement.names[-1]
        end = lines.span(last)[1]
        start, stop = lines.span(statement)
        tail = text[end:stop]
        if text[start:stop].rstrip().endswith(")"):
            if statement.lineno == statement.end_lineno:
                if len(lines.line(statement.lineno)) + len(new) + 2 <= _WIDTH:
                    return Edit(end, end, f", {new}")
                continue
            row = lines.place(lines.span(last)[0])[0]
            line = lines.line(row)
            indent = line[: len(line) - len(line.lstrip())]
            own_line = line.lstrip() == line[lines.place(lines.span(last)[0])[1] - 1 :]
            ending = text[lines.starts[row - 1] + len(line) : lines.end(row)]
            if not own_line or not indent:
                return Edit(end, end, f", {new}")
            if tail.lstrip().startswith(","):
                comma = end + tail.index(",") + 1
                rest = lines.end(row)
                if comma <= rest:
                    return Edit(rest, rest, f"{indent}{new},{ending}")
                return Edit(comma, comma, f" {new},")
            return Edit(end, end, f",{ending}{indent}{new}")
        if (
            statement.lineno == statement.end_lineno
            and len(lines.line(statement.lineno)) + len(new) + 2 <= _WIDTH
        ):
            return Edit(end, end, f", {new}")
    return None


def _first_use(tree: ast.Module, request: ImportRequest) -> int | None:
    """The row of the statement that first uses the name while the module is being run."""
    local = (request.asname or request.name or request.module).split(".")[0]
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if any(isinstance(node, ast.Name) and node.id == local for node in ast.walk(statement)):
            rows: list[int] = [
                statement.lineno,
                *(each.lineno for each in getattr(statement, "decorator_list", [])),
            ]
            return min(rows)
    return None


def _anchor(tree: ast.Module, request: ImportRequest) -> ast.stmt | None:
    """The import to put a new line behind: the last one of the same package, else the last one of all."""
    use = _first_use(tree, request)
    top = request.module.split(".")[0]
    last: ast.stmt | None = None
    related: ast.stmt | None = None
    for statement in tree.body:
        if use is not None and statement.lineno >= use:
            break
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and last is not None:
            break
        if isinstance(statement, ast.Import):
            last = statement
            if any(alias.name.split(".")[0] == top for alias in statement.names):
                related = statement
        elif isinstance(statement, ast.ImportFrom):
            last = statement
            if statement.level == 0 and (statement.module or "").split(".")[0] == top:
                related = statement
    if last is None or (isinstance(last, ast.ImportFrom) and last.module == "__future__" and related is None):
        return last
    return related or last


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _starts_with_import(text: str) -> bool:
    return re.match(r"(?:import|from)\b", text.lstrip()) is not None


def _top(text: str, tree: ast.Module, lines: LineIndex) -> int:
    """Behind the docstring, else behind the comments a file begins with."""
    if tree.body and _is_docstring(tree.body[0]):
        return lines.end(tree.body[0].end_lineno or 1)
    row = 1
    while row <= len(lines.starts) and lines.line(row).lstrip(" \t\f").startswith("#"):
        row += 1
    if row > 1 and row <= len(lines.starts) and not lines.line(row).strip():
        row += 1  # the blank line that sets a header apart
        if row > len(lines.starts):
            return len(text)
        return lines.starts[row - 1]
    if row > 1 and tree.body and row >= tree.body[0].lineno:
        # The comment belongs to the first statement unless it is a shebang or names the encoding.
        row = 1
        while re.match(r"#!|[ \t\f]*#.*?coding[:=]", lines.line(row)) and row <= 2:
            row += 1
    return lines.starts[row - 1] if row <= len(lines.starts) else len(text)


def _removal(text: str, scopes: FileScopes, name: str) -> Edit | None:
    """The edit that takes a name's import out, if nothing uses the name."""
    found = [
        binding
        for scope in (scopes.module, *scopes.inner.values())
        for binding in scope.bindings.get(name, ())
        if binding.kind in ("import", "from")
    ]
    if len(found) != 1:
        return None
    binding = found[0]
    statement, alias = binding.statement, binding.node
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    assert isinstance(alias, ast.alias)
    parent = scopes.parents.get(statement)
    if isinstance(parent, (ast.Try, ast.ExceptHandler)) or binding.scope.kind == "class":
        return None
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return None
    for node in scopes.nodes:
        if isinstance(node, ast.Name) and node.id == name:
            looked_up = scopes.lookup(name, node)
            if looked_up is not None and binding in looked_up[1]:
                return None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _mentions(node, name, scopes):
            return None
    lines = LineIndex(text)
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if any("noqa" in lines.line(row) for row in range(first, last + 1)):
        return None
    if len(statement.names) > 1:
        return _drop_alias(text, lines, statement, alias)
    block = _block(parent, statement)
    start, stop = lines.span(statement)
    if block is not None and len(block) == 1:
        return Edit(start, stop, "pass")
    before = text[lines.starts[first - 1] : start]
    after = text[stop : lines.end(last)]
    if before.strip(" \t\f") == "" and (after.strip() == "" or after.lstrip().startswith("#")):
        return Edit(lines.starts[first - 1], lines.end(last), "")
    follow = re.match(r"[ \t]*;[ \t]*", after)
    if follow is not None:
        return Edit(start, stop + follow.end(), "")
    lead = re.search(r"[ \t]*;[ \t]*$", before)
    if lead is not None:
        return Edit(start - len(lead.group()), stop, "")
    return None


def _mentions(node: ast.Constant, name: str, scopes: FileScopes) -> bool:
    """Whether a string may use a name: an entry of ``__all__``, an annotation; not a docstring."""
    if isinstance(scopes.parents.get(node), ast.Expr):
        return False
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", str(node.value)) is not None


def _block(parent: ast.AST | None, statement: ast.stmt) -> list[ast.stmt] | None:
    if isinstance(parent, ast.Module):
        return None
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return None


def _drop_alias(
    text: str, lines: LineIndex, statement: ast.Import | ast.ImportFrom, alias: ast.alias
) -> Edit:
    position = statement.names.index(alias)
    start, end = lines.span(alias)
    if position + 1 < len(statement.names):
        following = lines.span(statement.names[position + 1])[0]
        between = text[end:following]
        if "#" in between:
            # Comments stay where they are; only the name and its comma go.
            return Edit(start, end + between.index(",") + 1, "")
        return Edit(start, following, "")
    previous = lines.span(statement.names[position - 1])[1]
    if "#" in text[previous:start]:
        comma = re.match(r"\s*,", text[end:])
        return Edit(start, end + (comma.end() if comma else 0), "")
    return Edit(previous, end, "")

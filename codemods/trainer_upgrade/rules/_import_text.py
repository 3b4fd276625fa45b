"""How an import statement is written anew: aliases, comments and line breaks stay where they can."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import ListEditor

__all__ = ["rewrite_from", "rewrite_import"]

_FROM = re.compile(r"from(?:[ \t\f]|\\\r?\n)+([.\w]+)")


def rewrite_import(
    file: FileContext, node: ast.Import, names: Mapping[ast.alias, tuple[str, str | None]]
) -> Edit:
    """Return the edit that gives names of ``import a, b as c`` new paths (and keeps the others)."""
    if len(node.names) == 1:
        (alias,) = node.names
        path, asname = names[alias]
        return file.edit(alias, path + (f" as {asname}" if asname else ""))
    parts = []
    for alias in node.names:
        path, asname = names.get(alias, (alias.name, alias.asname))
        text = path + (f" as {asname}" if asname else "")
        if text not in parts:
            parts.append(text)
    start, end = file.span(node.names[0])[0], file.span(node.names[-1])[1]
    return Edit(start, end, ", ".join(parts))


def rewrite_from(
    file: FileContext, node: ast.ImportFrom, moves: Mapping[ast.alias, tuple[str | None, str]]
) -> list[Edit]:
    """Return the edits that send names of a ``from`` import elsewhere.

    Args:
        file: The file.
        node: The statement.
        moves: New dotted path (``None``: the name is not imported any more) and local name of each alias that
            goes; the others stay.
    """
    groups: dict[str, list[tuple[ast.alias, str]]] = {}
    plain: list[str] = []  # whole statements for paths without a package
    for alias in node.names:
        if alias not in moves:
            groups.setdefault(node.module or "", []).append((alias, file.segment(alias)))
            continue
        path, local = moves[alias]
        if path is None:
            continue
        module, _, name = path.rpartition(".")
        if not module:
            plain.append(f"import {path}" + (f" as {local}" if local != path else ""))
            continue
        if _already(file, node, module, name, local):
            continue
        text = name if name == local else f"{name} as {local}"
        group = groups.setdefault(module, [])
        if all(text != other for _, other in group):
            group.append((alias, text))
    several = file.module.lines.place(file.span(node)[0])[0] != file.module.lines.place(file.span(node)[1])[0]
    if not groups and not plain:
        return [_delete(file, node)]
    if several and file.segment(node).endswith(")") and groups:
        return _in_place(file, node, groups, plain)
    statements = [
        f"from {module} import " + _names(file, node, [text for _, text in those])
        for module, those in groups.items()
    ]
    return [Edit(*file.span(node), _joined(file, node, [*statements, *plain]))]


def _names(file: FileContext, node: ast.ImportFrom, texts: list[str]) -> str:
    joined = ", ".join(texts)
    return f"({joined})" if len(texts) > 1 and file.segment(node).endswith(")") else joined


def _already(file: FileContext, node: ast.ImportFrom, module: str, name: str, local: str) -> bool:
    """Whether an earlier statement of the same block imports the same thing by the same name."""
    parent = file.parent(node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if not isinstance(block, list) or node not in block:
            continue
        for other in block[: block.index(node)]:
            if not isinstance(other, ast.ImportFrom) or other.level or other.module != module:
                continue
            if any(each.name == name and (each.asname or each.name) == local for each in other.names):
                return True
    return False


def _in_place(
    file: FileContext,
    node: ast.ImportFrom,
    groups: Mapping[str, list[tuple[ast.alias, str]]],
    plain: list[str],
) -> list[Edit]:
    """Keep the lines of the largest group where they are; the rest gets statements of its own behind them."""
    main = max(groups, key=lambda module: (len(groups[module]), module == node.module))
    start, end = file.span(node)
    found = _FROM.match(file.source, start)
    assert found is not None
    editor = ListEditor(file, list(node.names), found.end(), end - 1)
    texts = dict(groups[main])
    edits: list[Edit] = []
    if found.group(1) != main:
        edits.append(Edit(found.start(1), found.end(1), main))
    for item in editor.arguments:
        assert isinstance(item.node, ast.alias)
        if item.node in texts:
            if texts[item.node] != file.source[item.start : item.end]:
                editor.replace(item, texts[item.node])
        else:
            editor.remove(item)
    edits += editor.edits()
    others = [
        f"from {module} import " + ", ".join(text for _, text in those)
        for module, those in groups.items()
        if module != main
    ]
    others += plain
    if others:
        edits.append(Edit(end, end, _joined(file, node, ["", *others])))
    return edits


def _joined(file: FileContext, node: ast.stmt, statements: list[str]) -> str:
    start = file.module.lines.starts[node.lineno - 1]
    alone = not file.source[start : file.span(node)[0]].strip(" \t\f")
    tail = file.source[file.span(node)[1] : file.module.lines.end(node.end_lineno or node.lineno)].strip()
    if alone and not tail.startswith(";"):
        return (file.newline + file.line_indent(node)).join(statements)
    return "; ".join(statements)


def _delete(file: FileContext, node: ast.stmt) -> Edit:
    """Take a statement out, with its line if it has one for itself."""
    start, end = file.span(node)
    parent = file.parent(node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if (
            isinstance(block, list)
            and node in block
            and len(block) == 1
            and not isinstance(parent, ast.Module)
        ):
            return Edit(start, end, "pass")
    lines = file.module.lines
    first, last = lines.starts[node.lineno - 1], lines.end(node.end_lineno or node.lineno)
    before, after = file.source[first:start], file.source[end:last]
    if not before.strip() and not after.strip():
        return Edit(first, last, "")
    follow = re.match(r"[ \t]*;[ \t]*", after)
    if follow is not None:
        return Edit(start, end + follow.end(), "")
    lead = re.search(r"[ \t]*;[ \t]*$", before)
    if lead is not None:
        return Edit(start - len(lead.group()), end, "")
    return Edit(start, end, "pass" if before.strip() else "")

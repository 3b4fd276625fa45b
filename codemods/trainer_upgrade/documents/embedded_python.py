"""Runs the Python rules over Python that stands in another file, and takes their fixes back to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from trainer_upgrade.documents.document import Document
from trainer_upgrade.findings import Edit, Finding, Fix, Location
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module
from trainer_upgrade.sources.embedded import Block, Embedded, Misplaced
from trainer_upgrade.sources.imports import add_imports, remove_imports
from trainer_upgrade.sources.text import apply_edits

__all__ = ["check_python"]

# Top-level await is Python in a notebook (compile's flag PyCF_ALLOW_TOP_LEVEL_AWAIT).
_TOP_LEVEL_AWAIT = 0x2000
_numbers = itertools.count(1)

Writer = Callable[[int, str], "list[Edit]"]


def check_python(
    document: Document,
    blocks: list[Block],
    write: Writer,
    *,
    place: Callable[[Block, int, int], tuple[Location, int | None]],
) -> Iterator[Finding]:
    """Yield what the Python rules find.

    Args:
        document: The file.
        blocks: Its blocks of Python: one module together.
        write: Gives the edits of the file's text that make a block (by position) another text.
        place: Turns a row and column in a block into what findings say: a place, and a cell.
    """
    from trainer_upgrade.engine import Options, check_file

    inside = Embedded(blocks, str(document.path))
    project = document.project
    # A path of its own: what the project remembers of names goes by it.
    path = document.path.with_name(f"{document.path.name}#{next(_numbers)}")
    module = Module.parsed(path, document.path.stem, inside.text, inside.tree)
    if not project.relevant_text(module):
        return
    options = Options(strict="strict" in document.options)
    with project.visiting(module):
        file = FileContext(
            module, project, fixing=document.fixing, options=document.options, display=document.shown
        )
        found = check_file(file, options)
    made: dict[Fix, Fix | None] = {}
    for finding in found:
        fix = finding.fix
        if fix is not None:
            if fix not in made:
                made[fix] = _translated(fix, inside, module, blocks, write, document)
            fix = made[fix]
        start, cell = place(*inside.place(finding.start.row, finding.start.column))
        end, end_cell = place(*inside.place(finding.end.row, finding.end.column))
        if end_cell != cell or end < start:
            end = start
        yield replace(finding, start=start, end=end, fix=fix, cell=cell)


def _translated(
    fix: Fix, inside: Embedded, module: Module, blocks: list[Block], write: Writer, document: Document
) -> Fix | None:
    """Turn a fix of the module into one of the file; ``None`` where it cannot be made there."""
    try:
        text = apply_edits(inside.text, list(fix.edits))
        text = add_imports(text, list(fix.imports), "\n")
        text = remove_imports(text, list(fix.unimports), is_package=False, wanted=lambda name: False)
        texts = inside.texts(text)
        edits: list[Edit] = []
        for position, new in enumerate(texts):
            if new != blocks[position].text:
                edits.extend(write(position, new))
    except (SyntaxError, ValueError, Misplaced):
        return None
    if not _compiles(text):
        return None
    return Fix(fix.applicability, fix.message, tuple(sorted(edits))) if edits else None


def _compiles(text: str) -> bool:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<embedded>", "exec", flags=_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True

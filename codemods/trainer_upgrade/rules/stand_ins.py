"""Names that relight has only a stand-in for.

``relight.compat`` lets them be imported, so that a project can move as a whole; whoever uses one is told what
to do. The linter tells before that.

Before::

    from pytorch_lightning.loops import EvaluationLoop

After, and still to be seen to::

    from relight.compat.loops import EvaluationLoop
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import compat_names
from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._imports import imports_of
from trainer_upgrade.rules.registry import on, rule

__all__ = ["StandIns"]

_COMPAT = "pytorch_lightning.compat."


@rule("stand-ins")
class StandIns:
    """Imports and uses of what cannot be used."""

    @on(ast.Module)
    def check(self, node: ast.Module, file: FileContext) -> Iterator[Finding]:
        """Look at all imports of Lightning, and of compat."""
        if file.target is not Target.RELIGHT:
            return
        for bound in imports_of(file).bound:
            if bound.guarded:
                continue
            path = _legacy(bound.dotted)
            if compat_names.stands_in(path):
                for statement, _ in bound.aliases:
                    yield from _told(path, statement, file)
                continue
            for reference in bound.references:
                yield from _told(_legacy(reference.dotted), reference.node, file)


def _told(path: str, place: ast.AST, file: FileContext) -> Iterator[Finding]:
    fact = catalogue.resolve_import(path, Target.RELIGHT) if compat_names.stands_in(path) else None
    if fact is not None:
        yield file.finding(fact.code, place, fact.advice, silent=False)


def _legacy(dotted: str) -> str:
    """Take compat out of a path that went through it."""
    return dotted.replace(_COMPAT, "pytorch_lightning.", 1) if dotted.startswith(_COMPAT) else dotted

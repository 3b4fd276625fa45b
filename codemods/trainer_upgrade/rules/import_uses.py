"""Names reached through a package: ``pl.metrics.Accuracy``, ``cbs.GPUStatsMonitor``.

Before::

    import pytorch_lightning as pl
    from pytorch_lightning import callbacks as cbs

    acc = pl.metrics.Accuracy()
    bar = cbs.ProgressBar(refresh_rate=5)

    @pl.utilities.distributed.rank_zero_only
    def say(): ...

After::

    import pytorch_lightning as pl
    from pytorch_lightning import callbacks as cbs
    from torchmetrics import Accuracy

    acc = Accuracy()
    bar = cbs.TQDMProgressBar(refresh_rate=5)

    @pl.utilities.rank_zero.rank_zero_only
    def say(): ...
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._imports import REMOVABLE, Bound, Imports, Reference, imports_of
from trainer_upgrade.rules.imports import ROOT_ONLY, SPAWNED, asked_about, spawning, waits
from trainer_upgrade.rules.registry import on, rule

__all__ = ["ImportUses"]

_MODERN_TOO = ("kept", "changed_meaning", "deprecated_alias")


@rule("import-uses")
class ImportUses:
    """Rewrites uses of names that are gone from the package they are reached through."""

    @on(ast.Module)
    def check(self, node: ast.Module, file: FileContext) -> Iterator[Finding]:
        """Look at all uses of imported packages."""
        imports = imports_of(file)
        for bound in imports.bound:
            if bound.shared or bound.guarded:
                continue
            stays = _stays(bound, file, imports)
            for reference in bound.references:
                if reference.dotted == bound.dotted or reference.fact is None:
                    continue
                yield from self._use(reference, bound, stays, file, imports)

    def _use(
        self, reference: Reference, bound: Bound, stays: bool, file: FileContext, imports: Imports
    ) -> Iterator[Finding]:
        fact = reference.fact
        assert fact is not None
        if fact.status == "kept" or fact.code == ROOT_ONLY or reference.dotted.endswith(".__version__"):
            return
        if fact.status == "changed_meaning" and asked_about(reference.node, file):
            return
        here = bound.root.startswith("relight")
        if here and fact.status in _MODERN_TOO:
            return
        if file.target is Target.RELIGHT and not here:
            moved_with_root = stays is False
            if moved_with_root and not waits(reference, self._base(bound, imports)):
                return  # the fix of the import does it
            if not moved_with_root:
                yield file.finding(fact.code, reference.node, fact.advice, removed_in=fact.removed_in)
                return
        elif not stays and not here:
            return  # the package itself moves, and the fix of its import takes its uses along
        if reference.dotted in REMOVABLE:
            fix = Fix(
                Applicability.SAFE,
                "write the plain type",
                (file.edit(reference.node, REMOVABLE[reference.dotted]),),
            )
            yield file.finding(fact.code, reference.node, fact.advice, fix, removed_in=fact.removed_in)
            return
        if fact.new is None or fact.applicability is Applicability.MANUAL:
            yield file.finding(fact.code, reference.node, fact.advice, removed_in=fact.removed_in)
            return
        base = bound.path if file.target is Target.LIGHTNING or here else self._base(bound, imports)
        text, requests = imports.write(fact.new, bound, base, bound.local)
        if text == file.segment(reference.node):
            return
        edits = [file.edit(reference.node, text)]
        if reference.dotted in SPAWNED:
            edits += spawning(reference.node, file)
        fix = Fix(fact.applicability, f"write `{text}`", tuple(edits), requests)
        yield file.finding(
            fact.code,
            reference.node,
            fact.advice,
            fix,
            silent=fact.status == "changed_meaning",
            removed_in=fact.removed_in,
        )

    def _base(self, bound: Bound, imports: Imports) -> str:
        fact = imports.fact(bound.dotted)
        return fact.new if fact is not None and fact.new else "relight"


def _stays(bound: Bound, file: FileContext, imports: Imports) -> bool:
    """Whether the name keeps its import."""
    if bound.root.startswith("relight"):
        return True
    if file.target is Target.RELIGHT:
        return not imports.moves(bound)
    for statement, alias in bound.aliases:
        if isinstance(statement, ast.ImportFrom) or alias.asname is not None:
            fact = imports.fact(bound.dotted)
            return fact is None or fact.status == "kept"
    return True

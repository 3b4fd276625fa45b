"""Requirements in ``setup.py`` that stand there as plain strings.

Before::

    setup(install_requires=["torch>=1.8,<2.0", "pytorch-lightning==1.5.9"], python_requires=">=3.6,<3.10")

After, for Lightning::

    setup(install_requires=["torch>=2.1", "pytorch-lightning>=2,<3"], python_requires=">=3.10")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule

__all__ = ["SetupPins"]


@rule("setup-pins")
class SetupPins:
    """Judges the requirements of a ``setup.py``."""

    @on(ast.Module)
    def check(self, node: ast.Module, file: FileContext) -> Iterator[Finding]:
        """Look at a whole file."""
        if file.module.path.name != "setup.py":
            return
        from trainer_upgrade.documents.pins import LIGHTNING, judge, needs_of, python_verdict, specifier_of
        from trainer_upgrade.documents.requirement_files import read_requirement

        found = [
            (item, required)
            for each in file.nodes
            if isinstance(each, (ast.List, ast.Tuple))
            for item in each.elts
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
            for required in (read_requirement(item.value, 0, len(item.value)),)
            if required is not None
        ]
        listed = frozenset(canonicalize_name(required.name) for _, required in found)
        needs = needs_of(file.project, after=False)
        verdicts = [
            (item, required, verdict)
            for item, required in found
            for verdict in judge(
                required.name,
                required.extras,
                required.specifier,
                target=file.target,
                needs=needs,
                before=needs,
                listed=listed,
            )
        ]
        moves = "relight" in listed or any(
            canonicalize_name(required.name) in LIGHTNING for _, required, _ in verdicts
        )
        if not moves:
            return  # what else the target asks for matters only where the move to it is made
        for item, required, verdict in verdicts:
            fix = None
            if verdict.new is not None:
                fix = _fix(file, item, "".join(verdict.new) + str(item.value)[required.end :])
            yield file.finding(verdict.code, item, verdict.message, fix)
        for each in file.nodes:
            if not isinstance(each, ast.keyword) or each.arg != "python_requires":
                continue
            value = each.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                spec = specifier_of(value.value)
                python = python_verdict(spec, whole=False) if spec is not None else None
                if python is not None and python.new is not None:
                    yield file.finding(python.code, value, python.message, _fix(file, value, python.new[2]))


def _fix(file: FileContext, item: ast.Constant, new: str) -> Fix | None:
    """Write another string in the quotes that are there; a string in several parts is left alone."""
    start, end = file.span(item)
    text = file.source[start:end]
    quote = text[:1]
    if quote not in "\"'" or text[1:-1] != item.value or quote in new:
        return None
    return Fix(Applicability.UNSAFE, f"require {new}", (Edit(start + 1, end - 1, new),))

"""Runs the tool on an example, so that what a page shows is what the tool does."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import Finding
from trainer_upgrade.pages.examples import Example

if TYPE_CHECKING:
    from trainer_upgrade.rules.registry import Rule

__all__ = ["Shown", "codes_in", "rules_behind", "run"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the tool makes of an example for one target.

    Attributes:
        found: What it finds.
        safe: The file after the safe fixes.
        unsafe: The file after all fixes.
    """

    found: tuple[Finding, ...]
    safe: str
    unsafe: str


def _upgrade(example: Example, target: Target, *, unsafe: bool) -> str:
    from trainer_upgrade.engine import Engine, Options
    from trainer_upgrade.project.index import Project

    with tempfile.TemporaryDirectory() as directory:
        path = _lay_out(Path(directory).resolve(), example)
        project = Project([path], target, roots=[path.parent])
        (result,) = Engine(project, Options(unsafe=unsafe)).upgrade()
        return result.after.decode("utf-8") if result.changed else example.text


def _find(example: Example, target: Target) -> tuple[Finding, ...]:
    from trainer_upgrade.engine import Engine, Options
    from trainer_upgrade.project.index import Project

    with tempfile.TemporaryDirectory() as directory:
        path = _lay_out(Path(directory).resolve(), example)
        project = Project([path], target, roots=[path.parent])
        (result,) = Engine(project, Options()).check()
        return tuple(result.findings)


def _lay_out(root: Path, example: Example) -> Path:
    # A project of its own: what lies above must not be read as its settings or its pins.
    (root / "pyproject.toml").touch()
    path = root / example.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(example.text, encoding="utf-8", newline="")
    return path


@cache
def run(example: Example, target: Target) -> Shown:
    """Return what the tool finds in an example, and what it makes of it."""
    return Shown(
        _find(example, target),
        _upgrade(example, target, unsafe=False),
        _upgrade(example, target, unsafe=True),
    )


def codes_in(example: Example) -> frozenset[str]:
    """Return the codes found in an example, for either target."""
    return frozenset(each.code for target in Target for each in _find(example, target))


def rules_behind(example: Example, code: str) -> tuple[Rule, ...]:
    """Return the rules that report ``code`` in a Python example; none for other files."""
    from trainer_upgrade.project.context import FileContext
    from trainer_upgrade.project.index import Project
    from trainer_upgrade.rules import load
    from trainer_upgrade.rules.registry import registered, run_rules

    if not example.path.endswith(".py"):
        return ()
    load()
    found: dict[str, Rule] = {}
    with tempfile.TemporaryDirectory() as directory:
        path = _lay_out(Path(directory).resolve(), example)
        for target in Target:
            project = Project([path], target, roots=[path.parent])
            for rule in registered():
                file = FileContext(project.module(path), project)
                if any(each.code == code for each in run_rules(file, [rule])):
                    found.setdefault(rule.name, rule)
    return tuple(found.values())

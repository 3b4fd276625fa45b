"""Which files of a project run together: what imports each other, and what shares a package.

A project may be many scripts that have nothing to do with each other; what has to happen to all files that
run together need not happen to all of them.
"""

from __future__ import annotations

import ast
import os

from trainer_upgrade.project.index import Project
from trainer_upgrade.project.module import Module

__all__ = ["together"]


def together(module: Module, project: Project) -> list[Module]:
    """Return the files that have to do with Lightning and may run with one, itself included."""
    memo, key = project.memo, "connected"
    if key not in memo:
        memo[key] = _groups(project)
    groups: dict[str, list[Module]] = memo[key]  # type: ignore[assignment]
    return groups.get(str(module.path)) or [module]


def _groups(project: Project) -> dict[str, list[Module]]:
    parents: dict[str, str] = {}

    def root(unit: str) -> str:
        parents.setdefault(unit, unit)
        while parents[unit] != unit:
            parents[unit] = parents[parents[unit]]
            unit = parents[unit]
        return unit

    modules = list(project.relevant_modules())
    for module in modules:
        mine = root(_unit(module, project))
        for other in _imported(module, project):
            parents[root(_unit(other, project))] = mine
            mine = root(mine)
    groups: dict[str, list[Module]] = {}
    for module in modules:
        groups.setdefault(root(_unit(module, project)), []).append(module)
    return {str(each.path): group for group in groups.values() for each in group}


def _unit(module: Module, project: Project) -> str:
    """Return what a file belongs to: the outermost package it is in, or itself."""
    directory = os.path.dirname(module.path)
    if os.path.basename(module.path) != "__init__.py" and not project.is_package(directory):
        return str(module.path)
    while project.is_package(os.path.dirname(directory)):
        directory = os.path.dirname(directory)
    return directory


def _imported(module: Module, project: Project) -> list[Module]:
    found: list[Module | None] = []
    for node in module.scopes.nodes:
        if isinstance(node, ast.Import):
            found += [project.find(alias.name, module) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = project.find_from(node.level, node.module, module)
            found.append(base)
            if base is None and node.module and not node.level:
                found += [project.find(f"{node.module}.{alias.name}", module) for alias in node.names]
    return [each for each in found if each is not None]

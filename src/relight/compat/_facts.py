"""The one door to the catalogue: what became of a legacy name, and how to word it."""

from __future__ import annotations

import functools

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Area, ImportFact, Target, imports

__all__ = ["advice_for", "code_for", "is_module", "names_in", "on_lightning", "on_relight"]


@functools.cache
def on_relight(dotted: str) -> ImportFact | None:
    """Return where the import path ``dotted`` (rooted at ``pytorch_lightning``) leads on relight."""
    return catalogue.resolve_import(dotted, Target.RELIGHT)


@functools.cache
def on_lightning(dotted: str) -> ImportFact | None:
    """Return what became of the import path ``dotted`` on Lightning 2.x: what a notice is about."""
    return catalogue.resolve_import(dotted, Target.LIGHTNING)


def is_module(dotted: str) -> bool:
    """Return whether some release from 0.7 to 2.6 had a module at ``dotted``."""
    return dotted in imports.modules()


def names_in(module: str) -> list[str]:
    """Return the public names that releases had in ``module``."""
    return sorted(imports.names(module))


def code_for(area: Area, owner: str, name: str, default: str) -> str:
    """Return the code of an item, ``default`` (its family's) if it has none."""
    entry = catalogue.find(area, owner, name)
    return entry.code if entry is not None and entry.code else default


def advice_for(area: Area, owner: str, name: str, default: str) -> str:
    """Return the catalogue's line about an item, ``default`` if it has none."""
    entry = catalogue.find(area, owner, name)
    if entry is None or not entry.advice:
        return default
    return entry.advice

"""Load the entries of an area when they are first asked for, and index them."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["codes", "index", "load"]

# Modules that hold an area's ENTRIES.
_MODULES: dict[Area, tuple[str, ...]] = {
    Area.TRAINER_ARGUMENT: ("trainer_arguments",),
    Area.MODULE_HOOK: ("module_hooks",),
    Area.DATAMODULE_HOOK: ("datamodule_hooks",),
    Area.CALLBACK_HOOK: ("callback_hooks",),
}


@cache
def load(area: Area) -> tuple[Entry, ...]:
    """Return the entries of ``area``."""
    if area is Area.IMPORT:
        from trainer_upgrade.catalogue import imports

        return tuple(imports.entries())
    found: list[Entry] = []
    for module in _MODULES.get(area, ()):
        found += import_module(f"trainer_upgrade.catalogue.{module}").ENTRIES
    return tuple(found)


@cache
def index(area: Area) -> dict[tuple[str, str], Entry]:
    """Return the entries of ``area`` by owner and name."""
    return {(entry.owner, entry.name): entry for entry in load(area)}


@cache
def codes() -> dict[str, tuple[Entry, ...]]:
    """Return the entries of all areas by code."""
    found: dict[str, list[Entry]] = {}
    for area in Area:
        for entry in load(area):
            found.setdefault(entry.code, []).append(entry)
    return {code: tuple(group) for code, group in found.items()}

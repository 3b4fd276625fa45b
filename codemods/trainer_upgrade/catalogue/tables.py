"""Load the entries of an area when they are first asked for, and index them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.resources import files

from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["by_code", "index", "load"]

# Modules that hold an area's ENTRIES.
_MODULES: dict[Area, tuple[str, ...]] = {
    Area.TRAINER_ARGUMENT: ("trainer_arguments", "trainer_options"),
    Area.MODULE_HOOK: ("module_hooks", "module_attributes"),
    Area.DATAMODULE_HOOK: ("datamodule_hooks",),
    Area.CALLBACK_HOOK: ("callback_hooks",),
    Area.ENTRY_POINT_ARGUMENT: ("entry_points",),
    Area.TRAINER_VALUE: ("trainer_values",),
    Area.DEFAULT: ("defaults", "other_members"),
    Area.PROJECT_FILE: ("project_files",),
}


@cache
def load(area: Area) -> tuple[Entry, ...]:
    """Return the entries of ``area``."""
    if area is Area.IMPORT:
        from trainer_upgrade.catalogue import imports

        return tuple(imports.entries())
    if area not in _MODULES:
        from trainer_upgrade.catalogue import data_tables

        found = list(data_tables.entries(area))
    else:
        found = [
            entry
            for module in _MODULES[area]
            for entry in import_module(f"trainer_upgrade.catalogue.{module}").ENTRIES
        ]
    pulls = _pulls()
    return tuple(
        replace(entry, source=f"{entry.source} ({pulls[area, entry.owner, entry.name]})")
        if (area, entry.owner, entry.name) in pulls
        else entry
        for entry in found
    )


@cache
def _pulls() -> dict[tuple[Area, str, str], str]:
    """Return the pull requests that made a change, as Lightning's changelog names them."""
    text = (files("trainer_upgrade.catalogue") / "data" / "pulls.tsv").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines()[1:]:
        area, owner, name, numbers = line.split("\t")
        found[Area(area), owner, name] = ", ".join(f"PR {number}" for number in numbers.split())
    return found


@cache
def index(area: Area) -> dict[tuple[str, str], Entry]:
    """Return the entries of ``area`` by owner and name."""
    return {(entry.owner, entry.name): entry for entry in load(area)}


# Areas by the hundred their codes begin with.
_FAMILIES: dict[str, tuple[Area, ...]] = {
    "1": (Area.TRAINER_ARGUMENT,),
    "2": (Area.MODULE_HOOK, Area.DATAMODULE_HOOK, Area.CALLBACK_HOOK),
    "3": (Area.IMPORT,),
    "4": (Area.TRAINER_ATTRIBUTE,),
    "5": (Area.ENTRY_POINT_ARGUMENT,),
    "6": (Area.CONSTRUCTOR_ARGUMENT,),
    "7": (Area.TRAINER_VALUE,),
    "8": (Area.DEFAULT,),
    "9": (Area.PROJECT_FILE,),
}


@cache
def by_code(code: str) -> tuple[Entry, ...]:
    """Return the entries that carry ``code``; reads only the areas it can belong to."""
    areas = _FAMILIES.get(code[3:4], ()) if code.startswith("TRU") else ()
    return tuple(entry for area in areas for entry in load(area) if entry.code == code)

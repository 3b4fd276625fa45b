"""What changed between Lightning 0.7 and 2.6, and what takes its place on relight and on Lightning 2.x.

Codemods, linter, runtime warnings, error messages and documentation read this one table. Importing the
package is cheap: an area's entries are built, and its data files read, when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Replacement, Target

if TYPE_CHECKING:
    from trainer_upgrade.catalogue.imports import ImportFact

__all__ = [
    "Applicability",
    "Area",
    "Entry",
    "ImportFact",
    "Replacement",
    "Target",
    "by_code",
    "code",
    "entries",
    "find",
    "hook",
    "resolve_import",
    "trainer_argument",
]

_HOOK_AREAS = (Area.MODULE_HOOK, Area.DATAMODULE_HOOK, Area.CALLBACK_HOOK)
# Room for what other modules of the package offer under this one's name (PEP 562).
_LAZY = {
    "ImportFact": "imports",
    "ArgumentFinding": "translate",
    "CallbackRef": "translate",
    "Translation": "translate",
    "translate_trainer_arguments": "translate",
}


def entries(area: Area | None = None) -> Iterator[Entry]:
    """Yield the entries of an area, or all of them, in the order of the source."""
    from trainer_upgrade.catalogue import tables

    for each in Area if area is None else (area,):
        yield from tables.load(each)


def find(area: Area, owner: str, name: str) -> Entry | None:
    """Return the entry of ``owner``'s item ``name``, or ``None`` if nothing is known to have changed there.

    Args:
        area: What kind of thing.
        owner: ``Trainer``, ``LightningModule``, ``LightningDataModule``, ``Callback``, ``Trainer.fit``,
            ``ModelCheckpoint`` …
        name: The legacy name.
    """
    from trainer_upgrade.catalogue import tables

    return tables.index(area).get((owner, name))


def code(area: Area, owner: str, name: str) -> str:
    """Return the code of an item.

    Raises:
        KeyError: There is no such entry.
    """
    entry = find(area, owner, name)
    if entry is None:
        raise KeyError(f"no entry for {owner}.{name} in area {area}")
    return entry.code


def by_code(code: str) -> tuple[Entry, ...]:
    """Return the entries that carry ``code``: one, several for a shared code, none if it is unknown."""
    from trainer_upgrade.catalogue import tables

    return tables.by_code(code)


def trainer_argument(name: str) -> Entry | None:
    """Return the entry of a Trainer argument."""
    return find(Area.TRAINER_ARGUMENT, "Trainer", name)


def hook(owner: str, name: str) -> Entry | None:
    """Return the entry of a hook, method or attribute of a module, data module or callback."""
    for area in _HOOK_AREAS:
        entry = find(area, owner, name)
        if entry is not None:
            return entry
    return None


def resolve_import(dotted: str, target: Target) -> ImportFact | None:
    """Say where a name of the legacy packages lives on ``target``.

    Args:
        dotted: A dotted path rooted at ``pytorch_lightning``, ``lightning.pytorch``, ``lightning``,
            ``lightning_fabric`` or ``lightning_lite``: a module, a name in it, or an attribute of that.
        target: Where the code is to run.

    Returns:
        The fact, or ``None`` for a path that no release from 0.7 to 2.6 had.
    """
    from trainer_upgrade.catalogue import imports

    return imports.resolve(dotted, target)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

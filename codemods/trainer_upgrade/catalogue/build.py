"""Short ways to write entries by hand."""

from __future__ import annotations

from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Replacement

__all__ = [
    "DROP",
    "KEEP",
    "MANUAL",
    "NONE",
    "SAFE",
    "UNSAFE",
    "attribute",
    "callback",
    "custom",
    "drop",
    "entry_point",
    "expression",
    "make",
    "move",
    "none",
    "rename",
    "value",
]

SAFE = Applicability.SAFE
UNSAFE = Applicability.UNSAFE
MANUAL = Applicability.MANUAL

KEEP = Replacement("keep")
DROP = Replacement("drop")
NONE = Replacement("none")


def rename(name: str, text: str = "") -> Replacement:
    """Say that only the name changed."""
    return Replacement("rename", name, text=text or name)


def move(name: str, text: str = "") -> Replacement:
    """Say that the thing lives at another dotted path."""
    return Replacement("move", name, text=text or name)


def callback(name: str, argument: str = "", text: str = "") -> Replacement:
    """Say that a callback does it; ``name`` is its dotted path."""
    short = name.rpartition(".")[2]
    return Replacement(
        "callback", name, argument, text or f"callbacks=[{short}({argument and argument + '=…'})]"
    )


def entry_point(name: str, argument: str, text: str = "") -> Replacement:
    """Say that an argument of an entry point (``fit``, ``validate`` …) carries the value."""
    return Replacement("entry-point", name, argument, text or f"trainer.{name}(…, {argument}=…)")


def value(name: str, text: str = "") -> Replacement:
    """Say that the argument ``name`` takes another value."""
    return Replacement("value", name, text=text)


def attribute(name: str, text: str = "") -> Replacement:
    """Say that an attribute of the module, data module or trainer takes its place."""
    return Replacement("attribute", name, text=text or name)


def expression(text: str, name: str = "", argument: str = "") -> Replacement:
    """Say that an expression takes its place."""
    return Replacement("expression", name, argument, text)


def custom(text: str, name: str = "", argument: str = "") -> Replacement:
    """Say that a rule of its own rewrites it."""
    return Replacement("custom", name, argument, text)


def drop(text: str = "") -> Replacement:
    """Say that it goes without a twin and nothing is lost."""
    return Replacement("drop", text=text)


def none(text: str = "") -> Replacement:
    """Say that nothing takes its place."""
    return Replacement("none", text=text)


def make(
    area: Area,
    owner: str,
    code: str,
    name: str,
    advice: str,
    *,
    deprecated: str | None = None,
    removed: str | None = None,
    relight: Replacement,
    lightning: Replacement | None = None,
    how: Applicability = SAFE,
    source: str = "",
    behaviour: str = "",
    silent: bool = False,
    sunset: str = "2.0",
    notes: str = "",
) -> Entry:
    """Build an entry; ``lightning`` defaults to the replacement on relight, ``source`` to the releases."""
    return Entry(
        code=code,
        area=area,
        owner=owner,
        name=name,
        deprecated_in=deprecated,
        removed_in=removed,
        relight=relight,
        lightning=relight if lightning is None else lightning,
        applicability=how,
        advice=advice,
        source=source or releases(deprecated, removed),
        behaviour=behaviour,
        silent=silent,
        sunset=sunset,
        notes=notes,
    )


def releases(deprecated: str | None, removed: str | None) -> str:
    """Name the releases that made a change, as the source of an entry."""
    parts = []
    if deprecated:
        parts.append(f"deprecated in Lightning {deprecated}")
    if removed:
        parts.append(f"removed in Lightning {removed}")
    return ", ".join(parts)

"""Entries kept as data: a table an area, read when it is first asked for.

Columns: ``owner`` (not for attributes, which are all the Trainer's), ``name``, ``code``, ``how`` (s, u, m),
``silent``, ``deprecated``, ``removed``; what takes its place on Lightning: ``action``, ``new``, ``argument``,
``text``; and on relight: ``relight``, which is ``=`` for the same (paths moved to relight's), ``-`` for
nothing, or ``action|new|text`` and ``|argument`` where that differs; then ``advice``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from trainer_upgrade.catalogue import imports
from trainer_upgrade.catalogue.build import releases
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Replacement

__all__ = ["entries"]

_HOW = {"s": Applicability.SAFE, "u": Applicability.UNSAFE, "m": Applicability.MANUAL}
_FILES = {
    Area.TRAINER_ATTRIBUTE: "trainer_attributes.tsv",
    Area.CONSTRUCTOR_ARGUMENT: "constructor_arguments.tsv",
}
_ROOT = "lightning.pytorch"


def entries(area: Area) -> Iterator[Entry]:
    """Yield the entries of an area that is kept as data."""
    text = (files("trainer_upgrade.catalogue") / "data" / _FILES[area]).read_text(encoding="utf-8")
    lines = text.splitlines()
    columns = lines[0].split("\t")
    for line in lines[1:]:
        row = dict(zip(columns, line.split("\t"), strict=True))
        lightning = Replacement(row["action"], row["new"], row.get("argument", ""), row["text"])
        silent = row["silent"] == "1"
        yield Entry(
            code=row["code"],
            area=area,
            owner=row.get("owner", "Trainer"),
            name=row["name"],
            deprecated_in=row["deprecated"] or None,
            removed_in=row["removed"] or None,
            relight=_on_relight(row["relight"], lightning),
            lightning=lightning,
            applicability=_HOW[row["how"]],
            advice=row["advice"],
            source=releases(row["deprecated"], row["removed"]) or "Lightning 0.7 to 2.6",
            behaviour=_behaviour(area, row, silent),
            silent=silent,
        )


def _on_relight(spec: str, lightning: Replacement) -> Replacement:
    if spec == "-":
        return Replacement("none")
    if spec != "=":
        action, name, text, *argument = spec.split("|")
        return Replacement(action, name, argument[0] if argument else lightning.argument, text)
    if not lightning.name.startswith(_ROOT + "."):
        return lightning
    here = imports.on_relight("pytorch_lightning" + lightning.name[len(_ROOT) :])
    if here is None:
        return Replacement("none")
    return Replacement(lightning.action, here, lightning.argument, lightning.text)


def _behaviour(area: Area, row: dict[str, str], silent: bool) -> str:
    if area is Area.TRAINER_ATTRIBUTE:
        if not row["removed"]:
            return "there, with another meaning" if silent else "there, and partly changed"
        return "AttributeError where it is used"
    if silent:
        return "goes on without an error" if row["removed"] else "another default, without a word"
    if not row["removed"]:
        return "another default or set of values"
    if row["code"] in ("TRU690", "TRU691", "TRU692", "TRU693", "TRU646", "TRU647"):
        return "ImportError for the class"
    return "TypeError: unexpected keyword argument"

"""Where a name of the legacy packages lives today: the import table, read when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files

from trainer_upgrade.catalogue import compat_names, import_kinds, relight_names
from trainer_upgrade.catalogue.build import releases
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Replacement, Target

__all__ = ["ImportFact", "ImportRow", "entries", "modules", "names", "resolve", "rows"]

ROOT = "pytorch_lightning"
FABRIC = "lightning_fabric"
_HOW = {"s": Applicability.SAFE, "u": Applicability.UNSAFE, "m": Applicability.MANUAL}
_ACTION = {
    "moved": "move",
    "external": "move",
    "renamed": "rename",
    "private": "rename",
    "deprecated_alias": "rename",
    "changed_meaning": "rename",
}
# Lightning's umbrella package shows these at its top.
_UMBRELLA = frozenset(
    {"Callback", "LightningDataModule", "LightningModule", "Trainer", "pytorch", "seed_everything"}
)


@dataclass(frozen=True, slots=True)
class ImportFact:
    """What became of one import path on one target.

    Attributes:
        status: ``kept``, ``moved``, ``renamed``, ``removed``, ``private``, ``deprecated_alias``,
            ``stub_raises``, ``external`` or ``changed_meaning``.
        new: The dotted path on the target: rooted at ``pytorch_lightning`` for Lightning and at ``relight``
            for relight, or in another distribution (``torchmetrics.Accuracy``). ``None`` if there is none.
        code: The catalogue's code; empty where nothing changed.
        advice: One line that tells a person what to do; empty where nothing changed.
        applicability: How sure a rewrite is.
        deprecated_in: First release that warned, if known.
        removed_in: First release without it, if known.
        kind: ``name`` of a module's interface, ``incidental`` (there only because the module imported it),
            ``private`` or ``module``.
    """

    status: str
    new: str | None
    code: str
    advice: str
    applicability: Applicability
    deprecated_in: str | None
    removed_in: str | None
    kind: str = "name"


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One line of the import table; paths are rooted at ``pytorch_lightning``.

    Attributes:
        home: The public path of the same object in 2.6, where ``new`` is not that.
        outside: Its path in Lightning Fabric or Lightning Utilities, where it is defined there.
    """

    kind: str
    old: str
    status: str
    new: str
    home: str
    outside: str
    code: str
    how: Applicability
    deprecated: str | None
    removed: str | None
    hint: str


_KINDS = {"n": "name", "i": "incidental", "p": "private", "m": "module"}


def _long(path: str) -> str:
    return ROOT + path if path.startswith(".") else path


def _row(line: str) -> ImportRow:
    kind, old, status, new, home, outside, code, how, deprecated, removed, hint = line.split("\t")
    return ImportRow(
        _KINDS[kind],
        _long(old),
        status,
        _long(new),
        _long(home),
        outside,
        code,
        _HOW[how],
        deprecated or None,
        removed or None,
        hint,
    )


@cache
def _lines() -> tuple[dict[str, str], dict[str, str]]:
    """Return the table's lines by path: of names, and of modules. Most are never taken apart."""
    text = (files("trainer_upgrade.catalogue") / "data" / "imports.tsv").read_text(encoding="utf-8")
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for line in text.splitlines()[1:]:
        kind, old, _ = line.split("\t", 2)
        found[kind == "m"][_long(old)] = line
    return found


@cache
def _name(path: str) -> ImportRow | None:
    line = _lines()[0].get(path)
    return None if line is None else _row(line)


@cache
def _module(path: str) -> ImportRow | None:
    line = _lines()[1].get(path)
    return None if line is None else _row(line)


def rows() -> Iterator[ImportRow]:
    """Yield the whole table."""
    for lines in _lines():
        yield from map(_row, lines.values())


def modules() -> Set[str]:
    """Return the modules that some release from 0.7 to 2.6 had, rooted at ``pytorch_lightning``."""
    return _lines()[1].keys()


@cache
def _names() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for path, line in _lines()[0].items():
        if line.startswith("n\t"):
            module, _, name = path.rpartition(".")
            found.setdefault(module, set()).add(name)
    return {module: frozenset(those) for module, those in found.items()}


def names(module: str) -> frozenset[str]:
    """Return the public names that releases from 0.7 to 2.6 had in ``module``."""
    return _names().get(module, frozenset())


def _rooted(dotted: str) -> str | None:
    """Root the path at ``pytorch_lightning`` or ``lightning_fabric``; ``None`` for other packages."""
    root, _, rest = dotted.partition(".")
    if root in (ROOT, FABRIC):
        return dotted
    if root == "lightning_lite":
        return _lite(rest)
    if root != "lightning":
        return None
    first, _, below = rest.partition(".")
    if not rest:
        return ROOT
    if first == "pytorch":
        return f"{ROOT}.{below}" if below else ROOT
    if first in ("fabric", "Fabric"):
        return (
            f"{FABRIC}.{below}"
            if first == "fabric" and below
            else FABRIC
            if first == "fabric"
            else f"{FABRIC}.{rest}"
        )
    if first == "lite":
        return _lite(below)
    return f"{ROOT}.{rest}" if first in _UMBRELLA else None


def _lite(rest: str) -> str:
    """Return Fabric's path of a name of Lightning Lite, as Fabric was called in 1.8."""
    if rest in ("LightningLite", "lite.LightningLite"):
        return f"{FABRIC}.Fabric"
    return f"{FABRIC}.{rest}" if rest else FABRIC


def _lookup(dotted: str) -> tuple[ImportRow, str] | None:
    """Return the row of the longest known name that ``dotted`` starts with, and what follows it."""
    row = _name(dotted) or _module(dotted)
    if row is not None:
        return row, ""
    head, rest = dotted, ""
    while "." in head:
        head, _, last = head.rpartition(".")
        rest = f".{last}{rest}"
        row = _name(head)
        if row is not None:
            return row, rest
        if head in modules():
            return None  # a module that never had that name
    return None


@lru_cache(maxsize=8192)
def resolve(dotted: str, target: Target) -> ImportFact | None:
    """See :func:`trainer_upgrade.catalogue.resolve_import`."""
    path = _rooted(dotted)
    if path is None:
        return None
    if path == FABRIC or path.startswith(FABRIC + "."):
        if dotted.startswith(("lightning_lite", "lightning.lite")):
            advice = import_kinds.advice("TRU318", dotted, path, "2.0", "Lite is called Fabric")
            return ImportFact("renamed", path, "TRU318", advice, Applicability.UNSAFE, "1.9", "2.0")
        return ImportFact("kept", path, "", "", Applicability.SAFE, None, None)
    found = _lookup(path)
    if found is None:
        return None
    row, rest = found
    fact = _on_lightning(row) if target is Target.LIGHTNING else _on_relight(row)
    return replace(fact, new=fact.new + rest) if rest and fact.new else fact


def _on_lightning(row: ImportRow) -> ImportFact:
    advice = import_kinds.advice(row.code, row.old, row.new, row.removed, row.hint)
    return ImportFact(
        row.status, row.new or None, row.code, advice, row.how, row.deprecated, row.removed, row.kind
    )


@cache
def _on_core() -> dict[str, str]:
    """Return relight's path by every path of Lightning 2.6 that is the home of a name relight has."""
    found = {}
    for table in (relight_names.FABRIC, relight_names.NAMES):
        for modern, here in table.items():
            path = ROOT + modern[len("lightning.pytorch") :]
            found[path] = here
            row = _name(path)
            if row is not None and row.status == "kept":
                found.setdefault(row.home or row.new, here)
    return found


def on_relight(path: str) -> str | None:
    """Return relight's path of a modern name rooted at ``pytorch_lightning``, or ``None``."""
    core = _on_core()
    if path in core:
        return core[path]
    row = _name(path)
    return core.get(row.home or row.new) if row is not None else None


def _on_relight(row: ImportRow) -> ImportFact:
    served = compat_names.NAMES.get(row.old)
    if served is not None:
        code = row.code or "TRU334"
        advice = import_kinds.advice(code, row.old, served, row.removed, row.hint)
        return ImportFact(
            "moved", served, code, advice, Applicability.SAFE, row.deprecated, row.removed, row.kind
        )
    if not row.new:
        gone_there = on_relight(row.old)  # what Lightning dropped, and relight has
        if gone_there is None:
            return _on_lightning(row)
        code = row.code or "TRU334"
        advice = import_kinds.advice(code, row.old, gone_there, row.removed, "")
        return ImportFact("moved", gone_there, code, advice, Applicability.SAFE, None, row.removed, row.kind)
    core = on_relight(row.new) or (on_relight(row.home) if row.home else None)
    if core is None and not (row.new == ROOT or row.new.startswith(ROOT + ".")):
        return _on_lightning(row)
    here = core if core and not core.startswith(FABRIC) else row.outside or core
    if here is None:
        advice = import_kinds.advice("TRU333", row.old, "", row.removed, row.hint)
        code = row.code or "TRU333"
        return ImportFact(
            "removed", None, code, advice, Applicability.MANUAL, row.deprecated, row.removed, row.kind
        )
    status, code, how = row.status, row.code, row.how
    if status in ("kept", "deprecated_alias"):
        status, code, how = "moved", code or "TRU334", Applicability.SAFE
    if status == "private" and not any(part.startswith("_") for part in here.split(".")):
        status, how = "moved", Applicability.SAFE
    # Fabric's class of the same name is near to Lightning's, but another.
    if here.startswith(FABRIC) and here not in (row.outside, row.new) and how is Applicability.SAFE:
        how = Applicability.UNSAFE
    advice = import_kinds.advice(code, row.old, here, row.removed, row.hint)
    return ImportFact(status, here, code, advice, how, row.deprecated, row.removed, row.kind)


def entries() -> Iterator[Entry]:
    """Yield an entry for each path that is gone or changed, its owner being the module.

    A module's own owner is ``module``. Two more, owned by ``relight``, stand for what Lightning still has and
    relight has elsewhere, or not at all.
    """
    yield _for_relight("TRU333", "absent", "what relight does not have", Applicability.MANUAL)
    yield _for_relight(
        "TRU334", "root", "pytorch_lightning, lightning.pytorch and lightning", Applicability.SAFE
    )
    for row in rows():
        if row.status == "kept":
            continue
        lightning, relight = _on_lightning(row), _on_relight(row)
        owner, _, name = row.old.rpartition(".")
        yield Entry(
            code=row.code,
            area=Area.IMPORT,
            owner=owner if row.kind != "module" else "module",
            name=name if row.kind != "module" else row.old,
            deprecated_in=row.deprecated,
            removed_in=row.removed,
            relight=_replacement(relight),
            lightning=_replacement(lightning),
            applicability=lightning.applicability,
            advice=lightning.advice,
            source=releases(row.deprecated, row.removed) or "Lightning 2.6",
            behaviour=import_kinds.BEHAVIOUR[row.status],
            silent=row.status == "changed_meaning",
            notes=row.hint,
        )


def _for_relight(code: str, name: str, what: str, how: Applicability) -> Entry:
    if code == "TRU334":
        relight, advice = (
            Replacement("move", "relight", text="relight"),
            f"{what} are imported from relight there",
        )
    else:
        relight = Replacement("none")
        advice = f"{what} cannot be imported from there: keep it on Lightning, or write it for relight"
    return Entry(
        code=code,
        area=Area.IMPORT,
        owner="relight",
        name=name,
        deprecated_in=None,
        removed_in=None,
        relight=relight,
        lightning=Replacement("keep"),
        applicability=how,
        advice=advice,
        source="relight's public names",
        behaviour="imports on Lightning",
    )


def _replacement(fact: ImportFact) -> Replacement:
    if fact.new is None:
        return Replacement("none")
    new = fact.new
    if new == ROOT or new.startswith(ROOT + "."):
        new = "lightning.pytorch" + new[len(ROOT) :]
    return Replacement(_ACTION.get(fact.status, "move"), new, text=new)

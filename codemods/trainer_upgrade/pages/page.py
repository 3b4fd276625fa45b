"""What there is to say of one code: its entries, the rules that look for it, the code before and after."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass

from trainer_upgrade.catalogue.entry import Area, Entry, Target
from trainer_upgrade.codes import OWN_CODES
from trainer_upgrade.errors import UsageError
from trainer_upgrade.pages.examples import Example, example
from trainer_upgrade.pages.lookup import owns
from trainer_upgrade.pages.made import made
from trainer_upgrade.pages.run import Shown, codes_in, rules_behind, run

__all__ = ["Fixed", "RulePage", "RuleText", "rule_page"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """What the tool does with an example for one target.

    Attributes:
        target: Where the code is to run.
        how: ``safe``, ``unsafe`` (only ``--unsafe-fixes`` do it) or ``reported`` (a person has to).
        after: The file afterwards; the example itself where it is only reported.
        messages: What the linter says, in the order of the file.
    """

    target: Target
    how: str
    after: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule as its module describes it: its name there, and the module's docstring."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RulePage:
    """All there is to say of one code.

    Attributes:
        code: The code.
        title: The first entry's name as a person would write it.
        summary: One line: what to do.
        entries: What the catalogue has; empty for the tool's own codes.
        rules: The rules that report it in the example.
        before: Legacy code that shows it, or ``None`` where no file alone shows it.
        after: What the tool does with it, for each target.
    """

    code: str
    title: str
    summary: str
    entries: tuple[Entry, ...]
    rules: tuple[RuleText, ...] = ()
    before: Example | None = None
    after: tuple[Fixed, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether old code goes on without an error on Lightning 2.x, meaning something else."""
        return any(entry.silent for entry in self.entries)


def rule_page(code: str, about: str = "") -> RulePage:
    """Say all there is to say of ``code``; the tool runs on the example while you wait (some milliseconds).

    Args:
        code: The code.
        about: Which of the names that share the code is asked for, if any; it comes first.

    Raises:
        UsageError: There is no such code.
    """
    from trainer_upgrade import catalogue

    if code in OWN_CODES:
        return RulePage(code, "trainer-upgrade", OWN_CODES[code], ())
    entries = catalogue.by_code(code)
    if not entries:
        raise UsageError(f"there is no code {code}")
    entries = tuple(sorted(entries, key=lambda entry: not _meant(entry, about)))
    title, summary = name_of(entries[0]), entries[0].advice
    # A value is found under the code of its argument.
    found_as = code
    shown = _one_made(entries[0], code) if _meant(entries[0], about) else None
    if shown is None:
        shown = example(code)
    if shown is None and entries[0].area is Area.TRAINER_VALUE:
        argument = catalogue.trainer_argument(entries[0].owner.removeprefix("Trainer."))
        if argument is not None:
            found_as = argument.code
            shown = _one_made(entries[0], found_as)
    if shown is None:
        return RulePage(code, title, summary, entries)
    after = tuple(_fixed(found_as, shown, target, run(shown, target)) for target in Target)
    return RulePage(code, title, summary, entries, _rules(found_as, shown), shown, after)


def _meant(entry: Entry, about: str) -> bool:
    """Whether ``about`` is a name, with or without its owner, and that of this entry."""
    owner, _, last = about.rpartition(".")
    return entry.name in (about, last) and (not owner or entry.name == about or owns(entry.owner, owner))


def _one_made(entry: Entry, code: str) -> Example | None:
    text = made(entry)
    found = Example(entry.code, text) if text is not None else None
    return found if found is not None and code in codes_in(found) else None


def name_of(entry: Entry) -> str:
    """Return an entry's name as a person would write it: ``Trainer(gpus=…)``, ``trainer.tune`` …"""
    owner, name = entry.owner, entry.name
    if not name.isidentifier() and entry.area not in (Area.IMPORT, Area.TRAINER_VALUE):
        return f"{owner}: {name.replace('-', ' ')}" if name != "-" else owner
    if entry.area is Area.TRAINER_ARGUMENT:
        return f"Trainer({name}=…)"
    if entry.area is Area.TRAINER_VALUE:
        return f"Trainer({owner.removeprefix('Trainer.')}={name})"
    if entry.area in (Area.ENTRY_POINT_ARGUMENT, Area.CONSTRUCTOR_ARGUMENT):
        return f"{owner}({name}=…)"
    if entry.area is Area.TRAINER_ATTRIBUTE:
        return f"trainer.{name}"
    if entry.area is Area.IMPORT and owner == "module":
        return name
    return f"{owner}.{name}"


def _fixed(code: str, shown: Example, target: Target, result: Shown) -> Fixed:
    messages = tuple(each.text for each in result.found if each.code == code)
    if not messages:
        return Fixed(target, "kept", result.safe, ())
    kinds = {str(each.applicability) for each in result.found if each.code == code}
    if "manual" in kinds:
        kinds = kinds - {"manual"} or {"reported"}
    how = next(kind for kind in ("reported", "unsafe", "safe") if kind in kinds)
    if how == "reported":
        return Fixed(target, how, shown.text, messages)
    return Fixed(target, how, result.unsafe if how == "unsafe" else result.safe, messages)


def _rules(code: str, shown: Example) -> tuple[RuleText, ...]:
    found: dict[str, RuleText] = {}
    for rule in rules_behind(shown, code):
        text = inspect.getdoc(sys.modules[rule.module]) or ""
        found.setdefault(rule.module, RuleText(rule.module.rpartition(".")[2].lstrip("_"), text))
    return tuple(found.values())

"""Finds the code that somebody means: by the code, by a legacy name, by the error message they paste.

``TRU101``, ``gpus``, ``Trainer.fit``, ``training_epoch_end``, ``pytorch_lightning.metrics`` and
``TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'`` all find their page.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from trainer_upgrade.catalogue.entry import Area, Entry
from trainer_upgrade.codes import known_codes
from trainer_upgrade.errors import UsageError

__all__ = ["find_codes", "name_in", "near", "owns"]

# What 2.x says where no name is quoted that the catalogue has: (pattern, code).
_MESSAGES = (
    (r"requires? a `?LightningModule`?.*got|`model` must be a `?LightningModule", "TRU940"),
    (r"Unpickl\w*Error|weights[ _]only|Unsupported (?:global|operand)", "TRU873"),
    (r"inference tensors? cannot be saved for backward|Inference tensors", "TRU834"),
    (r"is not attached to a `?Trainer", "TRU884"),
    (r"several (?:automatic )?optimizers|multiple optimizers is only supported", "TRU214"),
    (r"(?:was|were) not used in producing (?:the )?loss|find_unused_parameters", "TRU804"),
    (r"\bsetup\(\) got an unexpected keyword argument 'stage'", "TRU246"),
    (r"\bsetup\(\) got an unexpected keyword argument 'stage'", "TRU227"),
    (r"on_\w+_epoch_end\(\) missing 1 required positional argument: '(?:outputs|results)'", "TRU224"),
    (r"required positional argument: 'task'", "TRU310"),
    (r"set attribute '?hparams|'hparams' .*no setter", "TRU225"),
    (r"pytorch-lightning_version", "TRU898"),
    (r"invalid accelerator name", "TRU108"),
    (r"invalid strategy name", "TRU110"),
    (r"'\S+-(?:mixed|true)' is invalid", "TRU942"),
    (r"precision \S+ is invalid", "TRU114"),
    (r"element 0 of tensors does not require grad", "TRU834"),
    (r"invalid metadata|suffix can only be used with", "TRU901"),
)
# What each kind of error quotes.
_QUOTED = (
    r"(?:(?P<callee>[\w.]+)\(\) got an )?unexpected keyword argument '(?P<argument>\w+)'",
    r"(?:'(?P<owner>\w+)' object|type object '(?P<type>\w+)'|module '(?P<module>[\w.]+)')"
    r" has no attribute '(?P<name>\w+)'",
    r"No module named '(?P<path>[\w.]+)'",
    r"cannot import name '(?P<imported>\w+)'(?: from '(?P<source>[\w.]+)')?",
    r"Support for `?(?P<hook>\w+)`? has been removed",
    r"(?:^|[\s.])(?P<hook>\w+)\(\) (?:missing \d+ required|takes (?:from )?\d+ )",
    r"`(?:\w+\.)?(?P<quoted>\w+)(?:\([^`]*\))?`",
)
_ROOTS = ("pytorch_lightning", "lightning.pytorch", "lightning")


def find_codes(asked: str) -> tuple[str, ...]:
    """Return the codes that a question is about, the likeliest first.

    Args:
        asked: A code, a legacy name with or without its owner, a dotted import path, or an error message.

    Raises:
        UsageError: Nothing is known of it; names what is close.
    """
    asked = asked.strip().strip("`")
    code = asked.upper()
    if code in known_codes():
        return (code,)
    if " " not in asked.partition("=")[0].strip().removeprefix("--"):
        named = tuple(dict.fromkeys(_by_name(asked)))
        if named:
            return named
    said = tuple(dict.fromkeys(_by_message(asked)))
    if said:
        return said
    close = near(asked)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; codes look like TRU101, names like gpus"
    raise UsageError(f"there is no code or legacy name {_short(asked)}{hint}")


def name_in(asked: str) -> str:
    """Return the legacy name that an error message quotes; what is no such message comes back as it is."""
    for pattern in _QUOTED:
        for match in re.finditer(pattern, asked):
            for name in _names({key: value for key, value in match.groupdict().items() if value}):
                if any(_by_name(name)):
                    return name
    return asked


def near(asked: str) -> list[str]:
    """Return codes or legacy names that look like ``asked``: at most three."""
    from trainer_upgrade import catalogue

    last = asked.rpartition(".")[2].rpartition("(")[0] or asked.rpartition(".")[2]
    if re.fullmatch(r"(?i)tru\d*", asked):
        return difflib.get_close_matches(asked.upper(), known_codes(), n=3, cutoff=0.6)
    names = {entry.name for entry in catalogue.entries() if entry.name.isidentifier()}
    return difflib.get_close_matches(last, sorted(names), n=3, cutoff=0.7)


def _by_name(asked: str) -> Iterator[str]:
    """Yield the codes of a name; those of the Trainer's arguments before anything else of that name."""
    from trainer_upgrade import catalogue
    from trainer_upgrade.catalogue.entry import Target

    name = re.sub(r"^--(?:trainer\.)?|\(\)$", "", asked)
    # `Trainer(gpus=4)` asks for the argument.
    name = re.sub(r"^([\w.]+)\((\w+)(?:=.*|$)", r"\1.\2", name)
    name = re.sub(r"[=(].*", "", name).strip(" .")
    name = re.sub(r"^(?:pl|ptl)\.", "", name)
    if not name:
        return
    owner, _, last = name.rpartition(".")
    order = {area: number for number, area in enumerate(Area)}
    found = [
        entry
        for entry in catalogue.entries()
        if entry.name == name
        or (owner and entry.name == last and owns(entry.owner, owner))
        or (entry.name == "-" and entry.owner.lower() == name.lower())
    ]

    def place(entry: Entry) -> tuple[bool, int]:
        # `Trainer.add_argparse_args` is the method, and only then what a module of that name imported.
        return bool(owner) and entry.area is Area.IMPORT, order[entry.area]

    yield from (entry.code for entry in sorted(found, key=place))
    if found or "." not in name:
        return
    facts = [
        fact
        for root in ("", *(f"{root}." for root in _ROOTS))
        for target in Target
        if (fact := catalogue.resolve_import(f"{root}{name}", target)) is not None and fact.code
    ]
    yield from (fact.code for fact in facts)
    if not facts and owner.isidentifier() and owner.islower():  # `model.load_from_checkpoint`: a variable
        yield from _by_name(last)


def owns(known: str, given: str) -> bool:
    """Whether ``given`` (``pl.Trainer``, ``Trainer.fit``, ``trainer``) names an entry's owner ``known``."""
    known, given = known.lower(), given.lower()
    last = given.rpartition(".")[2]
    return given in (known, "self") or known.endswith(f".{given}") or last in (known, known.partition(".")[0])


def _by_message(text: str) -> Iterator[str]:
    """Yield the codes that an error message is about."""
    known = False
    for pattern, code in _MESSAGES:
        if re.search(pattern, text, re.IGNORECASE) and code in known_codes():
            yield code
            known = True
    if known:
        return
    for pattern in _QUOTED:
        told = False
        for match in re.finditer(pattern, text):
            said = {key: value for key, value in match.groupdict().items() if value}
            for each in _names(said):
                codes = tuple(_by_name(each))
                yield from codes
                if codes:
                    told = True
                    break
        if told:
            return


def _names(said: dict[str, str]) -> list[str]:
    """Return what an error may mean, the most exact first."""
    last = next(
        said[key] for key in ("argument", "name", "imported", "path", "hook", "quoted") if key in said
    )
    owner = said.get("owner") or said.get("type") or said.get("module") or said.get("source") or ""
    if "callee" in said:
        owner = said["callee"].removesuffix(".__init__")
    return [f"{owner}.{last}", last] if owner else [last]


def _short(asked: str) -> str:
    line = " ".join(asked.split())
    return line if len(line) <= 60 else f"{line[:57]}..."

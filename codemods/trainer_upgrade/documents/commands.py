"""Command lines: what they install, which flags they give, which environment variables they set.

Flags are only looked at where the program is one of a project that imports Lightning. What a flag does is
decided by the program's own parser: a finding says that both have to change together, and a fix is offered
only where the parser is made from the Trainer's signature (``LightningCLI``) or from an upgraded
configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from packaging.utils import canonicalize_name

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.catalogue.translate import translate_trainer_arguments
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY
from trainer_upgrade.documents.config_index import index_of
from trainer_upgrade.documents.document import Document
from trainer_upgrade.documents.pins import LIGHTNING, judge, needs_of, python_verdict
from trainer_upgrade.documents.requirement_files import Required, conda_specifier, read_requirement
from trainer_upgrade.documents.trainer_config import leads_to
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.rules.trainer_arguments import RELEASE, group_of

__all__ = ["check_commands", "check_script", "commands_in"]

_UNSAFE = Applicability.UNSAFE
_INSTALL = re.compile(
    r"(?P<tool>\b(?:pip3?|uv pip|pipx|poetry|uv|pdm|pipenv|conda|mamba|micromamba)(?:\d(?:\.\d+)?)?)[ \t]+"
    r"(?:install|add|create)\b(?P<rest>(?:[^\r\n;|&\\]|\\\r?\n|\\[^\r\n])*)"
)
_TOKEN = re.compile(
    r"(?<![^\s\"'=])(?P<quote>[\"']?)(?P<name>(?i:pytorch[-_.]lightning|lightning))(?=[\s\[<>=!~\"';,]|$)"
)
_RUN = re.compile(
    r"(?:^|[\s;&|(\"'`])(?:python(?:3(?:\.\d+)?)?|torchrun|deepspeed|ipython|accelerate[ \t]+launch"
    r"|(?:\./)?[\w./-]+\.py)(?=\s)"
)
_SCRIPT = re.compile(r"[\w./-]+\.py\b|-m[ \t]+([\w.]+)")
_VALUE = r"(?P<value>\"[^\"\r\n]*\"|'[^'\r\n]*'|\[[^\]\r\n]*\]|[^\s\"'`\\)]+)?"
_NAMES = "|".join(sorted((name for name in EVER if name != "kwargs"), key=len, reverse=True))
_FLAG = re.compile(
    rf"(?<![\w-])--(?P<owner>trainer\.)?(?P<name>{_NAMES}|{_NAMES.replace('_', '-')})"
    rf"(?P<sign>[ \t]*=[ \t]*|[ \t]+(?=[^\s-])|[ \t]+(?=-\d)|(?=[\s\\\"'`)]|$)){_VALUE}"
)
_OVERRIDE = re.compile(
    rf"(?<![\w.+~-])(?P<plus>\+{{0,2}}|~)(?P<owner>[\w.]*trainer)\.(?P<name>{_NAMES})(?P<sign>=){_VALUE}"
)
_VARIABLE = re.compile(r"\bPL_[A-Z_]+\b")
_FROM = re.compile(r"^[ \t]*FROM[ \t]+python:(?P<version>3\.\d+)", re.MULTILINE)


def commands_in(text: str, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where command lines begin and end; lines that a backslash joins are one."""
    stop = len(text) if stop is None else stop
    for match in re.compile(r"(?:[^\r\n\\]|\\(?:\r?\n|.)|\r(?!\n))+").finditer(text, start, stop):
        yield match.span()


def check_commands(document: Document, start: int = 0, stop: int | None = None) -> Iterator[Finding]:
    """Yield what is found in the command lines of a part of a text."""
    text = document.text
    for first, last in commands_in(text, start, stop):
        line = text[first:last]
        if re.match(r"[ \t]*(?:#(?!!)|//|REM\b|::)", line) and "#SBATCH" not in line:
            continue
        yield from _installs(document, first, last)
        yield from _variables(document, first, last)
        if "--" in line or "trainer." in line:
            yield from _flags(document, first, last)


# What is installed


def _installs(document: Document, first: int, last: int) -> Iterator[Finding]:
    text = document.text
    for install in _INSTALL.finditer(text, first, last):
        conda = install["tool"].endswith(("conda", "mamba"))
        for match in _TOKEN.finditer(text, install.start("rest"), install.end("rest")):
            required = _required(text, match, install.end("rest"), conda)
            if required is None:
                continue
            needs = needs_of(document.project, after=document.after_upgrade)
            for verdict in judge(
                required.name,
                required.extras,
                required.specifier,
                target=document.target,
                needs=needs,
                before=needs,
                listed=frozenset({"torchmetrics", "tensorboard"}),
            ):
                fix = None
                if verdict.new is not None and document.fixing:
                    fix = _install_fix(
                        document, required, verdict.new, match["quote"], text[first : required.start]
                    )
                yield document.finding(verdict.code, (required.start, required.end), verdict.message, fix)


def _required(text: str, match: re.Match[str], stop: int, conda: bool) -> Required | None:
    """Read the requirement at a word of a command line."""
    begin = match.start("name")
    # Without quotes a blank ends the requirement, and `<` would be the shell's.
    ends = r"[^\s\"'<>]+" if not match["quote"] else rf"[^{match['quote']}\r\n]+"
    word = re.compile(r"[^\s\"']+" if conda else ends).match(text, begin, stop)
    if word is None:
        return None
    if conda:
        rest = word[0][len(match["name"]) :]
        end = word.end()
        return Required(match["name"], "", conda_specifier(rest), begin, end, "conda", begin, end)
    return read_requirement(text, begin, word.end(), "shell")


def _install_fix(
    document: Document, required: Required, new: tuple[str, str, str], quote: str, before: str
) -> Fix | None:
    name, extras, specifier = new
    if required.style == "conda" and name == "relight":
        return None
    own = required.name if canonicalize_name(required.name) == name else name
    word = f"{own}{'' if required.style == 'conda' else extras}{specifier}"
    if not quote and re.search(r"[<>\[\]*!~ ]", word):
        # The shell must see it in quotes; which ones depends on those it already stands in.
        single, double = before.count("'") % 2, before.count('"') % 2
        if single and double:
            return None
        mark = "'" if double else '"'
        word = f"{mark}{word}{mark}"
    return Fix(_UNSAFE, f"require {name}{extras}{specifier}", (Edit(required.start, required.end, word),))


# The environment


def _variables(document: Document, first: int, last: int) -> Iterator[Finding]:
    for match in _VARIABLE.finditer(document.text, first, last):
        entry = catalogue.find(Area.PROJECT_FILE, "environment", match[0])
        if entry is not None:
            yield document.finding(entry, match.span())


# Flags


def _flags(document: Document, first: int, last: int) -> Iterator[Finding]:
    text = document.text
    run = _RUN.search(text, first, last)
    if run is None:
        return
    before = needs_of(document.project, after=False)
    if not (before.lightning or before.imports("relight")) or not _may_be_ours(
        document, text[run.start() : last]
    ):
        return
    index = index_of(document.project)
    given: dict[str, list[re.Match[str]]] = {}
    for match in _FLAG.finditer(text, run.end(), last):
        if match["owner"]:
            given.setdefault("--trainer.", []).append(match)
        elif match["name"].replace("-", "_") not in index.declared_flags:
            given.setdefault("--", []).append(match)  # else the program's own option: it stays
    for match in _OVERRIDE.finditer(text, run.end(), last):
        given.setdefault(match["owner"], []).append(match)
    entry = catalogue.by_code("TRU930")[0]
    for owner, matches in given.items():
        if owner == "--trainer.":
            known, told = index.cli is not None, index.cli is not None or bool(index.uses)
        elif owner == "--":
            known, told = False, True
        else:
            keys = tuple(owner.split("."))
            known = index.declared_at(keys) is not None or index.trainer_use(keys, "") is not None
            told = known
        if not told:
            continue
        fix = _rewritten(matches) if known and document.fixing else None
        for match in matches:
            name = match["name"].replace("-", "_")
            if name in LEGACY_ONLY:
                yield document.finding(entry, _place(match), _message(name), fix(document) if fix else None)


def _may_be_ours(document: Document, command: str) -> bool:
    """Whether a command runs a program of the project that may have to do with Lightning."""
    project = document.project
    for match in _SCRIPT.finditer(command):
        name = match[1].replace(".", "/") + ".py" if match[1] else match[0]
        candidates = [
            path for path in project.everything() if path.as_posix().endswith("/" + name.lstrip("./"))
        ]
        if candidates:
            return any(project.relevant(path) for path in candidates)
    return True


def _message(name: str) -> str:
    argument = catalogue.trainer_argument(name)
    advice = argument.advice if argument is not None else name
    return (
        f"a flag for an argument that is gone: {advice}; it changes together with the program's own options"
    )


def _place(match: re.Match[str]) -> tuple[int, int]:
    return match.start(), match.end() if match["value"] else match.end("name")


def _rewritten(matches: list[re.Match[str]]) -> Callable[[Document], Fix | None] | None:
    """Return what writes the flags of one command as the upgraded parser takes them, all together."""
    values: dict[str, Any] = {}
    for match in matches:
        name = match["name"].replace("-", "_")
        written = match["value"]
        if written is None or "$" in written or name in values or match.groupdict().get("plus") == "~":
            return None
        values[name] = _plain(written.strip("\"'"))

    def fix(document: Document) -> Fix | None:
        if values.get("resume_from_checkpoint") is not None:
            return None
        made = translate_trainer_arguments(values, target=document.target, legacy_version=RELEASE)
        if made.errors or made.callbacks or made.entry_points or made.plugins or made.module or made.torch:
            return None
        if made.tuner or made.datamodule or made.logger:
            return None
        if any(
            each.argument in values and each.applicability is Applicability.MANUAL for each in made.findings
        ):
            return None
        if any(
            name in made.adapters and name not in made.constructor
            for name in values
            if name != "terminate_on_nan"
        ):
            return None
        new = made.constructor
        present = _present(document, matches[0])
        if any(not isinstance(each, (str, int, float, list, type(None))) for each in new.values()):
            return None
        gone = [name for name in values if name not in new]
        hosts: dict[str, list[str]] = {name: [] for name in gone}
        edits: list[Edit] = []
        for name, value in new.items():
            if name in values:
                continue
            host = next((each for each in gone if name in leads_to(each)), None)
            host = (
                host if host is not None else next((each for each in values if name in group_of(each)), None)
            )
            if host is None:
                return None
            hosts.setdefault(host, []).append(_flag(_of(matches, host), name, value, present))
        for name, value in values.items():
            match = _of(matches, name)
            end = match.end("value")
            words = hosts.get(name, [])
            if name in new:
                same = type(new[name]) is type(value) and new[name] == value
                if same and not words:
                    continue
                words = [match[0] if same else _flag(match, name, new[name], present), *words]
            if words:
                edits.append(Edit(match.start(), end, " ".join(words)))
            else:
                start = match.start()
                alone = re.compile(r"[ \t]*(?=\r?\n|$)").match(document.text, end) is not None
                lead = re.compile(r"(?:[ \t]*\\\r?\n)?[ \t]*$" if alone else r"[ \t]*$")
                before = lead.search(document.text, 0, start)
                start = before.start() if before is not None else start
                edits.append(Edit(start, end, ""))
        return Fix(_UNSAFE, "give the flags of today", tuple(edits)) if edits else None

    return fix


def _present(document: Document, match: re.Match[str]) -> frozenset[str]:
    """Return the keys that the upgraded configuration has where an override changes it."""
    if "plus" not in match.groupdict():
        return frozenset()
    found: set[str] = set()
    for values in index_of(document.project).parts_of(tuple(match["owner"].split("."))):
        plain = {name: each for name, each in values.items() if not (isinstance(each, str) and "${" in each)}
        found.update(
            translate_trainer_arguments(plain, target=document.target, legacy_version=RELEASE).constructor
        )
    return frozenset(found)


def _of(matches: list[re.Match[str]], name: str) -> re.Match[str]:
    return next(each for each in matches if each["name"].replace("-", "_") == name)


def _flag(match: re.Match[str], name: str, value: Any, present: frozenset[str]) -> str:
    """Write another flag as one is written; hydra wants a plus before a key that the configuration lacks."""
    if "plus" in match.groupdict():
        return f"{'' if name in present else '++'}{match['owner']}.{name}={_word(value)}"
    sign = match["sign"] if "=" in match["sign"] else " "
    return f"--{match['owner'] or ''}{name}{sign}{_word(value)}"


def _plain(text: str) -> Any:
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, (str, int, float, bool, list, type(None))) else text


def _word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ",".join(_word(each) for each in value) + "]"
    return str(value)


def check_script(document: Document) -> Iterator[Finding]:
    """Yield what is found in shell scripts, Dockerfiles, Makefiles and CI configurations."""
    yield from check_commands(document)
    for match in _FROM.finditer(document.text):
        from packaging.specifiers import SpecifierSet

        verdict = python_verdict(SpecifierSet(f"=={match['version']}.*"), whole=False)
        if verdict is not None and re.search("|".join(LIGHTNING), document.text):
            yield document.finding(verdict.code, match.span("version"), verdict.message)

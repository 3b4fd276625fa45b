"""Pages of the docs site that are made when it is built: one a rule, the indexes, the tables.

Named in ``mkdocs.yml`` under ``hooks``. Nothing of it is kept in the repository, so nothing can go stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Area, Entry, Replacement, Target
from trainer_upgrade.codes import known_codes
from trainer_upgrade.pages.error_text import error_text
from trainer_upgrade.pages.markdown import render
from trainer_upgrade.pages.page import name_of, rule_page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_FAMILIES = {
    "TRU0": "The tool itself",
    "TRU1": "Arguments of the Trainer",
    "TRU2": "Hooks, methods and attributes of modules, data modules and callbacks",
    "TRU3": "Imports",
    "TRU4": "Attributes and methods of the Trainer",
    "TRU5": "Arguments of fit, test and other methods",
    "TRU6": "Arguments of callbacks, loggers, plugins and profilers",
    "TRU7": "Values of the Trainer's arguments",
    "TRU8": "Defaults and meanings",
    "TRU9": "Requirements, configurations, command lines",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> Iterator[tuple[str, str]]:
    """Yield every generated page: its path in the docs and its Markdown."""
    codes = sorted(known_codes())
    summaries = {}
    for code in codes:
        page = rule_page(code)
        summaries[code] = (page.title, page.summary, page.silent)
        yield f"rules/{code}.md", render(page)
    yield "rules/index.md", _text(_index(summaries))
    yield "rules/names.md", _text(_names())
    yield "rules/imports.md", _text(_imports())
    yield "rules/errors.md", _text(_errors())
    yield "tables/trainer-arguments.md", _text(_arguments())
    yield "tables/hooks.md", _text(_hooks())


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _index(summaries: dict[str, tuple[str, str, bool]]) -> Iterator[str]:
    yield from ("# All codes", "")
    yield "Each page says what changed and what takes its place, with the code before and after as the"
    yield "tool makes it. In the terminal: `trainer-upgrade --explain` with a code, a name, or an error."
    yield "By name: [names](names.md), [import paths](imports.md); by error: [errors](errors.md)."
    yield ""
    yield "🔇 marks what Lightning 2.x takes without an error, meaning something else."
    for family, title in _FAMILIES.items():
        yield from ("", f"## {title}", "", "| code | what | what to do |", "|---|---|---|")
        for code, (name, summary, silent) in summaries.items():
            if code.startswith(family):
                mark = " 🔇" if silent else ""
                yield f"| [{code}]({code}.md) | {_cell(_code(name))}{mark} | {_cell(summary)} |"


def _names() -> Iterator[str]:
    yield from ("# Legacy names", "", "Import paths have [a page of their own](imports.md).", "")
    yield from ("| name | code | what to do |", "|---|---|---|")
    listed = [
        entry for entry in catalogue.entries() if entry.area is not Area.IMPORT and entry.name.isidentifier()
    ]
    for entry in sorted(listed, key=lambda entry: (entry.name.lower(), entry.code)):
        yield f"| {_cell(_code(name_of(entry)))} | [{entry.code}]({entry.code}.md) | {_cell(entry.advice)} |"


def _imports() -> Iterator[str]:
    yield from ("# Legacy import paths", "")
    yield "Paths that Lightning 0.7 to 1.9 had and 2.6 has no more, or has elsewhere."
    yield ""
    yield from ("| path | code | on relight | on Lightning 2.x |", "|---|---|---|---|")
    for entry in sorted(catalogue.entries(Area.IMPORT), key=name_of):
        news = " | ".join(_cell(_new(entry.replacement(target))) for target in Target)
        yield f"| {_cell(_code(name_of(entry)))} | [{entry.code}]({entry.code}.md) | {news} |"


def _errors() -> Iterator[str]:
    yield from ("# Errors of old code on Lightning 2.x", "")
    yield 'What code for 1.x gets on 2.x. `trainer-upgrade --explain "the message"` finds the page, too.'
    yield ""
    yield from ("| error | code |", "|---|---|")
    errors: dict[str, set[str]] = {}
    for entry in catalogue.entries():
        text = error_text(entry) if entry.area is not Area.IMPORT or entry.owner == "module" else None
        if text:
            errors.setdefault(text, set()).add(entry.code)
    for text, codes in sorted(errors.items()):
        links = ", ".join(f"[{code}]({code}.md)" for code in sorted(codes))
        yield f"| `{_cell(text)}` | {links} |"


def _arguments() -> Iterator[str]:
    yield from ("# Every argument a Trainer ever took", "")
    yield "Arguments of the `Trainer` of any release from 0.7 to 2.6, and what became of them."
    yield ""
    yield from (
        "| argument | deprecated | gone | on relight | on Lightning 2.x | code |",
        "|---|---|---|---|---|---|",
    )
    for entry in sorted(catalogue.entries(Area.TRAINER_ARGUMENT), key=lambda entry: entry.name):
        yield _row(entry)


def _hooks() -> Iterator[str]:
    yield from ("# Every hook that changed", "")
    yield "Hooks, methods and attributes of modules, data modules and callbacks that are gone"
    yield "or have another signature. Those of today, with their order, are in [Hooks](../hooks.md)."
    for area, title in (
        (Area.MODULE_HOOK, "LightningModule"),
        (Area.DATAMODULE_HOOK, "LightningDataModule"),
        (Area.CALLBACK_HOOK, "Callback"),
    ):
        yield from ("", f"## {title}", "")
        yield from (
            "| name | deprecated | gone | on relight | on Lightning 2.x | code |",
            "|---|---|---|---|---|---|",
        )
        for entry in sorted(catalogue.entries(area), key=lambda entry: entry.name):
            yield _row(entry)


def _row(entry: Entry) -> str:
    news = " | ".join(_cell(_new(entry.replacement(target))) for target in Target)
    mark = " 🔇" if entry.silent else ""
    when = f"{entry.deprecated_in or ''} | {entry.removed_in or ''}"
    return f"| `{_cell(entry.name)}`{mark} | {when} | {news} | [{entry.code}](../rules/{entry.code}.md) |"


def _new(replacement: Replacement) -> str:
    text = replacement.text or replacement.name
    if text:
        return f"`{text}`" if "`" not in text else text
    return {"keep": "as it is", "drop": "drop it"}.get(replacement.action, "nothing: see its page")


def _code(name: str) -> str:
    return f"`{name}`" if re.fullmatch(r"[\w.]+(\(.*\))?", name) else name


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

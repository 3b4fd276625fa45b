"""A page about a code, in Markdown: what the docs site shows, and the terminal through rich."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainer_upgrade.catalogue.consequences import consequence
from trainer_upgrade.catalogue.entry import Entry, Target
from trainer_upgrade.pages.error_text import error_text
from trainer_upgrade.pages.page import Fixed, RulePage, name_of

__all__ = ["render"]

_TITLES = {Target.RELIGHT: "relight", Target.LIGHTNING: "Lightning 2.x"}
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".sh": "shell", ".md": "markdown", ".txt": "text"}
_HOW = {
    "safe": "The fix is **safe**: it keeps behaviour, and `trainer-upgrade` makes it.",
    "unsafe": "The fix is **unsafe**: only `--unsafe-fixes` make it, because it may change what the code"
    " does. Look at the diff.",
    "reported": "**Reported**: what to do is for a person to decide.",
    "kept": "Nothing to do: the code goes on working there.",
}
_ACTIONS = {"drop": "drop it", "keep": "as it is", "none": "nothing"}
# How many of the names that share a code a page lists.
_MANY = 12


def render(page: RulePage) -> str:
    """Return a page as Markdown."""
    return "\n".join(_lines(page)).rstrip("\n") + "\n"


def _lines(page: RulePage) -> Iterator[str]:
    yield from (f"# {page.code}: {_code(page.title)}", "", _sentence(page.summary), "")
    if page.entries:
        yield from _facts(page.entries[0], page.before is None)
    if len(page.entries) > 1:
        yield from _others(page.entries)
    if page.before is not None:
        yield from _example(page)
    for rule in page.rules:
        yield from (f"## The rule `{rule.name}`", "", *_docstring(rule.text), "")
    yield from _suppress(page)


def _facts(entry: Entry, alone: bool) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    if entry.deprecated_in:
        yield f"| deprecated in | {entry.deprecated_in} |"
    if entry.removed_in:
        yield f"| gone since | {entry.removed_in} |"
    for target in Target:
        new = entry.replacement(target)
        modern = new.text or new.name or _ACTIONS.get(new.action, "")
        if modern:
            yield f"| on {_TITLES[target]} | {_cell(modern)} |"
    if entry.silent:
        yield f"| old code on Lightning 2.x | **silent**: {_cell(consequence(entry))} |"
    elif entry.behaviour:
        error = error_text(entry)
        yield f"| old code on Lightning 2.x | {_cell(f'`{error}`' if error else entry.behaviour)} |"
    if alone:
        yield f"| the rewrite is | {entry.applicability} |"
    if entry.source:
        yield f"| source | {_cell(entry.source)} |"
    yield ""


def _others(entries: Iterable[Entry]) -> Iterator[str]:
    listed = list(entries)
    yield from ("## What else has this code" if len(listed) > 2 else "## Also", "")
    yield from ("| what | gone since | what to do |", "|---|---|---|")
    for entry in listed[1 : _MANY + 1]:
        yield f"| {_cell(_code(name_of(entry)))} | {entry.removed_in or ''} | {_cell(entry.advice)} |"
    if len(listed) > _MANY + 1:
        yield f"| and {len(listed) - _MANY - 1} more | | `trainer-upgrade --explain NAME` finds each |"
    yield ""


def _example(page: RulePage) -> Iterator[str]:
    assert page.before is not None
    suffix = page.before.path[page.before.path.rfind(".") :]
    fence = f"```{_LANGUAGES.get(suffix, '')}"
    yield from ("## Before", "", fence, page.before.text.rstrip("\n"), "```", "")
    # One block where both targets get the same.
    first, second = page.after
    if (first.how, first.after) == (second.how, second.after):
        yield from _after("After", first, fence)
    else:
        for fixed in page.after:
            yield from _after(f"After, on {_TITLES[fixed.target]}", fixed, fence)


def _after(title: str, fixed: Fixed, fence: str) -> Iterator[str]:
    yield from (f"## {title}", "")
    if fixed.how in ("safe", "unsafe"):
        yield from (fence, fixed.after.rstrip("\n"), "```", "")
    yield from (_HOW[fixed.how], "")
    for message in dict.fromkeys(fixed.messages):
        yield f"> {_text(message)}"
    if fixed.messages:
        yield ""


def _suppress(page: RulePage) -> Iterator[str]:
    if page.code in ("TRU001", "TRU003", "TRU004"):
        return
    yield from ("## Switch it off", "")
    yield f"`# noqa: {page.code}` or `# trainer-upgrade: ignore[{page.code}]` on the line;"
    yield f"`# trainer-upgrade: ignore-file[{page.code}]` in a file; in the settings,"
    yield f'`ignore = ["{page.code}"]` or `per-file-ignores = {{ "tests/*" = ["{page.code}"] }}`.'
    yield ""


def _docstring(text: str) -> Iterator[str]:
    """Turn a docstring of the house (``Before::`` and indented code) into Markdown."""
    block: list[str] | None = None
    for line in [*text.splitlines(), "end"]:
        if block is not None and (not line.strip() or line.startswith("    ")):
            block.append(line[4:])
            continue
        if block is not None:
            while block and not block[0].strip():
                block.pop(0)
            while block and not block[-1].strip():
                block.pop()
            yield from ("```python", *block, "```", "")
            block = None
        if line.endswith("::"):
            yield from (_text(line[:-1]), "")
            block = []
        else:
            yield _text(line)


def _text(line: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", re.sub(r":\w+:`([^`]+)`", r"`\1`", line)) if line != "end" else ""


def _code(name: str) -> str:
    return f"`{name}`" if re.fullmatch(r"[\w.]+(\(.*\))?", name) else name


def _sentence(line: str) -> str:
    return line[:1].upper() + line[1:] + ("" if line.endswith((".", "!", "?")) else ".")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

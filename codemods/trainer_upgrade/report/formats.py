"""All ways of showing a report, by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from trainer_upgrade.errors import UsageError
from trainer_upgrade.report.summary import Report

__all__ = ["LINES", "format_of", "render"]

# What a person reads in a terminal; the others are whole documents.
LINES = frozenset({"text", "concise", "grouped"})
_SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".sarif": "sarif",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xml": "junit",
    ".txt": "text",
}


def format_of(path: Path) -> str:
    """Return the format that a report's file name stands for.

    Raises:
        UsageError: It stands for none.
    """
    found = _SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"--report {path}: the name must end in one of {', '.join(_SUFFIXES)}")
    return found


def render(name: str, report: Report, *, verbose: bool = False, colour: bool = False) -> Iterable[str]:
    """Yield a report in a format, line by line or whole."""
    from trainer_upgrade.report import ci, json_format, markdown, page, sarif, text

    if name == "concise":
        return text.concise(report)
    if name == "grouped":
        return text.grouped(report, colour=colour)
    if name == "github":
        return ci.github(report)
    if name == "gitlab":
        return [ci.gitlab(report)]
    if name == "junit":
        return [ci.junit(report)]
    if name == "sarif":
        return [sarif.render(report)]
    if name == "json":
        return [json_format.render(report)]
    if name == "jsonl":
        lines = json_format.render_lines(report)
        return [lines] if lines else []
    if name == "html":
        return [page.render(report)]
    if name == "markdown":
        return markdown.render(report)
    return text.render(report, verbose=verbose, colour=colour)

"""A report as Markdown, for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from trainer_upgrade.findings import Finding
from trainer_upgrade.report.estimate import HOW, estimate
from trainer_upgrade.report.fingerprints import relative
from trainer_upgrade.report.summary import Report
from trainer_upgrade.report.text import place_of

__all__ = ["render"]

_MOST = 300  # rows of a table; the pages that show Markdown take no more


def render(report: Report) -> Iterator[str]:
    """Yield the lines: silent findings first, then by code, then by file."""
    root = Path.cwd()
    yield "# trainer-upgrade"
    yield ""
    yield report.summary()
    told = report.severities()
    if told:
        yield ""
        yield told
    left = [finding for _, finding in report.left()]
    if not left:
        return
    work = estimate(report)
    yield ""
    yield f"{work} ({HOW})."
    silent = [each for each in left if each.silent]
    if silent:
        yield from (
            "",
            "## Silent: no error will tell",
            "",
            "| place | code | what | then |",
            "|---|---|---|---|",
        )
        for each in silent[:_MOST]:
            what, then = _cell(each.message), _cell(each.consequence)
            yield f"| {_place(each, root)} | {each.code} | {what} | {then} |"
        yield from _rest(len(silent))
    counts = Counter(each.code for each in left)
    yield from ("", "## By code", "", "| findings | code | example |", "|---:|---|---|")
    quiet = {each.code for each in silent}
    for code in sorted(counts, key=lambda each: (each not in quiet, -counts[each], each)):
        example = next(each.message for each in left if each.code == code)
        yield f"| {counts[code]} | {code} | {_cell(example)} |"
    yield from ("", "## By file", "", "| place | code | what | fix |", "|---|---|---|---|")
    for each in left[:_MOST]:
        yield f"| {_place(each, root)} | {each.code} | {_cell(each.message)} | {each.applicability} |"
    yield from _rest(len(left))


def _rest(number: int) -> Iterator[str]:
    if number > _MOST:
        yield ""
        yield f"… and {number - _MOST} more."


def _place(finding: Finding, root: Path) -> str:
    return f"`{relative(finding.path, root)}:{place_of(finding)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

"""Findings as lines of text: ``path:row:column: TRU101 [*] message``."""

from __future__ import annotations

from collections.abc import Iterator

from trainer_upgrade.findings import Finding
from trainer_upgrade.report.summary import Report, ReportedFile

__all__ = ["render"]


def render(report: Report, *, verbose: bool = False) -> Iterator[str]:
    """Yield a line for each finding that is left; with ``verbose`` the line of the source below it."""
    for file, finding in report.left():
        mark = " [*]" if report.fixable(finding) else ""
        place = f"{finding.path}:{finding.start.row}:{finding.start.column}"
        yield f"{place}: {finding.code}{mark} {finding.message}"
        if verbose:
            yield from _excerpt(file, finding)


def _excerpt(file: ReportedFile, finding: Finding) -> Iterator[str]:
    lines, row = file.lines, finding.start.row
    if lines is None or row > len(lines.starts):
        return
    line = lines.line(row)
    start = finding.start.column - 1
    stop = finding.end.column - 1 if finding.end.row == row else len(line)
    number = str(row)
    # Tabs stay in the part that moves the marks, so that they are under what they mark.
    lead = "".join(character if character == "\t" else " " for character in line[:start])
    yield f"{' ' * len(number)} |"
    yield f"{number} | {line}"
    yield f"{' ' * len(number)} | {lead}{'^' * max(stop - start, 1)}"
    if finding.fix is not None:
        yield f"{' ' * len(number)} = {finding.fix.applicability} fix: {finding.fix.message}"

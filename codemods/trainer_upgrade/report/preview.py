"""What a fix makes of the lines it touches: before and after, for reports."""

from __future__ import annotations

from dataclasses import dataclass

from trainer_upgrade.findings import Finding
from trainer_upgrade.report.summary import ReportedFile
from trainer_upgrade.sources.text import LineIndex, apply_edits

__all__ = ["Preview", "excerpt", "preview"]

_AROUND = 1  # lines of context
_FAR = 6  # edits further apart than this many lines are shown as parts of their own


@dataclass(frozen=True)
class Preview:
    """Some lines before and after.

    Attributes:
        row: The first line's number.
        before: The lines as they are.
        after: The lines as the fix makes them.
    """

    row: int
    before: list[str]
    after: list[str]


def preview(finding: Finding, lines: LineIndex | None) -> list[Preview]:
    """Return what a finding's fix changes, in parts; nothing for a fix that only adds imports."""
    fix = finding.fix
    if fix is None or lines is None or not fix.edits or finding.cell is not None:
        return []
    groups: list[list[int]] = []
    edits = sorted(fix.edits)
    if edits[-1].end > len(lines.text):
        return []
    for index, edit in enumerate(edits):
        row = lines.place(edit.start)[0]
        if groups and row - lines.place(edits[groups[-1][-1]].end)[0] <= _FAR:
            groups[-1].append(index)
        else:
            groups.append([index])
    found = []
    for group in groups:
        first = max(lines.place(edits[group[0]].start)[0] - _AROUND, 1)
        last = min(max(lines.place(edits[each].end)[0] for each in group) + _AROUND, len(lines.starts))
        start, end = lines.starts[first - 1], lines.end(last)
        inside = [
            type(edit)(edit.start - start, edit.end - start, edit.content)
            for edit in (edits[each] for each in group)
        ]
        before = lines.text[start:end]
        try:
            after = apply_edits(before, inside)
        except ValueError:
            return []
        if after != before:  # an edit may only hold its place
            found.append(Preview(first, before.splitlines(), after.splitlines()))
    return found


def excerpt(finding: Finding, file: ReportedFile) -> tuple[int, list[str]]:
    """Return the lines around a finding, and the number of the first; none where they are not known."""
    lines = file.lines
    if lines is None or finding.cell is not None or finding.start.row > len(lines.starts):
        return 1, []
    first = max(finding.start.row - _AROUND, 1)
    last = min(min(finding.end.row, finding.start.row + _FAR) + _AROUND, len(lines.starts))
    rows = [lines.line(row) for row in range(first, last + 1)]
    while rows and not rows[-1].strip() and first + len(rows) - 1 > finding.start.row:
        rows.pop()
    return first, rows

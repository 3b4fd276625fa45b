"""Findings as lines of text: ``path:row:column: TRU101 [*] message``."""

from __future__ import annotations

from collections.abc import Iterator

from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.report.summary import Report, ReportedFile

__all__ = ["concise", "grouped", "place_of", "render"]


def place_of(finding: Finding) -> str:
    """Return where a finding is, without its file: ``row:column``, in a notebook after its cell."""
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    return f"{cell}{finding.start.row}:{finding.start.column}"


def render(report: Report, *, verbose: bool = False, colour: bool = False) -> Iterator[str]:
    """Yield a line for each finding that is left; with ``verbose`` the line of the source below it."""
    paint = _paint if colour else _plain
    for file, finding in report.left():
        mark = " [*]" if report.fixable(finding) else ""
        bad = finding.silent or finding.severity is Severity.ERROR
        place = f"{paint(str(finding.path), 'bold')}:{place_of(finding)}:"
        code = paint(finding.code, "red" if bad else "yellow")
        yield f"{place} {code}{paint(mark, 'cyan')} {finding.text}"
        if verbose:
            yield from _excerpt(file, finding)


def concise(report: Report) -> Iterator[str]:
    """Yield a line for each finding, as linters do and editors read it."""
    for _, finding in report.left():
        yield f"{finding.path}:{place_of(finding)}: {finding.code} {finding.text}"


def grouped(report: Report, *, colour: bool = False) -> Iterator[str]:
    """Yield each file's name and its findings below; silent ones first."""
    paint = _paint if colour else _plain
    for file in report.files:
        if not file.findings:
            continue
        yield f"{paint(str(file.path), 'bold')}:"
        places = [place_of(each) for each in file.findings]
        width = max(map(len, places))
        rows = sorted(zip(places, file.findings, strict=True), key=lambda row: not row[1].silent)
        for place, finding in rows:
            mark = "*" if report.fixable(finding) else " "
            yield f"  {place:>{width}}  {finding.code} {mark} {finding.text}"
        yield ""


def _plain(text: str, style: str) -> str:
    return text


def _paint(text: str, style: str) -> str:
    number = {"bold": 1, "red": 31, "yellow": 33, "cyan": 36}[style]
    return f"\x1b[{number}m{text}\x1b[0m" if text else text


def _excerpt(file: ReportedFile, finding: Finding) -> Iterator[str]:
    lines, row = file.lines, finding.start.row
    if lines is None or finding.cell is not None or row > len(lines.starts):
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

"""Findings as JSON, with the field names of ruff's, so that what reads its output reads this."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainer_upgrade.codes import page_url
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.report.summary import Report, ReportedFile
from trainer_upgrade.sources.changes import cell_changes, edits_between
from trainer_upgrade.sources.text import LineIndex

__all__ = ["render", "render_lines"]


def render(report: Report) -> str:
    """Return a JSON list of what is left to do.

    ``silent``, ``consequence``, ``severity`` and a fix's ``imports`` are our own fields.
    """
    return json.dumps([_one(finding, file, report) for file, finding in report.left()], indent=2)


def render_lines(report: Report) -> str:
    """Return a JSON object a line."""
    return "\n".join(json.dumps(_one(finding, file, report)) for file, finding in report.left())


def _one(finding: Finding, file: ReportedFile, report: Report) -> dict[str, Any]:
    return {
        "cell": finding.cell,
        "code": finding.code,
        "consequence": finding.consequence or None,
        "end_location": {"column": finding.end.column, "row": finding.end.row},
        "filename": str(Path(finding.path).absolute()),
        "fix": _fix(finding, file.lines),
        "location": {"column": finding.start.column, "row": finding.start.row},
        "message": finding.text,
        "noqa_row": finding.start.row,
        "severity": str(finding.severity),
        "silent": finding.silent,
        "url": page_url(report.docs_url, finding.code),
    }


def _fix(finding: Finding, lines: LineIndex | None) -> dict[str, Any] | None:
    fix = finding.fix
    if fix is None or lines is None:
        return None
    imports = [{"module": each.module, "name": each.name, "asname": each.asname} for each in fix.imports]
    return {
        "applicability": str(fix.applicability),
        "edits": [_edit(edit, lines) for edit in fix.edits] if finding.cell is None else _cells(fix, lines),
        "imports": imports,
        "message": fix.message,
    }


def _edit(edit: Edit, lines: LineIndex) -> dict[str, Any]:
    (row, column), (end_row, end_column) = lines.place(edit.start), lines.place(edit.end)
    return {
        "content": edit.content,
        "end_location": {"column": end_column, "row": end_row},
        "location": {"column": column, "row": row},
    }


def _cells(fix: Fix, lines: LineIndex) -> list[dict[str, Any]]:
    """Return a notebook's edits as edits of its cells: places count in a cell, as those of findings do."""
    return [
        {"cell": change.number, **_edit(edit, LineIndex(change.before))}
        for change in cell_changes(lines.text, fix.edits)
        for edit in edits_between(change.before, change.after)
    ]

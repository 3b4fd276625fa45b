"""Findings as JSON, with the field names of ruff's, so that what reads its output reads this."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainer_upgrade.findings import Finding
from trainer_upgrade.report.summary import Report
from trainer_upgrade.sources.text import LineIndex

__all__ = ["render", "render_lines"]


def render(report: Report) -> str:
    """Return a JSON list of what is left to do.

    ``silent``, ``consequence``, ``severity`` and a fix's ``imports`` are our own fields.
    """
    return json.dumps([_one(finding, file.lines) for file, finding in report.left()], indent=2)


def render_lines(report: Report) -> str:
    """Return a JSON object a line."""
    return "\n".join(json.dumps(_one(finding, file.lines)) for file, finding in report.left())


def _one(finding: Finding, lines: LineIndex | None) -> dict[str, Any]:
    return {
        "cell": finding.cell,
        "code": finding.code,
        "consequence": finding.consequence or None,
        "end_location": {"column": finding.end.column, "row": finding.end.row},
        "filename": str(Path(finding.path).absolute()),
        "fix": _fix(finding, lines),
        "location": {"column": finding.start.column, "row": finding.start.row},
        "message": finding.text,
        "noqa_row": finding.start.row,
        "severity": str(finding.severity),
        "silent": finding.silent,
        "url": None,
    }


def _fix(finding: Finding, lines: LineIndex | None) -> dict[str, Any] | None:
    fix = finding.fix
    if fix is None or lines is None:
        return None
    edits = []
    for edit in fix.edits:
        (row, column), (end_row, end_column) = lines.place(edit.start), lines.place(edit.end)
        edits.append(
            {
                "content": edit.content,
                "end_location": {"column": end_column, "row": end_row},
                "location": {"column": column, "row": row},
            }
        )
    imports = [{"module": each.module, "name": each.name, "asname": each.asname} for each in fix.imports]
    return {
        "applicability": str(fix.applicability),
        "edits": edits,
        "imports": imports,
        "message": fix.message,
    }

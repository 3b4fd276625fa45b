"""Findings as SARIF 2.1.0 (OASIS), which code hosts and editors read; fixes are exact replacements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainer_upgrade import __version__
from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.report.fingerprints import digests, relative
from trainer_upgrade.report.summary import TROUBLE, Report, ReportedFile

__all__ = ["render"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report) -> str:
    """Return a SARIF log of what is left to do. Columns count characters."""
    root = Path.cwd()
    codes = sorted({finding.code for _, finding in report.left()})
    failed = any(finding.code in ("TRU001", "TRU003") for _, finding in report.left())
    run = {
        "tool": {
            "driver": {
                "name": "trainer-upgrade",
                "version": __version__,
                "informationUri": "https://pypi.org/project/relight/",
                "rules": [_rule(code, report.docs_url) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri().rstrip("/") + "/"}},
        "invocations": [{"executionSuccessful": not failed}],
        "results": [
            _result(finding, file, codes.index(finding.code), digest, root)
            for digest, (file, finding) in zip(digests(report, root), report.left(), strict=True)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str, docs_url: str) -> dict[str, Any]:
    from trainer_upgrade import catalogue
    from trainer_upgrade.catalogue.consequences import consequence
    from trainer_upgrade.codes import OWN_CODES, explain, page_url

    found = catalogue.by_code(code)
    short = OWN_CODES.get(code) or (found[0].advice if found else code)
    rule: dict[str, Any] = {
        "id": code,
        "name": code,
        "shortDescription": {"text": short},
        "help": {"text": "\n".join(list(explain(code))[:200]) if found or code in OWN_CODES else short},
        "defaultConfiguration": {"level": "error" if code in ("TRU001", "TRU003") else "warning"},
    }
    url = page_url(docs_url, code)
    if url is not None:
        rule["helpUri"] = url
    silent = [each for each in found if each.silent]
    tags = [str(found[0].area)] if found else ["tool"]
    if silent:
        tags.append("silent")
        rule["fullDescription"] = {"text": f"{short}. Silent: {consequence(silent[0])}."}
    rule["properties"] = {"tags": tags}
    return rule


def _result(finding: Finding, file: ReportedFile, index: int, digest: str, root: Path) -> dict[str, Any]:
    error = finding.code in TROUBLE or finding.severity is Severity.ERROR
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(finding.path, root)},
    }
    if finding.cell is None:
        location["physicalLocation"]["region"] = _region(finding)
    else:
        row, column = finding.start.row, finding.start.column
        location["message"] = {"text": f"cell {finding.cell}, row {row}, column {column}"}
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": "error" if error else "warning",
        "message": {"text": finding.text},
        "locations": [location],
        "partialFingerprints": {"trainerUpgrade/v1": digest},
        "properties": {"silent": finding.silent, "applicability": str(finding.applicability)},
    }
    if finding.silent:
        result["properties"]["consequence"] = finding.consequence
    fix = _fix(finding, file, root)
    if fix is not None:
        result["fixes"] = [fix]
    return result


def _artifact(path: Path, root: Path) -> dict[str, str]:
    name = relative(path, root)
    if name.startswith("../"):
        return {"uri": Path(path).absolute().as_uri()}
    return {"uri": quote(name), "uriBaseId": "SRCROOT"}


def _region(finding: Finding) -> dict[str, int]:
    region = {"startLine": finding.start.row, "startColumn": finding.start.column}
    if finding.end > finding.start:
        region |= {"endLine": finding.end.row, "endColumn": finding.end.column}
    return region


def _fix(finding: Finding, file: ReportedFile, root: Path) -> dict[str, Any] | None:
    fix, lines = finding.fix, file.lines
    # An import is put in its place when the fix is made; a part of a fix is none.
    if fix is None or lines is None or not fix.edits or fix.imports:
        return None
    replacements = []
    for edit in fix.edits:
        (row, column), (end_row, end_column) = lines.place(edit.start), lines.place(edit.end)
        replacements.append(
            {
                "deletedRegion": {
                    "startLine": row,
                    "startColumn": column,
                    "endLine": end_row,
                    "endColumn": end_column,
                },
                "insertedContent": {"text": edit.content},
            }
        )
    return {
        "description": {"text": f"{fix.message} ({fix.applicability})"},
        "artifactChanges": [
            {"artifactLocation": _artifact(finding.path, root), "replacements": replacements}
        ],
    }

"""Findings for the machines that run checks: GitHub, GitLab, JUnit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.report.fingerprints import digests, relative
from trainer_upgrade.report.summary import TROUBLE, Report
from trainer_upgrade.report.text import place_of

__all__ = ["github", "gitlab", "junit"]


def github(report: Report) -> Iterator[str]:
    """Yield workflow commands, which GitHub shows beside the lines of a pull request.

    https://docs.github.com/actions/reference/workflow-commands-for-github-actions: in a property ``%``, line
    ends, ``:`` and ``,`` are escaped, in the text ``%`` and line ends.
    """
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    for _, finding in report.left():
        level = finding.severity if finding.code not in TROUBLE else Severity.ERROR
        properties = {"title": f"trainer-upgrade ({finding.code})", "file": relative(finding.path, root)}
        text = f"{finding.code} {finding.text}"
        if finding.cell is None:
            properties |= {"line": str(finding.start.row), "col": str(finding.start.column)}
            # Columns are only taken within one line.
            properties["endLine"] = str(finding.end.row)
            if finding.end.row == finding.start.row:
                properties["endColumn"] = str(finding.end.column)
            else:
                del properties["col"]
        else:
            text = f"{place_of(finding)}: {text}"
        listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        yield f"::{level} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(report: Report) -> str:
    """Return a code quality report: the fields that GitLab reads of the Code Climate format."""
    root = Path(os.environ.get("CI_PROJECT_DIR") or Path.cwd())
    rows = []
    for digest, (_, finding) in zip(digests(report, root), report.left(), strict=True):
        begin, end = (1, 1) if finding.cell is not None else (finding.start.row, finding.end.row)
        rows.append(
            {
                "check_name": finding.code,
                "description": f"{finding.code} {finding.text}"
                if finding.cell is None
                else f"{finding.code} {place_of(finding)} {finding.text}",
                "fingerprint": digest,
                "severity": _gitlab_severity(finding),
                "location": {
                    "path": relative(finding.path, root),
                    "lines": {"begin": begin, "end": max(begin, end)},
                },
            }
        )
    return json.dumps(rows, indent=2)


def _gitlab_severity(finding: Finding) -> str:
    if finding.code in TROUBLE:
        return "blocker" if finding.code != "TRU004" else "major"
    if finding.silent:
        return "critical"
    return "major" if finding.severity is Severity.ERROR else "minor"


def junit(report: Report) -> str:
    """Return JUnit XML: a suite a file, a failed case a finding; a file without any is a case that passes."""
    root = Path.cwd()
    found = {file.path: file.findings for file in report.files}
    suites: list[str] = []
    failures = errors = tests = 0
    for path in report.looked:
        findings = found.get(path, [])
        name = quoteattr(_xml(relative(path, root)))
        cases = []
        broken = 0
        for each in findings:
            tag = "error" if each.code in TROUBLE else "failure"
            broken += tag == "error"
            title = quoteattr(_xml(f"{each.code} {place_of(each)}"))
            message = quoteattr(_xml(each.text))
            body = escape(_xml(f"{relative(path, root)}:{place_of(each)}: {each.code} {each.text}"))
            line = f' line="{each.start.row}"' if each.cell is None else ""
            cases.append(
                f'    <testcase name={title} classname={name} file={name}{line} time="0">\n'
                f'      <{tag} type="{each.code}" message={message}>{body}</{tag}>\n    </testcase>'
            )
        if not cases:
            cases = [f'    <testcase name="trainer-upgrade" classname={name} file={name} time="0"/>']
        tests += len(cases)
        errors += broken
        failures += len(findings) - broken
        suites.append(
            f'  <testsuite name={name} tests="{len(cases)}" failures="{len(findings) - broken}" '
            f'errors="{broken}" skipped="0" time="0">\n' + "\n".join(cases) + "\n  </testsuite>"
        )
    numbers = f'tests="{tests}" failures="{failures}" errors="{errors}"'
    head = f'<testsuites name="trainer-upgrade" {numbers} time="0">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>"])


# What no XML may hold.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    return _NOT_XML.sub("?", text)

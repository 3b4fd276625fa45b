"""What a finding is known by when lines move: its code, its file, the text of its line, which of several."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path

from trainer_upgrade.findings import Finding
from trainer_upgrade.report.summary import Report, ReportedFile

__all__ = ["Key", "digests", "key_of", "relative"]

# Path, code, and the text of the line without its indentation and with single blanks.
Key = tuple[str, str, str]


def relative(path: Path, root: Path) -> str:
    """Return a path seen from a directory, with slashes; what lies outside of it begins with ``..``."""
    try:
        return Path(os.path.relpath(os.path.abspath(path), os.path.abspath(root))).as_posix()
    except ValueError:  # on another drive
        return Path(path).absolute().as_posix()


def key_of(finding: Finding, file: ReportedFile, root: Path) -> Key:
    """Return what a finding is known by."""
    line = finding.message
    lines = file.lines
    if lines is not None and finding.cell is None and finding.start.row <= len(lines.starts):
        line = " ".join(lines.line(finding.start.row).split())
    return relative(finding.path, root), finding.code, line


def digests(report: Report, root: Path) -> list[str]:
    """Return a digest for each finding that is left, in their order; no two are equal."""
    seen: Counter[Key] = Counter()
    found = []
    for file, finding in report.left():
        key = key_of(finding, file, root)
        seen[key] += 1
        text = "\0".join((*key, str(seen[key])))
        found.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return found

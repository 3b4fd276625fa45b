"""Findings that are known: only what is new counts, and the number may only go down.

A finding is known by its code, its file and the text of its line, so that it stays known when lines move; of
several equal ones as many are known as there were.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_upgrade.errors import UsageError
from trainer_upgrade.findings import Finding
from trainer_upgrade.report.fingerprints import Key, key_of, relative
from trainer_upgrade.report.summary import TROUBLE, Report, ReportedFile
from trainer_upgrade.sources.files import write_atomically

__all__ = ["Baseline", "Compared"]

_VERSION = 1


@dataclass(frozen=True)
class Compared:
    """What became of the findings that are known.

    Attributes:
        known: How many of those found are known.
        gone: The known ones that are no longer there.
    """

    known: int
    gone: Counter[Key]


class Baseline:
    """A file of known findings; paths in it are relative to its directory."""

    def __init__(self, path: Path, counts: Counter[Key]) -> None:
        """Hold counts of findings."""
        self.path = path
        self.counts = counts

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read a file.

        Raises:
            UsageError: It cannot be read, or is no such file.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
        except ValueError as error:
            raise UsageError(f"{path}: is no baseline: {error}") from error
        try:
            if data["version"] != _VERSION:
                raise UsageError(f"{path}: is a baseline of version {data['version']}, not {_VERSION}")
            counts = Counter(
                {
                    (name, each["code"], each["line"]): int(each["count"])
                    for name, listed in data["findings"].items()
                    for each in listed
                }
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path}: is no baseline of trainer-upgrade") from error
        return cls(path, counts)

    @classmethod
    def of(cls, path: Path, report: Report) -> Baseline:
        """Take all findings of a report as known."""
        root = path.absolute().parent
        return cls(path, Counter(key_of(each, file, root) for file, each in report.left() if _counts(each)))

    def take_out(self, report: Report, wants: Callable[[str], bool] = lambda code: True) -> Compared:
        """Take the known findings out of a report; what is left there is new.

        Args:
            report: The report; known findings of files that it did not look at are not missed.
            wants: Says whether a code was looked for.
        """
        root = self.path.absolute().parent
        available = self.counts.copy()
        known = 0
        for file in report.files:
            new = [each for each in file.findings if not self._known(each, file, root, available)]
            known += len(file.findings) - len(new)
            file.findings = new
        looked = {relative(path, root) for path in report.looked}
        gone = {
            key: count
            for key, count in available.items()
            if count > 0 and wants(key[1]) and (key[0] in looked or not (root / key[0]).exists())
        }
        return Compared(known, Counter(gone))

    def lower(self, gone: Counter[Key]) -> None:
        """Forget findings that are no longer there."""
        self.counts -= gone

    def _known(self, finding: Finding, file: ReportedFile, root: Path, available: Counter[Key]) -> bool:
        key = key_of(finding, file, root)
        if not _counts(finding) or not available[key]:
            return False
        available[key] -= 1
        return True

    def write(self) -> None:
        """Write the file; sorted, a finding a line, so that a change reads well in a review.

        Raises:
            UsageError: It cannot be written.
        """
        findings: dict[str, list[dict[str, Any]]] = {}
        for (name, code, line), count in sorted(self.counts.items()):
            if count > 0:
                findings.setdefault(name, []).append({"code": code, "count": count, "line": line})
        lines = [f'{{\n  "version": {_VERSION},\n  "findings": {{']
        for position, (name, listed) in enumerate(findings.items()):
            lines.append(f"    {json.dumps(name, ensure_ascii=False)}: [")
            rows = [f"      {json.dumps(each, ensure_ascii=False)}" for each in listed]
            lines.append(",\n".join(rows))
            lines.append("    ]" + ("," if position < len(findings) - 1 else ""))
        text = "\n".join([*lines, "  }", "}"]) + "\n"
        try:
            if self.path.exists():
                write_atomically(self.path, text.encode("utf-8", "backslashreplace"))
            else:
                self.path.write_bytes(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error.strerror or error}") from error


def _counts(finding: Finding) -> bool:
    return finding.code not in TROUBLE

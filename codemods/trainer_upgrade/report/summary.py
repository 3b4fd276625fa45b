"""What all ways of showing findings share: what was found and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.sources.text import LineIndex

__all__ = ["Report", "ReportedFile"]

# Findings about a file, not about code in it.
TROUBLE = ("TRU001", "TRU003", "TRU004")


@dataclass(slots=True)
class ReportedFile:
    """A file with something to tell.

    Attributes:
        path: As it was given.
        findings: What is left.
        fixed: What was put right.
        lines: The text that the places of ``findings`` are in; ``None`` if it could not be read.
        changed: Whether the file was, or would be, rewritten.
    """

    path: Path
    findings: list[Finding]
    fixed: list[Finding] = field(default_factory=list)
    lines: LineIndex | None = None
    changed: bool = False


@dataclass(slots=True)
class Report:
    """What a run found.

    Attributes:
        files: Files with something to tell, sorted.
        looked: The files that were looked at.
        unsafe: Whether unsafe fixes were asked for.
        fixing: Whether files were rewritten.
        installs: What the project says of the Lightning it installs, each way it says so.
        target: Where the code is to run.
        known: How many findings a baseline took out.
        docs_url: Where the docs site stands; empty: nowhere.
        pins: Gives ``installs`` of a file's project, where no release was asked for.
    """

    files: list[ReportedFile] = field(default_factory=list)
    looked: Sequence[Path] = ()
    unsafe: bool = False
    fixing: bool = True
    installs: tuple[str, ...] = ()
    target: str = ""
    known: int = 0
    docs_url: str = ""
    pins: Callable[[Path], list[str]] | None = None

    @property
    def seen(self) -> int:
        """How many files were looked at."""
        return len(self.looked)

    def left(self) -> Iterable[tuple[ReportedFile, Finding]]:
        """Yield what is left to do, with its file."""
        for file in self.files:
            for finding in file.findings:
                yield file, finding

    def fixable(self, finding: Finding) -> bool:
        """Whether a run with the same options would put a finding right."""
        safe = finding.applicability is Applicability.SAFE
        return safe or (self.unsafe and finding.applicability is Applicability.UNSAFE)

    def summary(self) -> str:
        """Say it in one line."""
        left = [finding for _, finding in self.left()]
        trouble = [each for each in left if each.code in TROUBLE]
        real = [each for each in left if each.code not in TROUBLE]
        fixed = sum(len(file.fixed) for file in self.files)
        total = fixed + len(real)
        parts = []
        # First what no error will tell.
        silent = sum(each.silent for each in real)
        if silent:
            parts.append(f"{silent} silent")
        if fixed:
            parts.append(f"{fixed} {'fixed' if self.fixing else 'would be fixed'}")
        can = sum(self.fixable(each) for each in real)
        if can:
            parts.append(f"{can} fixable")
        unsafe = sum(each.applicability is Applicability.UNSAFE for each in real) if not self.unsafe else 0
        if unsafe:
            parts.append(f"{unsafe} {_verb(unsafe, 'needs', 'need')} --unsafe-fixes")
        manual = len(real) - can - unsafe
        if manual:
            parts.append(f"{manual} by hand")
        changed = sum(file.changed for file in self.files)
        text = f"Found {_count(total, 'finding')}" if total else "Nothing to upgrade"
        if parts:
            text += f" ({', '.join(parts)})"
        text += f" in {_count(self.seen, 'file')}"
        if changed:
            text += f"; {changed} rewritten" if self.fixing else f"; {changed} would be rewritten"
        text += "."
        if self.known:
            verb = _verb(self.known, "is", "are")
            text += f" {_count(self.known, 'finding')} of the baseline {verb} not shown."
        if trouble:
            text += f" {_count(len(trouble), 'problem')} with files or fixes (see above)."
        return text

    def pinned(self) -> tuple[str, ...]:
        """Return what is said of the Lightning that the projects of the files with findings install."""
        if self.installs or self.pins is None:
            return self.installs
        listed = (pin for file in self.files if file.findings for pin in self.pins(file.path))
        return tuple(dict.fromkeys(listed))[:3]

    def severities(self) -> str:
        """Say how many findings the pinned release has lost already; empty without a pin or a finding."""
        real = [finding for _, finding in self.left() if finding.code not in TROUBLE]
        told = self.pinned()
        if not told or not real:
            return ""
        errors = sum(each.severity is Severity.ERROR for each in real)
        warnings = len(real) - errors
        return (
            f"With {' and '.join(told)}: {_count(errors, 'error')} (gone already), "
            f"{_count(warnings, 'warning')}."
        )

    def statistics(self) -> list[tuple[int, str, int, str]]:
        """Count findings by code, silent ones first: number, code, how many of them fixed, an example."""
        counts: Counter[str] = Counter()
        fixed: Counter[str] = Counter()
        messages: dict[str, str] = {}
        silent: set[str] = set()
        for file in self.files:
            for finding in (*file.findings, *file.fixed):
                counts[finding.code] += 1
                messages.setdefault(finding.code, finding.text)
                silent.update([finding.code] if finding.silent else [])
            for finding in file.fixed:
                fixed[finding.code] += 1
        order = sorted(counts, key=lambda code: (code not in silent, -counts[code], code))
        return [(counts[code], code, fixed[code], messages[code]) for code in order]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _verb(number: int, one: str, many: str) -> str:
    return one if number == 1 else many

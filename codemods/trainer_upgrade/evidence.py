"""What a run under compat saw (``RELIGHT_COMPAT_LOG``), as findings where reading the code says nothing.

An argument that comes out of a ``**cfg``, an attribute that a ``getattr`` names: the code does not show
them, the run does. Each line of the log is a JSON object with ``code``, ``file``, ``line``, ``item``,
``message`` and ``types``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from trainer_upgrade import catalogue
from trainer_upgrade.engine import FileResult, Options
from trainer_upgrade.errors import UsageError
from trainer_upgrade.findings import Finding, Location
from trainer_upgrade.sources.suppress import Suppressions
from trainer_upgrade.sources.text import LineIndex, decode

__all__ = ["Evidence", "Seen", "read"]

# How far, in lines, a finding of the same code may stand from where a run saw the use.
_NEAR = 30


@dataclass(frozen=True, slots=True)
class Seen:
    """One legacy use that a run saw."""

    code: str
    file: str
    line: int
    item: str
    message: str


@dataclass(slots=True)
class Evidence:
    """What the logs hold, and what could not be used of them.

    Attributes:
        seen: The uses, each once.
        notes: One line for each that could not be used.
    """

    seen: tuple[Seen, ...]
    notes: list[str] = field(default_factory=list)

    def add_to(self, results: Iterable[FileResult], options: Options) -> None:
        """Add findings to the results of a check, where the check itself has none."""
        by_path = {result.path.resolve(): result for result in results}
        for path, uses in self._by_file(by_path).items():
            result = by_path[path]
            try:
                text = decode(path.read_bytes()).text
            except (OSError, UnicodeDecodeError, SyntaxError, LookupError) as error:
                self.notes.append(f"{result.path}: cannot be read: {error}")
                continue
            lines = LineIndex(text)
            off = Suppressions(text, lines, noqa=options.noqa)
            ignored = options.ignored_there(path)
            rows = text.count("\n") + 1
            for each in uses:
                if each.line > rows:
                    self.notes.append(f"{result.path}:{each.line}: the file has changed since it was run")
                elif not _known(each, result.findings) and not off.off(each.code, each.line, each.line):
                    finding = _finding(each, result.path, text)
                    if options.wants(each.code, silent=finding.silent) and not each.code.startswith(ignored):
                        result.findings.append(finding)
            result.findings.sort(key=lambda finding: (finding.start, finding.code))

    def _by_file(self, known: dict[Path, FileResult]) -> dict[Path, list[Seen]]:
        found: dict[Path, list[Seen]] = {}
        missing = set()
        for each in self.seen:
            path = _match(each.file, known)
            if path is None:
                missing.add(each.file)
            else:
                found.setdefault(path, []).append(each)
        self.notes += [f"{file}: not among the files looked at" for file in sorted(missing)]
        return found


def read(paths: Iterable[Path]) -> Evidence:
    """Read logs.

    Raises:
        UsageError: A file cannot be read, or none of its lines is one of such a log.
    """
    evidence = Evidence(())
    seen: dict[Seen, None] = {}
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise UsageError(f"--evidence {path}: {error.strerror or error}") from error
        good = 0
        for row, line in enumerate(lines, 1):
            if not line.strip():
                continue
            found = _seen(line)
            if found is None:
                evidence.notes.append(f"{path}:{row}: no line of a log of relight.compat")
            else:
                good += 1
                seen[found] = None
        if lines and not good:
            raise UsageError(f"--evidence {path}: this is no log of relight.compat (RELIGHT_COMPAT_LOG)")
    evidence.seen = tuple(seen)
    return evidence


def _seen(line: str) -> Seen | None:
    try:
        record = json.loads(line)
        code, file, row = record["code"], record["file"], record["line"]
        item, message = record.get("item", ""), record.get("message", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if not isinstance(code, str) or not isinstance(file, str) or not isinstance(row, int) or row < 1:
        return None
    return Seen(code, file, row, str(item), str(message)) if catalogue.by_code(code) else None


def _match(file: str, known: dict[Path, FileResult]) -> Path | None:
    """Find a file by its path, or, where the log comes from another machine, by the longest end of it."""
    path = Path(file)
    if path.resolve() in known:
        return path.resolve()
    parts = Path(file.replace("\\", "/")).parts
    for length in range(len(parts), 0, -1):
        ends = [each for each in known if each.parts[-length:] == parts[-length:]]
        if len(ends) == 1:
            return ends[0]
        if ends:
            return None  # several files of that name
    return None


def _known(seen: Seen, findings: Iterable[Finding]) -> bool:
    """Whether a check has found the use: the same code in the same statement, more or less."""
    return any(
        finding.code == seen.code
        and finding.start.row - _NEAR <= seen.line <= finding.end.row + _NEAR
        and (seen.item.rpartition(".")[2] in finding.message or abs(finding.start.row - seen.line) <= 1)
        for finding in findings
    )


def _finding(seen: Seen, path: Path, text: str) -> Finding:
    row = text.split("\n")[seen.line - 1]
    first = len(row) - len(row.lstrip()) + 1
    same = [entry for entry in catalogue.by_code(seen.code) if entry.name == seen.item.rpartition(".")[2]]
    entry = (same or list(catalogue.by_code(seen.code)))[0]
    message = f"{seen.message or entry.advice} (seen in a run, not in the code)"
    return Finding(
        seen.code,
        message,
        path,
        Location(seen.line, first),
        Location(seen.line, len(row) + 1),
        silent=False,
        removed_in=entry.removed_in,
    )

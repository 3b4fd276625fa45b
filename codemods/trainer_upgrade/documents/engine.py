"""Looks at files that are not Python modules and makes their fixes, pass by pass, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainer_upgrade.documents.document import BrokenDocumentError, Document, decode_document
from trainer_upgrade.findings import Edit, Finding, Fix, Location
from trainer_upgrade.project.index import Project
from trainer_upgrade.project.pins import NEWEST, judged
from trainer_upgrade.sources.kinds import Kind, kind_of, mentions
from trainer_upgrade.sources.suppress import Suppressions
from trainer_upgrade.sources.text import SourceText, apply_edits

if TYPE_CHECKING:
    from trainer_upgrade.engine import FileResult, Options

__all__ = ["DocumentEngine"]

SYNTAX_ERROR, UNREADABLE, NOT_APPLIED = "TRU001", "TRU003", "TRU004"
# A fix may wait for another on its line; each pass makes at least one.
_MAX_PASSES = 60
# Nobody writes a configuration of this size; a data set may well be one.
_LARGEST = {Kind.NOTEBOOK: 100_000_000}
_LARGEST_OTHER = 2_000_000


class DocumentEngine:
    """Runs the checkers over files of a project."""

    def __init__(self, project: Project, options: Options) -> None:
        """Run over a project's files."""
        self.project = project
        self.options = options
        self._rejected: set[tuple[Path, object]] = set()

    def in_order(self) -> tuple[Path, ...]:
        """Return the files, those last that follow what the others have become."""
        return tuple(
            sorted(self.project.documents, key=lambda path: (kind_of(path) is Kind.REQUIREMENTS, path))
        )

    def prepare(self) -> None:
        """Look at what the code uses, before it is upgraded."""
        if self.project.documents:
            from trainer_upgrade.documents.pins import needs_of

            needs_of(self.project, after=False)
        if self.project.documents:
            from trainer_upgrade.documents.config_index import index_of

            index_of(self.project)

    def check(self, path: Path, result: FileResult, *, fixing: bool = True) -> None:
        """Look at one file; what is found goes into the result."""
        source = self._read(path, result)
        if source is not None:
            self._look(path, source, result, fixing=fixing, after_upgrade=False)

    def upgrade(self, path: Path, result: FileResult) -> None:
        """Make all fixes that the options allow, in memory."""
        source = self._read(path, result)
        if source is None or not self._look(path, source, result, fixing=True, after_upgrade=True):
            return
        seen = {source.text}
        for _ in range(_MAX_PASSES):
            text = self._one_pass(path, source, result)
            if text is None:
                break
            result.after = source.encode(text)
            source = SourceText(text, source.encoding, source.bom)
            self.project.replace_document(path, result.after)
            if text in seen:
                self._unsettled(result)
                break
            seen.add(text)
            notes = [each for each in result.findings if each.code == NOT_APPLIED]
            if not self._look(path, source, result, fixing=True, after_upgrade=True):
                break
            result.findings.extend(notes)
        else:
            self._unsettled(result)

    # Inner works

    def _read(self, path: Path, result: FileResult) -> SourceText | None:
        kind = kind_of(path)
        assert kind is not None
        try:
            data = self.project.document(path, _LARGEST.get(kind, _LARGEST_OTHER))
        except OSError as error:
            result.failed = True
            result.findings = [_trouble(result, UNREADABLE, f"cannot be read: {error.strerror or error}")]
            return None
        if data is None or not mentions(kind, data):
            return None
        try:
            if b"\0" in data:
                raise BrokenDocumentError("the file has null bytes in it")
            source = decode_document(data)
        except (UnicodeDecodeError, BrokenDocumentError) as error:
            if b"ightning" in data:
                result.failed = True
                result.findings = [_trouble(result, SYNTAX_ERROR, f"cannot be decoded: {error}")]
            return None
        result.before = result.after = data
        return source

    def _look(
        self, path: Path, source: SourceText, result: FileResult, *, fixing: bool, after_upgrade: bool
    ) -> bool:
        """Run the checkers; returns whether the file could be read."""
        kind = kind_of(path)
        assert kind is not None
        options = self.options.flags | ({"strict"} if self.options.strict else set())
        options |= set() if after_upgrade else {"checking"}
        if not after_upgrade:
            options |= {"checking"}
        document = Document(
            path,
            kind,
            source,
            self.project,
            shown=result.path,
            options=frozenset(options),
            fixing=fixing,
            after_upgrade=after_upgrade,
        )
        try:
            result.findings = self._found(document)
        except BrokenDocumentError as error:
            if not _worth_telling(document):
                result.findings = []
                return False
            row, column = document.lines.place(min(error.offset, len(document.text)))
            result.failed = True
            result.findings = [_trouble(result, SYNTAX_ERROR, error.reason, row, column)]
            return False
        except Exception as error:
            if self.options.strict:
                raise
            result.failed = True
            message = f"{type(error).__name__}: {error}; the file is left as it was"
            result.findings = [_trouble(result, NOT_APPLIED, message)]
            result.fixed, result.after = [], result.before
            return False
        return True

    def _found(self, document: Document) -> list[Finding]:
        elsewhere = self.options.ignored_there(document.path)
        found = [
            each
            for each in _checker(document)(document)
            if self.options.wants(each.code, silent=each.silent) and not each.code.startswith(elsewhere)
        ]
        if not found:
            return []
        pins = self.project.pins(document.path.parent)
        installed = self.project.target_version or (pins[0].installs if pins else NEWEST)
        suppressions = Suppressions(document.text, document.lines, noqa=self.options.noqa)
        kept = {
            (each.cell or 0, each.start, each.code, each.message): judged(each, installed)
            for each in found
            if each.cell is not None or not suppressions.off(each.code, each.start.row, each.end.row)
        }
        return [kept[key] for key in sorted(kept)]

    def _one_pass(self, path: Path, source: SourceText, result: FileResult) -> str | None:
        chosen: dict[Fix, list[Finding]] = {}
        taken: list[Edit] = []
        for finding in result.findings:
            fix = finding.fix
            if fix is None or not self.options.applies(fix) or self._key(path, finding) in self._rejected:
                continue
            if fix in chosen:
                chosen[fix].append(finding)
            elif not any(_touch(edit, other) for edit in fix.edits for other in taken):
                chosen[fix] = [finding]
                taken.extend(fix.edits)
        if not chosen:
            return None
        made = list(chosen)
        text = self._applied(path, source.text, made)
        if text is None:
            made, text = [], source.text
            for fix, findings in chosen.items():
                attempt = self._applied(path, source.text, [*made, fix])
                if attempt is not None:
                    made.append(fix)
                    text = attempt
                elif not made or self._applied(path, source.text, [fix]) is None:
                    self._reject(path, result, findings, "the file could not be read after it")
        if text == source.text:
            for fix in made:
                self._reject(path, result, chosen[fix], "it changes nothing")
            return None
        for fix in made:
            result.fixed.extend(chosen[fix])
        return text

    def _applied(self, path: Path, text: str, fixes: list[Fix]) -> str | None:
        try:
            new = apply_edits(text, [edit for fix in fixes for edit in fix.edits])
        except ValueError:
            return None
        return new if _error(path, new) is None else None

    def _key(self, path: Path, finding: Finding) -> tuple[Path, object]:
        fix = finding.fix
        assert fix is not None
        return path, (finding.code, fix.message, tuple(edit.content for edit in fix.edits))

    def _reject(self, path: Path, result: FileResult, findings: list[Finding], why: str) -> None:
        for finding in findings:
            self._rejected.add(self._key(path, finding))
            message = f"the fix of {finding.code} was not applied: {why}"
            result.findings.append(replace(finding, code=NOT_APPLIED, message=message, fix=None))

    def _unsettled(self, result: FileResult) -> None:
        message = "fixes of this file do not come to an end; what is done so far is kept, run again and check"
        result.findings.append(_trouble(result, NOT_APPLIED, message))


Checker = Callable[[Document], Iterator[Finding]]


def _checker(document: Document) -> Checker:
    """Return what looks at a kind of file."""
    if document.kind is Kind.NOTEBOOK:
        from trainer_upgrade.documents.notebooks import check_notebook

        return check_notebook
    if document.kind is Kind.CONFIG:
        from trainer_upgrade.documents.configs import check_config

        return check_config
    if document.kind is Kind.REQUIREMENTS:
        from trainer_upgrade.documents.requirement_files import check_requirements

        return check_requirements
    if document.kind is Kind.DOCS:
        from trainer_upgrade.documents.docs import check_docs

        return check_docs
    from trainer_upgrade.documents.commands import check_script

    return check_script


def _error(path: Path, text: str) -> str | None:
    """Return why a text cannot be what the file's name says, or ``None``."""
    if kind_of(path) is Kind.NOTEBOOK:
        from trainer_upgrade.documents.notebooks import notebook_error

        return notebook_error(text)
    if kind_of(path) is Kind.CONFIG or path.suffix.lower() in (".yaml", ".yml", ".toml"):
        from trainer_upgrade.documents.configs import config_error

        return config_error(text, path.suffix)
    return None


def _worth_telling(document: Document) -> bool:
    """Whether a file that cannot be parsed has to do with Lightning (templates of other tools have not)."""
    return "ightning" in document.text


def _trouble(result: FileResult, code: str, message: str, row: int = 1, column: int = 1) -> Finding:
    place = Location(row, column)
    return Finding(code, message, result.path, place, place)


def _touch(one: Edit, other: Edit) -> bool:
    if one.start == other.start:
        return True
    return one.start < other.end and other.start < one.end

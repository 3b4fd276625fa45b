"""Runs the rules over a project and makes the fixes.

All files are looked at before any is changed. In each pass the fixes that do not touch each other are made in
memory, the result is compiled, and the rules run again on the new text; only when nothing changes any more
is anything written, each file whole. A fix after which a file does not compile is taken back and reported.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.documents.document import decode_document
from trainer_upgrade.documents.engine import DocumentEngine
from trainer_upgrade.findings import Edit, Finding, Fix, Location
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.index import Project
from trainer_upgrade.project.module import Module
from trainer_upgrade.rules import load
from trainer_upgrade.rules.registry import Rule, RuleError, run_rules
from trainer_upgrade.sources.annotate import MARK, annotate
from trainer_upgrade.sources.files import write_atomically
from trainer_upgrade.sources.imports import add_imports, remove_imports
from trainer_upgrade.sources.kinds import Kind, kind_of
from trainer_upgrade.sources.patterns import fits
from trainer_upgrade.sources.suppress import UNUSED, Suppressions, may_suppress
from trainer_upgrade.sources.text import LineIndex, SourceText, apply_edits

__all__ = ["MAX_PASSES", "Engine", "FileResult", "Options", "PathCodes", "check_file", "display_paths"]

MAX_PASSES = 10
SYNTAX_ERROR, UNREADABLE, NOT_APPLIED = "TRU001", "TRU003", "TRU004"
# What the pin does not have yet is a matter of checks: an upgrade leads there.
TOO_NEW = "TRU942"
# What stands for all findings that no error tells about, where codes are given.
SILENT = "SILENT"


@dataclass(frozen=True, slots=True)
class PathCodes:
    """Codes not to report in the files that a pattern fits.

    Attributes:
        root: The directory that the pattern is relative to.
        pattern: ``tests/*``, ``**/legacy/*.py``: as in ``.gitignore``; a name alone fits at any depth.
        codes: Codes, or their begin.
    """

    root: Path
    pattern: str
    codes: tuple[str, ...]

    def matches(self, path: Path) -> bool:
        """Whether the pattern fits a file."""
        return fits(path, self.root, (self.pattern,))


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for.

    Attributes:
        unsafe: Whether unsafe fixes are made.
        select: Codes (or the begin of codes) to report; empty for all.
        ignore: Codes (or the begin of codes) not to report.
        pin_defaults: Whether defaults that changed are written out.
        strict: Whether a rule that raises ends the run (for tests); else the file is left as it is.
        per_file_ignores: Codes not to report in some files.
        noqa: Whether ``# noqa`` counts.
        annotate: Whether an upgrade marks what is left with comments.
    """

    unsafe: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pin_defaults: bool = False
    strict: bool = False
    per_file_ignores: tuple[PathCodes, ...] = ()
    noqa: bool = True
    annotate: bool = False

    def wants(self, code: str, *, silent: bool = False) -> bool:
        """Whether a code is reported: the longest of the codes given that fits decides.

        ``SILENT`` among them stands for every finding of the kind, whatever its code; a code is more exact.
        """
        selected = self._length(self.select, code, silent, default=-1 if self.select else 0)
        return selected >= 0 and selected > self._length(self.ignore, code, silent, default=-1)

    @staticmethod
    def _length(given: tuple[str, ...], code: str, silent: bool, *, default: int) -> int:
        lengths = [len(each) for each in given if code.startswith(each)]
        # As exact as the prefix TRU: any longer code decides against it.
        lengths += [len("TRU") for each in given if each == SILENT and silent]
        return max(lengths, default=default)

    def ignored_there(self, path: Path) -> tuple[str, ...]:
        """Return the codes that are not reported in a file, because of where it lies."""
        return tuple(code for each in self.per_file_ignores if each.matches(path) for code in each.codes)

    def applies(self, fix: Fix | None) -> bool:
        """Whether a fix is made."""
        if fix is None:
            return False
        return fix.applicability is Applicability.SAFE or (
            self.unsafe and fix.applicability is Applicability.UNSAFE
        )

    @property
    def flags(self) -> frozenset[str]:
        """What rules may ask for."""
        given = {"pin_defaults": self.pin_defaults, "unsafe": self.unsafe}
        return frozenset(name for name, on in given.items() if on)


@dataclass(slots=True)
class FileResult:
    """What became of one file.

    Attributes:
        path: The file, as it was given.
        findings: What is left to do, in the order of the text (of the new text, if there is one).
        fixed: What was put right, with places in the text it was found in.
        before: The bytes read (empty for a file that has nothing to do with Lightning).
        after: The bytes to write; ``before`` itself if nothing changed.
        failed: The file could not be read, parsed or written, or a rule failed on it.
    """

    path: Path
    findings: list[Finding] = field(default_factory=list)
    fixed: list[Finding] = field(default_factory=list)
    before: bytes = b""
    after: bytes = b""
    failed: bool = False

    @property
    def changed(self) -> bool:
        """Whether the file has new contents."""
        return self.before != self.after


def check_file(
    file: FileContext, options: Options | None = None, rules: Sequence[Rule] | None = None
) -> list[Finding]:
    """Run rules (all, by default) over one file, without what comments, version checks or options exclude.

    Returns:
        The findings in the order of the text, each once.

    Raises:
        RuleError: A rule raised.
    """
    options = options or Options()
    judged = rules is None  # some rules alone do not say which comments are in vain
    if rules is None:
        load()
    found = list(run_rules(file, rules))
    suppressions = Suppressions(file.source, file.module.lines, noqa=options.noqa)
    found = [each for each in found if not file.kept_on_purpose(each.start)]
    found = [each for each in found if not suppressions.off(each.code, each.start.row, each.end.row)]
    if judged:
        found += _unused(file, suppressions)
    if "checking" not in file.options:
        found = [each for each in found if each.code != TOO_NEW]
    elsewhere = options.ignored_there(file.module.path)
    kept = {
        (each.start, each.code, each.message): file.judged(each)
        for each in found
        if options.wants(each.code, silent=each.silent) and not each.code.startswith(elsewhere)
    }
    return [kept[key] for key in sorted(kept)]


def _unused(file: FileContext, suppressions: Suppressions) -> Iterator[Finding]:
    """Yield a finding for each comment that switches nothing off."""
    lines = file.module.lines
    for directive, codes, edit in suppressions.unused():
        if suppressions.quiet(directive):
            continue
        what = ", ".join(f"`{code}`" for code in codes)
        message = f"`{directive.name}` switches nothing off" + (f" by {what}" if what else "") + ": remove it"
        fix = Fix(Applicability.SAFE, f"remove {what or 'the comment'}", (edit,)) if file.fixing else None
        places = Location(*lines.place(directive.start)), Location(*lines.place(directive.end))
        yield Finding(UNUSED, message, file.path, *places, fix)


class Engine:
    """Runs rules over the files of a project."""

    def __init__(
        self,
        project: Project,
        options: Options | None = None,
        *,
        display: dict[Path, Path] | None = None,
        rules: Sequence[Rule] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Run over a project's files.

        Args:
            project: The files and what they mean.
            options: What the user asked for.
            display: How findings name a file, where that is not its absolute path.
            rules: The rules to run; all by default.
            progress: Told after each file that was looked at first: how many are done, of how many.
        """
        self._progress = progress or (lambda done, of: None)
        self.project = project
        self.options = options or Options()
        self._display = display or {}
        self._rules = rules
        # Fixes that broke a file: never tried again.
        self._rejected: set[tuple[Path, object]] = set()
        self._documents = DocumentEngine(project, self.options)

    def check(self, *, fixing: bool = True) -> Iterator[FileResult]:
        """Look at every file, changing nothing.

        Args:
            fixing: Whether findings say how they would be fixed (needs libcst).
        """
        files, documents = self.project.files, self.project.documents
        for done, path in enumerate(files, 1):
            result = FileResult(self._shown(path))
            self._look(path, result, fixing=fixing, flags=frozenset({"checking"}))
            self._progress(done, len(files) + len(documents))
            yield result
        for done, path in enumerate(documents, len(files) + 1):
            self._progress(done, len(files) + len(documents))
            result = FileResult(self._shown(path))
            self._documents.check(path, result, fixing=fixing)
            yield result

    def upgrade(self) -> list[FileResult]:
        """Make all fixes that the options allow, in memory; :meth:`write` puts them on disk."""
        self._documents.prepare()
        results = {path: FileResult(self._shown(path)) for path in self.project.files}
        left = []
        for done, (path, result) in enumerate(results.items(), 1):
            if self._look(path, result):
                left.append(path)
            self._progress(done, len(results) + len(self.project.documents))
        left = [path for path in left if self._sound(path, results[path])]
        seen: dict[Path, set[bytes]] = {path: {results[path].before} for path in left}
        for _ in range(MAX_PASSES):
            changes: dict[Path, bytes] = {}
            for path in left:
                new = self._one_pass(path, results[path])
                if new is not None:
                    changes[path] = new
            if not changes:
                break
            for path, data in changes.items():
                results[path].after = data
                self.project.replace(path, data)
                if data in seen[path]:
                    # Two fixes undo each other: stop here rather than go round.
                    self._unsettled(path, results[path])
                    seen[path] = set()
                else:
                    seen[path].add(data)
            for path in left:
                if seen[path]:
                    self._look(path, results[path], again=True)
            left = [path for path in left if seen[path]]
        else:
            for path in left:
                if any(self._may(path, finding) for finding in results[path].findings):
                    self._unsettled(path, results[path])
        if self.options.annotate:
            for path in self.project.files:
                self._annotate(path, results[path])
        # Last, as they follow what the code has become.
        for path in self._documents.in_order():
            results[path] = FileResult(self._shown(path))
            self._documents.upgrade(path, results[path])
        return list(results.values())

    def _annotate(self, path: Path, result: FileResult) -> None:
        """Mark what is left in a file with comments, and take those away whose finding is gone."""
        if result.failed or not result.after or not (result.findings or MARK in result.after):
            return
        source = self.project.module(path).source
        left = [each for each in result.findings if each.code not in (SYNTAX_ERROR, UNREADABLE, NOT_APPLIED)]
        text = annotate(source.text, left, _newline(source.text))
        if text == source.text or error_of(text) is not None:
            return
        try:
            result.after = source.encode(text)
        except UnicodeEncodeError:
            return  # the file's encoding lacks a character of a message
        self.project.replace(path, result.after)
        self._look(path, result, again=True)

    def write(self, result: FileResult) -> bool:
        """Write a file that changed; a failure becomes a finding of the file.

        Returns:
            Whether the file was written.
        """
        if not result.changed or result.failed:
            return False
        try:
            write_atomically(result.path, result.after, expected=result.before)
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}; nothing was changed"
            result.findings = [self._trouble(result.path, UNREADABLE, message), *result.findings]
            result.fixed = []
            result.after = result.before
            result.failed = True
            return False
        return True

    def lines(self, result: FileResult) -> LineIndex:
        """Return places in the text that a result's findings are of.

        Raises:
            OSError: The file cannot be read.
            SyntaxError: It is in an unknown encoding.
            UnicodeDecodeError: It is not in the encoding it declares.
        """
        if kind_of(result.path) in (None, Kind.PYTHON):
            return self.project.module(result.path).lines
        return LineIndex(decode_document(result.after).text)

    # Inner works

    def _shown(self, path: Path) -> Path:
        return self._display.get(path, path)

    def _trouble(self, path: Path, code: str, message: str, row: int = 1, column: int = 1) -> Finding:
        place = Location(row, column)
        return Finding(code, message, path, place, place)

    def _sound(self, path: Path, result: FileResult) -> bool:
        """Whether a file that parses compiles, too (`nonlocal` at the top does not); else leave it alone."""
        module = self.project.module(path)
        error = error_of(module.source.text)
        if error is None:
            return True
        result.failed = True
        row, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None)
        message = getattr(error, "msg", None) or str(error) or type(error).__name__
        result.findings = [self._syntax(module, result.path, message, row, column)]
        return False

    def _look(
        self,
        path: Path,
        result: FileResult,
        *,
        fixing: bool = True,
        again: bool = False,
        flags: frozenset[str] = frozenset(),
    ) -> bool:
        """Run the rules over a file; returns whether it is worth another look after a change elsewhere."""
        module = self.project.module(path)
        shown = result.path
        try:
            marked = may_suppress(module.data) or (self.options.annotate and MARK in module.data)
            if not marked and not self.project.relevant(path):
                if not again:
                    module.release()
                # The last trace of Lightning may have gone with the fixes.
                result.findings = [each for each in result.findings if each.code == NOT_APPLIED]
                return False
            if not again:
                result.before = result.after = module.data
            module.tree  # noqa: B018 - parsed here so that its errors are told here
        except OSError as error:
            result.failed = True
            result.findings = [self._trouble(shown, UNREADABLE, f"cannot be read: {error.strerror or error}")]
            return False
        except SyntaxError as error:
            result.failed = True
            row = max(error.lineno or 1, 1)
            result.findings = [self._syntax(module, shown, str(error.msg), row, error.offset)]
            return False
        except (UnicodeDecodeError, LookupError) as error:
            result.failed = True
            result.findings = [self._trouble(shown, SYNTAX_ERROR, f"cannot be decoded: {error}")]
            return False
        file = FileContext(
            module, self.project, fixing=fixing, options=self.options.flags | flags, display=shown
        )
        notes = [each for each in result.findings if each.code == NOT_APPLIED] if again else []
        try:
            result.findings = check_file(file, self.options, self._rules) + notes
        except RuleError as error:
            if self.options.strict:
                raise
            result.failed = True
            result.findings = [
                self._trouble(shown, NOT_APPLIED, f"{error}; the file is left as it was", error.row)
            ]
            result.fixed, result.after = [], result.before
            return False
        return True

    def _syntax(self, module: Module, shown: Path, message: str, row: int, offset: int | None) -> Finding:
        return self._trouble(shown, SYNTAX_ERROR, f"syntax error: {message}", row, max(offset or 1, 1))

    def _key(self, path: Path, finding: Finding) -> tuple[Path, object]:
        fix = finding.fix
        assert fix is not None
        return (path, (finding.code, fix.message, tuple(edit.content for edit in fix.edits)))

    def _may(self, path: Path, finding: Finding) -> bool:
        if not self.options.applies(finding.fix) or finding.fix is None:
            return False
        return (
            bool(finding.fix.edits or finding.fix.unimports)
            and self._key(path, finding) not in self._rejected
        )

    def _one_pass(self, path: Path, result: FileResult) -> bytes | None:
        """Make the fixes of one file that do not touch each other; returns its new bytes if any was made."""
        source = self.project.module(path).source
        chosen: dict[Fix, list[Finding]] = {}
        taken: list[Edit] = []
        for finding in result.findings:
            if finding.code == NOT_APPLIED or not self._may(path, finding):
                continue
            fix = finding.fix
            assert fix is not None
            if fix in chosen:
                chosen[fix].append(finding)
            elif not any(_touch(edit, other) for edit in fix.edits for other in taken):
                chosen[fix] = [finding]
                taken.extend(fix.edits)
        if not chosen:
            return None
        made = list(chosen)
        text = self._apply(source, path, made)
        if text is None:
            made, text = self._apply_singly(source, path, chosen, result)
        if not made or text == source.text:
            for fix in made:  # says it does something and does nothing
                self._reject(path, result, chosen[fix], "it changes nothing")
            return None
        for fix in made:
            result.fixed.extend(chosen[fix])
        return source.encode(text)

    def _apply_singly(
        self,
        source: SourceText,
        path: Path,
        chosen: dict[Fix, list[Finding]],
        result: FileResult,
    ) -> tuple[list[Fix], str]:
        """Find the fixes at fault: what breaks the file alone is given up, others wait for a pass."""
        made: list[Fix] = []
        text = source.text
        for fix, findings in chosen.items():
            attempt = self._apply(source, path, [*made, fix])
            if attempt is not None:
                made.append(fix)
                text = attempt
            elif not made or self._apply(source, path, [fix]) is None:
                self._reject(path, result, findings, "the file would not compile after it")
        return made, text

    def _apply(self, source: SourceText, path: Path, fixes: list[Fix]) -> str | None:
        """Return the text with fixes made, or ``None`` if it is no Python then."""
        module = self.project.module(path)
        try:
            text = apply_edits(source.text, [edit for fix in fixes for edit in fix.edits])
            newline = _newline(source.text)
            text = add_imports(text, [each for fix in fixes for each in fix.imports], newline)
            text = remove_imports(
                text,
                [name for fix in fixes for name in fix.unimports],
                is_package=module.is_package,
                wanted=lambda name: self._imported_elsewhere(module, name),
            )
            source.encode(text)
        except (SyntaxError, ValueError):
            return None
        return text if error_of(text) is None else None

    def _imported_elsewhere(self, module: Module, name: str) -> bool:
        """Whether another file of the project imports a name from this one."""
        for other in self.project.relevant_modules():
            if other.path == module.path:
                continue
            for node in other.scopes.nodes:
                if isinstance(node, ast.ImportFrom) and any(each.name in (name, "*") for each in node.names):
                    found = self.project.find_from(node.level, node.module, other)
                    if found is not None and found.path == module.path:
                        return True
        return False

    def _reject(self, path: Path, result: FileResult, findings: Iterable[Finding], why: str) -> None:
        for finding in findings:
            self._rejected.add(self._key(path, finding))
            message = f"the fix of {finding.code} was not applied: {why}"
            note = replace(finding, code=NOT_APPLIED, message=message, fix=None)
            result.findings.append(note)

    def _unsettled(self, path: Path, result: FileResult) -> None:
        message = "fixes of this file do not come to an end; what is done so far is kept, run again and check"
        result.findings.append(self._trouble(result.path, NOT_APPLIED, message))


def error_of(text: str) -> Exception | None:
    """Return why a text is no Python module that compiles, or ``None`` if it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<upgraded>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return error
    return None


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits of different fixes are too close to be made together."""
    if one.start == other.start:
        return True
    return one.start < other.end and other.start < one.end


def _newline(text: str) -> str:
    for position, character in enumerate(text):
        if character == "\n":
            return "\n"
        if character == "\r":
            return "\r\n" if text[position + 1 : position + 2] == "\n" else "\r"
    return "\n"


def display_paths(files: Iterable[Path]) -> dict[Path, Path]:
    """Map absolute paths to the paths given."""
    return {Path(os.path.abspath(path)): path for path in files}

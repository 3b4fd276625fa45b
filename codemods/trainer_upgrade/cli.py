"""The ``trainer-upgrade`` command.

Exit codes: 0 nothing is left to do; 1 findings are left (with ``--check`` and ``--diff``: there are any);
2 the command was wrong, or a file could not be read, parsed or written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from trainer_upgrade.arguments import build_parser
from trainer_upgrade.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from trainer_upgrade.engine import Engine, FileResult, Options
    from trainer_upgrade.project.index import Project
    from trainer_upgrade.report.summary import Report
    from trainer_upgrade.rules.registry import Rule
    from trainer_upgrade.settings import Pattern, Settings

__all__ = ["build_parser", "main"]

CLEAN, FINDINGS, TROUBLE = 0, 1, 2
T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    try:
        given = build_parser().parse_args(arguments)
    except SystemExit as exit:  # argparse has said what is wrong
        return int(exit.code or 0)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        if given.explain:
            from trainer_upgrade.pages.terminal import explain

            explain(given.explain, colour=_coloured(sys.stdout))
            return CLEAN
        return _run(given)
    except UsageError as error:
        print(f"trainer-upgrade: {error}", file=sys.stderr)
        return TROUBLE
    except BrokenPipeError:
        # The reader (head, less) has gone: what is left to print interests nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except KeyboardInterrupt:
        print("trainer-upgrade: interrupted", file=sys.stderr)
        return 130


def _run(given: argparse.Namespace) -> int:
    from pathlib import Path

    from trainer_upgrade.engine import Engine, display_paths
    from trainer_upgrade.project.discovery import discover
    from trainer_upgrade.project.index import Project
    from trainer_upgrade.sources.kinds import SUFFIXES, Kind, kind_of

    _consistent(given)
    standard_input = given.paths == ["-"]
    named = [given.stdin_filename or "stdin.py"] if standard_input else given.paths
    settings = _settings(given, [Path(path) for path in named])
    if given.show_settings:
        for line in settings.show():
            print(line)
        return CLEAN
    if given.verify is not None:
        return _verify(given, settings)
    if not named:
        if given.no_files_ok:
            return CLEAN
        if not (given.check or given.diff):
            raise UsageError("give at least one file or directory, such as: trainer-upgrade --check src/")
        named = ["."]
    options = _options(given, settings)
    if standard_input:
        path = Path(named[0])
        data = sys.stdin.buffer.read()
        if given.force_exclude and settings.excluded(path):
            if not (given.check or given.diff):
                sys.stdout.buffer.write(data)
            return CLEAN
        project = Project(
            [path], settings.target, overlay={path: data}, target_version=settings.target_version
        )
        return _stdin(given, settings, Engine(project, options, display=display_paths([path])), path)
    kinds = settings.file_types or frozenset(Kind)
    if given.compat_only:
        kinds = kinds & {Kind.PYTHON, Kind.CONFIG}
    found = discover(
        [Path(path) for path in named],
        SUFFIXES,
        lambda path: kind_of(path) in kinds and not settings.excluded(path),
        skipped=settings.excluded if settings.exclude or settings.extend_exclude else None,
    )
    files = [path for path in found.files if not (given.force_exclude and settings.excluded(path))]
    for missing in found.missing:
        print(f"trainer-upgrade: {missing}: no such file or directory", file=sys.stderr)
    configurations = [path for path in files if given.compat_only and kind_of(path) is Kind.CONFIG]
    project = Project(
        [path for path in files if path not in set(configurations)],
        settings.target,
        roots=found.roots,
        target_version=settings.target_version,
    )
    with _Progress(given, settings, len(files)) as progress:
        engine = Engine(
            project, options, display=display_paths(files), progress=progress, rules=_rules(given)
        )
        results = list(engine.check()) if given.check else engine.upgrade()
    results += _compat_configurations(given, configurations)
    if given.evidence:
        _add_evidence(given, options, results)
    results.sort(key=lambda result: result.path.as_posix())
    report = _new_report(given, settings, project, files)
    if report.fixing:
        _refuse_dirty(given, results)
        for result in results:
            if engine.write(result) and given.verbose:
                print(f"upgraded {result.path}", file=sys.stderr)
    for result in results:
        _add(report, engine, result)
    return _finish(given, settings, report, results, missing=bool(found.missing))


def _rules(given: argparse.Namespace) -> list[Rule] | None:
    """Return the rules to run; ``None`` for all."""
    if not given.compat_only:
        return None
    from trainer_upgrade.rules.compat_only import COMPAT_ONLY

    return [COMPAT_ONLY]


def _compat_configurations(given: argparse.Namespace, files: list[Path]) -> list[FileResult]:
    """Let class paths in configurations lead to compat."""
    if not files:
        return []
    from trainer_upgrade.documents.compat_paths import configuration
    from trainer_upgrade.engine import display_paths

    results = []
    display = display_paths(files)
    for path in files:
        shown = display.get(path, path)
        try:
            results.append(configuration(path, shown, fixing=not given.check))
        except (OSError, UnicodeDecodeError) as error:
            print(f"trainer-upgrade: {shown}: cannot be read: {error}", file=sys.stderr)
    return results


def _add_evidence(given: argparse.Namespace, options: Options, results: list[FileResult]) -> None:
    """Add what runs under compat saw, and say what could not be used of it."""
    from pathlib import Path

    from trainer_upgrade.evidence import read

    evidence = read(Path(each) for each in given.evidence)
    evidence.add_to(results, options)
    for note in evidence.notes:
        print(f"trainer-upgrade: {note}", file=sys.stderr)


def _verify(given: argparse.Namespace, settings: Settings) -> int:
    """Run the old code and the new; 0 if they are equal, else 1."""
    from pathlib import Path

    from trainer_upgrade.verify.command import Asked, verify

    if given.paths:
        raise UsageError("--verify takes the project in the current directory: name no files")
    asked = Asked(
        given.verify, settings.target, settings.unsafe_fixes, given.verify_timeout, given.verify_python
    )
    equal = verify(asked, Path.cwd(), lambda line: print(line, flush=True))
    return CLEAN if equal else FINDINGS


def _stdin(given: argparse.Namespace, settings: Settings, engine: Engine, path: Path) -> int:
    """Read standard input; the upgraded text goes to standard output, findings then to standard error."""
    report = _new_report(given, settings, engine.project, [path])
    results = list(engine.check()) if given.check else engine.upgrade()
    (result,) = results
    _add(report, engine, result)
    if report.fixing:
        data = result.after or engine.project.document(path, sys.maxsize) or b""
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        sys.stdout = sys.stderr
    return _finish(given, settings, report, results)


# What was asked for


def _consistent(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    from trainer_upgrade.report.formats import LINES

    if "-" in given.paths and given.paths != ["-"]:
        raise UsageError("the path - stands alone")
    if given.stdin_filename and given.paths != ["-"]:
        raise UsageError("--stdin-filename goes with the path -")
    if given.evidence and not given.check:
        raise UsageError("--evidence goes with --check: after an upgrade its lines are others")
    if given.annotate and given.check:
        raise UsageError("--annotate changes files: it goes without --check")
    if given.config and given.isolated:
        raise UsageError("--config and --isolated do not go together")
    if given.diff and given.output_format not in (None, *LINES):
        raise UsageError(
            f"--diff is text: take --check with --output-format {given.output_format}, or --report FILE"
        )


def _settings(given: argparse.Namespace, named: list[Path]) -> Settings:
    """Read the settings and put the command line over them."""
    from pathlib import Path

    from trainer_upgrade.catalogue.entry import Target
    from trainer_upgrade.codes import read_codes
    from trainer_upgrade.settings import Pattern, Settings, find_file, read_file, read_kinds, read_version

    settings = Settings()
    if not given.isolated:
        source = Path(given.config) if given.config else find_file(named)
        if source is not None:
            settings = read_file(source)
    here = Path.cwd()

    def patterns(listed: list[str] | None) -> tuple[Pattern, ...] | None:
        if listed is None:
            return None
        return tuple(
            Pattern(here, part.strip()) for each in listed for part in each.split(",") if part.strip()
        )

    def codes(listed: list[str] | None) -> tuple[str, ...] | None:
        return read_codes(listed) if listed is not None else None

    return settings.with_given(
        {
            "target": Target(given.target) if given.target else None,
            "target_version": read_version(given.target_version, "--target-version: ")
            if given.target_version
            else None,
            "select": codes(given.select),
            "extend_select": _more(settings.extend_select, codes(given.extend_select)),
            "ignore": codes(given.ignore),
            "extend_ignore": _more(settings.extend_ignore, codes(given.extend_ignore)),
            "per_file_ignores": _per_file(given.per_file_ignores, here),
            "exclude": patterns(given.exclude),
            "extend_exclude": _more(settings.extend_exclude, patterns(given.extend_exclude)),
            "file_types": read_kinds(given.file_types) if given.file_types else None,
            "unsafe_fixes": given.unsafe_fixes,
            "pin_defaults": given.pin_defaults,
            "output_format": given.output_format,
            "baseline": Path(given.baseline) if given.baseline else None,
        }
    )


def _more(known: tuple[T, ...], given: tuple[T, ...] | None) -> tuple[T, ...] | None:
    return None if given is None else (*known, *given)


def _per_file(listed: list[str] | None, here: Path) -> tuple[tuple[Pattern, tuple[str, ...]], ...] | None:
    from trainer_upgrade.codes import read_codes
    from trainer_upgrade.settings import Pattern

    if listed is None:
        return None
    found = []
    for each in listed:
        pattern, colon, codes = each.rpartition(":")
        if not colon or not pattern:
            raise UsageError(f"--per-file-ignores {each}: say it as PATTERN:CODES, such as tests/*:TRU1")
        found.append((Pattern(here, pattern), read_codes([codes])))
    return tuple(found)


def _options(given: argparse.Namespace, settings: Settings) -> Options:
    from trainer_upgrade.engine import Options, PathCodes

    return Options(
        unsafe=settings.unsafe_fixes,
        select=(*settings.select, *(settings.extend_select if settings.select else ())),
        ignore=(*settings.ignore, *settings.extend_ignore),
        pin_defaults=settings.pin_defaults,
        per_file_ignores=tuple(
            PathCodes(pattern.root, pattern.text, codes) for pattern, codes in settings.per_file_ignores
        ),
        noqa=not given.ignore_noqa,
        annotate=given.annotate,
    )


def _refuse_dirty(given: argparse.Namespace, results: list[FileResult]) -> None:
    """Refuse to mix an upgrade with work that git could not tell from it."""
    from trainer_upgrade.sources.git import changed_files

    if given.allow_dirty:
        return
    dirty = changed_files([result.path for result in results if result.changed and not result.failed])
    if not dirty:
        return
    names = ", ".join(str(path) for path in dirty[:5]) + (f" and {len(dirty) - 5} more" if dirty[5:] else "")
    raise UsageError(
        f"nothing was changed: {len(dirty)} of the files to rewrite "
        f"{'has' if len(dirty) == 1 else 'have'} changes that git does not know ({names}); "
        "commit or stage them, or say --allow-dirty"
    )


# What is shown


def _new_report(given: argparse.Namespace, settings: Settings, project: Project, files: list[Path]) -> Report:
    from trainer_upgrade.report.summary import Report

    report = Report(
        looked=files,
        unsafe=settings.unsafe_fixes,
        fixing=not (given.check or given.diff),
        target=str(settings.target),
        docs_url=settings.docs_url,
    )
    if settings.target_version is not None:
        report.installs = (f"target version {settings.target_version}",)
    else:
        report.pins = lambda path: [str(each) for each in project.pins(path.absolute().parent)]
    return report


def _add(report: Report, engine: Engine, result: FileResult) -> None:
    from trainer_upgrade.report.summary import ReportedFile

    if not (result.findings or result.fixed or result.changed):
        return
    try:
        lines = engine.lines(result)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        lines = None
    report.files.append(ReportedFile(result.path, result.findings, result.fixed, lines, result.changed))


def _finish(
    given: argparse.Namespace,
    settings: Settings,
    report: Report,
    results: list[FileResult],
    *,
    missing: bool = False,
) -> int:
    """Show a report in all ways asked for; returns the exit code."""
    from pathlib import Path

    notes = _compare(given, settings, report)
    for each in given.report or ():
        _write_report(Path(each), report)
    if given.fix_only:
        for file in report.files:
            file.findings = [each for each in file.findings if each.code in ("TRU001", "TRU003", "TRU004")]
    _show(given, settings, report, results)
    for note in notes:
        print(f"trainer-upgrade: {note}", file=sys.stderr)
    if missing or any(result.failed for result in results):
        return TROUBLE
    found = any(file.findings for file in report.files)
    if given.diff:
        found = found or any(file.changed for file in report.files)
    return FINDINGS if found and not given.exit_zero else CLEAN


def _compare(given: argparse.Namespace, settings: Settings, report: Report) -> list[str]:
    """Take known findings out of the report; returns what there is to say of the baseline."""
    from pathlib import Path

    from trainer_upgrade.report.baseline import Baseline
    from trainer_upgrade.report.fingerprints import relative

    path = settings.baseline
    shown = relative(path, Path.cwd()) if path is not None else ""
    if path is None:
        if given.write_baseline:
            raise UsageError("--write-baseline wants --baseline FILE")
        return []
    options = _options(given, settings)
    if not path.exists():
        baseline = Baseline.of(path, report)
        baseline.write()
        compared = baseline.take_out(report, options.wants)
        report.known = compared.known
        return [f"{shown} was written: {compared.known} findings are known from now on"]
    baseline = Baseline.read(path)
    compared = baseline.take_out(report, options.wants)
    report.known = compared.known
    gone = sum(compared.gone.values())
    if not gone:
        return []
    if given.write_baseline:
        baseline.lower(compared.gone)
        baseline.write()
        return [f"{shown} was lowered by {gone}: {sum(baseline.counts.values())} findings are known"]
    return [f"{gone} of the findings in {shown} are gone: lower it with --write-baseline"]


def _write_report(path: Path, report: Report) -> None:
    from trainer_upgrade.report.formats import format_of, render

    text = "\n".join(render(format_of(path), report)) + "\n"
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def _show(given: argparse.Namespace, settings: Settings, report: Report, results: list[FileResult]) -> None:
    from trainer_upgrade.report import diff, formats
    from trainer_upgrade.report.estimate import HOW, estimate

    if given.diff:
        for result in results:
            if result.changed:
                _show_diff(diff.unified(result.path, *_texts(result)), diff)
    shown = settings.output_format
    if given.diff and shown not in formats.LINES:
        shown = "text"
    # A diff on standard output stays one that `patch` takes.
    stream = sys.stderr if given.diff else sys.stdout
    if given.statistics and shown in formats.LINES:
        for number, code, fixed, message in report.statistics():
            note = f" ({fixed} fixed)" if fixed else ""
            print(f"{number:>6}  {code}{note}  {message}", file=stream)
    else:
        for line in formats.render(shown, report, verbose=given.verbose, colour=_coloured(stream)):
            print(line, file=stream)
    if shown not in formats.LINES or shown == "concise" or given.quiet:
        return
    print(report.summary(), file=stream)
    told = report.severities()
    if told:
        print(told, file=stream)
    work = estimate(report)
    if work.total and (given.statistics or given.verbose):
        print(f"{work}; {HOW}.", file=stream)


def _coloured(stream: object) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"


def _show_diff(lines: Iterator[str], diff: Any) -> None:
    if _coloured(sys.stdout):
        diff.coloured(lines)
        return
    # Bytes: the line ends of the file must reach the reader as they are.
    sys.stdout.flush()
    sys.stdout.buffer.write("".join(lines).encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def _texts(result: FileResult) -> tuple[str, str]:
    from trainer_upgrade.sources.text import decode

    return decode(result.before).text, decode(result.after).text


class _Progress:
    """A line on the terminal that says how far a run is; nothing where nobody looks."""

    def __init__(self, given: argparse.Namespace, settings: Settings, files: int) -> None:
        from trainer_upgrade.report.formats import LINES

        watched = getattr(sys.stderr, "isatty", lambda: False)() and not os.environ.get("CI")
        self.on = watched and not given.quiet and settings.output_format in LINES and files >= 50
        self.shown = False

    def __enter__(self) -> Callable[[int, int], None] | None:
        return self.say if self.on else None

    def say(self, done: int, of: int) -> None:
        """Say how many files are done."""
        if done % 10 == 0 or done == of:
            sys.stderr.write(f"\rtrainer-upgrade: {done} of {of} files")
            sys.stderr.flush()
            self.shown = True

    def __exit__(self, *error: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())

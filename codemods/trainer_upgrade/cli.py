"""The ``trainer-upgrade`` command.

Exit codes: 0 nothing is left to do; 1 findings are left (with ``--check`` and ``--diff``: there are any);
2 the command was wrong, or a file could not be read, parsed or written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainer_upgrade import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from trainer_upgrade.engine import Engine, FileResult, Options
    from trainer_upgrade.report.summary import Report
    from trainer_upgrade.sources.kinds import Kind

__all__ = ["main"]

CLEAN, FINDINGS, TROUBLE = 0, 1, 2
# Codes of the tool itself, which no entry of the catalogue has.
OWN_CODES = {
    "TRU001": "The file is no Python that this interpreter can parse; it is left as it is.",
    "TRU003": "The file cannot be read or written; it is left as it is.",
    "TRU004": "A fix was not applied (the file would not compile after it, or a rule failed): do it by hand.",
}


class UsageError(Exception):
    """The command line asks for something that does not exist."""


def build_parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = argparse.ArgumentParser(
        prog="trainer-upgrade",
        description="Move a project from PyTorch Lightning 0.7-1.9 to relight, or to Lightning 2.x.",
        epilog="Exit codes: 0 nothing left to do, 1 findings left, 2 wrong usage or a file in trouble.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and directories; - reads standard input"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="report only, change nothing")
    mode.add_argument("--diff", action="store_true", help="print what would change, change nothing")
    mode.add_argument("--explain", metavar="CODE", help="explain a code and exit")
    parser.add_argument(
        "--target",
        choices=["relight", "lightning"],
        default="relight",
        help="where the code is to run (default: relight)",
    )
    parser.add_argument(
        "--unsafe-fixes", action="store_true", help="also make fixes that want a person's eye"
    )
    parser.add_argument("--pin-defaults", action="store_true", help="write out defaults that have changed")
    parser.add_argument("--select", action="append", metavar="CODES", help="only these codes (TRU101,TRU2)")
    parser.add_argument("--extend-select", action="append", metavar="CODES", help="these codes too")
    parser.add_argument("--ignore", action="append", metavar="CODES", help="not these codes")
    parser.add_argument(
        "--output-format", choices=["text", "json"], default="text", help="how to show findings"
    )
    parser.add_argument("--statistics", action="store_true", help="count findings by code")
    parser.add_argument(
        "--file-types",
        action="append",
        metavar="KINDS",
        help="look for these in directories: python, notebook, config, requirements, docs, script"
        " (default: all)",
    )
    parser.add_argument("--stdin-filename", metavar="PATH", help="what to call standard input")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="no summary")
    volume.add_argument(
        "-v", "--verbose", action="store_true", help="show the source, name the files rewritten"
    )
    parser.add_argument("--version", action="version", version=f"trainer-upgrade {__version__}")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = build_parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as exit:  # argparse has said what is wrong
        return int(exit.code or 0)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        if options.explain:
            return _explain(options.explain)
        return _run(options)
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

    from trainer_upgrade.catalogue.entry import Target
    from trainer_upgrade.engine import Engine, Options, display_paths
    from trainer_upgrade.project.discovery import discover
    from trainer_upgrade.project.index import Project
    from trainer_upgrade.report.summary import Report
    from trainer_upgrade.sources.kinds import SUFFIXES, kind_of

    if not given.paths:
        raise UsageError("give at least one file or directory, such as: trainer-upgrade --check src/")
    if given.stdin_filename and given.paths != ["-"]:
        raise UsageError("--stdin-filename goes with the path -")
    options = Options(
        unsafe=given.unsafe_fixes,
        select=_codes(given.select) + (_codes(given.extend_select) if given.select else ()),
        ignore=_codes(given.ignore),
        pin_defaults=given.pin_defaults,
    )
    _codes(given.extend_select)
    target = Target(given.target)
    if "-" in given.paths:
        if given.paths != ["-"]:
            raise UsageError("the path - stands alone")
        path = Path(given.stdin_filename or "stdin.py")
        data = sys.stdin.buffer.read()
        project = Project([path], target, overlay={path: data})
        return _stdin(given, Engine(project, options, display=display_paths([path])), options, path)
    kinds = _kinds(given.file_types)
    found = discover([Path(path) for path in given.paths], SUFFIXES, lambda path: kind_of(path) in kinds)
    for missing in found.missing:
        print(f"trainer-upgrade: {missing}: no such file or directory", file=sys.stderr)
    project = Project(found.files, target, roots=found.roots)
    engine = Engine(project, options, display=display_paths(found.files))
    report = Report(seen=len(found.files), unsafe=options.unsafe, fixing=not (given.check or given.diff))
    results: list[FileResult] = []
    for result in engine.check() if given.check else engine.upgrade():
        if report.fixing:
            written = engine.write(result)
            if written and given.verbose:
                print(f"upgraded {result.path}", file=sys.stderr)
        _report(report, engine, result)
        results.append(result)
    _show(given, report, results)
    failed = bool(found.missing) or any(result.failed for result in results)
    return TROUBLE if failed else _code(given, report)


def _stdin(given: argparse.Namespace, engine: Engine, options: Options, path: Path) -> int:
    """Read standard input; the upgraded text goes to standard output, findings then to standard error."""
    from trainer_upgrade.report.summary import Report

    report = Report(seen=1, unsafe=options.unsafe, fixing=not (given.check or given.diff))
    results = list(engine.check()) if given.check else engine.upgrade()
    (result,) = results
    _report(report, engine, result)
    if report.fixing:
        data = result.after or engine.project.document(path, sys.maxsize) or b""
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        sys.stdout = sys.stderr
    _show(given, report, results)
    return TROUBLE if result.failed else _code(given, report)


def _report(report: Report, engine: Engine, result: FileResult) -> None:
    from trainer_upgrade.report.summary import ReportedFile

    if not (result.findings or result.fixed or result.changed):
        return
    try:
        lines = engine.lines(result)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        lines = None
    report.files.append(ReportedFile(result.path, result.findings, result.fixed, lines, result.changed))


def _show(given: argparse.Namespace, report: Report, results: list[FileResult]) -> None:
    from trainer_upgrade.report import diff, json_format, text

    if given.diff:
        for result in results:
            if result.changed:
                _show_diff(diff.unified(result.path, *_texts(result)), diff)
    if given.output_format == "json":
        print(json_format.render(report))
        return
    # A diff on standard output stays one that `patch` takes.
    stream = sys.stderr if given.diff else sys.stdout
    if given.statistics:
        for number, code, fixed, message in report.statistics():
            note = f" ({fixed} fixed)" if fixed else ""
            print(f"{number:>6}  {code}{note}  {message}", file=stream)
    else:
        for line in text.render(report, verbose=given.verbose):
            print(line, file=stream)
    if not given.quiet:
        print(report.summary(), file=stream)


def _show_diff(lines, diff) -> None:  # type: ignore[no-untyped-def]
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        diff.coloured(lines)
        return
    # Bytes: the line ends of the file must reach the reader as they are.
    sys.stdout.flush()
    sys.stdout.buffer.write("".join(lines).encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def _texts(result: FileResult) -> tuple[str, str]:
    from trainer_upgrade.sources.text import decode

    return decode(result.before).text, decode(result.after).text


def _code(given: argparse.Namespace, report: Report) -> int:
    found = any(file.findings for file in report.files)
    if given.diff:
        found = found or any(file.changed for file in report.files)
    return FINDINGS if found else CLEAN


def _codes(given: list[str] | None) -> tuple[str, ...]:
    """Split and check codes.

    Raises:
        UsageError: There is no such code.
    """
    codes = tuple(code.strip().upper() for part in given or () for code in part.split(",") if code.strip())
    if not codes:
        return ()
    known = _known()
    for code in codes:
        if code != "ALL" and not any(each.startswith(code) for each in known):
            raise UsageError(f"there is no code {code}{_meant(code, known)}")
    return tuple("TRU" if code == "ALL" else code for code in codes)


def _kinds(given: list[str] | None) -> frozenset[Kind]:
    """Return the kinds of files to look for.

    Raises:
        UsageError: There is no such kind.
    """
    from trainer_upgrade.sources.kinds import Kind

    names = [name.strip().lower() for part in given or () for name in part.split(",") if name.strip()]
    known = {each.value: each for each in Kind}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no file type {name}; there are {', '.join(known)}")
    return frozenset(known[name] for name in names) if names else frozenset(Kind)


def _known() -> dict[str, str]:
    """All codes, with the names that carry them."""
    from trainer_upgrade import catalogue

    known: dict[str, str] = dict.fromkeys(OWN_CODES, "")
    for entry in catalogue.entries():
        known[entry.code] = f"{known[entry.code]} {entry.name}" if entry.code in known else entry.name
    return known


def _meant(code: str, known: dict[str, str]) -> str:
    import difflib

    named = [each for each, names in known.items() if code.lower() in names.lower().split()]
    close = named or difflib.get_close_matches(code, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else "; codes look like TRU101"


def _explain(asked: str) -> int:
    from trainer_upgrade import catalogue

    code = asked.strip().upper()
    if code in OWN_CODES:
        print(f"{code}\n  {OWN_CODES[code]}")
        return CLEAN
    found = catalogue.by_code(code)
    if not found:
        raise UsageError(f"there is no code {asked}{_meant(code, _known())}")
    print(code)
    for entry in found:
        print(f"\n{entry.owner}: {entry.name}")
        print(f"  {entry.advice}")
        history = [f"deprecated in {entry.deprecated_in}"] if entry.deprecated_in else []
        history += [f"removed in {entry.removed_in}"] if entry.removed_in else []
        if history:
            print(f"  {', '.join(history)} ({entry.source})" if entry.source else f"  {', '.join(history)}")
        for title, new in (("relight", entry.relight), ("Lightning 2.x", entry.lightning)):
            modern = new.text or new.name
            if modern:
                print(f"  on {title}: {modern}")
        if entry.behaviour:
            print(f"  old code on Lightning 2.6: {entry.behaviour}")
        print(f"  the rewrite is {entry.applicability}")
    return CLEAN


if __name__ == "__main__":
    sys.exit(main())

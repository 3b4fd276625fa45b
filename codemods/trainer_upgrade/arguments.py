"""The command line of ``trainer-upgrade``."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from trainer_upgrade import __version__

__all__ = ["build_parser"]

# Kept here so that asking for help imports nothing else; a test compares them with the settings'.
FORMATS = (
    "text", "concise", "grouped", "github", "gitlab", "sarif", "json", "jsonl", "junit", "html", "markdown",
)  # fmt: skip
_EXAMPLES = """\
examples:
  trainer-upgrade --check .           what there is to do, with codes
  trainer-upgrade --diff src/         what would be done
  trainer-upgrade --target lightning src/
                                      do it, and stay on Lightning 2.x
  trainer-upgrade --check --select silent .
                                      only what 2.x breaks without an error
  trainer-upgrade --check --report left.html .
                                      a page to work from
  trainer-upgrade --check --baseline known.json .
                                      the first time write what is known, then
                                      fail on new findings
  trainer-upgrade --explain TRU101    what a code means, with the code before
                                      and after
  trainer-upgrade --explain gpus      the same by the old name, or by the error
                                      you got

suppress a finding with `# noqa: TRU101` or `# trainer-upgrade: ignore[TRU101]`
on the first or last line of its statement, in a whole file with
`# trainer-upgrade: ignore-file[TRU101]`.

exit codes: 0 nothing left to do, 1 findings left (or found), 2 wrong usage or a
file in trouble.
"""
# What a shell offers for a path: read by shtab, which makes completion scripts of a parser.
_FILES = {
    "bash": "_shtab_compgen_files",
    "zsh": "_files",
    "tcsh": "f",
    "fish": "(__fish_complete_path (commandline -ct))",
    "powershell": "_shtab_powershell_compgen_files",
}


class _Parser(argparse.ArgumentParser):
    """Says which option or value was probably meant."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit with 2."""
        choice = re.search(r"argument (-\S+?)[:/].*invalid choice: '(.*?)'", message)
        known: list[str] = []
        if choice:
            wrong = [choice[2]]
            for action in self._actions:
                if choice[1] in action.option_strings and action.choices:
                    known = [str(each) for each in action.choices]
        else:
            _, _, given = message.partition("unrecognized arguments: ")
            wrong = [word.partition("=")[0] for word in given.split() if word.startswith("-")]
            known = [name for action in self._actions for name in action.option_strings]
        meant = self._nearest(wrong, known)
        super().error(message + (f"; did you mean {' and '.join(meant)}?" if meant else ""))

    @staticmethod
    def _nearest(wrong: list[str], known: list[str]) -> list[str]:
        from difflib import get_close_matches

        found = (get_close_matches(each, known, n=1) for each in wrong)
        return list(dict.fromkeys(near[0] for near in found if near))


def build_parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = _Parser(
        prog="trainer-upgrade",
        usage="trainer-upgrade [--check | --diff | --fix-only] [options] PATH …\n"
        "       trainer-upgrade --explain CODE|NAME|ERROR | --show-settings | --version",
        description="Move a project from PyTorch Lightning 0.7-1.9 to relight, or to Lightning 2.x.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and directories; - reads standard input (with --check and --diff the default is .)",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="report only, change nothing")
    mode.add_argument("--diff", action="store_true", help="print what would change, change nothing")
    mode.add_argument("--fix-only", action="store_true", help="make fixes, do not report what is left")
    mode.add_argument(
        "--explain",
        metavar="CODE|NAME|ERROR",
        help="explain a code, a legacy name (gpus) or an error message, and exit",
    )
    mode.add_argument(
        "--verify",
        metavar="COMMAND",
        help="run COMMAND on the old code and on an upgraded copy and compare all numbers; changes nothing",
    )
    mode.add_argument("--show-settings", action="store_true", help="print the settings in force and exit")
    parser.add_argument("--version", action="version", version=f"trainer-upgrade {__version__}")

    what = parser.add_argument_group("what is upgraded")
    what.add_argument(
        "--target", choices=["relight", "lightning"], help="where the code is to run (default: relight)"
    )
    what.add_argument(
        "--target-version",
        metavar="RELEASE",
        help="the Lightning that the project installs (default: what it pins)",
    )
    what.add_argument(
        "--unsafe-fixes",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="also make fixes that want a person's eye",
    )
    what.add_argument(
        "--pin-defaults",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="write out defaults that have changed",
    )
    what.add_argument(
        "--compat-only",
        action="store_true",
        help="change nothing but the imports, to relight.compat: the smallest first step",
    )
    what.add_argument(
        "--annotate",
        action="store_true",
        help="mark what is left with `# TODO(trainer-upgrade TRU…)`; marks of what is done go",
    )
    what.add_argument(
        "--allow-dirty", action="store_true", help="rewrite files that have changes git does not know"
    )

    proof = parser.add_argument_group("verifying")
    proof.add_argument(
        "--verify-python",
        metavar="PYTHON",
        help="run the old code on the real release of this interpreter, too",
    )
    proof.add_argument(
        "--verify-timeout",
        type=float,
        default=3600.0,
        metavar="SECONDS",
        help="how long each run may take (default: 3600)",
    )

    which = parser.add_argument_group("which findings")
    which.add_argument(
        "--select", action="append", metavar="CODES", help="only these codes (TRU101,TRU2; ALL; silent)"
    )
    which.add_argument("--extend-select", action="append", metavar="CODES", help="these codes too")
    which.add_argument("--ignore", action="append", metavar="CODES", help="not these codes")
    which.add_argument("--extend-ignore", action="append", metavar="CODES", help="nor these")
    which.add_argument(
        "--per-file-ignores",
        action="append",
        metavar="PATTERN:CODES",
        help="not these codes in files that a pattern fits (tests/*:TRU1)",
    )
    which.add_argument("--ignore-noqa", action="store_true", help="report what `# noqa` switches off")
    which.add_argument(
        "--baseline", metavar="FILE", help="report only what is new; written if it is not there yet"
    )
    which.add_argument(
        "--evidence",
        action="append",
        metavar="FILE",
        help="with --check: also report what a run under relight.compat saw (its RELIGHT_COMPAT_LOG)",
    )
    which.add_argument(
        "--write-baseline",
        action="store_true",
        help="take what is gone out of the baseline; nothing is ever added to one",
    )

    files = parser.add_argument_group("which files")
    files.add_argument("--exclude", action="append", metavar="PATTERNS", help="not these, as in .gitignore")
    files.add_argument("--extend-exclude", action="append", metavar="PATTERNS", help="nor these")
    files.add_argument("--force-exclude", action="store_true", help="not even if they are named")
    files.add_argument(
        "--file-types",
        action="append",
        metavar="KINDS",
        help="look for these in directories: python, notebook, config, requirements, docs, script"
        " (default: all)",
    )
    files.add_argument("--stdin-filename", metavar="PATH", help="what to call standard input")
    files.add_argument("--config", metavar="FILE", help="read settings from here")
    files.add_argument("--isolated", action="store_true", help="read settings from nowhere")
    files.add_argument("--no-files-ok", action="store_true", help="no path is no mistake (for hooks)")

    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"how to show findings: {', '.join(FORMATS)} (default: text)",
    )
    output.add_argument(
        "--report",
        action="append",
        metavar="FILE",
        help="also write a report: .html, .md, .sarif, .json, .jsonl, .xml (JUnit), .txt",
    )
    output.add_argument("--statistics", action="store_true", help="count findings by code, and the work left")
    output.add_argument("--exit-zero", action="store_true", help="exit with 0 though there are findings")
    volume = output.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="no summary")
    volume.add_argument(
        "-v", "--verbose", action="store_true", help="show the source, name the files rewritten"
    )
    for action in parser._actions:
        if action.metavar in ("PATH", "FILE"):
            action.complete = _FILES  # type: ignore[attr-defined]
    return parser

"""Upgrade checkouts of public projects with all fixes, and look at the result from two sides.

::

    python scripts/public_projects.py --checkouts DIR --work DIR --releases 2.6.6.json 1.9.5.json 1.5.10.json

Every folder of ``--checkouts`` is a project (a file ``COMMIT`` in it says which one). Checked as by
``corpus.py``: no crash, all output compiles, every changed line belongs to an edit of a reported fix or is an
import, a second run changes nothing. On top of that ``independent_check.py``, which shares nothing with the
tool, looks for uses of removed API that are neither fixed nor reported (``--releases``: what it dumped of the
new and the old ones). The table is written to ``docs/public_projects.md``; the exit code is 1 if anything was
found.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import corpus
import independent_check

from trainer_upgrade.catalogue import Applicability, Target
from trainer_upgrade.engine import FileResult

PAGE = Path(__file__).resolve().parent.parent / "docs" / "public_projects.md"
HEAD = """\
# What the tool does to public projects

Written by `scripts/public_projects.py`; do not edit. Each project is upgraded with `--unsafe-fixes`, for
both targets. *by hand*: a person has to decide. *still old*: uses of API that Lightning 2.6.6 refuses, found
in the code for Lightning by a program that asks the real releases and shares nothing with the tool;
*unsaid*: those of them that the tool does not report either. For every project: no crash, every rewritten
file compiles, every changed line belongs to an edit of a reported fix or is an import, and a second run
changes nothing.

| project | commit | files | relight: fixed | by hand | Lightning: fixed | by hand | still old | unsaid |
|---|---|--:|--:|--:|--:|--:|--:|--:|
"""


def counted(results: list[FileResult]) -> tuple[int, int]:
    """Return how many findings were fixed, and how many a person has to see to."""
    fixed = sum(len(result.fixed) for result in results)
    left = sum(each.applicability is Applicability.MANUAL for result in results for each in result.findings)
    return fixed, left


def left_over(work: Path, results: list[FileResult], releases: list[dict[str, Any]]) -> tuple[int, list[str]]:
    """Return how many uses of removed API are left, and those that nothing reports."""
    told = {
        (result.path.resolve(), row)
        for result in results
        for each in result.findings
        for row in range(each.start.row, max(each.start.row, each.end.row) + 1)
    }
    new, *old = releases
    found = list(independent_check.check(independent_check.Tree(work), new, old))
    unsaid = [f"{path}:{row}: {text}" for path, row, text in found if (path.resolve(), row) not in told]
    return len(found), unsaid


def look(folder: Path, work: Path, releases: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """Upgrade one project for both targets; returns its row of the table and what is wrong."""
    problems: list[str] = []
    cells: list[str] = []
    uses, unsaid, files = 0, [], 0
    for target in (Target.RELIGHT, Target.LIGHTNING):
        copy = corpus.copy(folder, work, f"{folder.name}-{target}")
        results = corpus.upgrade(copy, target, True, problems)
        files = len(results)
        cells += map(str, counted(results))
        again = corpus.upgrade(copy, target, True, problems)
        problems += [f"{each.path}: a second run changes it" for each in again if each.changed]
        if target is Target.LIGHTNING:
            uses, unsaid = left_over(copy, again, releases)
    commit = (folder / "COMMIT").read_text().strip()[:10] if (folder / "COMMIT").exists() else ""
    row = f"| {folder.name} | {commit} | {files} | {' | '.join(cells)} | {uses} | {len(unsaid)} |"
    return row, [*problems, *unsaid]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--releases", type=Path, nargs="+", required=True)
    parser.add_argument("--no-write", action="store_true")
    given = parser.parse_args()
    releases = [json.loads(path.read_text()) for path in given.releases]
    rows, wrong = [], []
    for folder in sorted(each for each in given.checkouts.iterdir() if each.is_dir()):
        row, problems = look(folder, given.work.resolve(), releases)
        print(row, *problems, sep="\n    ", flush=True)
        rows.append(row)
        wrong += problems
    if not given.no_write:
        PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows)} projects, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Upgrade public projects without touching them by hand, and run their own tests: before and after.

::

    python scripts/upgrade_projects.py --checkouts DIR --work DIR --python-before P1 --python-lightning P2 \\
        --python-relight P3 [NAME …] [--no-write]

``DIR`` holds a checkout of each project, under its name below and at the release named there. The
interpreters belong to environments with what the projects need (see ``docs/upgraded_projects.md``), P1 with
Lightning 1.9.5, P2 with 2.6.6, P3 with relight and no Lightning. A copy of each project is upgraded for both
targets with ``--unsafe-fixes``, then its tests run in all three. The table is written to
``docs/upgraded_projects.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "upgraded_projects.md"
FLAGS = ("--isolated", "--allow-dirty", "--unsafe-fixes")
TARGETS = ("lightning", "relight")


@dataclass(frozen=True)
class Project:
    """A public project.

    Attributes:
        release: The release that is upgraded.
        tests: Which of its tests are run.
        source: Where its packages are, for the import path.
        copies: Files that its tests would download, from where they are to where they are looked for.
    """

    release: str
    tests: str = "tests"
    source: str = "."
    copies: tuple[tuple[str, str], ...] = ()


PROJECTS = {
    "pytorch-forecasting": Project(
        "0.10.3",
        copies=(("examples/data/stallion.parquet", "pytorch_forecasting/data/stallion.parquet"),),
    ),
    "lightning-bolts": Project("0.7.0", source="src"),
    "gluonts": Project("0.11.12", tests="test/torch", source="src"),
    "fastMRI": Project("0.2.0"),
}


def upgraded(checkout: Path, copy: Path, project: Project, target: str | None) -> str:
    """Copy a project, upgrade the copy for a target (``None``: leave it); returns the tool's summary."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(checkout, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for source, place in project.copies:
        shutil.copy(copy / source, copy / place)
    if target is None:
        return ""
    done = subprocess.run(
        [sys.executable, "-m", "trainer_upgrade", *FLAGS, "--target", target, "."],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{copy}: trainer-upgrade ended with {done.returncode}:\n{done.stderr}")
    found = re.search(r"^Found .*", done.stdout, re.MULTILINE)
    return found.group() if found else "Nothing to upgrade"


def tested(copy: Path, project: Project, python: Path, plugins: Path) -> dict[str, str]:
    """Run a project's tests; returns what became of each: ``passed``, ``skipped``, ``failure``, ``error``."""
    report = copy.parent / f"{copy.name}.xml"
    report.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / project.source), str(plugins)]),
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-o",
        "addopts=",
        "-p",
        "old_numpy",
        "--continue-on-collection-errors",
    ]
    with (copy.parent / f"{copy.name}.log").open("w") as log:
        subprocess.run(
            [*map(str, command), f"--junitxml={report}", project.tests],
            cwd=copy,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    results = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kinds = [kind for kind in ("failure", "error", "skipped") if case.find(kind) is not None]
        results[f"{case.get('classname')}::{case.get('name')}"] = kinds[0] if kinds else "passed"
    return results


def lost(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the tests that passed before and do not after."""
    return sorted(name for name, how in before.items() if how == "passed" and after.get(name) != "passed")


def rows(given: argparse.Namespace) -> Iterator[str]:
    """Yield a row of the table for each project."""
    plugins = given.work / "plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    # Names that NumPy 1.24 took away: nothing of Lightning's, and the projects are older.
    (plugins / "old_numpy.py").write_text(
        "import numpy\n\n"
        "for name, kind in {'float': float, 'int': int, 'bool': bool, 'object': object}.items():\n"
        "    if name not in vars(numpy):\n        setattr(numpy, name, kind)\n"
    )
    pythons = {"lightning": given.python_lightning, "relight": given.python_relight}
    for name in given.names or PROJECTS:
        project = PROJECTS[name]
        root = given.work / name
        upgraded(given.checkouts / name, root / "before", project, None)
        before = tested(root / "before", project, given.python_before, plugins)
        passed = sum(how == "passed" for how in before.values())
        for target in TARGETS:
            told = upgraded(given.checkouts / name, root / target, project, target)
            after = tested(root / target, project, pythons[target], plugins)
            gone = lost(before, after)
            print(f"{name}, {target}: {told}; {passed - len(gone)} of {passed}", *gone, sep="\n    ")
            fixed = re.search(r"(\d+) fixed", told)
            by_hand = re.search(r"(\d+) by hand", told)
            share = f"{passed - len(gone)} / {passed} ({(passed - len(gone)) / max(passed, 1):.1%})"
            yield (
                f"| {name} {project.release} | `{project.tests}` ({len(before)}) | {target} "
                f"| {fixed[1] if fixed else 0} | {by_hand[1] if by_hand else 0} | {share} |"
            )


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[[], *PROJECTS], metavar="NAME")
    for option in ("--checkouts", "--work", "--python-before", "--python-lightning", "--python-relight"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--no-write", action="store_true")
    given = parser.parse_args()
    given.work, given.checkouts = given.work.resolve(), given.checkouts.resolve()
    table = [
        "| project | tests | target | fixes made | left by hand | pass after / passed before |",
        "|---|---|---|--:|--:|--:|",
        *rows(given),
    ]
    if not given.no_write:
        text = PAGE.read_text(encoding="utf-8")
        begin, end = "<!-- generated: table -->\n", "<!-- end -->"
        head, _, rest = text.partition(begin)
        PAGE.write_text(
            head + begin + "\n".join(table) + "\n" + end + rest.partition(end)[2], encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

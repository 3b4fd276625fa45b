"""Run trainer-upgrade over public packages: ``make corpus``.

    python scripts/corpus.py [--root .corpus] [--sample] [--no-write]

The packages are downloaded by exact version from the package index (never committed), unpacked, and a copy
of each is upgraded for both targets, without and with unsafe fixes. Checked for every file: the tool does not
crash, what it rewrites compiles, every changed line belongs to an edit of a reported fix or is an import, and
a second run changes nothing. What was found is counted by code and written to ``docs/corpus.md``.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Applicability, Target
from trainer_upgrade.catalogue.shared_codes import SHARED
from trainer_upgrade.engine import Engine, FileResult, Options, error_of
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.discovery import discover
from trainer_upgrade.project.index import Project
from trainer_upgrade.sources.text import decode

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "corpus.md"
IMPORTS = "## Importing what was upgraded"
PACKAGES = {
    "lightning-bolts": "0.7.0",
    "pytorch-forecasting": "0.10.3",
    "lightning-flash": "0.8.2",
    "pyannote.audio": "2.1.1",
}
SAMPLE = ("pyannote.audio",)


@dataclass
class Counts:
    """What was found of one code."""

    fixed: int = 0
    unsafe: int = 0
    manual: int = 0

    def __str__(self) -> str:
        return f"{self.fixed} / {self.unsafe} / {self.manual}"


@dataclass
class Run:
    """One package, upgraded for one target."""

    package: str
    target: Target
    files: int = 0
    lines: int = 0
    touched: int = 0
    rewritten: int = 0
    seconds: float = 0.0
    codes: dict[str, Counts] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def count(self, code: str) -> Counts:
        return self.codes.setdefault(code, Counts())


class Watched(Engine):
    """An engine that keeps what each pass made of a file, to check it apart from the engine."""

    def __init__(self, project: Project, options: Options, problems: list[str]) -> None:
        super().__init__(project, options)
        self.problems = problems

    def _one_pass(self, path: Path, result: FileResult) -> bytes | None:
        source = self.project.module(path).source
        known = len(result.fixed)
        data = super()._one_pass(path, result)
        if data is not None:
            text = decode(data).text
            if source.encode(text) != data:
                self.problems.append(f"{path}: encoding or byte order mark changed")
            problem = unexplained(source.text, text, result.fixed[known:])
            if problem:
                self.problems.append(f"{path}: {problem}")
        return data


def unexplained(before: str, after: str, fixed: list[Finding]) -> str | None:
    """Say which change is neither in an edit of a fix nor an import statement that a fix asked for."""
    fixes = {id(each.fix): each.fix for each in fixed if each.fix is not None}
    distinct = set(fixes.values())
    edits = sorted(edit for fix in distinct for edit in fix.edits)
    pieces, position = [], 0
    for edit in edits:
        pieces += [before[position : edit.start], edit.content]
        position = edit.end
    middle = "".join([*pieces, before[position:]])
    if middle == after:
        return None
    if not any(fix.imports or fix.unimports for fix in distinct):
        return "a change lies outside of all edits"
    old, new = middle.splitlines(keepends=True), after.splitlines(keepends=True)
    allowed_old, allowed_new = import_lines(middle), import_lines(after)
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            continue
        for lines, allowed, first, last in (
            (old, allowed_old, start, end),
            (new, allowed_new, new_start, new_end),
        ):
            for row in range(first, last):
                if lines[row].strip() and row + 1 not in allowed:
                    return f"line {row + 1} is no import and in no edit: {lines[row].strip()[:60]}"
    return None


def import_lines(text: str) -> set[int]:
    """The rows that import statements take, and those of a ``pass`` or ``try`` that stands for one."""
    rows: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
            rows |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return rows


# -- packages ------------------------------------------------------------------------------------------------


def fetch(package: str, root: Path) -> Path:
    """Download and unpack a package; returns the folder of its Python files.

    Raises:
        SystemExit: The package index does not give it.
    """
    version = PACKAGES[package]
    folder = root / f"{package}-{version}"
    if (folder / ".complete").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    archives = root / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    for choice in ("--only-binary", "--no-binary"):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
                *(
                    "--no-deps",
                    "--ignore-requires-python",
                    choice,
                    ":all:",
                    "--dest",
                    str(archives),
                    f"{package}=={version}",
                ),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            break
    else:
        raise SystemExit(f"{package}=={version} cannot be downloaded:\n{done.stderr}")
    stem = package.replace("-", "_").replace(".", "_").lower()
    (archive,) = (
        each
        for each in archives.iterdir()
        if each.name.replace("-", "_")
        .replace(".", "_")
        .lower()
        .startswith(f"{stem}_{version}".replace(".", "_"))
    )
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    (folder / ".complete").touch()
    return folder


def copy(folder: Path, root: Path, name: str) -> Path:
    work = root / "work" / name
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder, work, ignore=shutil.ignore_patterns("*.dist-info", ".complete"))
    return work


# -- the runs ------------------------------------------------------------------------------------------------


def upgrade(work: Path, target: Target, unsafe: bool, problems: list[str]) -> list[FileResult]:
    """Upgrade a folder in place and check each change."""
    found = discover([work])
    project = Project(found.files, target, roots=found.roots)
    engine = Watched(project, Options(unsafe=unsafe, strict=True), problems)
    results = engine.upgrade()
    for result in results:
        if result.failed and result.findings[0].code != "TRU001":
            problems.append(f"{result.path}: {result.findings[0].message}")
        if result.changed:
            engine.write(result)
            if result.path.read_bytes() != result.after:
                problems.append(f"{result.path}: not written")
            if error_of(decode(result.after).text) is not None:
                problems.append(f"{result.path}: does not compile any more")
    return results


def run(package: str, folder: Path, root: Path, target: Target) -> Run:
    """Upgrade a copy of a package without and with unsafe fixes; counts are of the first."""
    done = Run(package, target)
    for unsafe in (False, True):
        work = copy(folder, root, f"{package}-{target}{'-unsafe' if unsafe else ''}")
        started = time.perf_counter()
        results = upgrade(work, target, unsafe, done.problems)
        if not unsafe:
            done.seconds = time.perf_counter() - started
            tally(done, folder, results)
        again = upgrade(work, target, unsafe, done.problems)
        done.problems += [f"{each.path}: a second run changes it" for each in again if each.changed]
    return done


def tally(done: Run, folder: Path, results: list[FileResult]) -> None:
    done.files = len(results)
    done.lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))
    done.touched = sum(bool(each.findings or each.fixed) for each in results)
    done.rewritten = sum(each.changed for each in results)
    for result in results:
        for finding in result.fixed:
            done.count(finding.code).fixed += 1
        for finding in result.findings:
            if finding.applicability is Applicability.UNSAFE:
                done.count(finding.code).unsafe += 1
            else:
                done.count(finding.code).manual += 1
            if finding.code == "TRU004":
                done.problems.append(f"{result.path}:{finding.start.row}: {finding.message}")


# -- the page ------------------------------------------------------------------------------------------------


def page(runs: list[Run]) -> str:
    """The tables, as Markdown."""
    parts = [
        "# What the tool does to public packages",
        "",
        "Written by `make corpus`; do not edit. Each package is upgraded as it was published, without unsafe",
        "fixes. Every rewritten file compiles, every changed line belongs to an edit of a reported fix or is",
        "an import, and a second run changes nothing; the same holds with `--unsafe-fixes`.",
        "",
        "*fixed*: done; *unsafe*: a fix is ready for `--unsafe-fixes`; *manual*: a person has to decide.",
        "",
        "## Packages",
        "",
        "| package | target | files | lines | files with findings | rewritten | fixed | unsafe | manual |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for each in runs:
        total = Counter[str]()
        for counts in each.codes.values():
            total.update(fixed=counts.fixed, unsafe=counts.unsafe, manual=counts.manual)
        parts.append(
            f"| {each.package} {PACKAGES[each.package]} | {each.target} | {each.files} | {each.lines} |"
            f" {each.touched} | {each.rewritten} | {total['fixed']} | {total['unsafe']} | {total['manual']} |"
        )
    for target in Target:
        mine = [each for each in runs if each.target is target]
        parts += ["", f"## Findings by code, target {target}", "", "fixed / unsafe / manual", ""]
        parts.append("| code | what | " + " | ".join(each.package for each in mine) + " |")
        parts.append("|---|---|" + "--:|" * len(mine))
        for code in sorted({code for each in mine for code in each.codes}):
            cells = [str(each.codes[code]) if code in each.codes else "" for each in mine]
            parts.append(f"| {code} | {describe(code)} | " + " | ".join(cells) + " |")
    return "\n".join(parts) + "\n"


def describe(code: str) -> str:
    """A few words on a code."""
    entries = catalogue.by_code(code)
    if not entries:
        return "the tool itself" if code.startswith("TRU0") else ""
    names = sorted({f"{each.owner}.{each.name}" for each in entries})
    if len(names) == 1:
        return f"`{names[0]}`"
    return f"{SHARED.get(code, 'several')}: `{names[0]}` … ({len(names)})"


def write_page(text: str) -> None:
    """Write the page, keeping the part that ``corpus_imports.py`` writes."""
    kept = ""
    if PAGE.exists():
        old = PAGE.read_text(encoding="utf-8")
        if IMPORTS in old:
            kept = "\n" + old[old.index(IMPORTS) :]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text + kept, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT / ".corpus", help="where packages are kept")
    parser.add_argument("--sample", action="store_true", help="the smallest package only")
    parser.add_argument("--package", action="append", choices=list(PACKAGES), help="this package only")
    parser.add_argument(
        "--no-write", action="store_true", help="print the tables instead of writing docs/corpus.md"
    )
    given = parser.parse_args()
    packages = given.package or (SAMPLE if given.sample else tuple(PACKAGES))
    runs = []
    for package in packages:
        folder = fetch(package, given.root)
        for target in Target:
            done = run(package, folder, given.root, target)
            print(
                f"{package} {PACKAGES[package]} for {target}: {done.files} files, {done.lines} lines,"
                f" {done.rewritten} rewritten in {done.seconds:.1f} s, {len(done.problems)} problems",
                flush=True,
            )
            for problem in done.problems:
                print(f"  {problem}")
            runs.append(done)
    text = page(runs)
    if given.no_write or set(packages) != set(PACKAGES):
        print(text)
    else:
        write_page(text)
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 1 if any(each.problems for each in runs) else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Compare the command, flake8 and pre-commit over whole projects: ``python scripts/doors.py DIRECTORY…``.

Each directory is copied, put under git, and looked at through the three doors; prints a table in Markdown.
Exit code 1 if any finding differs. Needs flake8 and pre-commit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINE = re.compile(r"^(?:\./)?(.+?\.py):(\d+):(\d+): (TRU\d+)(?: \[\*\])? (.*)$")
Row = tuple[str, int, int, str, str]


def call(root: Path, *arguments: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
        check=False,
    )
    return done.stdout


def rows(text: str) -> set[Row]:
    """Read findings; flake8 has its own code (E999) where a file cannot be parsed."""
    found = set()
    for line in text.splitlines():
        matched = LINE.match(line)
        if matched and matched[4] not in ("TRU001", "TRU003", "TRU004"):
            found.add((matched[1], int(matched[2]), int(matched[3]), matched[4], matched[5]))
    return found


def compare(project: Path, target: str) -> tuple[int, int, int, int, float, float]:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "project"
        shutil.copytree(project, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".pre-commit*"))
        for name in ("setup.cfg", "tox.ini", ".flake8"):
            for path in root.rglob(name):
                path.unlink()
        hook = {
            "id": "trainer-upgrade-check",
            "name": "check",
            "entry": f"{sys.executable} -m trainer_upgrade --check --isolated --target {target}",
            "language": "system",
            "types": ["python"],
            "require_serial": True,
        }
        (root / ".pre-commit-config.yaml").write_text(
            json.dumps({"repos": [{"repo": "local", "hooks": [hook]}]})
        )
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run([*git, "init", "-q"], cwd=root, check=True)
        subprocess.run([*git, "add", "."], cwd=root, check=True)
        begin = time.perf_counter()
        options = ["--check", "--isolated", "--target", target, "--file-types", "python"]
        command = rows(call(root, "trainer_upgrade", *options, "--output-format", "concise", "."))
        middle = time.perf_counter()
        flake8 = rows(
            call(root, "flake8", "--isolated", "--select", "TRU", "--trainer-upgrade-target", target, ".")
        )
        end = time.perf_counter()
        hooked = rows(
            call(
                root, "pre_commit", "run", "--color", "never", "--all-files", PRE_COMMIT_HOME=f"{place}/home"
            )
        )
        for name, other in (("flake8", flake8), ("pre-commit", hooked)):
            for row in sorted(command ^ other)[:10]:
                where = "only the command" if row in command else f"only {name}"
                print(f"{project.name}: {where}: {row}", file=sys.stderr)
        differing = len((command ^ flake8) | (command ^ hooked))
        return len(command), len(flake8), len(hooked), differing, middle - begin, end - middle


def main() -> int:
    print("| project | target | command | flake8 | pre-commit | differing |")
    print("|---|---|---:|---:|---:|---:|")
    bad = 0
    for name in sys.argv[1:]:
        for target in ("lightning", "relight"):
            command, flake8, hooked, differing, spent, spent8 = compare(Path(name), target)
            title = Path(name).name.replace("+", "/")
            print(f"| {title} | {target} | {command} | {flake8} | {hooked} | {differing} |", flush=True)
            print(f"{title}: command {spent:.1f} s, flake8 {spent8:.1f} s", file=sys.stderr)
            bad += differing
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

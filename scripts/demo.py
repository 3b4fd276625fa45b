"""The main job on a small legacy project: lint it, run it unchanged, upgrade a copy, run that, compare.

usage: python scripts/demo.py [--keep DIRECTORY] [--quiet]

Fails unless the unchanged project under compat and the upgraded one give the same numbers to the last bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "examples" / "legacy"
#: Two runs: the second goes on from the first one's checkpoint.
RUNS = (
    ("first", ["--max_epochs", "4"]),
    ("second", ["--max_epochs", "9", "--resume_from_checkpoint", "first/checkpoints/last.ckpt"]),
)


class DemoError(Exception):
    """A step did not do what it has to."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="work in this (new) directory and leave it")
    parser.add_argument("--quiet", action="store_true", help="show only the steps and the comparison")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="relight-demo-") as scratch:
        try:
            demo(options.keep or Path(scratch), quiet=options.quiet)
        except DemoError as error:
            print(f"\ndemo failed: {error}", file=sys.stderr)
            return 1
    return 0


def demo(work: Path, quiet: bool) -> None:
    started = time.perf_counter()
    legacy, upgraded = work / "legacy", work / "upgraded"
    for copy in (legacy, upgraded):
        shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("__pycache__"))

    title("1. What the linter says about the project")
    show(upgrade("--check", legacy, expect=1), quiet)

    title("2. The unchanged project on relight, through compat")
    before = digest(legacy)
    run_project([sys.executable, "-m", "relight.compat", "train.py"], legacy, quiet)
    if digest(legacy) != before:
        raise DemoError("running the project has changed its files")

    title("3. What trainer-upgrade changes")
    # What a project requires is its owner's decision, so the pin is an unsafe fix: the only one here.
    show(upgrade("--diff", "--unsafe-fixes", upgraded, expect=1), quiet)
    upgrade("-q", "--unsafe-fixes", upgraded, expect=0)
    if upgrade("--check", upgraded, expect=0).strip():
        print("(a second run finds nothing to fix)")

    title("4. The upgraded project")
    run_project([sys.executable, "train.py"], upgraded, quiet)

    title("5. The numbers side by side")
    differences = 0
    for run, _ in RUNS:
        differences += compare(run, metrics(legacy, run), metrics(upgraded, run))
    if differences:
        raise DemoError(f"{differences} numbers differ")
    print(f"\nAll numbers are equal to the last bit. ({time.perf_counter() - started:.0f} s)")


def title(text: str) -> None:
    print(f"\n== {text}\n", flush=True)


def show(text: str, quiet: bool) -> None:
    if text.strip() and not quiet:
        print("\n".join(f"   {line}" for line in text.strip().splitlines()), flush=True)


def call(command: Sequence[str | Path], cwd: Path, expect: int) -> subprocess.CompletedProcess[str]:
    """Run a command; fail with all it said if its exit code is another."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "110"}
    environment.pop("RELIGHT_COMPAT", None)
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, text=True, capture_output=True, check=False
    )
    if done.returncode != expect:
        text = " ".join(map(str, command))
        raise DemoError(f"`{text}` ended with {done.returncode}, not {expect}:\n{done.stdout}{done.stderr}")
    return done


def upgrade(*arguments: str | Path, expect: int) -> str:
    return call([sys.executable, "-m", "trainer_upgrade", *arguments], ROOT, expect).stdout


def run_project(command: Sequence[str], directory: Path, quiet: bool) -> None:
    for run, arguments in RUNS:
        full = [*command, *arguments, "--root", run, "--metrics", f"{run}.json"]
        done = call(full, directory, expect=0)
        shown = ["python", *full[1:]]  # not the path of this one
        print(f"$ {' '.join(shown)}")
        show(done.stdout.strip().splitlines()[-1], quiet)
        if run == RUNS[0][0]:  # the second run would say the same
            show("\n".join(line for line in done.stderr.splitlines() if "TRU" in line), quiet)


def digest(directory: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
        if path.suffix in (".py", ".md", ".txt")
    }


def metrics(directory: Path, run: str) -> dict[str, str | int]:
    return dict(flatten("", json.loads((directory / f"{run}.json").read_text())))


def flatten(prefix: str, data: Any) -> Iterator[tuple[str, str | int]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from flatten(f"{prefix}.{key}" if prefix else key, value)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from flatten(f"{prefix}[{index}]", value)
    else:
        yield prefix, data


def compare(run: str, one: dict[str, str | int], two: dict[str, str | int]) -> int:
    """Print both columns (each epoch's validation, the test, the weights); count what differs."""
    print(f"{run + ' run':<28}{'unchanged, compat':>26}{'upgraded':>26}")
    differences = 0
    for name in sorted({**one, **two}, key=[*one, *two].index):
        values = [column.get(name, "missing") for column in (one, two)]
        differs = values[0] != values[1]
        differences += differs
        if differs or "val_" in name or not name.startswith(("epochs", "train_curve")):
            print(f"  {name:<26}{values[0]:>26}{values[1]:>26}{'   DIFFERS' if differs else ''}")
    print(f"  {len(one)} numbers, {differences} different")
    return differences


if __name__ == "__main__":
    sys.exit(main())

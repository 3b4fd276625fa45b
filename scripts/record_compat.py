"""Record what real Lightning releases do with the scenarios of tests/golden/compat.

    RELIGHT_ORACLE_1_9_5=…/python RELIGHT_ORACLE_1_7_7=… RELIGHT_ORACLE_1_5_10=… \\
        python scripts/record_compat.py [NAME …]

Each scenario is run by the release that its name ends with (`…_1_5`: 1.5.10), else by 1.9.5, and its record
is written beside the scenarios as NAME.json: events with every bit of their numbers, logged rows, final
weights. The other two releases run it as well: releases.json says for each whether its record is the same, is
another one (RELEASE/NAME.json), or why the release cannot run the scenario.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "tests" / "golden" / "compat"
SCENARIOS = HERE / "scenarios"
INDEX = HERE / "releases.json"


RELEASES = ("1.9.5", "1.7.7", "1.5.10")


def release_of(name: str) -> str:
    return "1.5.10" if name.endswith("_1_5") else "1.9.5"


def variable(release: str) -> str:
    return "RELIGHT_ORACLE_" + release.replace(".", "_")


def run(python: str, path: Path) -> tuple[dict[str, object] | None, str]:
    """Return the record of a scenario, or nothing and the last line of what went wrong."""
    with tempfile.TemporaryDirectory() as directory:
        result = Path(directory) / "result.json"
        done = subprocess.run(
            [python, str(path), str(result)],
            cwd=directory,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            return None, done.stderr.strip().splitlines()[-1]
        return json.loads(result.read_text()), ""


def written(record: dict[str, object]) -> str:
    """One event a line, so that a changed record has a readable diff."""
    events = ",\n".join("  " + json.dumps(event) for event in record["events"])  # type: ignore[attr-defined]
    rest = {key: value for key, value in record.items() if key != "events"}
    others = ",\n".join(
        f" {json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(rest.items())
    )
    return '{\n "events": [\n' + events + "\n ]" + (",\n" + others if others else "") + "\n}\n"


def main(names: list[str]) -> int:
    index = json.loads(INDEX.read_text()) if INDEX.exists() else {}
    scenarios = sorted(path for path in SCENARIOS.glob("*.py") if path.stem != "scenario_kit")
    failed = 0
    for path in scenarios:
        name, main_file = path.stem, HERE / f"{path.stem}.json"
        if names and name not in names:
            continue
        for release in sorted(RELEASES, key=lambda each: each != release_of(name)):
            python = os.environ.get(variable(release))
            if not python:
                print(f"{name}: {release} skipped, {variable(release)} is not set")
                continue
            record, problem = run(python, path)
            if release == release_of(name):
                if record is None:
                    failed += 1
                    print(f"{name}: failed on {release}: {problem}")
                    break
                main_file.write_text(written(record))
                print(f"{name}: recorded on {release}")
                continue
            other = HERE / release / f"{name}.json"
            other.unlink(missing_ok=True)
            if record is None:
                how = f"cannot run it: {problem}"
            elif record == json.loads(main_file.read_text()):
                how = "same"
            else:
                how = "recorded"
                other.parent.mkdir(exist_ok=True)
                other.write_text(written(record))
            index.setdefault(release, {})[name] = how
            print(f"{name}: {release} {how}")
        INDEX.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

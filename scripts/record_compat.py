"""Record what real Lightning releases do with the scenarios of tests/golden/compat.

    RELIGHT_ORACLE_1_9_5=…/python RELIGHT_ORACLE_1_5_10=…/python python scripts/record_compat.py [NAME …]

Each scenario is run by the release that its name ends with (`…_1_5`: 1.5.10), else by 1.9.5, and its record
is written beside the scenarios as NAME.json: events with every bit of their numbers, logged rows, final
weights.
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


def oracle_of(name: str) -> str:
    return "RELIGHT_ORACLE_1_5_10" if name.endswith("_1_5") else "RELIGHT_ORACLE_1_9_5"


def written(record: dict[str, object]) -> str:
    """One event a line, so that a changed record has a readable diff."""
    events = ",\n".join("  " + json.dumps(event) for event in record["events"])  # type: ignore[attr-defined]
    rest = {key: value for key, value in record.items() if key != "events"}
    others = ",\n".join(
        f" {json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(rest.items())
    )
    return '{\n "events": [\n' + events + "\n ]" + (",\n" + others if others else "") + "\n}\n"


def main(names: list[str]) -> int:
    scenarios = sorted(path for path in SCENARIOS.glob("*.py") if path.stem != "scenario_kit")
    failed = 0
    for path in scenarios:
        if names and path.stem not in names:
            continue
        python = os.environ.get(oracle_of(path.stem))
        if not python:
            print(f"{path.stem}: skipped, {oracle_of(path.stem)} is not set")
            continue
        with tempfile.TemporaryDirectory() as directory:
            result = Path(directory) / "result.json"
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            run = subprocess.run(
                [python, str(path), str(result)],
                cwd=directory,
                env=environment,
                capture_output=True,
                text=True,
            )
            if run.returncode:
                failed += 1
                print(f"{path.stem}: failed\n{run.stderr[-2000:]}")
                continue
            (HERE / f"{path.stem}.json").write_text(written(json.loads(result.read_text())))
            print(f"{path.stem}: recorded")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

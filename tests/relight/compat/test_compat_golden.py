"""Scenarios in 1.x style give under compat what the real releases gave, to the bit.

The records were made by `scripts/record_compat.py`. What may differ stands in DIFFERENCES, with the reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "compat"
SCENARIOS = sorted(path.stem for path in (GOLDEN / "scenarios").glob("*.py") if path.stem != "scenario_kit")

EPOCH_1_6 = "since 1.6 current_epoch is the number of epochs that were finished, after fit too"
RATES = "2.x's LearningRateMonitor also puts the rates into callback_metrics"
TEST_ROWS = "since 1.6 the epoch in a row of test() after fit is the number of epochs that were finished"
PLACE = "a file also holds where the run stood, under a key of its own"
DRAWS = "a resumed run goes on with the random states of its file, not with those of the moment"

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "RELIGHT_COMPAT": "warn"}

# scenario → (part of the record: key, or number of an event) → reason
DIFFERENCES: dict[str, dict[Any, str]] = {
    "callback_state": {25: PLACE},
    "legacy_callbacks_1_5": {"fit.current_epoch": EPOCH_1_6},
    "legacy_trainer_1_5": {"fit.current_epoch": EPOCH_1_6, "fit.rows": TEST_ROWS},
    "resume": {"resumed again.weights": DRAWS},
    "schedulers": {f"{model}.callback_metrics": RATES for model in ("Steps", "Epochs", "Plateau")},
}


# Runs scenarios one after the other: most of the time of a process of its own goes into importing torch.
DRIVER = """
import os, runpy, sys, traceback
import relight.compat
relight.compat.install()
scenarios, names = sys.argv[1], sys.argv[2:]
sys.path.insert(0, scenarios)
top = os.getcwd()
for name in names:
    os.makedirs(os.path.join(top, name))
    os.chdir(os.path.join(top, name))
    sys.modules.pop("scenario_kit", None)
    script = os.path.join(scenarios, name + ".py")
    sys.argv = [script, "result.json"]
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException:
        with open("error.txt", "w") as stream:
            stream.write(traceback.format_exc())
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("scenarios")
    command = [sys.executable, "-c", DRIVER, str(GOLDEN / "scenarios"), *SCENARIOS]
    done = subprocess.run(command, cwd=directory, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return directory


def differences(expected: dict[str, Any], found: dict[str, Any], allowed: dict[Any, str]) -> Iterator[str]:
    """Yield what differs and may not."""
    events, others = expected.pop("events"), found.pop("events")
    for number, (one, other) in enumerate(zip(events, others, strict=False)):
        if one != other and number not in allowed:
            yield f"event {number}: {other} instead of {one}"
    if len(events) != len(others):
        yield f"{len(others)} events instead of {len(events)}"
    if sorted(found) != sorted(expected):
        yield f"parts {sorted(found)} instead of {sorted(expected)}"
    for key, value in expected.items():
        for part in value if isinstance(value, dict) else [None]:
            one, other = (value, found[key]) if part is None else (value[part], found[key][part])
            name = key if part is None else f"{key}.{part}"
            if one != other and name not in allowed:
                yield f"{name}: {other} instead of {one}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_equals_the_real_release(name: str, records: Path) -> None:
    error = records / name / "error.txt"
    assert not error.exists(), error.read_text()
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    found = json.loads((records / name / "result.json").read_text())
    assert list(differences(expected, found, DIFFERENCES.get(name, {}))) == []


@pytest.mark.parametrize("name", ["training_epoch_end"])
def test_scenario_run_by_the_runner_equals_the_real_release(name: str, tmp_path: Path) -> None:
    script = GOLDEN / "scenarios" / f"{name}.py"
    command = [sys.executable, "-m", "relight.compat", str(script), "result.json"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    found = json.loads((tmp_path / "result.json").read_text())
    assert list(differences(expected, found, {})) == []


def test_every_scenario_was_recorded() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SCENARIOS)
    assert set(DIFFERENCES) <= set(SCENARIOS)

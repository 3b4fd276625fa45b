"""Scenarios in 1.x style give under compat what the real releases gave, to the bit.

The records were made by `scripts/record_compat.py`. What may differ stands in DIFFERENCES, with the reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "compat"
SCENARIOS = sorted(path.stem for path in (GOLDEN / "scenarios").glob("*.py") if path.stem != "scenario_kit")

EPOCH_1_6 = "since 1.6 current_epoch is the number of epochs that were finished, after fit too"
RATES = "2.x's LearningRateMonitor also puts the rates into callback_metrics"
TEST_ROWS = "since 1.6 a row of test() has the count of steps as its step, 1.5 had one less"

# scenario → (part of the record: key, or number of an event) → reason
DIFFERENCES: dict[str, dict[Any, str]] = {
    "legacy_callbacks_1_5": {"fit.current_epoch": EPOCH_1_6},
    "legacy_trainer_1_5": {"fit.current_epoch": EPOCH_1_6, "fit.rows": TEST_ROWS},
    "schedulers": {f"{model}.callback_metrics": RATES for model in ("Steps", "Epochs", "Plateau")},
}


def run(name: str, directory: Path) -> dict[str, Any]:
    result = directory / "result.json"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RELIGHT_COMPAT": "warn"}
    done = subprocess.run(
        [sys.executable, "-m", "relight.compat", str(GOLDEN / "scenarios" / f"{name}.py"), str(result)],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    record: dict[str, Any] = json.loads(result.read_text())
    return record


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_equals_the_real_release(name: str, tmp_path: Path) -> None:
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    found = run(name, tmp_path)
    allowed = DIFFERENCES.get(name, {})
    events = expected.pop("events"), found.pop("events")
    if "events" not in allowed:
        for number, (one, other) in enumerate(zip(*events, strict=False)):
            if number not in allowed:
                assert other == one, f"event {number}"
        assert len(events[1]) == len(events[0])
    assert sorted(found) == sorted(expected)
    for key, value in expected.items():
        if key in allowed:
            continue
        if not isinstance(value, dict):
            assert found[key] == value, key
            continue
        for part in value:
            if f"{key}.{part}" not in allowed:
                assert found[key][part] == value[part], f"{key}: {part}"


def test_every_scenario_was_recorded() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SCENARIOS)
    assert set(DIFFERENCES) <= set(SCENARIOS)

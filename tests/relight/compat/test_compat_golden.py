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

from golden_values import same

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "compat"
SCENARIOS = sorted(path.stem for path in (GOLDEN / "scenarios").glob("*.py") if path.stem != "scenario_kit")

RATES = "2.x's LearningRateMonitor also puts the rates into callback_metrics"
PLACE = "relight's files hold where the epoch was, under a key of their own"
LAST = "1.9 did not know the last batch of an endless loader that `limit_train_batches` cuts"
DRAWS = "a resumed run goes on with the random states of its file, not with those of the moment"

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "RELIGHT_COMPAT": "warn"}

# scenario → (part of the record: key, or number of an event) → reason
DIFFERENCES: dict[str, dict[Any, str]] = {
    "callback_state": {25: PLACE},
    "endless_data": {2: LAST, 3: LAST},
    "resume": {"resumed again.weights": DRAWS},
    "schedulers": {f"{model}.callback_metrics": RATES for model in ("Steps", "Epochs", "Plateau")},
}


# What compat does not follow when an older release is chosen: release → scenario → reason.
_SEEDS = "1.5 made iterators and called loader methods at other moments, which draws other seeds"
_SHORT = "up to 1.7 `should_stop` could end an epoch before `min_epochs` and `min_steps` were asked"
NOT_FOLLOWED: dict[str, dict[str, str]] = {
    "1.7.7": {
        "early_stop_and_monitor": _SHORT,
        "endless_data": LAST,
        "resume": DRAWS,
        "schedulers": RATES,
        "stopping_and_checkpoints": "a value that `test` of the best file reports, changed by 1.8: compat gives that of 1.9",
    },
    "1.5.10": {
        "argparse_helpers": "the parser has the options of 1.9",
        "batch_transfer": _SEEDS,
        "callback_state": "what a file of 1.5 counts: one step and one epoch more",
        "datamodule": "1.5 did not call `setup` again after the user had",
        "early_stop_and_monitor": _SHORT,
        "endless_data": LAST,
        "randomness": _SEEDS,
        "resume": "what a file of 1.5 counts: one step and one epoch more",
        "schedulers": RATES,
        "stopping_and_checkpoints": "what a file of 1.5 counts: one step and one epoch more",
        "test_and_loaders_of_module": "results of `test` hold what an epoch's end logged since 1.6",
        "test_epoch_end": "results of `test` hold what an epoch's end logged since 1.6",
        "tuning": "1.5 counted the steps of a search otherwise, kept no random states, and ended when memory ran out",
    },
}
RELEASES: dict[str, dict[str, str]] = json.loads((GOLDEN / "releases.json").read_text())


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


def run(directory: Path, names: list[str], version: str = "") -> None:
    command = [sys.executable, "-c", DRIVER, str(GOLDEN / "scenarios"), *names]
    environment = {**ENVIRONMENT, "RELIGHT_COMPAT_VERSION": version}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("scenarios")
    old = [name for name in SCENARIOS if name.endswith("_1_5")]
    run(directory, [name for name in SCENARIOS if name not in old])
    run(directory, old, "1.5")
    return directory


def differences(expected: dict[str, Any], found: dict[str, Any], allowed: dict[Any, str]) -> Iterator[str]:
    """Yield what differs and may not."""
    events, others = expected.pop("events"), found.pop("events")
    for number, (one, other) in enumerate(zip(events, others, strict=False)):
        if not same(other, one) and number not in allowed:
            yield f"event {number}: {other} instead of {one}"
    if len(events) != len(others):
        yield f"{len(others)} events instead of {len(events)}"
    if sorted(found) != sorted(expected):
        yield f"parts {sorted(found)} instead of {sorted(expected)}"
    for key, value in expected.items():
        for part in value if isinstance(value, dict) else [None]:
            one, other = (value, found[key]) if part is None else (value[part], found[key][part])
            name = key if part is None else f"{key}.{part}"
            if not same(other, one) and name not in allowed:
                yield f"{name}: {other} instead of {one}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_equals_the_real_release(name: str, records: Path) -> None:
    error = records / name / "error.txt"
    assert not error.exists(), error.read_text()
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    found = json.loads((records / name / "result.json").read_text())
    assert list(differences(expected, found, DIFFERENCES.get(name, {}))) == []


def followed(release: str) -> list[str]:
    """Return the scenarios that ``release`` can run and that compat follows it in."""
    return [
        name
        for name, how in RELEASES[release].items()
        if how in ("same", "recorded") and name not in NOT_FOLLOWED[release]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("release", sorted(NOT_FOLLOWED))
def test_scenarios_equal_an_older_release_that_is_chosen(release: str, tmp_path: Path) -> None:
    names = followed(release)
    run(tmp_path, names, release)
    wrong: dict[str, list[str]] = {}
    for name in names:
        error = tmp_path / name / "error.txt"
        assert not error.exists(), error.read_text()
        own = GOLDEN / release / f"{name}.json"
        expected = json.loads((own if own.exists() else GOLDEN / f"{name}.json").read_text())
        found = json.loads((tmp_path / name / "result.json").read_text())
        if problems := list(differences(expected, found, {})):
            wrong[name] = problems
    assert wrong == {}


def test_most_scenarios_are_followed_in_every_release() -> None:
    counts = {release: len(followed(release)) for release in NOT_FOLLOWED}
    assert counts["1.7.7"] >= 31
    assert counts["1.5.10"] >= 23
    assert len(SCENARIOS) >= 40
    for release, names in NOT_FOLLOWED.items():
        assert set(names) <= {n for n, how in RELEASES[release].items() if not how.startswith("cannot")}


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
    assert {path.stem for path in GOLDEN.glob("*.json")} - {"releases"} == set(SCENARIOS)
    assert set(DIFFERENCES) <= set(SCENARIOS)

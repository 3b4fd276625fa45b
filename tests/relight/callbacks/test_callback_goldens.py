"""What the callbacks do in whole fits, compared with what Lightning 2.6.6 did (see callback_scenarios.py)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from golden_values import same

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "callbacks"

spec = importlib.util.spec_from_file_location("callback_scenarios", HERE / "callback_scenarios.py")
assert spec is not None
assert spec.loader is not None
scenarios = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scenarios)


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())["data"]


@pytest.fixture(scope="module")
def dialect() -> Any:
    return scenarios.Dialect("relight")


def as_json(data: Any) -> Any:
    return json.loads(json.dumps(data, sort_keys=True))


def without_metric_order(result: dict[str, Any]) -> dict[str, Any]:
    """The metrics that an error lists, in any order."""
    if result["error"] is not None:
        kind, message = result["error"]
        result["error"] = [kind, sorted(message)]
    return result


#: Lightning saves with the value of the validation before, though one comes right after the batch (#20185);
#: tests/relight/checkpoints/test_monitored_values.py says what is right.
STALE_IN_LIGHTNING = {"by_step_at_epoch_end", "by_step_waits"}


@pytest.mark.parametrize("name", sorted(scenarios.CHECKPOINTS))
def test_checkpoints_saved_as_by_lightning(name: str, dialect: Any, tmp_path: Path) -> None:
    result = as_json(scenarios.run_checkpoint(dialect, name, str(tmp_path)))
    if name in STALE_IN_LIGHTNING:
        assert result != golden("checkpoints")[name]
        return
    assert same(without_metric_order(result), without_metric_order(golden("checkpoints")[name]))


def test_directories_and_resume_as_by_lightning(dialect: Any, tmp_path: Path) -> None:
    assert same(as_json(scenarios.run_checkpoint_directories(dialect, str(tmp_path))), golden("directories"))


@pytest.mark.parametrize("name", sorted(scenarios.STOPS))
def test_stops_as_lightning_does(name: str, dialect: Any, tmp_path: Path) -> None:
    result = as_json(scenarios.run_stop(dialect, name, str(tmp_path)))
    assert same(without_metric_order(result), without_metric_order(golden("stops")[name]))


@pytest.mark.parametrize("name", sorted(scenarios.RATES))
def test_learning_rates_logged_as_by_lightning(name: str, dialect: Any, tmp_path: Path) -> None:
    assert same(as_json(scenarios.run_rates(dialect, name, str(tmp_path))), golden("rates")[name])


def test_csv_files_equal_lightnings_to_the_byte(dialect: Any, tmp_path: Path) -> None:
    assert same(as_json(scenarios.run_csv(dialect, str(tmp_path))), golden("csv"))


def test_profiler_sees_each_overridden_hook_as_often(dialect: Any, tmp_path: Path) -> None:
    assert as_json(scenarios.run_profiler(dialect, str(tmp_path))) == golden("profiler")


def test_state_keys_in_checkpoints_equal_lightnings(dialect: Any, tmp_path: Path) -> None:
    assert as_json(scenarios.run_state_keys(dialect, str(tmp_path))) == golden("state_keys")


def test_hooks_have_lightnings_signatures(dialect: Any) -> None:
    assert scenarios.run_signatures(dialect)["hooks"] == golden("signatures")["hooks"]


@pytest.mark.parametrize("name", sorted(scenarios.CLASSES))
def test_constructors_have_lightnings_parameters(name: str, dialect: Any) -> None:
    ours = scenarios.run_signatures(dialect)["constructors"][name]
    theirs = golden("signatures")["constructors"][name]
    assert ours == theirs

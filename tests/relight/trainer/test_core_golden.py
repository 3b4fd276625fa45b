"""The core against what Lightning 2.6.6 did with the same scenario, to the last bit."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from golden_values import same

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "core"
TRACES = {path.stem: path for path in sorted((GOLDEN / "traces").glob("*.json"))}
pytest.importorskip("torchmetrics")
pytest.importorskip("numpy")


def _harness() -> Any:
    name = "relight_core_golden_harness"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GOLDEN / "harness.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


# What relight does differently, and why.
MODULE_FIRST = ("on_train_epoch_end", "on_validation_epoch_end", "on_test_epoch_end", "on_predict_epoch_end")
#: Scenario and key: reason.
DIFFERS = {
    # Metrics are worked out when someone looks, so after an exception they hold the batch that failed, not
    # the last
    # one that ended well.
    ("exception", "callback_metrics"),
    ("exception", "logged_metrics"),
    ("exception", "progress_bar_metrics"),
    # A sanity check that fails gives the random state back, too; Lightning does so only if it succeeds.
    ("exception_in_validation", "draws"),
    ("exception_in_data", "draws"),
}


def module_first(hooks: list[Any]) -> list[Any]:
    """Put the module before the callbacks at an epoch's end, so that callbacks can monitor what it logs
    there.
    """
    result: list[Any] = []
    for record in hooks:
        owner, _, name = record[0].partition(".")
        if owner == "M" and name in MODULE_FIRST:
            at = len(result)
            while at and result[at - 1][0].startswith("C") and result[at - 1][0].endswith("." + name):
                at -= 1
            result.insert(at, record)
        else:
            result.append(record)
    return result


def test_every_scenario_is_recorded() -> None:
    assert set(_harness().scenarios()) == set(TRACES)


@pytest.mark.parametrize("name", TRACES)
def test_same_as_lightning(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without what relight adds to a file: so are Lightning's files resumed. tests/relight/resume has the rest.
    monkeypatch.setattr("relight.trainer.resume.gather", lambda trainer: None)
    expected = json.loads(TRACES[name].read_text())
    report = json.loads(json.dumps(_harness().run(name, "relight", tmp_path)))
    expected["hooks"] = module_first(expected["hooks"])
    if name.startswith("interrupt_"):  # which can be caught as a KeyboardInterrupt, too
        assert expected["results"]["error"] == "SystemExit: 1"
        expected["results"]["error"] = "InterruptedRun: 1"
    for key, value in expected.items():
        if (name, key) in DIFFERS:
            assert report[key] != value, f"{key} does not differ any more"
            continue
        # LBFGS searches along lines, which blows up what the last bits differ by.
        assert same(report[key], value, rel=0.2 if name == "lbfgs" else 2e-3), key
    assert set(report) == set(expected)

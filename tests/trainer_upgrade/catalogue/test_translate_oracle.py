"""The recordings against the releases themselves: what was recorded is what they still choose."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "devices"


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record_devices", ROOT / "scripts" / "record_devices.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "release", "mode"),
    [
        ("1.9.5", "1.9.5", "--describe"),
        ("1.5.10", "1.5.10", "--describe"),
        ("2.6.6", "2.6.6", "--describe"),
        ("construct-2.6.6", "2.6.6", "--construct"),
    ],
)
def test_a_sample_of_the_recording_is_still_true(
    recorder: ModuleType, name: str, release: str, mode: str
) -> None:
    variable = "RELIGHT_ORACLE_" + release.replace(".", "_")
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no python with Lightning {release}")
    records: list[dict[str, Any]] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    sample = records[:: max(1, len(records) // 80)]
    chosen = recorder.ask(release, [record["arguments"] for record in sample], mode)
    assert chosen == [record["chosen"] for record in sample]
    assert len(sample) >= 80

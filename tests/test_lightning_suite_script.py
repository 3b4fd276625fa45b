"""The script that runs Lightning's tests: what it makes of their results."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "lightning_suite.py"


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("LIGHTNING_CHECKOUT", raising=False)
    spec = importlib.util.spec_from_file_location("lightning_suite_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_known_failure_has_a_kind_and_a_reason(suite: Any) -> None:
    known = suite.known()
    assert len(known) > 50
    for pattern, kind, reason in known:
        assert pattern.count("::") <= 1
        assert kind in {"private", "documented", "text", "absent", "machine"}
        assert reason
    assert len({pattern for pattern, _, _ in known}) == len(known)


def test_a_report_becomes_a_table(suite: Any, tmp_path: Path) -> None:
    rows = [
        ("core/test_a.py::test_one", "passed", ""),
        (
            "core/test_a.py::test_two",
            "failed",
            "lightning_suite.NotServed: relight has no lightning.x._Secret",
        ),
        (
            "core/test_a.py::test_three",
            "failed",
            "lightning_suite.NotServed: relight has no lightning.x.Thing",
        ),
        ("loops/test_progress.py::test_any", "failed", "assert 1 == 2"),
        ("core/test_a.py::test_new", "failed", "assert 1 == 2"),
        ("core/test_a.py::test_one", "failed", "left a thread behind"),
    ]
    report = tmp_path / "report.jsonl"
    lines = [json.dumps({"test": test, "outcome": outcome, "message": text}) for test, outcome, text in rows]
    report.write_text("\n".join(lines))
    table, unexplained = suite.summary(report)
    assert table.splitlines()[-1] == "| all | 0 | 2 | 0 | 1 | 2 |"
    assert [row["test"] for row in unexplained] == ["core/test_a.py::test_one", "core/test_a.py::test_new"]


def test_stand_ins_pass_imports_and_raise_when_used(suite: Any) -> None:
    thing = suite.stand_in("lightning.pytorch.loops._Loop")
    assert not thing

    class Derived(thing):  # type: ignore[misc]
        """Test files derive from what they import; that alone is no use of it."""

    with pytest.raises(suite.NotServed, match=r"_Loop\.run"):
        thing.run()

"""Profilers on their own."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from relight.profilers import AdvancedProfiler, PassThroughProfiler, SimpleProfiler


def test_simple_profiler_merges_equal_names(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    profiler = SimpleProfiler()
    for name, seconds in (("a", 1.0), ("b", 4.0), ("a", 2.0)):
        with profiler.profile(name):
            now += seconds
    assert profiler.recorded_durations == {"a": [1.0, 2.0], "b": [4.0]}
    rows = [line.split("|") for line in profiler.summary().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row[1:-1]] for row in rows]
    assert cells == [
        ["Action", "Mean duration (s)", "Num calls", "Total time (s)", "Percentage %"],
        ["Total", "-", "3", "7.0", "100 %"],
        ["b", "4.0", "1", "4.0", "57.143"],
        ["a", "1.5", "2", "3.0", "42.857"],
    ]
    profiler.extended = False
    assert "Num calls" not in profiler.summary()
    assert profiler.summary().index("b ") < profiler.summary().index("a ")


def test_actions_nest_but_not_in_themselves() -> None:
    profiler = SimpleProfiler()
    with (
        profiler.profile("outer"),
        profiler.profile("inner"),
        pytest.raises(ValueError, match="already started"),
    ):
        profiler.start("outer")
    with pytest.raises(ValueError, match="never started"):
        profiler.stop("other")


def test_an_action_ends_also_when_it_fails() -> None:
    profiler = SimpleProfiler()
    with pytest.raises(KeyError), profiler.profile("a"):
        raise KeyError
    assert len(profiler.recorded_durations["a"]) == 1
    assert profiler.current_actions == {}


@pytest.mark.parametrize("profiler", [SimpleProfiler(), AdvancedProfiler(), PassThroughProfiler()])
def test_an_empty_report(profiler: SimpleProfiler) -> None:
    profiler.describe()
    assert "Profiler Report" in profiler.summary() or type(profiler) is PassThroughProfiler


def test_report_files_are_named_by_stage_and_rank(tmp_path: Path) -> None:
    profiler = SimpleProfiler(filename="perf")
    profiler.setup("fit", local_rank=1, log_dir=str(tmp_path))
    with profiler.profile("x"):
        pass
    profiler.describe()
    profiler.describe()
    assert os.listdir(tmp_path) == ["fit-perf-1.txt"]
    text = (tmp_path / "fit-perf-1.txt").read_text()
    assert text.count("FIT Profiler Report") == 2
    assert profiler._prepare_filename("[Callback]E{'a': 1}/x:y") == "fit-perf-1-[Callback]E{'a'_ 1}_x_y.txt"


def test_advanced_profiler_names_functions(tmp_path: Path) -> None:
    profiler = AdvancedProfiler(dirpath=tmp_path, dump_stats=True, line_count_restriction=5)

    def work() -> int:
        return sum(range(1000))

    for _ in range(2):
        with profiler.profile("outer"):
            work()
            with profiler.profile("inner"):
                work()
    report = profiler.summary()
    assert report.count("Profile stats for: ") == 2
    assert "(work)" in report
    assert sorted(os.listdir(tmp_path)) == ["inner.prof", "outer.prof"]
    with pytest.raises(ValueError, match="never started"):
        profiler.stop("other")
    profiler.teardown(None)
    assert profiler.profiled_actions == {}


def test_advanced_profiler_needs_a_directory_to_dump() -> None:
    profiler = AdvancedProfiler(dump_stats=True)
    with profiler.profile("a"):
        pass
    with pytest.raises(ValueError, match="dirpath"):
        profiler.summary()


def test_advanced_profiler_can_be_pickled() -> None:
    profiler = AdvancedProfiler(filename="x", line_count_restriction=3)
    with profiler.profile("a"):
        pass
    other = pickle.loads(pickle.dumps(profiler))
    assert (other.filename, other.line_count_restriction, other.profiled_actions) == ("x", 3, {})

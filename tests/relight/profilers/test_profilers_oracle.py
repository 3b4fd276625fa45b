"""Reports of the simple and the advanced profiler, against real Lightning 2.6.6."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

# A clock that moves by hand, so that both measure the same.
SCRIPT = """
import importlib, json, sys, time
profilers = importlib.import_module(sys.argv[1] + ".profilers")
now = 0.0
time.perf_counter = time.monotonic = lambda: now
out = {}
for extended in (True, False):
    for stage, rank in ((None, None), ("fit", 1)):
        profiler = profilers.SimpleProfiler(dirpath="d", filename="f g", extended=extended)
        profiler.start_time = now
        for name, seconds in (("a", 1.0), ("b/c", 4.25), ("a", 2.123456789), ("d", 1e-7)):
            with profiler.profile(name):
                now += seconds
        if stage:
            profiler.setup(stage, local_rank=rank, log_dir="other")
        text = profiler.summary()
        rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if "|" in line]
        key = f"{extended} {stage}"
        out[key] = [text.splitlines()[0], rows, str(profiler.dirpath), profiler.recorded_durations]
        out[key + " files"] = [profiler._prepare_filename(), profiler._prepare_filename("[X]Y{'a': 1}.z", ".prof")]
profiler = profilers.AdvancedProfiler(line_count_restriction=1)
profiler.setup("test", local_rank=0)
with profiler.profile("x"):
    sorted([2, 1])
out["advanced"] = [line for line in profiler.summary().splitlines() if "rofile" in line and "profiler.py" not in line]
print("RESULT " + json.dumps(out))
"""


def run(python: str, root: str) -> Any:
    done = subprocess.run(
        [python, "-W", "ignore", "-c", SCRIPT, root], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))


@pytest.mark.oracle
@pytest.mark.slow
def test_reports_have_the_same_cells_and_files_the_same_names() -> None:
    if not (lightning := os.environ.get("RELIGHT_ORACLE_2_6_6")):
        pytest.skip("RELIGHT_ORACLE_2_6_6 names no python with Lightning 2.6.6")
    assert run(sys.executable, "relight") == run(lightning, "lightning.pytorch")

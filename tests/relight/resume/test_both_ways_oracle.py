"""Files of Lightning 2.6.6 are resumed here as there, and ours there as its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("both_ways.py")


def run(python: str, *arguments: str) -> Any:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, SCRIPT, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = next(line for line in done.stdout.splitlines() if line.startswith("REPORT"))
    return json.loads(report.removeprefix("REPORT"))


@pytest.mark.oracle
def test_both_ways(tmp_path: Path) -> None:
    lightning = os.environ.get("RELIGHT_ORACLE_2_6_6")
    if not lightning:
        pytest.skip("RELIGHT_ORACLE_2_6_6 is not set")
    theirs, ours = (lightning, "lightning.pytorch"), (sys.executable, "relight")
    unbroken = {root: run(python, root, "save", str(tmp_path)) for python, root in (theirs, ours)}
    assert unbroken["relight"] == unbroken["lightning.pytorch"]
    files = [str(tmp_path / f"{root}-{place}.ckpt") for root in unbroken for place in ("middle", "end")]
    there, here = (run(*side, "resume", str(tmp_path), *files) for side in (theirs, ours))
    for place in ("middle.ckpt", "end.ckpt"):
        mine = here[f"relight-{place}"]
        assert here[f"lightning.pytorch-{place}"] == there[f"lightning.pytorch-{place}"]
        from_ours, from_theirs = there[f"relight-{place}"], there[f"lightning.pytorch-{place}"]
        if (
            place == "end.ckpt"
        ):  # there callbacks that monitor come after the one that saved: the file has less
            assert from_ours.pop("early") == mine["early"]
            del from_theirs["early"]
        assert from_ours == from_theirs
        for key in (
            "weights",
            "optimizer",
            "rates",
            "schedulers",
            "precision",
            "tally",
            "early",
            "epoch",
            "step",
        ):
            assert mine[key] == unbroken["relight"][key], key
        assert unbroken["relight"]["losses"][-len(mine["losses"]) :] == mine["losses"]

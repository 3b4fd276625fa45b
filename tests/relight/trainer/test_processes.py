"""Two processes on one machine, against what Lightning 2.6.6 did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from golden_values import same

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "core"


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed package")
@pytest.mark.parametrize("strategy", ["ddp", "ddp_spawn"])
def test_same_as_lightning(strategy: str, tmp_path: Path) -> None:
    command = [sys.executable, str(GOLDEN / "processes.py"), "relight", strategy, str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "terminate called" not in done.stderr  # a process group that nobody closed
    report = next(line for line in done.stdout.splitlines() if line.startswith("REPORT"))
    assert same(
        json.loads(report.removeprefix("REPORT")), json.loads((GOLDEN / "processes.json").read_text())
    )
    if strategy == "ddp":
        saved = torch.load(tmp_path / "after.ckpt", weights_only=True)
        assert not any(name.startswith("module.") for name in saved["state_dict"])

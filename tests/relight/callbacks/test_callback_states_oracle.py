"""Callback states in checkpoints go both ways between relight and real Lightning 2.6.6."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Trains two epochs, or resumes and trains on; prints the callbacks' states and where the best file is.
SCRIPT = """
import json, os, sys
sys.path.insert(0, {here!r})
import callback_scenarios as s
root, ckpt, epochs, directory = sys.argv[1:]
d = s.Dialect(root)
stop = d.callbacks.EarlyStopping("val_loss", patience=4)
timer = d.callbacks.Timer("00:01:00:00")
keep = d.callbacks.ModelCheckpoint(
    dirpath=directory, monitor="val_loss", save_top_k=2, filename="{{epoch}}", save_last=True
)
model = s.make_model(d, [0.5, 0.4, 0.45, 0.44, 0.43, 0.46, 0.47])
model.validations = 2 if ckpt else 0
trainer = d.fit(
    model, ckpt_path=ckpt or None, callbacks=[stop, timer, keep], logger=False,
    default_root_dir=directory, max_epochs=int(epochs),
)
out = {{
    "stop": {{k: s.number(v) for k, v in stop.state_dict().items()}},
    "keep": s._checkpoint_state(keep, os.path.realpath(directory)),
    "epoch": trainer.current_epoch, "step": trainer.global_step,
    "time_went_on": timer.time_elapsed() > timer._offset > 0 if ckpt else timer._offset == 0,
    "weights": [s.number(p.sum()) for p in model.parameters()],
}}
print("RESULT " + json.dumps(out, sort_keys=True))
"""


def run(python: str, root: str, ckpt: str, epochs: int, directory: Path) -> Any:
    script = SCRIPT.format(here=str(Path(__file__).parent))
    done = subprocess.run(
        [python, "-c", script, root, ckpt, str(epochs), str(directory)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))


@pytest.mark.oracle
@pytest.mark.slow
def test_states_go_both_ways(tmp_path: Path) -> None:
    if not (lightning := os.environ.get("RELIGHT_ORACLE_2_6_6")):
        pytest.skip("RELIGHT_ORACLE_2_6_6 is not set")
    sides = {"relight": (sys.executable, "relight"), "lightning": (lightning, "lightning.pytorch")}
    results = {}
    for first in sides:
        for second in sides:
            # One directory for both: checkpoints remember it.
            directory = tmp_path / f"{first}-{second}"
            begun = run(*sides[first], "", 2, directory)
            resumed = run(*sides[second], str(directory / "last.ckpt"), 7, directory)
            results[first, second] = (begun, resumed)
    expected = results["lightning", "lightning"]
    assert expected[1]["stop"]["wait_count"] == 4, "the scenario is to end by early stopping"
    assert expected[1]["time_went_on"]
    for sequence, result in results.items():
        assert result == expected, sequence

"""Upgraded configurations build a Trainer of a real Lightning 2.6.6."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
import yaml

from trainer_upgrade import testing

ORACLE = os.environ.get("RELIGHT_ORACLE_2_6_6")
CODE = "import pytorch_lightning as pl\npl.Trainer(**cfg.trainer)\n"
# Blocks as they stand in projects of 1.x, each with what the Trainer must show.
BLOCKS: list[tuple[str, dict[str, Any]]] = [
    ("gpus: 0\nmax_nb_epochs: 4", {"max_epochs": 4, "num_devices": 1}),
    ("gpus: null\nnum_processes: 1\naccelerator: null\nmax_steps: null", {"max_steps": -1, "num_devices": 1}),
    ("accelerator: ddp_cpu\nnum_processes: 2", {"num_devices": 2}),
    ("precision: bf16\namp_backend: native\namp_level: O2\ngpus: 0", {"precision": "bf16-mixed"}),
    ("checkpoint_callback: false\nlogger: false\nweights_summary: null\ngpus: 0", {"num_devices": 1}),
    (
        "resume_from_checkpoint: null\nterminate_on_nan: false\ntrack_grad_norm: -1\nreplace_sampler_ddp: true",
        {},
    ),
    (
        "default_save_path: .\nrow_log_interval: 7\nmin_nb_epochs: 2\ngpus: []",
        {"log_every_n_steps": 7, "min_epochs": 2},
    ),
    ("stochastic_weight_avg: false\nauto_lr_find: false\nflush_logs_every_n_steps: 100\nprofiler: true", {}),
]
SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pytorch_lightning as pl
for block, shown in json.loads(sys.argv[1]):
    trainer = pl.Trainer(**{"accelerator": "cpu", **block})
    for name, value in shown.items():
        assert getattr(trainer, name) == value, (block, name, getattr(trainer, name))
print("all built")
"""


@pytest.mark.oracle
@pytest.mark.skipif(not ORACLE, reason="RELIGHT_ORACLE_2_6_6 is not set")
def test_upgraded_blocks_build_a_trainer() -> None:
    blocks = []
    for block, shown in BLOCKS:
        text = "trainer:\n" + "".join(f"  {line}\n" for line in block.split("\n"))
        files = {"conf/config.yaml": text, "train.py": CODE}
        new = testing.upgrade_files(files, target="lightning", unsafe=True)["conf/config.yaml"]
        blocks.append((yaml.safe_load(new)["trainer"] or {}, shown))
    done = subprocess.run(
        [str(ORACLE), "-c", SCRIPT, json.dumps(blocks)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "all built" in done.stdout, done.stderr[-2000:]

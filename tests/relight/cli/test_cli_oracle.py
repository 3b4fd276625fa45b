"""The same program on relight and on real Lightning 2.6.6: what is built, run and saved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("jsonargparse")

PROGRAM = Path(__file__).with_name("cli_program.py")
CSV = ["--trainer.logger=CSVLogger", "--trainer.logger.save_dir=.", "--trainer.accelerator=cpu"]
SCENARIOS = {
    "plain": ["fit", *CSV, "--trainer.max_epochs=2", "--trainer.enable_progress_bar=false"],
    "nested": [
        "fit", *CSV, "--trainer.max_epochs=1", "--model.encoder=Encoder", "--model.encoder.size=7",
        "--model.encoder.inner=torch.nn.Dropout", "--model.widths=[3,4]", "--data.width=3", "--model.rate=0.01",
    ],
    "optimizers": [
        "fit", *CSV, "--trainer.max_epochs=2", "--optimizer=Adam", "--optimizer.lr=0.02", "--lr_scheduler=StepLR",
        "--lr_scheduler.step_size=1", "--stop.patience=9", "--seed_everything=5",
    ],
    "plateau": [
        "fit", *CSV, "--trainer.max_epochs=2", "--optimizer=SGD", "--optimizer.lr=0.02",
        "--lr_scheduler=ReduceLROnPlateau", "--lr_scheduler.monitor=val_loss",
    ],
    "test": ["test", *CSV, "--data.samples=3"],
}  # fmt: skip


def run(python: str, root: str, directory: Path, args: list[str]) -> list[str]:
    directory.mkdir()
    environment = {**os.environ, "CLI_ROOT": root, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, str(PROGRAM), *args],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("RESULT")]


def files(directory: Path) -> dict[str, Any]:
    """The files beside the logs; the Trainer's part of the configuration is compared where both have it."""
    version = directory / "lightning_logs" / "version_0"
    found: dict[str, Any] = {
        path.relative_to(directory).as_posix(): path.read_text().replace("lightning.pytorch", "relight")
        for path in version.rglob("*")
        if path.is_file() and path.suffix in (".csv", ".yaml") and path.name != "config.yaml"
    }
    found["checkpoints"] = sorted(path.name for path in version.rglob("*.ckpt"))
    text = (version / "config.yaml").read_text().replace("lightning.pytorch", "relight")
    found["head"] = re.sub(r"==.*", "==", text.splitlines()[0])
    found["config"] = yaml.safe_load(text)
    return found


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_as_lightning_does(name: str, tmp_path: Path) -> None:
    if not (lightning := os.environ.get("RELIGHT_ORACLE_2_6_6")):
        pytest.skip("RELIGHT_ORACLE_2_6_6 names no python with Lightning 2.6.6")
    here, there = tmp_path / "here", tmp_path / "there"
    assert run(sys.executable, "relight", here, SCENARIOS[name]) == run(
        lightning, "lightning.pytorch", there, SCENARIOS[name]
    )
    ours, theirs = files(here), files(there)
    our_config, their_config = ours.pop("config"), theirs.pop("config")
    assert ours == theirs
    our_trainer, their_trainer = our_config.pop("trainer"), their_config.pop("trainer")
    common = set(our_trainer) & set(their_trainer)
    assert set(our_trainer) - common == {"options"}
    assert {key: our_trainer[key] for key in common} == {key: their_trainer[key] for key in common}
    own = set(our_config) - set(their_config)  # what belongs to the entry points here
    assert all(our_config.pop(key) in (None, "UNSET") for key in own)
    assert our_config == their_config

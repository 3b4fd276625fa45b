"""The second opinion on upgraded code: what it finds, and that a report takes it away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "independent_check.py"
OLD: dict[str, Any] = {
    "modules": {
        "pytorch_lightning": ["Trainer", "LightningModule", "metrics"],
        "pytorch_lightning.metrics": ["F1"],
    },
    "constructors": {"Trainer": ["self", "gpus", "max_epochs"]},
    "entry_points": {"fit": ["self", "model", "train_dataloader"]},
    "trainer": ["fit", "tune", "current_epoch"],
    "hooks": {
        "LightningModule": {"training_epoch_end": 1, "on_train_batch_end": 4},
        "LightningDataModule": {},
        "Callback": {},
    },
}
NEW: dict[str, Any] = {
    "modules": {"pytorch_lightning": ["Trainer", "LightningModule"]},
    "constructors": {"Trainer": ["self", "max_epochs"]},
    "entry_points": {"fit": ["self", "model", "train_dataloaders"]},
    "trainer": ["fit", "current_epoch"],
    "hooks": {"LightningModule": {"on_train_batch_end": 3}, "LightningDataModule": {}, "Callback": {}},
}
CODE = """\
import pytorch_lightning as pl
from pytorch_lightning.metrics import F1


class Net(pl.LightningModule):
    def training_epoch_end(self, outputs): ...

    def on_train_batch_end(self, outputs, batch, batch_idx, dataloader_idx): ...

    def forward(self, x):
        return self.trainer.tune


trainer = pl.Trainer(gpus=1, max_epochs=2)
trainer.fit(Net(), train_dataloader=None)
try:
    from pytorch_lightning.metrics import F1
except ImportError:
    F1 = None
"""


def run(root: Path, reported: list[int]) -> tuple[int, list[str]]:
    (root / "tree").mkdir(exist_ok=True)
    (root / "tree/net.py").write_text(CODE)
    (root / "old.json").write_text(json.dumps(OLD))
    (root / "new.json").write_text(json.dumps(NEW))
    told = [
        {"filename": str(root / "tree/net.py"), "location": {"row": row}, "end_location": {"row": row}}
        for row in reported
    ]
    (root / "told.json").write_text(json.dumps(told))
    done = subprocess.run(
        [
            sys.executable,
            SCRIPT,
            "check",
            "new.json",
            "old.json",
            "--tree",
            "tree",
            "--reported",
            "told.json",
        ],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, [line.split(":", 2)[1] for line in done.stdout.splitlines()]


def test_everything_that_an_old_release_had_is_found(tmp_path: Path) -> None:
    assert run(tmp_path, []) == (1, ["2", "14", "15", "6", "8", "11"])


def test_what_is_reported_is_not_left(tmp_path: Path) -> None:
    assert run(tmp_path, [2, 14, 6, 8, 11]) == (1, ["15"])
    assert run(tmp_path, [2, 14, 15, 6, 8, 11]) == (0, [])

"""``--verify``: copies are run, what they compute is compared, and the original is never touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.errors import UsageError
from trainer_upgrade.verify import command
from trainer_upgrade.verify.command import Asked, verify
from trainer_upgrade.verify.compare import compare, summary
from trainer_upgrade.verify.projects import copy_project

SCRIPT = """\
import pytorch_lightning as pl
import torch


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).square().mean()
        return {"loss": loss}

    def training_epoch_end(self, outputs):
        self.log("mean_loss", torch.stack([each["loss"] for each in outputs]).mean())

    def validation_step(self, batch, batch_idx):
        return self.layer(batch).square().mean()

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack(outputs).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


# No seed: the runs are seeded for the script.
data = torch.utils.data.DataLoader(torch.randn(8, 4), batch_size=2, shuffle=True)
trainer = pl.Trainer(gpus=0, max_epochs=2, logger=False, checkpoint_callback=False, progress_bar_refresh_rate=0)
trainer.fit(Net(), train_dataloader=data, val_dataloaders=data)
"""


def project(root: Path, text: str = SCRIPT) -> Path:
    (root / "train.py").write_text(text)
    (root / "notes.txt").write_text("kept\n")
    return root


def run(asked: Asked, root: Path) -> tuple[bool, list[str]]:
    said: list[str] = []
    equal = verify(asked, root, said.append)
    return equal, said


def test_equal_runs_are_said_to_be_equal(tmp_path: Path) -> None:
    root = project(tmp_path)
    equal, said = run(Asked("python train.py", Target.RELIGHT), root)
    assert said[-1] == "verified: equal to the last bit"
    assert equal
    (told,) = (line for line in said if line.startswith("equal to"))
    assert "8 training batches with 8 losses" in told
    assert "1 states of all weights" in told
    assert (root / "train.py").read_text() == SCRIPT
    assert sorted(each.name for each in root.iterdir()) == ["notes.txt", "train.py"]


def test_the_first_difference_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = command._upgrade

    def wrong(root: Path, asked: Asked) -> int:
        done = upgrade(root, asked)
        path = root / "train.py"
        path.write_text(path.read_text().replace("lr=0.1", "lr=0.2"))
        return done

    monkeypatch.setattr(command, "_upgrade", wrong)
    equal, said = run(Asked("python train.py", Target.RELIGHT), project(tmp_path))
    assert not equal
    assert said[-1] == "not verified: the runs differ"
    (told,) = (line for line in said if line.startswith("differs from"))
    # The first step is taken with equal weights, so the second loss is the first that differs.
    assert "train batch epoch 0 batch 1, loss" in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import pytorch_lightning as pl\n\nraise SystemExit('no data here')\n", "no data here"),
        ("print('nothing to train')\n", "not verified: no Trainer ran, so there is nothing to compare"),
    ],
)
def test_a_run_that_fails_or_trains_nothing_is_no_proof(tmp_path: Path, text: str, expected: str) -> None:
    equal, said = run(Asked("python train.py", Target.RELIGHT), project(tmp_path, text))
    assert not equal
    assert any(expected in line for line in said)
    assert said[-1].startswith("not verified")


def test_a_run_may_not_take_for_ever(tmp_path: Path) -> None:
    equal, said = run(
        Asked("python train.py", Target.RELIGHT, seconds=0.5),
        project(tmp_path, "import time\n\ntime.sleep(60)\n"),
    )
    assert not equal
    assert any("its time was up" in line for line in said)


@pytest.mark.parametrize(
    ("text", "word"), [("", "wants a command"), ("no-such-program train.py", "no program")]
)
def test_wrong_commands_are_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        run(Asked(text, Target.RELIGHT), project(tmp_path))


def test_the_command_line(tmp_path: Path) -> None:
    project(tmp_path, "print('nothing to train')\n")
    tool = [sys.executable, "-m", "trainer_upgrade"]
    done = subprocess.run(
        [*tool, "--verify", "python train.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    done = subprocess.run(
        [*tool, "--verify", "python x.py", "src"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "name no files" in done.stderr


# Comparing


def batch(index: int, loss: float | None) -> dict[str, Any]:
    return {"event": "train batch", "epoch": 0, "batch": index, "loss": None if loss is None else loss.hex()}


def metrics(**values: float) -> dict[str, Any]:
    return {
        "event": "metrics",
        "stage": "validation",
        "values": {name: value.hex() for name, value in values.items()},
    }


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ([batch(0, 1.0)], [batch(0, 1.0)], None),
        ([batch(0, 1.0)], [batch(0, None)], None),
        ([metrics(a=1.0)], [metrics(a=1.0, b=2.0)], None),
        ([batch(0, 1.0)], [batch(0, 1.0 + 2**-52)], "train batch epoch 0 batch 0, loss"),
        ([batch(0, 1.0)], [batch(1, 1.0)], "train batch epoch 0 batch 0, batch"),
        ([metrics(a=1.0)], [metrics(b=1.0)], "metrics of validation, `a`"),
        ([metrics(a=1.0)], [batch(0, 1.0)], "the order of events"),
        ([batch(0, 1.0), batch(1, 1.0)], [batch(0, 1.0)], "train batch epoch 0 batch 1"),
        (
            [{"event": "weights", "digest": "a"}],
            [{"event": "weights", "digest": "b"}],
            "weights when fit ends, digest",
        ),
        ([metrics(a=float("nan"))], [metrics(a=float("nan"))], None),
    ],
)
def test_comparing(before: list[dict[str, Any]], after: list[dict[str, Any]], where: str | None) -> None:
    found = compare(before, after)
    assert (found.where if found is not None else None) == where


def test_summary_counts() -> None:
    text = summary(
        [batch(0, 1.0), batch(1, None), metrics(a=1.0), {"event": "weights", "digest": "x", "values": {}}]
    )
    assert text == "2 training batches with 1 losses, 0 rows for loggers, 1 metrics, 1 states of all weights"


def test_copies_leave_out_what_no_run_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    for name in (".git/config", "venv/bin/python", "pkg/__pycache__/a.pyc", "pkg/a.py", "data/big.bin"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * (200 if "big" in name else 10))
    os.symlink("nowhere", root / "broken")
    monkeypatch.setattr("trainer_upgrade.verify.projects._LARGE", 100)
    linked = copy_project(root, tmp_path / "copy")
    copied = sorted(
        str(each.relative_to(tmp_path / "copy")) for each in (tmp_path / "copy").rglob("*") if each.is_file()
    )
    assert copied == ["data/big.bin", "pkg/a.py"]
    assert linked == [root / "data/big.bin"]
    assert (tmp_path / "copy/data/big.bin").is_symlink()

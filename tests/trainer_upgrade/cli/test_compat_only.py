"""``--compat-only``: the import root changes, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REST = "\n\ntrainer = pl.Trainer(gpus=0, max_nb_epochs=1)\n"


def run(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trainer_upgrade", "--isolated", "--compat-only", *options, "."]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import pytorch_lightning as pl", "import relight.compat as pl"),
        ("import lightning.pytorch as pl, os", "import relight.compat as pl, os"),
        ("import pytorch_lightning", "import relight.compat as pytorch_lightning"),
        ("import pytorch_lightning.callbacks", "import relight.compat as pytorch_lightning"),
        ("import pytorch_lightning.callbacks as cb", "import relight.compat.callbacks as cb"),
        ("from pytorch_lightning import Trainer", "from relight.compat import Trainer"),
        (
            "from pytorch_lightning.utilities.distributed import (  # kept\n    rank_zero_only,\n)",
            "from relight.compat.utilities.distributed import (  # kept\n    rank_zero_only,\n)",
        ),
        ("from lightning import Trainer", "from relight.compat import Trainer"),
        ("def f():\n    import pytorch_lightning as pl", "def f():\n    import relight.compat as pl"),
    ],
)
def test_imports(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "a.py").write_text(before + REST)
    assert run(tmp_path).returncode == 0
    assert (tmp_path / "a.py").read_text() == after + REST
    assert "Nothing to upgrade" in run(tmp_path).stdout


@pytest.mark.parametrize(
    "text",
    [
        "from pytorch_lightning import *",
        "from lightning import pytorch as pl",
        "import lightning.pytorch\n\nlightning.pytorch.Trainer()",
        "import lightning as L\n\nL.pytorch.Trainer()",
    ],
)
def test_all_go_or_none_does(tmp_path: Path, text: str) -> None:
    other = "import pytorch_lightning as pl\n"
    (tmp_path / "a.py").write_text(text + "\n")
    (tmp_path / "b.py").write_text(other)
    done = run(tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "a.py").read_text() == text + "\n"
    assert (tmp_path / "b.py").read_text() == other
    assert "a.py:1 cannot go, and all go or none does" in done.stdout


def test_strings_only_with_unsafe_fixes(tmp_path: Path) -> None:
    text = 'import pytorch_lightning as pl\n\npatch("pytorch_lightning.Trainer.fit")\nprint("pytorch_lightning is old")\n'
    (tmp_path / "a.py").write_text(text)
    assert run(tmp_path).returncode == 1
    assert 'patch("pytorch_lightning.Trainer.fit")' in (tmp_path / "a.py").read_text()
    assert run(tmp_path, "--unsafe-fixes").returncode == 0
    done = (tmp_path / "a.py").read_text()
    assert 'patch("relight.compat.Trainer.fit")' in done
    assert 'print("pytorch_lightning is old")' in done


def test_class_paths_of_configurations(tmp_path: Path) -> None:
    text = "model:\n  _target_: pytorch_lightning.Trainer  # old\n  gpus: 2\nurl: pytorch_lightning.ai\n"
    (tmp_path / "a.yaml").write_text(text)
    assert run(tmp_path, "--check").returncode == 1
    assert (tmp_path / "a.yaml").read_text() == text
    assert run(tmp_path).returncode == 0
    assert (tmp_path / "a.yaml").read_text() == text.replace(
        "_target_: pytorch_lightning", "_target_: relight.compat"
    )


def test_the_result_runs(tmp_path: Path) -> None:
    text = (
        "import pytorch_lightning as pl\nfrom pytorch_lightning.callbacks import EarlyStopping\n\n"
        "print(pl.Trainer(gpus=0, checkpoint_callback=False).num_gpus, EarlyStopping.__module__.split('.')[0])\n"
    )
    (tmp_path / "a.py").write_text(text)
    assert run(tmp_path).returncode == 0
    done = subprocess.run([sys.executable, "a.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0", "relight"], done.stderr

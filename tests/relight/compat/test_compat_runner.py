"""`python -m relight.compat script.py` behaves as `python script.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def python(*arguments: str, cwd: Path, compat: bool = True, **extra: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(["-m", "relight.compat"] if compat else []), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **extra})


PROBE = textwrap.dedent("""
    import json, os, sys, pickle
    import helper
    class Here: pass
    assert pickle.loads(pickle.dumps(Here())).__class__ is Here
    print(json.dumps({
        "argv": sys.argv, "name": __name__, "file": __file__, "helper": helper.value, "doc": __doc__,
        "path": sys.path[0] == os.path.dirname(os.path.realpath(__file__)),
        "main": sys.modules["__main__"].Here is Here, "annotations": "__annotations__" in globals(),
    }))
""")


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("where", ["script.py", "sub/script.py"])
def test_a_script_sees_what_python_shows_it(tmp_path: Path, where: str) -> None:
    write(tmp_path, where, PROBE)
    write(tmp_path / Path(where).parent, "helper.py", "value = 7\n")
    real = python(where, "-x", "--m", "1", cwd=tmp_path, compat=False)
    ours = python(where, "-x", "--m", "1", cwd=tmp_path)
    assert ours.returncode == real.returncode == 0, ours.stderr
    assert json.loads(ours.stdout) == json.loads(real.stdout)


def test_a_module_sees_what_python_shows_it(tmp_path: Path) -> None:
    write(tmp_path, "pkg/__init__.py", "")
    write(
        tmp_path,
        "pkg/run.py",
        "import sys\nprint(sys.argv[1:], __name__, __package__, sys.argv[0].endswith('run.py'))\n",
    )
    real = python("-m", "pkg.run", "a", "-b", cwd=tmp_path, compat=False)
    ours = python("-m", "pkg.run", "a", "-b", cwd=tmp_path)
    assert (ours.stdout, ours.returncode) == (real.stdout, 0)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("raise SystemExit('words')", 1),
        ("1 / 0", 1),
        ("def f(:", 1),
        ("pass", 0),
    ],
)
def test_exit_codes_and_tracebacks(tmp_path: Path, text: str, code: int) -> None:
    write(tmp_path, "script.py", text + "\n")
    real = python("script.py", cwd=tmp_path, compat=False)
    ours = python("script.py", cwd=tmp_path)
    assert ours.returncode == real.returncode == code
    where = str(tmp_path / "script.py")
    assert ours.stderr.replace(where, "script.py") == real.stderr.replace(where, "script.py")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_ends_it_as_it_ends_python(tmp_path: Path) -> None:
    write(tmp_path, "script.py", "raise KeyboardInterrupt\n")
    ours = python("script.py", cwd=tmp_path)
    assert ours.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in ours.stderr
    assert "_runner" not in ours.stderr


def test_usage(tmp_path: Path) -> None:
    assert python("-h", cwd=tmp_path).stdout.startswith("usage: python -m relight.compat")
    assert python("--version", cwd=tmp_path).stdout.startswith("relight ")
    for arguments in ((), ("--nope", "x.py"), ("--log",), ("missing.py",)):
        assert python(*arguments, cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"RELIGHT_COMPAT": "loud"}, "RELIGHT_COMPAT='loud': say one of warn, error"),
        ({"RELIGHT_COMPAT_VERSION": "3"}, "RELIGHT_COMPAT_VERSION='3': say a release from 0.7 to 1.9"),
        (
            {"RELIGHT_COMPAT_LOG": "gone/uses.jsonl"},
            "uses.jsonl' cannot be written: No such file or directory",
        ),
    ],
)
def test_wrong_settings_are_said_in_one_line(tmp_path: Path, setting: dict[str, str], told: str) -> None:
    write(tmp_path, "script.py", "print('it ran')")
    done = python("script.py", cwd=tmp_path, **setting)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert told in done.stderr


def test_old_imports_work_and_uses_are_logged(tmp_path: Path) -> None:
    write(
        tmp_path,
        "script.py",
        "import pytorch_lightning as pl\nfrom pytorch_lightning.utilities.distributed import rank_zero_only\n"
        "for _ in range(3):\n    from pytorch_lightning.callbacks.base import Callback\n"
        "print(Callback is pl.Callback)\n",
    )
    ours = python("--log", "uses.jsonl", "script.py", cwd=tmp_path)
    assert ours.stdout == "True\n"
    uses = [json.loads(line) for line in (tmp_path / "uses.jsonl").read_text().splitlines()]
    assert [(use["line"], use["item"]) for use in uses] == [
        (2, "pytorch_lightning.utilities.distributed.rank_zero_only"),
        (4, "pytorch_lightning.callbacks.base.Callback"),
    ]
    assert all(use["code"].startswith("TRU3") and use["file"].endswith("script.py") for use in uses)
    assert ours.stderr.count("LegacyWarning") == 2


CHILDREN = textwrap.dedent("""
    import multiprocessing, os, sys
    import pytorch_lightning as pl
    class Here(pl.LightningModule): pass
    def work(value):
        return type(value).__mro__[1].__module__, type(value) is Here, "pytorch_lightning" in sys.modules
    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(work, [Here()])[0], sys.argv[1:])
""")


def test_processes_that_the_script_starts_have_the_imports_too(tmp_path: Path) -> None:
    write(tmp_path, "script.py", CHILDREN)
    ours = python("script.py", "-a", cwd=tmp_path)
    assert ours.stdout == "('relight.compat._module', True, True) ['-a']\n", ours.stderr


DDP = textwrap.dedent("""
    import sys, torch
    from torch.utils.data import DataLoader, TensorDataset
    import pytorch_lightning as pl
    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(2, 1)
        def training_step(self, batch, batch_idx):
            return self.net(batch[0]).mean()
        def training_epoch_end(self, outputs):
            assert len(outputs) == 2
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)
    if __name__ == "__main__":
        trainer = pl.Trainer(num_processes=2, accelerator=sys.argv[1], max_epochs=1, logger=False,
                             checkpoint_callback=False, progress_bar_refresh_rate=0)
        trainer.fit(Model(), DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=2))
        # One write a line: the processes share one pipe.
        sys.stdout.write(f"rank {trainer.global_rank} {trainer.world_size} {trainer.global_step}\\n")
""")


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "ranks"), [("ddp_cpu", [0]), ("ddp", [0, 1])])
def test_two_processes_train_one_module(tmp_path: Path, backend: str, ranks: list[int]) -> None:
    write(tmp_path, "script.py", DDP)
    ours = python("script.py", backend, cwd=tmp_path, RELIGHT_COMPAT="ignore", MASTER_ADDR="127.0.0.1")
    assert ours.returncode == 0, ours.stderr
    lines = sorted(line for line in ours.stdout.splitlines() if line.startswith("rank"))
    assert lines == [f"rank {rank} 2 2" for rank in ranks]

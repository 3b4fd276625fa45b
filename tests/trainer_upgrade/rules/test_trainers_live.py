"""The Trainers that upgraded calls build: on relight, and on real releases next to what the old call built."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from trainer_upgrade import testing

# Arguments that 1.5.10 takes on a machine without GPUs.
LEGACY = [
    "gpus=0",
    "gpus=None",
    "gpus=[]",
    'gpus="0"',
    "num_processes=2",
    "num_processes=1",
    'num_processes=2, accelerator="ddp_cpu"',
    'num_processes=2, accelerator="ddp"',
    'accelerator="cpu", devices=2',
    'gpus=0, num_processes=2, accelerator="ddp_cpu", num_nodes=1',
    "checkpoint_callback=False",
    "checkpoint_callback=True",
    "checkpoint_callback=None",
    "weights_summary=None",
    'weights_summary="top"',
    'weights_summary="full"',
    'weights_summary="full", callbacks=pl.callbacks.ModelSummary(max_depth=2)',
    "progress_bar_refresh_rate=0",
    "progress_bar_refresh_rate=7",
    "progress_bar_refresh_rate=None",
    "process_position=2",
    "progress_bar_refresh_rate=3, process_position=1",
    "replace_sampler_ddp=False",
    "reload_dataloaders_every_epoch=True",
    "max_steps=None",
    "max_steps=5",
    "accumulate_grad_batches={0: 2, 3: 4}",
    'profiler="simple"',
    "resume_from_checkpoint=None",
    "terminate_on_nan=False",
    "flush_logs_every_n_steps=100",
    "stochastic_weight_avg=False",
    "track_grad_norm=-1",
    "auto_lr_find=False",
    'amp_backend="native"',
    "precision=32",
    "precision=64",
    "strategy=None",
    "logger=False",
    "False, True",
    "prepare_data_per_node=True",
    "log_gpu_memory=None",
    "move_metrics_to_cpu=False",
    'multiple_trainloader_mode="max_size_cycle"',
    'gradient_clip_val=0.5, gradient_clip_algorithm="value"',
    "limit_val_batches=0.5, limit_train_batches=3, val_check_interval=0.5",
    "min_epochs=2, max_epochs=4",
    "weights_save_path=None",
    "gpus=0 if flag else None, checkpoint_callback=flag, progress_bar_refresh_rate=rate",
    "gpus=no_gpus, weights_summary=summary, max_steps=no_limit",
    "progress_bar_refresh_rate=rate, callbacks=more",
]
HEAD = """
import pytorch_lightning as pl
more = [pl.callbacks.LearningRateMonitor()]
flag = True
rate = 4
no_gpus = None
summary = "full"
no_limit = None
"""

PROBE = """
import json, logging, sys, warnings
warnings.filterwarnings("ignore")
import pytorch_lightning as pl
for name in ("pytorch_lightning", "lightning.pytorch", "lightning_fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)

def look(t):
    bar = t.progress_bar_callback
    kind = type(bar).__name__.replace("TQDM", "")
    # The default bar and summary are rich ones where rich is installed, since 2.6.
    shown = None if bar is None or not bar.is_enabled else "default" if kind == "RichProgressBar" or (bar.refresh_rate, bar.process_position) == (1, 0) else [bar.refresh_rate, bar.process_position]
    summaries = [c._max_depth for c in t.callbacks if type(c).__name__ in ("ModelSummary", "RichModelSummary")]
    schedules = [c.scheduling for c in t.callbacks if type(c).__name__ == "GradientAccumulationScheduler" and c.scheduling != {0: 1}]
    strategy = getattr(t, "strategy", None) or t.training_type_plugin
    return dict(
        bar=shown, summaries=summaries, schedules=[{str(k): v for k, v in each.items()} for each in schedules],
        checkpoints=sum(type(c).__name__ == "ModelCheckpoint" for c in t.callbacks),
        monitors=sum(type(c).__name__ == "LearningRateMonitor" for c in t.callbacks),
        processes=len(getattr(strategy, "parallel_devices", None) or [1]), device=str(strategy.root_device),
        max_steps=t.max_steps, max_epochs=t.max_epochs if t.max_epochs not in (None, -1) else 1000, min_epochs=t.fit_loop.min_epochs or 1,
        clip=[t.gradient_clip_val, str(getattr(t.gradient_clip_algorithm, "value", t.gradient_clip_algorithm))],
        limits=[t.limit_train_batches, t.limit_val_batches, t.limit_test_batches, t.val_check_interval, t.log_every_n_steps],
        reload=t.reload_dataloaders_every_n_epochs, precision=str(t.precision).split("-")[0],
        logger=bool(t.logger), profiler=type(t.profiler).__name__,
    )
"""


def upgraded(arguments: str, target: str) -> str:
    return testing.upgrade(f"{HEAD}t = pl.Trainer({arguments})\n", target=target, unsafe=True)


@pytest.mark.parametrize("arguments", LEGACY)
def test_relight_takes_the_upgraded_call(
    arguments: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    exec(compile(upgraded(arguments, "relight"), "<upgraded>", "exec"), namespace)
    assert type(namespace["t"]).__module__.startswith("relight.")


def built(version: str, calls: list[str], folder: Path) -> list[dict[str, object]]:
    """What real Trainers look like, by an interpreter that has the release."""
    python = os.environ.get(f"RELIGHT_ORACLE_{version}")
    if not python:
        pytest.skip(f"RELIGHT_ORACLE_{version} names no interpreter with that release")
    body = "".join(
        f"def f{i}():\n{textwrap.indent(text, '    ')}    return t\n" for i, text in enumerate(calls)
    )
    names = ", ".join(f"f{i}" for i in range(len(calls)))
    script = folder / f"probe_{version}.py"
    script.write_text(
        PROBE + body + f"json.dump([look(f()) for f in ({names},)], open(sys.argv[1], 'w'))\n",
        encoding="utf-8",
    )
    result = folder / f"{version}.json"
    subprocess.run(
        [python, script, result], check=True, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return list(json.loads(result.read_text(encoding="utf-8")))


@pytest.mark.oracle
@pytest.mark.slow
def test_lightning_builds_the_same_trainers(tmp_path: Path) -> None:
    old = built("1_5_10", [f"{HEAD}t = pl.Trainer({each})\n" for each in LEGACY], tmp_path)
    new = built("2_6_6", [upgraded(each, "lightning") for each in LEGACY], tmp_path)
    different = {
        arguments: {name: (before[name], after[name]) for name in before if before[name] != after[name]}
        for arguments, before, after in zip(LEGACY, old, new, strict=True)
    }
    assert not {arguments: each for arguments, each in different.items() if each}

"""Record which devices and strategy real releases choose, on a machine that pretends to have four GPUs.

    RELIGHT_ORACLE_1_9_5=... RELIGHT_ORACLE_1_5_10=... RELIGHT_ORACLE_2_6_6=... \\
    python scripts/record_devices.py

Each variable is the path of a python that has that release. For the legacy releases a few hundred
combinations of arguments are recorded; for 2.6.6 whatever those combinations translate to. A record holds the
kind of accelerator, the devices, the number of processes on the node, and the strategy; or that the release
raised. Results go to ``tests/golden/devices/<release>.json``, one record a line.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden" / "devices"
LEGACY = ("1.9.5", "1.5.10")
GPUS = 4
QUIET = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}


def _pretend_gpus() -> None:
    import torch

    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: GPUS
    torch.cuda.set_device = lambda device: None
    torch.cuda.get_device_capability = lambda device=None: (8, 0)
    torch.cuda.get_device_name = lambda device=None: "none"
    for name in ("lightning_fabric.accelerators.cuda", "lightning_lite.accelerators.cuda"):
        try:
            module = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        module.num_cuda_devices = lambda: GPUS
        module.is_cuda_available = lambda: True
    for name in (
        "pytorch_lightning.accelerators.cuda",
        "pytorch_lightning.accelerators.gpu",
        "pytorch_lightning.trainer.setup",
        "pytorch_lightning.trainer.connectors.accelerator_connector",
        "pytorch_lightning.trainer.trainer",
    ):
        try:
            module = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        for attribute, value in (
            ("num_cuda_devices", lambda: GPUS),
            ("is_cuda_available", lambda: True),
            ("pick_multiple_gpus", _pick),
        ):
            if hasattr(module, attribute):
                setattr(module, attribute, value)


def _pick(number: int, **_: Any) -> list[int]:
    """The first GPUs, all of them free; none is refused, as the releases did."""
    if number == 0:
        raise ValueError("no GPU to pick")
    return list(range(GPUS if number == -1 else number))


def _describe(trainer: Any, modern: bool) -> dict[str, Any]:
    strategy = (
        getattr(trainer, "training_type_plugin", None) if not hasattr(type(trainer), "strategy") else None
    )
    strategy = strategy or trainer.strategy
    name = type(strategy).__name__
    method = getattr(strategy, "_start_method", None)
    kind = {
        "SingleDevicePlugin": "single",
        "SingleDeviceStrategy": "single",
        "DDPPlugin": "ddp",
        "DDPStrategy": "ddp",
        "DDPSpawnPlugin": "ddp_spawn",
        "DDPSpawnStrategy": "ddp_spawn",
        "DataParallelPlugin": "dp",
        "DataParallelStrategy": "dp",
        "DDP2Plugin": "ddp2",
    }.get(name, name)
    if kind.startswith("ddp") and method in ("spawn", "fork", "forkserver"):
        kind = {"spawn": "ddp_spawn", "fork": "ddp_fork"}[method]
    parallel = getattr(strategy, "parallel_devices", None)
    if kind == "single" or parallel is None:
        parallel = [strategy.root_device]
    first = parallel[0]
    record: dict[str, Any] = {
        "accelerator": first.type,
        "devices": [device.index for device in parallel] if first.type == "cuda" else len(parallel),
        "strategy": kind,
    }
    if kind.startswith("ddp"):
        record["find_unused"] = bool(strategy._ddp_kwargs.get("find_unused_parameters", not modern))
        record["nodes"] = strategy.num_nodes
    return record


def worker(describe: bool) -> None:
    """Read argument sets from standard input, write what the installed release makes of each.

    Args:
        describe: Pretend to have GPUs and say what was chosen; else only whether the Trainer was constructed.
    """
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if describe:
        _pretend_gpus()
    import pytorch_lightning as pl

    if describe:
        _pretend_gpus()
    results: list[Any] = []
    for arguments in json.load(sys.stdin):
        try:
            if describe:
                results.append(_describe(pl.Trainer(**QUIET, **arguments), pl.__version__.startswith("2.")))
            else:
                results.append(_construct(pl, arguments))
        except Exception as error:
            results.append({"raises": type(error).__name__, "text": str(error).splitlines()[0]})
            if describe:
                del results[-1]["text"]  # may differ from machine to machine
    json.dump(results, sys.__stdout__)


def _construct(pl: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    keywords = dict(arguments["constructor"])
    callbacks = [
        getattr(pl.callbacks, name)(**_whole_keys(values)) for name, values in arguments["callbacks"]
    ]
    if callbacks:
        keywords["callbacks"] = [*(keywords.get("callbacks") or []), *callbacks]
    pl.Trainer(**keywords)
    return {"constructed": True}


def _whole_keys(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no whole numbers as keys; a schedule does."""
    return {
        name: {int(key): each for key, each in value.items()} if isinstance(value, dict) else value
        for name, value in values.items()
    }


# -- in ours ------------------------------------------------------------------------------------------------


def _grid(**axes: list[Any]) -> list[dict[str, Any]]:
    """All combinations; the string ``-`` leaves an argument out."""
    rows = itertools.product(*axes.values())
    return [{name: value for name, value in zip(axes, row, strict=True) if value != "-"} for row in rows]


def combinations(release: str) -> list[dict[str, Any]]:
    """The argument sets to record for a legacy release."""
    gpus: list[Any] = ["-", None, 0, 1, 2, -1, "2", "2,", "0,1", "-1", "0", "1", ""]
    gpus += [[1, 3], [], [0], [2], [1, 1], True, False, -2, 9, "x", 1.0]
    early = release.startswith("1.5")
    accelerators = ["-", None, "cpu", "gpu", "auto"]
    sets = _grid(gpus=gpus, num_processes=["-", 1, 3], accelerator=accelerators)
    sets += _grid(
        devices=["-", None, 2, "2", [1], "1,", -1, "auto", 0, "0", []],
        accelerator=accelerators,
        gpus=["-", None, 1, [2, 3]],
        num_processes=["-", 3],
    )
    sets += _grid(
        strategy=["-", None, "ddp", "ddp_spawn", "dp", "ddp_find_unused_parameters_false"],
        gpus=["-", 0, 1, 2, [1]],
        num_processes=["-", 1, 2],
        accelerator=["-", "cpu", "gpu"],
        num_nodes=["-", 2],
    )
    sets += _grid(
        auto_select_gpus=[True, False], gpus=["-", 0, 2, -1, "0,1"], accelerator=["-", "gpu", "cpu"]
    )
    if early:
        sets += _grid(
            accelerator=["ddp", "ddp_spawn", "dp", "ddp2", "ddp_cpu"],
            gpus=["-", 0, 1, 2, "0,1"],
            num_processes=["-", 1, 2],
            num_nodes=["-", 2],
            strategy=["-", "ddp"],
        )
    else:
        sets += _grid(strategy=["auto"], gpus=["-", 1, 2], devices=["-", 2], accelerator=["-", "cpu", "gpu"])
    unique = {json.dumps(each, sort_keys=True): each for each in sets}
    return list(unique.values())


# Every legacy argument with the values that mean something different, devices aside.
VALUES: dict[str, list[Any]] = {
    "accumulate_grad_batches": [None, 1, 4, {"0": 8}],
    "add_row_log_interval": [None, 5],
    "amp_backend": [None, "native", "apex"],
    "amp_level": [None, "O1", "O2"],
    "auto_lr_find": [False, True, "lr"],
    "auto_scale_batch_size": [False, True, "binsearch"],
    "auto_select_gpus": [None, True],
    "automatic_optimization": [None, False],
    "barebones": [False, True],
    "benchmark": [None, True],
    "check_val_every_n_epoch": [1, 2, None],
    "checkpoint_callback": [None, True, False],
    "cluster_environment": [None],
    "default_root_dir": [None, "runs"],
    "default_save_path": [None, "runs"],
    "detect_anomaly": [False, True],
    "deterministic": [None, True, "warn"],
    "early_stop_callback": [None, False, True],
    "enable_checkpointing": [None, True, False],
    "enable_model_summary": [None, True, False],
    "enable_pl_optimizer": [None, True],
    "enable_progress_bar": [None, True, False],
    "fast_dev_run": [False, True, 2, -1],
    "flush_logs_every_n_steps": [None, 100, 10],
    "gradient_clip": [None, 0.5],
    "gradient_clip_algorithm": [None, "norm", "value", "max"],
    "gradient_clip_val": [None, 0, 0.5, "a"],
    "inference_mode": [True, False],
    "limit_predict_batches": [None, 2, 0.5],
    "limit_test_batches": [None, 2, 0.5],
    "limit_train_batches": [None, 2, 0.5, 1.5],
    "limit_val_batches": [None, 0, 1.0],
    "log_every_n_steps": [10, None],
    "log_gpu_memory": [None, "all"],
    "log_save_interval": [None, 10],
    "logger": [None, True, False],
    "max_epochs": [None, 3, -1, -2],
    "max_nb_epochs": [None, 3],
    "max_steps": [None, -1, 5, -2],
    "max_time": [None, "00:01:00:00"],
    "min_epochs": [None, 1],
    "min_nb_epochs": [1],
    "min_steps": [None, 5],
    "move_metrics_to_cpu": [False, True],
    "multiple_trainloader_mode": ["max_size_cycle", "min_size"],
    "nb_gpu_nodes": [1],
    "nb_sanity_val_steps": [0],
    "num_nodes": [None, 1, "1"],
    "num_sanity_val_steps": [0, -1, 2],
    "overfit_batches": [0.0, 2],
    "overfit_pct": [0.0, 0.1],
    "plugins": [None, [], "ddp"],
    "precision": [16, "16", 32, 64, "bf16", "mixed", None],
    "prepare_data_per_node": [None, False],
    "print_nan_grads": [True],
    "process_position": [0, 1],
    "profiler": [None, True, False, "simple"],
    "progress_bar_callback": [True, False],
    "progress_bar_refresh_rate": [None, 0, 1, 20],
    "reload_dataloaders_every_epoch": [False, True],
    "reload_dataloaders_every_n_epochs": [0, 2],
    "replace_sampler_ddp": [True, False],
    "resume_from_checkpoint": [None, "", "a.ckpt"],
    "row_log_interval": [None, 5],
    "show_progress_bar": [True, False],
    "stochastic_weight_avg": [None, True],
    "sync_batchnorm": [False, True],
    "terminate_on_nan": [None, True, False, 1],
    "test_percent_check": [0.5, 1],
    "track_grad_norm": [-1, 2, "inf", 0],
    "train_percent_check": [None, 1],
    "truncated_bptt_steps": [None, 2],
    "use_amp": [None, True, False],
    "use_distributed_sampler": [True, False],
    "val_check_interval": [None, 0.5, 10, 1.5],
    "val_percent_check": [0.25],
    "weights_save_path": [None, "weights"],
    "weights_summary": [None, "top", "full", "some"],
}


def mixtures() -> list[dict[str, Any]]:
    """Each value alone, and a thousand mixtures of several arguments (the same ones at each run)."""
    import random

    chance = random.Random(20)
    sets: list[dict[str, Any]] = [{name: value} for name, values in VALUES.items() for value in values]
    for _ in range(1000):
        names = chance.sample(sorted(VALUES), chance.randint(2, 8))
        sets.append({name: chance.choice(VALUES[name]) for name in names})
    return sets


def modern_call(arguments: dict[str, Any]) -> dict[str, Any] | None:
    """What a legacy call becomes for Lightning on one CPU, as plain data; None if it has no translation."""
    from trainer_upgrade.catalogue import Target
    from trainer_upgrade.catalogue.translate import translate_trainer_arguments

    done = translate_trainer_arguments(_whole_keys(arguments), target=Target.LIGHTNING, defaults=True)
    if done.errors:
        return None
    callbacks = [[each.name, each.arguments] for each in done.callbacks]
    # Through JSON and back, so that what is compared is what was recorded.
    return dict(json.loads(json.dumps({"constructor": done.constructor, "callbacks": callbacks})))


def ask(release: str, sets: list[dict[str, Any]], mode: str = "--describe") -> list[dict[str, Any]]:
    """Let a real release choose.

    Raises:
        SystemExit: Its python is not named in the environment, or it failed.
    """
    variable = "RELIGHT_ORACLE_" + release.replace(".", "_")
    python = os.environ.get(variable)
    if not python:
        raise SystemExit(f"set {variable} to a python that has Lightning {release}")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    done = subprocess.run(
        [python, __file__, mode],
        input=json.dumps(sets),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return list(json.loads(done.stdout[done.stdout.index("[{") :]))


def translations(release: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """What one set translates to for Lightning, without and with changed defaults."""
    from trainer_upgrade.catalogue import Target
    from trainer_upgrade.catalogue.translate import translate_trainer_arguments

    return [
        translate_trainer_arguments(
            arguments, target=Target.LIGHTNING, legacy_version=release, defaults=defaults
        ).constructor
        for defaults in (False, True)
    ]


def _write(name: str, sets: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"arguments": arguments, "chosen": chosen}, sort_keys=True)
        for arguments, chosen in zip(sets, results, strict=True)
    ]
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{name}: {len(sets)} combinations, {sum('raises' in each for each in results)} refused")


def main() -> None:
    modern: dict[str, dict[str, Any]] = {}
    for release in LEGACY:
        sets = combinations(release)
        _write(release, sets, ask(release, sets))
        for arguments in sets:
            for translated in translations(release, arguments):
                modern.setdefault(json.dumps(translated, sort_keys=True), translated)
    _write("2.6.6", list(modern.values()), ask("2.6.6", list(modern.values())))
    calls = {json.dumps(call, sort_keys=True): call for each in mixtures() if (call := modern_call(each))}
    _write("construct-2.6.6", list(calls.values()), ask("2.6.6", list(calls.values()), "--construct"))


if __name__ == "__main__":
    if sys.argv[1:2] in (["--describe"], ["--construct"]):
        worker(describe=sys.argv[1] == "--describe")
    else:
        main()

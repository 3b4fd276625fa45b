"""Write the catalogue's import table from the fact tables and from what a real Lightning 2.6.6 answers.

    python scripts/build_import_catalogue.py --oracle PYTHON [--check]

The table (`codemods/trainer_upgrade/catalogue/data/imports.tsv`) is what counts afterwards: a code that stands in it
is kept, so that running this again never renumbers anything.
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "tests" / "data" / "facts"
OUT = ROOT / "codemods" / "trainer_upgrade" / "catalogue" / "data" / "imports.tsv"
FIELDS = ("kind", "old", "status", "new", "home", "outside", "code", "how", "deprecated", "removed", "hint")

PROBE = r"""
import importlib, json, sys, types, warnings
warnings.simplefilter("ignore")
found, alive = {}, []
for path in sys.stdin.read().split():
    parts, thing, there, why = path.split("."), None, False, ""
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            why = str(error)
            continue
        except Exception as error:
            why = repr(error)
            break
        try:
            for part in parts[end:]:
                thing = getattr(thing, part)
            there = True
        except AttributeError as error:
            why = why or str(error)
        break
    alive.append(thing)
    plain = isinstance(thing, (type(None), bool, int, float, str, tuple))
    found[path] = [there, id(thing) if there and not plain else None, isinstance(thing, types.ModuleType), why]
import pkgutil
import lightning_fabric, lightning_utilities
outside = {}
for package in (lightning_utilities, lightning_fabric):
    for info in [None, *pkgutil.walk_packages(package.__path__, package.__name__ + ".")]:
        where = package.__name__ if info is None else info.name
        if "_graveyard" in where or where.endswith("__main__") or where.endswith(".cli.__main__"):
            continue
        try:
            module = importlib.import_module(where)
        except Exception:
            continue
        for name, thing in vars(module).items():
            home = getattr(thing, "__module__", None)
            # Where it is defined, or a package that offers it; not where it happens to be imported.
            offered = where == home or hasattr(module, "__path__")
            if isinstance(home, str) and home.split(".")[0] == package.__name__ and callable(thing) and offered:
                path = f"{where}.{name}"
                rank = (any(part.startswith("_") for part in path.split(".")), path.count("."), path)
                alive.append(thing)
                if id(thing) not in outside or rank < outside[id(thing)][0]:
                    outside[id(thing)] = (rank, path)
for answer in found.values():
    answer.append(outside[answer[1]][1] if answer[1] in outside and not answer[2] else "")
json.dump(found, sys.stdout)
"""

# Replacements of the fact tables that the installed packages do not have, put right.
NEW = {
    "torchmetrics.utilities.data.class_reduce": "torchmetrics.utilities.distributed.class_reduce",
    "torchmetrics.utilities.data.reduce": "torchmetrics.utilities.distributed.reduce",
    "lightning_utilities.core.apply_func.new_apply_to_collection": "lightning_utilities.core.apply_func.apply_to_collection",
    "lightning_utilities.core.apply_func.new_apply_to_collections": "lightning_utilities.core.apply_func.apply_to_collections",
    "pytorch_lightning.utilities.consolidate_checkpoint.args": "removed",
    "torchmetrics.": "torchmetrics",
}
# Names that only ran as a script or were deleted again at the module's end.
NEVER_THERE = {
    "pytorch_lightning.utilities.consolidate_checkpoint.args",
    "pytorch_lightning.utilities.consolidate_checkpoint.checkpoint",
    "pytorch_lightning.utilities.consolidate_checkpoint.config",
    "pytorch_lightning.strategies.launchers.xla.pl",
}
# Private names that public projects import all the same: old → (status, new, hint).
PRIVATE = {
    "pytorch_lightning.__version__": ("kept", "pytorch_lightning.__version__", ""),
    "pytorch_lightning.loggers.rank_zero_only": (
        "moved",
        "pytorch_lightning.utilities.rank_zero.rank_zero_only",
        "",
    ),
    "pytorch_lightning.utilities.types._PATH": ("moved", "lightning_fabric.utilities.types._PATH", ""),
    "pytorch_lightning.utilities.types._LRScheduler": (
        "removed",
        "",
        "annotate with torch.optim.lr_scheduler.LRScheduler",
    ),
    "pytorch_lightning.utilities.types._METRIC_COLLECTION": ("removed", "", "annotate with Any"),
    "pytorch_lightning.utilities.types._PARAMETERS": (
        "moved",
        "lightning_fabric.utilities.types._PARAMETERS",
        "",
    ),
    "pytorch_lightning.utilities._module_available": (
        "external",
        "lightning_utilities.core.imports.module_available",
        "",
    ),
    "pytorch_lightning.utilities.imports._module_available": (
        "external",
        "lightning_utilities.core.imports.module_available",
        "",
    ),
    "pytorch_lightning.utilities.imports._compare_version": (
        "external",
        "lightning_utilities.core.imports.compare_version",
        "",
    ),
    "pytorch_lightning.utilities.imports._package_available": (
        "external",
        "lightning_utilities.core.imports.package_available",
        "",
    ),
    "pytorch_lightning.utilities.imports._RequirementAvailable": (
        "external",
        "lightning_utilities.core.imports.RequirementCache",
        "",
    ),
    "pytorch_lightning.utilities.imports._IS_WINDOWS": (
        "moved",
        "lightning_fabric.utilities.imports._IS_WINDOWS",
        "",
    ),
    "pytorch_lightning.utilities.imports._IS_INTERACTIVE": (
        "moved",
        "lightning_fabric.utilities.imports._IS_INTERACTIVE",
        "",
    ),
    "pytorch_lightning.utilities.imports._HOROVOD_AVAILABLE": (
        "removed",
        "",
        "horovod is gone: take the branch for False",
    ),
    "pytorch_lightning.utilities.imports._APEX_AVAILABLE": (
        "removed",
        "",
        "apex is gone: take the branch for False",
    ),
    "pytorch_lightning.utilities.imports._FAIRSCALE_AVAILABLE": (
        "removed",
        "",
        "FairScale is gone: take the branch for False",
    ),
    "pytorch_lightning.utilities.imports._FAIRSCALE_FULLY_SHARDED_AVAILABLE": (
        "removed",
        "",
        "FairScale is gone: take the branch for False",
    ),
    "pytorch_lightning.overrides.fairscale._FAIRSCALE_AVAILABLE": (
        "removed",
        "",
        "FairScale is gone: take the branch for False",
    ),
    "pytorch_lightning.utilities.imports._NATIVE_AMP_AVAILABLE": (
        "removed",
        "",
        "native AMP is always there: take the branch for True",
    ),
    "pytorch_lightning.utilities._TPU_AVAILABLE": ("removed", "", "ask XLAAccelerator.is_available()"),
    "pytorch_lightning.utilities._APEX_AVAILABLE": ("removed", "", "apex is gone: take the branch for False"),
    "pytorch_lightning.utilities._HOROVOD_AVAILABLE": (
        "removed",
        "",
        "horovod is gone: take the branch for False",
    ),
    "pytorch_lightning.utilities._NATIVE_AMP_AVAILABLE": (
        "removed",
        "",
        "native AMP is always there: take the branch for True",
    ),
    "pytorch_lightning.utilities.logger._flatten_dict": (
        "moved",
        "lightning_fabric.utilities.logger._flatten_dict",
        "",
    ),
    "pytorch_lightning.utilities.logger._convert_params": (
        "moved",
        "lightning_fabric.utilities.logger._convert_params",
        "",
    ),
    "pytorch_lightning.utilities.logger._sanitize_params": (
        "moved",
        "lightning_fabric.utilities.logger._sanitize_params",
        "",
    ),
    "pytorch_lightning.utilities.logger._add_prefix": (
        "moved",
        "lightning_fabric.utilities.logger._add_prefix",
        "",
    ),
    "pytorch_lightning.utilities.logger._sanitize_callable_params": (
        "moved",
        "lightning_fabric.utilities.logger._sanitize_callable_params",
        "",
    ),
    "pytorch_lightning.utilities.rank_zero._get_rank": (
        "moved",
        "lightning_fabric.utilities.rank_zero._get_rank",
        "",
    ),
    "pytorch_lightning.utilities._StrategyType": ("removed", "", "compare the strategy's name or class"),
    "pytorch_lightning.utilities._AcceleratorType": ("removed", "", "compare the accelerator's class"),
    "pytorch_lightning.utilities.enums._StrategyType": (
        "removed",
        "",
        "compare the strategy's name or class",
    ),
    "pytorch_lightning.utilities.enums._AcceleratorType": ("removed", "", "compare the accelerator's class"),
    "pytorch_lightning.trainer.optimizers._get_default_scheduler_config": (
        "removed",
        "",
        "write the scheduler's dict out",
    ),
    "pytorch_lightning.loops.utilities._get_active_optimizers": (
        "removed",
        "",
        "several optimizers need manual optimization",
    ),
    "pytorch_lightning.loops.utilities._build_training_step_kwargs": ("removed", "", "internal to the loops"),
}
# The TORCH_GREATER_EQUAL flags of 1.x: every torch that runs today answers True.
PRIVATE.update(
    {
        f"pytorch_lightning.utilities.{where}_TORCH_GREATER_EQUAL_1_{minor}": (
            "removed",
            "",
            "true for every torch of today: take the branch for True",
        )
        for where in ("", "imports.")
        for minor in range(6, 14)
    }
)

# What to do, by the fact tables' note on a name that is gone.
HINTS = {
    "no torchmetrics 1.9 object of that name": "torchmetrics has nothing of that name: keep a copy of the old function or write it anew",
    "pre-1.2 accelerator class; strategies took over": "subclass or configure a strategy instead",
    "pre-1.2 accelerator class; backend dropped": "the backend is gone: choose another strategy",
    "pre-1.2 accelerator; CUDAAccelerator + strategy": 'say accelerator="gpu" and a strategy',
    "Trainer mixin folded into Trainer / internals": "the mixins became internals of the Trainer",
    "loop customisation removed in 2.0": "loops can no longer be replaced: write a loop of your own on Fabric",
    "internal": "it was internal and has no twin",
    "fault-tolerant mode removed": "fault-tolerant mode is gone: save and resume checkpoints",
    "LightningCLI": "use LightningCLI, or declare the arguments of your own parser",
    "LightningCLI / own parser": "use LightningCLI, or declare the arguments of your own parser",
    "self.log in LightningModule": "log with self.log and return the loss",
    "import the class": "import the class: LightningCLI finds imported classes by itself",
    "import the class; jsonargparse resolves imported classes": "import the class: LightningCLI finds imported classes by itself",
    "Horovod removed in 2.0 (separate lightning-Horovod project)": 'Horovod is gone: say strategy="ddp"',
    "DDP2 dropped in 1.7; DDPStrategy": 'DDP2 is gone: say strategy="ddp"',
    "DP removed in 2.0; DDPStrategy": 'DP is gone: say strategy="ddp"',
    "DP removed in 2.0; DDPStrategy (a Fabric-only DataParallelStrategy exists)": 'DP is gone: say strategy="ddp"',
    "DP removed": 'DP is gone: say strategy="ddp"',
    "DDPStrategy / torch DistributedDataParallel": "wrap in torch's DistributedDataParallel, or configure the DDP strategy",
    "pass a list of loggers; trainer.loggers": "give the Trainer a list of loggers and loop over trainer.loggers",
    "TensorBoardLogger or CSVLogger": "use TensorBoardLogger or CSVLogger, whose folders look different",
    "left for pl_bolts in 0.8.2": "it left for lightning-bolts, which is no longer kept up: choose another logger",
    "pl_bolts is a separate project": "install lightning-bolts and import pl_bolts",
    "decorator not needed any more": "drop the decorator",
    "use Trainer.predict": "call trainer.predict, or move the batch to the device yourself before forward",
    "XLAAccelerator.is_available()": "ask XLAAccelerator.is_available()",
    "DeviceStatsMonitor": "add the callback DeviceStatsMonitor",
    "use torch.ao.quantization directly": "use torch.ao.quantization directly",
    "trainer.lightning_module / strategy.lightning_module": "take trainer.lightning_module",
    "torch.distributed.ReduceOp": "import it from torch.distributed",
    "torch.distributed.group": "import it from torch.distributed",
    "strings; apex gone": "compare with the string; apex is gone",
    "strings": "compare with the string",
    "strategy name strings / isinstance on trainer.strategy": "compare the strategy's name or the class of trainer.strategy",
    "isinstance on trainer.accelerator": "compare the class of trainer.accelerator",
    "max_depth integer": "max_depth is an integer now",
    "logic inside the strategies": "the strategies do it themselves",
    "Strategy / Precision": "subclass a strategy or a precision plugin",
    "typing_extensions.Self": "import it from typing_extensions",
    "torchmetrics.aggregation.RunningMean or own code": "use torchmetrics.aggregation.RunningMean",
    "torchdistx support removed": "torchdistx support is gone: use torch.device('meta')",
    "torch.tensor": "call torch.tensor",
    "torch.from_numpy(x).to(device)": "call torch.from_numpy(x).to(device)",
    "own code": "loop over the parameters yourself",
    "isinstance(opt, LightningOptimizer)": "ask isinstance(optimizer, LightningOptimizer)",
    "experimental feature removed": "the experiment ended: drop it",
    "epoch_end hooks removed": "annotate with list[STEP_OUTPUT], or delete it with the *_epoch_end hook",
    "Tuner": "use the Tuner",
    "Trainer.init_module / configure_model": "build the layers in configure_model",
    "Trainer(detect_anomaly=True) or own check": "say detect_anomaly=True, or check torch.isfinite yourself",
    "ModelSummary(model).model_size": "take ModelSummary(model).model_size",
    "CombinedLoader(mode=...)": "use CombinedLoader(loaders, mode=…)",
    "CombinedLoader": "use CombinedLoader",
    "FairScale integration removed; PyTorch FSDP instead": "FairScale is gone: this is torch's own FSDP, with other arguments and checkpoints",
    "renamed in 2.0": "",
    "start_method='spawn'": "pass start_method='spawn'",
    "apex dropped in 2.0": "apex is gone: this is torch's own autocast",
    "base class renamed in 2.0": "",
    "tying is automatic": "shared parameters stay tied by themselves",
    "the old tqdm bar; the name ProgressBar now is the abstract base": "ProgressBar is the abstract base today",
    "mixin merged into LightningModule": "the mixin is part of LightningModule",
    "mixin -> function": "the mixin became a function of the module and the norm",
    "Tuner(trainer).scale_batch_size": "call Tuner(trainer).scale_batch_size(model)",
    "Tuner(trainer).lr_find": "call Tuner(trainer).lr_find(model)",
    "CLI: python -m pytorch_lightning.utilities.upgrade_checkpoint": "on the command line: python -m pytorch_lightning.utilities.upgrade_checkpoint",
    "importable, constructor raises NotImplementedError (2.5.6)": "it imports but cannot be built: HPU support is gone",
    "class left as a stub that raises RuntimeError (2.6.4); LitLogger suggested": "it cannot be built any more: choose another logger or call the neptune client yourself",
    "constructor raises RuntimeError since 2.6.4": "it cannot be built any more: choose another logger or call the neptune client yourself",
    "classification metrics need task= since torchmetrics 0.11;": "classification metrics want task= since torchmetrics 0.11",
    "torchmetrics internal helper": "it is an internal helper of torchmetrics",
    "external since 2.0, hooks removed in 2.3": "the separate package no longer works with Lightning 2.3 and later",
    "external package since 2.1": "the separate package no longer works with Lightning 2.3 and later",
    "external package since 2.1, Trainer hooks dropped in 2.3": "the separate package no longer works with Lightning 2.3 and later",
    "left the package in 2.0 (separate lightning-Hivemind project; not in the changelog)": "the separate package is not kept up",
    "left the package in 2.0 (not in the changelog)": "the separate package is not kept up",
    "take the square root": "take the square root of what it returns",
    "squared=False": "pass squared=False",
    "pl.lite removed in 2.0": "the class is called Fabric and launches through fabric.launch()",
    "closest, arguments differ": "the nearest one; its arguments differ",
    "closest, check the definition": "the nearest one; check its definition",
    "separate package": "",
    "until 1.6 the tqdm bar (use TQDMProgressBar), since 2.0 the abstract base (old ProgressBarBase)": "up to 1.6 it was the tqdm bar, today it is the abstract base that prints nothing",
    "tying is automatic ": "",
}
# Names whose note stands for no trouble.
SILENT_NOTES = (
    "defined in lightning_fabric",
    "also pytorch_lightning",
    "also importable",
    "; 2 candidates",
    "still importable",
    "alias still",
    "old name still",
)
# Renames that are more than a name.
UNSAFE_NEW = (
    "pytorch_lightning.callbacks.DeviceStatsMonitor",
    "pytorch_lightning.accelerators.cuda.get_nvidia_gpu_stats",
    "pytorch_lightning.accelerators.find_usable_cuda_devices",
    "pytorch_lightning.utilities.parameter_tying.set_shared_parameters",
    "pytorch_lightning.tuner.tuning.Tuner",
    "pytorch_lightning.utilities.grad_norm",
    "pytorch_lightning.LightningModule#ModelIO",
)
SAME_ARGUMENTS = {"torchmetrics.Metric", "torchmetrics.MetricCollection"}


def read(name: str) -> list[dict[str, str]]:
    with (FACTS / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def code_of(kind: str, old: str, status: str, new: str, hint: str) -> str:
    """Choose the code of a row that has none yet: by what happened, or of a group that projects meet often."""
    module, _, name = old.rpartition(".")
    if status == "kept":
        return ""
    if old.startswith("pytorch_lightning.metrics"):
        return "TRU310"
    if (
        name
        in ("rank_zero_only", "rank_zero_info", "rank_zero_warn", "rank_zero_debug", "rank_zero_deprecation")
        and kind != "m"
    ):
        return "TRU311"
    if new.startswith("pytorch_lightning.strategies.") and ".plugins" in module:
        return "TRU312"
    if name in ("EPOCH_OUTPUT",):
        return "TRU313"
    if (
        name
        in (
            "LightningLoggerBase",
            "LoggerCollection",
            "DummyLogger",
            "DummyExperiment",
            "rank_zero_experiment",
        )
        or module == "pytorch_lightning.loggers.base"
        or old == "pytorch_lightning.loggers.base"
    ):
        return "TRU314"
    if (
        new
        in (
            "pytorch_lightning.Callback",
            "pytorch_lightning.LightningModule",
            "pytorch_lightning.Trainer",
            "pytorch_lightning.LightningDataModule",
        )
        and name == new.rpartition(".")[2]
    ):
        return "TRU315"
    if name in ("TestTubeLogger", "TrainsLogger"):
        return "TRU316"
    if old == "pytorch_lightning.profiler" or old.startswith("pytorch_lightning.profiler."):
        return "TRU317"
    if old.startswith("pytorch_lightning.lite"):
        return "TRU318"
    if name in ("GPUStatsMonitor", "XLAStatsMonitor", "GpuUsageLogger"):
        return "TRU319"
    if status == "changed_meaning" or name in ("ProgressBarBase",):
        return "TRU307" if status == "changed_meaning" else "TRU320"
    if name in ("EvalResult", "TrainResult", "Result"):
        return "TRU321"
    if old.startswith("pytorch_lightning.overrides"):
        return "TRU322"
    if name in ("seed_everything", "reset_seed") or old == "pytorch_lightning.utilities.seed":
        return "TRU323"
    if old.startswith("pytorch_lightning.utilities.cli"):
        return "TRU324"
    if old.startswith(
        (
            "pytorch_lightning.utilities.apply_func",
            "pytorch_lightning.utilities.cloud_io",
            "pytorch_lightning.utilities.distributed",
        )
    ):
        return "TRU325"
    if (
        old.startswith("pytorch_lightning.utilities.imports")
        or "_AVAILABLE" in name
        or "GREATER_EQUAL" in name
    ):
        return "TRU326"
    if "argparse" in module or "argparse" in name:
        return "TRU327"
    if old.startswith("pytorch_lightning.loops"):
        return "TRU330"
    if name == "LearningRateLogger":
        return "TRU331"
    if name == "CombinedLoader" or old.startswith("pytorch_lightning.trainer.supporters"):
        return "TRU332"
    if name == "DDPSpawnStrategy":
        return "TRU335"
    if old == "pytorch_lightning.logging" or module == "pytorch_lightning.logging":
        return "TRU336"
    if name in ("data_loader", "auto_move_data"):
        return "TRU337"
    if kind == "m":
        return "TRU309" if status == "removed" else "TRU308"
    if kind == "i" and status in ("moved", "removed"):
        return "TRU328"
    return {
        "moved": "TRU300",
        "renamed": "TRU301",
        "private": "TRU302",
        "deprecated_alias": "TRU303",
        "stub_raises": "TRU304",
        "external": "TRU305",
        "removed": "TRU306",
    }[status]


def how_of(old: str, status: str, new: str, note: str) -> str:
    """Choose the applicability: s(afe), u(nsafe), m(anual)."""
    if status == "kept":
        return "s"
    if status in ("removed", "stub_raises") or not new:
        return "m"
    name = old.rpartition(".")[2]
    if status == "changed_meaning":
        return "u"
    if new in UNSAFE_NEW or "FairScale" in note or "apex" in note or name == "ModelIO":
        return "u"
    if "start_method" in note or "closest" in note or "squar" in note or "internal" in note:
        return "u"
    if status == "private":
        return "u"
    if new.startswith(
        ("lightning_graphcore", "lightning_bagua", "lightning_colossalai", "lightning_hivemind")
    ):
        return "m"
    if new == "lightning_fabric.Fabric":
        return "u"
    if new.startswith("torchmetrics"):
        # sklearn's metrics took numpy arrays; the peak of a signal has to be named today.
        other = (
            old.startswith("pytorch_lightning.metrics.sklearns")
            or "PeakSignal" in new
            or "peak_signal" in new
        )
        return "u" if "task=" in note or other else "s"
    if new == "torch.distributed.nn.functional.all_gather" or name in (
        "metrics_to_scalars",
        "get_len",
        "upgrade_checkpoint",
    ):
        return "u"
    if status == "renamed" and name == "tqdm":
        return "s"
    return "s"


def hint_of(old: str, status: str, note: str) -> str:
    note = note.strip()
    if status == "kept":
        return ""
    if note in HINTS:
        return HINTS[note]
    if not note or note.startswith(SILENT_NOTES):
        if status == "removed":
            name = old.rpartition(".")[2]
            if name.isupper() and ("AVAILABLE" in name or "GREATER" in name):
                return "look for the package yourself, with importlib.util.find_spec"
            return "it was internal and has no twin"
        return ""
    raise SystemExit(f"no hint for the note {note!r} of {old}")


def rows() -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for kind, table in (("n", "import_paths"), ("i", "import_paths_incidental")):
        for row in read(table):
            old = f"{row['old_module']}.{row['name']}"
            if old in NEVER_THERE:
                continue
            new = "removed" if row["new_module"] == "removed" else f"{row['new_module']}.{row['new_name']}"
            new = NEW.get(new, new)
            note, status = row.get("note") or "", row["status"]
            if (
                new == "pytorch_lightning.callbacks.ProgressBar"
                and row["name"] == "ProgressBar"
                and status != "changed_meaning"
            ):
                # The name stood for the tqdm bar until 1.6.
                if float(row["last"].replace("0.10", "0.95")) < 1.7:
                    new, status = "pytorch_lightning.callbacks.TQDMProgressBar", "renamed"
                else:
                    new = "pytorch_lightning.callbacks.progress.progress_bar.ProgressBar"
            if row["name"] == "ProgressBarBase":
                # Not the path that means something else in older releases: resolving again must change nothing.
                new = "pytorch_lightning.callbacks.progress.progress_bar.ProgressBar"
            if new == "removed":
                new, status = "", "removed"
            if status == "stub_raises":
                new = ""
            if status == "changed_meaning":
                new = "pytorch_lightning.callbacks.TQDMProgressBar"
            hint = hint_of(old, status, note) if kind == "n" else ""
            if row["name"] == "CombinedLoader" and status == "moved":
                hint = "its loaders are iterables, and going over it gives (batch, batch_idx, dataloader_idx) since 2.1"
            if kind == "i" and status == "removed":
                hint = "it was there only because that module imported it"
            found.append(
                {
                    "kind": kind,
                    "old": old,
                    "status": status,
                    "new": new,
                    "deprecated": row["deprecated_in"],
                    "removed": row["removed_in"],
                    "hint": hint,
                    "how": how_of(old, status, new, note),
                }
            )
    have = {row["old"] for row in found}
    for old, (status, new, hint) in PRIVATE.items():
        if old not in have:
            removed = "" if status == "kept" else "0.8" if old.endswith("loggers.rank_zero_only") else "2.0"
            found.append(
                {
                    "kind": "p",
                    "old": old,
                    "status": status,
                    "new": new,
                    "deprecated": "",
                    "removed": removed,
                    "hint": hint,
                    "how": "s" if new else "m",
                }
            )
    # A name that another module only imported follows the name where it was defined.
    same = {
        (row["old"].rpartition(".")[2], row["new"]): row
        for row in found
        if row["kind"] == "n" and row["new"] and row["status"] != "kept"
    }
    for row in found:
        there = same.get((row["old"].rpartition(".")[2], row["new"]))
        if row["kind"] == "i" and row["status"] != "kept" and there:
            row["how"], row["hint"] = there["how"], there["hint"]
    # Where something leads is itself a path of today.
    have = {row["old"] for row in found} | {row["module"] for row in read("modules")}
    found += [
        {
            "kind": "p",
            "old": new,
            "status": "kept",
            "new": new,
            "deprecated": "",
            "removed": "",
            "hint": "",
            "how": "s",
        }
        for new in sorted({row["new"] for row in found})
        if new.startswith("pytorch_lightning.") and new not in have
    ]
    for row in read("modules"):
        status = {"alias_in_2.6": "deprecated_alias"}.get(row["status"], row["status"])
        new = (
            ""
            if row["new_module"] == "removed" or status == "stub_raises"
            else row["new_module"].split(" ")[0]
        )
        hint = ""
        if " " in row["new_module"]:
            hint = "only part of it is there: " + row["new_module"].partition("(")[2].rstrip(")")
        if status == "removed":
            hint = "import what you need of it from where it is today"
        if status == "stub_raises":
            hint = "it imports, but nothing in it can be built: HPU support is gone"
        found.append(
            {
                "kind": "m",
                "old": row["module"],
                "status": status,
                "new": new,
                "deprecated": "",
                "removed": row["removed_in"],
                "hint": hint,
                "how": "s" if status == "kept" else "u" if " " not in row["new_module"] and new else "m",
            }
        )
    return found


def short(path: str) -> str:
    """Write the root that nearly all paths have as a dot."""
    return path[len("pytorch_lightning") :] if path.startswith("pytorch_lightning.") else path


def probe(python: str, paths: set[str]) -> dict[str, list[object]]:
    run = subprocess.run(
        [python, "-c", PROBE], input="\n".join(sorted(paths)), capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def homes(found: list[dict[str, str]], answers: dict[str, list[object]]) -> None:
    """Name one public path for all paths that lead to the same object of 2.6.6."""
    groups: dict[object, list[str]] = defaultdict(list)
    kinds = {row["old"]: row["kind"] for row in found if row["kind"] != "m"}
    for path, (there, identity, *_) in answers.items():
        if there and identity is not None:
            groups[identity].append(path)

    def rank(path: str) -> tuple[object, ...]:
        parts = path.split(".")
        return (
            path.startswith("pytorch_lightning.") is False,
            any(part.startswith("_") for part in parts),
            kinds.get(path, "n") != "n",
            len(parts),
            path,
        )

    chosen = {path: min(group, key=rank) for group in groups.values() for path in group}
    for row in found:
        new = row["new"]
        home = chosen.get(new, new)
        row["home"] = "" if home == new or row["kind"] == "m" else home
        outside = str(answers[new][4]) if new else ""
        row["outside"] = "" if outside == new else outside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True, help="a python with Lightning 2.6.6")
    parser.add_argument(
        "--check", action="store_true", help="say whether the table is up to date, write nothing"
    )
    options = parser.parse_args()
    found = rows()
    answers = probe(options.oracle, {row["new"] for row in found if row["new"]})
    homes(found, answers)
    codes = {}
    if OUT.exists():
        with OUT.open(encoding="utf-8", newline="") as stream:
            codes = {
                (row["kind"], row["old"]): row["code"]
                for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            }
    for row in found:
        row["code"] = codes.get((row["kind"], short(row["old"]))) or code_of(
            row["kind"], row["old"], row["status"], row["new"], row["hint"]
        )
    found.sort(key=lambda row: (row["old"], row["kind"]))
    lines = ["\t".join(FIELDS), *("\t".join(short(row[field]) for field in FIELDS) for row in found)]
    text = "\n".join(lines) + "\n"
    if options.check:
        sys.exit(OUT.read_text(encoding="utf-8") != text)
    OUT.write_text(text, encoding="utf-8")
    for new in sorted({row["new"] for row in found if row["new"] and not answers[row["new"]][0]}):
        print("not in the oracle:", new, answers[new][3])
    print(len(found), "rows")


if __name__ == "__main__":
    main()

"""What compat serves itself, by legacy path: adapters of core classes and small things that were removed."""

from __future__ import annotations

import importlib
import re
from typing import Any

__all__ = ["ADAPTED", "SMALL", "find", "load", "load_path"]

_HERE = "relight.compat"
_UTILITIES = "pytorch_lightning.utilities"

#: The core's path of an object → compat's own, wherever a legacy path leads to the core's.
ADAPTED: dict[str, str] = {
    "relight.Trainer": f"{_HERE}._trainer:Trainer",
    "relight.trainer.Trainer": f"{_HERE}._trainer:Trainer",
    "relight.trainer.trainer.Trainer": f"{_HERE}._trainer:Trainer",
    "relight.LightningModule": f"{_HERE}._module:LightningModule",
    "relight.LightningDataModule": f"{_HERE}._datamodule:LightningDataModule",
    "relight.Callback": f"{_HERE}._callback:Callback",
    "relight.callbacks.Callback": f"{_HERE}._callback:Callback",
    "relight.seed_everything": f"{_HERE}._small:seed_everything",
    "relight.callbacks.ModelCheckpoint": f"{_HERE}._callbacks:ModelCheckpoint",
    "relight.callbacks.EarlyStopping": f"{_HERE}._callbacks:EarlyStopping",
    "relight.callbacks.BaseFinetuning": f"{_HERE}._callbacks:BaseFinetuning",
    "relight.callbacks.BasePredictionWriter": f"{_HERE}._callbacks:BasePredictionWriter",
    "relight.callbacks.LearningRateMonitor": f"{_HERE}._callbacks:LearningRateMonitor",
    "relight.callbacks.ProgressBar": f"{_HERE}._progress:ProgressBar",
    "relight.callbacks.TQDMProgressBar": f"{_HERE}._progress:TQDMProgressBar",
    "relight.callbacks.RichProgressBar": f"{_HERE}._progress:RichProgressBar",
    "relight.callbacks.BackboneFinetuning": f"{_HERE}._callbacks:BackboneFinetuning",
    **{
        f"relight.loggers.{name}": f"{_HERE}._loggers:{name}"
        for name in ("CometLogger", "NeptuneLogger", "WandbLogger")
    },
    **{
        f"relight.cli.{name}": f"{_HERE}._cli:{name}"
        for name in ("LightningArgumentParser", "LightningCLI", "SaveConfigCallback")
    },
    **{
        f"relight.profilers.{name}": f"{_HERE}._profilers:{name}"
        for name in ("AdvancedProfiler", "PyTorchProfiler", "SimpleProfiler")
    },
}

_TYPES = [
    "EPOCH_OUTPUT",
    "TRAIN_DATALOADERS",
    "EVAL_DATALOADERS",
    "STEP_OUTPUT",
    "_PATH",
    "_METRIC",
    "_METRIC_COLLECTION",
]

#: The last part of a legacy path → compat's own object, for names whose meaning does not depend on the
# module.
_BY_NAME: dict[str, str] = {
    "LoggerCollection": f"{_HERE}._small:LoggerCollection",
    "auto_move_data": f"{_HERE}._small:auto_move_data",
    "data_loader": f"{_HERE}._small:data_loader",
    "_module_available": f"{_HERE}._small:module_available",
    "_package_available": f"{_HERE}._small:module_available",
    "get_filesystem": f"{_HERE}._small:get_filesystem",
    "atomic_save": f"{_HERE}._small:atomic_save",
    "_PatchDataLoader": f"{_HERE}._small:PatchDataLoader",
    **dict.fromkeys(_TYPES, f"{_HERE}._small:ANY"),
    **{
        name: f"{_HERE}._old_tools:{name}"
        for name in (
            "TestTubeLogger", "convert_inf", "get_init_args", "is_oom_error", "is_overridden",
            "is_param_in_hook_signature", "load_hparams_from_tags_csv", "load_hparams_from_yaml",
            "save_hparams_to_tags_csv", "save_hparams_to_yaml", "summarize",
        )
    },
    **{
        f"{kind}_REGISTRY": f"{_HERE}._old_tools:{kind}_REGISTRY"
        for kind in ("CALLBACK", "DATAMODULE", "LOGGER", "LR_SCHEDULER", "MODEL", "OPTIMIZER")
    },
    "pl_legacy_patch": f"{_HERE}._old_tools:no_patch",
    "SignalConnector": f"{_HERE}._private:SignalConnector",
    "AMPType": f"{_HERE}._private:AMPType",
    "_AMPType": f"{_HERE}._private:AMPType",
    "DistributedType": f"{_HERE}._private:DistributedType",
    "_StrategyType": f"{_HERE}._private:DistributedType",
    "DeviceType": f"{_HERE}._private:DeviceType",
    "_AcceleratorType": f"{_HERE}._private:DeviceType",
    "_is_local_file_protocol": f"{_HERE}._private:is_local_file_protocol",
    **{name: f"{_HERE}._results:{name}" for name in ("EvalResult", "TrainResult", "Result")},
    **{
        name: f"{_HERE}._demos:{name}"
        for name in (
            "BoringDataModule", "BoringModel", "DemoModel", "ManualOptimBoringModel", "RandomDataset",
            "RandomDictDataset", "RandomIterableDataset",
        )
    },
    "_SignalConnector": f"{_HERE}._private:SignalConnector",
}  # fmt: skip

# What `pytorch_lightning.metrics` had and torchmetrics wants a task for today.
_METRICS = {
    "Accuracy", "AUROC", "AveragePrecision", "CohenKappa", "ConfusionMatrix", "F1", "FBeta",
    "HammingDistance", "IoU", "MatthewsCorrcoef", "Precision", "PrecisionRecallCurve", "ROC", "Recall",
    "Specificity", "StatScores",
}  # fmt: skip

#: Legacy path → compat's own object.
SMALL: dict[str, str] = {
    "pytorch_lightning.__about__.__version__": f"{_HERE}:__version__",
    "pytorch_lightning.core.saving.ModelIO": f"{_HERE}._module:LightningModule",
    "pytorch_lightning.core.grads.GradInformation": f"{_HERE}._module:LightningModule",
    f"{_UTILITIES}.cloud_io.load": f"{_HERE}._small:load",
    f"{_UTILITIES}.argparse.add_argparse_args": f"{_HERE}._argparse:add_argparse_args",
    f"{_UTILITIES}.argparse.from_argparse_args": f"{_HERE}._argparse:from_argparse_args",
    f"{_UTILITIES}.argparse.parse_argparser": f"{_HERE}._argparse:parse_argparser",
    f"{_UTILITIES}.argparse.parse_env_variables": f"{_HERE}._argparse:parse_env_variables",
    f"{_UTILITIES}.argparse.get_init_arguments_and_types": f"{_HERE}._argparse:get_init_arguments_and_types",
    f"{_UTILITIES}.argparse_utils.add_argparse_args": f"{_HERE}._argparse:add_argparse_args",
    f"{_UTILITIES}.argparse_utils.from_argparse_args": f"{_HERE}._argparse:from_argparse_args",
    f"{_UTILITIES}.distributed.all_gather_ddp_if_available": f"{_HERE}._small:all_gather_if_available",
    f"{_UTILITIES}.distributed.sync_ddp_if_available": f"{_HERE}._small:sync_if_available",
    f"{_UTILITIES}.distributed.gather_all_tensors": f"{_HERE}._small:gather_all_tensors",
    "pytorch_lightning._logger": f"{_HERE}._old_tools:log",
    "pytorch_lightning.callbacks.timer.Interval": f"{_HERE}._old_tools:Interval",
    **{
        f"pytorch_lightning.{module}.ModelSummary": f"{_HERE}._old_tools:ModelSummary"
        for module in ("core.memory", "utilities.memory", "utilities.model_summary")
    },
    "pytorch_lightning.utilities.distributed.ReduceOp": "torch.distributed:ReduceOp",
    "pytorch_lightning.utilities.types._LRScheduler": "torch.optim.lr_scheduler:LRScheduler",
    f"{_UTILITIES}.types.LRSchedulerType": f"{_HERE}._small:ANY",
    "pytorch_lightning.callbacks.LearningRateLogger": f"{_HERE}._callbacks:LearningRateLogger",
    "pytorch_lightning.callbacks.lr_logger.LearningRateLogger": f"{_HERE}._callbacks:LearningRateLogger",
}

# Switches that old code imports to ask what is installed.
_GREATER = re.compile(r"_?(TORCH|TORCHMETRICS|PYTHON)_GREATER_EQUAL_(\d+)_(\d+)(?:_\d+)?")
_AVAILABLE = re.compile(r"_?([A-Z0-9]+(?:_[A-Z0-9]+)*)_AVAILABLE")


def find(path: str) -> str | None:
    """Return where compat's own object for the legacy ``path`` is (``module:name``), or ``None``."""
    if path in SMALL:
        return SMALL[path]
    name = path.rpartition(".")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _METRICS and path.startswith("pytorch_lightning.metrics."):
        return f"{_HERE}._metrics:{name}"
    if _GREATER.fullmatch(name) or _AVAILABLE.fullmatch(name):
        return f"{_HERE}._small:{name}"
    return None


def load(served: str) -> Any:
    """Return the object at ``module:name``."""
    module, _, name = served.partition(":")
    return getattr(importlib.import_module(module), name)


def load_path(path: str) -> Any:
    """Return the object at a dotted path of the core or of another distribution, compat's own where it has
    one.

    Raises:
        ImportError: There is no such object.
    """
    if path in ADAPTED:
        return load(ADAPTED[path])
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        try:
            value: Any = importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Only the path itself may be missing, not something that it needs.
            if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
                continue
            raise
        for attribute in parts[length:]:
            if not hasattr(value, attribute):
                raise ImportError(f"`{path}` does not exist")
            value = getattr(value, attribute)
        return value
    raise ImportError(f"`{parts[0]}` is not installed")

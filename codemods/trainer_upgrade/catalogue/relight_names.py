"""What relight has of Lightning 2.x's public names, and where.

Keys are dotted paths of ``lightning.pytorch`` 2.6, values those of relight or, for what relight leaves to
Lightning Fabric (strategies, precision plugins, accelerators), of Fabric. Objects that Lightning itself takes
from Fabric need no line here. A name that is in neither has no place on relight yet.
"""

from __future__ import annotations

__all__ = ["FABRIC", "NAMES", "STRATEGY_MEMBERS"]


def _same(prefix: str, *names: str) -> dict[str, str]:
    """List names that relight has at Lightning's own path."""
    return {f"lightning.pytorch.{prefix}{name}": f"relight.{prefix}{name}" for name in names}


_OBJECTS: dict[str, str] = {
    **_same("", "Trainer", "LightningModule", "LightningDataModule", "Callback", "seed_everything"),
    **_same(
        "callbacks.",
        "BackboneFinetuning",
        "BaseFinetuning",
        "BasePredictionWriter",
        "BatchSizeFinder",
        "Callback",
        "Checkpoint",
        "DeviceStatsMonitor",
        "EMAWeightAveraging",
        "EarlyStopping",
        "GradientAccumulationScheduler",
        "LambdaCallback",
        "LearningRateFinder",
        "LearningRateMonitor",
        "ModelCheckpoint",
        "ModelPruning",
        "ModelSummary",
        "OnExceptionCheckpoint",
        "ProgressBar",
        "RichModelSummary",
        "RichProgressBar",
        "StochasticWeightAveraging",
        "TQDMProgressBar",
        "ThroughputMonitor",
        "Timer",
        "WeightAveraging",
    ),
    **_same("callbacks.finetuning.", "multiplicative"),
    "lightning.pytorch.tuner.Tuner": "relight.tuner.Tuner",
    **_same("callbacks.prediction_writer.", "WriteInterval"),
    **_same("callbacks.progress.rich_progress.", "RichProgressBarTheme"),
    # Where the abstract base is, whatever release the name is read for.
    "lightning.pytorch.callbacks.progress.progress_bar.ProgressBar": "relight.callbacks.ProgressBar",
    **_same(
        "loggers.",
        "CSVLogger",
        "CometLogger",
        "Logger",
        "MLFlowLogger",
        "NeptuneLogger",
        "TensorBoardLogger",
        "WandbLogger",
    ),
    # A stub in 2.6, so that its home is not known there.
    "lightning.pytorch.loggers.neptune.NeptuneLogger": "relight.loggers.NeptuneLogger",
    **_same("loggers.logger.", "DummyLogger", "rank_zero_experiment"),
    **_same(
        "profilers.",
        "AdvancedProfiler",
        "PassThroughProfiler",
        "Profiler",
        "PyTorchProfiler",
        "SimpleProfiler",
    ),
    **_same("profilers.pytorch.", "RegisterRecordFunction"),
    **_same(
        "cli.",
        "ArgsType",
        "LRSchedulerCallable",
        "LRSchedulerType",
        "LRSchedulerTypeTuple",
        "LRSchedulerTypeUnion",
        "LightningArgumentParser",
        "LightningCLI",
        "OptimizerCallable",
        "ReduceLROnPlateau",
        "SaveConfigCallback",
        "instantiate_class",
        "instantiate_module",
    ),
    **_same("plugins.", "LayerSync", "TorchSyncBatchNorm"),
    **_same("trainer.states.", "RunningStage", "TrainerFn", "TrainerState", "TrainerStatus"),
    **_same(
        "utilities.",
        "CombinedLoader",
        "GradClipAlgorithmType",
        "grad_norm",
        "move_data_to_device",
        "rank_zero_deprecation",
        "rank_zero_info",
        "rank_zero_only",
        "rank_zero_warn",
    ),
    **_same("utilities.compile.", "from_compiled", "to_uncompiled"),
    **_same("utilities.rank_zero.", "WarningCache"),
    **_same("utilities.exceptions.", "MisconfigurationException", "SIGTERMException"),
    **_same("utilities.seed.", "isolate_rng"),
    **_same("utilities.types.", "STEP_OUTPUT", "LRSchedulerConfig"),
    **_same("utilities.memory.", "recursive_detach"),
    **_same("core.hooks.", "CheckpointHooks", "DataHooks", "ModelHooks"),
    **_same("core.optimizer.", "LightningOptimizer"),
    "lightning.pytorch.core.mixins.HyperparametersMixin": "relight.core.hparams.HyperparametersMixin",
    "lightning.pytorch.utilities.parsing.AttributeDict": "relight.core.hparams.AttributeDict",
    "lightning.pytorch.utilities.warnings.PossibleUserWarning": (
        "relight.utilities.rank_zero.PossibleUserWarning"
    ),
}

_MODULES: dict[str, str] = {
    "lightning.pytorch": "relight",
    **_same("", "callbacks", "cli", "loggers", "plugins", "profilers", "trainer", "tuner", "utilities"),
    **_same(
        "callbacks.",
        "batch_size_finder",
        "callback",
        "checkpoint",
        "device_stats_monitor",
        "early_stopping",
        "finetuning",
        "gradient_accumulation_scheduler",
        "lr_finder",
        "lr_monitor",
        "model_checkpoint",
        "model_summary",
        "prediction_writer",
        "progress",
        "progress.progress_bar",
        "progress.rich_progress",
        "progress.tqdm_progress",
        "pruning",
        "rich_model_summary",
        "throughput_monitor",
        "timer",
    ),
    "lightning.pytorch.callbacks.lambda_function": "relight.callbacks.lambda_function",
    **_same("loggers.", "comet", "csv_logs", "logger", "mlflow", "neptune", "tensorboard", "wandb"),
    **_same("plugins.", "layer_sync"),
    **_same("profilers.", "advanced", "base", "profiler", "pytorch", "simple"),
    **_same("trainer.", "states"),
    **_same(
        "utilities.",
        "combined_loader",
        "compile",
        "exceptions",
        "grads",
        "memory",
        "rank_zero",
        "seed",
        "types",
    ),
    **_same("core.", "hooks", "optimizer"),
    "lightning.pytorch.core.module": "relight.module",
    "lightning.pytorch.core.datamodule": "relight.datamodule",
}

NAMES: dict[str, str] = {**_OBJECTS, **_MODULES}

_STRATEGIES = (
    "DDPStrategy",
    "DeepSpeedStrategy",
    "FSDPStrategy",
    "ModelParallelStrategy",
    "ParallelStrategy",
    "SingleDeviceStrategy",
    "SingleDeviceXLAStrategy",
    "Strategy",
    "XLAStrategy",
)
_PRECISION = (
    "BitsandbytesPrecision",
    "DeepSpeedPrecision",
    "DoublePrecision",
    "FSDPPrecision",
    "HalfPrecision",
    "MixedPrecision",
    "Precision",
    "TransformerEnginePrecision",
    "XLAPrecision",
)
_ACCELERATORS = ("Accelerator", "CPUAccelerator", "CUDAAccelerator", "MPSAccelerator", "XLAAccelerator")

FABRIC: dict[str, str] = {
    **{f"lightning.pytorch.strategies.{name}": f"lightning_fabric.strategies.{name}" for name in _STRATEGIES},
    **{f"lightning.pytorch.plugins.{name}": f"lightning_fabric.plugins.{name}" for name in _PRECISION},
    **{
        f"lightning.pytorch.accelerators.{name}": f"lightning_fabric.accelerators.{name}"
        for name in _ACCELERATORS
    },
    "lightning.pytorch.strategies": "lightning_fabric.strategies",
    "lightning.pytorch.accelerators": "lightning_fabric.accelerators",
    "lightning.pytorch.plugins.environments": "lightning_fabric.plugins.environments",
}

#: What ``trainer.strategy`` has on relight, where it is Fabric's, by the name it has on Lightning.
STRATEGY_MEMBERS: dict[str, str] = {
    **{
        name: name
        for name in (
            "all_gather",
            "barrier",
            "broadcast",
            "global_rank",
            "is_global_zero",
            "local_rank",
            "node_rank",
            "num_nodes",
            "num_processes",
            "parallel_devices",
            "reduce_boolean_decision",
            "root_device",
            "world_size",
        )
    },
    "reduce": "all_reduce",
}

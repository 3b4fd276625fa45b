"""Callbacks: code that runs at named moments of a run, apart from the model.

The Trainer takes instances, or names of those whose defaults do: see :func:`resolve_callback`.
"""

from __future__ import annotations

from relight.callbacks.batch_size_finder import BatchSizeFinder
from relight.callbacks.callback import Callback
from relight.callbacks.checkpoint import Checkpoint
from relight.callbacks.device_stats_monitor import DeviceStatsMonitor
from relight.callbacks.early_stopping import EarlyStopping
from relight.callbacks.finetuning import BackboneFinetuning, BaseFinetuning
from relight.callbacks.gradient_accumulation_scheduler import GradientAccumulationScheduler
from relight.callbacks.lambda_function import LambdaCallback
from relight.callbacks.lr_finder import LearningRateFinder
from relight.callbacks.lr_monitor import LearningRateMonitor
from relight.callbacks.model_checkpoint import ModelCheckpoint
from relight.callbacks.model_summary import ModelSummary
from relight.callbacks.on_exception_checkpoint import OnExceptionCheckpoint
from relight.callbacks.prediction_writer import BasePredictionWriter
from relight.callbacks.progress import ProgressBar, RichProgressBar, TQDMProgressBar
from relight.callbacks.pruning import ModelPruning
from relight.callbacks.registry import register_callback, registered_callbacks, resolve_callback
from relight.callbacks.rich_model_summary import RichModelSummary
from relight.callbacks.stochastic_weight_avg import StochasticWeightAveraging
from relight.callbacks.stopping import StoppingCondition, TrainAtLeast
from relight.callbacks.throughput_monitor import ThroughputMonitor
from relight.callbacks.timer import Timer
from relight.callbacks.weight_averaging import EMAWeightAveraging, WeightAveraging

__all__ = [
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
    "StoppingCondition",
    "TQDMProgressBar",
    "ThroughputMonitor",
    "Timer",
    "TrainAtLeast",
    "WeightAveraging",
    "register_callback",
    "registered_callbacks",
    "resolve_callback",
]


def _early_stopping() -> Callback:
    # It has no default metric since Lightning 1.5; this is the one it had before.
    return EarlyStopping(monitor="val_loss")


register_callback("backbone_finetuning", BackboneFinetuning)
register_callback("batch_size_finder", BatchSizeFinder)
register_callback("device_stats_monitor", DeviceStatsMonitor)
register_callback("early_stopping", _early_stopping)
register_callback("ema_weight_averaging", EMAWeightAveraging)
register_callback("learning_rate_finder", LearningRateFinder)
register_callback("learning_rate_monitor", LearningRateMonitor)
register_callback("model_checkpoint", ModelCheckpoint)
register_callback("model_summary", ModelSummary)
register_callback("progress_bar", TQDMProgressBar)
register_callback("rich_model_summary", RichModelSummary)
register_callback("rich_progress_bar", RichProgressBar)
register_callback("timer", Timer)
register_callback("weight_averaging", WeightAveraging)

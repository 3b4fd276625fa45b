"""Callbacks, and the names under which the Trainer knows them."""

from __future__ import annotations

from relight.callbacks.callback import Callback
from relight.callbacks.checkpoint import Checkpoint
from relight.callbacks.early_stopping import EarlyStopping
from relight.callbacks.model_checkpoint import ModelCheckpoint
from relight.callbacks.stopping import StoppingCondition, TrainAtLeast
from relight.callbacks.timer import Timer

__all__ = [
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "ModelCheckpoint",
    "StoppingCondition",
    "Timer",
    "TrainAtLeast",
]

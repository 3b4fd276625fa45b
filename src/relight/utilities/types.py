"""Types that several rooms share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from torch import Tensor

__all__ = ["STEP_OUTPUT", "GradClipAlgorithmType", "LRSchedulerConfig"]

STEP_OUTPUT = Tensor | Mapping[str, Any] | None


class GradClipAlgorithmType(str, Enum):
    """How gradients are clipped: ``value`` or ``norm``."""

    VALUE = "value"
    NORM = "norm"

    @staticmethod
    def supported_type(value: str) -> bool:
        """Return whether ``value`` names an algorithm."""
        return value in GradClipAlgorithmType.supported_types()

    @staticmethod
    def supported_types() -> list[str]:
        """Return the names of all algorithms."""
        return [member.value for member in GradClipAlgorithmType]


@dataclass
class LRSchedulerConfig:
    """One learning rate scheduler and when it steps.

    Attributes:
        scheduler: The scheduler itself.
        name: Name for ``LearningRateMonitor``.
        interval: ``"epoch"`` or ``"step"`` (an optimizer step).
        frequency: Every how many intervals it steps.
        reduce_on_plateau: Whether it steps on the value of ``monitor``.
        monitor: The metric it steps on.
        strict: Whether a missing metric is an error.
    """

    scheduler: Any
    name: str | None = None
    interval: str = "epoch"
    frequency: int = 1
    reduce_on_plateau: bool = False
    monitor: str | None = None
    strict: bool = True

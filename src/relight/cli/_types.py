"""Types that the command line and models for it speak in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Optional, Union

import torch
from jsonargparse import Namespace
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

__all__ = [
    "ArgsType",
    "LRSchedulerCallable",
    "LRSchedulerType",
    "LRSchedulerTypeTuple",
    "LRSchedulerTypeUnion",
    "OptimizerCallable",
    "ReduceLROnPlateau",
]


class ReduceLROnPlateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
    """torch's scheduler that knows which metric it follows.

    Args:
        optimizer: The optimizer.
        monitor: Name of the metric, as logged.
        args: Arguments of torch's.
        kwargs: Arguments of torch's.
    """

    def __init__(self, optimizer: Optimizer, monitor: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(optimizer, *args, **kwargs)
        self.monitor = monitor


# torch's own ReduceLROnPlateau is not among them: it does not say what to monitor.
LRSchedulerTypeTuple = (LRScheduler, ReduceLROnPlateau)
LRSchedulerTypeUnion = Union[LRScheduler, ReduceLROnPlateau]  # noqa: UP007 - read at run time by jsonargparse
LRSchedulerType = Union[type[LRScheduler], type[ReduceLROnPlateau]]  # noqa: UP007

#: What ``LightningCLI(args=…)`` takes.
ArgsType = Optional[Union[list[str], dict[str, Any], Namespace]]  # noqa: UP007, UP045
#: A parameter of a model for an optimizer that is made later: ``optimizer(self.parameters())``.
OptimizerCallable = Callable[[Iterable[Any]], Optimizer]
#: A parameter of a model for a scheduler that is made later: ``scheduler(optimizer)``.
LRSchedulerCallable = Callable[[Optimizer], Union[LRScheduler, ReduceLROnPlateau]]  # noqa: UP007

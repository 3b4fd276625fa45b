"""Metrics of ``pytorch_lightning.metrics`` (left in 1.5) on torchmetrics, which asks for a task today.

Up to torchmetrics 0.10, whose code these were, a metric found out from the first batch whether the task is
binary, multi-class or multi-label. These do so, too, and are torchmetrics' own metrics from then on.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import Tensor

__all__ = ["NAMES", "make"]

#: The names whose class of today wants a task.
NAMES = (
    "Accuracy", "AUROC", "AveragePrecision", "CohenKappa", "ConfusionMatrix", "F1", "FBeta",
    "HammingDistance", "IoU", "MatthewsCorrcoef", "Precision", "PrecisionRecallCurve", "ROC", "Recall",
    "Specificity", "StatScores",
)  # fmt: skip
_RENAMED = {
    "F1": "F1Score",
    "FBeta": "FBetaScore",
    "IoU": "JaccardIndex",
    "MatthewsCorrcoef": "MatthewsCorrCoef",
}
_DROPPED = ("mdmc_average", "multiclass", "compute_on_step", "is_multiclass", "subset_accuracy")


def _task(preds: Tensor, target: Tensor, classes: int | None) -> dict[str, Any]:
    """Return what torchmetrics wants to know, from the shapes of a batch."""
    if preds.ndim == target.ndim + 1:
        return {"task": "multiclass", "num_classes": classes or preds.shape[1]}
    if preds.is_floating_point():
        if preds.ndim > 1 and preds.shape[1] > 1:
            return {"task": "multilabel", "num_labels": preds.shape[1]}
        return {"task": "binary"}
    if classes is None or classes <= 2:
        highest = int(torch.max(preds.max(), target.max())) if preds.numel() else 1
        if highest <= 1:
            return {"task": "binary"}
        raise ValueError(
            f"Labels up to {highest} were given as predictions: say `num_classes=` when the metric is made"
        )
    return {"task": "multiclass", "num_classes": classes}


def make(name: str) -> type:
    """Return the class that stands for the old metric ``name``.

    Raises:
        ImportError: torchmetrics is not installed.
    """
    metrics = importlib.import_module("torchmetrics")
    modern = getattr(metrics, _RENAMED.get(name, name))
    base = metrics.Metric

    class Old(base):  # type: ignore[misc, valid-type]
        __doc__ = f"Left in 1.5: ``torchmetrics.{modern.__name__}`` with a task."
        full_state_update = True

        def __init__(self, *positional: Any, **arguments: Any) -> None:
            super().__init__(
                **{
                    key: arguments.pop(key)
                    for key in ("dist_sync_on_step", "process_group", "dist_sync_fn")
                    if key in arguments
                }
            )
            self._given = {
                key: value for key, value in arguments.items() if key not in _DROPPED and value is not None
            }
            self._classes = self._given.pop("num_classes", positional[0] if positional else None)
            self._inner: Any = None

        def _of(self, preds: Tensor, target: Tensor) -> Any:
            if self._inner is None:
                task = _task(preds, target, self._classes)
                given = dict(self._given)
                if name in (
                    "Accuracy",
                    "Precision",
                    "Recall",
                    "F1",
                    "FBeta",
                    "Specificity",
                    "HammingDistance",
                ):
                    given.setdefault("average", "micro")  # the default of then
                if name == "FBeta":
                    given.setdefault("beta", 1.0)
                if task["task"] == "binary":
                    given.pop("average", None)
                    given.pop("top_k", None)
                self._inner = modern(**task, **given).to(self.device)
            return self._inner

        def update(self, preds: Tensor, target: Tensor) -> None:
            """Take a batch."""
            self._of(preds, target).update(preds, target)

        def compute(self) -> Any:
            """Return the value over all batches."""
            if self._inner is None:
                raise ValueError(f"{name} has seen no batch yet")
            return self._inner.compute()

        def forward(self, preds: Tensor, target: Tensor) -> Any:
            """Take a batch and return its value."""
            self._update_count += 1
            self._computed = None
            return self._of(preds, target)(preds, target)

        def reset(self) -> None:
            """Forget the batches."""
            super().reset()
            if self.__dict__.get("_inner") is not None or "_inner" in self._modules:
                self._inner.reset()

    Old.__name__ = Old.__qualname__ = name
    Old.__module__ = __name__
    return Old


def __getattr__(name: str) -> Any:
    if name in NAMES:
        cls = globals()[name] = make(name)
        return cls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

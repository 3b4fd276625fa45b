"""What was logged and has not been reduced yet.

A collection belongs to one loop. A value is kept on its device as a detached tensor; reduction follows
Lightning 2.6 operation by operation, so that results are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.memory import extract_batch_size
from relight.utilities.rank_zero import WarningCache

__all__ = ["Entry", "LogOptions", "Metrics", "ResultCollection", "default_dtype"]

_warn_once = WarningCache()
_REDUCTIONS = {
    "mean": "mean", "avg": "mean", "sum": "sum", "min": "min", "max": "max",
    torch.mean: "mean", torch.sum: "sum", torch.min: "min", torch.max: "max",
    sum: "sum", min: "min", max: "max",
}  # fmt: skip


def default_dtype() -> torch.dtype:
    """Return the type of new values: torch's default, but at least float32."""
    dtype = torch.get_default_dtype()
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def reduction_name(reduce_fx: str | Callable[[Any], Any]) -> str:
    """Return ``mean``, ``sum``, ``min`` or ``max``.

    Raises:
        MisconfigurationException: For any other reduction.
    """
    key = reduce_fx.lower() if isinstance(reduce_fx, str) else reduce_fx
    try:
        return _REDUCTIONS[key]
    except (KeyError, TypeError):
        raise MisconfigurationException(
            "`self.log(reduce_fx=...)` knows mean, sum, min and max; log a `torchmetrics.Metric` for anything"
            f" else. Found: {reduce_fx}"
        ) from None


class LogOptions(NamedTuple):
    """How a name is logged; may not change between calls in the same hook."""

    prog_bar: bool
    logger: bool
    on_step: bool
    on_epoch: bool
    reduce_fx: str
    enable_graph: bool
    add_dataloader_idx: bool
    metric_attribute: str | None
    sync_dist: bool
    sync_dist_group: Any
    rank_zero_only: bool


class Metrics(NamedTuple):
    """Values by name, for callbacks, loggers and the progress bar."""

    callback: dict[str, Tensor]
    log: dict[str, Tensor]
    pbar: dict[str, Any]


class Entry:
    """One name logged in one hook, and its value so far."""

    __slots__ = (
        "computed", "dataloader_idx", "epoch_name", "fx", "has_reset", "initial", "logged_name", "metric",
        "name", "options", "step_name", "step_value", "sync", "value", "weight",
    )  # fmt: skip

    def __init__(
        self,
        fx: str,
        name: str,
        options: LogOptions,
        dataloader_idx: int | None,
        is_metric: bool,
        sync: Callable[[Tensor, str, Any], Tensor] | None,
    ) -> None:
        suffix = ""
        if options.add_dataloader_idx and dataloader_idx is not None:
            suffix = f"/dataloader_idx_{dataloader_idx}"
        forked = options.on_step and options.on_epoch
        self.fx, self.options, self.dataloader_idx = fx, options, dataloader_idx
        self.logged_name = name
        self.name = name + suffix
        self.step_name = f"{name}_step{suffix}" if forked else self.name
        self.epoch_name = f"{name}_epoch{suffix}" if forked else self.name
        self.sync = sync if options.sync_dist and not options.rank_zero_only else None
        self.initial = {"max": float("-inf"), "min": float("inf")}.get(options.reduce_fx, 0.0)
        self.metric: Any = None
        self.has_reset = False
        self.computed: Tensor | None = None
        self.step_value: Tensor | None = None
        self.weight: Any = 0
        self.value: Any = None if is_metric else torch.tensor(self.initial, dtype=default_dtype())

    def update(self, value: Tensor, batch_size: Any) -> None:
        """Take a step's value, a tensor without dimensions that nobody else changes."""
        self.computed = None
        self.has_reset = False
        options = self.options
        if value.dtype is not torch.float32 and value.dtype is not torch.float64:
            if not value.is_floating_point():
                _warn_once.warn(
                    f"`self.log({self.name!r}, ...)` in `{self.fx}` was given a value that is no"
                    " floating point"
                    f" number; it is converted to {default_dtype()} to be reduced."
                )
            value = value.to(default_dtype())
        if options.on_step:
            step_value = value
            if self.sync is not None:
                step_value = self.sync(value.clone(), options.reduce_fx, options.sync_dist_group)
            self.step_value = step_value
            if not options.on_epoch:
                self.value = step_value  # nothing to accumulate
                return
        total = self.value
        if total.device != value.device:
            total = total.to(value.device)
        if options.reduce_fx == "mean":
            self.value = total + value * batch_size
            self.weight = self.weight + batch_size
        elif options.reduce_fx == "sum":
            self.value = total + value
        else:
            self.value = getattr(torch, options.reduce_fx)(total, value)

    def update_metric(self, metric: Any) -> None:
        """Take a ``torchmetrics.Metric``, which accumulates by itself."""
        self.computed = None
        self.has_reset = False
        self.metric = metric
        self.step_value = metric._forward_cache  # what its last call returned; the only place that keeps it

    def epoch_value(self) -> Any:
        """Return the value reduced over the epoch so far."""
        if self.computed is None:
            if self.metric is not None:
                self.computed = self.metric.compute()
            else:
                options, value = self.options, self.value
                if self.sync is not None:
                    value = self.sync(value.clone(), options.reduce_fx, options.sync_dist_group)
                if options.reduce_fx == "mean":
                    weight = torch.as_tensor(self.weight, device=value.device)
                    if self.sync is not None:
                        weight = self.sync(weight, options.reduce_fx, options.sync_dist_group)
                    value = value / weight
                self.computed = value
        return self.computed

    def reset(self) -> None:
        """Forget the values; a metric is reset, too."""
        if self.metric is not None:
            self.metric.reset()
        else:
            self.value = torch.tensor(self.initial, dtype=default_dtype())
            self.weight = 0
            self.step_value = None
            self.computed = None
        self.has_reset = True


class ResultCollection(dict[tuple[str, str], Entry]):
    """All entries of a loop, in the order in which they were first logged."""

    def __init__(self, training: bool) -> None:
        super().__init__()
        self.training = training
        self.batch: Any = None
        self.batch_size: int | None = None
        self.dataloader_idx: int | None = None
        self.logs_steps = False  # whether any entry has a value for each step

    def log(
        self,
        fx: str,
        name: str,
        value: Any,
        options: LogOptions,
        batch_size: int | None,
        sync: Callable[[Tensor, str, Any], Tensor] | None,
    ) -> None:
        """Take a value; ``sync(tensor, reduction, group)`` reduces over processes.

        Raises:
            MisconfigurationException: If the name was logged in this hook with other options.
        """
        if options.add_dataloader_idx and self.dataloader_idx is not None:
            fx = f"{fx}.{self.dataloader_idx}"
        entry = self.get((fx, name))
        is_tensor = isinstance(value, Tensor)
        if entry is None:
            entry = self[fx, name] = Entry(fx, name, options, self.dataloader_idx, not is_tensor, sync)
            self.logs_steps = self.logs_steps or options.on_step
        elif entry.options is not options or entry.dataloader_idx != self.dataloader_idx:
            if entry.options != options or entry.dataloader_idx != self.dataloader_idx:
                raise MisconfigurationException(
                    f"`self.log({name!r}, ...)` was called twice in `{fx}` with different arguments"
                )
            entry.options = options  # equal, but from a checkpoint
        if not is_tensor:
            entry.update_metric(value)
            return
        if batch_size is None:
            batch_size = self.batch_size
            if batch_size is None:
                batch_size = 1
                if self.batch is not None and options.on_epoch and options.reduce_fx == "mean":
                    batch_size = self.batch_size = extract_batch_size(self.batch)
        entry.update(value, batch_size)

    def metrics(self, on_step: bool) -> Metrics:
        """Return the values of the step, or of the epoch so far."""
        metrics = Metrics({}, {}, {})
        for entry in self.values():
            if entry.has_reset or entry.dataloader_idx != self.dataloader_idx:
                continue
            options = entry.options
            if on_step:
                value = entry.step_value if options.on_step else None
            else:
                value = entry.epoch_value() if options.on_epoch else None
            if value is None:
                continue
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"The metric logged as {entry.name!r} must compute a tensor; found {value!r}"
                )
            if not options.enable_graph:
                value = value.detach()
            forked_name = entry.step_name if on_step else entry.epoch_name
            if options.logger:
                metrics.log[forked_name] = value
            if self.training or (options.on_epoch and not on_step):
                metrics.callback[entry.name] = value
                metrics.callback[forked_name] = value
            if options.prog_bar:
                metrics.pbar[forked_name] = value.item()
        return metrics

    def has_name(self, name: str) -> bool:
        """Return whether a value of this name is logged here."""
        return any(name in (entry.name, entry.step_name, entry.epoch_name) for entry in self.values())

    def reset(self, metrics: bool | None = None, fx: str | None = None) -> None:
        """Forget metrics (True), plain values (False) or both, of all hooks or of ``fx``."""
        for entry in self.values():
            is_metric = entry.metric is not None
            if (metrics is None or metrics == is_metric) and (fx is None or fx == entry.fx):
                entry.reset()

    # Going on in another process

    def state_dict(self) -> list[dict[str, Any]]:
        """Return the values so far, as plain data; a metric object keeps its state itself."""
        return [
            {
                "fx": entry.fx,
                "key": list(key),
                "name": entry.logged_name,
                "options": {**entry.options._asdict(), "sync_dist_group": None},
                "dataloader_idx": entry.dataloader_idx,
                "value": entry.value,
                "weight": entry.weight,
                "step_value": entry.step_value,
                "has_reset": entry.has_reset,
                "is_metric": entry.metric is not None,
            }
            for key, entry in self.items()
            if entry.options.sync_dist_group is None  # a group of processes cannot be written down
        ]

    def load_state_dict(
        self,
        state: list[dict[str, Any]],
        metric: Callable[[str], Any],
        sync: Callable[[Tensor, str, Any], Tensor] | None,
    ) -> None:
        """Take the values of another process in place of those here.

        Args:
            state: What :meth:`state_dict` returned.
            metric: Returns the metric object of the module by its attribute.
            sync: As for :meth:`log`.
        """
        self.clear()
        for saved in state:
            options = LogOptions(**saved["options"])
            is_metric = saved["is_metric"]
            entry = Entry(saved["fx"], saved["name"], options, saved["dataloader_idx"], is_metric, sync)
            entry.value, entry.weight = saved["value"], saved["weight"]
            entry.step_value, entry.has_reset = saved["step_value"], saved["has_reset"]
            if is_metric:
                assert options.metric_attribute is not None
                entry.metric = metric(options.metric_attribute)
            fx, name = saved["key"]
            self[fx, name] = entry
            self.logs_steps = self.logs_steps or options.on_step

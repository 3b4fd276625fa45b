"""From logged values to callbacks, loggers and the progress bar, at the moments Lightning 2.6 does it.

``metrics`` of a batch are only worked out when someone looks: the loops say that there are new values, and
:meth:`LoggerConnector.flush` takes them before they could change.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from relight.trainer.results import LogOptions, Metrics, ResultCollection, default_dtype, reduction_name
from relight.trainer.scope import logging_levels
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.memory import map_tensors
from relight.utilities.rank_zero import rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer

__all__ = ["LoggerConnector", "as_tensor", "tensors_to_scalars"]


def tensors_to_scalars(data: Any) -> Any:
    """Return ``data`` with every tensor of one element as a number.

    Raises:
        ValueError: If a tensor has more elements.
    """

    def scalar(tensor: Tensor) -> Any:
        if tensor.numel() != 1:
            raise ValueError(f"A value of {tensor.numel()} elements cannot be logged as a number")
        return tensor.item()

    return map_tensors(data, scalar)


def as_tensor(module: LightningModule, name: str, value: Any, enable_graph: bool) -> Tensor | None:
    """Return a value to log as a tensor without dimensions that nobody else changes.

    ``None`` if it is neither a number nor a tensor.

    Raises:
        ValueError: If it is a tensor of several elements.
    """
    if isinstance(value, Tensor):
        if value.numel() != 1:
            raise ValueError(f"`self.log({name!r}, ...)` wants a tensor of one element; try its `.mean()`")
        tensor = (value if enable_graph else value.detach()).clone()
        return tensor.squeeze() if tensor.dim() else tensor
    if isinstance(value, numbers.Number):
        return torch.tensor(value, device=module.device, dtype=default_dtype())
    return None


class LoggerConnector:
    """Keeps the Trainer's three dictionaries of metrics and feeds its loggers."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self._callback_metrics: dict[str, Tensor] = {}
        self._logged_metrics: dict[str, Tensor] = {}
        self._progress_bar_metrics: dict[str, Any] = {}
        self._options: dict[tuple[Any, ...], LogOptions] = {}
        self.last_fx: str | None = None  # the hook that logged last
        self.first_batch: bool | None = None  # None: not within batches; True: in the first of them

    # Logging a value

    def log(
        self, module: LightningModule, name: str, value: Any, prog_bar: bool, logger: bool | None,
        on_step: bool | None, on_epoch: bool | None, reduce_fx: str | Callable[[Any], Any],
        enable_graph: bool,
        sync_dist: bool, sync_dist_group: Any, add_dataloader_idx: bool, batch_size: int | None,
        metric_attribute: str | None, rank_zero_only: bool,
    ) -> None:  # fmt: skip
        """Take what :meth:`LightningModule.log` was given."""
        trainer = self.trainer
        fx = trainer._scope.hook
        results = trainer._results
        if results is None:
            raise MisconfigurationException(
                "`self.log()` cannot be used while predicting or outside of a run"
            )
        tensor = as_tensor(module, name, value, enable_graph)
        if tensor is not None:
            value = tensor
        else:
            metric_attribute = self._metric_attribute(module, name, value, metric_attribute)

        # What the arguments mean is worked out once for each hook and set of arguments.
        key = (
            fx, name, prog_bar, logger, on_step, on_epoch, reduce_fx, enable_graph, sync_dist,
            sync_dist_group,
            add_dataloader_idx, metric_attribute, rank_zero_only,
        )  # fmt: skip
        options = self._options.get(key)
        if options is None:
            options = self._options[key] = self._resolve(*key)
        assert fx is not None
        if self.last_fx != fx:
            if self.first_batch is not False:  # the first batch, or no batch: values of the last epoch go
                results.reset(metrics=False, fx=fx)
            self.last_fx = fx
        results.log(fx, name, value, options, batch_size, trainer._backend.reduce)

    def _resolve(
        self, fx: str | None, name: str, prog_bar: bool, logger: bool | None, on_step: bool | None,
        on_epoch: bool | None, reduce_fx: Any, enable_graph: bool, sync_dist: bool, sync_dist_group: Any,
        add_dataloader_idx: bool, metric_attribute: str | None, rank_zero_only: bool,
    ) -> LogOptions:  # fmt: skip
        step, epoch = logging_levels(fx, on_step, on_epoch)
        if add_dataloader_idx and "/dataloader_idx_" in name:
            raise MisconfigurationException(
                f"`self.log({name!r}, ...)`: the loader's index is added to the name; leave it out or pass"
                " `add_dataloader_idx=False`"
            )
        if logger and not self.trainer.loggers:
            rank_zero_warn(
                f"`self.log({name!r}, ..., logger=True)` was called, but the Trainer has no logger."
            )
        return LogOptions(
            prog_bar, logger is not False, step, epoch, reduction_name(reduce_fx), enable_graph,
            add_dataloader_idx, metric_attribute, sync_dist and self.trainer.world_size > 1, sync_dist_group,
            rank_zero_only,
        )  # fmt: skip

    @staticmethod
    def _metric_attribute(module: LightningModule, name: str, value: Any, given: str | None) -> str | None:
        from torchmetrics import Metric  # only code that logs one has it

        if not isinstance(value, Metric):
            kind = "nested dicts" if isinstance(value, dict) else f"values of type `{type(value).__name__}`"
            raise ValueError(f"`self.log({name!r}, {value!r})`: {kind} cannot be logged")
        if given is not None:
            return given
        if module._metric_attributes is None:
            module._metric_attributes = {
                id(m): attribute for attribute, m in module.named_modules() if isinstance(m, Metric)
            }
        found = module._metric_attributes.get(id(value))
        if found is None:
            raise MisconfigurationException(
                f"The metric logged as {name!r} is no attribute of the module. Make it one, or pass"
                f" `metric_attribute=`, one of {list(module._metric_attributes.values())}"
            )
        return found

    # Moments of the loops

    def on_batch_start(
        self, results: ResultCollection, batch: Any, dataloader_idx: int | None = None
    ) -> None:
        """A batch begins."""
        self.first_batch = self.first_batch is None
        results.batch = batch
        results.batch_size = None
        results.dataloader_idx = dataloader_idx

    def on_batch_end(self, results: ResultCollection) -> None:
        """A batch ended; its values are taken by the next :meth:`flush`."""
        results.batch = None
        results.batch_size = None

    def flush(self) -> None:
        """Take the values of the loop that runs: of its batch, or of its epoch between batches."""
        results = self.trainer._results
        if results:
            self._take(self._metrics(results))

    def _take(self, metrics: Metrics) -> None:
        self._progress_bar_metrics.update(metrics.pbar)
        self._callback_metrics.update(metrics.callback)
        self._logged_metrics.update(metrics.log)

    def _metrics(self, results: ResultCollection) -> Metrics:
        return results.metrics(on_step=self.first_batch is not None)

    def epoch_end_reached(self, taken: bool = False) -> None:
        """The batches of an epoch, or of a loader, are over; ``taken``: their values were taken."""
        if self.first_batch is not None and not taken:
            self.flush()
        self.first_batch = None

    def on_epoch_end(self) -> None:
        """The epoch's end hooks ran."""
        self.flush()
        self.last_fx = None

    def update_train_step_metrics(self) -> None:
        """Send the batch's values to the loggers if it is time to."""
        trainer = self.trainer
        if self.should_update_logs or trainer.fast_dev_run:
            results = trainer._results
            if results:
                self.log_metrics(self._metrics(results).log)

    def update_train_epoch_metrics(self) -> None:
        """Send the epoch's values to the loggers and forget them."""
        results = self.trainer._results
        assert results is not None
        self.log_metrics(self._metrics(results).log)
        self.reset_results()

    def update_eval_step_metrics(self, results: ResultCollection, step: int) -> None:
        """Send the batch's values to the loggers."""
        if results.logs_steps:
            metrics = self._metrics(results)
            self._take(metrics)
            self.log_metrics(metrics.log, step=step)

    def update_eval_epoch_metrics(self) -> dict[str, Tensor]:
        """Take and return the epoch's values (of the loader at hand)."""
        if self.trainer.sanity_checking:
            return {}
        results = self.trainer._results
        assert results is not None
        metrics = self._metrics(results)
        self._take(metrics)
        return metrics.log

    def log_eval_end_metrics(self, metrics: dict[str, Tensor]) -> None:
        """Send an evaluation's values to the loggers."""
        if not self.trainer.sanity_checking:
            self.log_metrics(metrics)

    def log_metrics(self, metrics: dict[str, Tensor], step: int | None = None) -> None:
        """Send values to all loggers.

        Args:
            metrics: Names and tensors of one element.
            step: The step they belong to; a value named ``step`` or the count of optimizer steps otherwise.
        """
        trainer = self.trainer
        if not trainer.loggers or not metrics:
            return
        self._logged_metrics.update(metrics)
        scalars = tensors_to_scalars(metrics)
        if step is None:
            own_step = scalars.pop("step", None)
            if own_step is not None:
                step = int(own_step)
            else:
                scalars.setdefault("epoch", trainer.current_epoch)
                step = trainer.fit_loop.epoch_loop._batches_that_stepped
        for logger in trainer.loggers:
            logger.log_metrics(metrics=scalars, step=step)
            logger.save()

    @property
    def should_update_logs(self) -> bool:
        """Whether values of this batch go to the loggers: every ``log_every_n_steps``, and when stopping."""
        trainer = self.trainer
        every = trainer.log_every_n_steps
        if every == 0:
            return False
        if trainer.training:
            step = trainer.fit_loop.epoch_loop._batches_that_stepped + 1
        else:
            loop = trainer._active_loop
            if loop is None:
                return True
            step = loop.batch_progress.current.ready
        return step % every == 0 or trainer.should_stop

    # Going on in another process

    def state_dict(self) -> dict[str, Any]:
        """Return the metrics that are kept, as plain data."""
        return {
            "callback": dict(self._callback_metrics),
            "logged": dict(self._logged_metrics),
            "progress_bar": dict(self._progress_bar_metrics),
            "last_fx": self.last_fx,
            "first_batch": self.first_batch,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the metrics of another process."""
        self._callback_metrics = dict(state["callback"])
        self._logged_metrics = dict(state["logged"])
        self._progress_bar_metrics = dict(state["progress_bar"])
        self.last_fx, self.first_batch = state["last_fx"], state["first_batch"]

    # Forgetting

    def reset_metrics(self) -> None:
        """Forget all metrics."""
        self._progress_bar_metrics, self._logged_metrics, self._callback_metrics = {}, {}, {}

    def reset_results(self) -> None:
        """Forget what the loop that runs has logged."""
        results = self.trainer._results
        if results is not None:
            results.reset()
        self.first_batch = None
        self.last_fx = None

    def teardown(self) -> None:
        """Move what is kept to the CPU."""
        for name in ("_callback_metrics", "_logged_metrics", "_progress_bar_metrics"):
            setattr(self, name, map_tensors(getattr(self, name), lambda tensor: tensor.cpu()))

    @property
    def callback_metrics(self) -> dict[str, Tensor]:
        """What callbacks can monitor."""
        self.flush()
        return self._callback_metrics

    @property
    def logged_metrics(self) -> dict[str, Tensor]:
        """What was sent to the loggers."""
        self.flush()
        return self._logged_metrics

    @property
    def progress_bar_metrics(self) -> dict[str, Any]:
        """What the progress bar shows, as numbers."""
        self.flush()
        return self._progress_bar_metrics

"""A module that no Trainer runs: in a loop of one's own, in a test, or under Lightning Fabric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from relight.trainer.results import ResultCollection

__all__ = ["Alone", "FabricAsTrainer"]

_HOOK = "a loop without a Trainer"


class FabricAsTrainer:
    """Answers ``self.trainer.…`` of a module that a ``Fabric`` was given, where Fabric has the same."""

    def __init__(self, fabric: Any) -> None:
        self._fabric = fabric

    def __getattr__(self, name: str) -> Any:
        """Return Fabric's attribute.

        Raises:
            AttributeError: If it has none of that name.
        """
        try:
            return getattr(self._fabric, name)
        except AttributeError:
            raise AttributeError(
                f"`self.trainer.{name}` was asked of a module under `Fabric`, which has no such thing"
            ) from None


class Alone:
    """What a module does by itself: keep what it logs."""

    _fabric: Any = None  # set by `Fabric.setup`, which looks whether there is such an attribute
    _fabric_optimizers: Any = ()
    _own_results: ResultCollection | None = None

    @property
    def fabric(self) -> Any:
        """The ``Fabric`` that set this module up in a loop of one's own, ``None`` otherwise."""
        return self._fabric

    @fabric.setter
    def fabric(self: Any, fabric: Any) -> None:
        from relight.module import LightningModule

        for child in self.children():
            if isinstance(child, LightningModule):
                child.fabric = fabric
        self.__dict__["_fabric"] = fabric

    def _clip_under_fabric(self: Any, optimizer: Any, value: float | None, algorithm: Any) -> None:
        from relight.utilities.grads import clip_algorithm
        from relight.utilities.types import GradClipAlgorithmType

        value = 0.0 if value is None else value
        by_value = clip_algorithm(value, algorithm) is GradClipAlgorithmType.VALUE
        if value > 0:
            limits = (value, None) if by_value else (None, value)
            self._fabric.clip_gradients(self, optimizer, clip_val=limits[0], max_norm=limits[1])

    def logged_values(self, *, last: bool = False, reset: bool = False) -> dict[str, Tensor]:
        """Return what was logged while no Trainer ran this module.

        A value logged several times is reduced as ``self.log`` was told to; a ``torchmetrics.Metric``
        computes its own. Under a Trainer nothing is kept here: ``trainer.callback_metrics`` has it.

        Args:
            last: Return what was logged last under each name, instead.
            reset: Forget the values afterwards, as at the end of an epoch.
        """
        results = self._own_results
        if results is None:
            return {}
        values = results.metrics(on_step=last).callback
        if reset:
            results.reset()
        return {name: value for name, value in values.items() if (_HOOK, name) in results}

    def _log_alone(
        self: Any, values: Mapping[str, Any], logger: bool | None,
        reduce_fx: str | Callable[[Any], Any], enable_graph: bool, batch_size: int | None,
    ) -> None:  # fmt: skip
        plain = {
            name: value
            for name, value in values.items()
            if self._keep_alone(name, value, reduce_fx, enable_graph, batch_size)
        }
        if plain and self._fabric is not None and logger is not False:
            self._fabric.log_dict(plain)  # in one go, so that they are one row

    def _keep_alone(
        self: Any, name: str, value: Any, reduce_fx: str | Callable[[Any], Any], enable_graph: bool,
        batch_size: int | None,
    ) -> bool:  # fmt: skip
        """Keep a value; return whether it is one, and no metric object that computes it later."""
        from relight.trainer.logging import LoggerConnector, as_tensor
        from relight.trainer.results import LogOptions, ResultCollection, reduction_name

        tensor = as_tensor(self, name, value, enable_graph)
        if tensor is None:
            LoggerConnector._metric_attribute(self, name, value, None)
        results = self._own_results
        if results is None:
            results = self.__dict__["_own_results"] = ResultCollection(training=True)
        options = LogOptions(
            prog_bar=False, logger=True, on_step=True, on_epoch=True, reduce_fx=reduction_name(reduce_fx),
            enable_graph=enable_graph, add_dataloader_idx=False, metric_attribute=None, sync_dist=False,
            sync_dist_group=None, rank_zero_only=False,
        )  # fmt: skip
        results.log(_HOOK, name, value if tensor is None else tensor, options, batch_size, None)
        return tensor is not None

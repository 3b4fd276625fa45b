"""The optimizer that user code sees: steps through precision and strategy, and is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch.optim import Optimizer

from relight.utilities.exceptions import MisconfigurationException

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["LightningOptimizer"]


def _nothing() -> None:
    pass


class LightningOptimizer:
    """Stands for one of the module's optimizers; everything but ``step`` is the wrapped optimizer's own.

    It counts as an instance of the wrapped optimizer's class.
    """

    def __init__(self, optimizer: Optimizer, trainer: Trainer | None = None) -> None:
        self._optimizer = optimizer
        self._trainer = trainer
        self._on_before_step: Callable[[], None] = _nothing
        self._on_after_step: Callable[[], None] = _nothing
        self.__class__ = type(  # so that isinstance() holds for code that asks
            f"Lightning{type(optimizer).__name__}", (type(self), type(optimizer)), {}
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the parts: the class made above can be found by no name."""
        return LightningOptimizer, (self._optimizer,), {"_trainer": self._trainer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the trainer back; the wrapped optimizer's class must not have a say."""
        self.__dict__.update(state)

    @property
    def optimizer(self) -> Optimizer:
        """The wrapped optimizer."""
        return self._optimizer

    @contextmanager
    def toggle_model(self, sync_grad: bool = True) -> Iterator[None]:
        """Let only this optimizer's parameters require gradients.

        Args:
            sync_grad: Whether processes exchange gradients meanwhile; switch it off while accumulating.
        """
        assert self._trainer is not None
        module = self._trainer.lightning_module
        with self._trainer._backend.no_sync(enabled=not sync_grad):
            module.toggle_optimizer(self)
            try:
                yield
            finally:
                module.untoggle_optimizer(self)

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update the parameters.

        Args:
            closure: Computes the gradients. In automatic optimization it is the training step and must be
                run.
            kwargs: Passed on to the wrapped optimizer's ``step``.

        Returns:
            What the wrapped optimizer returns, mostly the closure's loss.
        """
        if closure is not None and not callable(closure):
            raise MisconfigurationException("`optimizer.step(closure)` wants a callable closure")
        assert self._trainer is not None
        self._on_before_step()
        output = self._trainer._optimizer_step(self._optimizer, closure or _nothing, **kwargs)
        self._on_after_step()
        return output

    def __getattr__(self, name: str) -> Any:
        """Return the wrapped optimizer's attribute."""
        return getattr(self.__dict__["_optimizer"], name)

"""The Callback of the legacy API: the core's, with the hooks that left and room for old arguments."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from relight.callbacks import Callback as CoreCallback
from relight.compat._inherit import stands_for

__all__ = ["Callback", "DeadHooks"]


class _Meta(ABCMeta):
    """Lets every callback of the core count as an instance of the legacy base."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Callback:
            return isinstance(instance, CoreCallback)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is Callback:
            return issubclass(subclass, CoreCallback)
        return super().__subclasscheck__(subclass)


class DeadHooks:
    """Hooks of callbacks that left: empty, so that ``super()`` finds them."""

    def on_init_start(self, trainer: Any) -> None:
        """Left in 1.8: called when the Trainer's constructor begins."""

    def on_init_end(self, trainer: Any) -> None:
        """Left in 1.8: called when the Trainer's constructor ends."""

    def on_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called before an epoch of any stage."""

    def on_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called after an epoch of any stage."""

    def on_batch_start(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called before a training batch."""

    def on_batch_end(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called after a training batch."""

    def on_pretrain_routine_start(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called before the sanity check."""

    def on_pretrain_routine_end(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called before the sanity check."""

    def on_keyboard_interrupt(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.7: called when the run is interrupted."""

    def on_before_accelerator_backend_setup(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called before ``setup``."""

    def on_configure_sharded_model(self, trainer: Any, pl_module: Any) -> None:
        """Left in 1.8: called after ``setup``."""


class Callback(DeadHooks, CoreCallback, metaclass=_Meta):
    """A callback written for Lightning 0.7 to 1.9 (or later); see :class:`relight.Callback`."""

    # Hooks whose arguments changed: `super()` calls of any age arrive here.

    @stands_for(CoreCallback.setup)
    def setup(self, trainer: Any, pl_module: Any = None, stage: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.teardown)
    def teardown(self, trainer: Any, pl_module: Any = None, stage: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.on_train_batch_start)
    def on_train_batch_start(self, trainer: Any, pl_module: Any, *args: Any) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.on_train_batch_end)
    def on_train_batch_end(self, trainer: Any, pl_module: Any, *args: Any) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.on_train_epoch_end)
    def on_train_epoch_end(
        self, trainer: Any, pl_module: Any, outputs: Any = None, unused: Any = None
    ) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.on_predict_epoch_end)
    def on_predict_epoch_end(self, trainer: Any, pl_module: Any, outputs: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.on_before_optimizer_step)
    def on_before_optimizer_step(
        self, trainer: Any, pl_module: Any, optimizer: Any, opt_idx: int = 0
    ) -> None:
        """Nothing by default."""

    @stands_for(CoreCallback.on_save_checkpoint)
    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any = None) -> Any:
        """Nothing by default."""

    @stands_for(CoreCallback.on_load_checkpoint)
    def on_load_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        """Nothing by default."""

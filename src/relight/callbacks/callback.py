"""The base of all callbacks: every hook, doing nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.optim import Optimizer

from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer


class Callback:
    """Code that runs at named moments of a run, apart from the model.

    Override the hooks you need. The Trainer works out once, when an entry point starts, which hooks a
    callback overrides; an empty hook is never called and costs nothing.

    Names and signatures are those of Lightning 2.6. During a run ``self.log`` and ``self.log_dict`` are the
    module's, so a callback logs as a module does.
    """

    log: Callable[..., None]
    log_dict: Callable[..., None]

    # -- identity and state ---------------------------------------------------------------------------------

    @property
    def state_key(self) -> str:
        """Key of this callback's state in ``checkpoint["callbacks"]``.

        Two callbacks of one class that both have state need different keys: see :meth:`_generate_state_key`.
        """
        return type(self).__qualname__

    @property
    def _legacy_state_key(self) -> type[Callback]:
        """Key in files written before Lightning 1.5, which used the class itself."""
        return type(self)

    def _generate_state_key(self, **kwargs: Any) -> str:
        """Class name followed by the ``repr`` of ``kwargs``: the form that Lightning writes since 1.5."""
        return f"{type(self).__qualname__}{kwargs!r}"

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint has to keep of this callback."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` returned."""

    def on_save_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Add to (or change) the checkpoint that is about to be written."""

    def on_load_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Read from the whole checkpoint that was loaded."""

    # -- the run --------------------------------------------------------------------------------------------

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Called when an entry point begins; ``stage`` is ``fit``, ``validate``, ``test`` or ``predict``."""

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Called when an entry point ends."""

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Called when an exception, also ``KeyboardInterrupt``, ends the run."""

    # -- training -------------------------------------------------------------------------------------------

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when ``fit`` begins, after setup and after the checkpoint was restored."""

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when ``fit`` ends."""

    def on_sanity_check_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called before the validation batches that are run ahead of training."""

    def on_sanity_check_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called after the validation batches that are run ahead of training."""

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called before the first epoch."""

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called after the last epoch."""

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a training epoch begins."""

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a training epoch ends, after the module's own hook: what it logged can be read."""

    def on_train_batch_start(
        self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Called before a training step."""

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Called after a training step and its optimizer step.

        ``outputs["loss"]`` is detached and divided by the number of batches that are accumulated.
        """

    def on_before_backward(self, trainer: Trainer, pl_module: LightningModule, loss: Tensor) -> None:
        """Called before ``loss.backward()``."""

    def on_after_backward(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called after ``loss.backward()``, before gradients are clipped."""

    def on_before_optimizer_step(
        self, trainer: Trainer, pl_module: LightningModule, optimizer: Optimizer
    ) -> None:
        """Called before ``optimizer.step()``."""

    def on_before_zero_grad(self, trainer: Trainer, pl_module: LightningModule, optimizer: Optimizer) -> None:
        """Called before ``optimizer.zero_grad()``."""

    # -- validation -----------------------------------------------------------------------------------------

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when the validation loop begins."""

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when the validation loop ends."""

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a pass over the validation data begins."""

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a pass over the validation data ends, after the module's own hook."""

    def on_validation_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Called before a validation step."""

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Called after a validation step, with what it returned."""

    # -- test -----------------------------------------------------------------------------------------------

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when the test loop begins."""

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when the test loop ends."""

    def on_test_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a pass over the test data begins."""

    def on_test_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a pass over the test data ends, after the module's own hook."""

    def on_test_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Called before a test step."""

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: STEP_OUTPUT,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Called after a test step, with what it returned."""

    # -- predict --------------------------------------------------------------------------------------------

    def on_predict_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when the predict loop begins."""

    def on_predict_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when the predict loop ends."""

    def on_predict_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a pass over the data to predict begins."""

    def on_predict_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Called when a pass over the data to predict ends."""

    def on_predict_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Called before a predict step."""

    def on_predict_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Called after a predict step, with what it returned."""

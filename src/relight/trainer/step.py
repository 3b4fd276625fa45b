"""One training batch: the step, the gradients, the optimizer.

Everything that can be known when the fit starts is bound then; a step is a straight line through
:meth:`AutomaticStep.run` and :meth:`AutomaticStep.closure`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.optim import LBFGS, Optimizer

from relight.core.optimizer import LightningOptimizer, _nothing
from relight.trainer.backend import handles_scaling
from relight.trainer.hooks import _call, profiler_entry
from relight.trainer.optimizers import NoOptimizer
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import has_own, takes_parameter
from relight.utilities.rank_zero import WarningCache

if TYPE_CHECKING:
    from relight.trainer.epoch_loop import EpochLoop
    from relight.trainer.trainer import Trainer

__all__ = ["AutomaticStep", "ManualStep", "Step"]

_warn_once = WarningCache()
_NOTHING: AbstractContextManager[Any] = nullcontext()


class Step:
    """What automatic and manual optimization share: backward and the moments before an optimizer steps."""

    def __init__(self, trainer: Trainer, loop: EpochLoop) -> None:
        from relight.module import LightningModule

        hooks, module = trainer._hooks, trainer.lightning_module
        assert hooks is not None
        self.trainer, self.loop, self.backend = trainer, loop, trainer._backend
        self.module = module
        self.scope = trainer._scope
        self.optimizers: list[Optimizer] = trainer.optimizers
        self.training_step = hooks.step("training_step", scoped=False)
        self.takes_batch_idx = takes_parameter(module.training_step, "batch_idx", min_args=2)
        self.on_before_backward = hooks.bind("on_before_backward")
        self.on_after_backward = hooks.bind("on_after_backward")
        self.on_before_optimizer_step = hooks.bind("on_before_optimizer_step")
        self.own_backward = has_own("backward", module, LightningModule)
        self.own_clipping = has_own("configure_gradient_clipping", module, LightningModule)
        self.profiled = trainer._active_profiler is not None
        self.backward_entry = profiler_entry(module, "backward", "LightningModule")
        self.strategy_entry = f"[Strategy]{type(trainer.strategy).__name__}"
        self.bare_backward = (
            self.backend.plain
            and not self.profiled
            and not self.own_backward
            and self.on_before_backward is None
            and self.on_after_backward is None
        )
        self.clip = hooks.module("configure_gradient_clipping", always=True)
        self.keeps_output = hooks.bind("on_train_batch_end") is not None

    def run(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        """Run the batch and return what ``on_train_batch_end`` is given."""
        raise NotImplementedError

    def backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        """Compute gradients, with the hooks around it."""
        if self.on_before_backward is not None:
            self.on_before_backward(loss)
        if self.own_backward:
            method, entry = self.backend.backward, self.backward_entry
            _call(self.trainer, "backward", entry, method, self.module, True, loss, *args, **kwargs)
        else:
            with self._strategy_profile("backward"):
                if self.backend.plain:
                    loss.backward(*args, **kwargs)  # type: ignore[no-untyped-call]
                else:
                    self.backend.backward(self.module, False, loss, *args, **kwargs)
        if self.on_after_backward is not None:
            self.on_after_backward()

    def _strategy_profile(self, what: str) -> AbstractContextManager[Any]:
        return self.trainer._profile(f"{self.strategy_entry}.{what}") if self.profiled else _NOTHING

    def before_optimizer_step(self, optimizer: Optimizer) -> None:
        """Gradients are ready: show them to the hooks and clip them."""
        if self.on_before_optimizer_step is not None:
            self.on_before_optimizer_step(optimizer)
        trainer = self.trainer
        if self.module.automatic_optimization and (self.own_clipping or trainer.gradient_clip_val):
            assert self.clip is not None
            self.clip(
                optimizer,
                gradient_clip_val=trainer.gradient_clip_val,
                gradient_clip_algorithm=trainer.gradient_clip_algorithm,
            )

    def optimizer_step(self, optimizer: Optimizer, closure: Callable[[], Any], **kwargs: Any) -> Any:
        """Step ``optimizer``, which runs ``closure`` when it wants the gradients."""
        scaler = self.backend.scaler
        if scaler is None:

            def closure_and_hooks() -> Any:
                with torch.enable_grad():  # the optimizer may have its whole step under `no_grad`
                    result = closure()
                self.before_optimizer_step(optimizer)
                return result

            with self._strategy_profile("optimizer_step"):
                return optimizer.step(closure=closure_and_hooks, **kwargs)
        if isinstance(optimizer, LBFGS):
            raise MisconfigurationException("LBFGS and scaled gradients (half precision) do not go together")
        result = closure()
        skipped = self.module.automatic_optimization and result is None  # there are no new gradients
        if not skipped and not handles_scaling(optimizer):
            scaler.unscale_(optimizer)
        self.before_optimizer_step(optimizer)
        if skipped:
            return None
        output = scaler.step(optimizer, **kwargs)
        scaler.update()
        return output


class AutomaticStep(Step):
    """One optimizer, run by the Trainer."""

    def __init__(self, trainer: Trainer, loop: EpochLoop) -> None:
        from relight.module import LightningModule

        super().__init__(trainer, loop)
        hooks, module = trainer._hooks, self.module
        assert hooks is not None
        self.optimizer = self.optimizers[0]
        self.lightning_optimizer = trainer._lightning_optimizers[0]
        self.on_before_zero_grad = hooks.bind("on_before_zero_grad")
        self.zero_grad = hooks.module("optimizer_zero_grad")
        self.step_hook = hooks.module("optimizer_step", always=True)
        # torch's own optimizers run a closure first and nothing before it: no need to hand it to them. LBFGS
        # runs it again and again; a foreign optimizer may do what it likes.
        kind = type(self.optimizer)
        own = (
            kind.__module__.split(".")[:2] == ["torch", "optim"] and kind is not LBFGS
        ) or kind is NoOptimizer
        self.direct = (
            own
            and self.backend.plain
            and not self.profiled
            and not has_own("optimizer_step", module, LightningModule)
        )
        self.batch: Any = None
        self.batch_idx = 0
        self.ran = False
        self.loss: Tensor | None = None
        self.extra: Mapping[str, Any] | None = None

    def run(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        """Run the step, the backward pass and, unless gradients are accumulated, the optimizer."""
        self.batch, self.batch_idx, self.ran = batch, batch_idx, False
        loop, optimizer = self.loop, self.optimizer
        if self.trainer.accumulate_grad_batches != 1 and loop.should_accumulate():
            if self.backend.single_device:
                self.closure()
            else:
                with self.backend.no_sync():
                    self.closure()
        else:
            progress = loop.optim_progress.step
            progress.total.ready += 1
            progress.current.ready += 1
            if self.direct:
                self.closure()
                if (
                    self.on_before_optimizer_step is not None
                    or self.own_clipping
                    or self.trainer.gradient_clip_val
                ):
                    self.before_optimizer_step(optimizer)
                optimizer.step()
            else:
                self.step_hook(self.trainer.current_epoch, batch_idx, self.lightning_optimizer, self.closure)  # type: ignore[misc]
            progress.total.completed += 1
            progress.current.completed += 1
        self.batch = None
        if not self.ran:
            raise MisconfigurationException(
                "The optimizer stepped without running the closure, which holds the training step. Does"
                " `optimizer_step` call `optimizer.step(closure=optimizer_closure)`, or"
                " `optimizer_closure()`?"
            )
        loss, extra = self.loss, self.extra
        self.loss = self.extra = None
        if loss is None:
            return {}
        return {"loss": loss, **extra} if extra else {"loss": loss}

    def closure(self) -> Tensor | None:
        """Run the training step, set the gradients to zero and compute new ones; return the detached loss."""
        scope = self.scope
        outer, scope.hook = scope.hook, "training_step"
        try:
            if self.takes_batch_idx:
                output = self.training_step(self.batch, self.batch_idx)
            else:
                output = self.training_step(self.batch)
        finally:
            scope.hook = outer
        self.ran = True
        loop, trainer, optimizer = self.loop, self.trainer, self.optimizer
        accumulate = trainer.accumulate_grad_batches

        loss = output if isinstance(output, Tensor) else self._loss_of(output)
        detached = None
        if loss is not None:
            if accumulate != 1:
                loss = loss / accumulate
            if self.keeps_output:
                detached = loss.detach().clone()
            elif not self.direct:
                detached = loss.detach()

        if not loop.skip_backward:
            if self.batch_idx % accumulate == 0:
                count = loop.optim_progress.zero_grad
                count.total.ready += 1
                count.current.ready += 1
                if self.on_before_zero_grad is not None:
                    self.on_before_zero_grad(optimizer)
                count.total.started += 1
                count.current.started += 1
                if self.zero_grad is None:
                    optimizer.zero_grad()
                else:
                    self.zero_grad(trainer.current_epoch, self.batch_idx, optimizer)
                count.total.completed += 1
                count.current.completed += 1
            if loss is not None:
                if self.bare_backward:
                    loss.backward()  # type: ignore[no-untyped-call]
                else:
                    self.backward(loss)
        self.loss = detached
        return detached

    def _loss_of(self, output: Any) -> Tensor | None:
        """Return the loss in what ``training_step`` returned, and keep the rest for the hooks."""
        if output is None:
            if self.trainer.world_size > 1:
                raise RuntimeError(
                    "`training_step` returned `None` to skip a batch, which several processes cannot do: the"
                    " others would wait for its gradients"
                )
            _warn_once.warn("`training_step` returned `None`: the batch is skipped.")
            return None
        if not isinstance(output, Mapping):
            raise MisconfigurationException(
                "`training_step` must return a tensor, a dict with the key 'loss', or None"
                f" under automatic optimization; it returned {type(output).__name__}"
            )
        loss = output.get("loss")
        if loss is None:
            raise MisconfigurationException("The dict that `training_step` returned has no key 'loss'")
        self.extra = {name: value for name, value in output.items() if name != "loss"}
        return loss  # type: ignore[no-any-return]


class ManualStep(Step):
    """Any number of optimizers, run by ``training_step`` itself."""

    def __init__(self, trainer: Trainer, loop: EpochLoop) -> None:
        super().__init__(trainer, loop)
        self.lightning_optimizers: list[LightningOptimizer] = trainer._lightning_optimizers
        self.steps_before = -1  # how many steps were taken before the batch at hand

    def run(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        """Run the step; optimizer steps taken in it are counted."""
        self.steps_before = self.loop.manual_progress.total.completed
        for optimizer in self.lightning_optimizers:
            optimizer._on_before_step, optimizer._on_after_step = self._before, self._after
        outer, self.scope.hook = self.scope.hook, "training_step"
        try:
            output = (
                self.training_step(batch, batch_idx) if self.takes_batch_idx else self.training_step(batch)
            )
        finally:
            self.scope.hook = outer
        for optimizer in self.lightning_optimizers:
            optimizer._on_before_step = optimizer._on_after_step = _nothing
        if output is None:
            return {}
        if isinstance(output, Tensor):
            return {"loss": output.detach()}
        if not isinstance(output, Mapping):
            raise MisconfigurationException(
                "`training_step` must return a tensor, a dict or None under manual optimization;"
                f" it returned {type(output).__name__}"
            )
        result = dict(output)
        if isinstance(loss := result.get("loss"), torch.Tensor):
            result["loss"] = loss.detach()
        return result

    def _before(self) -> None:
        self.loop.manual_progress.increment_ready()

    def _after(self) -> None:
        self.loop.manual_progress.increment_completed()

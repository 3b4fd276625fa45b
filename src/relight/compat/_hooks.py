"""The order of 1.9 and the hooks that 2.x dropped, around the core's own hooks.

The core asks :class:`relight.trainer.hooks.Hooks` once for each hook. Here the answer also holds what
belongs to the
legacy API at that moment: collecting outputs, ``*_epoch_end``, ``on_epoch_start``, ``on_batch_end`` …
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from relight.callbacks import Callback, Checkpoint, EarlyStopping
from relight.compat._binding import plan
from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice, place_of
from relight.compat._outputs import EpochOutputs
from relight.compat._steps import active
from relight.trainer.hooks import Hooks, call_hook
from relight.trainer.scope import LOGGING
from relight.utilities.grads import grad_norm
from relight.utilities.overrides import is_overridden
from trainer_upgrade.catalogue import Area

__all__ = ["LegacyHooks"]

Call = Callable[..., Any]

# Legacy hooks by the core's hook they go with: (before it, after it), each in the order of 1.5. A hook of
# callbacks alone starts with "c:", one of the module alone with "m:".
_AROUND: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "setup": (("c:on_before_accelerator_backend_setup",), ()),
    "on_fit_start": (
        ("c:on_configure_sharded_model",),
        ("on_pretrain_routine_start", "on_pretrain_routine_end"),
    ),
    "on_sanity_check_start": ((), ("m:on_sanity_check_start",)),
    "on_train_start": (("m:on_train_dataloader", "m:on_val_dataloader", "m:on_post_move_to_device"), ()),
    "on_validation_start": (("m:on_pre_performance_check",), ()),
    "on_validation_end": ((), ("m:on_post_performance_check",)),
    "on_test_start": (("m:on_test_dataloader",), ()),
    "on_predict_start": (("m:on_predict_dataloader",), ()),
    "on_train_epoch_start": (("on_epoch_start",), ()),
    "on_validation_epoch_start": (("on_epoch_start",), ()),
    "on_test_epoch_start": (("on_epoch_start",), ()),
    "on_train_epoch_end": ((), ("on_epoch_end",)),
    "on_validation_epoch_end": ((), ("on_epoch_end",)),
    "on_test_epoch_end": ((), ("on_epoch_end",)),
    "on_train_batch_start": (("on_batch_start",), ()),
    "on_train_batch_end": ((), ("on_batch_end",)),
}
# What `self.log` may do in the hooks that compat revives.
LOGGING.update(
    {
        "training_epoch_end": LOGGING["on_train_epoch_end"],
        "validation_epoch_end": LOGGING["on_validation_epoch_end"],
        "test_epoch_end": LOGGING["on_test_epoch_end"],
        "training_step_end": LOGGING["training_step"],
        "validation_step_end": LOGGING["validation_step"],
        "test_step_end": LOGGING["test_step"],
        "on_epoch_start": LOGGING["on_train_epoch_start"],
        "on_epoch_end": LOGGING["on_train_epoch_end"],
        "on_batch_start": LOGGING["on_train_batch_start"],
        "on_batch_end": LOGGING["on_train_batch_end"],
    }
)
_EPOCH_ENDS = ("on_train_epoch_end", "on_validation_epoch_end", "on_test_epoch_end")


class LegacyHooks(Hooks):
    """The hooks of one run, with what 1.x did around them.

    Args:
        trainer: compat's Trainer.
        outputs: Where the outputs of the epoch are kept.
    """

    def __init__(self, trainer: Any, outputs: EpochOutputs) -> None:
        super().__init__(trainer)
        self.outputs = outputs
        self._fetcher: tuple[Any, Any] = (None, None)  # of which loop

    def _make(self, whose: str, name: str) -> Call | None:
        if whose == "all" and name in _EPOCH_ENDS:
            inner = self._epoch_end(name)
        else:
            inner = super()._make(whose, name)
        if name == "lr_scheduler_step" and inner is not None:
            return self._scheduler_step(inner)
        if whose in ("module", "always"):
            return inner
        before, after = (self._legacy(names, whose) for names in _AROUND.get(name, ((), ())))
        first, last = self._collecting(name)
        calls: list[Call] = [*first, *before]
        if inner is not None:
            calls.append(inner)
        calls.extend([*after, *last])
        if not calls or calls == [inner]:
            chained = inner
        else:
            chained = _chain(calls, inner)
        if name == "on_train_batch_end" and chained is not None:
            given = chained
            # A skipped batch gave an empty list.
            return lambda outputs, *args, **kwargs: given(outputs or [], *args, **kwargs)
        return chained

    # Outputs

    def _collecting(self, name: str) -> tuple[list[Call], list[Call]]:
        """Return what collects outputs before and after the hook ``name``."""
        outputs = self.outputs
        if name == "on_train_epoch_start":
            return [self._epoch_started], []
        if name == "on_train_end" and self.trainer._compat_step_shift is not None:  # type: ignore[attr-defined]
            return [self._training_ends], []
        adapters = self.trainer._compat_translation.adapters  # type: ignore[attr-defined]
        if adapters.get("terminate_on_nan"):
            if name == "on_before_backward":
                return [_refuse_loss], []
            if name == "on_after_backward":
                return [self._refuse_parameters], []
        if adapters.get("track_grad_norm", -1) != -1 and name == "on_before_optimizer_step":
            return [], [self._log_grad_norm]
        if outputs.training:
            if name == "on_train_batch_end":
                return [], [lambda given, *args, **kwargs: outputs.trained(given)]
            if name == "on_train_epoch_end":
                return [lambda *args, **kwargs: outputs.training_ended()], []
        for stage, wanted in (("validation", outputs.validation), ("test", outputs.test)):
            if wanted and name == f"on_{stage}_epoch_start":
                return [lambda *args, **kwargs: outputs.evaluation_started()], []
            if wanted and name == f"on_{stage}_batch_end":
                return [], [
                    lambda given, batch, batch_idx, dataloader_idx=0: outputs.evaluated(given, dataloader_idx)
                ]
            if wanted and name == f"on_{stage}_epoch_end":
                return [lambda *args, _stage=stage, **kwargs: outputs.evaluation_ended(_stage)], []
        return [], []

    def _training_ends(self) -> None:
        """Up to 1.5 the epoch was set back before `on_train_end`."""
        self.trainer._compat_epoch_ended = True  # type: ignore[attr-defined]

    def _refuse_parameters(self) -> None:
        """Do what ``terminate_on_nan`` did after backward."""
        for name, parameter in self.trainer.lightning_module.named_parameters():
            if not torch.isfinite(parameter).all():
                raise ValueError(
                    f"The parameter `{name}` has values that are NaN or infinite (`terminate_on_nan`)"
                )

    def _log_grad_norm(self, optimizer: Any) -> None:
        """Do what ``track_grad_norm`` did before clipping."""
        trainer: Any = self.trainer
        module = trainer.lightning_module
        separator = getattr(trainer.logger, "group_separator", "/")
        norms = grad_norm(module, trainer._compat_translation.adapters["track_grad_norm"], separator)
        if not norms:
            return
        outer, trainer._scope.hook = trainer._scope.hook, "on_before_optimizer_step"
        try:
            # 1.x rounded them; the total is that of the exact ones.
            module.log_grad_norm({name: round(float(norm), 4) for name, norm in norms.items()})
        finally:
            trainer._scope.hook = outer

    def _scheduler_step(self, inner: Call) -> Call:
        """Step only schedulers of optimizers that are running, with the index that belongs to each."""
        trainer: Any = self.trainer
        if len(trainer.optimizers) < 2:
            return inner

        def step(scheduler: Any, metric: Any) -> None:
            index = next(i for i, each in enumerate(trainer.optimizers) if each is scheduler.optimizer)
            batch_idx = trainer.fit_loop.epoch_loop.total_batch_idx
            if index not in active(trainer._compat_frequencies, len(trainer.optimizers), batch_idx):
                return
            trainer._compat_optimizer_idx = index
            try:
                inner(scheduler, metric)
            finally:
                trainer._compat_optimizer_idx = 0

        return step

    def _epoch_started(self) -> None:
        self.outputs.epoch_started()
        # When loaders are reloaded, 2.x makes the iterators of the new ones twice, which draws two seeds.
        # (Trials of the tuner have loops of their own, which begin with new loaders.)
        loop, (of, before) = self.trainer.fit_loop, self._fetcher
        fetcher = loop.fetcher
        self._fetcher = loop, fetcher
        if of is loop and before is not None and fetcher is not before:
            fetcher.start = lambda: fetcher.__dict__.pop("start")  # type: ignore[union-attr, method-assign]

    # Order

    def _epoch_end(self, name: str) -> Call | None:
        """Callbacks, then the module as in 1.9; those that monitor what it may log there come last."""
        trainer = self.trainer
        calls: list[Call] = []
        callbacks = [c for c in trainer.callbacks if is_overridden(name, c, Callback)]
        monitoring = [c for c in callbacks if isinstance(c, (Checkpoint, EarlyStopping))]
        calls.extend(self._of_callback(getattr(c, name)) for c in callbacks if c not in monitoring)
        own = super()._make("module", name)
        if own is not None:
            calls.append(own)
        calls.extend(self._of_callback(getattr(c, name)) for c in monitoring)
        return _chain(calls, own) if calls else None

    def _of_callback(self, method: Call) -> Call:
        trainer = self.trainer
        return lambda *args, **kwargs: call_hook(
            trainer, method, trainer, trainer.lightning_module, *args, **kwargs
        )

    # Hooks that left

    def _legacy(self, names: tuple[str, ...], whose: str) -> list[Call]:
        trainer = self.trainer
        module = trainer.lightning_module
        calls: list[Call] = []
        for name in names:
            kind, _, hook = name.rpartition(":")
            if kind != "m" and whose != "module":
                for callback in trainer.callbacks:
                    method = getattr(callback, hook, None)
                    if callable(method) and _is_own(method, Callback):
                        calls.append(self._dead(method, "Callback", Area.CALLBACK_HOOK))
            method = getattr(module, hook, None)
            if kind != "c" and whose != "callbacks" and callable(method) and _is_own(method, type(module)):
                calls.append(self._dead(method, "LightningModule", Area.MODULE_HOOK))
        return calls

    def _dead(self, method: Call, owner: str, area: Area) -> Call:
        name = method.__name__
        default = "TRU260" if area is Area.CALLBACK_HOOK else "TRU200"
        notice(
            code_for(area, owner, name, default),
            f"{owner}.{name}",
            advice_for(area, owner, name, f"`{name}` left in 1.8"),
            place_of(method),
        )
        trainer = self.trainer
        if owner == "Callback":
            layouts = (("trainer", "pl_module"), ("trainer",))
            binding = plan(method, layouts, aliases={"module": "pl_module", "model": "pl_module"})
        else:
            binding = plan(method, ((), ("batch",)))

        def call(*args: Any, **kwargs: Any) -> None:
            values = {
                "trainer": trainer,
                "pl_module": trainer.lightning_module,
                "batch": args[0] if args else None,
            }
            arguments = [values[value] for value in binding.positional]
            call_hook(trainer, method, *arguments)

        return call


def _refuse_loss(loss: Any) -> None:
    """Do what ``terminate_on_nan`` did after the training step."""
    if not torch.isfinite(loss).all():
        raise ValueError(f"The loss that `training_step` returned is {loss} (`terminate_on_nan`)")


def _is_own(method: Call, _: type) -> bool:
    """Return whether a user wrote the method (compat's bases define empty ones for ``super()``)."""
    function = getattr(method, "__func__", method)
    return not str(getattr(function, "__module__", "")).startswith("relight.")


def _chain(calls: list[Call], answering: Call | None) -> Call:
    """Return a function that makes all calls and returns what ``answering`` returned."""

    def chain(*args: Any, **kwargs: Any) -> Any:
        result = None
        for call in calls:
            value = call(*args, **kwargs)
            if call is answering:
                result = value
        return result

    return chain

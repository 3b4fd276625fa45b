"""Which hook runs now, and what may be logged in it."""

from __future__ import annotations

from relight.utilities.exceptions import MisconfigurationException

__all__ = ["LOGGING", "Scope", "logging_levels"]


class Scope:
    """The hook that runs now. Written at every hook call, so it is one slot and nothing else."""

    __slots__ = ("hook",)

    def __init__(self) -> None:
        self.hook: str | None = None


# What `self.log` does in a hook: (may it log each step, is each step the default, is the epoch the default).
_EPOCH_ONLY = (False, False, True)
_STEP = (True, True, False)
_EVALUATION = (True, False, True)

_BY_LEVEL = {
    _EPOCH_ONLY: (
        "on_train_start",
        "on_validation_start",
        "on_test_start",
        "on_train_epoch_start",
        "on_train_epoch_end",
        "on_validation_epoch_start",
        "on_validation_epoch_end",
        "on_test_epoch_start",
        "on_test_epoch_end",
    ),
    _STEP: (
        "on_before_backward",
        "backward",
        "on_after_backward",
        "on_before_optimizer_step",
        "optimizer_step",
        "configure_gradient_clipping",
        "clip_gradients",
        "on_before_zero_grad",
        "optimizer_zero_grad",
        "on_train_batch_start",
        "on_train_batch_end",
        "training_step",
    ),
    _EVALUATION: (
        "on_validation_batch_start",
        "on_validation_batch_end",
        "on_test_batch_start",
        "on_test_batch_end",
        "validation_step",
        "test_step",
    ),
}
#: For each hook that may log, its levels; hooks that are not here may not. Compat adds those it revives.
LOGGING: dict[str, tuple[bool, bool, bool]] = {
    hook: level for level, hooks in _BY_LEVEL.items() for hook in hooks
}


def logging_levels(hook: str | None, on_step: bool | None, on_epoch: bool | None) -> tuple[bool, bool]:
    """Return whether a value logged in ``hook`` counts for the step and for the epoch.

    Raises:
        MisconfigurationException: If nothing can be logged there, or not each step.
    """
    if hook is None:
        raise MisconfigurationException(
            "`self.log()` was called outside of any hook or step that the Trainer runs: there is no step or"
            " epoch the value could belong to"
        )
    level = LOGGING.get(hook)
    if level is None:
        raise MisconfigurationException(
            f"`self.log()` cannot be called in `{hook}`; `self.logger.log_metrics(...)` sends values"
            " to the logger"
            " from anywhere"
        )
    each_step, step_default, epoch_default = level
    step = step_default if on_step is None else on_step
    epoch = epoch_default if on_epoch is None else on_epoch
    if step and not each_step:
        raise MisconfigurationException(
            f"`self.log(on_step=True)` has no meaning in `{hook}`: it runs once an epoch"
        )
    if not each_step and not epoch:
        raise MisconfigurationException(f"`self.log(on_epoch=False)` has no meaning in `{hook}`")
    if not step and not epoch:
        raise MisconfigurationException("`self.log(on_step=False, on_epoch=False)` logs nothing.")
    return step, epoch

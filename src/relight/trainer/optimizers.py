"""What ``configure_optimizers`` may return, and what the Trainer makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR, ReduceLROnPlateau

from relight.trainer.messages import legacy_hint
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import has_own, takes_parameter
from relight.utilities.rank_zero import rank_zero_warn
from relight.utilities.types import LRSchedulerConfig

if TYPE_CHECKING:
    from relight.module import LightningModule

__all__ = ["NoOptimizer", "configure_optimizers"]

_FORMS = (
    "`configure_optimizers` must return an optimizer, a list of optimizers, a list of optimizers and"
    " a list of"
    ' schedulers, a dict with "optimizer" and maybe "lr_scheduler" and "monitor", several such dicts, or None'
)


class NoOptimizer(Optimizer):
    """Stands in when ``configure_optimizers`` returns ``None``: does nothing, but counts."""

    def __init__(self) -> None:
        super().__init__([torch.zeros(1)], {})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take nothing."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def step(self, closure: Any = None) -> Any:
        """Run the closure."""
        return closure() if closure is not None else None

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        """Say what it is."""
        return "No Optimizer"


def _is_optimizer(value: object) -> bool:
    """Return whether ``value`` is, or behaves like, an optimizer."""
    needed = ("param_groups", "state", "step", "state_dict", "load_state_dict")
    return isinstance(value, Optimizer) or all(hasattr(value, name) for name in needed)


def _split(returned: Any) -> tuple[list[Any], list[Any], str | None]:
    """Return optimizers, schedulers as given, and the monitor of a dict."""
    if returned is None:
        rank_zero_warn("`configure_optimizers` returned `None`: this fit runs without an optimizer")
        return [NoOptimizer()], [], None
    if _is_optimizer(returned):
        return [returned], [], None
    if isinstance(returned, dict):
        _check_keys(returned)
        schedulers = [returned["lr_scheduler"]] if "lr_scheduler" in returned else []
        return [returned["optimizer"]], schedulers, returned.get("monitor")
    if isinstance(returned, (list, tuple)):
        pair = len(returned) == 2 and isinstance(returned[0], list)
        if pair and all(_is_optimizer(item) for item in returned[0]):
            schedulers = returned[1] if isinstance(returned[1], list) else [returned[1]]
            return returned[0], schedulers, None
        if all(isinstance(item, dict) for item in returned):
            for item in returned:
                _check_keys(item)
            given = [item["lr_scheduler"] for item in returned if "lr_scheduler" in item]
            schedulers = [dict(s) if isinstance(s, dict) else {"scheduler": s} for s in given]
            return [item["optimizer"] for item in returned], schedulers, None
        if all(_is_optimizer(item) for item in returned):
            return list(returned), [], None
    raise MisconfigurationException(f"{_FORMS}. Found: {returned!r}")


def _check_keys(returned: dict[str, Any]) -> None:
    if extra := set(returned) - {"optimizer", "lr_scheduler", "monitor"}:
        rank_zero_warn(
            f"`configure_optimizers` returned keys that are not known: {sorted(extra)}",
            category=RuntimeWarning,
        )


def _scheduler_config(given: Any, monitor: str | None) -> LRSchedulerConfig:
    """Return the configuration of one scheduler under automatic optimization."""
    if not isinstance(given, dict):
        if isinstance(given, ReduceLROnPlateau):
            if monitor is None:
                raise MisconfigurationException(
                    "`ReduceLROnPlateau` needs to know what to monitor: return"
                    " {'optimizer': …, 'lr_scheduler': …,"
                    " 'monitor': 'your metric'}"
                )
            return LRSchedulerConfig(given, reduce_on_plateau=True, monitor=monitor)
        return LRSchedulerConfig(given)
    known = {field.name for field in fields(LRSchedulerConfig)}
    if extra := given.keys() - known:
        rank_zero_warn(
            f"The dict of a learning rate scheduler has keys that are not known: {sorted(extra)}",
            category=RuntimeWarning,
        )
    config = {name: value for name, value in given.items() if name in known}
    if "scheduler" not in config:
        raise MisconfigurationException('The dict of a learning rate scheduler must have the key "scheduler"')
    scheduler, interval = config["scheduler"], config.get("interval", "epoch")
    if interval not in ("step", "epoch"):
        raise MisconfigurationException(
            f'The "interval" of a learning rate scheduler is "step" or "epoch", not "{interval}"'
        )
    config.setdefault("reduce_on_plateau", isinstance(scheduler, ReduceLROnPlateau))
    if config["reduce_on_plateau"] and config.get("monitor") is None:
        raise MisconfigurationException(
            "The dict of a `ReduceLROnPlateau` scheduler must say what to monitor:"
            " {'scheduler': …, 'monitor':"
            " 'your metric'}"
        )
    if isinstance(scheduler, OneCycleLR) and interval == "epoch":
        rank_zero_warn(
            'A `OneCycleLR` scheduler steps once an epoch; did you mean "interval": "step"?',
            category=RuntimeWarning,
        )
    return LRSchedulerConfig(**config)


def _manual_scheduler_config(given: Any) -> LRSchedulerConfig:
    """Return the configuration of one scheduler that the user steps."""
    if not isinstance(given, dict):
        return LRSchedulerConfig(given)
    ignored = [name for name in given if name in ("reduce_on_plateau", "monitor", "strict")]
    if ignored:
        rank_zero_warn(
            f"With manual optimization {ignored} of a learning rate scheduler mean nothing: call its"
            " `step()`.",
            category=RuntimeWarning,
        )
    return LRSchedulerConfig(**{name: value for name, value in given.items() if name not in ignored})


def configure_optimizers(
    returned: Any, module: LightningModule
) -> tuple[list[Optimizer], list[LRSchedulerConfig]]:
    """Return the optimizers and schedulers that a module's ``configure_optimizers`` returned.

    Raises:
        MisconfigurationException: If it returned something else, or a scheduler of an optimizer it kept back.
        RuntimeError: If several optimizers are to be run automatically.
    """
    optimizers, given, monitor = _split(returned)
    automatic = module.automatic_optimization
    configs = [_scheduler_config(s, monitor) if automatic else _manual_scheduler_config(s) for s in given]
    _check_support(module, optimizers)
    _check_schedulers(module, optimizers, configs)
    return optimizers, configs


def _check_support(module: LightningModule, optimizers: Sequence[Any]) -> None:
    several = module.automatic_optimization and len(optimizers) > 1
    if several or takes_parameter(module.training_step, "optimizer_idx", explicit=True):
        raise RuntimeError(
            "Several optimizers need manual optimization: drop `optimizer_idx` from `training_step`, set"
            " `self.automatic_optimization = False` and step what `self.optimizers()` returns."
            + legacy_hint("training_step")
        )


def _check_schedulers(
    module: LightningModule, optimizers: Sequence[Any], configs: Iterable[LRSchedulerConfig]
) -> None:
    from relight.module import LightningModule

    for config in configs:
        scheduler, kind = config.scheduler, type(config.scheduler).__name__
        if not all(hasattr(scheduler, name) for name in ("state_dict", "load_state_dict")):
            raise TypeError(f"The learning rate scheduler `{kind}` has no `state_dict` and `load_state_dict`")
        own_step = has_own("lr_scheduler_step", module, LightningModule)
        standard = isinstance(scheduler, (LRScheduler, ReduceLROnPlateau))
        if module.automatic_optimization and not standard and not own_step:
            raise MisconfigurationException(
                f"`{kind}` is no torch scheduler: override `lr_scheduler_step` to say how it steps"
            )
        if not any(scheduler.optimizer is optimizer for optimizer in optimizers):
            raise MisconfigurationException(
                f"The optimizer of the scheduler `{kind}` was not returned from `configure_optimizers`"
            )

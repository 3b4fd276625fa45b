"""Dictionaries that steps and epoch-end hooks returned up to 0.9: ``{"loss", "log", "progress_bar"}``.

``log`` went to the logger, ``progress_bar`` to the progress bar, and every number of the dictionary could be
monitored by callbacks. From 1.0 on these keys mean nothing to Lightning, so they are read only where the
hook itself logged nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from typing import Any

from torch import Tensor

__all__ = ["is_structured", "log_returned"]

_KEYS = ("log", "progress_bar")
_SPECIAL = {"loss", "log", "progress_bar", "hiddens", "callback_metrics"}


def is_structured(output: Any) -> bool:
    """Return whether ``output`` is a dictionary in the form of 0.x."""
    return isinstance(output, Mapping) and any(isinstance(output.get(key), Mapping) for key in _KEYS)


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.numel() == 1
    return isinstance(value, Number) and not isinstance(value, complex)


def log_returned(module: Any, output: Mapping[str, Any], *, epoch: bool) -> None:
    """Log what a hook returned in the form of 0.x.

    Args:
        module: Whose hook.
        output: What it returned.
        epoch: Whether it ended an epoch: then all its numbers can be monitored, and nothing belongs to a
        step.
    """
    logged = output.get("log") or {}
    shown = output.get("progress_bar") or {}
    found: dict[str, Any] = {}
    if epoch:
        found.update({key: value for key, value in output.items() if key not in _SPECIAL})
    found.update(shown)
    found.update(logged)
    for name, value in found.items():
        if not _is_number(value):
            continue
        module.log(
            name,
            value,
            prog_bar=name in shown,
            logger=name in logged and bool(module.trainer.loggers),
            on_step=not epoch,
            on_epoch=epoch,
            add_dataloader_idx=False,
        )

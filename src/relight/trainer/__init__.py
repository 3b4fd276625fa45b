"""The Trainer, its loops, and how hooks are called."""

from __future__ import annotations

from relight.trainer.hooks import HOOK_ORDER, Order, call_hook
from relight.trainer.options import Options
from relight.trainer.trainer import Trainer

__all__ = ["HOOK_ORDER", "Options", "Order", "Trainer", "call_hook"]

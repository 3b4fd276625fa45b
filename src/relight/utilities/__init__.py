"""Small helpers shared by the rooms of the core."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import (
    rank_zero_deprecation,
    rank_zero_info,
    rank_zero_only,
    rank_zero_warn,
)
from relight.utilities.types import GradClipAlgorithmType

if TYPE_CHECKING:
    from relight.utilities.combined_loader import CombinedLoader
    from relight.utilities.grads import grad_norm
    from relight.utilities.memory import move_data_to_device

_LAZY = {
    "CombinedLoader": "relight.utilities.combined_loader",
    "grad_norm": "relight.utilities.grads",
    "move_data_to_device": "relight.utilities.memory",
}

__all__ = [
    "CombinedLoader",
    "GradClipAlgorithmType",
    "MisconfigurationException",
    "grad_norm",
    "move_data_to_device",
    "rank_zero_deprecation",
    "rank_zero_info",
    "rank_zero_only",
    "rank_zero_warn",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'relight.utilities' has no attribute {name!r}")

"""Messages that only the first process shows."""

from __future__ import annotations

import os
import warnings

from lightning_utilities.core.rank_zero import (
    WarningCache,
    rank_zero_deprecation,
    rank_zero_info,
    rank_zero_only,
    rank_zero_warn,
)

__all__ = [
    "PossibleUserWarning",
    "WarningCache",
    "rank_zero_deprecation",
    "rank_zero_info",
    "rank_zero_only",
    "rank_zero_warn",
]


class PossibleUserWarning(UserWarning):
    """A warning about something that may well be what the user wants."""


def _rank() -> int:
    # The variables that launchers set, in the order in which Lightning Fabric asks for them.
    for key in ("RANK", "LOCAL_RANK", "SLURM_PROCID", "JSM_NAMESPACE_RANK"):
        if (rank := os.environ.get(key)) is not None:
            return int(rank)
    return 0


# Lightning Fabric sets the same attribute when it is imported; until then the environment decides.
rank_zero_only.rank = getattr(rank_zero_only, "rank", _rank())  # type: ignore[attr-defined]
warnings.simplefilter("default", category=PossibleUserWarning)

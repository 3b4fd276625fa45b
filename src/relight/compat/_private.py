"""Private pieces of 1.x that public projects reach for, mostly their tests (a ``conftest.py`` copied around).

Each does as much as those uses need, and no more.
"""

from __future__ import annotations

import signal
from enum import Enum
from typing import Any

__all__ = ["AMPType", "DeviceType", "DistributedType", "SignalConnector", "is_local_file_protocol"]


class _Words(str, Enum):
    """A string that compares without regard to case, as the enums of 1.x did."""

    def __eq__(self, other: object) -> bool:
        word = other.value if isinstance(other, Enum) else str(other)
        return bool(self.value.lower() == str(word).lower())

    def __hash__(self) -> int:
        return hash(self.value.lower())

    @classmethod
    def from_str(cls, value: str) -> Any:
        """Return the member with that name, ``None`` if there is none."""
        return next((each for each in cls if each.name.lower() == value.lower()), None)


class AMPType(_Words):
    """Left in 1.9: who does mixed precision."""

    APEX = "apex"
    NATIVE = "native"


class DistributedType(_Words):
    """Left in 1.8: names of strategies."""

    DP = "dp"
    DDP = "ddp"
    DDP2 = "ddp2"
    DDP_CPU = "ddp_cpu"
    DDP_SPAWN = "ddp_spawn"
    TPU_SPAWN = "tpu_spawn"
    DEEPSPEED = "deepspeed"
    HOROVOD = "horovod"
    DDP_SHARDED = "ddp_sharded"
    DDP_SHARDED_SPAWN = "ddp_sharded_spawn"
    DDP_FULLY_SHARDED = "ddp_fully_sharded"


class DeviceType(_Words):
    """Left in 1.8: names of accelerators."""

    CPU = "CPU"
    GPU = "GPU"
    IPU = "IPU"
    TPU = "TPU"


def is_local_file_protocol(path: Any) -> bool:
    """Return whether a path is on this machine."""
    return "://" not in str(path) or str(path).startswith("file://")


class SignalConnector:
    """Left: watched the process's signals; test suites ask it which there are, to find leaked handlers."""

    @staticmethod
    def _valid_signals() -> set[signal.Signals]:
        """Return the signals of this system."""
        return set(signal.Signals)

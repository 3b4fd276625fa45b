"""Compare with recorded values: to the bit on the kind of CPU they were recorded on, closely on others.

torch sums in another order where a CPU has other vector units, so the last bits of a loss differ from
machine to machine, for Lightning as for relight. Order, names, counts, types and texts must be equal
everywhere. Real releases on the same machine are compared to the bit by the tests that are marked
``oracle``.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["exact", "same"]

_HEX = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-]\d+")
_DIGEST = re.compile(r"(?<![\w.])[0-9a-f]{12,}(?![\w.])")
_DECIMAL = re.compile(r"(-?\d+\.\d+(?:e[+-]?\d+)?)")


@functools.cache
def exact() -> bool:
    """Whether this machine computes to the bit what the recording one did."""
    import torch

    try:
        vendor = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        vendor = ""
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and "GenuineIntel" in vendor


def same(found: Any, expected: Any, rel: float = 2e-3) -> bool:
    """Whether a value is the recorded one, as exactly as this machine allows (``rel`` where it is not exact)."""
    return found == expected if exact() else _alike(found, expected, rel)


def _alike(found: Any, expected: Any, rel: float) -> bool:
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(_alike(found[key], value, rel) for key, value in expected.items())
        )
    if isinstance(expected, (list, tuple)):
        return (
            type(found) is type(expected)
            and len(found) == len(expected)
            and all(_alike(one, other, rel) for one, other in zip(found, expected, strict=True))
        )
    if isinstance(expected, str) and isinstance(found, str):
        return _alike_text(found, expected, rel)
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return _close(float(found), expected, rel)
    return bool(found == expected)


def _alike_text(found: str, expected: str, rel: float) -> bool:
    read: Callable[[str], float] = float
    if _HEX.fullmatch(expected) and (_HEX.fullmatch(found) or found == "0x0.0p+0"):
        return _close(float.fromhex(found), float.fromhex(expected), rel)
    # A digest of numbers says nothing where the numbers differ in their last bits.
    ours, theirs = (_DECIMAL.split(_DIGEST.sub("digest", text)) for text in (found, expected))
    return (
        len(ours) == len(theirs)
        and ours[::2] == theirs[::2]
        and all(map(lambda one, other: _close(read(one), read(other), rel), ours[1::2], theirs[1::2]))
    )


def _close(found: float, expected: float, rel: float) -> bool:
    return (
        found == expected
        or (math.isnan(found) and math.isnan(expected))
        or math.isclose(found, expected, rel_tol=rel, abs_tol=rel / 200)
    )

"""The states of the random generators that training draws from, as plain data that a checkpoint can hold."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

__all__ = ["random_state", "set_random_state"]


def random_state() -> dict[str, Any]:
    """Return the states of torch (CPU, CUDA and MPS), Python's ``random`` and NumPy.

    Only plain values and tensors are in it, which ``torch.load(weights_only=True)`` reads. NumPy's is there
    only if somebody imported NumPy.
    """
    state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    if torch.backends.mps.is_available():
        state["mps"] = torch.mps.get_rng_state()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, position, has_gauss, gauss = numpy.random.get_state()
        # As integers of 64 bits: torch cannot read all of NumPy's types, and not every version uint32.
        words = torch.from_numpy(keys.astype("int64"))
        state["numpy"] = [str(kind), words, int(position), int(has_gauss), float(gauss)]
    return state


def set_random_state(state: dict[str, Any]) -> None:
    """Give the generators the states that :func:`random_state` returned; one that is not here is left out."""
    torch.set_rng_state(state["torch"])
    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    if "cuda" in state and torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])
    if "mps" in state and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])
    if "numpy" in state:
        try:
            import numpy
        except ImportError:
            return
        kind, keys, position, has_gauss, gauss = state["numpy"]
        numpy.random.set_state((kind, keys.numpy().astype("uint32"), position, has_gauss, gauss))

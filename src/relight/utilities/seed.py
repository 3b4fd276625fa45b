"""Seeds and random states, with the same effect and environment variables as Lightning 2.6."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn

__all__ = ["isolate_rng", "reset_seed", "seed_everything"]

_MAX_SEED = 2**32 - 1  # what numpy accepts


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def seed_everything(seed: int | None = None, workers: bool = False, verbose: bool = True) -> int:
    """Seed torch, numpy and Python's ``random``, and remember the seed for processes started later.

    Args:
        seed: From 0 to 2**32 - 1. ``None`` takes ``PL_GLOBAL_SEED`` from the environment, else 0.
        workers: Whether data loaders given to the Trainer get a ``worker_init_fn`` that seeds their workers.
        verbose: Whether to say which seed was set.

    Returns:
        The seed.

    Raises:
        ValueError: If the seed is out of bounds or the environment variable is no number.
    """
    if seed is None:
        text = os.environ.get("PL_GLOBAL_SEED")
        if text is None:
            seed = 0
            if verbose:
                rank_zero_warn("No seed found, seed set to 0")
        else:
            try:
                seed = int(text)
            except ValueError:
                raise ValueError(f"PL_GLOBAL_SEED in the environment is no number: {text!r}") from None
    seed = int(seed)
    if not 0 <= seed <= _MAX_SEED:
        raise ValueError(f"The seed must lie between 0 and {_MAX_SEED}, not {seed}")
    if verbose:
        rank_zero_info(f"Seed set to {seed}")
    os.environ["PL_GLOBAL_SEED"] = str(seed)
    os.environ["PL_SEED_WORKERS"] = str(int(workers))
    random.seed(seed)
    if (numpy := _numpy()) is not None:
        numpy.random.seed(seed)
    torch.manual_seed(seed)
    return seed


def reset_seed() -> None:
    """Seed everything again as :func:`seed_everything` last did, in this or the parent process, if at all."""
    if (seed := os.environ.get("PL_GLOBAL_SEED")) is not None:
        seed_everything(int(seed), workers=os.environ.get("PL_SEED_WORKERS", "0") == "1", verbose=False)


@contextmanager
def isolate_rng(include_cuda: bool = True) -> Iterator[None]:
    """Give the global random states back on leaving as they were on entering."""
    numpy = _numpy()
    torch_state, python_state = torch.get_rng_state(), random.getstate()
    numpy_state = numpy.random.get_state() if numpy is not None else None
    with_cuda = include_cuda and torch.cuda.is_available()
    cuda_state = torch.cuda.get_rng_state_all() if with_cuda else []
    try:
        yield
    finally:
        torch.set_rng_state(torch_state)
        random.setstate(python_state)
        if numpy is not None:
            numpy.random.set_state(numpy_state)
        if with_cuda:
            torch.cuda.set_rng_state_all(cuda_state)

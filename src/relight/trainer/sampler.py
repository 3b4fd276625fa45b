"""A process's part of the samples, none of them twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from torch.utils.data import DistributedSampler, RandomSampler, Sampler

__all__ = ["UnrepeatedSampler"]


class UnrepeatedSampler(Sampler[Any]):
    """Every ``num_replicas``-th of a sampler's samples, from ``rank`` on.

    torch's ``DistributedSampler`` repeats samples until all processes have as many, which training needs;
    predictions are to be made of each sample once.

    Args:
        sampler: The order of all samples. It must be the same in all processes; one that shuffles is replaced
            by one that does so from a seed.
        num_replicas: The number of processes.
        rank: The index of this process.
    """

    def __init__(self, sampler: Any, num_replicas: int, rank: int) -> None:
        if isinstance(sampler, RandomSampler):
            seed = int(os.getenv("PL_GLOBAL_SEED", "0"))
            data: Any = sampler.data_source
            sampler = DistributedSampler(data, 1, 0, shuffle=True, seed=seed)
        self.sampler, self.num_replicas, self.rank = sampler, num_replicas, rank

    def __iter__(self) -> Iterator[Any]:
        """Yield this process's samples."""
        return islice(self.sampler, self.rank, None, self.num_replicas)

    def __len__(self) -> int:
        """Return the number of this process's samples."""
        return len(range(self.rank, len(self.sampler), self.num_replicas))

    def set_epoch(self, epoch: int) -> None:
        """Tell a sampler that shuffles the epoch."""
        set_epoch = getattr(self.sampler, "set_epoch", None)
        if callable(set_epoch):
            set_epoch(epoch)

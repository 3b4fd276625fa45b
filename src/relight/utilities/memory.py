"""Moving and detaching nested data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

__all__ = ["extract_batch_size", "map_tensors", "move_data_to_device", "recursive_detach"]


def map_tensors(data: Any, function: Callable[[Any], Any], also: Callable[[Any], bool] | None = None) -> Any:
    """Return ``data`` with ``function`` applied to every tensor in it (and to what ``also`` accepts).

    Mappings, named tuples, lists, tuples and dataclass instances are rebuilt; anything else is kept.
    """
    if isinstance(data, Tensor) or (also is not None and also(data)):
        return function(data)
    if isinstance(data, Mapping):
        items = {key: map_tensors(value, function, also) for key, value in data.items()}
        if type(data) is dict:
            return items
        if hasattr(data, "default_factory"):  # a defaultdict
            return type(data)(data.default_factory, items)  # type: ignore[call-arg]
        return type(data)(items)  # type: ignore[call-arg]
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(map_tensors(value, function, also) for value in data))
    if isinstance(data, (list, tuple)):
        return type(data)([map_tensors(value, function, also) for value in data])
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        changed = {}
        for field in dataclasses.fields(data):
            old = getattr(data, field.name)
            new = map_tensors(old, function, also)
            if new is not old and field.init:
                changed[field.name] = new
        return dataclasses.replace(data, **changed) if changed else data
    return data


def move_data_to_device(batch: Any, device: torch.device | str | int) -> Any:
    """Return ``batch`` with everything that has a ``to`` method moved to ``device``.

    Transfers from CPU memory to a CUDA device do not block, as in Lightning.
    """
    target = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)

    def movable(data: Any) -> bool:
        return not isinstance(data, Tensor) and callable(getattr(data, "to", None))

    def move(data: Any) -> Any:
        if isinstance(data, Tensor):
            return data.to(target, non_blocking=target.type not in ("cpu", "mps"))
        moved = data.to(target)
        return moved if moved is not None else data  # the user moved it in place and forgot to return it

    return map_tensors(batch, move, movable)


def recursive_detach(data: Any, to_cpu: bool = False) -> Any:
    """Return ``data`` with every tensor detached (and on the CPU)."""
    return map_tensors(data, lambda t: t.detach().cpu() if to_cpu else t.detach())


def extract_batch_size(batch: Any) -> int:
    """Return the size of the first dimension of the tensors in ``batch``.

    A zero-dimensional tensor counts 1. When tensors disagree the first one found is taken and a warning says
    so.

    Raises:
        MisconfigurationException: If nothing in ``batch`` has a size.
    """
    from relight.utilities.exceptions import MisconfigurationException
    from relight.utilities.rank_zero import rank_zero_warn

    found: int | None = None
    for size in _sizes(batch):
        if found is None:
            found = size
        elif size != found:
            rank_zero_warn(
                "The parts of the batch differ in their first dimension, so its size is ambiguous:"
                f" {found} was found first. Pass `self.log(..., batch_size=...)` to settle it.",
            )
            break
    if found is None:
        raise MisconfigurationException(
            "The batch holds nothing that tells its size. Pass `self.log(..., batch_size=...)`."
        )
    return found


def _sizes(batch: Any) -> Iterator[int | None]:
    """Yield the size of each part, ``None`` for a part that has none."""
    if isinstance(batch, Tensor):
        yield batch.size(0) if batch.ndim else 1
    elif isinstance(batch, Mapping):
        for value in batch.values():
            yield from _sizes(value)
    elif isinstance(batch, Iterable) and not isinstance(batch, str):
        for value in batch:
            yield from _sizes(value)
    elif dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        for field in dataclasses.fields(batch):
            yield from _sizes(getattr(batch, field.name))
    else:
        yield None

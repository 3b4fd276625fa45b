"""Several loaders as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count, repeat
from typing import Any, Literal

from torch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["CombinedLoader", "sized_len"]

Mode = Literal["min_size", "max_size_cycle", "max_size", "sequential"]
Item = tuple[Any, int, int]
_LENGTH = {"min_size": min, "max_size": max, "max_size_cycle": max, "sequential": sum}


def sized_len(data: object) -> int | None:
    """Return ``len(data)``, ``None`` if it has none."""
    try:
        return len(data)  # type: ignore[arg-type]
    except (TypeError, NotImplementedError):
        return None


def _is_iterable_of_numbers(node: Any) -> bool:
    """Return whether a collection is itself a loader: of plain values, or of none (Lightning's rule)."""
    items = node.values() if isinstance(node, dict) else node
    return isinstance(node, (list, tuple, dict)) and all(isinstance(x, (int, float, str)) for x in items)


class CombinedLoader(Iterable[Item]):
    """Iterates over a collection of iterables and yields ``(batch, batch_idx, dataloader_idx)``.

    Args:
        iterables: One iterable or a (nested) list, tuple or dict of them; a batch has the same form.
        mode: ``"min_size"`` stops with the shortest; ``"max_size"`` with the longest, giving ``None`` for the
            others; ``"max_size_cycle"`` begins the others again; ``"sequential"`` takes one after the other.
    """

    def __init__(self, iterables: Any, mode: Mode = "min_size") -> None:
        if mode not in _LENGTH:
            raise ValueError(f"Unsupported mode {mode!r}, please select one of: {list(_LENGTH)}.")
        self._iterables = iterables
        self._flattened, self._spec = tree_flatten(iterables, is_leaf=_is_iterable_of_numbers)
        self._mode = mode
        self._limits: list[int | float] | None = None
        self._iterator: Iterator[Item] | None = None
        self._consumed: list[bool] = []

    @property
    def iterables(self) -> Any:
        """The collection of iterables."""
        return self._iterables

    @property
    def flattened(self) -> list[Any]:
        """The iterables as a list; set it to replace them."""
        return self._flattened

    @flattened.setter
    def flattened(self, flattened: list[Any]) -> None:
        if len(flattened) != len(self._flattened):
            raise ValueError(f"There are {len(self._flattened)} iterables, not {len(flattened)}")
        self._iterables, self._flattened = tree_unflatten(flattened, self._spec), flattened

    @property
    def limits(self) -> list[int | float] | None:
        """The largest number of batches of each iterable, ``None`` for no limit."""
        return self._limits

    @limits.setter
    def limits(self, limits: int | float | list[int | float] | None) -> None:
        if isinstance(limits, (int, float)):
            limits = [limits] * len(self._flattened)
        if limits is not None and len(limits) != len(self._flattened):
            raise ValueError(f"There are {len(self._flattened)} iterables and {len(limits)} limits")
        self._limits = limits

    def __iter__(self) -> CombinedLoader:
        """Make the iterators."""
        self._start(self._plain)
        return self

    def __next__(self) -> Item:
        """Return the next batch with its index and its loader's."""
        assert self._iterator is not None
        return next(self._iterator)

    def _plain(self, loader: int, index: int) -> Iterator[Any]:
        return iter(self._flattened[loader])

    def _start(
        self, iterate: Callable[[int, int], Iterator[Any]], index: int = 0, loader: int = 0,
        consumed: Iterable[bool] = (),
    ) -> None:  # fmt: skip
        """Make the iterators with ``iterate(loader, index)`` and go on from a place.

        Args:
            iterate: Returns an iterator over a loader; ``index`` is that of the batch it begins with.
            index: The index of the next batch.
            loader: The loader whose turn it is in mode ``"sequential"``.
            consumed: Which loaders were gone through to their end, in mode ``"max_size_cycle"``.
        """
        # Iterators are made here and now, not at the first batch: each loader draws a seed when it is asked
        # for one.
        loaders = self._flattened
        if self._mode == "sequential":
            first = iterate(loader, 0) if loaders else iter(())
            self._iterator = self._sequential(iterate, first, loader, index)
            return
        self._consumed = list(consumed) or [False] * len(loaders)
        if self._mode != "min_size" and len(loaders) == 1 and self._iterables is loaders[0]:
            self._iterator = zip(iterate(0, 0), count(index), repeat(0))  # the common case, as fast as can be
        else:
            mode = getattr(self, f"_{self._mode}")
            self._iterator = mode(iterate, [iterate(i, 0) for i in range(len(loaders))], index)

    def _sequential(
        self, iterate: Callable[[int, int], Iterator[Any]], current: Iterator[Any], at: int, index: int
    ) -> Iterator[Item]:
        for dataloader_idx in range(at, len(self._flattened)):
            if dataloader_idx > at:
                current, index = iterate(dataloader_idx, 0), 0
            while self._limits is None or index < self._limits[dataloader_idx]:
                try:
                    batch = next(current)
                except StopIteration:
                    break
                yield batch, index, dataloader_idx
                index += 1

    def _max_size_cycle(
        self, iterate: Callable[[int, int], Iterator[Any]], iterators: list[Iterator[Any]], index: int
    ) -> Iterator[Item]:
        consumed = self._consumed
        while True:
            batches = []
            for i, iterator in enumerate(iterators):
                try:
                    batches.append(next(iterator))
                except StopIteration:
                    consumed[i] = True
                    if all(consumed):
                        return
                    iterators[i] = iterate(i, index)
                    batches.append(next(iterators[i]))
            yield tree_unflatten(batches, self._spec), index, 0
            index += 1

    def _min_size(
        self, iterate: Callable[[int, int], Iterator[Any]], iterators: list[Iterator[Any]], index: int
    ) -> Iterator[Item]:
        while True:
            batches = []
            for iterator in iterators:
                try:
                    batches.append(next(iterator))
                except StopIteration:
                    return
            yield tree_unflatten(batches, self._spec), index, 0
            index += 1

    def _max_size(
        self, iterate: Callable[[int, int], Iterator[Any]], iterators: list[Iterator[Any]], index: int
    ) -> Iterator[Item]:
        nothing = object()
        while True:
            batches = [next(iterator, nothing) for iterator in iterators]
            if all(batch is nothing for batch in batches):
                return
            yield tree_unflatten([None if b is nothing else b for b in batches], self._spec), index, 0
            index += 1

    def __len__(self) -> int:
        """Return the number of batches.

        Raises:
            NotImplementedError: If an iterable has no length and no limit stands in for it.
        """
        sizes: list[int | float] = []
        for i, loader in enumerate(self._flattened):
            size: int | float | None = sized_len(loader)
            size = float("inf") if size is None else size
            sizes.append(min(size, self._limits[i]) if self._limits is not None else size)
        total = _LENGTH[self._mode](sizes)  # type: ignore[operator]
        if total == float("inf"):
            raise NotImplementedError("The length of an iterable is unknown")
        return int(total)

    def reset(self) -> None:
        """Drop the iterators and stop the workers of the loaders."""
        self._iterator = None
        for loader in self._flattened:
            iterator = getattr(loader, "_iterator", None)  # a DataLoader's persistent workers
            if iterator is not None and hasattr(iterator, "_shutdown_workers"):
                iterator._shutdown_workers()
                loader._iterator = None

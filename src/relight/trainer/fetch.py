"""Fetching batches and knowing which one is the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from relight.utilities.combined_loader import CombinedLoader, sized_len

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["Fetcher"]


class Fetcher:
    """Fetches ``(batch, batch_idx, dataloader_idx)``; ``done`` is True once the last batch was handed out.

    A loader without a length is read one batch ahead, as there is no other way to know.
    """

    def __init__(self, loader: CombinedLoader, trainer: Trainer, entry: str) -> None:
        self.loader = loader
        self.fetched = 0
        self.done = False
        self.length: int | None = None
        self._iterator: Iterator[tuple[Any, int, int]] | None = None
        self._ahead: list[tuple[Any, int, int]] = []
        self._profiler, self._entry = trainer._active_profiler, entry

    def start(self) -> None:
        """Make the iterators, which draws their seeds."""
        iter(self.loader)
        self._iterator = self.loader._iterator
        self.fetched = 0
        self._ahead = []
        self.length = sized_len(self.loader)
        self.done = self.length == 0
        if self.length is None:
            try:
                self._ahead.append(self._next())
            except StopIteration:
                self.done = True

    def _next(self) -> tuple[Any, int, int]:
        if self._profiler is None:
            item = next(self._iterator)  # type: ignore[arg-type]
        else:
            with self._profiler.profile(self._entry):
                item = next(self._iterator)  # type: ignore[arg-type]
        self.fetched += 1
        return item

    def __next__(self) -> tuple[Any, int, int]:
        """Return the next batch with its index and its loader's."""
        if self.length is not None:
            if self._profiler is None:
                item = next(self._iterator)  # type: ignore[arg-type]
                self.fetched += 1
            else:
                item = self._next()
            self.done = self.fetched >= self.length
            return item
        if not self._ahead:
            raise StopIteration
        item = self._ahead.pop()
        try:
            self._ahead.append(self._next())
        except StopIteration:
            self.done = True
        return item

    def teardown(self) -> None:
        """Drop the iterators and stop workers."""
        self.loader.reset()
        self._iterator = None
        self._ahead = []

"""Fetching batches and knowing which one is the last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from relight.trainer.replay import Journal
from relight.utilities.combined_loader import CombinedLoader, sized_len

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["Fetcher"]


class Fetcher:
    """Fetches ``(batch, batch_idx, dataloader_idx)``; ``done`` is True once the last batch was handed out.

    A loader without a length is read one batch ahead, as there is no other way to know.

    Args:
        loader: The loaders.
        trainer: Whose profiler records the time it takes.
        entry: Its name there.
        resumable: Keep what it takes to bring other loaders to the same place.
    """

    def __init__(self, loader: CombinedLoader, trainer: Trainer, entry: str, resumable: bool = False) -> None:
        self.loader = loader
        self.fetched = 0
        self.done = False
        self.length: int | None = None
        self._iterator: Iterator[tuple[Any, int, int]] | None = None
        self._ahead: list[tuple[Any, int, int]] = []
        self._profiler, self._entry = trainer._active_profiler, entry
        self._journal = Journal(loader) if resumable and type(loader) is CombinedLoader else None

    def start(self) -> None:
        """Make the iterators, which draws their seeds."""
        if self._journal is None:
            iter(self.loader)
        else:
            self.loader._start(self._journal.iterate)
        self._iterator = self.loader._iterator
        self.fetched = 0
        self._ahead = []
        self.length = sized_len(self.loader)
        self.done = self.length == 0
        if self.length is None:
            self._look_ahead()

    def _look_ahead(self) -> None:
        if self._journal is not None:
            self._journal.note_before_ahead()
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
        self._look_ahead()
        return item

    # Going on in another process

    def state_dict(self, before: int = 0, current: int = 0) -> dict[str, Any] | None:
        """Return where the loaders stand, ``None`` if it is not known.

        Args:
            before: Of loaders that come one after the other, how many batches came from those before the one
                at hand.
            current: The one at hand.
        """
        if self._journal is None or self._iterator is None:
            return None
        return self._journal.state_dict(self.fetched - before, bool(self._ahead), current)

    def resume(self, state: dict[str, Any], handed: int, before: int = 0) -> None:
        """Bring the loaders to where they stood after ``handed`` batches.

        Sets random states on the way, which the caller sets right afterwards.

        Args:
            state: What :meth:`state_dict` returned.
            handed: How many batches (of the loader at hand) are done. Batches that were begun are handed out
                again.
            before: As for :meth:`state_dict`.
        """
        assert self._journal is not None
        self._journal.resume(state, handed)
        self._iterator = self.loader._iterator
        self.fetched = before + handed
        self._ahead = []
        self.length = sized_len(self.loader)
        self.done = self.length is not None and self.fetched >= self.length
        # What was taken and not done is taken again here, under the random states of then, not later.
        again: list[tuple[Any, int, int]] = []
        beyond = state["fetched"] - handed
        for i in range(beyond):
            if i == beyond - 1 and state["ahead"]:
                self._journal.set_draws_before_ahead(state["draws_before_ahead"])
            try:
                again.append(next(self._iterator))  # type: ignore[arg-type]
            except StopIteration:
                break
        if self.length is None:
            self._ahead = again[:1]
            self.fetched += len(self._ahead)
            again = again[1:]
            self.done = not self._ahead
            self._journal.before_ahead = {"draws": state["draws_before_ahead"], "now": state["now"]}
        if again:
            self._iterator = chain(again, self._iterator)  # type: ignore[arg-type]
        self._journal.set_generators(state["generators"])

    def random_sources(self) -> dict[str, Any] | None:
        """Return the states of the loaders' own random generators, and the seeds of distributed samplers."""
        journal = self._journal
        if journal is None:
            return None
        return {"generators": journal.generators(), "seeds": journal.seeds()}

    def set_random_sources(self, state: dict[str, Any]) -> None:
        """Give the loaders' own random generators their states, and distributed samplers their seeds."""
        if self._journal is not None:
            self._journal.set_generators(state["generators"])
            self._journal.set_seeds(state["seeds"])

    def load_states(self, state: dict[str, Any]) -> None:
        """Give loaders between two epochs, their samplers, datasets and generators their states."""
        if self._journal is not None:
            self._journal.load_now(state)

    def teardown(self) -> None:
        """Drop the iterators and stop workers."""
        self.loader.reset()
        self._iterator = None
        self._ahead = []

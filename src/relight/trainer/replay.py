"""Where a loader stands within an epoch, and how another process brings a fresh one there.

A plain ``DataLoader`` cannot tell where it stands. But all it does follows from the random states when its
iterator was made and when its first batch was drawn, and from how many batches were taken. These are kept
(twice an epoch, nothing each batch); to go on, the iterator is made anew under them and the batches that were
done are passed over. What has a state of its own (``state_dict`` and ``load_state_dict``: a loader, a
sampler, a dataset) gives and gets it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset, SequentialSampler

from relight.utilities.combined_loader import CombinedLoader
from relight.utilities.random_state import random_state, set_random_state

__all__ = ["Journal", "is_stateful"]


def is_stateful(thing: object) -> bool:
    """Return whether something has a state that can be saved and loaded."""
    return callable(getattr(thing, "state_dict", None)) and callable(getattr(thing, "load_state_dict", None))


def _ends_within_state(loader: object) -> bool:
    """Whether a loader that was given its state of an epoch's end would begin with that end.

    torchdata's do: all of the next epoch follows from the random states and from sampler and dataset.
    """
    return any(cls.__module__.split(".")[0] == "torchdata" for cls in type(loader).__mro__)


def _samplers(loader: Any) -> list[Any]:
    """Return the sampler, the batch sampler and the sampler in it, each once."""
    batches = getattr(loader, "batch_sampler", None)
    found: list[Any] = []
    for candidate in (getattr(loader, "sampler", None), batches, getattr(batches, "sampler", None)):
        if candidate is not None and all(candidate is not known for known in found):
            found.append(candidate)
    return found


def _generators(loader: Any) -> list[torch.Generator]:
    """Return the generators that a loader and its samplers draw from instead of the global one."""
    owners = [loader, *_samplers(loader)]
    found: list[torch.Generator] = []
    for owner in owners:
        generator = getattr(owner, "generator", None)
        if isinstance(generator, torch.Generator) and all(generator is not known for known in found):
            found.append(generator)
    return found


def _set_seeds(loader: Any, seeds: list[int]) -> None:
    """Give distributed samplers the seed of then; they have that of ``seed_everything``, which may differ."""
    for sampler, seed in zip(_distributed(loader), seeds, strict=False):
        sampler.seed = seed


def _distributed(loader: Any) -> list[DistributedSampler[Any]]:
    return [sampler for sampler in _samplers(loader) if isinstance(sampler, DistributedSampler)]


def _state_now_decides(loader: Any) -> bool:
    """Whether a loader goes on from its dataset's state rather than by passing over batches.

    So does an iterable dataset in this process; a copy in a worker has a state that nobody here knows.
    """
    dataset = getattr(loader, "dataset", None)
    return (
        isinstance(loader, DataLoader)
        and isinstance(dataset, IterableDataset)
        and loader.num_workers == 0
        and is_stateful(dataset)
    )


def _draws(loader: Any) -> dict[str, Any] | None:
    """Return the states of all that a loader draws random numbers from, ``None`` if its order needs none.

    To read all of them takes a tenth of a millisecond, and validation may come often.
    """
    if (
        type(loader) is DataLoader
        and type(loader.sampler) is SequentialSampler
        and type(loader.batch_sampler) in (BatchSampler, type(None))
        and loader.num_workers == 0
        and loader.generator is None
    ):
        return None
    generators = [generator.get_state() for generator in _generators(loader)]
    return {"global": random_state(), "own": generators}


def _set_generators(loader: Any, states: list[torch.Tensor]) -> None:
    for generator, state in zip(_generators(loader), states, strict=False):
        generator.set_state(state)


def _set_draws(loader: Any, draws: dict[str, Any] | None) -> None:
    if draws is None:
        return
    set_random_state(draws["global"])
    _set_generators(loader, draws["own"])


def _parts(loader: Any) -> list[Any]:
    """Return what has a state of its own beside the loader: samplers and dataset."""
    return [part for part in (*_samplers(loader), getattr(loader, "dataset", None)) if is_stateful(part)]


def _states(parts: list[Any]) -> list[Any]:
    return [copy.deepcopy(part.state_dict()) for part in parts]


def _pass_over(iterator: Any, n: int) -> None:
    """Take ``n`` batches from an iterator and drop them.

    In this process a dataset with indices need not be asked: its random draws, if any, are in the random
    state that is set afterwards. Workers have random states of their own, and have to do the work again.
    """
    single = type(iterator).__name__ == "_SingleProcessDataLoaderIter"
    if single and not isinstance(iterator._dataset, IterableDataset):
        taken = sum(1 for _ in islice(iterator._sampler_iter, n))
        iterator._num_yielded += taken
    else:
        for _ in islice(iterator, n):
            pass


class Journal:
    """Notes what it takes to make the iterators of a :class:`CombinedLoader` again, as they are made."""

    def __init__(self, combined: CombinedLoader) -> None:
        self.combined = combined
        self.marks: dict[int, dict[str, Any]] = {}
        #: States before the batch that was read ahead, where there is one.
        self.before_ahead: dict[str, Any] | None = None
        self._in_process = any(getattr(loader, "num_workers", 0) == 0 for loader in combined.flattened)
        self._remembers = any(
            is_stateful(loader) or _state_now_decides(loader) for loader in combined.flattened
        )

    def iterate(self, i: int, index: int) -> Iterator[Any]:
        """Return an iterator over a loader, noting the random states as it is made and as it begins."""
        loader = self.combined.flattened[i]
        mark = {"index": index, "begin": _draws(loader), "first": None, "parts": _states(_parts(loader))}
        mark["begun"] = mark["begin"] is None
        self.marks[i] = mark
        if mark["begun"]:
            return iter(loader)
        return self._noting_first(loader, iter(loader), mark)

    @staticmethod
    def _noting_first(loader: Any, iterator: Iterator[Any], mark: dict[str, Any]) -> Iterator[Any]:
        def first() -> Iterator[Any]:
            mark["first"], mark["begun"] = _draws(loader), True
            yield from islice(iterator, 1)

        return chain(first(), iterator)

    def note_before_ahead(self) -> None:
        """Keep what reading a batch ahead will change: it belongs to the time after the batch at hand."""
        before: dict[str, Any] = {}
        if self._in_process:  # all of it takes long, and is needed if one loader's draws hide another's
            several = len(self.combined.flattened) > 1
            before["draws"] = random_state() if several else {"torch": torch.get_rng_state()}
        if self._remembers:
            before["now"] = self._now()
        self.before_ahead = before

    def _now(self) -> list[dict[str, Any]]:
        """Return the state of each loader, or of its samplers and dataset, as of now."""
        now: list[dict[str, Any]] = []
        for loader in self.combined.flattened:
            own = copy.deepcopy(loader.state_dict()) if is_stateful(loader) else None
            parts = _states(_parts(loader)) if own is None or _ends_within_state(loader) else []
            now.append({"loader": own, "parts": parts})
        return now

    def state_dict(self, fetched: int, ahead: bool, current: int) -> dict[str, Any]:
        """Return where the loaders stand.

        Args:
            fetched: How many batches were taken from the combination (from the loader at hand, if they come
                one after the other).
            ahead: Whether the last of them was read ahead.
            current: The loader at hand, if they come one after the other.
        """
        before = self.before_ahead if ahead and self.before_ahead is not None else {}
        return {
            "fetched": fetched,
            "ahead": ahead,
            "loader": current,
            "consumed": list(self.combined._consumed),
            "marks": {i: dict(mark) for i, mark in self.marks.items()},
            "draws_before_ahead": before.get("draws"),
            "now": before.get("now") or self._now(),
            "generators": self.generators(),
            "seeds": self.seeds(),
        }

    @staticmethod
    def set_draws_before_ahead(draws: dict[str, Any] | None) -> None:
        """Set the random states under which a batch is read ahead."""
        if draws is not None and "python" in draws:
            set_random_state(draws)
        elif draws is not None:
            torch.set_rng_state(draws["torch"])

    def load_now(self, state: dict[str, Any]) -> None:
        """Give what has a state of its own that of when the file was saved."""
        for loader, now in zip(self.combined.flattened, state["now"], strict=False):
            if now["loader"] is not None and is_stateful(loader) and not _ends_within_state(loader):
                loader.load_state_dict(now["loader"])
            for part, part_state in zip(_parts(loader), now["parts"], strict=False):
                part.load_state_dict(part_state)
        self.set_generators(state["generators"])
        self.set_seeds(state["seeds"])

    def seeds(self) -> list[list[int]]:
        """Return the seeds of each loader's distributed samplers."""
        return [[sampler.seed for sampler in _distributed(loader)] for loader in self.combined.flattened]

    def set_seeds(self, seeds: list[list[int]]) -> None:
        """Give the loaders' distributed samplers their seeds."""
        for loader, own in zip(self.combined.flattened, seeds, strict=False):
            _set_seeds(loader, own)

    def generators(self) -> list[list[torch.Tensor]]:
        """Return the states of the generators of each loader."""
        return [[g.get_state() for g in _generators(loader)] for loader in self.combined.flattened]

    def set_generators(self, states: list[list[torch.Tensor]]) -> None:
        """Give the loaders' generators their states."""
        for loader, own in zip(self.combined.flattened, states, strict=False):
            _set_generators(loader, own)

    def resume(self, state: dict[str, Any], handed: int) -> None:
        """Bring the combination to where it stood after ``handed`` batches; the random states change.

        Args:
            state: What :meth:`state_dict` returned.
            handed: How many batches were done; those that were taken beyond are taken again.
        """
        marks = {int(i): mark for i, mark in state["marks"].items()}
        self.set_seeds(state["seeds"])

        def iterate(i: int, index: int) -> Iterator[Any]:
            if i not in marks:
                return self.iterate(i, index)
            if 0 < marks[i]["index"] == handed:  # begun again only for a batch beyond: it will be once more
                del marks[i]
                return iter(())
            return self._again(i, marks.pop(i), state["now"][i], handed)

        self.combined._start(iterate, handed, state["loader"], state["consumed"])

    def _again(self, i: int, mark: dict[str, Any], now: dict[str, Any], handed: int) -> Iterator[Any]:
        """Return an iterator over a loader that goes on where it stood."""
        loader = self.combined.flattened[i]
        self.marks[i] = mark
        if now["loader"] is not None and is_stateful(loader):
            loader.load_state_dict(now["loader"])
            return iter(loader)
        parts = _parts(loader)
        if _state_now_decides(loader):
            for part, part_state in zip(parts, now["parts"], strict=False):
                part.load_state_dict(part_state)
            return iter(loader)
        for part, part_state in zip(parts, mark["parts"], strict=False):
            part.load_state_dict(part_state)
        _set_draws(loader, mark["begin"])
        iterator: Iterator[Any] = iter(loader)
        taken = handed - mark["index"]
        if not mark["begun"]:
            return self._noting_first(loader, iterator, mark)
        _set_draws(loader, mark["first"])
        _pass_over(iterator, taken)
        if getattr(loader, "num_workers", 0) == 0 and is_stateful(getattr(loader, "dataset", None)):
            loader.dataset.load_state_dict(now["parts"][-1])
        return iterator

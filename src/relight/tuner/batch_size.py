"""The search for the largest batch size that does not run out of memory."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import torch

from relight.trainer.fit_loop import FitLoop
from relight.trainer.predict_loop import PredictionLoop
from relight.tuner import attributes
from relight.tuner.search import Search, ask_for_data
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["MODES", "find_batch_size", "is_out_of_memory"]

MODES = ("power", "binsearch")
_LIMIT = 8192
_SIGNS = (
    ("CUDA", "out of memory"),
    ("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED.",),
    ("DefaultCPUAllocator: can't allocate memory",),
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, by its text, as torch has no one class for it."""
    if not isinstance(error, RuntimeError) or len(error.args) != 1:
        return False
    text = str(error.args[0])
    return any(all(sign in text for sign in signs) for signs in _SIGNS)


def _collect_garbage() -> None:
    gc.collect()
    try:
        torch.cuda.empty_cache()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise


def find_batch_size(
    trainer: Trainer,
    mode: str = "power",
    steps_per_trial: int = 3,
    init_val: int = 2,
    max_trials: int = 25,
    batch_arg_name: str = "batch_size",
    margin: float = 0.05,
    max_val: int = _LIMIT,
) -> int | None:
    """Run the search within an entry point; arguments as for :meth:`relight.tuner.Tuner.scale_batch_size`.

    Returns:
        The size, which the attribute has, too; ``None`` with ``fast_dev_run``.
    """
    if trainer.fast_dev_run:
        rank_zero_warn("`fast_dev_run` is on: no batch size is searched.")
        return None
    with Search(trainer, "scale_batch_size") as search:
        if isinstance(search.loop, FitLoop):
            trainer.max_steps = trainer.global_step + steps_per_trial
            trainer.limit_train_batches = 1.0
            trainer.limit_val_batches = steps_per_trial
        elif not isinstance(search.loop, PredictionLoop):
            setattr(trainer, f"limit_{search.loop.stage.dataloader_prefix}_batches", steps_per_trial)
        sizes = _Sizes(search, batch_arg_name)
        size, _ = sizes.set(init_val)
        if mode == "power":
            size = _double(sizes, size, max_trials, max_val)
        else:
            size = _bisect(sizes, size, max_trials, max_val)
            if (reduced := max(1, int(size * (1 - margin)))) != size and margin > 0:
                rank_zero_info(f"Batch size {size}, less a margin of {margin:.1%}: {reduced}")
                size = reduced
                attributes.put(trainer, batch_arg_name, size)
        _collect_garbage()
        rank_zero_info(f"The search for a batch size is over; the run goes on with {size}")
    search.reload_evaluation()
    return size


class _Sizes:
    """Sets batch sizes and tries them."""

    def __init__(self, search: Search, name: str) -> None:
        self._search, self._name = search, name
        self._trainer = search.trainer

    def set(self, new: int, outcome: str = "", limit: int = _LIMIT) -> tuple[int, bool]:
        """Set a size, unless a batch holds the whole dataset already.

        Args:
            new: The size.
            outcome: What happened with the last one.
            limit: No size is larger.

        Returns:
            The size, and whether there is something to try.
        """
        old = attributes.get(self._trainer, self._name)
        loop = self._search.loop
        ask_for_data(loop)
        length = _dataset_length(loop.combined_loader)
        if length is not None and old >= length:
            rank_zero_info(f"A batch of {old} holds the whole dataset of {length}.")
            return old, False
        new = min(new, limit)
        if outcome:
            rank_zero_info(f"Batch size {old} {outcome}, trying {new}")
        attributes.put(self._trainer, self._name, new)
        return new, new != old

    @property
    def current(self) -> int:
        """The size that is set."""
        size: int = attributes.get(self._trainer, self._name)
        return size

    def fits(self) -> bool:
        """Run a trial; whether it had memory enough."""
        try:
            self._search.run()
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        else:
            return True
        _collect_garbage()  # outside of `except`, where the error still holds the frames and their tensors
        return False

    def reload(self) -> None:
        """Let the next trial have loaders of the new size."""
        self._search.renew()


def _dataset_length(combined: Any) -> int | None:
    """Return the number of samples of all loaders, by the way they are combined; ``None`` if unknown."""
    lengths = []
    for loader in combined.flattened:
        try:
            lengths.append(len(loader.dataset if hasattr(loader, "dataset") else loader))
        except (TypeError, NotImplementedError):
            continue
    if not lengths:
        return None
    if combined._mode == "sequential":
        return sum(lengths)
    return min(lengths) if combined._mode == "min_size" else max(lengths)


def _double(sizes: _Sizes, size: int, max_trials: int, max_val: int) -> int:
    """Double the size until memory runs out, and halve it then."""
    limit = max(max_val, _LIMIT)
    any_fits = False
    for trial in range(1, max_trials + 1):
        _collect_garbage()
        if size >= max_val:
            rank_zero_info(f"The batch size has reached its limit of {max_val}.")
            break
        if sizes.fits():
            if trial == max_trials:
                break
            size, changed = sizes.set(sizes.current * 2, "fits", limit)
            if not changed:
                break
            sizes.reload()
            any_fits = True
        else:
            size, _ = sizes.set(int(sizes.current * 0.5), "is too large", limit)
            sizes.reload()
            if any_fits:
                break
    return size


def _bisect(sizes: _Sizes, size: int, max_trials: int, max_val: int) -> int:
    """Double the size until memory runs out, and halve the distance to the last that fitted then."""
    low, high, fitted = 1, 0, 0
    while True:
        _collect_garbage()
        if size >= max_val:
            rank_zero_info(f"The batch size has reached its limit of {max_val}.")
            return size
        if sizes.fits():
            fitted += 1
            if fitted >= max_trials:
                return size
            low = size
            if high and high - low <= 1:
                return size
            size, changed = sizes.set((high + low) // 2 if high else sizes.current * 2, "fits", max_val)
            if not changed:
                return size
            sizes.reload()
        else:
            high = size
            size, _ = sizes.set((high + low) // 2, "is too large")
            sizes.reload()
            if high - low <= 1:
                return size

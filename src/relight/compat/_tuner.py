"""``trainer.tune`` and ``trainer.tuner``: the searches of the core with the numbers of 1.x."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from relight.callbacks import BatchSizeFinder
from relight.trainer.fit_loop import FitLoop
from relight.trainer.predict_loop import PredictionLoop
from relight.tuner import LRFinder, Tuner, attributes
from relight.tuner.batch_size import _collect_garbage, _dataset_length, _Sizes
from relight.tuner.lr import _attribute_name
from relight.tuner.search import Search, ask_for_data
from relight.utilities.exceptions import MisconfigurationException, RunEnded
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn
from relight.utilities.seed import isolate_rng

if TYPE_CHECKING:
    from relight.compat._trainer import Trainer

__all__ = ["LegacyTuner", "tune"]


class LegacyFinder(LRFinder):
    """What a range test found; the suggestion is by the index of the rate, not by the rate, as up to 1.9."""

    def suggestion(self, skip_begin: int = 10, skip_end: int = 1) -> float | None:
        """Return the rate at which the loss fell most from one step to the next, ``None`` for too few."""
        losses = [loss for loss in self.results["loss"][skip_begin:-skip_end] if math.isfinite(loss)]
        if len(losses) < 2:
            self._optimal_idx = None
            rank_zero_warn("No learning rate can be suggested: there are too few losses.")
            return None
        inner = [(after - before) / 2 for before, after in zip(losses, losses[2:], strict=False)]
        slopes = [losses[1] - losses[0], *inner, losses[-1] - losses[-2]]
        self._optimal_idx = slopes.index(min(slopes)) + skip_begin
        return self.results["lr"][self._optimal_idx]


class _LegacySizes(_Sizes):
    def set(self, new: int, outcome: str = "", limit: int = 0) -> tuple[int, bool]:
        """Set a size, at most that of the dataset; up to 1.9 there was no other limit."""
        old: int = attributes.get(self._trainer, self._name)
        loop = self._search.loop
        ask_for_data(loop)
        length = _dataset_length(loop.combined_loader)
        if outcome:
            rank_zero_info(f"Batch size {old} {outcome}, trying batch size {new}")
        if length is not None:
            new = min(new, length)
        attributes.put(self._trainer, self._name, new)
        return new, new != old


class _LegacyBatchSizeFinder(BatchSizeFinder):
    def scale_batch_size(self, trainer: Any, pl_module: Any) -> None:
        """Search as up to 1.9: without a margin, and a size that was not tried may come last."""
        if trainer.fast_dev_run:
            rank_zero_warn("`fast_dev_run` is on: no batch size is searched.")
            self.optimal_batch_size = None
            raise RunEnded
        with Search(trainer, "scale_batch_size") as search:
            if isinstance(search.loop, FitLoop):
                trainer.max_steps = self._steps_per_trial
                trainer.limit_train_batches = 1.0
                trainer.limit_val_batches = self._steps_per_trial
            elif not isinstance(search.loop, PredictionLoop):
                prefix = search.loop.stage.dataloader_prefix
                setattr(trainer, f"limit_{prefix}_batches", self._steps_per_trial)
            sizes = _LegacySizes(search, self._batch_arg_name)
            size, _ = sizes.set(self._init_val)
            sizes.reload()
            search_for = _double if self._mode == "power" else _bisect
            self.optimal_batch_size = search_for(sizes, size, self._max_trials)
            _collect_garbage()
        raise RunEnded


def _double(sizes: _Sizes, size: int, max_trials: int) -> int:
    any_fits = False
    for _ in range(max_trials):
        _collect_garbage()
        if sizes.fits():
            size, changed = sizes.set(sizes.current * 2, "succeeded")
            if not changed:
                break
            sizes.reload()
            any_fits = True
        else:
            size, _changed = sizes.set(int(sizes.current * 0.5), "failed")
            sizes.reload()
            if any_fits:
                break
    return size


def _bisect(sizes: _Sizes, size: int, max_trials: int) -> int:
    low, high, fitted = 1, 0, 0
    while True:
        _collect_garbage()
        if sizes.fits():
            fitted += 1
            if fitted > max_trials:
                return size
            low = size
            if high and high - low <= 1:
                return size
            size, changed = sizes.set((high + low) // 2 if high else sizes.current * 2, "succeeded")
            if not changed:
                return size
            sizes.reload()
        else:
            high = size
            size, _ = sizes.set((high + low) // 2, "failed")
            sizes.reload()
            if high - low <= 1:
                return size


class LegacyTuner(Tuner):
    """``trainer.tuner``: the arguments and numbers of 1.x.

    Losses of ``lr_find`` under ``accumulate_grad_batches`` are those of 2.x.
    """

    _trainer: Trainer

    @property
    def trainer(self) -> Trainer:
        """The Trainer."""
        return self._trainer

    def scale_batch_size(  # type: ignore[override]
        self,
        model: Any,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        dataloaders: Any = None,
        datamodule: Any = None,
        method: Any = "fit",
        mode: str = "power",
        steps_per_trial: int = 3,
        init_val: int = 2,
        max_trials: int = 25,
        batch_arg_name: str = "batch_size",
    ) -> int | None:
        """Search the largest batch size that fits into memory; arguments as for the core's."""
        if self._trainer.world_size > 1:
            raise MisconfigurationException("A batch size can be searched with one process only")
        finder = _LegacyBatchSizeFinder(mode, steps_per_trial, init_val, max_trials, batch_arg_name)
        self._run(finder, model, train_dataloaders, val_dataloaders, dataloaders, datamodule, method)
        return finder.optimal_batch_size

    def lr_find(
        self,
        model: Any,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        dataloaders: Any = None,
        datamodule: Any = None,
        method: Any = "fit",
        min_lr: float = 1e-8,
        max_lr: float = 1,
        num_training: int = 100,
        mode: str = "exponential",
        early_stop_threshold: float | None = 4.0,
        update_attr: bool = False,
        train_dataloader: Any = None,
    ) -> LRFinder | None:
        """Search a learning rate; arguments as for the core's, with ``train_dataloader`` as up to 1.3."""
        given = self._trainer._compat_given.get("auto_lr_find", False)
        trainer, name = self._trainer, given if isinstance(given, str) else ""
        found = super().lr_find(
            model, train_dataloader if train_dataloaders is None else train_dataloaders, val_dataloaders,
            dataloaders, datamodule, method, min_lr, max_lr, num_training, mode, early_stop_threshold, False,
        )  # fmt: skip
        if found is None:
            return None
        legacy = LegacyFinder(mode, min_lr, max_lr, num_training)
        legacy.results = found.results
        if update_attr:
            name = _attribute_name(trainer, name)
            if (rate := legacy.suggestion()) is not None:
                attributes.put(trainer, name, rate)
                rank_zero_info(f"Learning rate set to {rate}")
        return legacy


def tune(
    trainer: Trainer,
    model: Any,
    data: tuple[Any, ...],
    scale_batch_size_kwargs: dict[str, Any] | None,
    lr_find_kwargs: dict[str, Any] | None,
) -> dict[str, Any]:
    """Do what ``auto_scale_batch_size`` and ``auto_lr_find`` ask for; random states stay as they were."""
    asked, tuner = trainer._compat_translation.tuner, LegacyTuner(trainer)
    result: dict[str, Any] = {}
    with isolate_rng():
        if (options := asked.get("scale_batch_size")) is not None:
            options = {**options, **(scale_batch_size_kwargs or {})}
            result["scale_batch_size"] = tuner.scale_batch_size(model, *data, **options)
        if "lr_find" in asked:
            options = {"update_attr": True, **(lr_find_kwargs or {})}
            result["lr_find"] = tuner.lr_find(model, *data, **options)
    return result

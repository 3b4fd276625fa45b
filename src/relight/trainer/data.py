"""Where batches come from: sources, loaders, limits, samplers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
)

from relight.trainer.hooks import call_own_hook
from relight.trainer.sampler import UnrepeatedSampler
from relight.trainer.states import RunningStage, TrainerFn
from relight.utilities.combined_loader import CombinedLoader, Mode, sized_len
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import has_own, is_overridden
from relight.utilities.rank_zero import PossibleUserWarning, rank_zero_warn

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["DataSource", "combine", "make_transfer", "num_batches", "set_sampler_epoch", "sized"]


class DataSource:
    """Where a loop gets its loaders: what the user passed, or the hook of a module or data module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.instance: Any = None

    def is_module(self) -> bool:
        """Whether a hook provides the loaders."""
        from relight.datamodule import LightningDataModule
        from relight.module import LightningModule

        return isinstance(self.instance, (LightningModule, LightningDataModule))

    def is_defined(self) -> bool:
        """Whether there are loaders; a hook that is not overridden provides none."""
        return not self.is_module() or is_overridden(self.name, self.instance, _parent(self.instance))

    def request(self, trainer: Trainer) -> Any:
        """Return the loaders."""
        if not self.is_module():
            return self.instance
        return call_own_hook(trainer, self.instance, self.name)


def _parent(instance: object) -> type:
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule

    return LightningModule if isinstance(instance, LightningModule) else LightningDataModule


def combine(trainer: Trainer, source: DataSource, stage: RunningStage, mode: Mode) -> CombinedLoader:
    """Ask ``source`` for its loaders and make them ready for this process."""
    loaders = source.request(trainer)
    trainer.strategy.barrier(f"{source.name}()")
    combined = loaders if isinstance(loaders, CombinedLoader) else CombinedLoader(loaders, mode)
    fn = trainer.state.fn
    if trainer.overfit_batches > 0 and fn == TrainerFn.FITTING:
        _stop_shuffling(combined, stage)
    ready = []
    for loader in combined.flattened:
        _must_be_iterable(loader, source, fn)
        ready.append(_prepare(trainer, loader, stage))
    combined.flattened = ready
    return combined


def _must_be_iterable(loader: object, source: DataSource, fn: TrainerFn | None) -> None:
    if isinstance(loader, DataLoader):
        return  # asking it for an iterator would start its workers
    try:
        iter(loader)  # type: ignore[call-overload]
    except TypeError:
        if source.is_module():
            owner = type(source.instance).__name__
            if not is_overridden(source.name, source.instance, _parent(source.instance)):
                place = f"passed to `Trainer.{fn}`, and `{owner}` does not define `{source.name}`"
            else:
                place = f"returned by `{owner}.{source.name}()`"
        else:
            argument = "train_dataloaders" if source.name == "train_dataloader" else "dataloaders"
            place = f"passed to `Trainer.{fn}({argument}=...)`"
        raise TypeError(f"Something that is no data loader was {place}: {loader!r}") from None


def _prepare(trainer: Trainer, loader: Any, stage: RunningStage) -> Any:
    training = stage == RunningStage.TRAINING
    shuffled = _shuffles(loader)
    if shuffled and not training:
        rank_zero_warn(
            f"The {stage.dataloader_prefix} loader shuffles; better turn that off for evaluation.",
            category=PossibleUserWarning,
        )
    distribute = trainer.use_distributed_sampler
    if stage == RunningStage.PREDICTING and isinstance(loader, DataLoader):
        loader = _keep_last(loader)
        if distribute:
            loader, distribute = _share_out(trainer, loader), False
    loader = trainer._backend.setup_dataloader(
        loader,
        shuffle=(training or shuffled) and not trainer.overfit_batches,
        distribute=distribute,
    )
    if trainer.state.fn != TrainerFn.FITTING:  # the fit loop does it every epoch
        set_sampler_epoch(loader, trainer.fit_loop.epoch_progress.current.processed)
    return loader


def _shuffles(loader: Any) -> bool:
    if hasattr(loader, "loaders"):  # a combination that is not ours
        return False
    if not hasattr(loader, "sampler") or not hasattr(loader, "dataset"):
        return False
    if isinstance(loader.dataset, IterableDataset):
        return False
    sampler = getattr(getattr(loader, "batch_sampler", None), "sampler", loader.sampler)
    if isinstance(sampler, SequentialSampler):
        return False
    return isinstance(sampler, RandomSampler)


def changed_loader(loader: DataLoader[Any], **attributes: Any) -> DataLoader[Any]:
    """Return a copy of a loader with other attributes; the user's own stays as it is.

    Not made anew: nobody knows what the constructor of a subclass takes.
    """
    changed = copy.copy(loader)
    changed.__dict__.update(attributes, _iterator=None)
    return changed


def _with_sampler(loader: DataLoader[Any], sampler: Any, drop_last: bool) -> DataLoader[Any]:
    batches = loader.batch_sampler
    if batches is None:  # no batches at all
        return changed_loader(loader, sampler=sampler)
    if type(batches) is not BatchSampler:  # one of the user's own, who knows best
        return loader
    plain = loader.batch_size is not None  # else the user made the batch sampler
    attributes = {"sampler": sampler, "drop_last": drop_last} if plain else {}
    batches = BatchSampler(sampler, batches.batch_size, drop_last)
    return changed_loader(loader, batch_sampler=batches, **attributes)


def _keep_last(loader: DataLoader[Any]) -> DataLoader[Any]:
    """Predictions are wanted for all samples, so the last batch is kept even if it is small."""
    batches = loader.batch_sampler
    if isinstance(loader.dataset, IterableDataset) or not getattr(batches, "drop_last", False):
        return loader
    return _with_sampler(loader, batches.sampler, drop_last=False)  # type: ignore[union-attr]


def _share_out(trainer: Trainer, loader: DataLoader[Any]) -> DataLoader[Any]:
    """Give this process its part of the samples: each is predicted once, so some processes may have fewer."""
    kwargs = trainer.distributed_sampler_kwargs
    inner = getattr(loader.batch_sampler, "sampler", loader.sampler)
    if not kwargs or kwargs["num_replicas"] == 1 or isinstance(loader.dataset, IterableDataset):
        return loader
    if isinstance(inner, DistributedSampler):
        return loader
    return _with_sampler(loader, UnrepeatedSampler(inner, **kwargs), _drops_last(loader))


def _drops_last(loader: DataLoader[Any]) -> bool:
    return bool(getattr(loader.batch_sampler, "drop_last", False))


def _stop_shuffling(combined: CombinedLoader, stage: RunningStage) -> None:
    """Overfitting means the same batches every epoch."""
    samplers = [loader.sampler for loader in combined.flattened if hasattr(loader, "sampler")]
    if all(isinstance(sampler, SequentialSampler) for sampler in samplers):
        return
    rank_zero_warn(
        "`overfit_batches` wants the same batches every epoch: shuffling of the"
        f" {stage.dataloader_prefix} loader is turned off."
    )
    combined.flattened = [
        _with_sampler(loader, SequentialSampler(loader.dataset), _drops_last(loader))  # type: ignore[arg-type]
        if isinstance(loader, DataLoader)
        else loader
        for loader in combined.flattened
    ]


def sized(trainer: Trainer, loader: Any) -> int | float:
    """Return the number of batches of a loader, infinity if unknown.

    Raises:
        RuntimeError: If this process would get no batch while others get some.
    """
    length = sized_len(loader)
    if length is None:
        return math.inf
    total = length
    if trainer.world_size > 1:
        total = int(trainer._backend.reduce(torch.tensor(length, device=trainer._backend.device), "sum"))
    if total == 0:
        rank_zero_warn(f"`{type(loader).__name__}` has no batches in any process. Is that what you want?")
    if total > 0 and length == 0:
        owners = (trainer.lightning_module, trainer.datamodule)
        if not any(o is not None and o.allow_zero_length_dataloader_with_multiple_devices for o in owners):
            raise RuntimeError(
                f"`{type(loader).__name__}` has no batches in this process. If that is right, set"
                " `allow_zero_length_dataloader_with_multiple_devices = True` on the module or data module."
            )
    return length


def num_batches(stage: RunningStage, length: int | float, limit: int | float) -> int | float:
    """Return how many of ``length`` batches are used under ``limit``: a number (int) or a share (float).

    Raises:
        MisconfigurationException: If a share comes to no batch at all, or is asked of a loader without a
            length.
    """
    name = f"limit_{stage.dataloader_prefix}_batches"
    if length == 0:
        return 0
    if isinstance(limit, int):
        return min(length, limit)
    if length == math.inf:
        if limit != 1.0:
            raise MisconfigurationException(f"`{name}` must be 1.0 or an int for a loader without a length")
        return length
    count = int(length * limit)
    if count == 0 and limit > 0.0:
        raise MisconfigurationException(
            f"`{name}={limit}` of {length} batches is less than one; it takes at least {1.0 / length}"
        )
    return count


def set_sampler_epoch(loader: Any, epoch: int) -> None:
    """Tell the sampler(s) of a loader the epoch, from which distributed samplers derive their order."""
    sampler = getattr(loader, "sampler", None)
    inner = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    for candidate in (sampler, inner if inner is not sampler else None):
        set_epoch = getattr(candidate, "set_epoch", None)
        if callable(set_epoch):
            set_epoch(epoch)


def make_transfer(trainer: Trainer) -> Callable[[Any, int], Any] | None:
    """Return what brings a batch to the device, ``None`` if there is nothing to do or to call.

    The three transfer hooks belong to the data module if it overrides them, else to the module.
    """
    transfer = _transfer(trainer)
    if trainer._active_profiler is None:
        return transfer
    entry = f"[Strategy]{type(trainer.strategy).__name__}.batch_to_device"

    def profiled(batch: Any, dataloader_idx: int) -> Any:
        with trainer._profile(entry):
            return transfer(batch, dataloader_idx)

    return profiled


def _transfer(trainer: Trainer) -> Callable[[Any, int], Any]:
    module, datamodule, device = trainer.lightning_module, trainer.datamodule, trainer._backend.device

    hooks = {
        "on_before_batch_transfer": (),
        "transfer_batch_to_device": (device,),
        "on_after_batch_transfer": (),
    }
    owners: dict[str, Any] = {}
    for name in hooks:
        if datamodule is not None and is_overridden(name, datamodule, _parent(datamodule)):
            owners[name] = datamodule
        elif has_own(name, module, _parent(module)):
            owners[name] = module
    default = module.transfer_batch_to_device
    if not owners:
        if device.type == "cpu":
            return partial(_to_cpu, default)
        return lambda batch, index: default(batch, device, index)

    owners.setdefault("transfer_batch_to_device", module)

    def transfer(batch: Any, dataloader_idx: int) -> Any:
        for name, extra in hooks.items():
            if name in owners:
                batch = call_own_hook(trainer, owners[name], name, batch, *extra, dataloader_idx)
        return batch

    return transfer


def _to_cpu(move: Callable[..., Any], batch: Any, dataloader_idx: int) -> Any:
    """Return a batch on the CPU: as it is if it is plainly made of CPU tensors, else moved."""
    if type(batch) in (list, tuple):
        for item in batch:
            if type(item) is not Tensor or not item.is_cpu:
                break
        else:
            return batch
    elif type(batch) is Tensor and batch.is_cpu:
        return batch
    return move(batch, torch.device("cpu"), dataloader_idx)

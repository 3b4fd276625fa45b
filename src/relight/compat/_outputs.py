"""Outputs of an epoch, for the hooks that want them: ``*_epoch_end(outputs)`` and their like.

Facts of 1.9.5 that are kept: a training entry is a dict ``{"loss": …, **extras}`` whose loss is detached
and divided by the accumulation, ``hiddens`` cut out; a validation or test entry is what the step returned;
steps that returned ``None`` are missing; several loaders give a list for each. Nothing is kept for a hook
that is not overridden.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from packaging.version import Version
from torch import Tensor

from relight.compat._dicts import is_structured, log_returned
from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice, place_of
from relight.compat._steps import by_optimizer, shape_of_epoch
from relight.trainer.hooks import call_hook
from relight.utilities.exceptions import MisconfigurationException
from trainer_upgrade.catalogue import Area

__all__ = ["EpochOutputs", "megabytes"]

_DIVIDED = Version("1.5")  # the loss of an entry is divided by the accumulation since then
_BY_BATCH = Version("1.6")  # until then, outputs of several optimizers were lists of batches by optimizer


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def megabytes(value: Any) -> float:
    """Return how much memory the tensors in ``value`` hold, in MB, a shared storage counted once."""
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in _tensors(value)
    }
    return sum(storages.values()) / 2**20


class EpochOutputs:
    """Keeps the outputs of the epoch that runs, if someone takes them at its end.

    Args:
        trainer: compat's Trainer.
        training: Whether training entries are kept.
        validation: Whether outputs of validation steps are kept.
        test: Whether outputs of test steps are kept.
    """

    def __init__(self, trainer: Any, *, training: bool, validation: bool, test: bool) -> None:
        self.trainer = trainer
        self.training, self.validation, self.test = training, validation, test
        self.entries: list[Any] = []
        #: Set by a step with several optimizers or chunks: what its batch gave, chunks of optimizers.
        self.raw: list[list[Any]] | None = None
        self._batches = 0
        self._loaders: list[list[Any]] = []

    def predictions(self) -> list[Any]:
        """Return the predictions of the run, a list for each loader, as ``on_predict_epoch_end`` got them."""
        return list(self.trainer.predict_loop._predictions)

    # Training

    def epoch_started(self) -> None:
        """A training epoch begins with nothing."""
        self.entries, self._batches = [], 0

    def trained(self, outputs: Any) -> None:
        """Keep the entry of a step that did not return ``None``."""
        self._batches += 1
        if self.raw is not None:
            self.entries.append(self.raw)
        elif outputs:
            entry = {key: value for key, value in outputs.items() if key != "hiddens"}
            accumulate = self.trainer.accumulate_grad_batches
            if accumulate != 1 and "loss" in entry and self.trainer._compat_release < _DIVIDED:
                entry["loss"] = entry["loss"] * accumulate
            self.entries.append(entry)

    def shaped(self) -> list[Any]:
        """Return the entries of the epoch as the hooks got them."""
        if self.raw is None:
            return self.entries
        if self.trainer._compat_release < _BY_BATCH and len(self.trainer.optimizers) > 1:
            return by_optimizer(self.entries)
        return shape_of_epoch(self.entries)

    def training_ended(self) -> None:
        """Call the module's ``training_epoch_end``, which must return ``None``."""
        method = self._method("training_epoch_end")
        if method is None or not self._batches:
            return
        if self._give("training_epoch_end", method, self.shaped()) is not None:
            raise MisconfigurationException("`training_epoch_end` has to return None.")

    # Evaluation

    def evaluation_started(self) -> None:
        """A pass over the loaders begins: a list for each."""
        trainer = self.trainer
        if trainer.sanity_checking:
            counts = trainer.num_sanity_val_batches
        else:
            counts = trainer.num_test_batches if trainer.testing else trainer.num_val_batches
        self._loaders = [[] for _ in range(max(len(counts), 1))]

    def evaluated(self, outputs: Any, dataloader_idx: int = 0) -> None:
        """Keep what a step returned."""
        if outputs is not None:
            self._loaders[dataloader_idx].append(outputs)

    def evaluation_ended(self, stage: str) -> None:
        """Call the module's ``validation_epoch_end`` or ``test_epoch_end``."""
        loaders, self._loaders = self._loaders, []
        method = self._method(f"{stage}_epoch_end")
        if method is not None and loaders:
            self._give(f"{stage}_epoch_end", method, loaders if len(loaders) > 1 else loaders[0])

    # Calling

    def _method(self, name: str) -> Callable[..., Any] | None:
        module = self.trainer.lightning_module
        return getattr(module, name) if self.trainer._compat_overrides(name) else None

    def _give(self, name: str, method: Callable[..., Any], entries: list[Any]) -> Any:
        default = (
            f"`{name}(outputs)` left in 2.0: keep what you need in the step and read it in `on_…_epoch_end`"
        )
        advice = advice_for(Area.MODULE_HOOK, "LightningModule", name, default)
        kept = megabytes(entries)
        # Once a hook: the first epoch's figure stands for all.
        notice(
            code_for(Area.MODULE_HOOK, "LightningModule", name, "TRU200"),
            f"LightningModule.{name}",
            f"{advice}; outputs kept for it this epoch: {kept:.1f} MB" if kept >= 0.1 else advice,
            place_of(method),
        )
        module = self.trainer.lightning_module
        module.__dict__["_compat_has_logged"] = False
        if inspect.ismethod(method):
            returned = call_hook(self.trainer, method, entries)
        else:  # a function set on the instance
            returned = self._in_scope(name, method, entries)
        if not isinstance(returned, Mapping) or module.__dict__.pop("_compat_has_logged", False):
            return returned
        if is_structured(returned) or name != "training_epoch_end":
            # The form of 0.x. Nothing is left to complain about.
            self._log_returned(name, returned)
            return None
        return returned

    def _log_returned(self, name: str, returned: Mapping[str, Any]) -> None:
        self._in_scope(name, log_returned, self.trainer.lightning_module, returned, epoch=True)

    def _in_scope(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        scope = self.trainer._scope
        outer, scope.hook = scope.hook, name
        try:
            return function(*args, **kwargs)
        finally:
            scope.hook = outer

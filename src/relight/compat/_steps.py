"""Ways to optimize that 2.0 dropped: several automatic optimizers, and truncated backpropagation through
time.

As in 1.9, for each chunk of a batch and each optimizer in turn: let only its parameters require gradients,
run ``training_step(…, optimizer_idx, hiddens)``, zero the gradients at the first batch of an accumulation,
run backward and step, and give the other parameters their gradients back. An optimizer with a frequency
runs for that many batches, then the next one does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch.optim import Optimizer

from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice, place_of
from relight.trainer import optimizers as core_optimizers
from relight.trainer.step import AutomaticStep, Step
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.memory import recursive_detach
from trainer_upgrade.catalogue import Area

__all__ = [
    "LegacyStep",
    "active",
    "by_optimizer",
    "read_optimizers",
    "shape_of_batch",
    "shape_of_epoch",
    "takes",
]


def takes(function: Callable[..., Any], name: str) -> bool:
    """Return whether ``function`` has a parameter of that name or takes any number of arguments."""
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == name or p.kind is p.VAR_POSITIONAL for p in parameters)


def active(frequencies: list[int], count: int, batch_idx: int) -> list[int]:
    """Return the indices of the optimizers that run for a batch."""
    if not frequencies:
        return list(range(count))
    place = batch_idx % sum(frequencies)
    for index, frequency in enumerate(frequencies):
        if place < frequency:
            return [index]
        place -= frequency
    raise AssertionError("unreachable")


def read_optimizers(trainer: Any, returned: Any) -> tuple[list[Any], list[Any], list[int]]:
    """Return optimizers, scheduler configurations and frequencies of what ``configure_optimizers`` returned.

    Raises:
        MisconfigurationException: Some optimizers have a frequency and some do not, or ``training_step`` of
        several
            automatic optimizers takes no ``optimizer_idx``.
    """
    module = trainer.lightning_module
    frequencies: list[int] = []
    if isinstance(returned, (list, tuple)) and returned and all(isinstance(item, dict) for item in returned):
        given = [item.get("frequency") for item in returned]
        frequencies = [value for value in given if value is not None]
        if frequencies and len(frequencies) != len(returned):
            raise MisconfigurationException("A frequency must be given to each optimizer, or to none")
        # An index of an optimizer, which schedulers could have, says nothing that the scheduler itself does
        # not.
        returned = [{key: value for key, value in item.items() if key != "frequency"} for item in returned]
    optimizers, schedulers, monitor = core_optimizers._split(returned)
    automatic = module.automatic_optimization
    schedulers = [_without_index(scheduler) for scheduler in schedulers]
    make = core_optimizers._scheduler_config
    configs = [
        make(s, monitor) if automatic else core_optimizers._manual_scheduler_config(s) for s in schedulers
    ]
    core_optimizers._check_schedulers(module, optimizers, configs)
    if automatic and len(optimizers) > 1 and not takes(_own_step(module), "optimizer_idx"):
        raise MisconfigurationException(
            f"There are {len(optimizers)} optimizers, so `training_step` has to take `optimizer_idx`"
        )
    return optimizers, configs, frequencies


def _without_index(scheduler: Any) -> Any:
    if isinstance(scheduler, dict) and "opt_idx" in scheduler:
        return {key: value for key, value in scheduler.items() if key != "opt_idx"}
    return scheduler


def _own_step(module: Any) -> Callable[..., Any]:
    method: Callable[..., Any] = module.training_step
    return method


class LegacyStep(Step):
    """Runs a batch with several optimizers, in chunks, or both."""

    def __init__(self, trainer: Any, loop: Any) -> None:
        super().__init__(trainer, loop)
        module = self.module
        self.chunk: int = getattr(module, "truncated_bptt_steps", 0) or 0
        self.several = len(self.optimizers) > 1
        self.hiddens: Any = None
        function = _own_step(module)
        self.takes_index = self.several and takes(function, "optimizer_idx")
        self.order = _order_of(function)
        self._report(function)
        self.runs: list[AutomaticStep] = []
        bare = self.training_step
        for index, (optimizer, wrapped) in enumerate(
            zip(self.optimizers, trainer._lightning_optimizers, strict=True)
        ):
            run = AutomaticStep(trainer, loop)
            run.optimizer, run.lightning_optimizer = optimizer, wrapped
            run.direct = False
            run.keeps_output = True
            run.takes_batch_idx = True
            run.training_step = self._step_of(index, bare)
            self.runs.append(run)

    def _report(self, function: Callable[..., Any]) -> None:
        if self.several:
            default = "several automatic optimizers left in 2.0: optimize manually"
            code = code_for(Area.MODULE_HOOK, "LightningModule", "training_step", "TRU200")
            advice = advice_for(Area.MODULE_HOOK, "LightningModule", "training_step", default)
            notice(code, "LightningModule.training_step", advice, place_of(function))
        if self.chunk:
            name = "truncated_bptt_steps"
            default = (
                "`truncated_bptt_steps` left in 2.0: split the batch in `training_step`, optimize manually"
            )
            code = code_for(Area.MODULE_HOOK, "LightningModule", name, "TRU200")
            notice(
                code,
                f"LightningModule.{name}",
                advice_for(Area.MODULE_HOOK, "LightningModule", name, default),
                place_of(function),
            )
            if not takes(function, "hiddens"):
                raise MisconfigurationException(
                    "`training_step` has to take `hiddens` for `truncated_bptt_steps`"
                )

    def _step_of(self, index: int, bare: Callable[..., Any]) -> Callable[..., Any]:
        def step(batch: Any, batch_idx: int) -> Any:
            values: dict[str, Any] = {"batch": batch}
            if self.takes_batch_idx:
                values["batch_idx"] = batch_idx
            if self.takes_index:
                values["optimizer_idx"] = index
            if self.chunk:
                values["hiddens"] = self.hiddens
            output = bare(*self.order(values))
            return self._without_hiddens(output)

        return step

    def _without_hiddens(self, output: Any) -> Any:
        has = isinstance(output, dict) and "hiddens" in output
        if not self.chunk:
            if has:
                raise MisconfigurationException(
                    "`training_step` returned hiddens, but `truncated_bptt_steps` is 0"
                )
            return output
        if not has:
            raise MisconfigurationException(
                '`truncated_bptt_steps` wants `return {..., "hiddens": …}` in `training_step`'
            )
        self.hiddens = recursive_detach(output["hiddens"])
        return {key: value for key, value in output.items() if key != "hiddens"}

    def run(self, batch: Any, batch_idx: int) -> Any:
        """Run all chunks and optimizers; return what ``on_train_batch_end`` was given in 1.9."""
        trainer: Any = self.trainer
        module = self.module
        chunks = module.tbptt_split_batch(batch, self.chunk) if self.chunk else [batch]  # type: ignore[operator]
        entries: list[dict[int, Any]] = []
        for chunk in chunks:
            entry: dict[int, Any] = {}
            for index in active(trainer._compat_frequencies, len(self.optimizers), batch_idx):
                trainer._compat_optimizer_idx = index
                optimizer: Optimizer = self.optimizers[index]
                if self.several:
                    module.toggle_optimizer(optimizer)
                output = self.runs[index].run(chunk, batch_idx)
                if self.several:
                    module.untoggle_optimizer(optimizer)
                if output:
                    entry[index] = output
            if entry:
                entries.append(entry)
        trainer._compat_optimizer_idx = 0
        self.hiddens = None
        trainer._compat_outputs.raw = [
            [entry.get(i) for i in range(len(self.optimizers))] for entry in entries
        ]
        return shape_of_batch(trainer._compat_outputs.raw)


def _order_of(function: Callable[..., Any]) -> Callable[[dict[str, Any]], list[Any]]:
    """Return what brings named values into the order of the function's parameters.

    Where these are not called as in Lightning, the order is (batch, batch_idx, optimizer_idx, hiddens), as
    in 1.9.
    """
    parameters = [
        p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    names = [p.name for p in parameters[1:]]
    if not parameters or not set(names) <= {"batch_idx", "optimizer_idx", "hiddens"}:
        return lambda values: list(values.values())

    def order(values: dict[str, Any]) -> list[Any]:
        rest = {name: value for name, value in values.items() if name != "batch"}
        if not set(rest) <= set(names):  # the others go to `*args`
            return list(values.values())
        while names and names[-1] not in rest:
            names.pop()
        filled = {p.name: rest.get(p.name, p.default) for p in parameters[1:]}
        return [values["batch"], *(filled[name] for name in names)]

    return order


def _squeezed(nested: Any, pad: bool) -> Any:
    """Drop the axes of length 1 of a rectangular nested list, then every ``None``."""
    import numpy as np

    array = _padded(nested) if pad else np.array(nested, dtype=object)
    return _unpadded(array.squeeze().tolist())


def _padded(nested: Any) -> Any:
    import numpy as np

    def shape(value: Any) -> list[int]:
        if not isinstance(value, list):
            return []
        inner = [shape(item) for item in value]
        depth = max((len(item) for item in inner), default=0)
        return [
            len(value),
            *(max((item[i] for item in inner if len(item) > i), default=0) for i in range(depth)),
        ]

    array = np.full(shape(nested), None, dtype=object)

    def fill(value: Any, place: tuple[int, ...]) -> None:
        for index, item in enumerate(value):
            if isinstance(item, list):
                fill(item, (*place, index))
            else:
                array.__setitem__((*place, index), item)

    fill(nested, ())
    return array


def _unpadded(nested: Any) -> Any:
    if not isinstance(nested, list):
        return nested
    return [_unpadded(item) for item in nested if item is not None]


def shape_of_batch(entries: list[list[Any]]) -> Any:
    """Return the entries of a batch (chunks of optimizers) in the shape of 1.9: axes of length 1 are gone."""
    return _squeezed(entries, pad=False) if entries else []


def shape_of_epoch(batches: list[list[list[Any]]]) -> list[Any]:
    """Return the entries of an epoch (batches of chunks of optimizers) in the shape of 1.9."""
    if not batches:
        return []
    shaped = _squeezed(batches, pad=True)
    shaped = shaped if isinstance(shaped, list) else [shaped]
    return [item for item in shaped if not isinstance(item, list) or item]


def by_optimizer(batches: list[list[list[Any]]]) -> list[Any]:
    """Return the entries of an epoch in the shape of 1.5: for each optimizer a list of its batches."""
    count = max((len(chunk) for batch in batches for chunk in batch), default=0)
    shaped: list[list[Any]] = [[] for _ in range(count)]
    for batch in batches:
        for index, ran in enumerate(shaped):
            entries = [chunk[index] for chunk in batch if chunk[index] is not None]
            if entries:
                ran.append(entries if len(batch) > 1 else entries[0])
    return shaped

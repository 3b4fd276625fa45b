"""What one entry point needs to know, and defaults for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from enum import Enum
from typing import Any

from relight.trainer.messages import unknown_options
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.types import GradClipAlgorithmType

__all__ = ["UNSET", "Options", "Unset", "batch_limit", "interval_seconds", "whole_number"]


class Unset(Enum):
    """Says that an option was not given, where ``None`` has a meaning of its own."""

    UNSET = "unset"

    def __repr__(self) -> str:
        """Return the name."""
        return "UNSET"


UNSET = Unset.UNSET


@dataclass
class Options:
    """Defaults for the entry points, so that one configuration can hold everything.

    What an entry point is given itself goes before these. ``None`` (for ``check_val_every_n_epoch``:
    ``UNSET``) leaves an option as it is.

    Attributes:
        limit_train_batches: Number (int) or share (float) of the training batches of an epoch.
        limit_val_batches: The same for validation, in ``fit`` and ``validate``.
        limit_test_batches: The same for ``test``.
        limit_predict_batches: The same for ``predict``.
        overfit_batches: Train on, and validate with, this number or share of batches, unshuffled.
        val_check_interval: Validate after this number (int) or share (float) of training batches, or after a
            time: ``timedelta``, its arguments as a dict, or ``"DD:HH:MM:SS"``.
        check_val_every_n_epoch: Validate in every n-th epoch; ``None`` counts ``val_check_interval`` over
            epochs.
        num_sanity_val_steps: Validation batches to run before training; -1 for all.
        accumulate_grad_batches: Batches whose gradients make one optimizer step.
        gradient_clip_val: Largest gradient, or norm of all.
        gradient_clip_algorithm: ``"norm"`` or ``"value"``.
        log_every_n_steps: Optimizer steps between values sent to the loggers.
        reload_dataloaders_every_n_epochs: Ask for the loaders again after so many epochs; 0 for never.
        use_distributed_sampler: Whether loaders are given a sampler of their process's part.
        detect_anomaly: Look for the operation that makes a gradient NaN; slow.
        inference_mode: Evaluate in ``torch.inference_mode`` rather than ``torch.no_grad``; validation within
            ``fit`` uses ``no_grad`` unless ``fit`` itself is told otherwise.
    """

    limit_train_batches: int | float | None = None
    limit_val_batches: int | float | None = None
    limit_test_batches: int | float | None = None
    limit_predict_batches: int | float | None = None
    overfit_batches: int | float | None = None
    val_check_interval: int | float | str | timedelta | dict[str, Any] | None = None
    check_val_every_n_epoch: int | Unset | None = UNSET
    num_sanity_val_steps: int | None = None
    accumulate_grad_batches: int | None = None
    gradient_clip_val: float | None = None
    gradient_clip_algorithm: str | None = None
    log_every_n_steps: int | None = None
    reload_dataloaders_every_n_epochs: int | None = None
    use_distributed_sampler: bool | None = None
    detect_anomaly: bool | None = None
    inference_mode: bool | None = None

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all options."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def make(cls, given: Options | Mapping[str, Any] | None) -> Options:
        """Return options from a mapping.

        Raises:
            TypeError: If it has a key that is no option, or is no mapping.
        """
        if given is None:
            return cls()
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise TypeError(f"`options` is a mapping or `relight.Options`, not {type(given).__name__}")
        if unknown := sorted(set(given) - set(cls.names())):
            raise TypeError(unknown_options(unknown, cls.names()))
        return cls(**given)

    def over(self, other: Options) -> Options:
        """Return these options where set, and those of ``other`` elsewhere."""
        values = {}
        for name in self.names():
            value = getattr(self, name)
            missing = value is UNSET if name == "check_val_every_n_epoch" else value is None
            values[name] = getattr(other, name) if missing else value
        return Options(**values)


#: What Lightning 2.6 does when told nothing.
DEFAULTS = Options(
    limit_train_batches=1.0,
    limit_val_batches=1.0,
    limit_test_batches=1.0,
    limit_predict_batches=1.0,
    overfit_batches=0.0,
    val_check_interval=1.0,
    check_val_every_n_epoch=1,
    num_sanity_val_steps=2,
    accumulate_grad_batches=1,
    log_every_n_steps=50,
    reload_dataloaders_every_n_epochs=0,
    use_distributed_sampler=True,
    detect_anomaly=False,
)


def batch_limit(value: int | float, name: str) -> int | float:
    """Return a number or share of batches, as given if it makes sense.

    Raises:
        MisconfigurationException: If it does not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MisconfigurationException(
            f"`{name}` is a number (int) or share (float) of batches, not {value!r}"
        )
    if 0 <= value <= 1:
        return value
    if value > 1 and value % 1.0 == 0:
        return int(value)
    raise MisconfigurationException(
        f"`{name}={value}`: a share lies between 0.0 and 1.0, a number of batches is a positive int"
    )


def whole_number(value: Any, name: str) -> int:
    """Return a limit as an int; ``1e5``, which people write, is one.

    Raises:
        MisconfigurationException: If it is no whole number from -1 upwards.
    """
    try:
        if value == int(value) >= -1:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise MisconfigurationException(f"`{name}` is a number, or -1 for no limit; not {value!r}")


def interval_seconds(value: str | timedelta | dict[str, Any]) -> float:
    """Return a time in seconds.

    Raises:
        MisconfigurationException: If a text is not of the form ``DD:HH:MM:SS``.
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, dict):
        return timedelta(**value).total_seconds()
    try:
        days, hours, minutes, seconds = (int(part) for part in value.split(":"))
    except ValueError:
        raise MisconfigurationException(
            f"`val_check_interval={value!r}`: a time is written DD:HH:MM:SS"
        ) from None
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()


def settle(trainer: Any, given: Options) -> None:
    """Write what holds for an entry point to the trainer's attributes.

    Raises:
        MisconfigurationException: If a value makes no sense.
        TypeError: If a value is of a wrong type.
    """
    options = given.over(trainer.options)
    _check(options.over(DEFAULTS), interval=options.val_check_interval)
    options = options.over(DEFAULTS)
    for name in ("limit_train_batches", "limit_val_batches", "limit_test_batches", "limit_predict_batches"):
        setattr(trainer, name, batch_limit(getattr(options, name), name))
    overfit = batch_limit(options.overfit_batches, "overfit_batches")  # type: ignore[arg-type]
    trainer.overfit_batches = overfit
    trainer._val_check_seconds = None
    interval = options.val_check_interval
    trainer.val_check_interval = 1.0
    if isinstance(interval, (str, dict, timedelta)):
        trainer._val_check_seconds = interval_seconds(interval)
    else:
        trainer.val_check_interval = batch_limit(interval, "val_check_interval")  # type: ignore[arg-type]
    sanity = options.num_sanity_val_steps
    trainer.num_sanity_val_steps = float("inf") if sanity == -1 else sanity
    algorithm = options.gradient_clip_algorithm
    trainer.gradient_clip_val = options.gradient_clip_val
    trainer.gradient_clip_algorithm = (
        GradClipAlgorithmType(algorithm.lower()) if algorithm is not None else None
    )
    for name in (
        "check_val_every_n_epoch", "accumulate_grad_batches", "log_every_n_steps", "detect_anomaly",
        "reload_dataloaders_every_n_epochs", "use_distributed_sampler", "inference_mode",
    ):  # fmt: skip
        setattr(trainer, name, getattr(options, name))
    if trainer.fast_dev_run:
        batches = int(trainer.fast_dev_run)
        trainer.limit_train_batches = trainer.limit_val_batches = batches
        trainer.limit_test_batches = trainer.limit_predict_batches = batches
        trainer.num_sanity_val_steps = 0
        trainer.val_check_interval, trainer._val_check_seconds = 1.0, None
        trainer.check_val_every_n_epoch = 1
    if overfit > 0:
        trainer.limit_train_batches = trainer.limit_val_batches = overfit


def _check(options: Options, interval: Any) -> None:
    every = options.check_val_every_n_epoch
    if every is not None and not isinstance(every, int):
        raise MisconfigurationException(f"`check_val_every_n_epoch` should be an integer, found {every!r}")
    if every is None and isinstance(interval, float):
        raise MisconfigurationException(
            "With `check_val_every_n_epoch=None`, `val_check_interval` must be an int (batches) or a time"
        )
    reload = options.reload_dataloaders_every_n_epochs
    if not isinstance(reload, int) or reload < 0:
        raise MisconfigurationException(
            f"`reload_dataloaders_every_n_epochs` should be an int >= 0, not {reload!r}"
        )
    value, algorithm = options.gradient_clip_val, options.gradient_clip_algorithm
    if value is not None and not isinstance(value, (int, float)):
        raise TypeError(f"`gradient_clip_val` should be an int or a float, not {value!r}")
    if algorithm is not None and not GradClipAlgorithmType.supported_type(algorithm.lower()):
        raise MisconfigurationException(
            f"`gradient_clip_algorithm` is one of {GradClipAlgorithmType.supported_types()}, not"
            f" {algorithm!r}"
        )

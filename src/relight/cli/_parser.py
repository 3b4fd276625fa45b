"""The argument parser: knows Trainers, modules, optimizers and schedulers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import torch
from jsonargparse import ArgumentParser, class_from_function, register_unresolvable_import_paths
from torch.optim import Optimizer

from relight import loggers
from relight.callbacks import Callback
from relight.cli._types import LRSchedulerType, LRSchedulerTypeTuple
from relight.datamodule import LightningDataModule
from relight.module import LightningModule
from relight.trainer import Options, Trainer
from relight.trainer.messages import argument_names, unknown_arguments
from relight.utilities.exceptions import MisconfigurationException

__all__ = ["LightningArgumentParser"]

register_unresolvable_import_paths(torch)  # objects that say they live where they do not

try:
    from jsonargparse import set_parsing_settings

    set_parsing_settings(config_read_mode_fsspec_enabled=True)
except (ImportError, TypeError, ValueError):  # before 4.41
    from jsonargparse import set_config_read_mode

    set_config_read_mode(fsspec_enabled=True)

# A class that is named alone (`--trainer.logger CSVLogger`) is looked for among those that are imported.
for _name in loggers.__all__:
    getattr(loggers, _name)

_TRAINER_ARGUMENT = re.compile(r"\btrainer\.([A-Za-z_]+)\b")


class LightningArgumentParser(ArgumentParser):  # type: ignore[misc]
    """jsonargparse's parser, which also takes the classes of this library.

    Args:
        args: Arguments of ``jsonargparse.ArgumentParser``.
        description: Shown by ``--help``.
        env_prefix: Begins the names of environment variables.
        default_env: Whether these are read.
        kwargs: Arguments of ``jsonargparse.ArgumentParser``.
    """

    def __init__(
        self,
        *args: Any,
        description: str = "relight Trainer command line tool",
        env_prefix: str = "PL",
        default_env: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            *args, description=description, env_prefix=env_prefix, default_env=default_env, **kwargs
        )
        self.callback_keys: list[str] = []
        self._optimizers: dict[str, tuple[type | tuple[type, ...], str]] = {}
        self._lr_schedulers: dict[str, tuple[type | tuple[type, ...], str]] = {}

    def add_lightning_class_args(
        self,
        lightning_class: type | Callable[..., Any],
        nested_key: str,
        subclass_mode: bool = False,
        required: bool = True,
    ) -> list[str]:
        """Add the arguments of a class.

        Args:
            lightning_class: A Trainer, module, data module or callback, or a function annotated to
                return one.
            nested_key: The name before the arguments' own.
            subclass_mode: Whether a subclass may be chosen.
            required: Whether one has to be.

        Returns:
            The names that were added.

        Raises:
            MisconfigurationException: For something else.
        """
        if callable(lightning_class) and not isinstance(lightning_class, type):
            lightning_class = class_from_function(lightning_class)
        kinds = (Trainer, LightningModule, LightningDataModule, Callback)
        if not (isinstance(lightning_class, type) and issubclass(lightning_class, kinds)):
            raise MisconfigurationException(
                "The command line takes a Trainer, a module, a data module, a callback, or a function that"
                f" returns one (annotated so), not {lightning_class!r}"
            )
        if issubclass(lightning_class, Callback):
            self.callback_keys.append(nested_key)
        if subclass_mode:
            added = self.add_subclass_arguments(
                lightning_class, nested_key, fail_untyped=False, required=required
            )
        else:
            added = self.add_class_arguments(
                lightning_class,
                nested_key,
                fail_untyped=False,
                instantiate=not issubclass(lightning_class, Trainer),
                sub_configs=True,
            )
        return list(added or [])

    def add_optimizer_args(
        self,
        optimizer_class: type[Optimizer] | tuple[type[Optimizer], ...] = (Optimizer,),
        nested_key: str = "optimizer",
        link_to: str = "AUTOMATIC",
    ) -> None:
        """Add the arguments of an optimizer.

        Args:
            optimizer_class: The class, or a tuple of bases, of which a subclass is chosen.
            nested_key: The name before the arguments' own.
            link_to: The argument that gets it; ``"AUTOMATIC"`` makes it the model's only optimizer.
        """
        self._add_later(optimizer_class, Optimizer, nested_key, skip="params")
        self._optimizers[nested_key] = (optimizer_class, link_to)

    def add_lr_scheduler_args(
        self,
        lr_scheduler_class: LRSchedulerType | tuple[LRSchedulerType, ...] = LRSchedulerTypeTuple,
        nested_key: str = "lr_scheduler",
        link_to: str = "AUTOMATIC",
    ) -> None:
        """Add the arguments of a learning rate scheduler.

        Args:
            lr_scheduler_class: The class, or a tuple of bases, of which a subclass is chosen.
            nested_key: The name before the arguments' own.
            link_to: The argument that gets it; ``"AUTOMATIC"`` makes it the model's only scheduler.
        """
        self._add_later(lr_scheduler_class, LRSchedulerTypeTuple, nested_key, skip="optimizer")
        self._lr_schedulers[nested_key] = (lr_scheduler_class, link_to)

    def _add_later(self, given: Any, base: Any, nested_key: str, skip: str) -> None:
        """Add the arguments of what is made when the model is there."""
        for cls in given if isinstance(given, tuple) else (given,):
            if not (isinstance(cls, type) and issubclass(cls, base)):
                raise MisconfigurationException(f"{nested_key!r}: {cls!r} is no subclass of {base}")
        settings: dict[str, Any] = {"instantiate": False, "fail_untyped": False, "skip": {skip}}
        if isinstance(given, tuple):
            self.add_subclass_arguments(given, nested_key, **settings)
        else:
            self.add_class_arguments(given, nested_key, sub_configs=True, **settings)

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """End with an error; for arguments of the Trainer that are elsewhere or gone, say where they are."""
        known = argument_names(Trainer.__init__)
        hints = [
            where_it_is(name)
            for name in dict.fromkeys(_TRAINER_ARGUMENT.findall(message))
            if name not in known
        ]
        super().error("\n  ".join([message, *hints]), ex)
        raise AssertionError  # it does not return


def where_it_is(name: str) -> str:
    """Return one line about an argument that the Trainer does not have."""
    if name in Options.names():
        return f"`{name}` belongs to the entry points: say `trainer.options.{name}`"
    return unknown_arguments([name], argument_names(Trainer.__init__), Options.names())

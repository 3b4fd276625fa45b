"""The command line of 1.3 to 1.9: old arguments of :class:`LightningCLI`, and the Trainer's of that time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Union

from relight import cli as core
from relight.callbacks import Callback
from relight.compat import _arguments
from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice
from relight.compat._trainer import Trainer
from relight.loggers import Logger
from relight.profilers import Profiler
from trainer_upgrade.catalogue import Area

__all__ = ["LightningArgumentParser", "LightningCLI", "SaveConfigCallback"]

#: What jsonargparse is to build; the argparse helpers saw plain types only.
_TYPES: dict[str, Any] = {
    "callbacks": list[Callback] | Callback | None,
    "checkpoint_callback": bool | Callback | None,
    "logger": bool | Logger | list[Logger] | None,
    "profiler": Profiler | str | None,
    "deterministic": bool | str | None,
    "precision": int | str,
}
_SAVE = {"save_config_filename": "config_filename", "save_config_overwrite": "overwrite"}
_SAVE["save_config_multifile"] = "multifile"
_PARSER = {"description": "description", "env_prefix": "env_prefix", "env_parse": "default_env"}
_ORDER_1_5 = (
    "save_config_filename", "save_config_overwrite", "save_config_multifile", "trainer_class",
    "trainer_defaults", "seed_everything_default", "description", "env_prefix", "env_parse", "parser_kwargs",
    "subclass_mode_model", "subclass_mode_data", "run",
)  # fmt: skip
_ORDER_1_9 = (
    "save_config_kwargs", "trainer_class", "trainer_defaults", "seed_everything_default", "parser_kwargs",
    "subclass_mode_model", "subclass_mode_data", "args", "run", "auto_configure_optimizers",
)  # fmt: skip


def _tell(owner: str, name: str) -> None:
    notice(
        code_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, "TRU600"),
        f"{owner}({name}=…)",
        advice_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, f"`{owner}({name}=…)` left"),
    )


def _type_of(name: str, argument: _arguments.Argument) -> Any:
    if name in _TYPES:
        return _TYPES[name]
    kinds: list[Any] = [
        list[int] if kind is list and str in argument.types else kind for kind in argument.types
    ]
    kinds = [kind for kind in kinds if kind is not object] or [Any]
    if argument.default is None and type(None) not in kinds and Any not in kinds:
        kinds.append(type(None))
    return Union[tuple(kinds)]  # noqa: UP007


@functools.cache  # jsonargparse wants the same function for each subcommand
def _as_function(cls: Any) -> Callable[..., Any]:
    """Return a function that makes a Trainer, with every argument that a release took in its signature."""

    def trainer(**kwargs: Any) -> Any:
        return cls(**kwargs)

    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=argument.default,
            annotation=_type_of(name, argument),
        )
        for name, argument in _arguments.ARGUMENTS.items()
    ]
    trainer.__signature__ = inspect.Signature(parameters, return_annotation=cls)  # type: ignore[attr-defined]
    trainer.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": cls}
    trainer.__doc__ = cls.__doc__
    trainer.__qualname__ = f"{cls.__module__}.{cls.__qualname__}"  # jsonargparse keeps one function a name
    return trainer


class LightningArgumentParser(core.LightningArgumentParser):
    """See :class:`relight.cli.LightningArgumentParser`; knows the Trainer's arguments of all releases."""

    def __init__(self, *args: Any, parse_as_dict: bool | None = None, **kwargs: Any) -> None:
        if parse_as_dict is not None:
            _tell("LightningArgumentParser", "parse_as_dict")
        super().__init__(*args, **kwargs)

    def add_lightning_class_args(
        self, lightning_class: Any, nested_key: str, *args: Any, **kwargs: Any
    ) -> Any:
        """Add the arguments of a class."""
        if isinstance(lightning_class, type) and issubclass(lightning_class, Trainer):
            own: Any = lightning_class
            lightning_class = _as_function(own)
        return super().add_lightning_class_args(lightning_class, nested_key, *args, **kwargs)


class SaveConfigCallback(core.SaveConfigCallback):
    """See :class:`relight.cli.SaveConfigCallback`."""


class LightningCLI(core.LightningCLI):
    """See :class:`relight.cli.LightningCLI`; takes the arguments of 1.3 to 1.9 as well.

    Before 1.5 a program had no subcommands and trained at once: say ``main.py fit …``, or ``run=False`` and
    ``cli.trainer.fit(cli.model)``.
    """

    def __init__(
        self,
        model_class: Any = None,
        datamodule_class: Any = None,
        save_config_callback: Any = SaveConfigCallback,
        *positional: Any,
        **arguments: Any,
    ) -> None:
        order = _ORDER_1_5 if positional and isinstance(positional[0], str) else _ORDER_1_9
        if len(positional) > len(order):
            raise TypeError(f"LightningCLI takes at most {len(order) + 3} positional arguments")
        arguments = {**dict(zip(order, positional, strict=False)), **arguments}
        for renamed, into in ((_SAVE, "save_config_kwargs"), (_PARSER, "parser_kwargs")):
            for name, modern in renamed.items():
                if name in arguments:
                    _tell("LightningCLI", name)
                    inner = dict(arguments.get(into) or {})
                    inner.setdefault(modern, arguments.pop(name))
                    arguments[into] = inner
        if arguments.pop("auto_registry", None) is not None:
            _tell("LightningCLI", "auto_registry")
        if "seed_everything_default" in arguments and arguments["seed_everything_default"] is None:
            _tell("LightningCLI", "seed_everything_default")
            arguments["seed_everything_default"] = False
        arguments.setdefault("trainer_class", Trainer)
        arguments.setdefault("parser_class", LightningArgumentParser)
        super().__init__(model_class, datamodule_class, save_config_callback, **arguments)

    def instantiate_trainer(self, **kwargs: Any) -> Any:
        """Make the Trainer; what is at its default counts as not given."""
        token = _arguments.FILLED_IN.set(True)
        try:
            return super().instantiate_trainer(**kwargs)
        finally:
            _arguments.FILLED_IN.reset(token)

"""Classes and arguments that make objects."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from jsonargparse import ArgumentParser, Namespace

from relight.core.hparams import given_hyperparameters

if TYPE_CHECKING:
    from relight.cli._cli import LightningCLI

__all__ = [
    "WITH_NONE",
    "HyperparameterInstantiator",
    "as_class_path",
    "instantiate",
    "instantiate_class",
    "instantiate_module",
]

T = TypeVar("T")


_BEFORE_4_49 = not hasattr(ArgumentParser, "instantiate")
#: Arguments of ``parser.dump`` and ``parser.save`` that write values that are ``None``, too.
WITH_NONE = {"skip_none": False} if _BEFORE_4_49 else {"skip_unset": False}


def instantiate(parser: Any, config: Any, instantiators: Sequence[tuple[Any, Any, bool]] = ()) -> Any:
    """Return the configuration with objects in place of classes and arguments.

    Args:
        parser: The parser that made the configuration.
        config: The configuration.
        instantiators: What makes objects of a class, with the class, and whether also those of subclasses.
    """
    if _BEFORE_4_49:
        for function, cls, subclasses in instantiators:
            parser.add_instantiator(function, cls, subclasses=subclasses)
        return parser.instantiate_classes(config)
    return parser.instantiate(config, instantiators=list(instantiators))


def as_class_path(cls: type, init_args: Any = None) -> dict[str, Any]:
    """Return a class and arguments as a configuration writes them."""
    if isinstance(init_args, Namespace):
        init_args = init_args.as_dict()
    return {"class_path": f"{cls.__module__}.{cls.__name__}", "init_args": init_args or {}}


def instantiate_class(args: Any | tuple[Any, ...], init: dict[str, Any]) -> Any:
    """Make an object of ``{"class_path": "package.Class", "init_args": {…}}``.

    Args:
        args: A tuple of positional arguments that go before, or one such argument.
        init: Class and arguments.
    """
    module, _, name = init["class_path"].rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    positional = args if isinstance(args, tuple) else (args,)
    return cls(*positional, **init.get("init_args", {}))


def instantiate_module(class_type: Callable[..., T] | type[T], config: dict[str, Any]) -> T:
    """Make a module or data module of the arguments that :class:`LightningCLI` kept as hyperparameters.

    Nested classes are made, too; ``load_from_checkpoint`` asks for it.

    Args:
        class_type: The class, or a base of that named by ``_class_path`` in ``config``.
        config: The arguments.
    """
    parser = ArgumentParser(exit_on_error=False)
    if "_class_path" in config:
        parser.add_subclass_arguments(class_type, "module", fail_untyped=False)
        arguments = {name: value for name, value in config.items() if name != "_class_path"}
        config = {"class_path": config["_class_path"], "dict_kwargs": arguments}
    else:
        parser.add_class_arguments(class_type, "module", fail_untyped=False)
    made: T = instantiate(parser, parser.parse_object({"module": config})).module
    return made


class HyperparameterInstantiator:
    """Makes the model or the data module so that it keeps the arguments as they were written.

    What ``__init__`` receives may hold objects, which no checkpoint can keep; ``save_hyperparameters`` gets
    the configuration instead.

    Args:
        cli: The command line.
        key: ``"model"`` or ``"data"``.
    """

    def __init__(self, cli: LightningCLI, key: str) -> None:
        self._cli, self._key = cli, key

    def __call__(
        self,
        class_type: Callable[..., T],
        *args: Any,
        applied_instantiation_links: dict[str, Any],
        **kwargs: Any,
    ) -> T:
        """Make one."""
        hparams = self._cli._dumped().get(self._key) or {}
        if "class_path" in hparams:  # the same form, whether a subclass could be chosen or not
            hparams = {
                "_class_path": hparams["class_path"],
                **hparams.get("init_args", {}),
                **hparams.get("dict_kwargs", {}),
            }
        for target, value in applied_instantiation_links.items():
            if target.startswith(f"{self._key}."):
                _set(hparams, target[len(self._key) + 1 :].removeprefix("init_args."), value)
        with given_hyperparameters(class_type, hparams):
            return class_type(*args, **kwargs)


def _set(data: dict[str, Any], key: str, value: Any) -> None:
    *outer, last = key.split(".")
    for name in outer:
        data = data[name]
    data[last] = value

"""Hyperparameters: what a class was built with, kept for checkpoints and loggers."""

from __future__ import annotations

import copy
import inspect
import sys
import types
from argparse import Namespace
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from typing import Any

from torch import nn

from relight.utilities.rank_zero import rank_zero_warn

__all__ = ["INSTANTIATORS", "AttributeDict", "HyperparametersMixin", "given_hyperparameters", "is_omegaconf"]

#: What a checkpoint calls the function that makes its module of nested hyperparameters: Lightning's names, so
# that files go both ways, and relight's own.
INSTANTIATORS = (
    "lightning.pytorch.cli.instantiate_module",
    "pytorch_lightning.cli.instantiate_module",
    "relight.cli.instantiate_module",
)
_given: ContextVar[tuple[Any, dict[str, Any]] | None] = ContextVar("given_hyperparameters", default=None)


@contextmanager
def given_hyperparameters(cls: Any, hparams: Mapping[str, Any]) -> Iterator[None]:
    """Within ``with``, let an object of ``cls`` save these hyperparameters instead of its arguments."""
    token = _given.set((cls, {**hparams, "_instantiator": INSTANTIATORS[0]}))
    try:
        yield
    finally:
        _given.reset(token)


class AttributeDict(dict[str, Any]):
    """A dict whose items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        """Return an item."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"Missing attribute {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an item."""
        self[name] = value

    def __delattr__(self, name: str) -> None:
        """Remove an item."""
        del self[name]

    def __repr__(self) -> str:
        """Return the items sorted, one a line."""
        width = max((len(str(name)) for name in self), default=0) + 3
        quoted = {f'"{name}":': self[name] for name in sorted(self)}
        return "\n".join(f"{name:<{width}} {value}" for name, value in quoted.items())


def _is_for(cls: Any, instance: object) -> bool:
    # jsonargparse makes a class of a function, which then makes an object of a base.
    return not isinstance(cls, type) or isinstance(instance, cls) or issubclass(cls, type(instance))


def is_omegaconf(value: Any) -> bool:
    """Return whether ``value`` is a ``DictConfig``; never imports OmegaConf."""
    omegaconf = sys.modules.get("omegaconf")
    return omegaconf is not None and isinstance(value, omegaconf.DictConfig)


class HyperparametersMixin:
    """Gives a class ``save_hyperparameters`` and ``hparams``."""

    def __init__(self) -> None:
        super().__init__()
        self._log_hyperparams = False

    def save_hyperparameters(
        self,
        *args: Any,
        ignore: Sequence[str] | str | None = None,
        frame: types.FrameType | None = None,
        logger: bool = True,
    ) -> None:
        """Keep the arguments of ``__init__`` (of this class and the bases it called) in ``hparams``.

        Args:
            args: Names of the arguments to keep, or one dict or ``Namespace`` to keep instead.
            ignore: Names to leave out, also of what a base class saved before.
            frame: The frame of the ``__init__``; the caller's unless given.
            logger: Whether loggers are to be told.
        """
        self._log_hyperparams = logger
        if len(args) == 1 and not isinstance(args[0], str) and not args[0]:
            return  # an empty collection
        instance: Any = self
        configured = _given.get()
        if configured is not None and not _is_for(configured[0], self):
            configured = None  # another object, made within that one's `__init__`
        if configured is not None:
            given = dict(configured[1])
        elif is_dataclass(instance):
            given = {f.name: getattr(instance, f.name) for f in fields(instance) if f.init}
        else:
            current = frame or inspect.currentframe().f_back  # type: ignore[union-attr]
            given = {}
            for arguments in _init_arguments(current, self):  # a derived class comes after its bases
                given.update(arguments)
        ignored = (
            {ignore} if isinstance(ignore, str) else {name for name in ignore or () if isinstance(name, str)}
        )
        given = {name: value for name, value in given.items() if name not in ignored}

        collections = [arg for arg in args if not isinstance(arg, str)]
        self._hparams_name: str | None
        if not args:
            hparams: Any = given
            self._hparams_name = "kwargs" if given else None
        elif len(collections) == 1:
            hparams = collections[0]
            self._hparams_name = next(
                (name for name, value in given.items() if value is hparams or value == hparams), None
            )
        else:
            hparams = {name: given[name] for name in args if isinstance(name, str)}
            self._hparams_name = "kwargs"
        self._set_hparams(hparams)
        self.remove_ignored_hparams(sorted(ignored))
        for name, value in self._hparams.items():
            if isinstance(value, nn.Module):
                rank_zero_warn(
                    f"The hyperparameter {name!r} is a module, whose weights are in the checkpoint anyway."
                    f" Leave it out: `self.save_hyperparameters(ignore=[{name!r}])`."
                )
        self._hparams_initial = copy.deepcopy(self._hparams)

    def _set_hparams(self, hparams: MutableMapping[str, Any] | Namespace) -> None:
        converted = self._to_hparams_dict(hparams)
        if isinstance(converted, dict) and isinstance(self.hparams, dict):
            self.hparams.update(converted)
        else:
            self._hparams = converted

    def remove_ignored_hparams(self, ignore_list: Sequence[str]) -> None:
        """Drop what a base class saved under these names."""
        for name in ignore_list:
            self._hparams.pop(name, None)

    @staticmethod
    def _to_hparams_dict(hparams: Any) -> Any:
        if isinstance(hparams, Namespace):
            hparams = vars(hparams)
        if isinstance(hparams, dict):
            return AttributeDict(hparams)
        if not isinstance(hparams, MutableMapping):
            raise ValueError(f"Hyperparameters must be a dict or a Namespace, not {type(hparams).__name__}.")
        return hparams

    @property
    def hparams(self) -> Any:
        """The hyperparameters; may be changed."""
        if not hasattr(self, "_hparams"):
            self._hparams = AttributeDict()
        return self._hparams

    @property
    def hparams_initial(self) -> AttributeDict:
        """A copy of the hyperparameters as they were saved."""
        initial: Any = getattr(self, "_hparams_initial", AttributeDict())
        return copy.deepcopy(initial)  # type: ignore[no-any-return]


def _init_arguments(frame: types.FrameType | None, instance: object) -> Iterator[dict[str, Any]]:
    """Yield the arguments of each ``__init__`` of ``instance`` on the stack, innermost (base class) first."""
    constructors = {}
    for cls in type(instance).__mro__:
        if "__init__" in cls.__dict__ and hasattr(
            init := inspect.unwrap(cls.__dict__["__init__"]), "__code__"
        ):
            constructors[init.__code__] = cls
    while frame is not None:
        names, local = frame.f_code.co_varnames[:1], frame.f_locals
        # Only frames of this very object: one that builds another must not lend it its arguments.
        if names and local.get(names[0]) is instance:
            found = constructors.get(frame.f_code)
            if found is None and frame.f_code.co_name == "__init__":  # behind a decorator that hides it
                found = local.get("__class__")
            if found is not None:
                yield _arguments(frame, found)
        frame = frame.f_back


def _arguments(frame: types.FrameType, cls: type) -> dict[str, Any]:
    local = inspect.getargvalues(frame).locals
    arguments: dict[str, Any] = {}
    parameters = list(inspect.signature(cls.__init__).parameters.values())  # type: ignore[misc]
    for parameter in parameters[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments.update(local.get(parameter.name, {}))
        elif parameter.kind is not parameter.VAR_POSITIONAL and parameter.name in local:
            arguments[parameter.name] = local[parameter.name]
    return arguments

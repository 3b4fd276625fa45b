"""The working state of one translation: what is left to translate, and what has been decided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.catalogue.translation.names import LEGACY_ONLY
from trainer_upgrade.catalogue.translation.types import ArgumentFinding, CallbackRef, Instance

__all__ = ["MISSING", "Draft", "class_names", "is_a", "release_of", "show"]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Any = _Missing()
"""Stands for an argument that was not given."""

_FORMER_NAMES = {"num_nodes": "nb_gpu_nodes", "default_root_dir": "default_save_path"}
_PLAIN = (bool, int, float, str, bytes, type(None))


def release_of(version: str) -> tuple[int, int]:
    """Return the major and minor number of a release, ``(1, 9)`` for ``"1.9.5"`` or ``">=1.9,<2"``.

    Raises:
        ValueError: There is no number in ``version``.
    """
    match = re.search(r"(\d+)(?:\.(\d+))?", str(version))
    if match is None:
        raise ValueError(f"not a release of Lightning: {version!r}")
    return int(match[1]), int(match[2] or 0)


def class_names(value: object) -> frozenset[str]:
    """Return the names of an object's classes, bases included; of a stand-in, the name it carries."""
    if isinstance(value, (CallbackRef, Instance)):
        return frozenset({value.name})
    return frozenset(each.__name__ for each in type(value).__mro__)


def is_a(value: object, *names: str) -> bool:
    """Whether an object is of a class of one of these names, wherever that class lives."""
    return not class_names(value).isdisjoint(names)


def show(value: object) -> str:
    """Write a value for a message: one line, short, and never the ``repr`` of a foreign object."""
    if isinstance(value, Instance):
        return f"{value.name}(...)"
    if (isinstance(value, (list, tuple)) and all(isinstance(each, _PLAIN) for each in value)) or (
        isinstance(value, dict) and all(isinstance(part, _PLAIN) for item in value.items() for part in item)
    ):
        text = repr(value)
    elif isinstance(value, _PLAIN):
        text = f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)
    else:
        text = f"{type(value).__name__}(...)"
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def _plain(value: Any) -> Any:
    """Return lists of OmegaConf, in which Hydra hands over devices, as lists."""
    return list(value) if type(value).__name__ == "ListConfig" else value


class Draft:
    """What the rules read and write while they translate one set of arguments.

    Args:
        legacy: The arguments as they were written.
        target: Where they lead.
        release: Major and minor number of the release they were written for.
        defaults: Whether defaults that changed are written out.

    Attributes:
        rest: Arguments that no rule has taken yet.
        modern: Arguments in the names of Lightning 2.6.
        origin: From which legacy argument a modern one comes, where the names differ.
        is_legacy: Something in the arguments is not of the 2.x dialect, so what is ambiguous is legacy too.
    """

    def __init__(
        self, legacy: Mapping[str, Any], *, target: Target, release: tuple[int, int], defaults: bool
    ) -> None:
        self.legacy = {name: _plain(value) for name, value in legacy.items()}
        self.rest = dict(self.legacy)
        self.target = target
        self.release = release
        self.defaults = defaults
        self.modern: dict[str, Any] = {}
        self.origin: dict[str, str] = {}
        self.callbacks: list[CallbackRef] = []
        self.plugins: list[CallbackRef] = []
        self.fit: dict[str, Any] = {}
        self.module: dict[str, Any] = {}
        self.datamodule: dict[str, Any] = {}
        self.torch: dict[str, Any] = {}
        self.tuner: dict[str, dict[str, Any]] = {}
        self.logger: dict[str, Any] = {}
        self.adapters: dict[str, Any] = {}
        self.findings: list[ArgumentFinding] = []
        self.errors: list[ArgumentFinding] = []
        self.is_legacy = _has_legacy_evidence(legacy)

    # -- reading ----------------------------------------------------------------------------------------

    def take(self, name: str) -> Any:
        """Remove a legacy argument and return it; ``MISSING`` if it was not given."""
        return self.rest.pop(name, MISSING)

    def given(self, name: str) -> bool:
        """Whether the caller wrote this argument."""
        return name in self.legacy

    def callback_list(self) -> list[Any]:
        """The callbacks that the caller passed, as a list."""
        value = self.modern.get("callbacks", self.legacy.get("callbacks"))
        if value is None:
            return []
        return list(value) if isinstance(value, (list, tuple, set)) else [value]

    def has_callback(self, *names: str) -> bool:
        """Whether a callback of such a class was passed or is to be added."""
        return any(is_a(each, *names) for each in [*self.callback_list(), *self.callbacks])

    # -- writing ----------------------------------------------------------------------------------------

    def put(self, name: str, value: Any, origin: str | None = None) -> None:
        """Give a modern argument its value."""
        self.modern[name] = value
        if origin is not None and origin != name:
            self.origin[name] = origin
        else:
            self.origin.pop(name, None)

    def append_callback(self, value: Any) -> None:
        """Add an instance to the ``callbacks`` that are passed on."""
        self.modern["callbacks"] = [*self.callback_list(), value]

    def add_callback(self, name: str, argument: str, **arguments: Any) -> None:
        """Add a callback by the name of its class."""
        self.callbacks.append(CallbackRef(name, arguments, argument))

    def say(
        self,
        argument: str,
        message: str,
        applicability: Applicability = Applicability.SAFE,
        *,
        silent: bool = False,
    ) -> None:
        """Report what became of an argument, unless it is in error already."""
        if argument in self.errors_of():
            return
        self.findings.append(ArgumentFinding(code_of(argument), argument, message, applicability, silent))

    def errors_of(self) -> set[str]:
        """The arguments in error."""
        return {each.argument for each in self.errors}

    def default(self, argument: str, value: Any) -> None:
        """Report an argument that asked for what happens anyway."""
        self.say(argument, f"`{argument}={show(value)}` changes nothing; drop it")

    def refuse(self, argument: str, message: str) -> None:
        """Report an argument that the old release refused too, or that has no translation.

        What was said of it before, or made of it, is taken back.
        """
        self.findings = [each for each in self.findings if each.argument != argument]
        self.callbacks = [each for each in self.callbacks if each.argument != argument]
        if argument in self.errors_of():
            return
        self.errors.append(ArgumentFinding(code_of(argument), argument, message, Applicability.MANUAL))


def code_of(argument: str) -> str:
    """Return the catalogue's code of a Trainer argument.

    One that never changed shares that of its former name; an unknown one has that of unknown keywords.
    """
    from trainer_upgrade import catalogue

    entry = catalogue.trainer_argument(argument) or catalogue.trainer_argument(
        _FORMER_NAMES.get(argument, "kwargs")
    )
    assert entry is not None
    return entry.code


def _has_legacy_evidence(arguments: Mapping[str, Any]) -> bool:
    """Whether some argument or value cannot come from code written for 2.x."""
    from trainer_upgrade.catalogue.translation.strategy import BACKENDS, LEGACY_STRATEGIES

    if any(name in LEGACY_ONLY for name in arguments):
        return True
    nothing: Iterable[str] = ("accelerator", "devices", "strategy", "max_steps", "accumulate_grad_batches")
    if any(name in arguments and arguments[name] is None for name in nothing):
        return True
    if isinstance(arguments.get("accumulate_grad_batches"), dict) or isinstance(
        arguments.get("profiler"), bool
    ):
        return True
    strategy, accelerator = arguments.get("strategy"), arguments.get("accelerator")
    return (isinstance(strategy, str) and strategy.lower() in LEGACY_STRATEGIES) or (
        isinstance(accelerator, str) and accelerator.lower() in BACKENDS
    )

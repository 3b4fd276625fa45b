"""The argparse helpers that 2.0 dropped: options from a signature, and instances from parsed arguments.

What 1.9 did: one option for each argument whose annotation holds a plain type, the type guessed from it
(``int | float``: a dot makes a float; switches take yes, no, true, 0 … or stand alone; ``gpus`` keeps "0,1"
as text), and ``from_argparse_args`` takes from the namespace what the class accepts; keywords win.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from relight.compat import _arguments

__all__ = [
    "add_argparse_args",
    "from_argparse_args",
    "get_init_arguments_and_types",
    "parse_argparser",
    "parse_env_variables",
]

T = TypeVar("T")
_PLAIN = (str, int, float, bool)
_IGNORED = ("self", "args", "kwargs")


def _switch(text: str) -> bool:
    lowered = str(text).lower()
    if lowered in {"y", "yes", "t", "true", "on", "1"}:
        return True
    if lowered in {"n", "no", "f", "false", "off", "0"}:
        return False
    raise ValueError(f"invalid truth value {text!r}")


def _switch_or_int(text: str) -> bool | int | str:
    try:
        return _switch(text) if text not in {"0", "1"} else bool(int(text))
    except ValueError:
        try:
            return int(text)
        except ValueError:
            return text


def _switch_or_text(text: str) -> bool | str:
    try:
        return _switch(text)
    except ValueError:
        return text


def _devices(text: str) -> int | str:
    return text if "," in text else int(text)


def _number(text: str) -> int | float:
    return float(text) if "." in str(text) else int(text)


def _precision(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


_BY_NAME: dict[str, Callable[[str], Any]] = {
    "gpus": _devices,
    "tpu_cores": _devices,
    "precision": _precision,
    "track_grad_norm": float,
}


def _types_of(annotation: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return tuple({type(value) for value in typing.get_args(annotation)})
    if origin in (typing.Union, types.UnionType):
        parts = typing.get_args(annotation)
        literals = [part for part in parts if typing.get_origin(part) is typing.Literal]
        if literals:
            return tuple({type(value) for part in literals for value in typing.get_args(part)})
        return parts
    return typing.get_args(annotation) or (annotation,)


def get_init_arguments_and_types(cls: Any) -> list[tuple[str, tuple[Any, ...], Any]]:
    """Return name, types and default of every argument of ``cls``."""
    found = []
    hints: dict[str, Any] = {}
    try:  # annotations may be text (`from __future__ import annotations`)
        hints = typing.get_type_hints(cls.__init__ if isinstance(cls, type) else cls)  # type: ignore[misc]
    except (NameError, TypeError, AttributeError):
        hints = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if name in _arguments.ARGUMENTS and _is_trainer(cls):
            kinds: tuple[Any, ...] = _arguments.ARGUMENTS[name].types
        else:
            kinds = _types_of(hints.get(name, parameter.annotation))
        found.append((name, kinds, parameter.default))
    return found


def _is_trainer(cls: Any) -> bool:
    from relight.trainer import Trainer

    return isinstance(cls, type) and issubclass(cls, Trainer)


def _option_type(name: str, kinds: tuple[type, ...]) -> Callable[[str], Any]:
    if name in _BY_NAME:
        return _BY_NAME[name]
    if set(kinds) == {int, float}:
        return _number
    if bool in kinds:
        if len(kinds) == 1:
            return _switch
        if int in kinds:
            return _switch_or_int
        if str in kinds:
            return _switch_or_text
        return next(kind for kind in kinds if kind is not bool)
    return kinds[0]


def add_argparse_args(
    cls: Any, parent_parser: argparse.ArgumentParser, *, use_argument_group: bool = True
) -> argparse.ArgumentParser:
    """Add an option for every argument of ``cls`` that has a plain type.

    A Trainer gets the options of every release; those that only older ones had give way to an option of the
    same name that the script defines itself.

    Raises:
        RuntimeError: ``parent_parser`` is not a parser.
    """
    if isinstance(parent_parser, argparse._ArgumentGroup):
        raise RuntimeError("Please only pass an `ArgumentParser` instance.")
    parser: Any
    if use_argument_group:
        parser = parent_parser.add_argument_group(f"pl.{cls.__name__}")
        result: Any = parent_parser
    else:
        parser = result = argparse.ArgumentParser(parents=[parent_parser], add_help=False)
    trainer = _is_trainer(cls)
    for name, types_, default in get_init_arguments_and_types(cls):
        kinds = tuple(kind for kind in _PLAIN if kind in types_)
        if name in _IGNORED or not kinds:
            continue
        option = f"--{name}"
        if trainer and name not in _arguments.IN_1_9:
            if option in result._option_string_actions:
                continue
            result.conflict_handler = parser.conflict_handler = "resolve"
        more: dict[str, Any] = {"nargs": "?", "const": True} if bool in kinds else {}
        required = default is inspect.Parameter.empty
        parser.add_argument(
            option,
            dest=name,
            default=None if required else default,
            type=_option_type(name, kinds),
            required=required,
            **more,
        )
    return result  # type: ignore[no-any-return]


def parse_argparser(cls: Any, arg_parser: argparse.ArgumentParser | argparse.Namespace) -> argparse.Namespace:
    """Return parsed arguments; a switch of ``cls`` that stands alone counts as true."""
    parsed = arg_parser.parse_args() if isinstance(arg_parser, argparse.ArgumentParser) else arg_parser
    known = {name: (kinds, default) for name, kinds, default in get_init_arguments_and_types(cls)}
    values = {}
    for name, value in vars(parsed).items():
        if value is None and name in known:
            kinds, default = known[name]
            if bool in kinds and isinstance(default, bool):
                value = True
        values[name] = value
    return argparse.Namespace(**values)


def from_argparse_args(cls: type[T], args: argparse.ArgumentParser | argparse.Namespace, **kwargs: Any) -> T:
    """Build ``cls`` from what it accepts of ``args``; keywords win.

    For a Trainer, values that are the default count as not given: the parser filled them in, nobody wrote
    them.
    """
    if isinstance(args, argparse.ArgumentParser):
        args = parse_argparser(cls, args)
    given = vars(args)
    accepted = inspect.signature(cls.__init__).parameters
    taken = {name: given[name] for name in accepted if name in given}
    taken.update(kwargs)
    token = _arguments.FILLED_IN.set(_is_trainer(cls))
    try:
        return cls(**taken)
    finally:
        _arguments.FILLED_IN.reset(token)


def parse_env_variables(cls: Any, template: str = "PL_%(cls_name)s_%(cls_argument)s") -> argparse.Namespace:
    """Return the arguments of ``cls`` that environment variables (``PL_TRAINER_MAX_EPOCHS``) give."""
    values: dict[str, Any] = {}
    for name, _, _ in get_init_arguments_and_types(cls):
        text = os.environ.get(template % {"cls_name": cls.__name__.upper(), "cls_argument": name.upper()})
        if not text:
            continue
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            values[name] = text
    return argparse.Namespace(**values)

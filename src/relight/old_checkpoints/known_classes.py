"""What old files hold beside plain data, and how it is read without running code from the file.

torch's safe loader refuses every class it does not know. The classes that Lightning, ``argparse``,
``pathlib`` and OmegaConf left in files of their time are given to it as plain ones of our own, which hold
what was saved and can do nothing; afterwards they become dicts, paths and texts. Any other class needs trust:
the error names it.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["Untrusted", "stand_ins", "to_plain"]

_LIGHTNING = (
    "pytorch_lightning.",
    "lightning.pytorch.",
    "lightning.fabric.",
    "lightning_fabric.",
    "lightning_lite.",
)


class Untrusted(Exception):
    """A file holds objects of classes that nobody vouches for.

    Attributes:
        names: The classes' full names.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


class StandIn:
    """Takes the place of a class of the file: holds what was saved, does nothing."""

    path = ""
    known = False

    def __new__(cls, *args: Any, **kwargs: Any) -> StandIn:
        made = super().__new__(cls)
        made.__dict__.update(args=args, kwargs=kwargs, state={})
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.__dict__["state"] = state


def _path(*parts: str) -> pathlib.Path:
    return pathlib.Path(*map(str, parts))


def _value(value: Any) -> Any:
    return value


@functools.cache
def _stand_in(name: str, known: bool) -> type[StandIn]:
    return type(name.rpartition(".")[2], (StandIn,), {"path": name, "known": known})


def _real(name: str) -> Any:
    """Return a harmless class or function of this name, ``None`` for any other."""
    if name.endswith(".AttributeDict") and name.startswith(_LIGHTNING):
        return dict  # torch fills nothing else
    if name.startswith(_LIGHTNING) and (".enums." in name or ".states." in name):
        return _value  # an enum: its text
    if name in {f"pathlib.{kind}" for kind in _PATHS} | {f"pathlib._local.{kind}" for kind in _PATHS}:
        return _path
    if name.startswith(("numpy.", "_codecs.")):
        return _numpy(name)
    return _HARMLESS.get(name)


_PATHS = ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
_HARMLESS: dict[str, Any] = {
    "argparse.Namespace": argparse.Namespace,
    **{f"datetime.{kind}": getattr(datetime, kind) for kind in ("date", "datetime", "time", "timedelta")},
    **{f"builtins.{kind.__name__}": kind for kind in (set, frozenset, complex, range, slice, bytearray)},
    **{f"builtins.{kind.__name__}": kind for kind in (dict, list, tuple, int, float, bool, str, bytes)},
}


def _numpy(name: str) -> Any:
    """Return what NumPy needs to read its own scalars and arrays."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if name == "_codecs.encode":
        import codecs

        return codecs.encode
    core = numpy._core if hasattr(numpy, "_core") else numpy.core
    known = {
        "core.multiarray.scalar": core.multiarray.scalar,
        "core.multiarray._reconstruct": core.multiarray._reconstruct,
        "dtype": numpy.dtype,
        "ndarray": numpy.ndarray,
    }
    short = name.removeprefix("numpy.").replace("_core.", "core.")
    if short.startswith("dtypes."):
        return getattr(numpy.dtypes, short.removeprefix("dtypes."), None)
    return known.get(short)


def stand_ins(names: list[str]) -> list[Any]:
    """Return what torch's safe loader is to use for the classes of these names."""
    result = []
    for given in names:
        name = given if "." in given else f"builtins.{given}"  # so torch calls what is built in
        real = _real(name)
        if real is None:
            lightning = name.startswith(_LIGHTNING) and (".callbacks." in name or "_gpus_arg_default" in name)
            known = lightning or name.startswith("omegaconf.") or name == "typing.Any"
            real = _stand_in(name, known)
        result.append((real, name))
    return result


def to_plain(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Return what was loaded with stand-ins as plain data.

    Callbacks' classes, which were the keys of their states before 1.5, become their names.

    Raises:
        Untrusted: If objects of unknown classes are in it.
    """
    unknown: dict[str, None] = {}
    states = checkpoint.get("callbacks") if isinstance(checkpoint, dict) else None
    if isinstance(states, dict):
        checkpoint["callbacks"] = {_name(key): state for key, state in states.items()}
    plain = _plain(checkpoint, unknown)
    if unknown:
        raise Untrusted(list(unknown))
    return plain  # type: ignore[no-any-return]


def _name(key: Any) -> Any:
    return key.__name__ if isinstance(key, type) and issubclass(key, StandIn) else key


def _plain(data: Any, unknown: dict[str, None]) -> Any:
    if isinstance(data, torch.Tensor):
        return data
    if isinstance(data, StandIn):
        return _object(data, unknown)
    if isinstance(data, type) and issubclass(data, StandIn):
        if not data.known:
            unknown[data.path] = None
        return None  # a function or class of Lightning's own: a default that nobody chose
    if isinstance(data, argparse.Namespace):
        return argparse.Namespace(**{key: _plain(value, unknown) for key, value in vars(data).items()})
    if isinstance(data, dict):
        items = {_plain(key, unknown): _plain(value, unknown) for key, value in data.items()}
        if type(data) is dict:
            return items
        data.clear()
        data.update(items)  # an OrderedDict with what hangs on it
        return data
    if type(data) in (list, tuple, set, frozenset):
        return type(data)(_plain(item, unknown) for item in data)
    return data


def _object(data: StandIn, unknown: dict[str, None]) -> Any:
    if not data.known:
        unknown[data.path] = None
        return None
    state = data.__dict__["state"]
    if not data.path.startswith("omegaconf.") or not isinstance(state, dict):
        return None
    return _omegaconf(data, state, unknown)


def _omegaconf(data: StandIn, state: dict[str, Any], unknown: dict[str, None]) -> Any:
    """Return OmegaConf's containers as its own if it is here, else as dicts and lists."""
    content = _content(data, state, unknown)
    if data.path.rpartition(".")[2] not in ("DictConfig", "ListConfig"):
        return content
    try:
        from omegaconf import OmegaConf
    except ImportError:
        return content
    return OmegaConf.create(content) if isinstance(content, (dict, list)) else content


def _content(node: Any, state: dict[str, Any], unknown: dict[str, None]) -> Any:
    if "_val" in state:
        return _plain(state["_val"], unknown)
    content = state.get("_content")
    if isinstance(content, dict):
        return dict(_children(content.items(), unknown))
    if isinstance(content, list):
        return [value for _, value in _children(enumerate(content), unknown)]
    return content  # None, or an interpolation


def _children(items: Any, unknown: dict[str, None]) -> Iterator[tuple[Any, Any]]:
    for key, child in items:
        if isinstance(child, StandIn) and child.known and isinstance(child.__dict__["state"], dict):
            yield key, _content(child, child.__dict__["state"], unknown)
        else:
            yield key, _plain(child, unknown)

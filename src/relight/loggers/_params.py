"""Hyperparameters and metrics in the forms that tracking services take."""

from __future__ import annotations

import inspect
import json
from argparse import Namespace
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, is_dataclass
from typing import Any

__all__ = ["flat", "json_ready", "named_callables", "prefixed"]


def prefixed(metrics: Mapping[str, Any], prefix: str, separator: str) -> dict[str, Any]:
    """Return the metrics with ``prefix`` and ``separator`` before each name, if there is a prefix."""
    return (
        {f"{prefix}{separator}{name}": value for name, value in metrics.items()} if prefix else dict(metrics)
    )


def flat(params: Mapping[Any, Any], parent: str = "") -> dict[str, Any]:
    """Return nested dicts, namespaces, data classes and lists of dicts as one dict of ``outer/inner`` names.

    >>> flat({"a": {"b": 1}, "c": [{"d": 2}, {"d": 3}], "e": [4, 5]})
    {'a/b': 1, 'c/0/d': 2, 'c/1/d': 3, 'e': [4, 5]}
    """
    result: dict[str, Any] = {}
    for key, value in params.items():
        name = f"{parent}/{key}" if parent else str(key)
        if is_dataclass(value) and not isinstance(value, type):
            value = asdict(value)
        elif isinstance(value, Namespace):
            value = vars(value)
        elif isinstance(value, list) and all(isinstance(item, MutableMapping) for item in value):
            value = dict(enumerate(value))  # an empty list leaves nothing, as in Lightning
        if isinstance(value, MutableMapping):
            result.update(flat(value, name))
        else:
            result[name] = value
    return result


def named_callables(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with classes and functions replaced by what says most of them.

    A class becomes its name; another callable what it returns when it is called without arguments, its name
    if that fails or gives a callable again (as in Lightning, which has so served lazily computed values).
    """
    return {name: _named(value) for name, value in params.items()}


def _named(value: Any) -> Any:
    if inspect.isclass(value):
        return value.__name__
    if not callable(value):
        return value
    try:
        result = value()
    except Exception:
        return getattr(value, "__name__", None)
    return getattr(value, "__name__", None) if callable(result) else result


def json_ready(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with what JSON cannot hold as text."""
    return {name: value if _is_json(value) else str(value) for name, value in params.items()}


def _is_json(value: Any) -> bool:
    if value is None or isinstance(value, (bool, int, float, str, list, dict)):
        return True  # the services convert what is inside
    try:
        json.dumps(value)
    except (TypeError, OverflowError, ValueError):
        return False
    return True

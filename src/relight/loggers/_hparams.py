"""Hyperparameters as a YAML file."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from enum import Enum
from typing import Any

from relight.callbacks._files import filesystem
from relight.utilities.rank_zero import rank_zero_warn


def as_dict(params: Mapping[str, Any] | Namespace | None) -> dict[str, Any]:
    """Return hyperparameters, however they are given, as a new dict."""
    if params is None:
        return {}
    return dict(vars(params)) if isinstance(params, Namespace) else dict(params)


def yaml_module() -> Any:
    """Return PyYAML, or the fork of it that libcst brings on Python 3.13."""
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ModuleNotFoundError:
        import yaml_ft as yaml  # type: ignore[import-not-found,no-redef,unused-ignore]
    return yaml


def write_hparams(path: str, params: Mapping[str, Any]) -> None:
    """Write ``params`` to ``path`` as Lightning does: sorted by name, enum members by their names.

    A value that YAML cannot hold is left out with a warning.
    """
    yaml = yaml_module()
    kept: dict[str, Any] = {}
    for name, value in params.items():
        plain = value.name if isinstance(value, Enum) else value
        try:
            yaml.dump(plain)
        except (TypeError, ValueError):
            rank_zero_warn(f"Skipping '{name}' parameter because it is not possible to safely dump to YAML.")
        else:
            kept[name] = plain
    with filesystem(os.path.dirname(path)).open(path, "w", newline="") as file:
        yaml.dump(kept, file)

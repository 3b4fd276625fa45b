"""Norms of gradients, and ways to clip them."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import Module

from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.types import GradClipAlgorithmType

__all__ = ["clip_algorithm", "grad_norm"]


def grad_norm(module: Module, norm_type: float | int | str, group_separator: str = "/") -> dict[str, float]:
    """Return the norm of every parameter's gradient and of all together.

    Args:
        module: Parameters without a gradient are left out.
        norm_type: The ``p`` of the p-norm, ``"inf"`` for the largest.
        group_separator: What stands between the prefix and the parameter's name.

    Returns:
        ``{"grad_{p}_norm/{name}": norm, ..., "grad_{p}_norm_total": norm}``; empty without any gradient.

    Raises:
        ValueError: If ``norm_type`` is not positive.
    """
    norm_type = float(norm_type)
    if norm_type <= 0:
        raise ValueError(f"`norm_type` must be positive or 'inf', not {norm_type}")
    norms: dict[str, Any] = {}
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            norms[f"grad_{norm_type}_norm{group_separator}{name}"] = parameter.grad.detach().norm(norm_type)
    if norms:
        norms[f"grad_{norm_type}_norm_total"] = torch.tensor(list(norms.values())).norm(norm_type)
    return norms


def clip_algorithm(value: Any, algorithm: Any) -> GradClipAlgorithmType:
    """Return how to clip: what was asked for, by the norm if nothing was.

    Raises:
        TypeError: If ``value`` is no number.
        MisconfigurationException: If there is no such algorithm.
    """
    if not isinstance(value, (int, float)):
        raise TypeError(f"`gradient_clip_val` should be an int or a float, not {value!r}")
    name = str(getattr(algorithm, "value", algorithm) or "norm").lower()
    if not GradClipAlgorithmType.supported_type(name):
        raise MisconfigurationException(
            f"`gradient_clip_algorithm` must be one of {GradClipAlgorithmType.supported_types()},"
            f" not {name!r}"
        )
    return GradClipAlgorithmType(name)

"""Modules that were given to ``torch.compile``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relight.utilities.overrides import is_overridden

if TYPE_CHECKING:
    from relight.module import LightningModule

__all__ = ["from_compiled", "to_uncompiled"]

_METHODS = ("forward", "training_step", "validation_step", "test_step", "predict_step")
_KEPT = "_methods_before_compile"


def _is_compiled(model: Any) -> bool:
    return hasattr(model, "_orig_mod") and hasattr(model, "dynamo_ctx")


def _original(model: Any) -> LightningModule:
    from relight.module import LightningModule

    module = model._orig_mod if _is_compiled(model) else model
    if not isinstance(module, LightningModule):
        raise TypeError(f"`model` must be a `relight.LightningModule`, not a `{type(module).__name__}`")
    return module


def from_compiled(model: Any) -> LightningModule:
    """Return the module in what ``torch.compile(module)`` returned, its steps and ``forward`` compiled.

    ``torch.compile`` wraps a module in an object that is none; the Trainer calls this for whom it is given
    one. Steps that the module does not define stay as they are.

    Raises:
        ValueError: If ``model`` is no compiled module.
        TypeError: If what was compiled is no ``LightningModule``.
    """
    from relight.module import LightningModule

    if not _is_compiled(model):
        raise ValueError(f"`model` must be what `torch.compile` returned, not a `{type(model).__name__}`")
    module = to_uncompiled(_original(model))
    kept: dict[str, Any] = {}
    for name in _METHODS:
        if name == "forward" or is_overridden(name, module, LightningModule):
            kept[name] = module.__dict__.get(name)
            module.__dict__[name] = model.dynamo_ctx(getattr(module, name))
    module.__dict__[_KEPT] = kept
    return module


def to_uncompiled(model: Any) -> LightningModule:
    """Return the module with the steps and the ``forward`` that it had before it was compiled.

    Takes what ``torch.compile`` or :func:`from_compiled` returned; a module that was never compiled comes
    back as it is.

    Raises:
        TypeError: If there is no ``LightningModule`` in ``model``.
    """
    module = _original(model)
    for name, method in module.__dict__.pop(_KEPT, {}).items():
        if method is None:
            module.__dict__.pop(name, None)
        else:
            module.__dict__[name] = method
    return module

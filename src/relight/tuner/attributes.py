"""Where a hyperparameter lives: in the module, the data module, or the ``hparams`` of either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["get", "has", "put"]


def _holders(trainer: Trainer, name: str) -> list[Any]:
    """Return what has the attribute (an object, or ``hparams``), in the order of Lightning 2.6."""
    found: list[Any] = []
    for owner in (trainer.lightning_module, trainer.datamodule):
        if owner is None:
            continue
        if hasattr(owner, name):
            found.append(owner)
        hparams = getattr(owner, "hparams", None)
        if hparams is not None and name in hparams:
            found.append(hparams)
    return found


def has(trainer: Trainer, name: str) -> bool:
    """Whether anything has the attribute."""
    return bool(_holders(trainer, name))


def get(trainer: Trainer, name: str) -> Any:
    """Return the value; of several holders the last one counts.

    Raises:
        AttributeError: If nothing has it.
    """
    holder = _found(trainer, name)[-1]
    return holder[name] if isinstance(holder, dict) else getattr(holder, name)


def put(trainer: Trainer, name: str, value: Any) -> None:
    """Set the value in all holders.

    Raises:
        AttributeError: If nothing has it.
    """
    for holder in _found(trainer, name):
        if isinstance(holder, dict):
            holder[name] = value
        else:
            setattr(holder, name, value)


def _found(trainer: Trainer, name: str) -> list[Any]:
    if not (holders := _holders(trainer, name)):
        raise AttributeError(f"Neither the module nor the data module, nor their `hparams`, have {name!r}")
    return holders

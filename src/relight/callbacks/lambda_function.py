"""A callback made of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relight.callbacks.callback import Callback

_NOT_HOOKS = {"state_dict", "load_state_dict", "state_key"}


class LambdaCallback(Callback):
    """A callback whose hooks are given as functions.

    ``LambdaCallback(on_train_end=lambda trainer, module: print("done"))``

    Args:
        **hooks: by name of a hook of :class:`Callback` a function with the hook's arguments; None is skipped.

    Raises:
        TypeError: for a name that is not a hook's.
    """

    def __init__(self, **hooks: Callable[..., Any] | None) -> None:
        for name, function in hooks.items():
            if name in _NOT_HOOKS or name.startswith("_") or not callable(getattr(Callback, name, None)):
                raise TypeError(f"`LambdaCallback` got {name!r}, which is not a hook of `Callback`")
            if function is not None:
                setattr(self, name, function)

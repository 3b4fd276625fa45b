"""``TrainResult`` and ``EvalResult`` of 0.8 to 1.1: what a step returned instead of a dictionary.

A step makes one, logs into it and returns it. Here its values are logged with ``self.log`` when the step is
over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from relight.compat._facts import on_lightning
from relight.compat._notices import notice

__all__ = ["EvalResult", "Result", "TrainResult", "log_result"]

_OPTIONS = ("prog_bar", "logger", "on_step", "on_epoch", "reduce_fx", "sync_dist", "sync_dist_group")


class Result(dict[str, Any]):
    """What a step found: values to log, and tensors kept as attributes.

    Args:
        minimize: The loss, with its graph.
        early_stop_on: What ``EarlyStopping()`` watches, logged as ``early_stop_on``.
        checkpoint_on: What ``ModelCheckpoint()`` watches, logged as ``checkpoint_on``.
        hiddens: For truncated backpropagation.
    """

    _on_step = False
    _on_epoch = True

    def __init__(
        self,
        minimize: Tensor | None = None,
        early_stop_on: Tensor | None = None,
        checkpoint_on: Tensor | bool | None = None,
        hiddens: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        fact = on_lightning(f"pytorch_lightning.core.step_result.{name}")
        code = fact.code if fact is not None and fact.code else "TRU321"
        notice(code, name, f"`{name}` left in 1.2: log with `self.log` and return the loss")
        self.__dict__["logged"] = {}
        self.__dict__["minimize"] = minimize
        self.__dict__["hiddens"] = hiddens
        if checkpoint_on is True:  # 0.9: the loss itself
            checkpoint_on = minimize
        for key, value in (("early_stop_on", early_stop_on), ("checkpoint_on", checkpoint_on)):
            if isinstance(value, Tensor):
                self.logged[key] = (value.detach(), {"logger": False, "on_step": False, "on_epoch": True})

    logged: dict[str, tuple[Any, dict[str, Any]]]
    minimize: Tensor | None
    hiddens: Any

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the {type(self).__name__} has no {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("minimize", "hiddens"):
            self.__dict__[name] = value
        else:
            self[name] = value

    def log(
        self,
        name: str,
        value: Any,
        prog_bar: bool = False,
        logger: bool = True,
        on_step: bool | None = None,
        on_epoch: bool | None = None,
        reduce_fx: Any = "mean",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Log a value; training values belong to the step by default, others to the epoch."""
        options = {
            "prog_bar": prog_bar,
            "logger": logger,
            "on_step": self._on_step if on_step is None else on_step,
            "on_epoch": self._on_epoch if on_epoch is None else on_epoch,
            "reduce_fx": reduce_fx,
            **{key: given for key, given in kwargs.items() if key in _OPTIONS},
        }
        self.logged[name] = (value.detach() if isinstance(value, Tensor) else value, options)
        self[name] = value

    def log_dict(self, dictionary: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        """Log several values."""
        for name, value in dictionary.items():
            self.log(name, value, *args, **kwargs)


class TrainResult(Result):
    """What a training step returned."""

    _on_step = True
    _on_epoch = False


class EvalResult(Result):
    """What a validation or test step returned."""

    def __init__(
        self,
        early_stop_on: Tensor | None = None,
        checkpoint_on: Tensor | None = None,
        hiddens: Any = None,
    ) -> None:
        super().__init__(None, early_stop_on, checkpoint_on, hiddens)


def log_result(module: Any, result: Result) -> dict[str, Any]:
    """Log what a result holds and return it in the form that a step returns today."""
    for name, (value, options) in result.logged.items():
        module.log(name, value, **options)
    kept: dict[str, Any] = dict(result)
    if result.minimize is not None:
        kept["loss"] = result.minimize
    if result.hiddens is not None:
        kept["hiddens"] = result.hiddens
    return kept

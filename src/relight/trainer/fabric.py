"""Making a Fabric of what the Trainer was told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from relight.trainer.messages import legacy_value_hint
from relight.utilities.exceptions import MisconfigurationException

if TYPE_CHECKING:
    from lightning_fabric import Fabric

__all__ = ["make_fabric"]

_START = {None: "popen", "_spawn": "spawn", "_fork": "fork", "_notebook": "fork"}


def make_fabric(**arguments: Any) -> Fabric:
    """Return a Fabric.

    Raises:
        MisconfigurationException: If this machine lacks what is asked for, or the strategy is no use here.
        ImportError: If a strategy or precision needs a package that is not there, naming it.
        ValueError: For a name or number that nobody knows.
    """
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.dp import DataParallelStrategy
    from lightning_fabric.strategies.model_parallel import ModelParallelStrategy
    from lightning_fabric.strategies.single_device import SingleDeviceStrategy

    alone = arguments["strategy"] == "single_device"  # a name that Lightning has and Fabric has not
    arguments["strategy"] = "auto" if alone else _ddp_by_name(arguments["strategy"])
    try:
        fabric = Fabric(**arguments)
    except (RuntimeError, ValueError) as error:  # it speaks of itself, where the user wrote `Trainer(…)`
        text = str(error).replace("`Fabric", "`Trainer")
        for argument in ("strategy", "accelerator"):
            text += legacy_value_hint(argument, arguments[argument])
        kind = MisconfigurationException if type(error) is RuntimeError else type(error)
        raise kind(text) from error
    if arguments["strategy"] == "dp" or isinstance(fabric.strategy, DataParallelStrategy):
        raise ValueError("A Trainer has no `strategy='dp'`" + legacy_value_hint("strategy", "dp"))
    if alone and not isinstance(fabric.strategy, SingleDeviceStrategy):
        raise MisconfigurationException(
            f"`strategy='single_device'` with `devices={arguments['devices']!r}`: several"
        )
    if isinstance(fabric.strategy, ModelParallelStrategy):
        raise MisconfigurationException(
            "`ModelParallelStrategy` is not supported: its function would have to cut the module into pieces"
            " before the Trainer has it. Use `FSDPStrategy` or `DeepSpeedStrategy`"
        )
    return fabric


def _ddp_by_name(strategy: Any) -> Any:
    """Return the strategy of names such as ``ddp_spawn_find_unused_parameters_false``, which Fabric lacks."""
    match = re.fullmatch(r"ddp(_[a-z]+?)?_find_unused_parameters_(true|false)", str(strategy))
    if match is None or match[1] not in _START:
        return strategy
    from lightning_fabric.strategies.ddp import DDPStrategy

    return DDPStrategy(start_method=_START[match[1]], find_unused_parameters=match[2] == "true")  # type: ignore[arg-type]

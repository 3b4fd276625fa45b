"""Modules whose weights lie in pieces in several processes (FSDP): to whole states and back.

Files hold whole weights and optimizer states, in the form of a run without sharding, so that any strategy
goes on from them. All processes have to call these functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.optim import Optimizer

from relight.utilities.exceptions import MisconfigurationException

if TYPE_CHECKING:
    from relight.trainer.backend import Backend

__all__ = [
    "checkpoint_io",
    "is_sharded",
    "load_model_state",
    "load_optimizer_state",
    "model_state",
    "optimizer_state",
]


def is_sharded(backend: Backend) -> bool:
    """Whether the module at hand is in pieces."""
    return backend.sharded is not None


def checkpoint_io(backend: Backend) -> Any:
    """Return what writes files: the strategy's plugin, or torch where whole states are written.

    Raises:
        MisconfigurationException: If the strategy has a format of its own that is not known here (DeepSpeed).
    """
    if is_sharded(backend):
        from lightning_fabric.plugins.io.torch_io import TorchCheckpointIO

        return TorchCheckpointIO()
    try:
        return backend.strategy.checkpoint_io
    except NotImplementedError:
        raise MisconfigurationException(
            f"Checkpoints under `{type(backend.strategy).__name__}` are not supported yet: pass"
            " `enable_checkpointing=False` and save with the strategy's own `save_checkpoint`"
        ) from None


def _wrapped(backend: Backend) -> Any:
    return backend.sharded._forward_module


def _options(backend: Backend) -> Any:
    from torch.distributed.checkpoint.state_dict import StateDictOptions

    # On a CPU moving there would hand out memory that FSDP frees.
    return StateDictOptions(full_state_dict=True, cpu_offload=backend.device.type != "cpu")


def model_state(backend: Backend) -> dict[str, Any]:
    """Return the whole weights, maybe in the first process only."""
    from torch.distributed.checkpoint.state_dict import get_model_state_dict

    return get_model_state_dict(_wrapped(backend), options=_options(backend))


def load_model_state(backend: Backend, state: dict[str, Any]) -> None:
    """Give each process its pieces of whole weights."""
    from torch.distributed.checkpoint.state_dict import set_model_state_dict

    set_model_state_dict(_wrapped(backend), dict(state), options=_options(backend))


def _plain(optimizer: Any) -> Optimizer:
    while not isinstance(optimizer, Optimizer) or hasattr(optimizer, "optimizer"):
        optimizer = optimizer.optimizer
    return optimizer


def optimizer_state(backend: Backend, optimizer: Any) -> dict[str, Any]:
    """Return the whole state of an optimizer, maybe in the first process only.

    It has the numbers that torch gives to parameters.
    """
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

    named: Any = get_optimizer_state_dict(_wrapped(backend), _plain(optimizer), options=_options(backend))
    if not named:
        return {}
    numbers: dict[str, int] = {}
    groups = []
    for group in named["param_groups"]:
        for name in group["params"]:
            numbers.setdefault(name, len(numbers))
        groups.append({**group, "params": [numbers[name] for name in group["params"]]})
    return {
        "state": {numbers[name]: value for name, value in named["state"].items()},
        "param_groups": groups,
    }


def load_optimizer_state(backend: Backend, optimizer: Any, state: dict[str, Any]) -> None:
    """Give each process its pieces of an optimizer's whole state."""
    from torch.distributed.checkpoint.state_dict import set_optimizer_state_dict

    own = _plain(optimizer)
    parameters: Any = dict(_wrapped(backend).named_parameters())
    names = {id(p): name.replace("_fsdp_wrapped_module.", "") for name, p in parameters.items()}
    of_number = [names[id(p)] for group in own.param_groups for p in group["params"]]
    named: dict[str, Any] = {
        "state": {of_number[number]: dict(value) for number, value in state["state"].items()},
        "param_groups": [
            {**group, "params": [of_number[number] for number in group["params"]]}
            for group in state["param_groups"]
        ],
    }
    set_optimizer_state_dict(_wrapped(backend), own, named, options=_options(backend))

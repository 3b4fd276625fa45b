"""Names of strategies: what became of each, and what the same name means today.

Sources: the strategy registries and ``DistributedType`` of 1.5.10, 1.9.5 and 2.6.6; Fabric's registry.
"""

from __future__ import annotations

from dataclasses import dataclass

from trainer_upgrade.catalogue.entry import Applicability, Target

__all__ = [
    "BACKENDS",
    "LEGACY_STRATEGIES",
    "NewName",
    "for_relight",
    "keeps_looking",
    "looks_for_unused",
    "renamed",
]


@dataclass(frozen=True)
class NewName:
    """What takes the place of a strategy's name; ``name`` is None where nothing does."""

    name: str | None
    applicability: Applicability
    why: str


_FAIRSCALE = NewName(
    "fsdp",
    Applicability.UNSAFE,
    "FairScale's sharding is gone; PyTorch's FSDP wraps, shards and saves in another way",
)
_PROCESS_PER_DEVICE = NewName(
    None,
    Applicability.MANUAL,
    "DataParallel is gone; with `ddp` every device runs the script and batch_size counts per process",
)


def _gone(what: str) -> NewName:
    return NewName(None, Applicability.MANUAL, f"{what}; choose ddp, fsdp or deepspeed")


LEGACY_STRATEGIES: dict[str, NewName] = {
    "dp": _PROCESS_PER_DEVICE,
    "ddp2": _PROCESS_PER_DEVICE,
    "ddp_sharded": _FAIRSCALE,
    "ddp_sharded_spawn": _FAIRSCALE,
    "ddp_sharded_find_unused_parameters_false": _FAIRSCALE,
    "ddp_sharded_spawn_find_unused_parameters_false": _FAIRSCALE,
    "ddp_fully_sharded": _FAIRSCALE,
    "fsdp_native": NewName("fsdp", Applicability.SAFE, "PyTorch's FSDP took the plain name"),
    "fsdp_native_full_shard_offload": NewName(
        "fsdp_cpu_offload", Applicability.SAFE, "PyTorch's FSDP took the plain name"
    ),
    "tpu_spawn": NewName("xla", Applicability.SAFE, "it was renamed"),
    "tpu_spawn_debug": NewName("xla_debug", Applicability.SAFE, "it was renamed"),
    "single_tpu": NewName("single_xla", Applicability.SAFE, "it was renamed"),
    "horovod": _gone("Horovod support left in 2.0"),
    "bagua": _gone("Bagua support left in 2.0"),
    "hivemind": _gone("Hivemind support left in 2.0"),
    "collaborative": _gone("Hivemind support left in 2.0"),
    "colossalai": _gone("ColossalAI support left in 2.0"),
    "hpu_parallel": _gone("HPU support left in 2.1"),
    "hpu_single": _gone("HPU support left in 2.1"),
    "ipu_strategy": _gone("IPU support left in 2.1"),
}
"""Names that 2.6 does not know, or knows as a deprecated alias only."""

BACKENDS: frozenset[str] = frozenset(
    [
        "dp",
        "ddp",
        "ddp2",
        "ddp_spawn",
        "ddp_cpu",
        "horovod",
        "ddp_sharded",
        "ddp_sharded_spawn",
        "ddp_fully_sharded",
        "deepspeed",
        "tpu_spawn",
    ]
)
"""Strategies that ``distributed_backend`` and, from 1.0 to 1.6, ``accelerator`` took."""

# The DDP family looked for unused parameters by default until 2.0; these are the names that still do.
_FIND_UNUSED = {
    name: f"{name}_find_unused_parameters_true" for name in ("ddp", "ddp_spawn", "ddp_fork", "ddp_notebook")
}

# Names of Lightning's registry that Fabric does not have, and whether they look for unused parameters.
_FABRIC: dict[str, tuple[str, bool | None]] = {
    "ddp_find_unused_parameters_false": ("ddp", False),
    "ddp_spawn_find_unused_parameters_false": ("ddp_spawn", False),
    "ddp_fork_find_unused_parameters_false": ("ddp_fork", False),
    "ddp_notebook_find_unused_parameters_false": ("ddp_notebook", False),
    "ddp_spawn_find_unused_parameters_true": ("ddp_spawn", True),
    "ddp_fork_find_unused_parameters_true": ("ddp_fork", True),
    "ddp_notebook_find_unused_parameters_true": ("ddp_notebook", True),
    "xla_debug": ("xla", None),
}


def renamed(name: str) -> NewName | None:
    """Return what took the place of a strategy's name; None for a name that still stands."""
    return LEGACY_STRATEGIES.get(name.lower())


def looks_for_unused(name: object) -> bool:
    """Whether 1.x looked for unused parameters under this strategy name, and 2.x does not."""
    return isinstance(name, str) and name in _FIND_UNUSED


def for_relight(name: str) -> tuple[str, bool | None]:
    """Return Fabric's name of a strategy, and what that name cannot say of unused parameters."""
    return _FABRIC.get(name, (name, None))


def keeps_looking(name: str, target: Target) -> tuple[str, bool]:
    """Return the name on ``target`` of a DDP strategy that looks for unused parameters as 1.x did.

    The flag tells that the name alone cannot say it: Fabric has it for ``ddp`` only.
    """
    full = _FIND_UNUSED[name]
    if target is Target.LIGHTNING or name == "ddp":
        return full, False
    return name, True

"""Which devices a release chose when several arguments asked for some.

There were two ways. Until 1.5 each kind of hardware had an argument and GPUs won; ``accelerator`` and
``devices`` came on top in 1.4. From 1.6 on the old arguments were folded into ``accelerator`` and
``devices``, and the first of ``num_processes``, ``gpus``, ``ipus``, ``tpu_cores`` that was not empty won.

Sources: the accelerator connectors of 1.5.10 and 1.9.5 (read side by side with 1.4.9, 1.6.5 and 1.7.7).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trainer_upgrade.catalogue.translation.device_requests import (
    count,
    cpu_problem,
    gpu_problem,
    is_none,
    legacy_gpus,
    no_gpus,
    tpu_problem,
)
from trainer_upgrade.catalogue.translation.draft import MISSING, show

__all__ = ["FOLDED_SINCE", "GPU_NAMES", "Chosen", "Refused", "Request", "choose"]

FOLDED_SINCE = (1, 6)
GPU_NAMES = ("gpu", "cuda", "mps")
_EMPTY: tuple[Any, ...] = ([], 0, "0")


class Refused(Exception):
    """The old release raised an error.

    Args:
        argument: The argument that was wrong.
        why: What was wrong with it.
    """

    def __init__(self, argument: str, why: str) -> None:
        super().__init__(why)
        self.argument = argument
        self.why = why


@dataclass
class Request:
    """All arguments about devices; ``MISSING`` where one was not given.

    ``backend`` is a strategy's name given as ``accelerator`` or ``distributed_backend``; ``is_legacy`` tells
    that ``devices`` is 1.x's too.
    """

    release: tuple[int, int]
    gpus: Any = MISSING
    num_processes: Any = MISSING
    tpu_cores: Any = MISSING
    ipus: Any = MISSING
    devices: Any = MISSING
    accelerator: Any = MISSING
    backend: str | None = None
    num_nodes: Any = MISSING
    auto_select: bool = False
    strategy: Any = MISSING
    is_legacy: bool = True


@dataclass
class Chosen:
    """What the release chose, in today's words, but with TPU cores still counted from 1.

    Attributes:
        accelerator: ``"cpu"``, ``"gpu"``, ``"tpu"``, what was given, or ``MISSING`` when left open.
        devices: A value for ``devices``; ``MISSING`` for all that there are (one process on the CPU).
        decided_by: The argument that decided; empty when none was given.
        lost: Arguments that had no say, with the reason.
        strategy_counts: Whether a named strategy had any effect.
        by_name: Until 1.5, whether ``accelerator="cpu"`` was written; DataParallel then stayed what it was.
    """

    accelerator: Any = MISSING
    devices: Any = MISSING
    decided_by: str = ""
    lost: dict[str, str] = field(default_factory=dict)
    strategy_counts: bool = True
    by_name: bool = False

    @property
    def number(self) -> int | None:
        """How many devices or processes, if that can be told without the machine."""
        if self.accelerator == "cpu":
            return 1 if self.devices is MISSING or self.devices == "auto" else count(self.devices)
        return None if self.devices is MISSING else count(self.devices)


def choose(request: Request) -> Chosen:
    """Return what the release of the request chose.

    Raises:
        Refused: The release raised an error.
    """
    chosen = _folded(request) if request.release >= FOLDED_SINCE else _one_argument_a_kind(request)
    _check(request, chosen)
    if request.release < FOLDED_SINCE:
        _check_nodes(request, chosen)
    return chosen


# -- 1.6 to 1.9 ---------------------------------------------------------------------------------------------


def _folded(request: Request) -> Chosen:
    if request.devices is not MISSING and request.devices in _EMPTY:
        raise Refused("devices", f"`devices={show(request.devices)}` asks for no device at all")
    chosen = Chosen(request.accelerator, request.devices)
    if is_none(chosen.accelerator):
        chosen.accelerator = MISSING
    if is_none(chosen.devices):
        chosen.devices = MISSING
    else:
        chosen.decided_by = "devices"

    kinds = {"num_processes": "cpu", "gpus": "gpu", "ipus": "ipu", "tpu_cores": "tpu"}
    if request.backend == "ddp_cpu":
        del kinds["gpus"]  # the name itself asks for the CPU
        chosen.accelerator = "cpu"
    asked = {name: getattr(request, name) for name in kinds if getattr(request, name)}
    flag = next(iter(asked.values()), None)
    if flag and flag not in _EMPTY:
        winner = next(iter(asked))
        if "devices" in chosen.decided_by:
            chosen.lost["devices"] = f"`{winner}` won over it"
        for name in list(asked)[1:]:
            chosen.lost[name] = f"`{winner}` won over it"
        chosen.devices = flag
        chosen.decided_by = winner
        if chosen.accelerator is MISSING:
            # Not always the winner's kind: these were asked in another order.
            chosen.accelerator = next(
                kinds[name] for name in ("num_processes", "gpus", "tpu_cores", "ipus") if name in asked
            )
    if chosen.accelerator is MISSING:
        if chosen.devices == "auto":
            raise Refused("devices", '`devices="auto"` needs an `accelerator`')
        chosen.accelerator = "cpu"
        if chosen.devices is MISSING:
            chosen.devices = 1
    return chosen


# -- 0.7 to 1.5 ---------------------------------------------------------------------------------------------


def _one_argument_a_kind(request: Request) -> Chosen:
    gpus = MISSING if no_gpus(request.gpus, request.release) else request.gpus
    if request.auto_select and isinstance(request.gpus, int) and gpus is MISSING:
        raise Refused("auto_select_gpus", "there is no GPU to select with `gpus=0`")
    if gpus is not MISSING:
        problem = gpu_problem(gpus)
        if problem:
            raise Refused("gpus", problem)
        gpus = legacy_gpus(gpus, request.release)
    tpus = MISSING if is_none(request.tpu_cores) else request.tpu_cores
    if tpus is not MISSING:
        problem = tpu_problem(tpus)
        if problem:
            raise Refused("tpu_cores", problem)
    devices = MISSING if is_none(request.devices) else request.devices
    kind = request.accelerator if isinstance(request.accelerator, str) else None
    if devices is not MISSING and is_none(request.accelerator):
        raise Refused("devices", "`devices` needs an `accelerator`")
    processes = 1 if is_none(request.num_processes) else request.num_processes
    if request.release < (0, 9) and request.backend != "ddp_cpu":
        processes = 1  # read for ddp_cpu only

    if request.accelerator is not MISSING and request.accelerator is not None and kind is None:
        return Chosen(request.accelerator, devices, "accelerator")
    if request.backend == "ddp_cpu" or kind == "cpu":
        return _early_cpu(request, processes, devices)
    if not is_none(request.ipus) or kind == "ipu":
        return Chosen("ipu", request.ipus, "ipus")
    if kind == "tpu" and tpus is MISSING and devices is MISSING:
        raise Refused("accelerator", '`accelerator="tpu"` needs a number of cores')
    if kind == "tpu" or (tpus is not MISSING and gpus is MISSING):
        if tpus is not MISSING:
            return _with_losers(Chosen("tpu", tpus, "tpu_cores"), request)
        return Chosen("tpu", devices, "devices")
    if kind in GPU_NAMES and gpus is MISSING and devices is MISSING:
        raise Refused("accelerator", f'`accelerator="{kind}"` needs a number of GPUs')
    if gpus is not MISSING:
        return _with_losers(Chosen("gpu", gpus, "gpus"), request)
    if devices is not MISSING:
        return Chosen(kind, devices, "devices")
    decided_by = "" if is_none(request.num_processes) else "num_processes"
    return _without_effect(request, Chosen("cpu", processes, decided_by), processes)


def _early_cpu(request: Request, processes: Any, devices: Any) -> Chosen:
    chosen = Chosen(
        "cpu", processes, "num_processes" if not is_none(request.num_processes) else "accelerator"
    )
    if devices is not MISSING and processes == 1:
        if devices == "auto":
            devices = 1
        if not isinstance(devices, int):
            raise Refused("devices", f"CPU processes are a number, not {show(devices)}")
        chosen.devices, chosen.decided_by = devices, "devices"
    elif devices is not MISSING:
        chosen.lost["devices"] = "`num_processes` won over it"
    for name in ("gpus", "tpu_cores"):
        if not is_none(getattr(request, name)):
            chosen.lost[name] = "the CPU was asked for"
    asked_for_gpus = not no_gpus(request.gpus, request.release)
    if request.backend is None and asked_for_gpus and is_none(request.strategy) and chosen.devices != 1:
        chosen.devices = 1  # processes were only started by themselves where no GPU was asked for
    chosen.by_name = request.backend != "ddp_cpu"
    return chosen


def _with_losers(chosen: Chosen, request: Request) -> Chosen:
    for name in ("gpus", "tpu_cores", "devices", "num_processes"):
        value = getattr(request, name)
        if name != chosen.decided_by and not is_none(value) and not (name == "num_processes" and value == 1):
            chosen.lost[name] = f"`{chosen.decided_by}` won over it"
    return chosen


def _without_effect(request: Request, chosen: Chosen, processes: Any) -> Chosen:
    """One CPU process on one node: DDP by name was not set up at all."""
    nodes = request.num_nodes if isinstance(request.num_nodes, int) else 1
    chosen.strategy_counts = nodes > 1 or processes != 1
    return chosen


# -- both ---------------------------------------------------------------------------------------------------


def _check(request: Request, chosen: Chosen) -> None:
    """Refuse what the accelerator could not parse."""
    if chosen.devices is MISSING or chosen.devices == "auto":
        return
    problem = None
    early_processes = chosen.decided_by == "num_processes" and request.release < FOLDED_SINCE
    if early_processes and not isinstance(chosen.devices, int):
        raise Refused("num_processes", f"CPU processes are a number, not {show(chosen.devices)}")
    if chosen.accelerator != "cpu" and chosen.devices in _EMPTY:
        problem = f"{show(chosen.devices)} asks for no device at all"
    elif chosen.accelerator == "cpu":
        problem = cpu_problem(chosen.devices)
    elif chosen.accelerator in GPU_NAMES:
        problem = gpu_problem(chosen.devices)
    elif chosen.accelerator == "auto" and cpu_problem(chosen.devices):
        problem = gpu_problem(chosen.devices)  # refused whichever of the two there is
    elif chosen.accelerator == "tpu":
        problem = (
            None if chosen.decided_by == "devices" and not request.is_legacy else tpu_problem(chosen.devices)
        )
    if problem:
        raise Refused(chosen.decided_by or "devices", problem)


def _check_nodes(request: Request, chosen: Chosen) -> None:
    """Several nodes needed a strategy, and none was chosen for them where a GPU was asked for."""
    nodes = request.num_nodes
    if not isinstance(nodes, int) or nodes <= 1 or request.backend or not is_none(request.strategy):
        return
    one_gpu = chosen.accelerator == "gpu" and chosen.number == 1
    cpu_despite_gpus = chosen.by_name and not no_gpus(request.gpus, request.release)
    if one_gpu or cpu_despite_gpus:
        raise Refused("num_nodes", "several nodes need a `strategy`")

"""Where it runs: everything the Trainer wants from Lightning Fabric.

On a single device in plain precision nothing wraps the module or its steps. Everything else (several
processes, sharding, other precisions) goes through Fabric's wrappers.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from relight.plugins.layer_sync import LayerSync
from relight.trainer.fabric import make_fabric
from relight.trainer.signals import is_slurm_job
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.types import GradClipAlgorithmType

if TYPE_CHECKING:
    from lightning_fabric import Fabric

    from relight.module import LightningModule

__all__ = ["Backend", "handles_scaling"]


class Backend:
    """One :class:`lightning_fabric.Fabric` and how the Trainer uses it.

    Attributes:
        fabric: The Fabric object.
        plain: Whether nothing needs wrapping: one device, ``32-true``.
        model: The module, or what the strategy made of it.
        sharded: The same, if its weights lie in pieces in several processes (FSDP).
    """

    def __init__(
        self, accelerator: Any, strategy: Any, devices: Any, num_nodes: int, precision: Any, plugins: Any
    ) -> None:
        from lightning_fabric.plugins import ClusterEnvironment, Precision
        from lightning_fabric.plugins.environments.slurm import SLURMEnvironment
        from lightning_fabric.strategies.single_device import SingleDeviceStrategy

        given = (
            list(plugins) if isinstance(plugins, (list, tuple)) else [plugins] if plugins is not None else []
        )
        layer_syncs = [plugin for plugin in given if isinstance(plugin, LayerSync)]
        if len(layer_syncs) > 1:
            raise MisconfigurationException(f"More than one plugin for layers was given: {layer_syncs}")
        self.layer_sync = layer_syncs[0] if layer_syncs else None
        others = [plugin for plugin in given if not isinstance(plugin, LayerSync)]
        self.fabric = make_fabric(
            accelerator=accelerator, strategy=strategy, devices=devices, num_nodes=num_nodes,
            precision=precision, plugins=others or None,
        )  # fmt: skip
        self.single_device = isinstance(self.strategy, SingleDeviceStrategy)
        self.plain = self.single_device and type(self.precision_plugin) is Precision
        self.model: nn.Module | None = None
        self.sharded: Any = None
        self._launched = False
        # One process alone may be a job of SLURM, too; its strategy does not say so.
        environments = [plugin for plugin in others if isinstance(plugin, ClusterEnvironment)]
        if not environments and self.single_device and is_slurm_job():
            environments = [SLURMEnvironment()]
        self._environment = environments[0] if environments else None

    # Facts

    @property
    def strategy(self) -> Any:
        """Fabric's strategy."""
        return self.fabric.strategy

    @property
    def precision_plugin(self) -> Any:
        """Fabric's precision plugin."""
        return self.fabric.strategy.precision

    @property
    def device(self) -> torch.device:
        """The device of this process."""
        return self.fabric.device

    @property
    def scaler(self) -> Any:
        """The gradient scaler of half precision, ``None`` otherwise."""
        return getattr(self.precision_plugin, "scaler", None)

    @property
    def devices(self) -> Sequence[torch.device]:
        """The devices used on this machine."""
        return getattr(self.strategy, "parallel_devices", None) or [self.device]

    @property
    def spawns(self) -> bool:
        """Whether processes are started from a function rather than by running the script again."""
        from lightning_fabric.strategies.launchers.multiprocessing import _MultiProcessingLauncher

        return isinstance(self.strategy.launcher, _MultiProcessingLauncher)

    @property
    def cluster_environment(self) -> Any:
        """What tells the processes of a run about each other; ``None`` for one process on no cluster."""
        return self._environment or getattr(self.strategy, "cluster_environment", None)

    @property
    def launched_by_us(self) -> bool:
        """Whether another process of this run started this one by running the script again."""
        from lightning_fabric.plugins.environments.lightning import LightningEnvironment

        ours = isinstance(self.cluster_environment, LightningEnvironment) and not self.spawns
        return ours and self.fabric.local_rank > 0

    def signal_children(self, number: int) -> None:
        """Send a signal to the processes that this one started by running the script again."""
        for process in getattr(getattr(self.strategy, "launcher", None), "procs", ()):
            if process.poll() is None:
                process.send_signal(number)

    # Starting

    def launch(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run ``function(*args)`` in every process and return what it returns (in the first)."""
        if self.spawns:
            starter: Callable[..., Any] = _without_fabric
            return self.fabric.launch(starter, function, *args)
        if not self._launched:
            self._launched = True
            self.fabric.launch()  # starts the other processes, which run the script up to here, too
            if not self.single_device:
                atexit.register(_leave_processes)
        return function(*args)

    def forget_model(self, module: LightningModule) -> None:
        """Begin with a module that nothing wraps, unless it lies in pieces from an earlier entry point."""
        self.model = None
        if self.sharded is not None and self.sharded.module is not module:
            self.sharded = None

    def setup_module(self, module: LightningModule) -> nn.Module:
        """Move the module to the device and let the strategy wrap it."""
        from lightning_fabric.strategies.fsdp import FSDPStrategy

        if self.layer_sync is not None and not self.single_device:
            module = self.layer_sync.apply(module)  # type: ignore[assignment]
        if self.single_device:
            if not self.plain:
                module = self.precision_plugin.convert_module(module)
            self.model = self.fabric.to_device(module)
        elif self.sharded is not None:
            self.model = self.sharded  # in pieces already, from an earlier entry point
        elif any(parameter.requires_grad for parameter in module.parameters()):
            self.model = self.fabric.setup_module(module)
            if isinstance(self.strategy, FSDPStrategy):
                self.sharded = self.model
            module.fabric = None  # it marks modules that a loop of the user's own runs
        else:  # nothing to synchronise, and DDP refuses it
            self.model = self.fabric.to_device(module)
        return self.model

    def setup_optimizers(self, optimizers: list[Optimizer]) -> list[Optimizer]:
        """Let the strategy wrap the optimizers, if it has to."""
        from lightning_fabric.strategies.ddp import DDPStrategy

        if self.single_device or isinstance(self.strategy, DDPStrategy):
            return optimizers
        wrapped: Any = self.fabric.setup_optimizers(*optimizers)
        return list(wrapped) if isinstance(wrapped, tuple) else [wrapped]

    def step_method(self, module: LightningModule, name: str) -> Callable[..., Any]:
        """Return the callable for a step of the module, under the strategy and the precision."""
        if self.plain:
            return getattr(module, name)  # type: ignore[no-any-return]
        precision = self.precision_plugin
        if self.model is not module:
            return partial(_through_wrapper, self.model, name)
        convert = str(precision.precision).endswith("-true")  # autocast converts by itself
        method = getattr(module, name)

        def step(*args: Any) -> Any:
            if convert:
                args = precision.convert_input(args)
            with precision.forward_context():
                return method(*args)

        return step

    # Gradients

    def backward(
        self, module: LightningModule, overridden: bool, loss: Tensor, *args: Any, **kwargs: Any
    ) -> None:
        """Compute gradients, scaled if the precision needs it, through the module's own ``backward`` if it
        has one.
        """
        if self.plain:
            module.backward(loss, *args, **kwargs)
        elif overridden:
            module.backward(self.scaler.scale(loss) if self.scaler is not None else loss, *args, **kwargs)
        else:
            model = self.model if self.model is not module else None
            self.fabric.backward(loss, *args, model=model, **kwargs)  # type: ignore[arg-type]

    def no_sync(self, enabled: bool = True) -> AbstractContextManager[Any]:
        """Return a context in which processes do not exchange gradients."""
        if (
            self.single_device
            or not enabled
            or self.model is None
            or not hasattr(self.model, "_forward_module")
        ):
            return nullcontext()
        return self.fabric.no_backward_sync(self.model)  # type: ignore[arg-type]

    def clip_gradients(
        self, module: nn.Module, optimizer: Optimizer, value: float, algorithm: GradClipAlgorithmType
    ) -> None:
        """Clip the gradients of an optimizer's parameters; not at all for 0 or less."""
        from lightning_fabric.strategies.ddp import DDPStrategy

        if value <= 0:
            return
        if self.scaler is not None and handles_scaling(optimizer):
            raise RuntimeError(
                f"`{type(optimizer).__name__}` unscales gradients within its step, so they cannot be clipped"
                " before it: make it without `fused=True`, or do not clip"
            )
        if not (self.single_device or isinstance(self.strategy, DDPStrategy)):
            limit = {"clip_val": value} if algorithm is GradClipAlgorithmType.VALUE else {"max_norm": value}
            self.fabric.clip_gradients(self.model, optimizer, **limit)  # type: ignore[arg-type]
            return
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if algorithm is GradClipAlgorithmType.VALUE:
            nn.utils.clip_grad_value_(parameters, value)
        else:
            nn.utils.clip_grad_norm_(parameters, value)

    # Processes

    def reduce(self, tensor: Tensor, operation: str, group: Any = None) -> Tensor:
        """Return ``tensor`` reduced over processes."""
        return self.fabric.all_reduce(tensor, group=group, reduce_op=operation)  # type: ignore[return-value]

    def all_gather(self, data: Any, group: Any = None, sync_grads: bool = False) -> Any:
        """Return the tensors of all processes, stacked."""
        return self.fabric.all_gather(data, group=group, sync_grads=sync_grads)

    # Data

    def setup_dataloader(self, loader: Any, shuffle: bool, distribute: bool) -> Any:
        """Give a loader what processes and workers need: a sampler of its part, seeded workers.

        Args:
            loader: Anything iterable; only a ``DataLoader`` is changed.
            shuffle: Whether a sampler that is put in shuffles.
            distribute: Whether a sampler may be put in at all.
        """
        if not isinstance(loader, DataLoader):
            return loader
        before = loader.sampler
        fabric_loader = self.fabric.setup_dataloaders(
            loader, use_distributed_sampler=distribute, move_to_device=False
        )
        # Only what Fabric made of the loader is wanted: its wrapper counts epochs by itself and draws seeds
        # late.
        ready: DataLoader[Any] = fabric_loader._dataloader  # type: ignore[union-attr]
        if ready.sampler is not before and hasattr(ready.sampler, "shuffle"):
            ready.sampler.shuffle = shuffle
        return ready


def handles_scaling(optimizer: Optimizer) -> bool:
    """Whether the optimizer takes scaled gradients and unscales them itself, as fused ones do."""
    return bool(getattr(optimizer, "_step_supports_amp_scaling", False))


def _leave_processes() -> None:
    """Close the process group before the interpreter ends; Fabric does so for NCCL only.

    With Gloo, the interpreter's end may meet threads of the group that still run, and abort.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _without_fabric(fabric: Fabric, function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def _through_wrapper(model: Any, name: str, *args: Any) -> Any:
    return getattr(model, name)(*args)

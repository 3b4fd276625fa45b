"""The module that users write: a torch module that knows how it is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from relight.core.alone import Alone, FabricAsTrainer
from relight.core.export import Exports
from relight.core.hooks import CheckpointHooks, DataHooks, ModelHooks
from relight.core.hparams import HyperparametersMixin
from relight.core.optimizer import LightningOptimizer
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.grads import clip_algorithm
from relight.utilities.overrides import class_only
from relight.utilities.rank_zero import rank_zero_warn
from relight.utilities.types import STEP_OUTPUT

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

    from relight.trainer.trainer import Trainer

__all__ = ["LightningModule"]


class LightningModule(
    HyperparametersMixin, ModelHooks, DataHooks, CheckpointHooks, Alone, Exports, nn.Module
):
    """A ``torch.nn.Module`` with training, validation, test and predict steps, optimizers and hooks.

    Write ``training_step`` and ``configure_optimizers``, and what else is needed; hand it to ``Trainer.fit``.
    The names and meanings are those of Lightning 2.6.
    """

    CHECKPOINT_HYPER_PARAMS_KEY = "hyper_parameters"
    CHECKPOINT_HYPER_PARAMS_NAME = "hparams_name"
    CHECKPOINT_HYPER_PARAMS_TYPE = "hparams_type"
    # `torch.jit` would compile, and to do so read, every property.
    __jit_unused_properties__: tuple[str, ...] = (
        "automatic_optimization", "current_epoch", "device", "dtype", "example_input_array", "fabric",
        "global_rank", "global_step", "hparams", "hparams_initial", "local_rank", "logger", "loggers",
        "on_gpu", "strict_loading", "trainer",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self, *args, **kwargs)
        self.prepare_data_per_node = True
        self.allow_zero_length_dataloader_with_multiple_devices = False
        self._log_hyperparams = False
        self._trainer: Trainer | None = None
        self._example_input_array: Any = None
        self._automatic_optimization = True
        self._strict_loading: bool | None = None
        self._metric_attributes: dict[int, str] | None = None
        self._param_requires_grad_state: dict[Tensor, bool] = {}
        self._device, self._dtype = torch.device("cpu"), torch.get_default_dtype()

    # The Trainer and what it knows

    @property
    def trainer(self) -> Trainer:
        """The Trainer this module was handed to.

        Raises:
            RuntimeError: If there is none.
        """
        if self._trainer is None:
            if self._fabric is not None:
                return FabricAsTrainer(self._fabric)  # type: ignore[return-value]
            raise RuntimeError(f"{type(self).__qualname__} is not attached to a `Trainer`.")
        return self._trainer

    @trainer.setter
    def trainer(self, trainer: Trainer | None) -> None:
        for child in self.children():
            if isinstance(child, LightningModule):
                child.trainer = trainer
        self._trainer = trainer

    @property
    def current_epoch(self) -> int:
        """The Trainer's current epoch, 0 without a Trainer."""
        return self._trainer.current_epoch if self._trainer is not None else 0

    @property
    def global_step(self) -> int:
        """How many optimizer steps were taken, 0 without a Trainer."""
        return self._trainer.global_step if self._trainer is not None else 0

    @property
    def global_rank(self) -> int:
        """The index of this process among all."""
        return self._trainer.global_rank if self._trainer is not None else 0

    @property
    def local_rank(self) -> int:
        """The index of this process on its machine."""
        return self._trainer.local_rank if self._trainer is not None else 0

    @property
    def logger(self) -> Any:
        """The Trainer's first logger or ``None``."""
        owner = self._trainer if self._trainer is not None else self._fabric
        return owner.logger if owner is not None else None

    @property
    def loggers(self) -> list[Any]:
        """The Trainer's loggers."""
        owner = self._trainer if self._trainer is not None else self._fabric
        return owner.loggers if owner is not None else []

    # Settings and placement

    @property
    def automatic_optimization(self) -> bool:
        """Whether the Trainer runs backward and the optimizer; else ``training_step`` does."""
        return self._automatic_optimization

    @automatic_optimization.setter
    def automatic_optimization(self, value: bool) -> None:
        self._automatic_optimization = value

    @property
    def strict_loading(self) -> bool:
        """Whether loading a checkpoint fails on missing or unexpected keys; True unless set."""
        return self._strict_loading in (None, True)

    @strict_loading.setter
    def strict_loading(self, value: bool) -> None:
        self._strict_loading = value

    @property
    def example_input_array(self) -> Any:
        """An example of what ``forward`` takes: a tensor, a tuple of arguments or a dict of keywords."""
        return self._example_input_array

    @example_input_array.setter
    def example_input_array(self, value: Any) -> None:
        self._example_input_array = value

    @property
    def device(self) -> torch.device:
        """The device the module was last moved to."""
        device = self._device
        if str(device) == "cuda":  # whichever is current
            return torch.device("cuda", torch.cuda.current_device())
        return device

    @property
    def dtype(self) -> torch.dtype:
        """The floating point type the module was last cast to."""
        return self._dtype

    @property
    def on_gpu(self) -> bool:
        """Whether the module is on a CUDA device."""
        return self.device.type == "cuda"

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        result = super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        # to(), cuda(), half() … all come here; a probe tells where they lead, with or without parameters.
        probe = fn(torch.empty(0, device=self._device, dtype=self._dtype))
        self._device, self._dtype = probe.device, probe.dtype
        return result

    # Steps and optimizers, to be overridden

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """As for any torch module."""
        return super().forward(*args, **kwargs)

    def training_step(self, *args: Any, **kwargs: Any) -> STEP_OUTPUT:
        """Return the loss of one batch: a tensor, a dict with ``"loss"``, or ``None`` to skip the batch."""
        rank_zero_warn("`training_step` must be implemented to be used with the Trainer")
        return None

    def validation_step(self, *args: Any, **kwargs: Any) -> STEP_OUTPUT:
        """Evaluate one validation batch."""
        return None

    def test_step(self, *args: Any, **kwargs: Any) -> STEP_OUTPUT:
        """Evaluate one test batch."""
        return None

    def predict_step(self, *args: Any, **kwargs: Any) -> Any:
        """Return the predictions of one batch; ``self(batch)`` unless overridden."""
        return self(kwargs.get("batch", args[0] if args else None))

    def configure_callbacks(self) -> Any:
        """Return callbacks that this module brings along; one of a type the Trainer has replaces it there."""
        return []

    def configure_optimizers(self) -> Any:
        """Return the optimizer(s) and learning rate schedulers.

        One optimizer; a list of optimizers (manual optimization if several); a list of optimizers and one of
        schedulers; a dict with ``"optimizer"`` and maybe ``"lr_scheduler"`` (a scheduler or a dict with
        ``scheduler, interval, frequency, monitor, strict, name``) and ``"monitor"``; several such dicts; or
        ``None`` to train without one.
        """
        rank_zero_warn("`configure_optimizers` must be implemented to be used with the Trainer")

    def backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        """Compute gradients; override to do it another way."""
        if self._trainer is None and self._fabric is not None:
            self._fabric.backward(loss, *args, **kwargs)
        else:
            loss.backward(*args, **kwargs)  # type: ignore[no-untyped-call]

    def optimizer_step(
        self,
        epoch: int,
        batch_idx: int,
        optimizer: Optimizer | LightningOptimizer,
        optimizer_closure: Callable[[], Any] | None = None,
    ) -> None:
        """Step the optimizer; an override must run the closure, mostly through ``optimizer.step``."""
        optimizer.step(closure=optimizer_closure)

    def optimizer_zero_grad(self, epoch: int, batch_idx: int, optimizer: Optimizer) -> None:
        """Set the gradients to zero."""
        optimizer.zero_grad()

    def lr_scheduler_step(self, scheduler: Any, metric: Any) -> None:
        """Step a learning rate scheduler; ``metric`` is the value it monitors or ``None``."""
        if metric is None:
            scheduler.step()
        else:
            scheduler.step(metric)

    def configure_gradient_clipping(
        self,
        optimizer: Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip the gradients as the Trainer was told to; override to clip in another way."""
        self.clip_gradients(
            optimizer,
            gradient_clip_val=gradient_clip_val,
            gradient_clip_algorithm=gradient_clip_algorithm,
        )

    # Tools for steps and hooks

    def log(
        self,
        name: str,
        value: Any,
        prog_bar: bool = False,
        logger: bool | None = None,
        on_step: bool | None = None,
        on_epoch: bool | None = None,
        reduce_fx: str | Callable[[Any], Any] = "mean",
        enable_graph: bool = False,
        sync_dist: bool = False,
        sync_dist_group: Any = None,
        add_dataloader_idx: bool = True,
        batch_size: int | None = None,
        metric_attribute: str | None = None,
        rank_zero_only: bool = False,
    ) -> None:
        """Log a value under a name.

        Without a Trainer the module keeps it: see :meth:`logged_values`. Under Lightning Fabric its loggers
        are told, too.

        Args:
            name: Without the suffixes ``_step``, ``_epoch`` and ``/dataloader_idx_N`` that are added as
                needed.
            value: A number, a tensor of one element or a ``torchmetrics.Metric``.
            prog_bar: Show it in the progress bar.
            logger: Send it to the loggers (``None``: yes).
            on_step: Log the value of this step. The default depends on the hook it is logged in.
            on_epoch: Log the values of the epoch reduced to one. The default depends on the hook.
            reduce_fx: ``"mean"`` (weighted by the batch size), ``"sum"``, ``"min"`` or ``"max"``.
            enable_graph: Keep the graph of the value.
            sync_dist: Reduce over the processes, too.
            sync_dist_group: Over which processes.
            add_dataloader_idx: With several loaders, add the loader's index to the name.
            batch_size: The weight of this step's value, taken from the batch unless given.
            metric_attribute: Name of the metric in the module, if it cannot be found there.
            rank_zero_only: The call is made in the first process only.

        Raises:
            MisconfigurationException: In a hook where nothing can be logged, or with arguments that differ
                from those of an earlier call of the same name in the same hook.
        """
        if self._trainer is None:
            self._log_alone({name: value}, logger, reduce_fx, enable_graph, batch_size)
            return
        self._trainer._logger_connector.log(
            self, name, value, prog_bar, logger, on_step, on_epoch, reduce_fx, enable_graph, sync_dist,
            sync_dist_group, add_dataloader_idx, batch_size, metric_attribute, rank_zero_only,
        )  # fmt: skip

    def log_dict(
        self,
        dictionary: Mapping[str, Any],
        prog_bar: bool = False,
        logger: bool | None = None,
        on_step: bool | None = None,
        on_epoch: bool | None = None,
        reduce_fx: str | Callable[[Any], Any] = "mean",
        enable_graph: bool = False,
        sync_dist: bool = False,
        sync_dist_group: Any = None,
        add_dataloader_idx: bool = True,
        batch_size: int | None = None,
        rank_zero_only: bool = False,
    ) -> None:
        """Log several values; see :meth:`log`. A ``MetricCollection`` will do as well as a dict."""
        options: dict[str, Any] = {}
        if hasattr(dictionary, "_enable_compute_groups"):  # a torchmetrics.MetricCollection
            options["keep_base"] = False
            if dictionary._enable_compute_groups:
                options["copy_state"] = False
        values = dictionary.items(**options)
        if self._trainer is None:
            self._log_alone(dict(values), logger, reduce_fx, enable_graph, batch_size)
            return
        for name, value in values:
            self.log(
                name, value, prog_bar, logger, on_step, on_epoch, reduce_fx, enable_graph, sync_dist,
                sync_dist_group, add_dataloader_idx, batch_size, None, rank_zero_only,
            )  # fmt: skip

    def print(self, *args: Any, **kwargs: Any) -> None:
        """Print in the first process only, past the progress bar."""
        if not self.trainer.is_global_zero:
            return
        if self._trainer is None:
            print(*args, **kwargs)
            return
        bar = self.trainer.progress_bar_callback
        if bar is not None and bar.is_enabled:
            bar.print(*args, **kwargs)
        else:
            print(*args, **kwargs)

    def all_gather(self, data: Any, group: Any = None, sync_grads: bool = False) -> Any:
        """Return the tensors in ``data`` of all processes, stacked along a new first dimension.

        With one process tensors come back as they are.
        """
        trainer: Any = self.trainer
        owner = trainer._backend if self._trainer is not None else trainer
        return owner.all_gather(data, group=group, sync_grads=sync_grads)

    def optimizers(self, use_pl_optimizer: bool = True) -> Any:
        """Return the optimizer, or the list of them; wrapped, so that their steps are counted, unless told
        not to.
        """
        found: list[Any]
        if self._trainer is None and self._fabric is not None:
            found = list(self._fabric_optimizers)
        else:
            found = self.trainer._lightning_optimizers if use_pl_optimizer else self.trainer.optimizers
        return found[0] if len(found) == 1 else found

    def lr_schedulers(self) -> Any:
        """Return the learning rate scheduler, the list of them, or ``None``."""
        found = [config.scheduler for config in self.trainer.lr_scheduler_configs]
        return found[0] if len(found) == 1 else (found or None)

    def manual_backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        """Compute gradients under manual optimization, scaled as the precision needs it."""
        if self._trainer is None and self._fabric is not None:
            self._fabric.backward(loss, *args, **kwargs)
            return
        self._must_be_manual("manual_backward")
        self.trainer._backward(loss, *args, **kwargs)

    def _must_be_manual(self, name: str) -> None:
        if self.automatic_optimization:
            raise MisconfigurationException(
                f"`{name}` is for manual optimization: set `self.automatic_optimization = False` in"
                " `__init__`"
            )

    def toggle_optimizer(self, optimizer: Optimizer | LightningOptimizer) -> None:
        """Let only this optimizer's parameters require gradients, until :meth:`untoggle_optimizer`."""
        state: dict[Tensor, bool] = {}
        for other in self.trainer.optimizers:
            for group in other.param_groups:
                for parameter in group["params"]:
                    if parameter not in state:
                        state[parameter] = parameter.requires_grad
                        parameter.requires_grad = False
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.requires_grad = state[parameter]
        self._param_requires_grad_state = state

    def untoggle_optimizer(self, optimizer: Optimizer | LightningOptimizer) -> None:
        """Give the other optimizers' parameters back what :meth:`toggle_optimizer` took."""
        own = optimizer.optimizer if isinstance(optimizer, LightningOptimizer) else optimizer
        for other in self.trainer.optimizers:
            if other is not own:
                for group in other.param_groups:
                    for parameter in group["params"]:
                        if parameter in self._param_requires_grad_state:
                            parameter.requires_grad = self._param_requires_grad_state[parameter]
        self._param_requires_grad_state = {}

    @contextmanager
    def toggled_optimizer(self, optimizer: Optimizer | LightningOptimizer) -> Iterator[None]:
        """Toggle ``optimizer`` for the length of a ``with`` block."""
        self.toggle_optimizer(optimizer)
        try:
            yield
        finally:
            self.untoggle_optimizer(optimizer)

    def clip_gradients(
        self,
        optimizer: Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip the gradients of an optimizer's parameters.

        Args:
            optimizer: Whose parameters.
            gradient_clip_val: Largest value or norm; what ``fit`` was given if ``None``. Nothing is clipped
                at 0.
            gradient_clip_algorithm: ``"norm"`` or ``"value"``; what ``fit`` was given, else ``"norm"``.

        Raises:
            MisconfigurationException: If ``fit`` was given another value or algorithm.
        """
        if self._trainer is None and self._fabric is not None:
            self._clip_under_fabric(optimizer, gradient_clip_val, gradient_clip_algorithm)
            return
        trainer = self.trainer
        if gradient_clip_val is None:
            gradient_clip_val = trainer.gradient_clip_val or 0.0
        elif trainer.gradient_clip_val is not None and trainer.gradient_clip_val != gradient_clip_val:
            raise MisconfigurationException(
                f"`fit` was given gradient_clip_val={trainer.gradient_clip_val!r} and `clip_gradients`"
                f" {gradient_clip_val!r}: use one of them."
            )
        if gradient_clip_algorithm is None:
            gradient_clip_algorithm = trainer.gradient_clip_algorithm or "norm"
        elif trainer.gradient_clip_algorithm not in (None, gradient_clip_algorithm.lower()):
            raise MisconfigurationException(
                f"`fit` was given gradient_clip_algorithm={str(trainer.gradient_clip_algorithm)!r} and"
                f" `clip_gradients` {gradient_clip_algorithm!r}: use one of them."
            )
        algorithm = clip_algorithm(gradient_clip_val, gradient_clip_algorithm)
        trainer._backend.clip_gradients(self, optimizer, gradient_clip_val, algorithm)

    def freeze(self) -> Self:
        """Stop all gradients and go into evaluation mode."""
        for parameter in self.parameters():
            parameter.requires_grad = False
        return self.eval()

    def unfreeze(self) -> Self:
        """Let all parameters require gradients and go into training mode."""
        for parameter in self.parameters():
            parameter.requires_grad = True
        return self.train()

    @class_only
    def load_from_checkpoint(
        cls,
        checkpoint_path: str | Path | IO[bytes],
        map_location: Any = None,
        hparams_file: str | Path | None = None,
        strict: bool | None = None,
        weights_only: bool | None = None,
        **kwargs: Any,
    ) -> Self:
        """Build the module from the hyperparameters in a checkpoint and load its weights.

        Args:
            checkpoint_path: A path or an open file.
            map_location: As for ``torch.load``.
            hparams_file: A YAML or CSV file of hyperparameters to use instead of the stored ones.
            strict: Whether missing or unexpected keys are an error; ``strict_loading`` unless given.
            weights_only: ``None`` and True load data only; False runs whatever code the file carries.
            kwargs: Override stored hyperparameters.

        Raises:
            FileNotFoundError: If there is no such file.
            CheckpointLoadError: If the file holds more than data and ``weights_only`` is not False.
        """
        from relight.core.from_checkpoint import load_from_checkpoint

        return load_from_checkpoint(  # type: ignore[no-any-return]
            cls, checkpoint_path, map_location, hparams_file, strict, weights_only, kwargs
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the Trainer, which is not copied along."""
        return {**self.__dict__, "_trainer": None, "_fabric": None, "_own_results": None}

"""The LightningModule of the legacy API: what the core leaves out, and old ways to call what it has."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from relight.compat._facts import advice_for, code_for
from relight.compat._inherit import stands_for
from relight.compat._notices import notice
from relight.compat._own_files import is_own
from relight.core.hparams import HyperparametersMixin
from relight.module import LightningModule as CoreModule
from trainer_upgrade.catalogue import Area

__all__ = ["LightningModule"]

_LOG_DROPPED = ("tbptt_reduce_fx", "tbptt_pad_token", "sync_dist_op")


def _legacy(name: str, default: str) -> None:
    notice(
        code_for(Area.MODULE_HOOK, "LightningModule", name, "TRU200"),
        f"LightningModule.{name}",
        advice_for(Area.MODULE_HOOK, "LightningModule", name, default),
    )


class LightningModule(CoreModule):
    """A module written for Lightning 0.7 to 1.9 (or later); see :class:`relight.LightningModule`.

    On top of the core it has ``training_epoch_end``, ``validation_epoch_end`` and ``test_epoch_end``,
    ``*_step_end``, the hooks that 1.7 to 2.0 dropped, several automatic optimizers with ``optimizer_idx``,
    truncated backpropagation, and methods that accept the arguments of older releases.
    """

    __jit_unused_properties__ = (
        *CoreModule.__jit_unused_properties__, "datamodule", "model_size", "truncated_bptt_steps", "use_amp",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._truncated_bptt_steps = 0

    # Hooks that left: empty, so that `super()` finds them. Who overrides one is asked at run time.

    def training_epoch_end(self, outputs: Any) -> None:
        """Left in 2.0: called at the end of a training epoch with an entry for each step."""

    def validation_epoch_end(self, outputs: Any) -> None:
        """Left in 2.0: called at the end of a validation run with what each step returned."""

    def test_epoch_end(self, outputs: Any) -> None:
        """Left in 2.0: called at the end of a test run with what each step returned."""

    def training_step_end(self, step_output: Any) -> Any:
        """Left in 2.0: may replace what ``training_step`` returned."""
        return step_output

    def validation_step_end(self, step_output: Any) -> Any:
        """Left in 2.0: may replace what ``validation_step`` returned."""
        return step_output

    def test_step_end(self, step_output: Any) -> Any:
        """Left in 2.0: may replace what ``test_step`` returned."""
        return step_output

    def on_epoch_start(self) -> None:
        """Left in 1.8: called before an epoch of any stage."""

    def on_epoch_end(self) -> None:
        """Left in 1.8: called after an epoch of any stage."""

    def on_batch_start(self, *args: Any) -> None:
        """Left in 1.0: called before a training batch."""

    def on_batch_end(self, *args: Any) -> None:
        """Left in 1.0: called after a training batch."""

    def on_pretrain_routine_start(self) -> None:
        """Left in 1.8: called before the sanity check."""

    def on_pretrain_routine_end(self) -> None:
        """Left in 1.8: called before the sanity check."""

    def on_hpc_save(self, checkpoint: dict[str, Any]) -> None:
        """Left in 1.8."""

    def on_hpc_load(self, checkpoint: dict[str, Any]) -> None:
        """Left in 1.8."""

    def on_post_move_to_device(self) -> None:
        """Left in 1.7."""

    def on_train_dataloader(self) -> None:
        """Left in 1.7."""

    def on_val_dataloader(self) -> None:
        """Left in 1.7."""

    def on_test_dataloader(self) -> None:
        """Left in 1.7."""

    def on_predict_dataloader(self) -> None:
        """Left in 1.7."""

    def configure_sharded_model(self) -> None:
        """Left in 2.0, see ``configure_model``: called once the strategy is ready."""

    # Hooks whose arguments changed: `super()` calls of any age arrive here.

    @stands_for(CoreModule.optimizer_step)
    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step the optimizer with the closure, wherever the release had it."""
        optimizer, closure = _optimizer_step_arguments(args, kwargs)
        optimizer.step(closure=closure)

    @stands_for(CoreModule.optimizer_zero_grad)
    def optimizer_zero_grad(
        self, epoch: int, batch_idx: int, optimizer: Optimizer, optimizer_idx: int = 0
    ) -> None:
        """Set the gradients to zero."""
        optimizer.zero_grad()

    @stands_for(CoreModule.backward)
    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Compute gradients; the loss may stand behind the trainer, optimizer and index may follow it."""
        kwargs = {name: value for name, value in kwargs.items() if name not in ("optimizer", "optimizer_idx")}
        loss = kwargs.pop("loss", None)
        rest = list(args)
        if loss is None:
            loss = rest.pop(0) if isinstance(rest[0], Tensor) else rest[1]
            if not isinstance(args[0], Tensor):
                rest = rest[2:]
        if rest and (rest[0] is None or hasattr(rest[0], "param_groups")):
            rest.pop(0)
            if rest and isinstance(rest[0], int):
                rest.pop(0)
        loss.backward(*rest, **kwargs)

    @stands_for(CoreModule.lr_scheduler_step)
    def lr_scheduler_step(self, scheduler: Any, *args: Any, **kwargs: Any) -> None:
        """Step a scheduler; the metric is the last argument."""
        metric = kwargs["metric"] if "metric" in kwargs else args[-1] if args else None
        super().lr_scheduler_step(scheduler, metric)

    @stands_for(CoreModule.configure_gradient_clipping)
    def configure_gradient_clipping(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        """Clip gradients; an index may stand behind the optimizer."""
        rest = list(args)
        kwargs.pop("optimizer_idx", None)
        # Three positionals, or two with a keyword: the first of them is the index.
        if len(rest) == 3 or (rest and "gradient_clip_val" in kwargs):
            rest.pop(0)
        self.clip_gradients(optimizer, *rest, **kwargs)

    @stands_for(CoreModule.on_before_optimizer_step)
    def on_before_optimizer_step(self, optimizer: Any, optimizer_idx: int = 0) -> None:
        """Nothing by default."""

    @stands_for(CoreModule.on_train_batch_start)
    def on_train_batch_start(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> int | None:
        """Nothing by default."""
        return None

    @stands_for(CoreModule.on_train_batch_end)
    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Nothing by default."""

    @stands_for(CoreModule.on_train_epoch_end)
    def on_train_epoch_end(self, outputs: Any = None, unused: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreModule.on_predict_epoch_end)
    def on_predict_epoch_end(self, results: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreModule.setup)
    def setup(self, stage: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreModule.teardown)
    def teardown(self, stage: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreModule.transfer_batch_to_device)
    def transfer_batch_to_device(self, batch: Any, device: Any = None, dataloader_idx: int = 0) -> Any:
        """Return the batch on ``device`` (this module's unless given)."""
        return super().transfer_batch_to_device(batch, device or self.device, dataloader_idx)

    # Optimizers

    def toggle_optimizer(self, optimizer: Any, optimizer_idx: int | None = None) -> None:
        """Let only this optimizer's parameters require gradients."""
        super().toggle_optimizer(optimizer)

    def untoggle_optimizer(self, optimizer: Any) -> None:
        """Undo :meth:`toggle_optimizer`, for an optimizer or (up to 1.9) its index."""
        if isinstance(optimizer, int):
            optimizer = self.trainer.optimizers[optimizer]
        super().untoggle_optimizer(optimizer)

    def manual_backward(self, loss: Tensor, optimizer: Any = None, *args: Any, **kwargs: Any) -> None:
        """Compute gradients; an optimizer behind the loss (up to 1.3) is ignored."""
        if optimizer is not None and not hasattr(optimizer, "param_groups"):
            args = (optimizer, *args)
        elif optimizer is not None:
            _legacy("manual_backward", "`manual_backward(loss)` takes no optimizer since 1.4")
        super().manual_backward(loss, *args, **kwargs)

    def manual_optimizer_step(
        self, optimizer: Any, *args: Any, optimizer_closure: Any = None, **kwargs: Any
    ) -> None:
        """Left in 1.1: step an optimizer in manual optimization."""
        _legacy("manual_optimizer_step", "say `optimizer.step()`")
        kwargs.pop("make_optimizer_step", None)
        optimizer.step(*args, closure=optimizer_closure, **kwargs)

    # Logging

    def log(self, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        """Log a value; arguments that 1.6 dropped are taken out, see :meth:`relight.LightningModule.log`."""
        self.__dict__["_compat_has_logged"] = True
        super().log(name, value, *args, **_log_arguments("log", kwargs))

    def log_dict(self, dictionary: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        """Log several values; arguments that 1.6 dropped are taken out."""
        super().log_dict(dictionary, *args, **_log_arguments("log_dict", kwargs))

    def log_grad_norm(self, grad_norm_dict: dict[str, float]) -> None:
        """Left in 2.0: called with the norms that ``track_grad_norm`` asks for; logs them."""
        self.log_dict(grad_norm_dict, on_step=True, on_epoch=True, prog_bar=False, logger=True)

    def get_progress_bar_dict(self) -> dict[str, Any]:
        """Left in 1.7: what the progress bar shows."""
        return _standard_metrics(self._trainer)

    def get_tqdm_dict(self) -> dict[str, Any]:
        """Left in 1.0: what the progress bar shows."""
        return self.get_progress_bar_dict()

    # Attributes

    @property
    def hparams(self) -> Any:
        """The hyperparameters; may be assigned, as up to 1.2."""
        return HyperparametersMixin.hparams.fget(self)  # type: ignore[attr-defined]

    @hparams.setter
    def hparams(self, value: Any) -> None:
        _legacy("hparams", "`self.hparams = …` left in 1.3: say `self.save_hyperparameters(…)`")
        names = [name for name, given in _init_locals(self).items() if given is value]
        self._hparams_name = names[0] if names else None
        self._log_hyperparams = True
        self._hparams = self._to_hparams_dict(value)
        self._hparams_initial = self._to_hparams_dict(dict(self._hparams))

    @property
    def trainer(self) -> Any:
        """The Trainer this module was handed to; ``None`` if there is none, as up to 1.9."""
        return self._trainer

    @trainer.setter
    def trainer(self, trainer: Any) -> None:
        CoreModule.trainer.fset(self, trainer)  # type: ignore[attr-defined]

    @property
    def datamodule(self) -> Any:
        """Left in 1.3: the Trainer's data module."""
        given = self.__dict__.get("_datamodule")
        return given if given is not None else getattr(self._trainer, "datamodule", None)

    @datamodule.setter
    def datamodule(self, value: Any) -> None:
        self.__dict__["_datamodule"] = value

    @property
    def truncated_bptt_steps(self) -> int:
        """Left in 2.0: length of the chunks of a batch that are trained one after the other, 0 for none."""
        return self._truncated_bptt_steps

    @truncated_bptt_steps.setter
    def truncated_bptt_steps(self, value: int) -> None:
        self._truncated_bptt_steps = value

    @property
    def use_amp(self) -> bool:
        """Left in 1.8: whether training runs in mixed precision."""
        _legacy("use_amp", "`self.use_amp` left in 1.8: ask `self.trainer.precision`")
        return "mixed" in str(getattr(self._trainer, "precision", ""))

    @property
    def model_size(self) -> float:
        """Left in 1.7: megabytes of the parameters and buffers."""
        _legacy("model_size", "`self.model_size` left in 1.7")
        tensors = [*self.parameters(), *self.buffers()]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors) / 1e6

    def summarize(self, max_depth: Any = 1, mode: Any = None) -> Any:
        """Left in 1.7: a summary of the layers."""
        _legacy("summarize", "`self.summarize()` left in 1.7")
        from relight.compat._small import summary

        return summary(self, mode if mode is not None else max_depth)

    def grad_norm(self, norm_type: float | int | str) -> dict[str, float]:
        """Left in 1.5: norms of the gradients, by parameter and in all."""
        _legacy("grad_norm", "`self.grad_norm()` left in 1.5: `relight.utilities.grad_norm(self, norm_type)`")
        from relight.utilities.grads import grad_norm

        return grad_norm(self, norm_type)

    def tbptt_split_batch(self, batch: Any, split_size: int) -> list[Any]:
        """Left in 2.0: cut a batch into chunks of ``split_size`` along the second dimension.

        Tensors at the root of the batch are cut on dimension 1; of a sequence at the root, each item on its
        dimension 0. Everything else goes into every chunk.

        Raises:
            ValueError: The parts have different lengths.
        """
        lengths = [len(x[0]) for x in batch if isinstance(x, (Tensor, list, tuple))]
        if not lengths or any(length != lengths[0] for length in lengths):
            raise ValueError("truncated backpropagation wants parts of the batch that have one length")
        chunks = []
        for start in range(0, lengths[0], split_size):
            chunk: list[Any] = []
            for part in batch:
                if isinstance(part, Tensor):
                    part = part[:, start : start + split_size]
                elif isinstance(part, (list, tuple)):
                    part = [item[start : start + split_size] for item in part]
                chunk.append(part)
            chunks.append(chunk)
        return chunks

    @classmethod
    def load_from_metrics(cls, weights_path: str, tags_csv: str, map_location: Any = None) -> Any:
        """Left in 0.9: build the module from a checkpoint and a CSV file of hyperparameters."""
        _legacy("load_from_metrics", "say `load_from_checkpoint(path, hparams_file=…)`")
        return cls.load_from_checkpoint(weights_path, map_location, hparams_file=tags_csv)

    @classmethod
    def load_from_checkpoint(cls, checkpoint_path: Any, *args: Any, **kwargs: Any) -> Any:
        """Build the module from a checkpoint; ``tags_csv`` is taken as ``hparams_file``."""
        if "tags_csv" in kwargs:
            _legacy("load_from_checkpoint", "`tags_csv` is `hparams_file` since 0.9")
            kwargs.setdefault("hparams_file", kwargs.pop("tags_csv"))
        if "hparam_overrides" in kwargs:
            _legacy("load_from_checkpoint", "`hparam_overrides` are plain keywords since 0.8")
            kwargs.update(kwargs.pop("hparam_overrides") or {})
        if kwargs.get("weights_only") is None and is_own(checkpoint_path):
            kwargs["weights_only"] = False
        return super().load_from_checkpoint(checkpoint_path, *args, **kwargs)


def _optimizer_step_arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return optimizer and closure from ``(epoch, batch_idx, optimizer[, optimizer_idx][, closure], …)``."""
    optimizer = kwargs.get("optimizer")
    closure = kwargs.get("optimizer_closure", kwargs.get("second_order_closure"))
    rest = list(args)
    if optimizer is None:
        optimizer = next((value for value in rest if hasattr(value, "param_groups")), None)
    if closure is None:
        closure = next(
            (value for value in rest if callable(value) and not hasattr(value, "param_groups")), None
        )
    return optimizer, closure


def _log_arguments(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    dropped = [argument for argument in _LOG_DROPPED if argument in kwargs]
    if not dropped and callable(kwargs.get("reduce_fx")) is False:
        return kwargs
    kwargs = dict(kwargs)
    if dropped:
        _legacy(name, f"`self.{name}` takes no {', '.join(dropped)} since 1.6")
        operation = kwargs.pop("sync_dist_op", None)
        if operation is not None:
            kwargs.setdefault("reduce_fx", operation)
        for argument in dropped:
            kwargs.pop(argument, None)
    reduction = kwargs.get("reduce_fx")
    names: dict[Any, str] = {
        torch.mean: "mean",
        torch.sum: "sum",
        torch.max: "max",
        torch.min: "min",
        None: "mean",
    }
    if reduction in ("default", "avg"):
        kwargs["reduce_fx"] = "mean"
    elif callable(reduction) and reduction in names:
        kwargs["reduce_fx"] = names[reduction]
    return kwargs


def _standard_metrics(trainer: Any) -> dict[str, Any]:
    if trainer is None:
        return {}
    items: dict[str, Any] = {}
    loss = getattr(trainer, "_compat_running_loss", None)
    if loss is not None:
        items["loss"] = f"{loss:.3g}"
    if trainer.loggers:
        items["v_num"] = trainer.loggers[0].version
    return items


def _init_locals(module: object) -> dict[str, Any]:
    """Return the arguments of the ``__init__`` of ``module`` that is running."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is module:
            return {name: value for name, value in frame.f_locals.items() if name != "self"}
        frame = frame.f_back
    return {}

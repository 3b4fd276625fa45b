"""Attributes and methods that a Trainer had in some release and that code in the wild reads.

Which ones: those that public projects were seen to use and that 2.6 no longer has. Each use warns once a
place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice
from relight.trainer.hooks import call_hook
from trainer_upgrade.catalogue import Area, find

__all__ = ["LegacyAttributes"]

# A modern form that is an attribute: `trainer.fit_loop.batch_idx`.
_PATH = re.compile(r"trainer((?:\.[a-z_]+)+)")
_NOTHING = object()


def _legacy(name: str, default: str, **seen: Any) -> None:
    notice(
        code_for(Area.TRAINER_ATTRIBUTE, "Trainer", name, "TRU400"),
        f"Trainer.{name}",
        advice_for(Area.TRAINER_ATTRIBUTE, "Trainer", name, default),
        values=seen,
    )


def _attribute(name: str, modern: str, get: Callable[[Any], Any], settable: bool = True) -> property:
    """Return a property that warns; what is assigned to it is what it gives from then on."""

    def read(self: Any) -> Any:
        _legacy(name, f"`trainer.{name}` left: {modern}")
        if name in self._compat_assigned:
            return self._compat_assigned[name]
        return get(self)

    def write(self: Any, value: Any) -> None:
        _legacy(name, f"`trainer.{name}` left: {modern}", value=value)
        self._compat_assigned[name] = value

    return property(read, write if settable else None, doc=f"Left: {modern}.")


def _is_cuda(trainer: Any) -> bool:
    return bool(trainer.strategy.root_device.type == "cuda")


def _is_ddp(trainer: Any) -> bool:
    return "ddp" in type(trainer.strategy).__name__.lower()


def _device_ids(trainer: Any) -> list[int] | None:
    return list(trainer.device_ids) if _is_cuda(trainer) else None


class TrainingLoader:
    """What ``trainer.train_dataloader`` was: something around the loaders of the user, in ``loaders``."""

    def __init__(self, loaders: Any) -> None:
        self.loaders = loaders

    def __len__(self) -> int:
        return len(self.loaders)

    def __iter__(self) -> Any:
        return iter(self.loaders)

    def __getattr__(self, name: str) -> Any:
        if name == "loaders":
            raise AttributeError(name)
        return getattr(self.loaders, name)


def _listed(loaders: Any) -> Any:
    return loaders if loaders is None or isinstance(loaders, list) else [loaders]


class LegacyAttributes:
    """Legacy attributes of a Trainer; a base of compat's."""

    _compat_assigned: dict[str, Any]
    _compat_loader: Any = None
    _compat_given: dict[str, Any]

    # Where it runs

    gpus = _attribute(
        "gpus", "`trainer.device_ids` or `trainer.num_devices`", lambda t: t._compat_given.get("gpus")
    )
    num_gpus = _attribute("num_gpus", "`trainer.num_devices`", lambda t: t.num_devices if _is_cuda(t) else 0)
    root_gpu = _attribute(
        "root_gpu",
        "`trainer.strategy.root_device.index`",
        lambda t: t.strategy.root_device.index if _is_cuda(t) else None,
    )
    data_parallel_device_ids = _attribute("data_parallel_device_ids", "`trainer.device_ids`", _device_ids)
    num_processes = _attribute("num_processes", "`trainer.num_devices`", lambda t: t.num_devices)
    tpu_cores = _attribute("tpu_cores", "`trainer.num_devices`", lambda t: t._compat_given.get("tpu_cores"))
    ipus = _attribute("ipus", "`trainer.num_devices`", lambda t: t._compat_given.get("ipus") or 0)
    devices = _attribute(
        "devices", "`trainer.num_devices`", lambda t: t._compat_given.get("devices", t.num_devices)
    )
    on_gpu = _attribute("on_gpu", 'ask `trainer.strategy.root_device.type == "cuda"`', _is_cuda)
    on_tpu = _attribute("on_tpu", "TPUs are an accelerator", lambda t: t.strategy.root_device.type == "xla")
    use_tpu = _attribute("use_tpu", "TPUs are an accelerator", lambda t: t.strategy.root_device.type == "xla")
    use_ddp = _attribute("use_ddp", "ask `isinstance(trainer.strategy, DDPStrategy)`", _is_ddp)
    use_ddp2 = _attribute("use_ddp2", "DDP2 left", lambda t: False)
    use_dp = _attribute("use_dp", "DataParallel left", lambda t: False)
    use_single_gpu = _attribute(
        "use_single_gpu", "ask `trainer.num_devices`", lambda t: _is_cuda(t) and t.num_devices == 1
    )
    use_horovod = _attribute("use_horovod", "Horovod left", lambda t: False)
    use_amp = _attribute("use_amp", "ask `trainer.precision`", lambda t: "mixed" in str(t.precision))
    amp_backend = _attribute(
        "amp_backend",
        "native AMP is all there is",
        lambda t: "native" if "mixed" in str(t.precision) else None,
    )
    amp_level = _attribute("amp_level", "apex left", lambda t: t._compat_given.get("amp_level"))
    distributed_backend = _attribute(
        "distributed_backend", "`trainer.strategy`", lambda t: t._compat_given.get("distributed_backend")
    )
    training_type_plugin = _attribute("training_type_plugin", "`trainer.strategy`", lambda t: t.strategy)
    accelerator_backend = _attribute("accelerator_backend", "`trainer.accelerator`", lambda t: t.accelerator)
    is_slurm_managing_tasks = _attribute(
        "is_slurm_managing_tasks", "ask the cluster environment", lambda t: False
    )
    deterministic = _attribute(
        "deterministic",
        "`torch.are_deterministic_algorithms_enabled()`",
        lambda t: bool(t._compat_given.get("deterministic")),
    )

    # What it does

    running_sanity_check = _attribute(
        "running_sanity_check", "`trainer.sanity_checking`", lambda t: t.sanity_checking
    )
    disable_validation = _attribute(
        "disable_validation", "`not trainer.enable_validation`", lambda t: not t.enable_validation
    )
    batch_idx = _attribute("batch_idx", "`trainer.fit_loop.batch_idx`", lambda t: t.fit_loop.batch_idx)
    total_batch_idx = _attribute(
        "total_batch_idx", "`trainer.fit_loop.total_batch_idx`", lambda t: t.fit_loop.total_batch_idx
    )
    train_loop = _attribute("train_loop", "`trainer.fit_loop`", lambda t: t.fit_loop)
    evaluation_loop = _attribute("evaluation_loop", "`trainer.validate_loop`", lambda t: t.validate_loop)
    optimizer_frequencies = _attribute(
        "optimizer_frequencies",
        "several optimizers take manual optimization",
        lambda t: t._compat_frequencies,
    )
    should_rank_save_checkpoint = _attribute(
        "should_rank_save_checkpoint", "`trainer.is_global_zero`", lambda t: t.is_global_zero
    )

    # Settings

    resume_from_checkpoint = _attribute(
        "resume_from_checkpoint", "`trainer.fit(ckpt_path=…)`", lambda t: t._compat_resume
    )
    weights_save_path = _attribute(
        "weights_save_path",
        "`ModelCheckpoint(dirpath=…)`",
        lambda t: t._compat_given.get("weights_save_path") or t.default_root_dir,
    )
    weights_summary = _attribute(
        "weights_summary",
        "the callback ModelSummary",
        lambda t: t._compat_given.get("weights_summary", "top"),
    )
    progress_bar_refresh_rate = _attribute(
        "progress_bar_refresh_rate",
        "`TQDMProgressBar(refresh_rate=…)`",
        lambda t: t._compat_given.get("progress_bar_refresh_rate", 1),
    )
    process_position = _attribute(
        "process_position",
        "`TQDMProgressBar(process_position=…)`",
        lambda t: t._compat_given.get("process_position", 0),
    )
    log_save_interval = _attribute("log_save_interval", "an argument of the logger", lambda t: 100)
    row_log_interval = _attribute(
        "row_log_interval", "`trainer.log_every_n_steps`", lambda t: t.log_every_n_steps
    )
    flush_logs_every_n_steps = _attribute(
        "flush_logs_every_n_steps",
        "an argument of the logger",
        lambda t: t._compat_given.get("flush_logs_every_n_steps", 100),
    )
    terminate_on_nan = _attribute(
        "terminate_on_nan", "`detect_anomaly`", lambda t: bool(t._compat_given.get("terminate_on_nan"))
    )
    truncated_bptt_steps = _attribute(
        "truncated_bptt_steps",
        "split the batch in `training_step`",
        lambda t: t._compat_given.get("truncated_bptt_steps"),
    )
    track_grad_norm = _attribute(
        "track_grad_norm", "log `grad_norm(self, 2)`", lambda t: t._compat_given.get("track_grad_norm", -1)
    )
    auto_lr_find = _attribute(
        "auto_lr_find",
        "`Tuner(trainer).lr_find(model)`",
        lambda t: t._compat_given.get("auto_lr_find", False),
    )
    auto_scale_batch_size = _attribute(
        "auto_scale_batch_size",
        "`Tuner(trainer).scale_batch_size(model)`",
        lambda t: t._compat_given.get("auto_scale_batch_size", False),
    )
    default_save_path = _attribute(
        "default_save_path", "`trainer.default_root_dir`", lambda t: t.default_root_dir
    )
    move_metrics_to_cpu = _attribute(
        "move_metrics_to_cpu",
        "metrics stay where they are",
        lambda t: bool(t._compat_given.get("move_metrics_to_cpu")),
    )
    reload_dataloaders_every_epoch = _attribute(
        "reload_dataloaders_every_epoch",
        "`reload_dataloaders_every_n_epochs`",
        lambda t: bool(t._compat_given.get("reload_dataloaders_every_epoch")),
    )
    accelerator_connector = _attribute("accelerator_connector", "it is private", lambda t: t)
    logger_connector = _attribute("logger_connector", "it is private", lambda t: t._logger_connector)
    checkpoint_connector = _attribute("checkpoint_connector", "`trainer.save_checkpoint`", lambda t: t)
    data_connector = _attribute("data_connector", "it is private", lambda t: t)
    _fit_loop = _attribute("_fit_loop", "`trainer.fit_loop`", lambda t: t.fit_loop)

    @property
    def lr_schedulers(self) -> list[dict[str, Any]]:
        """Left in 1.8: the schedulers as dicts; see ``lr_scheduler_configs``."""
        _legacy("lr_schedulers", "`trainer.lr_schedulers` left in 1.8: `trainer.lr_scheduler_configs`")
        configs = self.lr_scheduler_configs  # type: ignore[attr-defined]
        return [
            {
                "scheduler": config.scheduler,
                "name": config.name,
                "interval": config.interval,
                "frequency": config.frequency,
                "reduce_on_plateau": config.reduce_on_plateau,
                "monitor": config.monitor,
                "strict": config.strict,
                "opt_idx": None,
            }
            for config in configs
        ]

    @property
    def progress_bar_dict(self) -> dict[str, Any]:
        """Left in 1.7: what the progress bar shows."""
        _legacy(
            "progress_bar_dict", "`trainer.progress_bar_dict` left in 1.7: `trainer.progress_bar_metrics`"
        )
        module = self.lightning_module  # type: ignore[attr-defined]
        standard = module.get_progress_bar_dict() if hasattr(module, "get_progress_bar_dict") else {}
        return {**standard, **self.progress_bar_metrics}  # type: ignore[attr-defined]

    @property
    def train_dataloader(self) -> Any:
        """The training loader in use; what was given stands in ``.loaders``, as up to 1.9."""
        given = super().train_dataloader  # type: ignore[misc]
        if given is None or hasattr(given, "loaders"):
            return given
        if self._compat_loader is None or self._compat_loader.loaders is not given:
            self._compat_loader = TrainingLoader(given)
        return self._compat_loader

    @property
    def val_dataloaders(self) -> Any:
        """The validation loaders in use: a list, as up to 1.9."""
        return _listed(super().val_dataloaders)  # type: ignore[misc]

    @property
    def test_dataloaders(self) -> Any:
        """The test loaders in use: a list, as up to 1.9."""
        return _listed(super().test_dataloaders)  # type: ignore[misc]

    @property
    def predict_dataloaders(self) -> Any:
        """The loaders to predict in use: a list, as up to 1.9."""
        return _listed(super().predict_dataloaders)  # type: ignore[misc]

    def get_model(self) -> Any:
        """Left in 1.4: the module."""
        _legacy("get_model", "`trainer.get_model()` left in 1.4: `trainer.lightning_module`")
        return self.lightning_module  # type: ignore[attr-defined]

    def call_hook(self, hook_name: str, *args: Any, pl_module: Any = None, **kwargs: Any) -> Any:
        """Left in 1.8: call a hook of callbacks and module by name."""
        _legacy(
            "call_hook", "`trainer.call_hook(name)` left in 1.8: `relight.call_hook(trainer, module.name)`"
        )
        module = pl_module or self.lightning_module  # type: ignore[attr-defined]
        for callback in self.callbacks:  # type: ignore[attr-defined]
            method = getattr(callback, hook_name, None)
            if callable(method):
                call_hook(self, method, self, module, *args, **kwargs)  # type: ignore[arg-type]
        method = getattr(module, hook_name, None)
        return call_hook(self, method, *args, **kwargs) if callable(method) else None  # type: ignore[arg-type]

    def init_optimizers(self, model: Any) -> Any:
        """Left in 1.8: what ``configure_optimizers`` gave, as three lists."""
        _legacy("init_optimizers", "`trainer.init_optimizers` left in 1.8")
        from relight.trainer.optimizers import configure_optimizers

        optimizers, configs = configure_optimizers(model.configure_optimizers(), model)
        return optimizers, configs, []

    @property
    def _data_connector(self) -> Any:
        return self

    @property
    def _accelerator_connector(self) -> Any:
        return self

    @property
    def is_distributed(self) -> bool:
        """What the connector of accelerators told: whether there are several processes."""
        return bool(self.world_size > 1)  # type: ignore[attr-defined]

    if not TYPE_CHECKING:  # a checker would take it for a promise that every attribute exists

        def __getattr__(self, name: str) -> Any:
            """Follow the catalogue to what took the attribute's place, or say that nothing did.

            Raises:
                AttributeError: With the catalogue's advice, if it has any.
            """
            if hasattr(type(self), name):  # a property failed; let it say why
                return object.__getattribute__(self, name)
            entry = None if name.startswith("_") else find(Area.TRAINER_ATTRIBUTE, "Trainer", name)
            if entry is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            path = _PATH.fullmatch(entry.lightning.text)
            value = self
            for part in path[1].split(".")[1:] if path is not None else ():
                value = getattr(value, part, _NOTHING)
            if path is None or value is _NOTHING:
                raise AttributeError(f"{entry.code} {entry.advice}")
            _legacy(name, entry.advice)
            return value

    def _reset(self, name: str) -> None:
        _legacy(name, f"`trainer.{name}()` left in 2.0")

    def reset_train_dataloader(self, model: Any = None) -> None:
        """Left in 2.0: make the training loader anew."""
        self._reset("reset_train_dataloader")
        self.fit_loop.setup_data()  # type: ignore[attr-defined]

    def reset_val_dataloader(self, model: Any = None) -> None:
        """Left in 2.0: make the validation loaders anew."""
        self._reset("reset_val_dataloader")
        self.validate_loop.setup_data()  # type: ignore[attr-defined]

    def reset_test_dataloader(self, model: Any = None) -> None:
        """Left in 2.0: make the test loaders anew."""
        self._reset("reset_test_dataloader")
        self.test_loop.setup_data()  # type: ignore[attr-defined]

    def reset_predict_dataloader(self, model: Any = None) -> None:
        """Left in 2.0: make the predict loaders anew."""
        self._reset("reset_predict_dataloader")
        self.predict_loop.setup_data()  # type: ignore[attr-defined]

    def reset_train_val_dataloaders(self, model: Any = None) -> None:
        """Left in 1.9: make the loaders of fit anew."""
        self.reset_train_dataloader(model)
        self.reset_val_dataloader(model)

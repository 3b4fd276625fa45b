"""A smallest piece of legacy code for an entry of the catalogue, made from what the entry says.

Where the catalogue does not say enough (a default, a guide row, a file that is not Python), an example is
written by hand: see ``examples.txt``.
"""

from __future__ import annotations

from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["made"]

# A value that an argument of the old Trainer took, where `True` would not do.
_ARGUMENT_VALUES = {
    "accelerator": '"ddp"',
    "accumulate_grad_batches": "{0: 8, 4: 4}",
    "amp_backend": '"apex"',
    "amp_level": '"O2"',
    "auto_lr_find": "True",
    "auto_scale_batch_size": '"binsearch"',
    "callbacks": "None",
    "check_val_every_n_epoch": "2",
    "checkpoint_callback": "False",
    "cluster_environment": "environment",
    "default_save_path": '"runs"',
    "devices": "None",
    "distributed_backend": '"ddp"',
    "early_stop_callback": "True",
    "flush_logs_every_n_steps": "100",
    "gpus": "2",
    "gradient_clip": "0.5",
    "gradient_clip_algorithm": '"value"',
    "gradient_clip_val": "0.5",
    "ipus": "8",
    "limit_predict_batches": "0.1",
    "limit_test_batches": "0.1",
    "limit_train_batches": "0.1",
    "limit_val_batches": "0.1",
    "log_every_n_steps": "10",
    "log_gpu_memory": '"all"',
    "log_save_interval": "100",
    "logger": "True",
    "max_epochs": "3",
    "max_nb_epochs": "3",
    "max_steps": "None",
    "max_time": '"00:12:00:00"',
    "min_epochs": "2",
    "min_nb_epochs": "2",
    "min_steps": "100",
    "multiple_trainloader_mode": '"min_size"',
    "nb_gpu_nodes": "2",
    "nb_sanity_val_steps": "2",
    "num_nodes": "2",
    "num_processes": "2",
    "num_sanity_val_steps": "0",
    "num_tpu_cores": "8",
    "overfit_batches": "0.1",
    "overfit_pct": "0.1",
    "plugins": '"ddp_sharded"',
    "precision": "16",
    "process_position": "1",
    "profiler": "True",
    "progress_bar_callback": "bar",
    "progress_bar_refresh_rate": "20",
    "reload_dataloaders_every_n_epochs": "1",
    "resume_from_checkpoint": '"last.ckpt"',
    "row_log_interval": "10",
    "add_row_log_interval": "10",
    "strategy": '"ddp_sharded"',
    "test_percent_check": "0.1",
    "tpu_cores": "8",
    "track_grad_norm": "2",
    "train_percent_check": "0.1",
    "truncated_bptt_steps": "5",
    "val_check_interval": "0.25",
    "val_percent_check": "0.1",
    "weights_save_path": '"weights"',
    "weights_summary": '"full"',
}
_TRAINER = "import pytorch_lightning as pl\n\n{call}\ntrainer.fit(model)\n"


def made(entry: Entry) -> str | None:
    """Return legacy code that the entry is about, or ``None`` where it takes a person to write some."""
    maker = _MAKERS.get(entry.area)
    return maker(entry) if maker is not None else None


def _trainer_argument(entry: Entry) -> str:
    if entry.name == "kwargs":
        return _TRAINER.format(call="trainer = pl.Trainer(**arguments)")
    value = _ARGUMENT_VALUES.get(entry.name, "True")
    return _TRAINER.format(call=f"trainer = pl.Trainer({entry.name}={value})")


def _trainer_value(entry: Entry) -> str | None:
    argument = entry.owner.removeprefix("Trainer.")
    name = entry.name
    value = {
        "strategy name or instance": '"ddp"',
        "'n' (string)": '"3"',
        "dict": "{0: 8, 4: 4}",
        "[loggers]": "[first, second]",
        "ModelCheckpoint instance": 'pl.callbacks.ModelCheckpoint("weights", monitor="val_loss")',
        "list[int] with accelerator='cpu'": '[0, 1], accelerator="cpu"',
    }.get(name, name.replace("'", '"'))
    if argument == "strategy":
        value += ", gpus=2"  # without devices 1.x ran it in one process, whatever the strategy
    return _TRAINER.format(call=f"trainer = pl.Trainer({argument}={value})")


def _dotted(owner: str, name: str) -> tuple[str, str]:
    if owner == "module":
        module, _, last = name.rpartition(".")
        return module or "pytorch_lightning", last
    return owner, name


def _import(entry: Entry) -> str:
    module, name = _dotted(entry.owner, entry.name)
    if entry.owner == "module":
        return f"import {entry.name}\n\nprint({entry.name})\n"
    return f"from {module} import {name}\n\nprint({name})\n"


def _attribute(entry: Entry) -> str:
    return (
        "import pytorch_lightning as pl\n\n\n"
        f"def look(trainer: pl.Trainer):\n    return trainer.{entry.name}\n"
    )


def _module_hook(entry: Entry) -> str:
    parameters = _HOOK_PARAMETERS.get(entry.name)
    if parameters is None and entry.behaviour.startswith("AttributeError"):
        return (
            "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n"
            f"    def forward(self, x):\n        return self.{entry.name}\n"
        )
    return (
        "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n"
        f"    def {entry.name}({', '.join(('self', *(parameters or ())))}):\n        print('here')\n"
    )


# The parameters of the last release that had the hook.
_HOOK_PARAMETERS: dict[str, tuple[str, ...]] = {
    "training_epoch_end": ("outputs",),
    "validation_epoch_end": ("outputs",),
    "test_epoch_end": ("outputs",),
    "predict_epoch_end": ("results",),
    "validation_end": ("outputs",),
    "test_end": ("outputs",),
    "training_end": ("outputs",),
    "training_step_end": ("outputs",),
    "validation_step_end": ("outputs",),
    "test_step_end": ("outputs",),
    "training_step": ("batch", "batch_idx", "optimizer_idx"),
    "validation_step": ("batch", "batch_idx", "dataloader_idx"),
    "test_step": ("batch", "batch_idx", "dataloader_idx"),
    "predict_step": ("batch", "batch_idx", "dataloader_idx"),
    "on_train_epoch_end": ("outputs",),
    "on_validation_epoch_end": ("outputs",),
    "on_test_epoch_end": ("outputs",),
    "on_predict_epoch_end": ("results",),
    "on_train_batch_start": ("batch", "batch_idx", "dataloader_idx"),
    "on_train_batch_end": ("outputs", "batch", "batch_idx", "dataloader_idx"),
    "on_validation_batch_start": ("batch", "batch_idx", "dataloader_idx"),
    "on_validation_batch_end": ("outputs", "batch", "batch_idx", "dataloader_idx"),
    "on_test_batch_start": ("batch", "batch_idx", "dataloader_idx"),
    "on_test_batch_end": ("outputs", "batch", "batch_idx", "dataloader_idx"),
    "on_predict_batch_start": ("batch", "batch_idx", "dataloader_idx"),
    "on_predict_batch_end": ("outputs", "batch", "batch_idx", "dataloader_idx"),
    "optimizer_step": (
        "epoch",
        "batch_idx",
        "optimizer",
        "optimizer_idx",
        "optimizer_closure",
        "on_tpu=False",
        "using_native_amp=False",
        "using_lbfgs=False",
    ),
    "optimizer_zero_grad": ("epoch", "batch_idx", "optimizer", "optimizer_idx"),
    "backward": ("loss", "optimizer", "optimizer_idx"),
    "configure_gradient_clipping": (
        "optimizer",
        "optimizer_idx",
        "gradient_clip_val",
        "gradient_clip_algorithm",
    ),
    "lr_scheduler_step": ("scheduler", "optimizer_idx", "metric"),
    "on_before_optimizer_step": ("optimizer", "optimizer_idx"),
    "toggle_optimizer": ("optimizer", "optimizer_idx"),
    "untoggle_optimizer": ("optimizer_idx",),
    "tbptt_split_batch": ("batch", "split_size"),
    "transfer_batch_to_device": ("batch", "device"),
    "on_before_batch_transfer": ("batch",),
    "on_after_batch_transfer": ("batch",),
    "setup": (),
    "teardown": (),
    "on_save_checkpoint": (),
    "on_load_checkpoint": ("callback_state",),
    "train_dataloader": ("epoch",),
    "val_dataloader": ("epoch",),
    "test_dataloader": ("epoch",),
    "predict_dataloader": ("epoch",),
    "prepare_data": ("stage",),
    "on_hpc_save": ("checkpoint",),
    "on_hpc_load": ("checkpoint",),
    "summarize": ("mode",),
    "get_progress_bar_dict": (),
    "on_train_dataloader": (),
    "on_val_dataloader": (),
    "on_test_dataloader": (),
    "on_predict_dataloader": (),
    "on_pretrain_routine_start": (),
    "on_pretrain_routine_end": (),
    "on_epoch_start": (),
    "on_epoch_end": (),
    "on_batch_start": (),
    "on_batch_end": (),
    "on_post_move_to_device": (),
    "add_model_specific_args": ("parent_parser",),
    "configure_sync_batchnorm": ("model",),
    "configure_ddp": ("model", "device_ids"),
    "configure_apex": ("amp", "model", "optimizers", "amp_level"),
    "init_ddp_connection": ("global_rank", "world_size"),
    "amp_scale_loss": ("unscaled_loss", "optimizer", "optimizer_idx", "amp_backend"),
}


def _datamodule_hook(entry: Entry) -> str:
    parameters = _HOOK_PARAMETERS.get(entry.name)
    if entry.behaviour.startswith("AttributeError") or (parameters is None and entry.name != "__init__"):
        return (
            "import pytorch_lightning as pl\n\n\n"
            f"def look(data: pl.LightningDataModule):\n    return data.{entry.name}\n"
        )
    if entry.name == "__init__":
        return (
            "import pytorch_lightning as pl\n\n\nclass Data(pl.LightningDataModule):\n"
            "    def __init__(self, transforms):\n        super().__init__(train_transforms=transforms)\n"
        )
    return (
        "import pytorch_lightning as pl\n\n\nclass Data(pl.LightningDataModule):\n"
        f"    def {entry.name}({', '.join(('self', *(parameters or ())))}):\n        print('here')\n"
    )


def _callback_hook(entry: Entry) -> str:
    parameters = _HOOK_PARAMETERS.get(entry.name, ())
    if entry.name == "on_save_checkpoint":
        body = "        return {'seen': 1}\n"
        parameters = ("checkpoint",)
    else:
        body = "        print('here')\n"
    alone = entry.name in ("on_init_start", "on_init_end", "on_fit_start", "on_fit_end")
    head: tuple[str, ...] = ("self", "trainer") if alone else ("self", "trainer", "pl_module")
    return (
        "import pytorch_lightning as pl\n\n\nclass Watch(pl.Callback):\n"
        f"    def {entry.name}({', '.join((*head, *parameters))}):\n{body}"
    )


_POSITIONAL = {"Trainer.fit": "model", "Trainer.tune": "model", "Trainer.lr_find": "model"}


def _entry_point(entry: Entry) -> str:
    owner, _, method = entry.owner.partition(".")
    first = _POSITIONAL.get(entry.owner, "")
    given = f"{entry.name}={entry.name}" if entry.name.isidentifier() and entry.name != first else first
    arguments = ", ".join(part for part in (first if given != first else "", given) if part)
    if owner == "Trainer":
        return (
            "import pytorch_lightning as pl\n\n\n"
            f"def run(trainer: pl.Trainer, model, {entry.name if entry.name.isidentifier() else 'value'}):\n"
            f"    return trainer.{method}({arguments})\n"
        )
    if owner == "LightningModule":
        return (
            "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    pass\n\n\n"
            f'model = Net.{method}("last.ckpt", {entry.name}={entry.name})\n'
        )
    return (
        f"from pytorch_lightning.tuner.tuning import {owner}\n\n\n"
        f"def run(trainer, model, {entry.name}):\n"
        f"    return {owner}(trainer).{method}({arguments})\n"
    )


_HOMES = {
    "Plugin": "pytorch_lightning.plugins",
    "Strategy": "pytorch_lightning.strategies",
    "Logger": "pytorch_lightning.loggers",
    "Profiler": "pytorch_lightning.profiler",
}


def _home(owner: str) -> str:
    from trainer_upgrade import catalogue
    from trainer_upgrade.catalogue.entry import Target

    homes = (
        "pytorch_lightning",
        "pytorch_lightning.callbacks",
        "pytorch_lightning.loggers",
        "pytorch_lightning.plugins",
        "pytorch_lightning.strategies",
        "pytorch_lightning.profiler",
        "pytorch_lightning.profilers",
        "pytorch_lightning.utilities.cli",
        "pytorch_lightning.lite",
        "pytorch_lightning.trainer.supporters",
        "pytorch_lightning.accelerators",
        "pytorch_lightning.utilities.seed",
        "pytorch_lightning.callbacks.progress",
        "pytorch_lightning.plugins.environments",
        "pytorch_lightning.plugins.training_type",
        "pytorch_lightning.plugins.precision",
        "pytorch_lightning.overrides.data_parallel",
    )
    for home in homes:
        if catalogue.resolve_import(f"{home}.{owner}", Target.LIGHTNING) is not None:
            return home
    return "pytorch_lightning"


def _constructor(entry: Entry) -> str:
    owner, name = entry.owner, entry.name
    value = {"period": "2", "filepath": '"weights/{epoch}"', "prefix": '"net"'}.get(name, name)
    return f"from {_home(owner)} import {owner}\n\nthing = {owner}({name}={value})\n"


_MAKERS = {
    Area.TRAINER_ARGUMENT: _trainer_argument,
    Area.TRAINER_VALUE: _trainer_value,
    Area.IMPORT: _import,
    Area.TRAINER_ATTRIBUTE: _attribute,
    Area.MODULE_HOOK: _module_hook,
    Area.DATAMODULE_HOOK: _datamodule_hook,
    Area.CALLBACK_HOOK: _callback_hook,
    Area.ENTRY_POINT_ARGUMENT: _entry_point,
    Area.CONSTRUCTOR_ARGUMENT: _constructor,
}

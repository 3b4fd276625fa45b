"""Every Trainer argument that is gone, changed, or that relight keeps elsewhere than in the constructor.

Lightning 0.7 to 2.6 took 91 in all. ``lightning`` replacements are what ``lightning.pytorch.Trainer``
2.6 wants; ``relight`` ones follow relight's slim constructor: what only one entry point uses is an argument
there, shortcuts became callbacks, the rest a property of the module or data module or a torch setting.
"""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from trainer_upgrade.catalogue.argument_helpers import both, changed, gone
from trainer_upgrade.catalogue.build import (
    DROP,
    KEEP,
    MANUAL,
    UNSAFE,
    callback,
    custom,
    drop,
    entry_point,
    expression,
    none,
    rename,
    value,
)
from trainer_upgrade.catalogue.entry import Entry

__all__ = ["ENTRIES"]

_WHERE = (
    gone(
        "TRU101",
        "gpus",
        '`gpus` left in 2.0: say accelerator="gpu", devices=<same value>, or accelerator="cpu" for 0 and None',
        deprecated="1.7",
        removed="2.0",
        relight=custom('accelerator="gpu", devices=…', "devices"),
        notes=(
            "0, None and [] ask for no GPU; -1 and '-1' for all; n for n of them; [i, j] and 'i,j' for those; "
            "'n' for number n up to 1.4 and for n of them from 1.5"
        ),
    ),
    gone(
        "TRU102",
        "num_processes",
        '`num_processes` left in 2.0: say accelerator="cpu", devices=<same value>; 1 and None need nothing',
        deprecated="1.7",
        removed="2.0",
        relight=custom('accelerator="cpu", devices=…', "devices"),
    ),
    gone(
        "TRU103",
        "tpu_cores",
        '`tpu_cores` left in 2.0: say accelerator="tpu", devices=<same value>; a core index now counts from 0',
        deprecated="1.7",
        removed="2.0",
        relight=custom('accelerator="tpu", devices=…', "devices"),
    ),
    gone(
        "TRU104",
        "ipus",
        "`ipus` left in 2.0 and nothing runs on Graphcore devices any more: pick another accelerator",
        deprecated="1.7",
        removed="2.0",
        relight=none(),
        how=MANUAL,
    ),
    gone(
        "TRU105",
        "num_tpu_cores",
        '`num_tpu_cores` left in 0.9: say accelerator="tpu", devices=<same value>',
        deprecated="0.7.6",
        removed="0.9",
        relight=custom('accelerator="tpu", devices=…', "devices"),
    ),
    gone(
        "TRU106",
        "auto_select_gpus",
        "`auto_select_gpus` left in 2.0: pass devices=find_usable_cuda_devices(n), or drop it if it was False",
        deprecated="1.9",
        removed="2.0",
        relight=expression(
            "devices=find_usable_cuda_devices(n)", "lightning_fabric.accelerators.find_usable_cuda_devices"
        ),
        lightning=expression(
            "devices=find_usable_cuda_devices(n)", "lightning.pytorch.accelerators.find_usable_cuda_devices"
        ),
    ),
    gone(
        "TRU107",
        "distributed_backend",
        '`distributed_backend` left in 1.5: say strategy=<same value>; "ddp_cpu" is accelerator="cpu", '
        'strategy="ddp_spawn", and "dp", "ddp2" and "horovod" have no twin',
        deprecated="1.0",
        removed="1.5",
        relight=rename("strategy"),
    ),
    changed(
        "TRU108",
        "accelerator",
        '`accelerator` names hardware only ("cpu", "gpu", "tpu", "mps", "auto"): a strategy name belongs in '
        "strategy=, and None is no longer a value",
        deprecated="1.5",
        removed="1.7",
        relight=KEEP,
        behaviour="ValueError for a strategy's name and for None; the default now takes a GPU when there is one",
        notes="The default went from None (CPU) to 'auto' in 2.0.",
    ),
    changed(
        "TRU109",
        "devices",
        '`devices=None` is refused since 2.0: say devices=1 for what it meant, or "auto" for all there are',
        removed="2.0",
        relight=KEEP,
        behaviour="TypeError for None; a list of indices is refused on CPU since 2.5",
        notes="The default went from None (1) to 'auto' in 2.0.",
    ),
    changed(
        "TRU110",
        "strategy",
        '`strategy` lost names in 2.0 ("dp", "ddp2", "ddp_sharded", "fsdp_native", "horovod", …) and None: '
        'use "ddp", "fsdp", "deepspeed" or "auto"',
        removed="2.0",
        relight=KEEP,
        behaviour="ValueError for an unknown name or None; several devices without a strategy get ddp, not ddp_spawn",
    ),
    changed(
        "TRU111",
        "plugins",
        "`plugins` takes no strategy since 1.7: pass the strategy's name or instance as strategy=",
        deprecated="1.5",
        removed="1.7",
        relight=KEEP,
        behaviour="MisconfigurationException for a strategy",
    ),
    gone(
        "TRU112",
        "amp_backend",
        '`amp_backend` left in 2.0: drop "native", which is all there is; for "apex" choose precision="16-mixed"',
        deprecated="1.9",
        removed="2.0",
        relight=DROP,
    ),
    gone(
        "TRU113",
        "amp_level",
        '`amp_level` left in 2.0 with apex: drop it, and choose precision="16-mixed" if apex did the casting',
        deprecated="1.8",
        removed="2.0",
        relight=DROP,
    ),
    changed(
        "TRU114",
        "precision",
        '`precision` has new names since 2.0: 16 is "16-mixed", "bf16" is "bf16-mixed", 32 is "32-true", '
        '64 is "64-true"',
        removed="2.0",
        relight=KEEP,
        behaviour="the old values are taken, 16 and 'bf16' with a warning; trainer.precision reads as the new name",
        silent=True,
    ),
    gone(
        "TRU115",
        "use_amp",
        '`use_amp` left in 0.9: say precision="16-mixed" for True, drop False',
        deprecated="0.7",
        removed="0.9",
        relight=value("precision", 'precision="16-mixed"'),
    ),
    gone(
        "TRU156",
        "nb_gpu_nodes",
        "`nb_gpu_nodes` left in 0.8: it is num_nodes",
        deprecated="0.5",
        removed="0.8",
        relight=rename("num_nodes"),
    ),
    gone(
        "TRU169",
        "cluster_environment",
        "`cluster_environment` left in 1.0: put the instance in plugins=[…]",
        removed="1.0",
        relight=custom("plugins=[…]", "plugins"),
        how=UNSAFE,
    ),
    gone(
        "TRU150",
        "replace_sampler_ddp",
        "`replace_sampler_ddp` left in 2.0: it is use_distributed_sampler (on relight an argument of fit)",
        removed="2.0",
        relight=entry_point("fit", "use_distributed_sampler"),
        lightning=rename("use_distributed_sampler"),
    ),
)

_PLUGGED = (
    changed(
        "TRU121",
        "logger",
        "`logger` defaults to None since 2.0, which still means the default logger; that one is TensorBoard only "
        "where tensorboard is installed, else CSV: name the logger you rely on",
        relight=KEEP,
        source="default changed in Lightning 2.0, choice of the default logger in 1.9",
        silent=True,
    ),
    changed(
        "TRU122",
        "callbacks",
        "`callbacks` refuses two callbacks with the same state key since 1.9: give each its own settings or remove one",
        relight=KEEP,
        source="single callback accepted in Lightning 1.2, clashing state keys refused in 1.9",
        behaviour="RuntimeError for equal state keys",
    ),
    gone(
        "TRU117",
        "checkpoint_callback",
        "`checkpoint_callback` left in 1.7: say enable_checkpointing=<bool>, and put a ModelCheckpoint in callbacks=[…]",
        deprecated="1.5",
        removed="1.7",
        relight=custom("enable_checkpointing=…", "enable_checkpointing"),
    ),
    gone(
        "TRU118",
        "early_stop_callback",
        '`early_stop_callback` left in 1.0: put EarlyStopping(monitor=…) in callbacks=[…]; True meant monitor="early_stop_on"',
        deprecated="0.10",
        removed="1.0",
        **both("EarlyStopping", "monitor"),
    ),
    gone(
        "TRU119",
        "progress_bar_refresh_rate",
        "`progress_bar_refresh_rate` left in 1.7: say callbacks=[TQDMProgressBar(refresh_rate=…)], or "
        "enable_progress_bar=False for 0",
        deprecated="1.5",
        removed="1.7",
        **both("TQDMProgressBar", "refresh_rate"),
    ),
    gone(
        "TRU120",
        "weights_summary",
        '`weights_summary` left in 1.7: "full" is callbacks=[ModelSummary(max_depth=-1)], "top" the default, '
        "None turns the summary off",
        deprecated="1.5",
        removed="1.7",
        **both("ModelSummary", "max_depth"),
    ),
    gone(
        "TRU124",
        "process_position",
        "`process_position` left in 1.7: say callbacks=[TQDMProgressBar(process_position=…)]; 0 needs nothing",
        deprecated="1.5",
        removed="1.7",
        **both("TQDMProgressBar", "process_position"),
    ),
    gone(
        "TRU125",
        "log_gpu_memory",
        "`log_gpu_memory` left in 1.7: say callbacks=[DeviceStatsMonitor()], which logs under other names",
        deprecated="1.5",
        removed="1.7",
        how=UNSAFE,
        **both("DeviceStatsMonitor", text="callbacks=[DeviceStatsMonitor(cpu_stats=False)]"),
    ),
    gone(
        "TRU127",
        "track_grad_norm",
        "`track_grad_norm` left in 2.0: log grad_norm(self, norm_type=…) in on_before_optimizer_step; -1 was off",
        removed="2.0",
        relight=expression(
            "self.log_dict(grad_norm(self, norm_type=…))", "relight.utilities.grad_norm", "norm_type"
        ),
        lightning=expression(
            "self.log_dict(grad_norm(self, norm_type=…))",
            "lightning.pytorch.utilities.grad_norm",
            "norm_type",
        ),
        how=UNSAFE,
    ),
    gone(
        "TRU142",
        "weights_save_path",
        "`weights_save_path` left in 1.8: say callbacks=[ModelCheckpoint(dirpath=…)]; None needs nothing",
        deprecated="1.6",
        removed="1.8",
        how=UNSAFE,
        **both("ModelCheckpoint", "dirpath"),
    ),
    changed(
        "TRU145",
        "profiler",
        '`profiler` takes no bool since 1.3: True is "simple", False is None',
        deprecated="1.0",
        removed="1.3",
        relight=KEEP,
        behaviour="True passes the constructor and fails in fit",
    ),
    gone(
        "TRU151",
        "progress_bar_callback",
        "`progress_bar_callback` left in 0.8: put the bar in callbacks=[…], or say enable_progress_bar=False for False",
        removed="0.8",
        relight=custom("callbacks=[…]", "callbacks"),
    ),
    gone(
        "TRU154",
        "default_save_path",
        "`default_save_path` left in 0.8: it is default_root_dir",
        deprecated="0.5",
        removed="0.8",
        relight=rename("default_root_dir"),
    ),
    gone(
        "TRU159",
        "show_progress_bar",
        "`show_progress_bar` left in 0.9: it is enable_progress_bar",
        deprecated="0.7.2",
        removed="0.9",
        relight=rename("enable_progress_bar"),
    ),
    gone(
        "TRU167",
        "flush_logs_every_n_steps",
        "`flush_logs_every_n_steps` left in 1.7: say it to the logger, as in CSVLogger(flush_logs_every_n_steps=…)",
        deprecated="1.5",
        removed="1.7",
        relight=custom(
            "CSVLogger(…, flush_logs_every_n_steps=…)",
            "relight.loggers.CSVLogger",
            "flush_logs_every_n_steps",
        ),
        lightning=custom(
            "CSVLogger(…, flush_logs_every_n_steps=…)",
            "lightning.pytorch.loggers.CSVLogger",
            "flush_logs_every_n_steps",
        ),
        how=UNSAFE,
    ),
    gone(
        "TRU138",
        "log_save_interval",
        "`log_save_interval` left in 1.0: say it to the logger, as in CSVLogger(flush_logs_every_n_steps=…)",
        deprecated="0.10",
        removed="1.0",
        relight=custom(
            "CSVLogger(…, flush_logs_every_n_steps=…)",
            "relight.loggers.CSVLogger",
            "flush_logs_every_n_steps",
        ),
        lightning=custom(
            "CSVLogger(…, flush_logs_every_n_steps=…)",
            "lightning.pytorch.loggers.CSVLogger",
            "flush_logs_every_n_steps",
        ),
        how=UNSAFE,
    ),
    gone(
        "TRU171",
        "move_metrics_to_cpu",
        "`move_metrics_to_cpu` left in 2.0: drop it; for large states give the metric compute_on_cpu=True",
        removed="2.0",
        relight=drop("compute_on_cpu=True on the metric"),
        how=UNSAFE,
    ),
    gone(
        "TRU175",
        "stochastic_weight_avg",
        "`stochastic_weight_avg` left in 1.7: say callbacks=[StochasticWeightAveraging(swa_lrs=<learning rate>)]",
        deprecated="1.5",
        removed="1.7",
        how=MANUAL,
        relight=none("torch.optim.swa_utils.AveragedModel"),
        lightning=callback("lightning.pytorch.callbacks.StochasticWeightAveraging", "swa_lrs"),
    ),
    changed(
        "TRU177",
        "enable_checkpointing",
        "`enable_checkpointing` defaults to None since 2.0, which still means on",
        relight=KEEP,
        source="default changed in Lightning 2.0",
    ),
    changed(
        "TRU178",
        "enable_progress_bar",
        "`enable_progress_bar` defaults to None since 2.0, which still means on",
        relight=KEEP,
        source="default changed in Lightning 2.0",
    ),
    changed(
        "TRU179",
        "enable_model_summary",
        "`enable_model_summary` is a callback on relight: add ModelSummary(max_depth=…), or leave it out",
        relight=callback("relight.callbacks.ModelSummary", text="callbacks=[ModelSummary()]"),
        lightning=KEEP,
        source="default changed in Lightning 2.0; relight's slim constructor",
    ),
)

_LENGTH = (
    changed(
        "TRU131",
        "max_epochs",
        "`max_epochs` defaults to None since 1.2: 1000 epochs if max_steps is not set, and -1 means without end",
        relight=KEEP,
        source="default changed in Lightning 1.2",
    ),
    changed(
        "TRU132",
        "min_epochs",
        "`min_epochs` is a callback on relight: add TrainAtLeast(epochs=…)",
        relight=callback("relight.callbacks.TrainAtLeast", "epochs"),
        lightning=KEEP,
        source="default changed in Lightning 1.2; relight's slim constructor",
    ),
    changed(
        "TRU133",
        "max_steps",
        "`max_steps=None` is refused since 1.7: say -1 for no limit",
        deprecated="1.5",
        removed="1.7",
        relight=value("max_steps", "max_steps=-1"),
        behaviour="TypeError for None",
    ),
    changed(
        "TRU129",
        "fast_dev_run",
        "`fast_dev_run` also takes the number of batches since 1.1; True still means one",
        relight=KEEP,
        source="number of batches accepted in Lightning 1.1",
    ),
    gone(
        "TRU157",
        "max_nb_epochs",
        "`max_nb_epochs` left in 0.8: it is max_epochs",
        deprecated="0.5",
        removed="0.8",
        relight=rename("max_epochs"),
    ),
    gone(
        "TRU158",
        "min_nb_epochs",
        "`min_nb_epochs` left in 0.8: it was min_epochs (on relight add TrainAtLeast(epochs=…))",
        deprecated="0.5",
        removed="0.8",
        relight=callback("relight.callbacks.TrainAtLeast", "epochs"),
        lightning=rename("min_epochs"),
    ),
    changed(
        "TRU180",
        "min_steps",
        "`min_steps` is a callback on relight: add TrainAtLeast(steps=…)",
        relight=callback("relight.callbacks.TrainAtLeast", "steps"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
    changed(
        "TRU181",
        "max_time",
        "`max_time` is a callback on relight: add Timer(duration=…)",
        relight=callback("relight.callbacks.Timer", "duration"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
)

ENTRIES: tuple[Entry, ...] = _WHERE + _PLUGGED + _LENGTH

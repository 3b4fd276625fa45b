"""Every Trainer argument that is gone, changed, or that relight keeps elsewhere than in the constructor.

Lightning 0.7 to 2.6 took 91 in all. ``lightning`` replacements are what ``lightning.pytorch.Trainer``
2.6 wants; ``relight`` ones follow relight's slim constructor: what only one entry point uses is an argument
there, shortcuts became callbacks, the rest a property of the module or data module or a torch setting.
"""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import (
    DROP,
    KEEP,
    MANUAL,
    UNSAFE,
    attribute,
    callback,
    custom,
    drop,
    entry_point,
    expression,
    make,
    none,
    rename,
    value,
)
from trainer_upgrade.catalogue.entry import Area, Entry, Replacement

__all__ = ["ENTRIES"]

_UNEXPECTED = "TypeError: unexpected keyword argument"


def _both(name: str, argument: str = "", text: str = "") -> dict[str, Replacement]:
    """Give the same callback of both distributions."""
    return {
        "relight": callback(f"relight.callbacks.{name}", argument, text),
        "lightning": callback(f"lightning.pytorch.callbacks.{name}", argument, text),
    }


def _gone(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an argument that 2.6 refuses."""
    rest.setdefault("behaviour", _UNEXPECTED)
    return make(Area.TRAINER_ARGUMENT, "Trainer", code, name, advice, **rest)


def _changed(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an argument that 2.6 still takes, with another default, kind or set of values."""
    return make(Area.TRAINER_ARGUMENT, "Trainer", code, name, advice, **rest)


def _option(
    code: str, name: str, advice: str, *, method: str = "fit", argument: str = "", **rest: Any
) -> Entry:
    """Describe an argument that Lightning keeps and relight takes at an entry point."""
    rest.setdefault("lightning", KEEP)
    return _changed(code, name, advice, relight=entry_point(method, argument or name), **rest)


_WHERE = (
    _gone(
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
    _gone(
        "TRU102",
        "num_processes",
        '`num_processes` left in 2.0: say accelerator="cpu", devices=<same value>; 1 and None need nothing',
        deprecated="1.7",
        removed="2.0",
        relight=custom('accelerator="cpu", devices=…', "devices"),
    ),
    _gone(
        "TRU103",
        "tpu_cores",
        '`tpu_cores` left in 2.0: say accelerator="tpu", devices=<same value>; a core index now counts from 0',
        deprecated="1.7",
        removed="2.0",
        relight=custom('accelerator="tpu", devices=…', "devices"),
    ),
    _gone(
        "TRU104",
        "ipus",
        "`ipus` left in 2.0 and nothing runs on Graphcore devices any more: pick another accelerator",
        deprecated="1.7",
        removed="2.0",
        relight=none(),
        how=MANUAL,
    ),
    _gone(
        "TRU105",
        "num_tpu_cores",
        '`num_tpu_cores` left in 0.9: say accelerator="tpu", devices=<same value>',
        deprecated="0.7.6",
        removed="0.9",
        relight=custom('accelerator="tpu", devices=…', "devices"),
    ),
    _gone(
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
    _gone(
        "TRU107",
        "distributed_backend",
        '`distributed_backend` left in 1.5: say strategy=<same value>; "ddp_cpu" is accelerator="cpu", '
        'strategy="ddp_spawn", and "dp", "ddp2" and "horovod" have no twin',
        deprecated="1.0",
        removed="1.5",
        relight=rename("strategy"),
    ),
    _changed(
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
    _changed(
        "TRU109",
        "devices",
        '`devices=None` is refused since 2.0: say devices=1 for what it meant, or "auto" for all there are',
        removed="2.0",
        relight=KEEP,
        behaviour="TypeError for None; a list of indices is refused on CPU since 2.5",
        notes="The default went from None (1) to 'auto' in 2.0.",
    ),
    _changed(
        "TRU110",
        "strategy",
        '`strategy` lost names in 2.0 ("dp", "ddp2", "ddp_sharded", "fsdp_native", "horovod", …) and None: '
        'use "ddp", "fsdp", "deepspeed" or "auto"',
        removed="2.0",
        relight=KEEP,
        behaviour="ValueError for an unknown name or None; several devices without a strategy get ddp, not ddp_spawn",
    ),
    _changed(
        "TRU111",
        "plugins",
        "`plugins` takes no strategy since 1.7: pass the strategy's name or instance as strategy=",
        deprecated="1.5",
        removed="1.7",
        relight=KEEP,
        behaviour="MisconfigurationException for a strategy",
    ),
    _gone(
        "TRU112",
        "amp_backend",
        '`amp_backend` left in 2.0: drop "native", which is all there is; for "apex" choose precision="16-mixed"',
        deprecated="1.9",
        removed="2.0",
        relight=DROP,
    ),
    _gone(
        "TRU113",
        "amp_level",
        '`amp_level` left in 2.0 with apex: drop it, and choose precision="16-mixed" if apex did the casting',
        deprecated="1.8",
        removed="2.0",
        relight=DROP,
    ),
    _changed(
        "TRU114",
        "precision",
        '`precision` has new names since 2.0: 16 is "16-mixed", "bf16" is "bf16-mixed", 32 is "32-true", '
        '64 is "64-true"',
        removed="2.0",
        relight=KEEP,
        behaviour="the old values are taken, 16 and 'bf16' with a warning; trainer.precision reads as the new name",
        silent=True,
    ),
    _gone(
        "TRU115",
        "use_amp",
        '`use_amp` left in 0.9: say precision="16-mixed" for True, drop False',
        deprecated="0.7",
        removed="0.9",
        relight=value("precision", 'precision="16-mixed"'),
    ),
    _gone(
        "TRU156",
        "nb_gpu_nodes",
        "`nb_gpu_nodes` left in 0.8: it is num_nodes",
        deprecated="0.5",
        removed="0.8",
        relight=rename("num_nodes"),
    ),
    _gone(
        "TRU169",
        "cluster_environment",
        "`cluster_environment` left in 1.0: put the instance in plugins=[…]",
        removed="1.0",
        relight=custom("plugins=[…]", "plugins"),
        how=UNSAFE,
    ),
    _gone(
        "TRU150",
        "replace_sampler_ddp",
        "`replace_sampler_ddp` left in 2.0: it is use_distributed_sampler (on relight an argument of fit)",
        removed="2.0",
        relight=entry_point("fit", "use_distributed_sampler"),
        lightning=rename("use_distributed_sampler"),
    ),
)

_PLUGGED = (
    _changed(
        "TRU121",
        "logger",
        "`logger` defaults to None since 2.0, which still means the default logger; that one is TensorBoard only "
        "where tensorboard is installed, else CSV: name the logger you rely on",
        relight=KEEP,
        source="default changed in Lightning 2.0, choice of the default logger in 1.9",
        silent=True,
    ),
    _changed(
        "TRU122",
        "callbacks",
        "`callbacks` refuses two callbacks with the same state key since 1.9: give each its own settings or remove one",
        relight=KEEP,
        source="single callback accepted in Lightning 1.2, clashing state keys refused in 1.9",
        behaviour="RuntimeError for equal state keys",
    ),
    _gone(
        "TRU117",
        "checkpoint_callback",
        "`checkpoint_callback` left in 1.7: say enable_checkpointing=<bool>, and put a ModelCheckpoint in callbacks=[…]",
        deprecated="1.5",
        removed="1.7",
        relight=custom("enable_checkpointing=…", "enable_checkpointing"),
    ),
    _gone(
        "TRU118",
        "early_stop_callback",
        '`early_stop_callback` left in 1.0: put EarlyStopping(monitor=…) in callbacks=[…]; True meant monitor="early_stop_on"',
        deprecated="0.10",
        removed="1.0",
        **_both("EarlyStopping", "monitor"),
    ),
    _gone(
        "TRU119",
        "progress_bar_refresh_rate",
        "`progress_bar_refresh_rate` left in 1.7: say callbacks=[TQDMProgressBar(refresh_rate=…)], or "
        "enable_progress_bar=False for 0",
        deprecated="1.5",
        removed="1.7",
        **_both("TQDMProgressBar", "refresh_rate"),
    ),
    _gone(
        "TRU120",
        "weights_summary",
        '`weights_summary` left in 1.7: "full" is callbacks=[ModelSummary(max_depth=-1)], "top" the default, '
        "None turns the summary off",
        deprecated="1.5",
        removed="1.7",
        **_both("ModelSummary", "max_depth"),
    ),
    _gone(
        "TRU124",
        "process_position",
        "`process_position` left in 1.7: say callbacks=[TQDMProgressBar(process_position=…)]; 0 needs nothing",
        deprecated="1.5",
        removed="1.7",
        **_both("TQDMProgressBar", "process_position"),
    ),
    _gone(
        "TRU125",
        "log_gpu_memory",
        "`log_gpu_memory` left in 1.7: say callbacks=[DeviceStatsMonitor()], which logs under other names",
        deprecated="1.5",
        removed="1.7",
        how=UNSAFE,
        **_both("DeviceStatsMonitor", text="callbacks=[DeviceStatsMonitor(cpu_stats=False)]"),
    ),
    _gone(
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
    _gone(
        "TRU142",
        "weights_save_path",
        "`weights_save_path` left in 1.8: say callbacks=[ModelCheckpoint(dirpath=…)]; None needs nothing",
        deprecated="1.6",
        removed="1.8",
        how=UNSAFE,
        **_both("ModelCheckpoint", "dirpath"),
    ),
    _changed(
        "TRU145",
        "profiler",
        '`profiler` takes no bool since 1.3: True is "simple", False is None',
        deprecated="1.0",
        removed="1.3",
        relight=KEEP,
        behaviour="True passes the constructor and fails in fit",
    ),
    _gone(
        "TRU151",
        "progress_bar_callback",
        "`progress_bar_callback` left in 0.8: put the bar in callbacks=[…], or say enable_progress_bar=False for False",
        removed="0.8",
        relight=custom("callbacks=[…]", "callbacks"),
    ),
    _gone(
        "TRU154",
        "default_save_path",
        "`default_save_path` left in 0.8: it is default_root_dir",
        deprecated="0.5",
        removed="0.8",
        relight=rename("default_root_dir"),
    ),
    _gone(
        "TRU159",
        "show_progress_bar",
        "`show_progress_bar` left in 0.9: it is enable_progress_bar",
        deprecated="0.7.2",
        removed="0.9",
        relight=rename("enable_progress_bar"),
    ),
    _gone(
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
    _gone(
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
    _gone(
        "TRU171",
        "move_metrics_to_cpu",
        "`move_metrics_to_cpu` left in 2.0: drop it; for large states give the metric compute_on_cpu=True",
        removed="2.0",
        relight=drop("compute_on_cpu=True on the metric"),
        how=UNSAFE,
    ),
    _gone(
        "TRU175",
        "stochastic_weight_avg",
        "`stochastic_weight_avg` left in 1.7: say callbacks=[StochasticWeightAveraging(swa_lrs=<learning rate>)]",
        deprecated="1.5",
        removed="1.7",
        how=MANUAL,
        relight=none("torch.optim.swa_utils.AveragedModel"),
        lightning=callback("lightning.pytorch.callbacks.StochasticWeightAveraging", "swa_lrs"),
    ),
    _changed(
        "TRU177",
        "enable_checkpointing",
        "`enable_checkpointing` defaults to None since 2.0, which still means on",
        relight=KEEP,
        source="default changed in Lightning 2.0",
    ),
    _changed(
        "TRU178",
        "enable_progress_bar",
        "`enable_progress_bar` defaults to None since 2.0, which still means on",
        relight=KEEP,
        source="default changed in Lightning 2.0",
    ),
    _changed(
        "TRU179",
        "enable_model_summary",
        "`enable_model_summary` is a callback on relight: add ModelSummary(max_depth=…), or leave it out",
        relight=callback("relight.callbacks.ModelSummary", text="callbacks=[ModelSummary()]"),
        lightning=KEEP,
        source="default changed in Lightning 2.0; relight's slim constructor",
    ),
)

_LENGTH = (
    _changed(
        "TRU131",
        "max_epochs",
        "`max_epochs` defaults to None since 1.2: 1000 epochs if max_steps is not set, and -1 means without end",
        relight=KEEP,
        source="default changed in Lightning 1.2",
    ),
    _changed(
        "TRU132",
        "min_epochs",
        "`min_epochs` is a callback on relight: add TrainAtLeast(epochs=…)",
        relight=callback("relight.callbacks.TrainAtLeast", "epochs"),
        lightning=KEEP,
        source="default changed in Lightning 1.2; relight's slim constructor",
    ),
    _changed(
        "TRU133",
        "max_steps",
        "`max_steps=None` is refused since 1.7: say -1 for no limit",
        deprecated="1.5",
        removed="1.7",
        relight=value("max_steps", "max_steps=-1"),
        behaviour="TypeError for None",
    ),
    _changed(
        "TRU129",
        "fast_dev_run",
        "`fast_dev_run` also takes the number of batches since 1.1; True still means one",
        relight=KEEP,
        source="number of batches accepted in Lightning 1.1",
    ),
    _gone(
        "TRU157",
        "max_nb_epochs",
        "`max_nb_epochs` left in 0.8: it is max_epochs",
        deprecated="0.5",
        removed="0.8",
        relight=rename("max_epochs"),
    ),
    _gone(
        "TRU158",
        "min_nb_epochs",
        "`min_nb_epochs` left in 0.8: it was min_epochs (on relight add TrainAtLeast(epochs=…))",
        deprecated="0.5",
        removed="0.8",
        relight=callback("relight.callbacks.TrainAtLeast", "epochs"),
        lightning=rename("min_epochs"),
    ),
    _changed(
        "TRU180",
        "min_steps",
        "`min_steps` is a callback on relight: add TrainAtLeast(steps=…)",
        relight=callback("relight.callbacks.TrainAtLeast", "steps"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
    _changed(
        "TRU181",
        "max_time",
        "`max_time` is a callback on relight: add Timer(duration=…)",
        relight=callback("relight.callbacks.Timer", "duration"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
)

_ENTRY_POINTS = (
    _gone(
        "TRU116",
        "resume_from_checkpoint",
        "`resume_from_checkpoint` left in 2.0: say trainer.fit(…, ckpt_path=<path>)",
        deprecated="1.5",
        removed="2.0",
        relight=entry_point("fit", "ckpt_path"),
    ),
    _option(
        "TRU123",
        "gradient_clip_val",
        "`gradient_clip_val` is an argument of fit on relight; off is None since 1.5 (it was 0)",
        source="default changed in Lightning 1.5; relight's slim constructor",
    ),
    _gone(
        "TRU155",
        "gradient_clip",
        "`gradient_clip` left in 0.8: it is gradient_clip_val (on relight an argument of fit)",
        deprecated="0.5",
        removed="0.8",
        relight=entry_point("fit", "gradient_clip_val"),
        lightning=rename("gradient_clip_val"),
    ),
    _option(
        "TRU176",
        "gradient_clip_algorithm",
        "`gradient_clip_algorithm` is an argument of fit on relight; its default None means by norm",
        source="default changed in Lightning 1.5; relight's slim constructor",
    ),
    _option(
        "TRU130",
        "accumulate_grad_batches",
        "`accumulate_grad_batches` takes a number only since 2.0: a dict goes to callbacks=[GradientAccumulationScheduler("
        "scheduling=…)], None is 1 (on relight an argument of fit)",
        removed="2.0",
        behaviour="a dict or None passes the constructor and fails in fit",
    ),
    _option(
        "TRU128",
        "check_val_every_n_epoch",
        "`check_val_every_n_epoch` is an argument of fit on relight; None counts val_check_interval across epochs since 1.7",
        source="None accepted in Lightning 1.7; relight's slim constructor",
    ),
    _option(
        "TRU137",
        "val_check_interval",
        "`val_check_interval` is an argument of fit on relight",
        source="default changed in Lightning 1.6, time intervals in 2.6; relight's slim constructor",
    ),
    _option(
        "TRU143",
        "num_sanity_val_steps",
        "`num_sanity_val_steps` is an argument of fit on relight; its default None means 2",
        source="default changed in Lightning 2.0; relight's slim constructor",
    ),
    _gone(
        "TRU160",
        "nb_sanity_val_steps",
        "`nb_sanity_val_steps` left in 0.8: it is num_sanity_val_steps (on relight an argument of fit)",
        deprecated="0.5",
        removed="0.8",
        relight=entry_point("fit", "num_sanity_val_steps"),
        lightning=rename("num_sanity_val_steps"),
    ),
    _option(
        "TRU162",
        "overfit_batches",
        "`overfit_batches` is an argument of fit on relight; it validates again since 1.7 (1.6 did not)",
        source="validation off in Lightning 1.6 and on again in 1.7; relight's slim constructor",
    ),
    _gone(
        "TRU126",
        "overfit_pct",
        "`overfit_pct` left in 1.0: it is overfit_batches (on relight an argument of fit)",
        deprecated="0.8",
        removed="1.0",
        relight=entry_point("fit", "overfit_batches"),
        lightning=rename("overfit_batches"),
    ),
    _option(
        "TRU163",
        "limit_train_batches",
        "`limit_train_batches` is an argument of fit on relight; its default None means all",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    _option(
        "TRU164",
        "limit_val_batches",
        "`limit_val_batches` is an argument of fit on relight, and limit_batches of validate",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    _option(
        "TRU165",
        "limit_test_batches",
        "`limit_test_batches` is limit_batches of test on relight",
        method="test",
        argument="limit_batches",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    _option(
        "TRU173",
        "limit_predict_batches",
        "`limit_predict_batches` is limit_batches of predict on relight",
        method="predict",
        argument="limit_batches",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    _gone(
        "TRU134",
        "train_percent_check",
        "`train_percent_check` left in 0.10: it is limit_train_batches (on relight an argument of fit)",
        deprecated="0.8",
        removed="0.10",
        relight=entry_point("fit", "limit_train_batches"),
        lightning=rename("limit_train_batches"),
    ),
    _gone(
        "TRU135",
        "val_percent_check",
        "`val_percent_check` left in 0.10: it is limit_val_batches (on relight an argument of fit)",
        deprecated="0.8",
        removed="0.10",
        relight=entry_point("fit", "limit_val_batches"),
        lightning=rename("limit_val_batches"),
    ),
    _gone(
        "TRU136",
        "test_percent_check",
        "`test_percent_check` left in 0.10: it is limit_test_batches (limit_batches of test on relight)",
        deprecated="0.8",
        removed="0.10",
        relight=entry_point("test", "limit_batches"),
        lightning=rename("limit_test_batches"),
    ),
    _option(
        "TRU168",
        "log_every_n_steps",
        "`log_every_n_steps` is an argument of fit on relight; its default None means 50",
        source="default changed in Lightning 2.0; relight's slim constructor",
    ),
    _gone(
        "TRU139",
        "row_log_interval",
        "`row_log_interval` left in 1.0: it is log_every_n_steps (on relight an argument of fit)",
        deprecated="0.10",
        removed="1.0",
        relight=entry_point("fit", "log_every_n_steps"),
        lightning=rename("log_every_n_steps"),
    ),
    _gone(
        "TRU140",
        "add_row_log_interval",
        "`add_row_log_interval` left in 0.8: it is log_every_n_steps (on relight an argument of fit)",
        deprecated="0.5",
        removed="0.8",
        relight=entry_point("fit", "log_every_n_steps"),
        lightning=rename("log_every_n_steps"),
    ),
    _gone(
        "TRU148",
        "reload_dataloaders_every_epoch",
        "`reload_dataloaders_every_epoch` left in 1.6: say reload_dataloaders_every_n_epochs=1 for True, drop False",
        deprecated="1.4",
        removed="1.6",
        relight=entry_point("fit", "reload_dataloaders_every_n_epochs"),
        lightning=value("reload_dataloaders_every_n_epochs", "reload_dataloaders_every_n_epochs=1"),
    ),
    _gone(
        "TRU152",
        "terminate_on_nan",
        "`terminate_on_nan` left in 1.7: detect_anomaly=True is near but much slower; EarlyStopping(check_finite=True) "
        "on the logged loss stops too",
        deprecated="1.5",
        removed="1.7",
        relight=entry_point("fit", "detect_anomaly"),
        lightning=rename("detect_anomaly"),
        how=UNSAFE,
    ),
    _gone(
        "TRU141",
        "print_nan_grads",
        "`print_nan_grads` left in 0.9: drop it; detect_anomaly=True finds the operation that made the nan",
        deprecated="0.7.2",
        removed="0.9",
        relight=drop("detect_anomaly=True"),
    ),
    _gone(
        "TRU149",
        "auto_lr_find",
        "`auto_lr_find` left in 2.0: call Tuner(trainer).lr_find(model), or add the callback LearningRateFinder()",
        removed="2.0",
        relight=none(),
        lightning=custom(
            "Tuner(trainer).lr_find(model)", "lightning.pytorch.tuner.Tuner.lr_find", "attr_name"
        ),
        how=UNSAFE,
    ),
    _gone(
        "TRU153",
        "auto_scale_batch_size",
        "`auto_scale_batch_size` left in 2.0: call Tuner(trainer).scale_batch_size(model, mode=…), or add the callback "
        "BatchSizeFinder(mode=…)",
        removed="2.0",
        relight=none(),
        lightning=custom(
            "Tuner(trainer).scale_batch_size(model, mode=…)",
            "lightning.pytorch.tuner.Tuner.scale_batch_size",
            "mode",
        ),
        how=UNSAFE,
    ),
    _option(
        "TRU182",
        "reload_dataloaders_every_n_epochs",
        "`reload_dataloaders_every_n_epochs` is an argument of fit on relight",
        source="relight's slim constructor",
    ),
    _option(
        "TRU183",
        "use_distributed_sampler",
        "`use_distributed_sampler` is an argument of fit on relight",
        source="relight's slim constructor",
    ),
    _option(
        "TRU184",
        "detect_anomaly",
        "`detect_anomaly` is an argument of fit on relight",
        source="relight's slim constructor",
    ),
    _option(
        "TRU185",
        "inference_mode",
        "`inference_mode` is an argument of fit, validate, test and predict on relight",
        source="relight's slim constructor",
    ),
)

_ELSEWHERE = (
    _gone(
        "TRU144",
        "truncated_bptt_steps",
        "`truncated_bptt_steps` left the Trainer in 1.5 and the module in 2.0: split the batch by hand in "
        "training_step with manual optimization",
        deprecated="1.3",
        removed="1.5",
        relight=none("manual optimization over chunks of the batch"),
        how=MANUAL,
    ),
    _changed(
        "TRU146",
        "benchmark",
        "`benchmark` is torch.backends.cudnn.benchmark on relight; its default None leaves torch's setting as it is",
        relight=expression("torch.backends.cudnn.benchmark = …", "torch.backends.cudnn.benchmark"),
        lightning=KEEP,
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    _changed(
        "TRU147",
        "deterministic",
        "`deterministic` is torch.use_deterministic_algorithms(…) on relight; not given, torch's setting stays as it is "
        "since 2.0",
        relight=expression("torch.use_deterministic_algorithms(…)", "torch.use_deterministic_algorithms"),
        lightning=KEEP,
        source="'warn' accepted in Lightning 1.7, setting left alone since 2.0; relight's slim constructor",
    ),
    _gone(
        "TRU161",
        "kwargs",
        "unknown arguments were swallowed in 0.7 and raise since 0.8: delete what is no Trainer argument",
        removed="0.8",
        relight=drop(),
        how=MANUAL,
    ),
    _gone(
        "TRU166",
        "prepare_data_per_node",
        "`prepare_data_per_node` left in 1.7: set the attribute on the data module or module; True is the default",
        deprecated="1.5",
        removed="1.7",
        relight=attribute("prepare_data_per_node", "self.prepare_data_per_node = …"),
        how=UNSAFE,
    ),
    _gone(
        "TRU170",
        "automatic_optimization",
        "`automatic_optimization` left the Trainer in 1.3: set self.automatic_optimization = False in the module",
        deprecated="1.1",
        removed="1.3",
        relight=attribute("automatic_optimization", "self.automatic_optimization = …"),
        how=UNSAFE,
    ),
    _gone(
        "TRU172",
        "enable_pl_optimizer",
        "`enable_pl_optimizer` left in 1.3: drop it; with manual optimization choose self.optimizers(use_pl_optimizer=…)",
        deprecated="1.1.3",
        removed="1.3",
        relight=DROP,
    ),
    _gone(
        "TRU174",
        "multiple_trainloader_mode",
        "`multiple_trainloader_mode` left in 2.0: return CombinedLoader(loaders, mode=…) from train_dataloader; "
        '"max_size_cycle" is the default',
        removed="2.0",
        relight=expression("CombinedLoader(loaders, mode=…)", "relight.utilities.CombinedLoader", "mode"),
        lightning=expression(
            "CombinedLoader(loaders, mode=…)", "lightning.pytorch.utilities.CombinedLoader", "mode"
        ),
        how=UNSAFE,
    ),
    _changed(
        "TRU186",
        "sync_batchnorm",
        "`sync_batchnorm` is a plugin on relight: plugins=[TorchSyncBatchNorm()]",
        relight=custom("plugins=[TorchSyncBatchNorm()]", "plugins"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
    _changed(
        "TRU187",
        "barebones",
        "`barebones` does not exist on relight, whose loop is bare by itself: switch off the logger, checkpoints, bar "
        "and summary one by one",
        relight=custom("logger=False, enable_checkpointing=False, enable_progress_bar=False"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
    _changed(
        "TRU188",
        "model_registry",
        "`model_registry` (2.5) has no twin on relight: upload the checkpoint yourself",
        relight=none(),
        lightning=KEEP,
        how=MANUAL,
        source="relight's slim constructor",
    ),
    _changed(
        "TRU189",
        "enable_autolog_hparams",
        "`enable_autolog_hparams` (2.6) has no twin on relight: pass logger=False to save_hyperparameters",
        relight=custom("self.save_hyperparameters(logger=False)"),
        lightning=KEEP,
        how=MANUAL,
        source="relight's slim constructor",
    ),
)

ENTRIES: tuple[Entry, ...] = _WHERE + _PLUGGED + _LENGTH + _ENTRY_POINTS + _ELSEWHERE

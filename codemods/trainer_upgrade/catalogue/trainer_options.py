"""Trainer arguments that relight takes at an entry point, in the module or data module, or leaves to torch."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from trainer_upgrade.catalogue.argument_helpers import changed, gone, option
from trainer_upgrade.catalogue.build import (
    DROP,
    KEEP,
    MANUAL,
    UNSAFE,
    attribute,
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

_ENTRY_POINTS = (
    gone(
        "TRU116",
        "resume_from_checkpoint",
        "`resume_from_checkpoint` left in 2.0: say trainer.fit(…, ckpt_path=<path>)",
        deprecated="1.5",
        removed="2.0",
        relight=entry_point("fit", "ckpt_path"),
    ),
    option(
        "TRU123",
        "gradient_clip_val",
        "`gradient_clip_val` is an argument of fit on relight; off is None since 1.5 (it was 0)",
        source="default changed in Lightning 1.5; relight's slim constructor",
    ),
    gone(
        "TRU155",
        "gradient_clip",
        "`gradient_clip` left in 0.8: it is gradient_clip_val (on relight an argument of fit)",
        deprecated="0.5",
        removed="0.8",
        relight=entry_point("fit", "gradient_clip_val"),
        lightning=rename("gradient_clip_val"),
    ),
    option(
        "TRU176",
        "gradient_clip_algorithm",
        "`gradient_clip_algorithm` is an argument of fit on relight; its default None means by norm",
        source="default changed in Lightning 1.5; relight's slim constructor",
    ),
    option(
        "TRU130",
        "accumulate_grad_batches",
        "`accumulate_grad_batches` takes a number only since 2.0: a dict goes to callbacks=[GradientAccumulationScheduler("
        "scheduling=…)], None is 1 (on relight an argument of fit)",
        removed="2.0",
        behaviour="a dict or None passes the constructor and fails in fit",
    ),
    option(
        "TRU128",
        "check_val_every_n_epoch",
        "`check_val_every_n_epoch` is an argument of fit on relight; None counts val_check_interval across epochs since 1.7",
        source="None accepted in Lightning 1.7; relight's slim constructor",
    ),
    option(
        "TRU137",
        "val_check_interval",
        "`val_check_interval` is an argument of fit on relight",
        source="default changed in Lightning 1.6, time intervals in 2.6; relight's slim constructor",
    ),
    option(
        "TRU143",
        "num_sanity_val_steps",
        "`num_sanity_val_steps` is an argument of fit on relight; its default None means 2",
        source="default changed in Lightning 2.0; relight's slim constructor",
    ),
    gone(
        "TRU160",
        "nb_sanity_val_steps",
        "`nb_sanity_val_steps` left in 0.8: it is num_sanity_val_steps (on relight an argument of fit)",
        deprecated="0.5",
        removed="0.8",
        relight=entry_point("fit", "num_sanity_val_steps"),
        lightning=rename("num_sanity_val_steps"),
    ),
    option(
        "TRU162",
        "overfit_batches",
        "`overfit_batches` is an argument of fit on relight; it validates again since 1.7 (1.6 did not)",
        source="validation off in Lightning 1.6 and on again in 1.7; relight's slim constructor",
    ),
    gone(
        "TRU126",
        "overfit_pct",
        "`overfit_pct` left in 1.0: it is overfit_batches (on relight an argument of fit)",
        deprecated="0.8",
        removed="1.0",
        relight=entry_point("fit", "overfit_batches"),
        lightning=rename("overfit_batches"),
    ),
    option(
        "TRU163",
        "limit_train_batches",
        "`limit_train_batches` is an argument of fit on relight; its default None means all",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    option(
        "TRU164",
        "limit_val_batches",
        "`limit_val_batches` is an argument of fit on relight, and limit_batches of validate",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    option(
        "TRU165",
        "limit_test_batches",
        "`limit_test_batches` is limit_batches of test on relight",
        method="test",
        argument="limit_batches",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    option(
        "TRU173",
        "limit_predict_batches",
        "`limit_predict_batches` is limit_batches of predict on relight",
        method="predict",
        argument="limit_batches",
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    gone(
        "TRU134",
        "train_percent_check",
        "`train_percent_check` left in 0.10: it is limit_train_batches (on relight an argument of fit)",
        deprecated="0.8",
        removed="0.10",
        relight=entry_point("fit", "limit_train_batches"),
        lightning=rename("limit_train_batches"),
    ),
    gone(
        "TRU135",
        "val_percent_check",
        "`val_percent_check` left in 0.10: it is limit_val_batches (on relight an argument of fit)",
        deprecated="0.8",
        removed="0.10",
        relight=entry_point("fit", "limit_val_batches"),
        lightning=rename("limit_val_batches"),
    ),
    gone(
        "TRU136",
        "test_percent_check",
        "`test_percent_check` left in 0.10: it is limit_test_batches (limit_batches of test on relight)",
        deprecated="0.8",
        removed="0.10",
        relight=entry_point("test", "limit_batches"),
        lightning=rename("limit_test_batches"),
    ),
    option(
        "TRU168",
        "log_every_n_steps",
        "`log_every_n_steps` is an argument of fit on relight; its default None means 50",
        source="default changed in Lightning 2.0; relight's slim constructor",
    ),
    gone(
        "TRU139",
        "row_log_interval",
        "`row_log_interval` left in 1.0: it is log_every_n_steps (on relight an argument of fit)",
        deprecated="0.10",
        removed="1.0",
        relight=entry_point("fit", "log_every_n_steps"),
        lightning=rename("log_every_n_steps"),
    ),
    gone(
        "TRU140",
        "add_row_log_interval",
        "`add_row_log_interval` left in 0.8: it is log_every_n_steps (on relight an argument of fit)",
        deprecated="0.5",
        removed="0.8",
        relight=entry_point("fit", "log_every_n_steps"),
        lightning=rename("log_every_n_steps"),
    ),
    gone(
        "TRU148",
        "reload_dataloaders_every_epoch",
        "`reload_dataloaders_every_epoch` left in 1.6: say reload_dataloaders_every_n_epochs=1 for True, drop False",
        deprecated="1.4",
        removed="1.6",
        relight=entry_point("fit", "reload_dataloaders_every_n_epochs"),
        lightning=value("reload_dataloaders_every_n_epochs", "reload_dataloaders_every_n_epochs=1"),
    ),
    gone(
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
    gone(
        "TRU141",
        "print_nan_grads",
        "`print_nan_grads` left in 0.9: drop it; detect_anomaly=True finds the operation that made the nan",
        deprecated="0.7.2",
        removed="0.9",
        relight=drop("detect_anomaly=True"),
    ),
    gone(
        "TRU149",
        "auto_lr_find",
        "`auto_lr_find` left in 2.0: call Tuner(trainer).lr_find(model), or add the callback LearningRateFinder()",
        removed="2.0",
        relight=custom("Tuner(trainer).lr_find(model)", "relight.tuner.Tuner.lr_find", "attr_name"),
        lightning=custom(
            "Tuner(trainer).lr_find(model)", "lightning.pytorch.tuner.Tuner.lr_find", "attr_name"
        ),
        how=UNSAFE,
    ),
    gone(
        "TRU153",
        "auto_scale_batch_size",
        "`auto_scale_batch_size` left in 2.0: call Tuner(trainer).scale_batch_size(model, mode=…), or add the callback "
        "BatchSizeFinder(mode=…)",
        removed="2.0",
        relight=custom(
            "Tuner(trainer).scale_batch_size(model, mode=…)", "relight.tuner.Tuner.scale_batch_size", "mode"
        ),
        lightning=custom(
            "Tuner(trainer).scale_batch_size(model, mode=…)",
            "lightning.pytorch.tuner.Tuner.scale_batch_size",
            "mode",
        ),
        how=UNSAFE,
    ),
    option(
        "TRU182",
        "reload_dataloaders_every_n_epochs",
        "`reload_dataloaders_every_n_epochs` is an argument of fit on relight",
        source="relight's slim constructor",
    ),
    option(
        "TRU183",
        "use_distributed_sampler",
        "`use_distributed_sampler` is an argument of fit on relight",
        source="relight's slim constructor",
    ),
    option(
        "TRU184",
        "detect_anomaly",
        "`detect_anomaly` is an argument of fit on relight",
        source="relight's slim constructor",
    ),
    option(
        "TRU185",
        "inference_mode",
        "`inference_mode` is an argument of fit, validate, test and predict on relight",
        source="relight's slim constructor",
    ),
)

_ELSEWHERE = (
    gone(
        "TRU144",
        "truncated_bptt_steps",
        "`truncated_bptt_steps` left the Trainer in 1.5 and the module in 2.0: split the batch by hand in "
        "training_step with manual optimization",
        deprecated="1.3",
        removed="1.5",
        relight=none("manual optimization over chunks of the batch"),
        how=MANUAL,
    ),
    changed(
        "TRU146",
        "benchmark",
        "`benchmark` is torch.backends.cudnn.benchmark on relight; its default None leaves torch's setting as it is",
        relight=expression("torch.backends.cudnn.benchmark = …", "torch.backends.cudnn.benchmark"),
        lightning=KEEP,
        source="default changed in Lightning 1.6; relight's slim constructor",
    ),
    changed(
        "TRU147",
        "deterministic",
        "`deterministic` is torch.use_deterministic_algorithms(…) on relight; not given, torch's setting stays as it is "
        "since 2.0",
        relight=expression("torch.use_deterministic_algorithms(…)", "torch.use_deterministic_algorithms"),
        lightning=KEEP,
        source="'warn' accepted in Lightning 1.7, setting left alone since 2.0; relight's slim constructor",
    ),
    gone(
        "TRU161",
        "kwargs",
        "unknown arguments were swallowed in 0.7 and raise since 0.8: delete what is no Trainer argument",
        removed="0.8",
        relight=drop(),
        how=MANUAL,
    ),
    gone(
        "TRU166",
        "prepare_data_per_node",
        "`prepare_data_per_node` left in 1.7: set the attribute on the data module or module; True is the default",
        deprecated="1.5",
        removed="1.7",
        relight=attribute("prepare_data_per_node", "self.prepare_data_per_node = …"),
        how=UNSAFE,
    ),
    gone(
        "TRU170",
        "automatic_optimization",
        "`automatic_optimization` left the Trainer in 1.3: set self.automatic_optimization = False in the module",
        deprecated="1.1",
        removed="1.3",
        relight=attribute("automatic_optimization", "self.automatic_optimization = …"),
        how=UNSAFE,
    ),
    gone(
        "TRU172",
        "enable_pl_optimizer",
        "`enable_pl_optimizer` left in 1.3: drop it; with manual optimization choose self.optimizers(use_pl_optimizer=…)",
        deprecated="1.1.3",
        removed="1.3",
        relight=DROP,
    ),
    gone(
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
    changed(
        "TRU186",
        "sync_batchnorm",
        "`sync_batchnorm` is a plugin on relight: plugins=[TorchSyncBatchNorm()]",
        relight=custom("plugins=[TorchSyncBatchNorm()]", "plugins"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
    changed(
        "TRU187",
        "barebones",
        "`barebones` does not exist on relight, whose loop is bare by itself: switch off the logger, checkpoints, bar "
        "and summary one by one",
        relight=custom("logger=False, enable_checkpointing=False, enable_progress_bar=False"),
        lightning=KEEP,
        source="relight's slim constructor",
    ),
    changed(
        "TRU188",
        "model_registry",
        "`model_registry` (2.5) has no twin on relight: upload the checkpoint yourself",
        relight=none(),
        lightning=KEEP,
        how=MANUAL,
        source="relight's slim constructor",
    ),
    changed(
        "TRU189",
        "enable_autolog_hparams",
        "`enable_autolog_hparams` (2.6) has no twin on relight: pass logger=False to save_hyperparameters",
        relight=custom("self.save_hyperparameters(logger=False)"),
        lightning=KEEP,
        how=MANUAL,
        source="relight's slim constructor",
    ),
)

ENTRIES: tuple[Entry, ...] = _ENTRY_POINTS + _ELSEWHERE

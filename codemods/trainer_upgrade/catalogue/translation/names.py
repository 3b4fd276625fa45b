"""The names of Trainer arguments: which ones there are today, and which ones there have been."""

from __future__ import annotations

__all__ = [
    "EVER",
    "EVERY_ENTRY_POINT",
    "FIT_OPTIONS",
    "LEGACY_ONLY",
    "LIGHTNING",
    "LIMITS",
    "RELIGHT",
]

# The constructor of Lightning 2.6.
LIGHTNING: frozenset[str] = frozenset(
    [
        "accelerator",
        "strategy",
        "devices",
        "num_nodes",
        "precision",
        "logger",
        "callbacks",
        "fast_dev_run",
        "max_epochs",
        "min_epochs",
        "max_steps",
        "min_steps",
        "max_time",
        "limit_train_batches",
        "limit_val_batches",
        "limit_test_batches",
        "limit_predict_batches",
        "overfit_batches",
        "val_check_interval",
        "check_val_every_n_epoch",
        "num_sanity_val_steps",
        "log_every_n_steps",
        "enable_checkpointing",
        "enable_progress_bar",
        "enable_model_summary",
        "accumulate_grad_batches",
        "gradient_clip_val",
        "gradient_clip_algorithm",
        "deterministic",
        "benchmark",
        "inference_mode",
        "use_distributed_sampler",
        "profiler",
        "detect_anomaly",
        "barebones",
        "plugins",
        "sync_batchnorm",
        "reload_dataloaders_every_n_epochs",
        "default_root_dir",
        "enable_autolog_hparams",
        "model_registry",
    ]
)

# The constructor of relight's Trainer.
RELIGHT: frozenset[str] = frozenset(
    [
        "accelerator",
        "strategy",
        "devices",
        "num_nodes",
        "precision",
        "plugins",
        "callbacks",
        "logger",
        "profiler",
        "default_root_dir",
        "enable_checkpointing",
        "enable_progress_bar",
        "max_epochs",
        "max_steps",
        "fast_dev_run",
        "options",
    ]
)

# Keyword-only options of relight's ``fit``, with the value that changes nothing.
FIT_OPTIONS: dict[str, object] = {
    "limit_train_batches": None,
    "limit_val_batches": None,
    "overfit_batches": 0.0,
    "val_check_interval": None,
    "check_val_every_n_epoch": 1,
    "num_sanity_val_steps": None,
    "accumulate_grad_batches": 1,
    "gradient_clip_val": None,
    "gradient_clip_algorithm": None,
    "log_every_n_steps": None,
    "reload_dataloaders_every_n_epochs": 0,
    "use_distributed_sampler": True,
    "detect_anomaly": False,
    "inference_mode": True,
}

# Which entry points' ``limit_batches`` a limit sets, next to an option of ``fit``.
LIMITS: dict[str, str] = {
    "limit_val_batches": "validate",
    "limit_test_batches": "test",
    "limit_predict_batches": "predict",
}

EVERY_ENTRY_POINT = ("fit", "validate", "test", "predict")

# Accepted by some release from 0.7 to 1.9 and gone in 2.x.
LEGACY_ONLY: frozenset[str] = frozenset(
    [
        "add_row_log_interval",
        "amp_backend",
        "amp_level",
        "auto_lr_find",
        "auto_scale_batch_size",
        "auto_select_gpus",
        "automatic_optimization",
        "checkpoint_callback",
        "cluster_environment",
        "default_save_path",
        "distributed_backend",
        "early_stop_callback",
        "enable_pl_optimizer",
        "flush_logs_every_n_steps",
        "gpus",
        "gradient_clip",
        "ipus",
        "kwargs",
        "log_gpu_memory",
        "log_save_interval",
        "max_nb_epochs",
        "min_nb_epochs",
        "move_metrics_to_cpu",
        "multiple_trainloader_mode",
        "nb_gpu_nodes",
        "nb_sanity_val_steps",
        "num_processes",
        "num_tpu_cores",
        "overfit_pct",
        "prepare_data_per_node",
        "print_nan_grads",
        "process_position",
        "progress_bar_callback",
        "progress_bar_refresh_rate",
        "reload_dataloaders_every_epoch",
        "replace_sampler_ddp",
        "resume_from_checkpoint",
        "row_log_interval",
        "show_progress_bar",
        "stochastic_weight_avg",
        "terminate_on_nan",
        "test_percent_check",
        "tpu_cores",
        "track_grad_norm",
        "train_percent_check",
        "truncated_bptt_steps",
        "use_amp",
        "val_percent_check",
        "weights_save_path",
        "weights_summary",
    ]
)

EVER: frozenset[str] = LIGHTNING | LEGACY_ONLY

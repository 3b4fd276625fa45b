"""The order of the Trainer's positional arguments, by release.

Read from the constructors of 0.7.6, 0.9.0, 1.0.8, 1.2.10, 1.4.9, 1.5.10, 1.6.5, 1.7.7 and 1.9.5; a release in
between is taken to have the order of the last one before it.
"""

from __future__ import annotations

from packaging.version import Version

__all__ = ["positions"]

_ORDERS: dict[str, str] = {
    "0.7": (
        "logger checkpoint_callback early_stop_callback callbacks default_root_dir gradient_clip_val "
        "process_position num_nodes num_processes gpus auto_select_gpus num_tpu_cores log_gpu_memory "
        "progress_bar_refresh_rate overfit_pct track_grad_norm check_val_every_n_epoch fast_dev_run "
        "accumulate_grad_batches max_epochs min_epochs max_steps min_steps train_percent_check "
        "val_percent_check test_percent_check val_check_interval log_save_interval row_log_interval "
        "add_row_log_interval distributed_backend precision print_nan_grads weights_summary "
        "weights_save_path num_sanity_val_steps truncated_bptt_steps resume_from_checkpoint profiler "
        "benchmark deterministic reload_dataloaders_every_epoch auto_lr_find replace_sampler_ddp "
        "progress_bar_callback terminate_on_nan auto_scale_batch_size amp_level default_save_path "
        "gradient_clip nb_gpu_nodes max_nb_epochs min_nb_epochs use_amp show_progress_bar "
        "nb_sanity_val_steps"
    ),
    "0.9": (
        "logger checkpoint_callback early_stop_callback callbacks default_root_dir gradient_clip_val "
        "process_position num_nodes num_processes gpus auto_select_gpus tpu_cores log_gpu_memory "
        "progress_bar_refresh_rate overfit_batches track_grad_norm check_val_every_n_epoch fast_dev_run "
        "accumulate_grad_batches max_epochs min_epochs max_steps min_steps limit_train_batches "
        "limit_val_batches limit_test_batches val_check_interval log_save_interval row_log_interval "
        "distributed_backend sync_batchnorm precision weights_summary weights_save_path "
        "num_sanity_val_steps truncated_bptt_steps resume_from_checkpoint profiler benchmark "
        "deterministic reload_dataloaders_every_epoch auto_lr_find replace_sampler_ddp terminate_on_nan "
        "auto_scale_batch_size prepare_data_per_node amp_backend amp_level val_percent_check "
        "test_percent_check train_percent_check overfit_pct"
    ),
    "1.0": (
        "logger checkpoint_callback callbacks default_root_dir gradient_clip_val process_position "
        "num_nodes num_processes gpus auto_select_gpus tpu_cores log_gpu_memory progress_bar_refresh_rate "
        "overfit_batches track_grad_norm check_val_every_n_epoch fast_dev_run accumulate_grad_batches "
        "max_epochs min_epochs max_steps min_steps limit_train_batches limit_val_batches "
        "limit_test_batches val_check_interval flush_logs_every_n_steps log_every_n_steps accelerator "
        "sync_batchnorm precision weights_summary weights_save_path num_sanity_val_steps "
        "truncated_bptt_steps resume_from_checkpoint profiler benchmark deterministic "
        "reload_dataloaders_every_epoch auto_lr_find replace_sampler_ddp terminate_on_nan "
        "auto_scale_batch_size prepare_data_per_node plugins amp_backend amp_level distributed_backend "
        "automatic_optimization"
    ),
    "1.2": (
        "logger checkpoint_callback callbacks default_root_dir gradient_clip_val process_position "
        "num_nodes num_processes gpus auto_select_gpus tpu_cores log_gpu_memory progress_bar_refresh_rate "
        "overfit_batches track_grad_norm check_val_every_n_epoch fast_dev_run accumulate_grad_batches "
        "max_epochs min_epochs max_steps min_steps limit_train_batches limit_val_batches "
        "limit_test_batches limit_predict_batches val_check_interval flush_logs_every_n_steps "
        "log_every_n_steps accelerator sync_batchnorm precision weights_summary weights_save_path "
        "num_sanity_val_steps truncated_bptt_steps resume_from_checkpoint profiler benchmark "
        "deterministic reload_dataloaders_every_epoch auto_lr_find replace_sampler_ddp terminate_on_nan "
        "auto_scale_batch_size prepare_data_per_node plugins amp_backend amp_level distributed_backend "
        "automatic_optimization move_metrics_to_cpu enable_pl_optimizer multiple_trainloader_mode "
        "stochastic_weight_avg"
    ),
    "1.4": (
        "logger checkpoint_callback callbacks default_root_dir gradient_clip_val gradient_clip_algorithm "
        "process_position num_nodes num_processes devices gpus auto_select_gpus tpu_cores ipus "
        "log_gpu_memory progress_bar_refresh_rate overfit_batches track_grad_norm check_val_every_n_epoch "
        "fast_dev_run accumulate_grad_batches max_epochs min_epochs max_steps min_steps max_time "
        "limit_train_batches limit_val_batches limit_test_batches limit_predict_batches "
        "val_check_interval flush_logs_every_n_steps log_every_n_steps accelerator sync_batchnorm "
        "precision weights_summary weights_save_path num_sanity_val_steps truncated_bptt_steps "
        "resume_from_checkpoint profiler benchmark deterministic reload_dataloaders_every_n_epochs "
        "reload_dataloaders_every_epoch auto_lr_find replace_sampler_ddp terminate_on_nan "
        "auto_scale_batch_size prepare_data_per_node plugins amp_backend amp_level distributed_backend "
        "move_metrics_to_cpu multiple_trainloader_mode stochastic_weight_avg"
    ),
    "1.5": (
        "logger checkpoint_callback enable_checkpointing callbacks default_root_dir gradient_clip_val "
        "gradient_clip_algorithm process_position num_nodes num_processes devices gpus auto_select_gpus "
        "tpu_cores ipus log_gpu_memory progress_bar_refresh_rate enable_progress_bar overfit_batches "
        "track_grad_norm check_val_every_n_epoch fast_dev_run accumulate_grad_batches max_epochs "
        "min_epochs max_steps min_steps max_time limit_train_batches limit_val_batches limit_test_batches "
        "limit_predict_batches val_check_interval flush_logs_every_n_steps log_every_n_steps accelerator "
        "strategy sync_batchnorm precision enable_model_summary weights_summary weights_save_path "
        "num_sanity_val_steps resume_from_checkpoint profiler benchmark deterministic "
        "reload_dataloaders_every_n_epochs reload_dataloaders_every_epoch auto_lr_find "
        "replace_sampler_ddp detect_anomaly auto_scale_batch_size prepare_data_per_node plugins "
        "amp_backend amp_level move_metrics_to_cpu multiple_trainloader_mode stochastic_weight_avg "
        "terminate_on_nan"
    ),
    "1.6": (
        "logger checkpoint_callback enable_checkpointing callbacks default_root_dir gradient_clip_val "
        "gradient_clip_algorithm process_position num_nodes num_processes devices gpus auto_select_gpus "
        "tpu_cores ipus log_gpu_memory progress_bar_refresh_rate enable_progress_bar overfit_batches "
        "track_grad_norm check_val_every_n_epoch fast_dev_run accumulate_grad_batches max_epochs "
        "min_epochs max_steps min_steps max_time limit_train_batches limit_val_batches limit_test_batches "
        "limit_predict_batches val_check_interval flush_logs_every_n_steps log_every_n_steps accelerator "
        "strategy sync_batchnorm precision enable_model_summary weights_summary weights_save_path "
        "num_sanity_val_steps resume_from_checkpoint profiler benchmark deterministic "
        "reload_dataloaders_every_n_epochs auto_lr_find replace_sampler_ddp detect_anomaly "
        "auto_scale_batch_size prepare_data_per_node plugins amp_backend amp_level move_metrics_to_cpu "
        "multiple_trainloader_mode stochastic_weight_avg terminate_on_nan"
    ),
    "1.7": (
        "logger enable_checkpointing callbacks default_root_dir gradient_clip_val gradient_clip_algorithm "
        "num_nodes num_processes devices gpus auto_select_gpus tpu_cores ipus enable_progress_bar "
        "overfit_batches track_grad_norm check_val_every_n_epoch fast_dev_run accumulate_grad_batches "
        "max_epochs min_epochs max_steps min_steps max_time limit_train_batches limit_val_batches "
        "limit_test_batches limit_predict_batches val_check_interval log_every_n_steps accelerator "
        "strategy sync_batchnorm precision enable_model_summary weights_save_path num_sanity_val_steps "
        "resume_from_checkpoint profiler benchmark deterministic reload_dataloaders_every_n_epochs "
        "auto_lr_find replace_sampler_ddp detect_anomaly auto_scale_batch_size plugins amp_backend "
        "amp_level move_metrics_to_cpu multiple_trainloader_mode"
    ),
    "1.9": (
        "logger enable_checkpointing callbacks default_root_dir gradient_clip_val gradient_clip_algorithm "
        "num_nodes num_processes devices gpus auto_select_gpus tpu_cores ipus enable_progress_bar "
        "overfit_batches track_grad_norm check_val_every_n_epoch fast_dev_run accumulate_grad_batches "
        "max_epochs min_epochs max_steps min_steps max_time limit_train_batches limit_val_batches "
        "limit_test_batches limit_predict_batches val_check_interval log_every_n_steps accelerator "
        "strategy sync_batchnorm precision enable_model_summary num_sanity_val_steps "
        "resume_from_checkpoint profiler benchmark deterministic reload_dataloaders_every_n_epochs "
        "auto_lr_find replace_sampler_ddp detect_anomaly auto_scale_batch_size plugins amp_backend "
        "amp_level move_metrics_to_cpu multiple_trainloader_mode inference_mode"
    ),
}


def positions(release: Version) -> tuple[str, ...]:
    """Return the names of the arguments in the order of ``release``."""
    key = Version(f"{release.major}.{release.minor}")
    known = [name for name in _ORDERS if Version(name) <= key]
    return tuple(_ORDERS[known[-1] if known else next(iter(_ORDERS))].split())

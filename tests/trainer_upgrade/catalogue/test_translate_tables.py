"""The translation by tables: one legacy call, one modern call a line."""

from __future__ import annotations

from typing import Any

import pytest

from trainer_upgrade.catalogue import Applicability, Target
from trainer_upgrade.catalogue.translate import CallbackRef, Translation, translate_trainer_arguments

SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL


class ModelCheckpoint:
    def __init__(self, dirpath: str | None = None) -> None:
        self.dirpath = dirpath


class EarlyStopping: ...


class RichProgressBar: ...


class ModelSummary: ...


class Timer: ...


class GradientAccumulationScheduler: ...


class StochasticWeightAveraging: ...


class TrainingTypePlugin: ...


class DDPPlugin(TrainingTypePlugin): ...


class PrecisionPlugin: ...


class ClusterEnvironment: ...


class SLURMEnvironment(ClusterEnvironment): ...


BEST, STOP, BAR, SUMMARY = ModelCheckpoint(), EarlyStopping(), RichProgressBar(), ModelSummary()
DDP, SLURM, HALF = DDPPlugin(), SLURMEnvironment(), PrecisionPlugin()


def lightning(version: str = "1.9", **legacy: Any) -> Translation:
    return translate_trainer_arguments(legacy, target=Target.LIGHTNING, legacy_version=version)


def relight(version: str = "1.9", **legacy: Any) -> Translation:
    return translate_trainer_arguments(legacy, target=Target.RELIGHT, legacy_version=version)


def refs(done: Translation) -> list[tuple[str, dict[str, Any]]]:
    return [(each.name, each.arguments) for each in done.callbacks]


def sure(done: Translation, argument: str) -> Applicability:
    (finding,) = [each for each in done.findings if each.argument == argument]
    return finding.applicability


CPU = {"accelerator": "cpu", "devices": 1}


@pytest.mark.parametrize(
    ("version", "legacy", "modern"),
    [
        # gpus: a number, all, none, indices; a bare number in a string was an index until 1.4
        ("1.9", {"gpus": 2}, {"accelerator": "gpu", "devices": 2}),
        ("1.9", {"gpus": -1}, {"accelerator": "gpu", "devices": -1}),
        ("1.9", {"gpus": "-1"}, {"accelerator": "gpu", "devices": "-1"}),
        ("1.9", {"gpus": [1, 3]}, {"accelerator": "gpu", "devices": [1, 3]}),
        ("1.9", {"gpus": "0,1"}, {"accelerator": "gpu", "devices": "0,1"}),
        ("1.9", {"gpus": "2,"}, {"accelerator": "gpu", "devices": "2,"}),
        ("1.9", {"gpus": "2"}, {"accelerator": "gpu", "devices": "2"}),
        ("1.5", {"gpus": "2"}, {"accelerator": "gpu", "devices": "2"}),
        ("1.4", {"gpus": "2"}, {"accelerator": "gpu", "devices": [2]}),
        ("0.9", {"gpus": "2"}, {"accelerator": "gpu", "devices": [2]}),
        ("1.4", {"gpus": "0"}, {"accelerator": "gpu", "devices": [0]}),
        ("1.5", {"gpus": "0"}, CPU),
        ("1.4", {"gpus": "-1"}, {"accelerator": "gpu", "devices": "-1"}),
        ("1.9", {"gpus": 0}, CPU),
        ("1.9", {"gpus": None}, CPU),
        ("1.9", {"gpus": []}, CPU),
        ("1.9", {"gpus": [], "num_processes": 1}, CPU),
        ("1.9", {"gpus": False}, CPU),
        ("1.9", {"tpu_cores": None, "gpus": None}, CPU),
        # num_processes won from 1.6 on; before, GPUs did
        ("1.9", {"num_processes": 4}, {"accelerator": "cpu", "devices": 4}),
        ("1.9", {"num_processes": 1, "gpus": 2}, CPU),
        ("1.6", {"num_processes": 3, "gpus": 2}, {"accelerator": "cpu", "devices": 3}),
        ("1.5", {"num_processes": 3, "gpus": 2}, {"accelerator": "gpu", "devices": 2}),
        ("0.8", {"num_processes": 3}, CPU),
        # the accelerator's name was kept, whatever the argument said
        ("1.9", {"gpus": 2, "accelerator": "cpu"}, {"accelerator": "cpu", "devices": 2}),
        ("1.5", {"gpus": 2, "accelerator": "cpu"}, CPU),
        ("1.9", {"gpus": 2, "accelerator": "auto"}, {"accelerator": "auto", "devices": 2}),
        ("1.9", {"gpus": 2, "devices": 4, "accelerator": "gpu"}, {"accelerator": "gpu", "devices": 2}),
        ("1.9", {"gpus": None, "accelerator": "gpu"}, {"accelerator": "gpu"}),
        ("1.9", {"accelerator": "gpu", "devices": None}, {"accelerator": "gpu"}),
        ("1.9", {"accelerator": None}, CPU),
        ("1.9", {"devices": None}, CPU),
        ("1.9", {"accelerator": None, "devices": 2}, {"accelerator": "cpu", "devices": 2}),
        # TPU cores count from 0 today
        ("1.9", {"tpu_cores": 8}, {"accelerator": "tpu", "devices": 8}),
        ("1.9", {"tpu_cores": "8"}, {"accelerator": "tpu", "devices": 8}),
        ("1.9", {"tpu_cores": [1]}, {"accelerator": "tpu", "devices": [0]}),
        ("1.9", {"tpu_cores": "5,"}, {"accelerator": "tpu", "devices": [4]}),
        ("0.8", {"num_tpu_cores": 8}, {"accelerator": "tpu", "devices": 8}),
        ("1.9", {"accelerator": "tpu", "devices": [1]}, {"accelerator": "tpu", "devices": [1]}),
        (
            "1.9",
            {"accelerator": "tpu", "devices": [1], "max_steps": None},
            {"accelerator": "tpu", "devices": [0]},
        ),
        # strategies in other arguments
        (
            "1.4",
            {"gpus": 4, "accelerator": "ddp"},
            {"accelerator": "gpu", "devices": 4, "strategy": "ddp"},
        ),
        (
            "0.9",
            {"gpus": 2, "distributed_backend": "ddp_spawn"},
            {"accelerator": "gpu", "devices": 2, "strategy": "ddp_spawn"},
        ),
        (
            "1.4",
            {"num_processes": 4, "accelerator": "ddp_cpu"},
            {"accelerator": "cpu", "devices": 4, "strategy": "ddp_spawn"},
        ),
        (
            "1.4",
            {"num_nodes": 2, "accelerator": "ddp_cpu"},
            {"num_nodes": 2, "accelerator": "cpu", "devices": 1, "strategy": "ddp"},
        ),
        (
            "1.4",
            {"gpus": 2, "accelerator": "ddp_cpu"},
            {"accelerator": "cpu", "devices": 1, "strategy": "ddp_spawn"},
        ),
        ("1.5", {"gpus": 0, "strategy": "ddp"}, CPU),
        ("1.9", {"gpus": 0, "strategy": "ddp"}, {**CPU, "strategy": "ddp"}),
        ("1.9", {"gpus": 1, "strategy": "dp"}, {"accelerator": "gpu", "devices": 1}),
        ("1.9", {"gpus": 0, "strategy": "dp"}, {**CPU, "strategy": "ddp"}),
        ("1.9", {"gpus": 2, "strategy": None}, {"accelerator": "gpu", "devices": 2}),
        ("1.9", {"strategy": None}, {}),
        ("1.9", {"strategy": "fsdp_native"}, {"strategy": "fsdp"}),
        ("1.9", {"strategy": "fsdp_native_full_shard_offload"}, {"strategy": "fsdp_cpu_offload"}),
        ("1.9", {"strategy": "tpu_spawn"}, {"strategy": "xla"}),
        ("1.9", {"strategy": "tpu_spawn_debug"}, {"strategy": "xla_debug"}),
        ("1.9", {"strategy": "ddp_sharded_spawn"}, {"strategy": "fsdp"}),
        ("1.9", {"num_nodes": "2"}, {"num_nodes": 2}),
        ("1.9", {"num_nodes": None}, {}),
        ("0.7", {"nb_gpu_nodes": 2}, {"num_nodes": 2}),
        # today's arguments pass
        (
            "1.9",
            {"accelerator": "gpu", "devices": 2, "strategy": "ddp"},
            {"accelerator": "gpu", "devices": 2, "strategy": "ddp"},
        ),
        ("1.9", {"devices": 2}, {"devices": 2}),
        ("1.9", {"accelerator": "mps"}, {"accelerator": "mps"}),
    ],
)
def test_devices_and_strategy(version: str, legacy: dict[str, Any], modern: dict[str, Any]) -> None:
    done = lightning(version, **legacy)
    assert done.constructor == modern
    assert not done.errors


@pytest.mark.parametrize(
    ("version", "legacy", "argument"),
    [
        ("1.9", {"gpus": True}, "gpus"),
        ("1.9", {"gpus": 1.5}, "gpus"),
        ("1.9", {"gpus": [0, 0]}, "gpus"),
        ("1.9", {"gpus": "two"}, "gpus"),
        ("1.9", {"gpus": -2}, "gpus"),
        ("1.5", {"gpus": ""}, "gpus"),
        ("1.9", {"gpus": "0,1", "accelerator": "cpu"}, "gpus"),
        ("1.9", {"devices": 0, "accelerator": "gpu"}, "devices"),
        ("1.9", {"devices": "auto", "gpus": None}, "devices"),
        ("1.5", {"devices": 2}, "devices"),
        ("1.9", {"tpu_cores": 3}, "tpu_cores"),
        ("0.8", {"num_tpu_cores": 3}, "num_tpu_cores"),
        ("1.9", {"ipus": 4}, "ipus"),
        ("1.9", {"accelerator": "hpu", "devices": 8}, "accelerator"),
        ("1.9", {"accelerator": "gpus"}, "accelerator"),
        ("1.5", {"accelerator": "gpu"}, "accelerator"),
        ("1.5", {"accelerator": "ddp", "strategy": "ddp", "gpus": 2}, "accelerator"),
        ("1.5", {"gpus": 1, "num_nodes": 2}, "num_nodes"),
        ("1.5", {"gpus": 0, "auto_select_gpus": True}, "auto_select_gpus"),
        ("1.9", {"gpus": 2, "strategy": "dp"}, "strategy"),
        ("1.4", {"gpus": 2, "distributed_backend": "ddp2"}, "distributed_backend"),
        ("1.9", {"strategy": "horovod"}, "strategy"),
        ("1.9", {"strategy": "bagua"}, "strategy"),
        ("1.9", {"strategy": "colossalai"}, "strategy"),
        ("1.9", {"strategy": "hpu_parallel"}, "strategy"),
        ("1.9", {"strategy": "ipu_strategy"}, "strategy"),
        ("1.9", {"num_nodes": 0}, "num_nodes"),
        ("1.9", {"precision": "mixed"}, "precision"),
        ("1.9", {"precision": 8}, "precision"),
        ("1.9", {"precision": 16, "amp_backend": "apex", "accelerator": "cpu"}, "amp_backend"),
        ("1.9", {"precision": "bf16", "amp_backend": "apex"}, "amp_backend"),
        ("1.9", {"amp_level": "O2"}, "amp_level"),
        ("1.9", {"amp_backend": "amd"}, "amp_backend"),
        ("1.9", {"tpu_cores": 8, "precision": 64}, "precision"),
        ("1.6", {"weights_summary": "some"}, "weights_summary"),
        ("1.6", {"weights_summary": False}, "weights_summary"),
        ("1.6", {"checkpoint_callback": False, "callbacks": [BEST]}, "checkpoint_callback"),
        ("1.9", {"enable_checkpointing": False, "callbacks": BEST}, "enable_checkpointing"),
        ("1.9", {"enable_progress_bar": False, "callbacks": [BAR]}, "enable_progress_bar"),
        ("1.9", {"callbacks": [BAR, RichProgressBar()]}, "callbacks"),
        (
            "1.9",
            {"accumulate_grad_batches": 4, "callbacks": [GradientAccumulationScheduler()]},
            "accumulate_grad_batches",
        ),
        ("1.9", {"accumulate_grad_batches": "4"}, "accumulate_grad_batches"),
        ("1.6", {"terminate_on_nan": "yes"}, "terminate_on_nan"),
        ("1.9", {"track_grad_norm": 0}, "track_grad_norm"),
        ("1.9", {"multiple_trainloader_mode": "longest"}, "multiple_trainloader_mode"),
        ("1.9", {"limit_val_batches": 1.5}, "limit_val_batches"),
        ("0.9", {"val_percent_check": -0.5}, "val_percent_check"),
        ("1.9", {"max_steps": -2}, "max_steps"),
        ("1.9", {"max_epochs": -2}, "max_epochs"),
        ("1.9", {"fast_dev_run": -1}, "fast_dev_run"),
        ("1.9", {"gradient_clip_val": "1"}, "gradient_clip_val"),
        ("1.9", {"gradient_clip_algorithm": "max"}, "gradient_clip_algorithm"),
        ("1.9", {"check_val_every_n_epoch": None, "val_check_interval": 0.5}, "check_val_every_n_epoch"),
        ("1.6", {"plugins": [DDP], "strategy": "ddp"}, "plugins"),
        ("1.6", {"plugins": ["ddp_sharded", DDP]}, "plugins"),
        ("2.0", {"barebones": True, "profiler": "simple"}, "profiler"),
        ("2.0", {"barebones": True, "logger": True}, "logger"),
        ("1.9", {"gpu": 1}, "gpu"),
    ],
)
@pytest.mark.parametrize("target", list(Target))
def test_what_was_refused_or_has_no_translation(
    target: Target, version: str, legacy: dict[str, Any], argument: str
) -> None:
    done = translate_trainer_arguments(legacy, target=target, legacy_version=version)
    assert [each.argument for each in done.errors] == [argument]
    assert argument not in done.constructor or done.constructor[argument] != legacy[argument]
    assert "`" in done.errors[0].message


@pytest.mark.parametrize(
    ("legacy", "modern"),
    [
        ({"precision": 16}, "16-mixed"),
        ({"precision": "16"}, "16-mixed"),
        ({"precision": 32}, "32-true"),
        ({"precision": 64}, "64-true"),
        ({"precision": "bf16"}, "bf16-mixed"),
        ({"precision": "16-true"}, "16-true"),
        ({"precision": "transformer-engine"}, "transformer-engine"),
        ({"precision": 16, "amp_backend": "native"}, "16-mixed"),
        ({"precision": 16, "amp_backend": "apex"}, "16-mixed"),
        ({"precision": 16, "amp_backend": "apex", "amp_level": "O0"}, "32-true"),
        ({"precision": 16, "amp_backend": "apex", "amp_level": "O1"}, "16-mixed"),
        ({"precision": 16, "amp_backend": "apex", "amp_level": "O3"}, "16-true"),
        ({"precision": 32, "amp_backend": "apex", "amp_level": "O2"}, "32-true"),
        ({"use_amp": True}, "16-mixed"),
        ({"use_amp": False}, "32-true"),
        ({"use_amp": True, "precision": 32}, "16-mixed"),
        ({"tpu_cores": 8, "precision": 16}, "bf16-true"),
        ({"tpu_cores": 8, "precision": "bf16"}, "bf16-true"),
        ({"tpu_cores": 8, "precision": 32}, "32-true"),
        ({"amp_backend": "native"}, None),
        ({"precision": 16, "plugins": [HALF]}, None),
    ],
)
def test_precision(legacy: dict[str, Any], modern: str | None) -> None:
    done = lightning("1.9", **legacy)
    assert not done.errors
    assert done.constructor.get("precision") == modern
    assert not {"amp_backend", "amp_level", "use_amp"} & done.constructor.keys()


def test_amp_level_without_apex_was_ignored_until_1_4() -> None:
    assert not lightning("1.4", amp_level="O2").errors
    assert sure(lightning("1.4", amp_level="O2"), "amp_level") is SAFE


@pytest.mark.parametrize(
    ("version", "legacy", "constructor", "callbacks"),
    [
        ("1.4", {"checkpoint_callback": True}, {"enable_checkpointing": True}, []),
        ("1.4", {"checkpoint_callback": False}, {"enable_checkpointing": False}, []),
        ("1.4", {"checkpoint_callback": None}, {"enable_checkpointing": False}, []),
        (
            "1.4",
            {"checkpoint_callback": None, "callbacks": [BEST]},
            {"callbacks": [BEST], "enable_checkpointing": True},
            [],
        ),
        ("1.5", {"checkpoint_callback": None}, {}, []),
        (
            "1.5",
            {"checkpoint_callback": True, "enable_checkpointing": False},
            {"enable_checkpointing": False},
            [],
        ),
        (
            "1.5",
            {"checkpoint_callback": False, "enable_checkpointing": True},
            {"enable_checkpointing": False},
            [],
        ),
        ("1.0", {"checkpoint_callback": BEST}, {"callbacks": [BEST]}, []),
        ("1.0", {"checkpoint_callback": BEST, "callbacks": [STOP]}, {"callbacks": [STOP, BEST]}, []),
        ("1.0", {"checkpoint_callback": BEST, "callbacks": STOP}, {"callbacks": [STOP, BEST]}, []),
        ("1.0", {"checkpoint_callback": BEST, "callbacks": None}, {"callbacks": [BEST]}, []),
        ("0.9", {"early_stop_callback": STOP}, {"callbacks": [STOP]}, []),
        ("0.9", {"early_stop_callback": False}, {}, []),
        ("0.9", {"early_stop_callback": None}, {}, []),
        ("1.6", {"progress_bar_refresh_rate": 20}, {}, [("TQDMProgressBar", {"refresh_rate": 20})]),
        ("1.6", {"progress_bar_refresh_rate": 0}, {"enable_progress_bar": False}, []),
        ("1.6", {"progress_bar_refresh_rate": None}, {}, []),
        (
            "1.6",
            {"progress_bar_refresh_rate": 20, "process_position": 2},
            {},
            [("TQDMProgressBar", {"refresh_rate": 20, "process_position": 2})],
        ),
        ("1.6", {"process_position": 1}, {}, [("TQDMProgressBar", {"process_position": 1})]),
        ("1.6", {"process_position": 0}, {}, []),
        ("1.6", {"progress_bar_refresh_rate": 0, "process_position": 1}, {"enable_progress_bar": False}, []),
        ("1.6", {"progress_bar_refresh_rate": 5, "callbacks": [BAR]}, {"callbacks": [BAR]}, []),
        ("1.6", {"progress_bar_refresh_rate": 0, "callbacks": [BAR]}, {"callbacks": [BAR]}, []),
        (
            "1.6",
            {"progress_bar_refresh_rate": 5, "enable_progress_bar": False},
            {"enable_progress_bar": False},
            [],
        ),
        ("0.7", {"progress_bar_callback": False}, {"enable_progress_bar": False}, []),
        ("0.7", {"progress_bar_callback": BAR}, {"callbacks": [BAR]}, []),
        ("0.7", {"show_progress_bar": True}, {}, []),
        ("0.7", {"show_progress_bar": False}, {"enable_progress_bar": False}, []),
        ("1.6", {"weights_summary": "top"}, {}, []),
        ("1.6", {"weights_summary": "full"}, {}, [("ModelSummary", {"max_depth": -1})]),
        ("1.6", {"weights_summary": None}, {"enable_model_summary": False}, []),
        ("1.6", {"weights_summary": "full", "callbacks": SUMMARY}, {"callbacks": SUMMARY}, []),
        (
            "1.6",
            {"weights_summary": "full", "enable_model_summary": False},
            {"enable_model_summary": False},
            [],
        ),
        (
            "1.9",
            {"accumulate_grad_batches": {0: 8, 4: 2}},
            {},
            [("GradientAccumulationScheduler", {"scheduling": {0: 8, 4: 2}})],
        ),
        ("1.9", {"accumulate_grad_batches": None}, {}, []),
        ("1.9", {"accumulate_grad_batches": 4}, {"accumulate_grad_batches": 4}, []),
        ("1.6", {"log_gpu_memory": "all"}, {}, [("DeviceStatsMonitor", {})]),
        ("1.6", {"log_gpu_memory": "all", "logger": False}, {"logger": False}, []),
        ("1.6", {"log_gpu_memory": None}, {}, []),
        ("1.6", {"weights_save_path": "w"}, {}, [("ModelCheckpoint", {"dirpath": "w"})]),
        ("1.6", {"weights_save_path": None}, {}, []),
        (
            "1.6",
            {"weights_save_path": "w", "checkpoint_callback": False},
            {"enable_checkpointing": False},
            [],
        ),
        ("1.6", {"stochastic_weight_avg": False}, {}, []),
        ("1.6", {"stochastic_weight_avg": True}, {}, []),
    ],
)
def test_shortcuts_of_callbacks(
    version: str, legacy: dict[str, Any], constructor: dict[str, Any], callbacks: list[Any]
) -> None:
    done = lightning(version, **legacy)
    assert done.constructor == constructor
    assert refs(done) == callbacks
    assert not done.errors


def test_early_stopping_by_default_monitored_another_value() -> None:
    (old,) = lightning("0.9", early_stop_callback=True).callbacks
    assert old == CallbackRef(
        "EarlyStopping",
        {"monitor": "val_loss", "patience": 3, "verbose": True, "mode": "min"},
        "early_stop_callback",
    )
    new = lightning("0.10", early_stop_callback=True)
    assert new.callbacks[0].arguments["monitor"] == "early_stop_on"
    assert sure(new, "early_stop_callback") is UNSAFE


def test_a_given_list_of_callbacks_is_not_changed() -> None:
    given = [STOP]
    done = lightning("1.0", checkpoint_callback=BEST, callbacks=given)
    assert given == [STOP]
    assert done.constructor["callbacks"] is not given


@pytest.mark.parametrize(
    ("version", "legacy", "modern"),
    [
        ("0.7", {"default_save_path": "p"}, {"default_root_dir": "p"}),
        ("0.7", {"gradient_clip": 0.5}, {"gradient_clip_val": 0.5}),
        ("0.7", {"max_nb_epochs": 3, "min_nb_epochs": 1}, {"max_epochs": 3, "min_epochs": 1}),
        ("0.7", {"nb_sanity_val_steps": 0}, {"num_sanity_val_steps": 0}),
        ("0.7", {"add_row_log_interval": 7}, {"log_every_n_steps": 7}),
        ("0.9", {"row_log_interval": 7}, {"log_every_n_steps": 7}),
        ("0.9", {"row_log_interval": None}, {}),
        ("0.9", {"overfit_pct": 0.1}, {"overfit_batches": 0.1}),
        ("0.9", {"train_percent_check": 0.1}, {"limit_train_batches": 0.1}),
        ("0.9", {"val_percent_check": 1}, {"limit_val_batches": 1.0}),
        ("0.9", {"val_percent_check": 0}, {"limit_val_batches": 0.0}),
        ("0.9", {"test_percent_check": 0.5, "limit_test_batches": 3}, {"limit_test_batches": 0.5}),
        ("1.9", {"replace_sampler_ddp": False}, {"use_distributed_sampler": False}),
        ("1.5", {"reload_dataloaders_every_epoch": True}, {"reload_dataloaders_every_n_epochs": 1}),
        ("1.5", {"reload_dataloaders_every_epoch": False}, {}),
        (
            "1.5",
            {"reload_dataloaders_every_epoch": False, "reload_dataloaders_every_n_epochs": 3},
            {"reload_dataloaders_every_n_epochs": 3},
        ),
        ("1.6", {"max_steps": None}, {}),
        ("1.6", {"max_epochs": None}, {"max_epochs": None}),
        ("1.6", {"val_check_interval": None}, {"val_check_interval": None}),
        ("1.2", {"profiler": True}, {"profiler": "simple"}),
        ("1.2", {"profiler": False}, {}),
        ("1.9", {"profiler": "advanced"}, {"profiler": "advanced"}),
        ("1.6", {"terminate_on_nan": True}, {"detect_anomaly": True}),
        ("1.6", {"terminate_on_nan": False}, {}),
        ("1.6", {"terminate_on_nan": False, "detect_anomaly": True}, {"detect_anomaly": True}),
        ("1.6", {"terminate_on_nan": True, "detect_anomaly": False}, {"detect_anomaly": True}),
        ("1.9", {"logger": False}, {"logger": False}),
        ("1.9", {"logger": None, "gpus": 0}, {"logger": False, **CPU}),
        ("2.0", {"logger": None}, {"logger": None}),
        ("1.9", {"benchmark": True, "deterministic": "warn"}, {"benchmark": True, "deterministic": "warn"}),
        ("1.9", {"sync_batchnorm": True}, {"sync_batchnorm": True}),
        ("0.7", {"nonsense": 1}, {}),
        ("0.8", {"print_nan_grads": True}, {}),
    ],
)
def test_renames_and_values(version: str, legacy: dict[str, Any], modern: dict[str, Any]) -> None:
    done = lightning(version, **legacy)
    assert done.constructor == modern
    assert not done.errors
    assert all(type(done.constructor[name]) is type(value) for name, value in modern.items())


def test_plugins_give_up_their_strategy() -> None:
    done = lightning("1.4", gpus=4, accelerator="ddp", plugins=[DDP, SLURM])
    assert done.constructor == {"plugins": [SLURM], "accelerator": "gpu", "devices": 4, "strategy": DDP}
    assert not done.errors
    assert lightning("1.6", plugins=DDP).constructor == {"strategy": DDP}
    assert lightning("1.6", plugins="ddp_sharded").constructor == {"strategy": "fsdp"}
    assert lightning("1.6", plugins=[SLURM]).constructor == {"plugins": [SLURM]}
    assert lightning("0.10", cluster_environment=SLURM).constructor == {"plugins": [SLURM]}


def test_resuming_is_an_argument_of_fit() -> None:
    for done in (
        lightning("1.9", resume_from_checkpoint="a.ckpt"),
        relight("1.9", resume_from_checkpoint="a.ckpt"),
    ):
        assert done.entry_points == {"fit": {"ckpt_path": "a.ckpt"}}
        assert done.constructor == {}
    for nothing in (None, ""):
        assert lightning("1.9", resume_from_checkpoint=nothing).entry_points == {}


def test_module_datamodule_tuner_and_logger() -> None:
    done = lightning(
        "1.4",
        automatic_optimization=False,
        truncated_bptt_steps=2,
        prepare_data_per_node=False,
        auto_lr_find="learning_rate",
        auto_scale_batch_size="binsearch",
        flush_logs_every_n_steps=10,
        track_grad_norm=2,
        multiple_trainloader_mode="min_size",
        move_metrics_to_cpu=True,
    )
    assert done.module == {"automatic_optimization": False, "truncated_bptt_steps": 2}
    assert done.datamodule == {"prepare_data_per_node": False}
    assert done.tuner == {
        "lr_find": {"attr_name": "learning_rate"},
        "scale_batch_size": {"mode": "binsearch"},
    }
    assert done.logger == {"flush_logs_every_n_steps": 10}
    assert done.adapters == {
        "truncated_bptt_steps": 2,
        "track_grad_norm": 2,
        "multiple_trainloader_mode": "min_size",
        "move_metrics_to_cpu": True,
    }
    assert done.constructor == {}
    assert not done.errors
    assert {each.argument for each in done.findings if each.applicability is MANUAL} == {
        "truncated_bptt_steps",
        "track_grad_norm",
        "multiple_trainloader_mode",
    }
    done = lightning("1.9", auto_lr_find=True, auto_scale_batch_size=True)
    assert done.tuner == {"lr_find": {}, "scale_batch_size": {}}
    done = lightning("1.9", auto_lr_find=False, auto_scale_batch_size=None, log_save_interval=100)
    assert done.tuner == {}
    assert done.logger == {}


def test_relight_keeps_sixteen_and_gives_the_rest_away() -> None:
    done = relight(
        "1.9",
        max_epochs=3,
        limit_train_batches=0.5,
        limit_val_batches=2,
        limit_test_batches=3,
        limit_predict_batches=4,
        row_log_interval=7,
        replace_sampler_ddp=False,
        check_val_every_n_epoch=None,
        inference_mode=False,
        min_epochs=2,
        min_steps=5,
        max_time="00:01:00:00",
        sync_batchnorm=True,
        benchmark=False,
        deterministic="warn",
        weights_summary="top",
        detect_anomaly=False,
        overfit_batches=0.0,
    )
    assert done.constructor == {"max_epochs": 3}
    assert done.entry_points == {
        "fit": {
            "limit_train_batches": 0.5,
            "limit_val_batches": 2,
            "log_every_n_steps": 7,
            "use_distributed_sampler": False,
            "check_val_every_n_epoch": None,
            "inference_mode": False,
        },
        "validate": {"limit_batches": 2, "inference_mode": False},
        "test": {"limit_batches": 3, "inference_mode": False},
        "predict": {"limit_batches": 4, "inference_mode": False},
    }
    assert done.options == {
        "limit_train_batches": 0.5,
        "limit_val_batches": 2,
        "limit_test_batches": 3,
        "limit_predict_batches": 4,
        "log_every_n_steps": 7,
        "use_distributed_sampler": False,
        "check_val_every_n_epoch": None,
        "inference_mode": False,
    }
    assert refs(done) == [
        ("ModelSummary", {"max_depth": 1}),
        ("Timer", {"duration": "00:01:00:00"}),
        ("TrainAtLeast", {"epochs": 2, "steps": 5}),
    ]
    assert [each.name for each in done.plugins] == ["TorchSyncBatchNorm"]
    assert done.torch == {
        "use_deterministic_algorithms": "warn",
        "environ.CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "backends.cudnn.benchmark": False,
    }
    assert not done.errors


def test_relight_and_what_it_has_no_argument_for() -> None:
    assert relight("2.0", barebones=True).constructor == {
        "enable_checkpointing": False,
        "logger": False,
        "enable_progress_bar": False,
    }
    assert relight("2.0", barebones=True).options == {"log_every_n_steps": 0, "num_sanity_val_steps": 0}
    assert refs(relight("2.0", enable_model_summary=False)) == []
    assert refs(relight("2.0", max_time="00:01:00:00", callbacks=[Timer()])) == []
    assert relight("2.5", model_registry="a/b").errors[0].argument == "model_registry"
    assert sure(relight("2.6", enable_autolog_hparams=False), "enable_autolog_hparams") is MANUAL
    assert relight("1.9", strategy="ddp_find_unused_parameters_false").constructor == {"strategy": "ddp"}
    spawned = relight("1.9", strategy="ddp_spawn_find_unused_parameters_true")
    assert spawned.constructor == {"strategy": "ddp_spawn"}
    assert spawned.adapters == {"find_unused_parameters": True}
    assert relight("2.0", options={"limit_train_batches": 2}).constructor == {
        "options": {"limit_train_batches": 2}
    }
    assert lightning("2.0", options={}).errors[0].argument == "options"


@pytest.mark.parametrize(
    ("legacy", "lightning_gets", "relight_gets"),
    [
        ({}, CPU, CPU),
        ({"max_epochs": 1}, {"max_epochs": 1, **CPU}, {"max_epochs": 1, **CPU}),
        (
            {"devices": 2},
            {"accelerator": "cpu", "devices": 2, "strategy": "ddp_spawn_find_unused_parameters_true"},
            {"accelerator": "cpu", "devices": 2, "strategy": "ddp_spawn"},
        ),
        ({"accelerator": "gpu"}, {"accelerator": "gpu"}, {"accelerator": "gpu"}),
        (
            {"gpus": 2, "strategy": "ddp"},
            {"accelerator": "gpu", "devices": 2, "strategy": "ddp_find_unused_parameters_true"},
            {"accelerator": "gpu", "devices": 2, "strategy": "ddp_find_unused_parameters_true"},
        ),
    ],
)
def test_changed_defaults_are_written_out_on_demand(
    legacy: dict[str, Any], lightning_gets: dict[str, Any], relight_gets: dict[str, Any]
) -> None:
    for target, expected in ((Target.LIGHTNING, lightning_gets), (Target.RELIGHT, relight_gets)):
        done = translate_trainer_arguments(legacy, target=target, defaults=True)
        assert done.constructor == expected
    assert not [each for each in done.findings if each.argument not in legacy]


def test_what_changed_its_meaning_is_told() -> None:
    done = lightning("1.4", gpus=2, accelerator="ddp")
    (told,) = [each for each in done.findings if each.argument == "strategy"]
    assert (told.applicability, told.silent) == (MANUAL, True)
    assert "unused parameters" in told.message
    # Not in code that may be 2.x code already: the identity test would not hold.
    assert lightning("1.9", accelerator="gpu", devices=2, strategy="ddp").findings == ()
    assert "spawned" in lightning("1.9", gpus=2).findings[0].message
    assert "spawned" not in lightning("1.9", gpus=1).findings[0].message


def test_unknown_arguments_are_guessed() -> None:
    (error,) = lightning("1.9", max_epoch=3).errors
    assert "did you mean `max_epochs`?" in error.message
    (error,) = lightning("1.9", gpu=3).errors
    assert "did you mean `gpus` (itself gone)?" in error.message


def test_a_version_without_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a release"):
        lightning("latest")


@pytest.mark.parametrize("version", ["1.9", "1.9.5", ">=1.9,<2", "v1.9.5.post0"])
def test_versions_may_be_spelled_as_in_requirements(version: str) -> None:
    assert lightning(version, gpus=2).constructor == {"accelerator": "gpu", "devices": 2}

"""Every argument that a Trainer took in some release from 0.7 to 2.6: order, default and plain types.

The order of the signature is that of 1.9.5; arguments of other releases follow and are keyword-only.
Types are the plain ones that the argparse helpers of that release saw in the annotation.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import Any, NamedTuple

from packaging.version import Version

from relight.compat._notices import notice
from relight.compat._positions import positions
from relight.compat._release import release
from trainer_upgrade.catalogue import trainer_argument

__all__ = [
    "ARGUMENTS",
    "FILLED_IN",
    "bind",
    "is_default",
    "signature",
    "with_device_number",
    "without_idle_level",
]

#: Whether a parser filled in arguments that nobody wrote: what is at its default then says nothing.
FILLED_IN: ContextVar[bool] = ContextVar("FILLED_IN", default=False)


class Argument(NamedTuple):
    """Default and plain types of one argument."""

    default: Any
    types: tuple[type, ...]


_POSITIONAL: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NOTHING = type(None)
_COUNT = (int,)
_MAYBE_COUNT = (int, _NOTHING)
_SWITCH = (bool,)
_MAYBE_SWITCH = (bool, _NOTHING)
_FRACTION = (int, float)
_MAYBE_FRACTION = (int, float, _NOTHING)
_TEXT = (str,)
_MAYBE_TEXT = (str, _NOTHING)
_DEVICES = (list, str, int, _NOTHING)

IN_1_9: dict[str, Argument] = {
    "logger": Argument(True, (object, bool)),
    "enable_checkpointing": Argument(True, _SWITCH),
    "callbacks": Argument(None, (list, object, _NOTHING)),
    "default_root_dir": Argument(None, _MAYBE_TEXT),
    "gradient_clip_val": Argument(None, _MAYBE_FRACTION),
    "gradient_clip_algorithm": Argument(None, _MAYBE_TEXT),
    "num_nodes": Argument(1, _COUNT),
    "num_processes": Argument(None, _MAYBE_COUNT),
    "devices": Argument(None, _DEVICES),
    "gpus": Argument(None, _DEVICES),
    "auto_select_gpus": Argument(None, _MAYBE_SWITCH),
    "tpu_cores": Argument(None, _DEVICES),
    "ipus": Argument(None, _MAYBE_COUNT),
    "enable_progress_bar": Argument(True, _SWITCH),
    "overfit_batches": Argument(0.0, _FRACTION),
    "track_grad_norm": Argument(-1, (int, float, str)),
    "check_val_every_n_epoch": Argument(1, _MAYBE_COUNT),
    "fast_dev_run": Argument(False, (int, bool)),
    "accumulate_grad_batches": Argument(None, (int, dict, _NOTHING)),
    "max_epochs": Argument(None, _MAYBE_COUNT),
    "min_epochs": Argument(None, _MAYBE_COUNT),
    "max_steps": Argument(-1, _COUNT),
    "min_steps": Argument(None, _MAYBE_COUNT),
    "max_time": Argument(None, (str, object, dict, _NOTHING)),
    "limit_train_batches": Argument(None, _MAYBE_FRACTION),
    "limit_val_batches": Argument(None, _MAYBE_FRACTION),
    "limit_test_batches": Argument(None, _MAYBE_FRACTION),
    "limit_predict_batches": Argument(None, _MAYBE_FRACTION),
    "val_check_interval": Argument(None, _MAYBE_FRACTION),
    "log_every_n_steps": Argument(50, _COUNT),
    "accelerator": Argument(None, (str, object, _NOTHING)),
    "strategy": Argument(None, (str, object, _NOTHING)),
    "sync_batchnorm": Argument(False, _SWITCH),
    "precision": Argument(32, (int, str)),
    "enable_model_summary": Argument(True, _SWITCH),
    "num_sanity_val_steps": Argument(2, _COUNT),
    "resume_from_checkpoint": Argument(None, _MAYBE_TEXT),
    "profiler": Argument(None, (object, str, _NOTHING)),
    "benchmark": Argument(None, _MAYBE_SWITCH),
    # bool | Literal["warn"]: no plain type was found in it, so 1.9 made no command line option for it.
    "deterministic": Argument(None, (object,)),
    "reload_dataloaders_every_n_epochs": Argument(0, _COUNT),
    "auto_lr_find": Argument(False, (bool, str)),
    "replace_sampler_ddp": Argument(True, _SWITCH),
    "detect_anomaly": Argument(False, _SWITCH),
    "auto_scale_batch_size": Argument(False, (str, bool)),
    "plugins": Argument(None, (object, str, list, _NOTHING)),
    "amp_backend": Argument(None, _MAYBE_TEXT),
    "amp_level": Argument(None, _MAYBE_TEXT),
    "move_metrics_to_cpu": Argument(False, _SWITCH),
    "multiple_trainloader_mode": Argument("max_size_cycle", _TEXT),
    "inference_mode": Argument(True, _SWITCH),
}

# Of older and newer releases; the default is the last one.
_ELSEWHERE: dict[str, Argument] = {
    "checkpoint_callback": Argument(None, (bool, object, _NOTHING)),
    "early_stop_callback": Argument(False, (bool, object, _NOTHING)),
    "process_position": Argument(0, _COUNT),
    "num_tpu_cores": Argument(None, _MAYBE_COUNT),
    "log_gpu_memory": Argument(None, _MAYBE_TEXT),
    "progress_bar_refresh_rate": Argument(None, _MAYBE_COUNT),
    "overfit_pct": Argument(None, (float,)),
    "train_percent_check": Argument(None, (float,)),
    "val_percent_check": Argument(None, (float,)),
    "test_percent_check": Argument(None, (float,)),
    "log_save_interval": Argument(None, _MAYBE_COUNT),
    "row_log_interval": Argument(None, _MAYBE_COUNT),
    "add_row_log_interval": Argument(None, (object,)),
    "distributed_backend": Argument(None, _MAYBE_TEXT),
    "print_nan_grads": Argument(False, _SWITCH),
    "weights_summary": Argument("top", _MAYBE_TEXT),
    "weights_save_path": Argument(None, _MAYBE_TEXT),
    "truncated_bptt_steps": Argument(None, _MAYBE_COUNT),
    "reload_dataloaders_every_epoch": Argument(False, _SWITCH),
    "progress_bar_callback": Argument(True, (object, bool, _NOTHING)),
    "terminate_on_nan": Argument(None, _MAYBE_SWITCH),
    "default_save_path": Argument(None, (object,)),
    "gradient_clip": Argument(None, (object,)),
    "nb_gpu_nodes": Argument(None, (object,)),
    "max_nb_epochs": Argument(None, (object,)),
    "min_nb_epochs": Argument(None, (object,)),
    "use_amp": Argument(None, (object,)),
    "show_progress_bar": Argument(None, (object,)),
    "nb_sanity_val_steps": Argument(None, (object,)),
    "prepare_data_per_node": Argument(None, _MAYBE_SWITCH),
    "flush_logs_every_n_steps": Argument(None, _MAYBE_COUNT),
    "cluster_environment": Argument(None, (object,)),
    "automatic_optimization": Argument(None, _MAYBE_SWITCH),
    "enable_pl_optimizer": Argument(None, (object,)),
    "stochastic_weight_avg": Argument(False, _SWITCH),
    "use_distributed_sampler": Argument(True, _SWITCH),
    "barebones": Argument(False, _SWITCH),
    "model_registry": Argument(None, _MAYBE_TEXT),
    "enable_autolog_hparams": Argument(True, _SWITCH),
    "options": Argument(None, (object,)),
}

ARGUMENTS: dict[str, Argument] = {**IN_1_9, **_ELSEWHERE}


def bind(positional: tuple[Any, ...], keyword: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments by name; positional ones are read in the order of the release in force.

    Raises:
        TypeError: Too many positional arguments, one given twice, or one that no release took.
    """
    order = positions(release())
    if len(positional) > len(order):
        raise TypeError(f"Trainer takes at most {len(order)} positional arguments, {len(positional)} given")
    bound = dict(zip(order, positional, strict=False))
    for name, value in keyword.items():
        if name in bound:
            raise TypeError(f"Trainer got several values for the argument {name!r}")
        if name not in ARGUMENTS:
            raise TypeError(f"Trainer got an argument {name!r}, which no release from 0.7 to 2.6 took")
        bound[name] = value
    if FILLED_IN.get():
        return {name: value for name, value in bound.items() if not is_default(name, value)}
    return bound


def is_default(name: str, value: Any) -> bool:
    """Return whether ``value`` is the argument's default."""
    default = ARGUMENTS[name].default
    return value is default or (type(value) is type(default) and bool(value == default))


def signature() -> inspect.Signature:
    """Return the signature that compat's Trainer shows to ``inspect``."""
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, argument in ARGUMENTS.items():
        kind = _POSITIONAL if name in IN_1_9 else inspect.Parameter.KEYWORD_ONLY
        parameters.append(
            inspect.Parameter(name, kind, default=argument.default, annotation=_annotation(argument))
        )
    return inspect.Signature(parameters)


def _annotation(argument: Argument) -> Any:
    types = argument.types
    if len(types) == 1:
        return types[0]
    union: Any = types[0]
    for each in types[1:]:
        union = union | each
    return union


def without_idle_level(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without an ``amp_level`` that had no effect.

    Up to 1.4 it had a default (``"O2"``) that scripts repeated, and meant nothing without apex; since 1.5 it
    was refused. An argument that left by then tells that the script is older.
    """
    level = given.get("amp_level")
    if level is None or given.get("amp_backend", "native") != "native":
        return given
    entries = (trainer_argument(name) for name in given)
    # `profiler` lost a kind of value only: it tells nothing.
    removed = [each.removed_in for each in entries if each is not None and each.relight.action != "keep"]
    if not any(release is not None and Version(release) <= Version("1.5") for release in removed):
        return given
    entry = trainer_argument("amp_level")
    notice(
        entry.code if entry else "TRU113",
        "Trainer.amp_level",
        f"`amp_level={level!r}` had no effect; drop it",
    )
    return {name: value for name, value in given.items() if name != "amp_level"}


def with_device_number(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as 1.4 and older read them: ``gpus="1"`` is the device with that number."""
    gpus = given.get("gpus")
    if isinstance(gpus, str) and gpus.strip().isdigit():
        return {**given, "gpus": [int(gpus)]}
    return given

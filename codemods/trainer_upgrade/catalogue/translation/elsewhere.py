"""Arguments that moved to the module, the data module, the tuner, the logger and ``fit``.

Sources: ``trainer.py`` and the connectors of 1.4.9, 1.5.10 and 1.9.5.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show

__all__ = ["translate_elsewhere"]

_FLUSH_DEFAULT = 100


def translate_elsewhere(draft: Draft) -> None:
    """Move these arguments to where they belong today."""
    _resume(draft)
    _module(draft)
    _datamodule(draft)
    _tuner(draft)
    _logger(draft)
    _checks(draft)
    _profiler(draft)


def _resume(draft: Draft) -> None:
    value = draft.take("resume_from_checkpoint")
    if value is MISSING:
        return
    if value is None or value == "":
        draft.default("resume_from_checkpoint", value)
    else:
        draft.fit["ckpt_path"] = value
        draft.say(
            "resume_from_checkpoint",
            f"`resume_from_checkpoint={show(value)}` → `fit(..., ckpt_path=...)`, the first `fit` only",
        )


def _module(draft: Draft) -> None:
    value = draft.take("automatic_optimization")
    if value is not MISSING:
        if value is None or value:
            draft.default("automatic_optimization", value)
        else:
            draft.module["automatic_optimization"] = False
            draft.say(
                "automatic_optimization",
                "`automatic_optimization=False` → `self.automatic_optimization = False` in the module",
                Applicability.UNSAFE,
            )
    value = draft.take("truncated_bptt_steps")
    if value is not MISSING:
        if not value:
            draft.default("truncated_bptt_steps", value)
        else:
            draft.module["truncated_bptt_steps"] = value
            draft.adapters["truncated_bptt_steps"] = value
            draft.say(
                "truncated_bptt_steps",
                f"`truncated_bptt_steps={show(value)}`: split the batch in a manual `training_step`",
                Applicability.MANUAL,
            )
    _grad_norm(draft)
    for name, harmless in (("enable_pl_optimizer", (None, True)), ("move_metrics_to_cpu", (None, False))):
        value = draft.take(name)
        if value is MISSING:
            continue
        if value in harmless:
            draft.default(name, value)
        else:
            draft.adapters[name] = value
            why = {
                "enable_pl_optimizer": "call `self.optimizers(use_pl_optimizer=False)` for bare optimizers",
                "move_metrics_to_cpu": "metrics stay on the device; torchmetrics has `compute_on_cpu=True`",
            }[name]
            draft.say(name, f"`{name}={show(value)}` is gone: {why}", Applicability.UNSAFE)


def _grad_norm(draft: Draft) -> None:
    name = "track_grad_norm"
    value = draft.take(name)
    if value is MISSING:
        return
    if value == -1:
        draft.default(name, value)
        return
    try:
        valid = (isinstance(value, (int, float)) or value == "inf") and float(value) > 0
    except (TypeError, ValueError):
        valid = False
    if not valid:
        draft.refuse(name, f'`{name}={show(value)}` is no positive number, "inf" or -1')
        return
    draft.adapters[name] = value
    draft.say(
        name,
        f"`{name}={show(value)}`: log `grad_norm(self, {show(value)})` in `on_before_optimizer_step`",
        Applicability.MANUAL,
    )


def _datamodule(draft: Draft) -> None:
    value = draft.take("prepare_data_per_node")
    if value is not MISSING:
        if value is None or value:
            draft.default("prepare_data_per_node", value)
        else:
            draft.datamodule["prepare_data_per_node"] = False
            draft.say(
                "prepare_data_per_node",
                f"`prepare_data_per_node={show(value)}` → an attribute of what has `prepare_data`",
                Applicability.UNSAFE,
            )
    value = draft.take("multiple_trainloader_mode")
    if value is not MISSING:
        if value == "max_size_cycle" or value is None:
            draft.default("multiple_trainloader_mode", value)
        elif value == "min_size":
            draft.adapters["multiple_trainloader_mode"] = value
            draft.say(
                "multiple_trainloader_mode",
                f'`multiple_trainloader_mode={show(value)}`: make it `CombinedLoader(..., mode="{value}")`',
                Applicability.MANUAL,
            )
        else:
            draft.refuse(
                "multiple_trainloader_mode",
                f'`multiple_trainloader_mode={show(value)}` is neither "max_size_cycle" nor "min_size"',
            )


def _tuner(draft: Draft) -> None:
    value = draft.take("auto_lr_find")
    if value is not MISSING:
        if not value:
            draft.default("auto_lr_find", value)
        else:
            draft.tuner["lr_find"] = {"attr_name": value} if isinstance(value, str) else {}
            keyword = f", attr_name={show(value)}" if isinstance(value, str) else ""
            draft.say(
                "auto_lr_find",
                f"`auto_lr_find={show(value)}` → `Tuner(trainer).lr_find(model{keyword})` for `tune`",
                Applicability.UNSAFE,
            )
    value = draft.take("auto_scale_batch_size")
    if value is not MISSING:
        if not value:
            draft.default("auto_scale_batch_size", value)
        else:
            draft.tuner["scale_batch_size"] = {"mode": value} if isinstance(value, str) else {}
            keyword = f", mode={show(value)}" if isinstance(value, str) else ""
            draft.say(
                "auto_scale_batch_size",
                f"`auto_scale_batch_size={show(value)}` → `Tuner(trainer).scale_batch_size(model{keyword})`"
                " for `tune`",
                Applicability.UNSAFE,
            )


def _logger(draft: Draft) -> None:
    value = draft.take("logger")
    if value is not MISSING:
        if value is None and draft.is_legacy:
            draft.put("logger", False)
            draft.say(
                "logger",
                "`logger=None` was no logger, and is the default one in 2.x → `logger=False`",
                Applicability.UNSAFE,
                silent=True,
            )
        else:
            draft.put("logger", value)
    for name in ("log_save_interval", "flush_logs_every_n_steps"):
        value = draft.take(name)
        if value is MISSING:
            continue
        if value is None or value == _FLUSH_DEFAULT:
            draft.default(name, value)
        else:
            draft.logger.setdefault("flush_logs_every_n_steps", value)
            draft.say(
                name,
                f"`{name}={show(value)}` → the logger's `flush_logs_every_n_steps` (CSVLogger) or"
                " `max_queue` (TensorBoardLogger)",
                Applicability.UNSAFE,
            )


def _checks(draft: Draft) -> None:
    value = draft.take("print_nan_grads")
    if value is not MISSING:
        draft.say(
            "print_nan_grads", f"`print_nan_grads={show(value)}` has had no effect since 0.7.2; drop it"
        )
    detect = draft.take("detect_anomaly")
    value = draft.take("terminate_on_nan")
    origin = None
    if value is not MISSING:
        if value is None or value is False:
            draft.default("terminate_on_nan", value)
        elif not isinstance(value, bool):
            draft.refuse("terminate_on_nan", f"`terminate_on_nan={show(value)}` is not a bool")
        else:
            draft.adapters["terminate_on_nan"] = True
            if detect is not MISSING and not detect:
                draft.say(
                    "detect_anomaly",
                    f"`detect_anomaly={show(detect)}` → `True`, for `terminate_on_nan`",
                    Applicability.UNSAFE,
                )
            detect, origin = True, "terminate_on_nan"
            draft.say(
                "terminate_on_nan",
                "`terminate_on_nan=True` → `detect_anomaly=True`, which is slower and looks at gradients;"
                ' nearer to it: `EarlyStopping(monitor="<loss>", check_finite=True)`',
                Applicability.UNSAFE,
            )
    if detect is not MISSING:
        draft.put("detect_anomaly", detect, origin)


def _profiler(draft: Draft) -> None:
    value: Any = draft.take("profiler")
    if value is MISSING:
        return
    if isinstance(value, bool):
        new = "simple" if value else None
        draft.say("profiler", f"`profiler={value}` → `{show(new)}`" if value else "`profiler=False`: drop it")
        if not value:
            return
        value = new
    draft.put("profiler", value)

"""Arguments that were shortcuts for callbacks: checkpoints, early stopping, summary, timer, schedules.

Sources: the callback connectors of 1.2.10, 1.4.9, 1.5.10, 1.9.5 and 2.6.6; ``callback_config.py`` of 0.7.6
and 0.9.0.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, is_a, show

__all__ = ["translate_callbacks"]

_SUMMARY_DEPTH = {"top": 1, "full": -1}
_EARLY_STOP_ON_LOSS_UNTIL = (0, 9)
_NONE_MEANS_DEFAULT_SINCE = (1, 5)


def translate_callbacks(draft: Draft) -> None:
    """Translate the shortcuts, and refuse a callback next to the flag that turns its kind off."""
    value = draft.take("callbacks")
    if value is not MISSING:
        draft.put("callbacks", value)
    _checkpointing(draft)
    _early_stopping(draft)
    _summary(draft)
    _accumulation(draft)
    _averaging(draft)
    _gpu_memory(draft)
    _weights_save_path(draft)


def flag(draft: Draft, name: str) -> Any:
    """Take a switch that is on by default; 1.x took None for off, 2.x takes it for the default.

    None is 1.x's only if something else in the arguments is.
    """
    value = draft.take(name)
    if value is None and draft.is_legacy:
        draft.say(
            name,
            f"`{name}=None` was off, and is on in 2.x → `{name}=False`",
            Applicability.UNSAFE,
            silent=True,
        )
        return False
    return value


def _checkpointing(draft: Draft) -> None:
    enabled = flag(draft, "enable_checkpointing")
    old = draft.take("checkpoint_callback")
    origin = None
    if old is not MISSING:
        written = f"`checkpoint_callback={show(old)}`"
        if old is None and draft.release >= _NONE_MEANS_DEFAULT_SINCE:
            draft.default("checkpoint_callback", None)
        elif old is None or isinstance(old, (bool, int)):
            new = bool(old) and (enabled is MISSING or enabled is None or bool(enabled))
            if old is None and draft.has_callback("ModelCheckpoint", "Checkpoint"):
                new = True
            if enabled is not MISSING and enabled is not None and enabled != new:
                draft.say(
                    "enable_checkpointing",
                    f"`enable_checkpointing={show(enabled)}`: both had to be on → `{new}`",
                )
            draft.say("checkpoint_callback", f"{written} → `enable_checkpointing={new}`")
            enabled, origin = new, "checkpoint_callback"
        else:
            draft.append_callback(old)
            draft.say("checkpoint_callback", f"{written} → `callbacks=[...]`")
    if enabled is MISSING:
        return
    if enabled is not None and not enabled and draft.has_callback("ModelCheckpoint", "Checkpoint"):
        name = origin or "enable_checkpointing"
        draft.refuse(
            name, f"`{name}={show(draft.legacy.get(name))}` next to a ModelCheckpoint was refused; drop one"
        )
        return
    draft.put("enable_checkpointing", enabled, origin)


def _early_stopping(draft: Draft) -> None:
    value = draft.take("early_stop_callback")
    if value is MISSING:
        return
    if value is True:
        monitor = "val_loss" if draft.release <= _EARLY_STOP_ON_LOSS_UNTIL else "early_stop_on"
        arguments = {"monitor": monitor, "patience": 3, "verbose": True, "mode": "min"}
        draft.add_callback("EarlyStopping", "early_stop_callback", **arguments)
        draft.say(
            "early_stop_callback",
            f'`early_stop_callback=True` → `EarlyStopping(monitor="{monitor}", patience=3, ...)`; until 0.9'
            ' it monitored "val_loss"',
            Applicability.SAFE if monitor == "val_loss" else Applicability.UNSAFE,
        )
    elif not value:
        draft.default("early_stop_callback", value)
    elif isinstance(value, (int, float, str)):
        draft.refuse(
            "early_stop_callback", f"`early_stop_callback={show(value)}` is neither a bool nor a callback"
        )
    else:
        draft.append_callback(value)
        draft.say("early_stop_callback", f"`early_stop_callback={show(value)}` → `callbacks=[...]`")


def _summary(draft: Draft) -> None:
    enabled = flag(draft, "enable_model_summary")
    old = draft.take("weights_summary")
    if old is not MISSING:
        written = f"`weights_summary={show(old)}`"
        if old is None:
            draft.say("weights_summary", f"{written} → `enable_model_summary=False`")
            draft.put("enable_model_summary", False, "weights_summary")
            if enabled not in (MISSING, None, False):
                draft.say(
                    "enable_model_summary", "`weights_summary=None` turned it off", Applicability.UNSAFE
                )
            return
        if not isinstance(old, str) or old not in _SUMMARY_DEPTH:
            draft.refuse("weights_summary", f'{written}: it was "top", "full" or None')
        elif enabled is not MISSING and enabled is not None and not enabled:
            draft.say("weights_summary", f"{written}: the summary is off; drop it")
        elif draft.has_callback("ModelSummary"):
            draft.say("weights_summary", f"{written}: the summary among `callbacks` is used; drop it")
        elif old == "top" and draft.target.value == "lightning":
            draft.default("weights_summary", old)
        else:
            draft.add_callback("ModelSummary", "weights_summary", max_depth=_SUMMARY_DEPTH[old])
            draft.say("weights_summary", f"{written} → `ModelSummary(max_depth={_SUMMARY_DEPTH[old]})`")
    if enabled is not MISSING:
        draft.put("enable_model_summary", enabled)


def _accumulation(draft: Draft) -> None:
    value = draft.take("accumulate_grad_batches")
    if value is MISSING:
        return
    name = "accumulate_grad_batches"
    scheduled = draft.has_callback("GradientAccumulationScheduler")
    if value is None:
        draft.say(name, f"`{name}=None` fails in 2.x; it meant 1: drop it")
    elif scheduled and value != 1:
        draft.refuse(
            name, f"`{name}={show(value)}` next to a GradientAccumulationScheduler was refused; drop one"
        )
    elif isinstance(value, dict):
        draft.add_callback("GradientAccumulationScheduler", name, scheduling=value)
        draft.say(name, f"`{name}={show(value)}` → `GradientAccumulationScheduler(scheduling=...)`")
    elif isinstance(value, int):
        draft.put(name, value)
    else:
        draft.refuse(name, f"`{name}={show(value)}` was a number or a dict")


def _averaging(draft: Draft) -> None:
    value = draft.take("stochastic_weight_avg")
    if value is MISSING:
        return
    if not value:
        draft.default("stochastic_weight_avg", value)
    elif draft.has_callback("StochasticWeightAveraging"):
        draft.say(
            "stochastic_weight_avg",
            "`stochastic_weight_avg=True`: the one among `callbacks` is used; drop it",
        )
    else:
        draft.adapters["stochastic_weight_avg"] = True
        draft.say(
            "stochastic_weight_avg",
            "`stochastic_weight_avg=True` → `StochasticWeightAveraging(swa_lrs=...)`: name the learning rate,"
            " the flag took the optimizer's at the swap",
            Applicability.MANUAL,
        )


def _gpu_memory(draft: Draft) -> None:
    value = draft.take("log_gpu_memory")
    if value is MISSING:
        return
    if not value:
        draft.default("log_gpu_memory", value)
    elif draft.legacy.get("logger", True) is False:
        draft.say("log_gpu_memory", f"`log_gpu_memory={show(value)}` had no logger to log to; drop it")
    else:
        draft.add_callback("DeviceStatsMonitor", "log_gpu_memory")
        draft.say(
            "log_gpu_memory",
            f"`log_gpu_memory={show(value)}` → `DeviceStatsMonitor()`, which logs under other names",
            Applicability.UNSAFE,
        )


def _weights_save_path(draft: Draft) -> None:
    name = "weights_save_path"
    value = draft.take(name)
    if value is MISSING:
        return
    if value is None or value == "":
        draft.default(name, value)
        return
    enabled = draft.modern.get("enable_checkpointing")
    if enabled is not None and not enabled:
        draft.say(name, f"`{name}={show(value)}` without checkpoints does nothing; drop it")
        return
    own = [each for each in draft.callback_list() if is_a(each, "ModelCheckpoint")]
    if own:
        if all(getattr(each, "dirpath", None) for each in own):
            draft.say(
                name,
                f"`{name}={show(value)}`: the ModelCheckpoint among `callbacks` has a `dirpath`; drop it",
            )
        else:
            draft.adapters[name] = value
            draft.say(
                name,
                f"`{name}={show(value)}`: set `dirpath` of the ModelCheckpoint among `callbacks`",
                Applicability.MANUAL,
            )
        return
    draft.add_callback("ModelCheckpoint", name, dirpath=value)
    draft.adapters[name] = value
    draft.say(
        name,
        f"`{name}={show(value)}` → `ModelCheckpoint(dirpath=...)`; 1.x added the run's name, version and"
        ' "checkpoints" to it',
        Applicability.UNSAFE,
    )

"""From the names of Lightning 2.6 to relight's slimmer constructor.

Sixteen parameters stay. What one entry point uses is an option of that entry point; minimums, times and the
summary are callbacks; synchronised batch norm is a plugin.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.draft import Draft, show
from trainer_upgrade.catalogue.translation.names import EVERY_ENTRY_POINT, FIT_OPTIONS, LIMITS, RELIGHT

__all__ = ["spread"]


def spread(draft: Draft) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the constructor's arguments and the entry points'; add callbacks and plugins to the draft."""
    constructor: dict[str, Any] = {}
    stages: dict[str, dict[str, Any]] = {stage: {} for stage in EVERY_ENTRY_POINT}
    for name, value in draft.modern.items():
        if name in RELIGHT:
            constructor[name] = value
        elif name in FIT_OPTIONS or name in LIMITS:
            _option(draft, stages, name, value)
        else:
            _special(draft, name, value)
    _minimum(draft)
    return constructor, {stage: arguments for stage, arguments in stages.items() if arguments}


def _tell(draft: Draft, name: str, message: str, applicability: Applicability = Applicability.SAFE) -> None:
    """Report a move, unless the argument it comes from has been reported under its legacy name."""
    if name not in draft.origin:
        draft.say(name, message, applicability)


def _unchanged(value: Any, default: object) -> bool:
    """Whether a value is the default, in value and type: a limit of 1 is one batch, 1.0 is all of them."""
    return value is None or (type(value) is type(default) and bool(value == default))


def _option(draft: Draft, stages: dict[str, dict[str, Any]], name: str, value: Any) -> None:
    default = FIT_OPTIONS.get(name)
    if name == "check_val_every_n_epoch":
        unchanged = value == 1 and value is not None
    else:
        unchanged = _unchanged(value, default)
    if unchanged:
        if name not in draft.origin:
            draft.default(name, value)
        return
    where = []
    if name in FIT_OPTIONS:
        stages["fit"][name] = value
        where.append(f"fit({name}=...)")
    if name in LIMITS:
        stages[LIMITS[name]]["limit_batches"] = value
        where.append(f"{LIMITS[name]}(limit_batches=...)")
    if name == "inference_mode":
        for stage in EVERY_ENTRY_POINT:
            stages[stage][name] = value
        where = ["fit, validate, test and predict(inference_mode=...)"]
    _tell(draft, name, f'`{name}={show(value)}` → `{"`, `".join(where)}`, or `options={{"{name}": ...}}`')


def _special(draft: Draft, name: str, value: Any) -> None:
    if name in ("min_epochs", "min_steps"):
        return  # together, below
    if name == "max_time":
        if value is None:
            draft.default(name, value)
        elif draft.has_callback("Timer"):
            draft.say(name, f"`{name}={show(value)}`: the Timer among `callbacks` is used; drop it")
        else:
            draft.add_callback("Timer", name, duration=value)
            _tell(draft, name, f"`{name}={show(value)}` → `Timer(duration=...)`")
    elif name == "sync_batchnorm":
        if not value:
            draft.default(name, value)
        else:
            from trainer_upgrade.catalogue.translation.types import CallbackRef

            draft.plugins.append(CallbackRef("TorchSyncBatchNorm", {}, name))
            _tell(draft, name, f"`{name}={show(value)}` → `plugins=[TorchSyncBatchNorm()]`")
    elif name == "enable_model_summary":
        _summary(draft, value)
    elif name == "enable_autolog_hparams":
        if value is None or value:
            draft.default(name, value)
        else:
            draft.adapters[name] = value
            draft.say(
                name,
                f"`{name}={show(value)}`: call `save_hyperparameters(logger=False)`",
                Applicability.MANUAL,
            )
    elif name == "model_registry":
        if value is None:
            draft.default(name, value)
        else:
            draft.refuse(name, f"`{name}={show(value)}`: relight uploads to no model registry")


def _summary(draft: Draft, value: Any) -> None:
    """relight prints a summary only where the callback is there."""
    name = "enable_model_summary"
    if value is not None and not value:
        _tell(draft, name, f"`{name}={show(value)}`: no summary is printed without the callback; drop it")
    elif draft.has_callback("ModelSummary"):
        _tell(draft, name, f"`{name}={show(value)}`: the summary among `callbacks` is used; drop it")
    elif value is None:
        draft.default(name, value)
    else:
        draft.add_callback("ModelSummary", name, max_depth=1)
        _tell(draft, name, f"`{name}={show(value)}` → `ModelSummary()`")


def _minimum(draft: Draft) -> None:
    """``min_epochs`` and ``min_steps`` are one stopping condition."""
    arguments: dict[str, Any] = {}
    first = ""
    for name, keyword in (("min_epochs", "epochs"), ("min_steps", "steps")):
        if name not in draft.modern:
            continue
        value = draft.modern[name]
        if not value:
            if name not in draft.origin:
                draft.default(name, value)
            continue
        arguments[keyword] = value
        first = first or draft.origin.get(name, name)
        _tell(draft, name, f"`{name}={show(value)}` → `TrainAtLeast({keyword}={show(value)})`")
    if arguments:
        draft.add_callback("TrainAtLeast", first, **arguments)

"""How long and how much: epochs, steps, limits of batches, clipping, intervals; what was refused of them.

Sources: ``trainer/setup.py`` of 1.9.5 and 2.6.6, ``trainer.py`` of 1.5.10, 1.9.5 and 2.6.6.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show

__all__ = ["translate_limits"]

_SHARES_OR_COUNTS = (
    "limit_train_batches",
    "limit_val_batches",
    "limit_test_batches",
    "limit_predict_batches",
    "overfit_batches",
    "val_check_interval",
)
_AS_THEY_ARE = (
    "default_root_dir",
    "fast_dev_run",
    "inference_mode",
    "log_every_n_steps",
    "max_epochs",
    "max_time",
    "min_epochs",
    "min_steps",
    "num_sanity_val_steps",
    "sync_batchnorm",
    "use_distributed_sampler",
)


def translate_limits(draft: Draft) -> None:
    """Pass on what has today's name; replace None where 2.x refuses it."""
    for name in _SHARES_OR_COUNTS:
        _pass(draft, name, _batches_problem)
    _max_steps(draft)
    _check_val(draft)
    _pass(draft, "gradient_clip_val", _number_problem)
    _pass(draft, "gradient_clip_algorithm", _algorithm_problem)
    _reload(draft)
    for name in _AS_THEY_ARE:
        problem = _below.get(name)
        _pass(draft, name, problem)


def _pass(draft: Draft, name: str, check: Any = None) -> None:
    value = draft.take(name)
    if value is MISSING:
        return
    origin = draft.origin.get(name)
    problem = check(value) if check is not None and value is not None else None
    if problem:
        written = origin or name
        draft.refuse(written, f"`{written}={show(draft.legacy.get(written))}` {problem}")
        draft.origin.pop(name, None)
    else:
        draft.put(name, value, origin)


def _batches_problem(value: Any) -> str | None:
    """A share from 0.0 to 1.0 or a whole number; since 2.6 ``val_check_interval`` is also a time."""
    if isinstance(value, (int, float)) and not (0 <= value <= 1 or (value > 1 and value % 1 == 0)):
        return "is neither a share from 0.0 to 1.0 nor a whole number"
    return None


def _number_problem(value: Any) -> str | None:
    return None if isinstance(value, (int, float)) else "is not a number"


def _algorithm_problem(value: Any) -> str | None:
    return (
        None
        if str(getattr(value, "value", value)).lower() in ("norm", "value")
        else 'is neither "norm" nor "value"'
    )


def _at_least(lowest: int) -> Any:
    def check(value: Any) -> str | None:
        return f"is below {lowest}" if isinstance(value, int) and value < lowest else None

    return check


_below = {"max_epochs": _at_least(-1), "fast_dev_run": _at_least(0)}


def _max_steps(draft: Draft) -> None:
    value = draft.take("max_steps")
    if value is None:
        draft.say("max_steps", "`max_steps=None` fails in 2.x; no limit is the default: drop it")
    elif isinstance(value, int) and value < -1:
        draft.refuse("max_steps", f"`max_steps={value}` is below -1")
    elif value is not MISSING:
        draft.put("max_steps", value)


def _check_val(draft: Draft) -> None:
    value = draft.take("check_val_every_n_epoch")
    if value is MISSING:
        return
    interval = draft.modern.get("val_check_interval")
    if value is None and isinstance(interval, float):
        draft.refuse(
            "check_val_every_n_epoch",
            "`check_val_every_n_epoch=None` needs a whole number as `val_check_interval`",
        )
    else:
        draft.put("check_val_every_n_epoch", value)


def _reload(draft: Draft) -> None:
    every, old = draft.take("reload_dataloaders_every_n_epochs"), draft.take("reload_dataloaders_every_epoch")
    if old is not MISSING and not old:
        draft.default("reload_dataloaders_every_epoch", old)
    elif old is not MISSING:
        if every is not MISSING and (every is True or every != 1):
            draft.say(
                "reload_dataloaders_every_n_epochs",
                f"`reload_dataloaders_every_n_epochs={show(every)}`: the older argument won over it",
                Applicability.UNSAFE,
            )
        draft.put("reload_dataloaders_every_n_epochs", 1, "reload_dataloaders_every_epoch")
        draft.say(
            "reload_dataloaders_every_epoch",
            f"`reload_dataloaders_every_epoch={show(old)}` → `reload_dataloaders_every_n_epochs=1`",
        )
        return
    if isinstance(every, int) and every < 0:
        draft.refuse(
            "reload_dataloaders_every_n_epochs", f"`reload_dataloaders_every_n_epochs={every}` is below 0"
        )
    elif every is not MISSING:
        draft.put("reload_dataloaders_every_n_epochs", every)

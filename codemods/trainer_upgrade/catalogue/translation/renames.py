"""Arguments that only changed their name, and their few exceptions.

Where both names were given the old one won, as in the releases that had both.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show

__all__ = ["translate_renames"]

_RENAMES = {
    "default_save_path": "default_root_dir",
    "gradient_clip": "gradient_clip_val",
    "nb_gpu_nodes": "num_nodes",
    "max_nb_epochs": "max_epochs",
    "min_nb_epochs": "min_epochs",
    "nb_sanity_val_steps": "num_sanity_val_steps",
    "add_row_log_interval": "log_every_n_steps",
    "row_log_interval": "log_every_n_steps",
    "replace_sampler_ddp": "use_distributed_sampler",
    "train_percent_check": "limit_train_batches",
    "val_percent_check": "limit_val_batches",
    "test_percent_check": "limit_test_batches",
    "overfit_pct": "overfit_batches",
}
_SHARES = ("train_percent_check", "val_percent_check", "test_percent_check", "overfit_pct")


def translate_renames(draft: Draft) -> None:
    """Give renamed arguments their new name; runs first, so that the others see modern names only."""
    for old, new in _RENAMES.items():
        value = draft.take(old)
        if value is MISSING:
            continue
        if value is None:
            draft.default(old, None)
            continue
        value, applicability, why = _as_share(old, value)
        if draft.given(new) and new in draft.rest:
            loser = draft.take(new)
            draft.say(new, f"`{new}={show(loser)}`: `{old}` won over it", Applicability.UNSAFE)
        elif new in draft.origin and draft.modern.get(new, value) != value:
            draft.say(draft.origin[new], f"`{draft.origin[new]}`: `{old}` won over it", Applicability.UNSAFE)
        draft.rest[new] = value
        draft.origin[new] = old
        draft.say(old, f"`{old}={show(draft.legacy[old])}` → `{new}={show(value)}`{why}", applicability)
    _num_nodes(draft)


def _as_share(name: str, value: Any) -> tuple[Any, Applicability, str]:
    """A share of 1 was all batches in 0.7; under today's name the whole number 1 is one batch."""
    if name in _SHARES and type(value) is int and value in (0, 1):
        if value == 1:
            return 1.0, Applicability.UNSAFE, ": 1.0 is all of them, 1 would be one batch"
        return 0.0, Applicability.SAFE, ""
    return value, Applicability.SAFE, ""


def _num_nodes(draft: Draft) -> None:
    """1.x converted the number of nodes; 2.x refuses a string."""
    value = draft.take("num_nodes")
    if value is MISSING:
        return
    origin = draft.origin.get("num_nodes")
    if value is None:
        draft.default("num_nodes", None)
    elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
        draft.put("num_nodes", value, origin)
    elif isinstance(value, (str, float)) and _whole(value):
        draft.put("num_nodes", int(value), origin)
        draft.say(
            "num_nodes" if origin is None else origin, f"`num_nodes={show(value)}` → `{show(int(value))}`"
        )
    else:
        draft.refuse(
            origin or "num_nodes", f"`{origin or 'num_nodes'}={show(value)}` is not a number of nodes"
        )


def _whole(value: str | float) -> bool:
    try:
        return int(value) > 0
    except (ValueError, OverflowError):
        return False

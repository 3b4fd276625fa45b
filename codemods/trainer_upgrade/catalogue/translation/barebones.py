"""``barebones`` of 2.x: what it turns off, and what it refuses next to it.

Source: ``trainer.py`` of 2.6.6.
"""

from __future__ import annotations

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show

__all__ = ["translate_barebones"]

_OFF: dict[str, object] = {
    "enable_checkpointing": False,
    "logger": False,
    "enable_progress_bar": False,
    "log_every_n_steps": 0,
    "enable_model_summary": False,
    "num_sanity_val_steps": 0,
}
_NOT_BARE = ("TQDMProgressBar", "ModelCheckpoint")
_REFUSED = ("fast_dev_run", "detect_anomaly", "profiler")


def translate_barebones(draft: Draft) -> None:
    """Check it, and spell it out for relight; runs when the other arguments have their modern names."""
    value = draft.take("barebones")
    if value is MISSING:
        return
    if value:
        for name in (*_OFF, *_REFUSED):
            if draft.modern.get(name):
                origin = draft.origin.get(name, name)
                draft.refuse(
                    origin,
                    f"`{origin}={show(draft.legacy.get(origin))}` next to `barebones=True` is refused",
                )
                del draft.modern[name]
        for each in [each for each in draft.callbacks if each.name in _NOT_BARE]:
            name = each.argument
            draft.refuse(name, f"`{name}={show(draft.legacy.get(name))}` next to `barebones=True` is refused")
    if draft.target is Target.LIGHTNING:
        draft.put("barebones", value)
    elif not value:
        draft.default("barebones", value)
    else:
        for name, off in _OFF.items():
            if draft.modern.get(name) is None:
                draft.put(name, off, "barebones")
        draft.say(
            "barebones", "`barebones=True` → logger, checkpoints, progress bar, summary and sanity check off"
        )

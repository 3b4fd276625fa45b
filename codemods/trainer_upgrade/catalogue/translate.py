"""Turn the arguments of a Trainer of any release from 0.7 to 2.6 into those of today's.

Pure Python over plain values: compat calls it at run time, the codemod for what is literal, so that they
cannot disagree. The rules are in :mod:`trainer_upgrade.catalogue.translation`, one idea a module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.catalogue.translation.barebones import translate_barebones
from trainer_upgrade.catalogue.translation.callbacks import translate_callbacks
from trainer_upgrade.catalogue.translation.devices import translate_devices
from trainer_upgrade.catalogue.translation.draft import Draft, release_of, show
from trainer_upgrade.catalogue.translation.elsewhere import translate_elsewhere
from trainer_upgrade.catalogue.translation.limits import translate_limits
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY, LIGHTNING, RELIGHT
from trainer_upgrade.catalogue.translation.plugins import translate_plugins
from trainer_upgrade.catalogue.translation.precision import translate_precision
from trainer_upgrade.catalogue.translation.progress import translate_progress
from trainer_upgrade.catalogue.translation.relight import spread
from trainer_upgrade.catalogue.translation.renames import translate_renames
from trainer_upgrade.catalogue.translation.torch_settings import translate_torch_settings
from trainer_upgrade.catalogue.translation.types import ArgumentFinding, CallbackRef, Instance, Translation

__all__ = [
    "ArgumentFinding",
    "CallbackRef",
    "Instance",
    "Translation",
    "translate_trainer_arguments",
]

_ANY_KEYWORD_UNTIL = (0, 7)

# Devices before precision (which half precision depends on the hardware); names before everything.
_RULES = (
    translate_renames,
    translate_plugins,
    translate_devices,
    translate_precision,
    translate_callbacks,
    translate_progress,
    translate_limits,
    translate_elsewhere,
    translate_torch_settings,
    translate_barebones,
)


def translate_trainer_arguments(
    legacy: Mapping[str, Any],
    *,
    target: Target,
    legacy_version: str = "1.9",
    defaults: bool = False,
) -> Translation:
    """Translate the keyword arguments of ``Trainer(...)``.

    Every argument and value of every release from 0.7 to 2.6 is known, alone and in combination. Arguments of
    2.x pass through for Lightning and go to relight's entry points, callbacks and plugins; translating the
    result's ``constructor`` again changes nothing.

    Args:
        legacy: The arguments by name. Objects (callbacks, loggers, plugins, strategies) pass through and are
            recognised by the names of their classes, :class:`Instance` stand-ins by the name they carry.
        target: Where the code is to run.
        legacy_version: The release that the code was written for. It decides where releases differ:
            ``gpus="2"`` was GPU number 2 before 1.5, ``num_processes`` won over ``gpus`` from 1.6 on.
        defaults: Also write out the defaults that changed in 2.0: one CPU process where no device was asked
            for, spawned processes and the search for unused parameters under DDP. A run is then what it was;
            without it, 2.x's defaults are accepted.

    Returns:
        What goes where, with one finding for each argument that was touched. It never raises because of a
        value: what the old release refused, or what has no translation, is in ``errors``.

    Raises:
        ValueError: ``legacy_version`` has no number in it.
    """
    target = Target(target)
    draft = Draft(legacy, target=target, release=release_of(legacy_version), defaults=defaults)
    for rule in _RULES:
        rule(draft)
    _pass_through(draft)
    if target is Target.RELIGHT:
        constructor, stages = spread(draft)
        if draft.fit:
            stages["fit"] = {**draft.fit, **stages.get("fit", {})}
    else:
        constructor, stages = draft.modern, {"fit": draft.fit} if draft.fit else {}
    return Translation(
        constructor=constructor,
        entry_points=stages,
        callbacks=tuple(draft.callbacks),
        module=draft.module,
        datamodule=draft.datamodule,
        torch=draft.torch,
        tuner=draft.tuner,
        logger=draft.logger,
        findings=tuple(draft.findings),
        errors=tuple(draft.errors),
        plugins=tuple(draft.plugins),
        adapters=draft.adapters,
    )


def _pass_through(draft: Draft) -> None:
    """Pass on what no rule took: modern arguments. The rest is unknown."""
    modern = LIGHTNING | (RELIGHT if draft.target is Target.RELIGHT else frozenset())
    for name in list(draft.rest):
        value = draft.take(name)
        if name in modern:
            draft.put(name, value, draft.origin.get(name))
        elif draft.release <= _ANY_KEYWORD_UNTIL:
            draft.say(name, f"`{name}` was accepted and ignored by 0.7; drop it", Applicability.UNSAFE)
        else:
            _unknown(draft, name, value)


def _unknown(draft: Draft, name: str, value: Any) -> None:
    from difflib import get_close_matches

    known = sorted(EVER - {"kwargs"}) + (["options"] if draft.target is Target.RELIGHT else [])
    close = get_close_matches(name, known, 1)
    hint = ""
    if close:
        hint = f"; did you mean `{close[0]}`{' (itself gone)' if close[0] in LEGACY_ONLY else ''}?"
    draft.refuse(name, f"`{name}={show(value)}`: no release from 0.7 to 2.6 had such an argument{hint}")

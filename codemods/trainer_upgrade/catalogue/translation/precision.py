"""``precision``, ``amp_backend``, ``amp_level`` and ``use_amp`` → ``precision``.

Sources: the accelerator connectors of 1.5.10, 1.9.5 and 2.6.6; ``auto_mix_precision.py`` of 0.7.6.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, is_a, show

__all__ = ["translate_precision"]

_NEW = {
    "64": "64-true",
    "32": "32-true",
    "16": "16-mixed",
    "bf16": "bf16-mixed",
}
_TODAY = frozenset(
    [
        "64-true",
        "32-true",
        "16-true",
        "bf16-true",
        "16-mixed",
        "bf16-mixed",
        "transformer-engine",
        "transformer-engine-float16",
    ]
)
# apex's levels: how much of the model was cast to half.
_APEX = {
    "O0": ("32-true", "it trained in full precision"),
    "O1": ("16-mixed", "torch's autocast is close to it"),
    "O2": ("16-mixed", "it also cast the model to half; torch's autocast keeps the weights whole"),
    "O3": ("16-true", "it trained in half precision"),
}
_AMP_LEVEL_CHECKED_SINCE = (1, 5)


def translate_precision(draft: Draft) -> None:
    """Write ``precision``; runs after the devices are known."""
    value = draft.take("precision")
    backend, level = draft.take("amp_backend"), draft.take("amp_level")
    value, origin = _use_amp(draft, value)
    apex = isinstance(backend, str) and backend.lower() == "apex"
    if backend is not MISSING and backend is not None and str(backend).lower() not in ("apex", "native"):
        draft.refuse("amp_backend", f'`amp_backend={show(backend)}`: it was "native" or "apex"')
    name = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else value
    if apex and name in ("16", "bf16"):
        problem = _apex_problem(draft, name)
        if problem:
            draft.refuse("amp_backend", f'`amp_backend="apex", precision={show(value)}`: {problem}')
            apex, backend = False, MISSING
        else:
            name = _from_apex(draft, level)
            level = MISSING
            draft.say(
                "amp_backend",
                f'`amp_backend="apex"` → `precision="{name}"`: apex support left in 2.0',
                Applicability.UNSAFE,
            )
            if origin == "precision":
                draft.say(
                    "precision", f'`precision={show(value)}` with apex → `"{name}"`', Applicability.UNSAFE
                )
            draft.put("precision", name, origin)
            return
    _drop_amp(draft, backend, level, apex)
    _write(draft, value, name, origin)


def _use_amp(draft: Draft, value: Any) -> tuple[Any, str]:
    use_amp = draft.take("use_amp")
    if use_amp is MISSING or use_amp is None:
        if use_amp is None:
            draft.default("use_amp", None)
        return value, "precision"
    new = 16 if use_amp else 32
    if value is not MISSING and str(value) != str(new):
        draft.say("precision", f"`precision={show(value)}`: `use_amp` won over it", Applicability.UNSAFE)
    draft.say("use_amp", f'`use_amp={show(use_amp)}` → `precision="{_NEW[str(new)]}"`')
    return new, "use_amp"


def _apex_problem(draft: Draft, name: str) -> str | None:
    if name == "bf16":
        return "apex had no bfloat16"
    if draft.modern.get("accelerator") == "cpu":
        return "apex did not run on the CPU"
    return None


def _from_apex(draft: Draft, level: Any) -> str:
    key = str(level).upper() if level is not MISSING and level is not None else "O2"
    name, why = _APEX.get(key, _APEX["O2"])
    if level is not MISSING:
        draft.say(
            "amp_level", f'`amp_level={show(level)}` → `precision="{name}"`: {why}', Applicability.UNSAFE
        )
    return name


def _drop_amp(draft: Draft, backend: Any, level: Any, apex: bool) -> None:
    if backend is not MISSING and (apex or backend is None or str(backend).lower() == "native"):
        why = "it had no effect at this precision" if apex else "torch's autocast is all there is"
        draft.say("amp_backend", f"`amp_backend={show(backend)}`: {why}; drop it")
    if level is MISSING:
        return
    if level is not None and not apex and draft.release >= _AMP_LEVEL_CHECKED_SINCE:
        draft.refuse("amp_level", f'`amp_level={show(level)}` needed `amp_backend="apex"`')
    else:
        draft.say("amp_level", f"`amp_level={show(level)}` had no effect; drop it")


def _write(draft: Draft, value: Any, name: Any, origin: str) -> None:
    if value is MISSING:
        return
    if value is None:  # today's default, which no 1.x release took
        draft.put("precision", None, origin)
        return
    if _in_plugins(draft):
        draft.say(
            origin,
            f"`{origin}={show(value)}`: the precision plugin won over it; 2.x refuses both",
            Applicability.UNSAFE,
        )
        return
    if isinstance(name, str) and name in _TODAY:
        draft.put("precision", name, origin)
        return
    new = _NEW.get(name) if isinstance(name, str) else None
    if new is None:
        hint = '; did you mean "16-mixed"?' if name == "mixed" else ""
        draft.refuse("precision", f"`precision={show(value)}` is no precision of any release{hint}")
        return
    accelerator = draft.modern.get("accelerator")
    if accelerator == "tpu" and new != "32-true":
        if new == "64-true":
            draft.refuse(origin, f"`{origin}={show(value)}`: TPUs had no double precision")
            return
        new = "bf16-true"  # either way 1.x set XLA_USE_BF16
    draft.put("precision", new, origin)
    if origin == "precision":
        draft.say("precision", f'`precision={show(value)}` → `"{new}"`')


def _in_plugins(draft: Draft) -> bool:
    plugins = draft.modern.get("plugins")
    listed = plugins if isinstance(plugins, (list, tuple)) else [plugins]
    return any(is_a(each, "PrecisionPlugin", "Precision") for each in listed)

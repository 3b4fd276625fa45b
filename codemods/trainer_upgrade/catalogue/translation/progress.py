"""The progress bar's arguments → ``enable_progress_bar`` and ``TQDMProgressBar``.

Sources: the callback connectors of 1.5.10, 1.9.5 and 2.6.6; ``deprecated_api.py`` of 0.7.6, where
``show_progress_bar`` is read and has no effect.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.callbacks import flag
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, is_a, show

__all__ = ["translate_progress"]

_BARS = ("ProgressBar", "ProgressBarBase", "TQDMProgressBar", "RichProgressBar")


def translate_progress(draft: Draft) -> None:
    """Write ``enable_progress_bar`` or add a bar; runs after ``callbacks`` are known."""
    enabled = flag(draft, "enable_progress_bar")
    origin = None
    written = enabled
    enabled, origin = _first_names(draft, enabled, origin)
    if origin and written is not MISSING and written is not False:
        draft.say("enable_progress_bar", f"`enable_progress_bar={show(written)}`: `{origin}` turned it off")
    rate, position = draft.take("progress_bar_refresh_rate"), draft.take("process_position")
    bars = [each for each in draft.callback_list() if is_a(each, *_BARS)]
    off = enabled is not MISSING and enabled is not None and not enabled
    if len(bars) > 1:
        draft.refuse("callbacks", "two progress bars among `callbacks` were refused; drop one")
        draft.modern.pop("callbacks", None)
    elif bars and off:
        name = origin or "enable_progress_bar"
        draft.refuse(
            name, f"`{name}={show(draft.legacy.get(name))}` next to a progress bar is refused; drop one"
        )
        enabled = MISSING
    arguments: dict[str, Any] = {}
    for name, value, keyword in (
        ("progress_bar_refresh_rate", rate, "refresh_rate"),
        ("process_position", position, "process_position"),
    ):
        if value is MISSING:
            continue
        written = f"`{name}={show(value)}`"
        if value is None or (value == 0 and keyword == "process_position"):
            draft.default(name, value)
        elif bars:
            draft.say(name, f"{written}: the bar among `callbacks` is used; drop it")
        elif off or rate == 0:
            if keyword == "refresh_rate" and not off:
                enabled, origin = False, name
                draft.say(name, f"{written} → `enable_progress_bar=False`")
            else:
                draft.say(name, f"{written}: the bar is off; drop it")
        elif isinstance(value, int) and value > 0:
            arguments[keyword] = value
            draft.say(name, f"{written} → `TQDMProgressBar({keyword}={value})`")
        else:
            draft.refuse(name, f"{written} is a number from 0")
    if arguments:
        argument = "progress_bar_refresh_rate" if "refresh_rate" in arguments else "process_position"
        draft.add_callback("TQDMProgressBar", argument, **arguments)
    if enabled is not MISSING:
        draft.put("enable_progress_bar", enabled, origin)


def _first_names(draft: Draft, enabled: Any, origin: str | None) -> tuple[Any, str | None]:
    """``show_progress_bar`` and ``progress_bar_callback`` of 0.7."""
    value = draft.take("show_progress_bar")
    if value is not MISSING:
        if value is None or value:
            draft.default("show_progress_bar", value)
        else:
            # 0.7 warned and showed the bar all the same; what was meant is plain.
            enabled, origin = False, "show_progress_bar"
            draft.say(
                "show_progress_bar",
                f"`show_progress_bar={show(value)}` → `enable_progress_bar=False`",
                Applicability.UNSAFE,
            )
    value = draft.take("progress_bar_callback")
    if value is not MISSING:
        if value is True:
            draft.default("progress_bar_callback", True)
        elif not value:
            enabled, origin = False, "progress_bar_callback"
            draft.say(
                "progress_bar_callback",
                f"`progress_bar_callback={show(value)}` → `enable_progress_bar=False`",
            )
        elif isinstance(value, (int, float, str)):
            message = f"`progress_bar_callback={show(value)}` is neither a bool nor a callback"
            draft.refuse("progress_bar_callback", message)
        else:
            draft.append_callback(value)
            draft.say("progress_bar_callback", f"`progress_bar_callback={show(value)}` → `callbacks=[...]`")
    return enabled, origin

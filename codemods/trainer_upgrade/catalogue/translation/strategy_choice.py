"""``strategy``, and the strategy's names in ``accelerator``, ``distributed_backend`` and ``plugins``."""

from __future__ import annotations

import sys
from typing import Any

from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show
from trainer_upgrade.catalogue.translation.eras import FOLDED_SINCE, Chosen
from trainer_upgrade.catalogue.translation.strategy import (
    for_relight,
    keeps_looking,
    looks_for_unused,
    renamed,
)

__all__ = ["translate_strategy"]

_PLAIN_DDP = ("dp", "ddp", "ddp2", "ddp_spawn")


def translate_strategy(draft: Draft, chosen: Chosen, backend: str | None, backend_argument: str) -> None:
    """Write ``strategy``.

    Args:
        draft: The translation.
        chosen: Where it runs.
        backend: A strategy's name that stood in an argument of another name.
        backend_argument: That argument.
    """
    value = draft.take("strategy")
    origin = draft.origin.pop("strategy", "strategy")
    if value is None:
        draft.say("strategy", "`strategy=None` is refused by 2.x; drop it")
        value = MISSING
    if backend is not None:
        if value is not MISSING:
            if origin == "plugins":
                draft.say(
                    backend_argument,
                    f"`{backend_argument}={show(backend)}`: the strategy in `plugins` won over it; drop it",
                )
            else:
                draft.refuse(
                    backend_argument,
                    f"`{backend_argument}={show(backend)}`, `strategy={show(value)}` were refused together",
                )
        else:
            value, origin = backend, backend_argument
    if isinstance(value, str):
        _by_name(draft, chosen, value.lower(), origin, value)
        if draft.modern.get("strategy") == value.lower():
            draft.put("strategy", value, origin)  # capitals do not matter
    elif value is not MISSING:
        draft.put("strategy", value, origin)
        if origin != "strategy":
            draft.say(origin, f"the strategy among `{origin}` → `strategy={show(value)}`")
    elif draft.defaults:
        _default(draft, chosen)


def _by_name(draft: Draft, chosen: Chosen, name: str, origin: str, written: str) -> None:
    before = f"`{origin}={show(written)}`"
    if name == "auto":
        if draft.defaults and _several(draft, chosen) and chosen.accelerator != "tpu":
            _keep_looking(draft, "ddp", origin)
        else:
            draft.put("strategy", "auto")
        return
    if name == "ddp_cpu":
        if origin == "strategy":
            draft.refuse(
                "strategy", f'{before}: write `accelerator="cpu", devices=..., strategy="ddp_spawn"`'
            )
            return
        several_nodes = _nodes(draft) > 1 and chosen.number == 1
        name = "ddp" if several_nodes else "ddp_spawn"
        _put_name(draft, name, origin)
        draft.say(origin, f'{before} → `accelerator="cpu", strategy="{draft.modern["strategy"]}"`')
        return
    if name in ("dp", "ddp2") and _falls_back(draft, chosen):
        name = "ddp"
        _put_name(draft, name, origin)
        draft.say(origin, f'{before} on the CPU was `ddp` → `strategy="{draft.modern["strategy"]}"`')
        return
    plain = for_relight(name)[0] if draft.target is Target.RELIGHT else name
    if plain in _PLAIN_DDP and not chosen.strategy_counts:
        draft.say(origin, f"{before} had no effect on one CPU process; drop it", Applicability.UNSAFE)
        return
    if name == "dp" and (chosen.by_name or chosen.number == 1) and _nodes(draft) == 1:
        if chosen.by_name and chosen.number != 1:
            draft.put("devices", 1)
        draft.say(origin, f"{before} had one device, where it does nothing; drop it", Applicability.UNSAFE)
        return
    new = renamed(name)
    if new is None:
        _put_name(draft, name, origin)
        if origin != "strategy":
            draft.say(origin, f'{before} → `strategy="{draft.modern["strategy"]}"`')
        _unused_note(draft, name)
    elif new.name is None:
        draft.refuse(origin, f"{before}: {new.why}")
    else:
        _put_name(draft, new.name, origin)
        draft.say(origin, f'{before} → `strategy="{draft.modern["strategy"]}"`: {new.why}', new.applicability)


def _falls_back(draft: Draft, chosen: Chosen) -> bool:
    """DataParallel on the CPU became DDP."""
    if chosen.accelerator != "cpu":
        return False
    if draft.release >= FOLDED_SINCE:
        return True
    return chosen.strategy_counts and not chosen.by_name


def _put_name(draft: Draft, name: str, origin: str) -> None:
    """Write a strategy's name, as the target spells it."""
    if draft.defaults and looks_for_unused(name):
        _keep_looking(draft, name, origin)
        written = draft.modern["strategy"]
        if origin == "strategy" and written != name:
            draft.say("strategy", f'`strategy="{name}"` looked for unused parameters: now `"{written}"`')
        return
    if draft.target is Target.RELIGHT:
        plain, looking = for_relight(name)
        if plain != name:
            if looking:
                draft.adapters["find_unused_parameters"] = True
            if origin == "strategy":
                draft.say(
                    "strategy",
                    f'`strategy="{name}"` → `"{plain}"`'
                    + (
                        ": pass `DDPStrategy(find_unused_parameters=True)` to keep looking for them"
                        if looking
                        else ""
                    ),
                    Applicability.UNSAFE if looking or looking is None else Applicability.SAFE,
                )
        name = plain
    draft.put("strategy", name, origin)


def _keep_looking(draft: Draft, name: str, origin: str) -> None:
    full, by_adapter = keeps_looking(name, draft.target)
    draft.put("strategy", full, origin)
    if by_adapter:
        draft.adapters["find_unused_parameters"] = True


def _unused_note(draft: Draft, name: str) -> None:
    if draft.is_legacy and not draft.defaults and looks_for_unused(name):
        draft.say(
            "strategy",
            f'`strategy="{name}"` no longer looks for unused parameters; if some branch is unused, write'
            f' `"{name}_find_unused_parameters_true"`',
            Applicability.MANUAL,
            silent=True,
        )


def _default(draft: Draft, chosen: Chosen) -> None:
    """Write the strategy that 1.x chose by itself for several processes."""
    if chosen.accelerator == "tpu" or chosen.accelerator is MISSING:
        return
    if _nodes(draft) > 1 and (draft.release >= FOLDED_SINCE or chosen.accelerator == "cpu"):
        _keep_looking(draft, "ddp", "strategy")
    elif (chosen.number or 0) > 1 and not _interactive():
        _keep_looking(draft, "ddp_spawn", "strategy")


def _several(draft: Draft, chosen: Chosen) -> bool:
    return (chosen.number or 0) > 1 or _nodes(draft) > 1


def _nodes(draft: Draft) -> int:
    nodes: Any = draft.modern.get("num_nodes", 1)
    return nodes if isinstance(nodes, int) else 1


def _interactive() -> bool:
    """In a notebook processes are forked, which ``auto`` does by itself."""
    return hasattr(sys, "ps1")

"""Translate arguments whose values depend on tests, and put the results together again.

Each combination of cases (a *world*) goes through
:func:`trainer_upgrade.catalogue.translate_trainer_arguments`;
where the worlds differ in an argument, the new value is a conditional expression.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.catalogue.translate import (
    ArgumentFinding,
    CallbackRef,
    Instance,
    Translation,
    translate_trainer_arguments,
)
from trainer_upgrade.catalogue.translation.names import FIT_OPTIONS
from trainer_upgrade.rules._cases import Cases
from trainer_upgrade.rules._expressions import MarkedInt, MarkedStr, Opaque, Test, choose

__all__ = ["Merged", "render", "translate_cases"]

_MOST_WORLDS = 48
# What an argument is when it is not given.
_DEFAULTS = {
    "accelerator": '"auto"',
    "devices": '"auto"',
    "strategy": '"auto"',
    "enable_progress_bar": "True",
    "enable_checkpointing": "True",
    "enable_model_summary": "True",
    "max_steps": "-1",
    "detect_anomaly": "False",
    "reload_dataloaders_every_n_epochs": "0",
    "num_nodes": "1",
    "sync_batchnorm": "False",
    "use_distributed_sampler": "True",
    "overfit_batches": "0.0",
    "accumulate_grad_batches": "1",
    "logger": "True",
}
_DEVICE_ARGUMENTS = frozenset({"gpus", "num_processes", "tpu_cores", "num_tpu_cores", "ipus"})

Spell = Callable[[str], str]
ABSENT = object()


@dataclass
class Merged:
    """What all worlds come to.

    Attributes:
        constructor: New values by argument, as text; ``None`` for one that stays as it is written.
        callbacks: Elements to add to ``callbacks``, as text, by the argument they come from.
        plugins: Elements to add to ``plugins``.
        entry_points: Options of the entry points, as text.
        torch: Settings of torch, as text.
        findings: What became of each argument; the worst of all worlds counts.
        errors: What has no translation in some world.
        failed: New values that could not be written as one expression.
        auto_select: Whether free GPUs are to be selected.
    """

    constructor: dict[str, str | None] = field(default_factory=dict)
    callbacks: list[tuple[str, str]] = field(default_factory=list)
    plugins: list[str] = field(default_factory=list)
    entry_points: dict[str, dict[str, str]] = field(default_factory=dict)
    torch: dict[str, str] = field(default_factory=dict)
    findings: dict[str, list[ArgumentFinding]] = field(default_factory=dict)
    errors: dict[str, ArgumentFinding] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    auto_select: bool = False


def render(value: Any, spell: Spell, quote: str = '"') -> str:
    """Write a value as source."""
    if isinstance(value, (MarkedInt, MarkedStr, Opaque)):
        return value.source
    if isinstance(value, Instance):
        return str(value.source)
    if isinstance(value, CallbackRef):
        arguments = ", ".join(
            f"{name}={render(each, spell, quote)}" for name, each in value.arguments.items()
        )
        return f"{spell(value.name)}({arguments})"
    if isinstance(value, list):
        return "[" + ", ".join(render(each, spell, quote) for each in value) + "]"
    if isinstance(value, str):
        text = repr(value)
        if quote == '"' and text.startswith("'") and '"' not in value:
            return '"' + text[1:-1].replace("\\'", "'") + '"'
        return text
    return repr(value)


def translate_cases(
    arguments: Mapping[str, Cases],
    *,
    target: Target,
    release: str,
    spell: Spell,
    quote: str = '"',
    defaults: bool = False,
) -> Merged | None:
    """Translate all worlds; ``None`` where there are too many of them."""
    worlds = _worlds(arguments)
    if worlds is None:
        return None
    # Where a test decides about devices, the old default must be spelled out in the other case.
    spelled = defaults or any(
        name in _DEVICE_ARGUMENTS and not each.single for name, each in arguments.items()
    )
    done: list[tuple[dict[Test, bool], dict[str, Any], Translation]] = []
    for tests, values in worlds:
        translation = translate_trainer_arguments(
            values, target=target, legacy_version=release, defaults=defaults
        )
        if spelled and not defaults and "accelerator" not in translation.constructor:
            translation.constructor["accelerator"] = "cpu"
            translation.constructor.setdefault("devices", 1)
        done.append((tests, values, translation))
    merged = Merged()
    _findings(merged, [each for _, _, each in done])
    names = dict.fromkeys(name for _, _, each in done for name in each.constructor)
    for name in names:
        _argument(merged, name, done, spell, quote)
    for name, cases in arguments.items():
        if name not in names and not cases.single and name in _DEFAULTS:
            pass  # gone in every world
    _callbacks(merged, done, spell, quote)
    merged.plugins = _elements(
        [(tests, list(each.plugins)) for tests, _, each in done], spell, quote, merged, "plugins"
    )
    _entry_points(merged, done, spell, quote)
    _torch(merged, done, quote)
    merged.auto_select = any("auto_select_gpus" in each.adapters for _, _, each in done)
    return merged


def _worlds(arguments: Mapping[str, Cases]) -> list[tuple[dict[Test, bool], dict[str, Any]]] | None:
    size = 1
    for each in arguments.values():
        size *= max(len(each.values), 1)
    if size > _MOST_WORLDS * 20:
        return None
    found: list[tuple[dict[Test, bool], dict[str, Any]]] = []
    for combination in itertools.product(*(each.values for each in arguments.values())):
        tests: dict[Test, bool] = {}
        for world, _ in combination:
            if any(tests.get(test, holds) != holds for test, holds in world.items()):
                break
            tests.update(world)
        else:
            found.append((tests, dict(zip(arguments, (value for _, value in combination), strict=True))))
    return found if len(found) <= _MOST_WORLDS else None


def _same(one: Any, two: Any) -> bool:
    if one is two:
        return True
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return all(_same(*pair) for pair in zip(one, two, strict=True))
    return type(one) is type(two) and not isinstance(one, (list, Opaque, Instance)) and bool(one == two)


def _argument(
    merged: Merged,
    name: str,
    done: list[tuple[dict[Test, bool], dict[str, Any], Translation]],
    spell: Spell,
    quote: str,
) -> None:
    if name == "callbacks":
        _appended(merged, done, spell, quote)
        return
    if all(_same(each.constructor.get(name, ABSENT), values.get(name, ABSENT)) for _, values, each in done):
        merged.constructor[name] = None
        return
    texts: list[tuple[Mapping[Test, bool], str]] = []
    for tests, _, each in done:
        value = each.constructor.get(name, ABSENT)
        text = _DEFAULTS.get(name, "None") if value is ABSENT else render(value, spell, quote)
        texts.append((tests, text if quote == '"' or value is not ABSENT else text.replace('"', quote)))
    if name == "plugins" and all(text == "None" for _, text in texts):
        return  # nothing is left of them
    chosen = choose(texts)
    if chosen is None:
        merged.failed.add(name)
    else:
        merged.constructor[name] = chosen


def _appended(
    merged: Merged, done: list[tuple[dict[Test, bool], dict[str, Any], Translation]], spell: Spell, quote: str
) -> None:
    """Callbacks that came in arguments of their own were appended to the list."""
    lists: list[tuple[dict[Test, bool], list[Any]]] = []
    for tests, values, each in done:
        before = values.get("callbacks")
        old = before if isinstance(before, list) else [] if before is None else [before]
        new = each.constructor.get("callbacks")
        now = new if isinstance(new, list) else [] if new is None else [new]
        lists.append((tests, [one for one in now if not any(one is other for other in old)]))
    for text in _elements(lists, spell, quote, merged, "callbacks"):
        merged.callbacks.append(("", text))
    merged.constructor["callbacks"] = None


def _callbacks(
    merged: Merged, done: list[tuple[dict[Test, bool], dict[str, Any], Translation]], spell: Spell, quote: str
) -> None:
    origins = dict.fromkeys(ref.argument for _, _, each in done for ref in each.callbacks)
    for origin in origins:
        lists = [
            (tests, [ref for ref in each.callbacks if ref.argument == origin]) for tests, _, each in done
        ]
        for text in _elements(lists, spell, quote, merged, origin):
            merged.callbacks.append((origin, text))


def _elements(
    lists: Iterable[tuple[Mapping[Test, bool], list[Any]]],
    spell: Spell,
    quote: str,
    merged: Merged,
    name: str,
) -> list[str]:
    """Write the elements that a list gets: the same in every world, or a starred conditional list."""
    rendered = [(tests, [render(each, spell, quote) for each in elements]) for tests, elements in lists]
    first = rendered[0][1]
    if all(elements == first for _, elements in rendered):
        return first
    text = choose([(tests, "[" + ", ".join(elements) + "]") for tests, elements in rendered])
    if text is None:
        merged.failed.add(name)
        return []
    return [f"*({text})"]


def _findings(merged: Merged, translations: list[Translation]) -> None:
    for each in translations:
        for finding in each.findings:
            known = merged.findings.setdefault(finding.argument, [])
            if not any(other.message == finding.message for other in known):
                known.append(finding)
        for error in each.errors:
            merged.errors.setdefault(error.argument, error)


def _entry_points(
    merged: Merged, done: list[tuple[dict[Test, bool], dict[str, Any], Translation]], spell: Spell, quote: str
) -> None:
    stages = dict.fromkeys(stage for _, _, each in done for stage in each.entry_points)
    for stage in stages:
        names = dict.fromkeys(name for _, _, each in done for name in each.entry_points.get(stage, ()))
        for name in names:
            default = repr(FIT_OPTIONS.get(name))
            text = choose(
                [
                    (tests, render(options[name], spell, quote) if name in options else default)
                    for tests, _, each in done
                    for options in (each.entry_points.get(stage, {}),)
                ]
            )
            if text is None:
                merged.failed.add(name)
            else:
                merged.entry_points.setdefault(stage, {})[name] = text


def _torch(
    merged: Merged, done: list[tuple[dict[Test, bool], dict[str, Any], Translation]], quote: str
) -> None:
    names = dict.fromkeys(name for _, _, each in done for name in each.torch)
    for name in names:
        if not all(name in each.torch for _, _, each in done):
            merged.failed.add(name)
            continue
        text = choose([(tests, render(each.torch[name], str, quote)) for tests, _, each in done])
        if text is None:
            merged.failed.add(name)
        else:
            merged.torch[name] = text


def worst(findings: Iterable[ArgumentFinding]) -> Applicability:
    """Return the least sure of some findings; those that only tell something do not count."""
    order = (Applicability.SAFE, Applicability.UNSAFE)
    found = [each.applicability for each in findings if each.applicability in order]
    return Applicability.UNSAFE if Applicability.UNSAFE in found else Applicability.SAFE

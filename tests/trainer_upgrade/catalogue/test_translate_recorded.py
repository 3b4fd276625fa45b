"""The translation against what real releases chose on a machine with four (pretended) GPUs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainer_upgrade.catalogue import Target
from trainer_upgrade.catalogue.translate import Translation, translate_trainer_arguments

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "devices"
ALL = [0, 1, 2, 3]

Record = dict[str, Any]
Reason = Callable[[Record, Record, Record | None], bool]


def load(name: str) -> list[Record]:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def key(arguments: Record) -> str:
    return json.dumps(arguments, sort_keys=True)


MODERN = {key(record["arguments"]): record["chosen"] for record in load("2.6.6")}


def differs_in(old: Record, new: Record) -> set[str]:
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


# Why what 2.6.6 chooses, or whether it does, may differ from what the old release did. Each asks about the
# legacy arguments, the old choice and the new one (None: the translation is an error).
EVERYWHERE: dict[str, Reason] = {
    "the machine has four GPUs, nine were asked for: the values do not tell": lambda args, old, new: (
        args.get("gpus") == 9
    ),
    "DataParallel is gone; on one device, or on the CPU, it did nothing": lambda args, old, new: (
        old.get("strategy") in ("dp", "ddp2")
        and (
            new is None
            or (new.get("strategy") == "single" and differs_in(old, new) <= {"strategy", "devices"})
        )
    ),
    "the strategy of 'all GPUs' depends on their number, so 2.x's default stands": lambda args, old, new: (
        new is not None
        and old.get("devices") == ALL
        # No recorded call names all four.
        and differs_in(old, new) <= {"strategy", "find_unused"}
        and new.get("strategy") == "ddp"
    ),
    "hardware is chosen by the machine: on GPUs it was refused, on CPUs not": lambda args, old, new: (
        args.get("accelerator") == "auto" and args.get("gpus") is True and "raises" in old
    ),
    "1.5 trained one process for a senseless number of CPU processes": lambda args, old, new: (
        args.get("accelerator") == "cpu" and args.get("devices") in (-1, 0) and new is None
    ),
}
# Without `defaults=True` the defaults of 2.x are accepted, and findings say so where the code is legacy.
ACCEPTED: dict[str, Reason] = {
    "several processes were spawned, and are started by the script's command": lambda args, old, new: (
        new is not None
        and old.get("strategy") == "ddp_spawn"
        and new.get("strategy") == "ddp"
        and args.get("strategy") is None
        and differs_in(old, new) <= {"strategy", "find_unused"}
    ),
    "DDP looked for unused parameters": lambda args, old, new: (
        new is not None and differs_in(old, new) == {"find_unused"} and old["find_unused"]
    ),
    "code that names no device trained on the CPU": lambda args, old, new: (
        new is not None and old.get("accelerator") == "cpu" and not args.keys() & {"gpus", "num_processes"}
    ),
}


def compare(release: str, defaults: bool, reasons: dict[str, Reason]) -> tuple[Counter[str], list[Any]]:
    counts: Counter[str] = Counter()
    unexplained = []
    for record in load(release):
        args, old = record["arguments"], record["chosen"]
        done = translate_trainer_arguments(
            args, target=Target.LIGHTNING, legacy_version=release, defaults=defaults
        )
        if done.errors:
            new = None
            equal = "raises" in old
        else:
            new = MODERN[key(done.constructor)]
            equal = old == new
        if equal:
            counts["refused by both" if new is None else "equal"] += 1
            continue
        for reason, applies in reasons.items():
            if applies(args, old, new):
                counts[reason] += 1
                break
        else:
            unexplained.append((args, old, done.constructor, new, [each.message for each in done.errors]))
    return counts, unexplained


@pytest.mark.parametrize("release", ["1.9.5", "1.5.10"])
def test_with_the_old_defaults_the_same_is_chosen(release: str) -> None:
    counts, unexplained = compare(release, True, EVERYWHERE)
    assert not unexplained, unexplained[:3]
    assert counts["equal"] > 850
    assert counts["refused by both"] > 190
    # The exceptions stay exceptions.
    assert sum(counts.values()) - counts["equal"] - counts["refused by both"] < 160


@pytest.mark.parametrize("release", ["1.9.5", "1.5.10"])
def test_without_them_only_accepted_defaults_differ(release: str) -> None:
    counts, unexplained = compare(release, False, {**EVERYWHERE, **ACCEPTED})
    assert not unexplained, unexplained[:3]
    assert counts["equal"] > 300


@pytest.mark.parametrize("release", ["1.9.5", "1.5.10"])
def test_devices_and_kind_never_differ_where_gpus_or_processes_are_named(release: str) -> None:
    """Whatever becomes of the strategy, it runs on the same devices."""
    checked = 0
    for record in load(release):
        args, old = record["arguments"], record["chosen"]
        done = translate_trainer_arguments(args, target=Target.LIGHTNING, legacy_version=release)
        if done.errors or "raises" in old or not args.keys() & {"gpus", "num_processes"}:
            continue
        if old["strategy"] == "dp" and old["accelerator"] == "cpu":
            continue  # its processes were counted and never started
        new = MODERN[key(done.constructor)]
        assert (new["accelerator"], new["devices"]) == (old["accelerator"], old["devices"]), args
        checked += 1
    assert checked > 700


def test_every_translated_call_constructs_a_trainer_on_2_6_6() -> None:
    """Recorded from 2.6.6 without GPUs; a translation that is not among the records needs a new recording."""
    import importlib.util

    script = Path(__file__).resolve().parents[3] / "scripts" / "record_devices.py"
    spec = importlib.util.spec_from_file_location("record_devices", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    constructed = {key(record["arguments"]): record["chosen"] for record in load("construct-2.6.6")}
    calls = [call for each in module.mixtures() if (call := module.modern_call(each))]
    assert len({key(call) for call in calls}) > 600
    for call in calls:
        assert constructed.get(key(call)) == {"constructed": True}, call


def test_the_recording_is_of_use() -> None:
    """The fakes work: the old release really used GPUs, all kinds of strategies, and refused something."""
    old = [record["chosen"] for record in load("1.9.5")]
    assert any(chosen.get("devices") == [1, 3] for chosen in old)
    assert {"single", "ddp", "ddp_spawn", "dp"} <= {chosen.get("strategy") for chosen in old}
    assert any("raises" in chosen for chosen in old)


def test_translation_of_the_guides_sentence() -> None:
    """`devices` "with the same number" is what the migration guide says; it fails for none at all."""
    done: Translation = translate_trainer_arguments({"gpus": 0}, target=Target.LIGHTNING)
    assert done.constructor == {"accelerator": "cpu", "devices": 1}

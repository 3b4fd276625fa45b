"""What holds for every combination of arguments, of whatever values."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Applicability, Target
from trainer_upgrade.catalogue.translate import (
    CallbackRef,
    Instance,
    Translation,
    translate_trainer_arguments,
)
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY, LIGHTNING, RELIGHT

FACTS = Path(__file__).resolve().parents[2] / "data" / "facts"
RELEASES = ["0.7", "0.8", "0.9", "0.10", "1.0", "1.2", "1.4", "1.5", "1.6", "1.7", "1.9", "2.0"]


class ModelCheckpoint:
    dirpath = None


class EarlyStopping: ...


class TQDMProgressBar: ...


class ModelSummary: ...


class GradientAccumulationScheduler: ...


class Strategy: ...


class DDPStrategy(Strategy): ...


class PrecisionPlugin: ...


class SLURMEnvironment: ...


class Awkward:
    """An object that no message should print."""

    def __repr__(self) -> str:
        return "UNPRINTED"


OBJECTS = [
    ModelCheckpoint(),
    EarlyStopping(),
    TQDMProgressBar(),
    ModelSummary(),
    GradientAccumulationScheduler(),
    DDPStrategy(),
    PrecisionPlugin(),
    SLURMEnvironment(),
    Awkward(),
    timedelta(hours=1),
    Path("a.ckpt"),
    Instance("ModelCheckpoint", "ModelCheckpoint(monitor='x')"),
    Instance("DDPPlugin"),
]
_WORDS = """
0 1 2 -1 0,1 2, 1, [] 16 32 64 bf16 bf16-mixed 16-mixed 32-true mixed auto cpu gpu cuda mps tpu ipu
hpu GPU ddp ddp_cpu ddp_spawn dp ddp2 ddp_sharded ddp_sharded_spawn ddp_fully_sharded horovod bagua
hivemind tpu_spawn single_tpu fsdp fsdp_native fsdp_native_full_shard_offload deepspeed
deepspeed_stage_2 xla xla_debug ddp_find_unused_parameters_false ddp_find_unused_parameters_true
ddp_spawn_find_unused_parameters_true ddp_fork ddp_notebook O0 O1 O2 O3 apex native top full all
min_max simple advanced norm value min_size max_size_cycle power binsearch lr warn inf 00:01:00:00
"""
WORDS = ["", *_WORDS.split()]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(WORDS),
    st.text(max_size=5),
    st.sampled_from(OBJECTS),
)
values = st.one_of(
    scalars,
    st.lists(st.one_of(st.integers(-2, 5), scalars), max_size=3),
    st.dictionaries(st.integers(0, 5), st.integers(1, 5), max_size=2),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
_DEVICES = ["gpus", "num_processes", "tpu_cores", "devices", "accelerator", "strategy", "distributed_backend"]
_names = st.one_of(st.sampled_from(sorted(EVER)), st.sampled_from(_DEVICES))
calls = st.dictionaries(_names, values, max_size=7)
misspelt = st.dictionaries(st.text("abcdefgpus_", min_size=1, max_size=8), values, max_size=1)

relaxed = settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def same(left: Any, right: Any) -> bool:
    """Equality that knows that a NaN passed through is the same object."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    return left is right or bool(left == right) or (left != left and right != right)


def translate(call: dict[str, Any], target: Target, release: str, defaults: bool) -> Translation:
    return translate_trainer_arguments(call, target=target, legacy_version=release, defaults=defaults)


@relaxed
@given(calls, misspelt, st.sampled_from(Target), st.sampled_from(RELEASES), st.booleans())
def test_it_never_raises_and_stays_within_the_signature(
    call: dict[str, Any], extra: dict[str, Any], target: Target, release: str, defaults: bool
) -> None:
    before = dict(call)
    done = translate({**extra, **call}, target, release, defaults)
    assert call == before or call.keys() == before.keys()
    assert done.constructor.keys() <= (LIGHTNING if target is Target.LIGHTNING else RELIGHT)
    if target is Target.LIGHTNING:
        assert done.entry_points.keys() <= {"fit"}
        assert done.entry_points.get("fit", {}).keys() <= {"ckpt_path"}
        assert not done.torch
        assert not done.plugins


@relaxed
@given(calls, st.sampled_from(Target), st.sampled_from(RELEASES), st.booleans())
def test_translating_the_result_again_changes_nothing(
    call: dict[str, Any], target: Target, release: str, defaults: bool
) -> None:
    done = translate(call, target, release, defaults)
    # On relight `ddp` is the only name left for DDP that looks for no unused parameters; as 1.x code it means
    # the opposite.
    ambiguous = str(call.get("strategy", call.get("plugins"))).endswith("_false")
    again = translate(done.constructor, target, release, defaults and not done.errors and not ambiguous)
    if done.errors:  # what waits for a decision may look wrong without the argument that it belonged to
        return
    assert same(again.constructor, done.constructor)
    assert not again.findings, [each.message for each in again.findings]
    assert not again.errors, [each.message for each in again.errors]
    assert not again.callbacks
    assert not again.entry_points


@relaxed
@given(calls, st.sampled_from(Target), st.sampled_from(RELEASES), st.booleans())
def test_nothing_is_lost_in_silence(
    call: dict[str, Any], target: Target, release: str, defaults: bool
) -> None:
    done = translate(call, target, release, defaults)
    spoken = {each.argument for each in (*done.findings, *done.errors)}
    for name, value in call.items():
        kept = name in done.constructor and (name == "callbacks" or same(done.constructor[name], value))
        assert kept or name in spoken, (name, value)


@relaxed
@given(calls, st.sampled_from(Target), st.sampled_from(RELEASES))
def test_findings_are_one_line_with_a_code_of_the_catalogue(
    call: dict[str, Any], target: Target, release: str
) -> None:
    done = translate(call, target, release, False)
    for each in (*done.findings, *done.errors):
        former = {"num_nodes": "nb_gpu_nodes", "default_root_dir": "default_save_path"}
        entry = catalogue.trainer_argument(each.argument) or catalogue.trainer_argument(former[each.argument])
        assert entry is not None
        assert each.code == entry.code
        assert each.argument in call or each.argument == "strategy"
        assert "\n" not in each.message
        assert "UNPRINTED" not in each.message
        assert 10 < len(each.message) < 240
    assert all(each.applicability is Applicability.MANUAL for each in done.errors)


@relaxed
@given(calls, st.sampled_from(Target), st.sampled_from(RELEASES))
def test_an_argument_in_error_appears_nowhere_else(
    call: dict[str, Any], target: Target, release: str
) -> None:
    done = translate(call, target, release, False)
    wrong = {each.argument for each in done.errors}
    assert not wrong & {each.argument for each in done.callbacks}
    assert not wrong & LEGACY_ONLY & {each.argument for each in done.findings}
    for name in wrong & LIGHTNING:
        # A legacy argument may still say it: `use_amp=True` next to an invalid `precision`.
        assert name not in done.constructor or not same(done.constructor[name], call[name]), name


@relaxed
@given(calls, st.sampled_from(RELEASES))
def test_relights_options_are_what_lightning_gets(call: dict[str, Any], release: str) -> None:
    """Both targets mean the same: what relight's entry points get is in Lightning's constructor."""
    lightning = translate(call, Target.LIGHTNING, release, False)
    relight = translate(call, Target.RELIGHT, release, False)
    for name, value in relight.options.items():
        if not call.get("barebones"):
            assert same(lightning.constructor[name], value), name


def test_the_names_are_those_of_the_releases() -> None:
    with (FACTS / "trainer_args.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 91
    assert {row["arg"] for row in rows} == EVER
    assert {row["arg"] for row in rows if row["last"] == "2.6"} == LIGHTNING
    assert {row["arg"] for row in rows if row["last"] != "2.6"} == LEGACY_ONLY
    assert len(RELIGHT) == 16


@pytest.mark.parametrize("name", sorted(LEGACY_ONLY - {"kwargs"}))
@pytest.mark.parametrize("target", list(Target))
def test_no_legacy_argument_reaches_the_constructor(name: str, target: Target) -> None:
    for value in (None, True, False, 0, 1, 2, "0,1", "x", [1]):
        done = translate_trainer_arguments({name: value}, target=target)
        assert name not in done.constructor
        assert done.findings or done.errors


def test_a_stand_in_is_recognised_by_its_name() -> None:
    stand_in = Instance("ModelCheckpoint", source="ModelCheckpoint()")
    done = translate_trainer_arguments(
        {"callbacks": [stand_in], "enable_checkpointing": False}, target=Target.LIGHTNING
    )
    assert [each.argument for each in done.errors] == ["enable_checkpointing"]
    assert done.constructor == {"callbacks": [stand_in]}
    bar = CallbackRef("TQDMProgressBar", {}, "")
    done = translate_trainer_arguments(
        {"callbacks": [bar], "progress_bar_refresh_rate": 5}, target=Target.LIGHTNING
    )
    assert done.callbacks == ()
    assert done.constructor == {"callbacks": [bar]}

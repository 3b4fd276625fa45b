from __future__ import annotations

from typing import Any

import pytest

from relight.compat._binding import plan
from relight.compat._signatures import CALLBACK, MODULE


def binding(
    table: dict[str, Any], hook: str, function: Any
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    entry = table[hook]
    given = {"aliases": entry.aliases, "extras": entry.extras, "optional": entry.optional}
    found = plan(function, entry.layouts, **given, keywords=entry.keywords)
    return found.positional, found.keyword


def step_0_7(epoch, batch_idx, optimizer, optimizer_idx, second_order_closure=None): ...


def step_1_0(
    epoch=None,
    batch_idx=None,
    optimizer=None,
    optimizer_idx=None,
    optimizer_closure=None,
    on_tpu=None,
    using_native_amp=None,
    using_lbfgs=None,
): ...


def step_1_9(
    epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False, using_lbfgs=False
): ...


def step_2_0(epoch, batch_idx, optimizer, optimizer_closure): ...


FIVE = "epoch batch_idx optimizer optimizer_idx optimizer_closure"
STEP = {
    "0.7": (step_0_7, FIVE),
    "1.0": (step_1_0, f"{FIVE} on_tpu using_native_amp using_lbfgs"),
    "1.9": (step_1_9, f"{FIVE} on_tpu using_lbfgs"),
    "2.0": (step_2_0, "epoch batch_idx optimizer optimizer_closure"),
    "other names": (lambda e, b, o, i, c: None, FIVE),
    "args": (lambda *args: None, FIVE),
    "swapped": (
        lambda optimizer, epoch, batch_idx, optimizer_closure: None,
        "optimizer epoch batch_idx optimizer_closure",
    ),
}


@pytest.mark.parametrize("release", STEP)
def test_optimizer_step_of_any_age_is_bound_by_name_and_arity(release: str) -> None:
    function, expected = STEP[release]
    assert binding(MODULE, "optimizer_step", function) == (tuple(expected.split()), ())


def test_keywords_of_1_9_go_to_a_catch_all() -> None:
    found = binding(MODULE, "optimizer_step", lambda *args, **kwargs: None)
    assert found == (tuple(FIVE.split()), (("on_tpu", "on_tpu"), ("using_lbfgs", "using_lbfgs")))


BATCH_END = {
    "0.9": (
        lambda trainer, pl_module, batch, batch_idx, dataloader_idx: None,
        "trainer pl_module batch batch_idx dataloader_idx",
    ),
    "1.4": (
        lambda trainer, pl_module, outputs, batch, batch_idx, dataloader_idx: None,
        "trainer pl_module outputs batch batch_idx dataloader_idx",
    ),
    "1.6": (
        lambda trainer, pl_module, outputs, batch, batch_idx, unused=0: None,
        "trainer pl_module outputs batch batch_idx dataloader_idx",
    ),
    "1.9": (
        lambda trainer, pl_module, outputs, batch, batch_idx: None,
        "trainer pl_module outputs batch batch_idx",
    ),
    "args": (lambda *args: None, "trainer pl_module outputs batch batch_idx"),
    "mixed": (lambda trainer, pl_module, *args: None, "trainer pl_module outputs batch batch_idx"),
    "only the trainer": (lambda trainer, pl_module: None, "trainer pl_module"),
}


@pytest.mark.parametrize("release", BATCH_END)
def test_on_train_batch_end_of_any_age(release: str) -> None:
    function, expected = BATCH_END[release]
    assert binding(CALLBACK, "on_train_batch_end", function) == (tuple(expected.split()), ())


def test_a_default_that_no_release_filled_is_kept() -> None:
    def hook(batch: Any, batch_idx: int, mine: int = 3, dataloader_idx: int = 0) -> None: ...

    assert binding(MODULE, "on_train_batch_start", hook) == (
        ("batch", "batch_idx"),
        (("dataloader_idx", "dataloader_idx"),),
    )


def test_a_parameter_that_no_release_filled_is_an_error_that_names_it() -> None:
    def hook(batch: Any, batch_idx: int, dataloader_idx: int, other: int) -> None: ...

    with pytest.raises(TypeError, match="other"):
        binding(MODULE, "on_train_batch_start", hook)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda trainer, pl_module, stage: None, "trainer pl_module stage"),
        (lambda trainer, pl_module, stage=None: None, "trainer pl_module stage"),
        (lambda trainer, stage: None, "trainer stage"),
        (lambda trainer, module: None, "trainer pl_module"),
        (lambda *_: None, "trainer pl_module stage"),
    ],
)
def test_setup_of_a_callback(function: Any, expected: str) -> None:
    assert binding(CALLBACK, "setup", function) == (tuple(expected.split()), ())

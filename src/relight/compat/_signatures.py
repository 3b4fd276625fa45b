"""What each hook was called with, in which order, through the releases.

``modern`` is how the core calls a hook. ``layouts`` are the orders of values that releases used, 1.9's first.
``optional`` values go only to a parameter that asks for them by name or has no default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CALLBACK", "DATAMODULE", "MODULE", "Hook"]


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook's ways to be called.

    Attributes:
        modern: Names of the values that the core passes, in order.
        layouts: Orders that releases used, preferred first.
        extras: Values passed only to a parameter of that name.
        optional: Values that are left out where the function has a default.
        constants: Values that the core does not pass.
        aliases: Other spellings.
        keywords: Values that 1.9 passed by keyword: for ``**kwargs``.
        required: Values that releases since then do not pass: only for a parameter without a default.
    """

    modern: tuple[str, ...]
    layouts: tuple[tuple[str, ...], ...]
    extras: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_INDEX = {"dataloader_idx": 0}
_UNUSED = {"unused": "dataloader_idx"}
_OPTIMIZER = {"opt_idx": "optimizer_idx", "optimizer_i": "optimizer_idx"}
_FIRST = {"optimizer_idx": 0}

_BATCH_START = Hook(
    _words("batch batch_idx"),
    (_words("batch batch_idx"), _words("batch batch_idx dataloader_idx"), _words("batch")),
    constants=_INDEX,
    aliases=_UNUSED,
    optional=("dataloader_idx",),
)
_BATCH_END = Hook(
    _words("outputs batch batch_idx"),
    (
        _words("outputs batch batch_idx"),
        _words("outputs batch batch_idx dataloader_idx"),
        _words("batch batch_idx dataloader_idx"),
        (),
    ),
    constants=_INDEX,
    aliases={**_UNUSED, "output": "outputs"},
    optional=("dataloader_idx",),
)
_EVAL_START = Hook(
    _words("batch batch_idx dataloader_idx"), (_words("batch batch_idx dataloader_idx"), ()), constants=_INDEX
)
_EVAL_END = Hook(
    _words("outputs batch batch_idx dataloader_idx"),
    (_words("outputs batch batch_idx dataloader_idx"), _words("batch batch_idx dataloader_idx"), ()),
    constants=_INDEX,
    aliases={"output": "outputs"},
)

MODULE: dict[str, Hook] = {
    "on_train_batch_start": _BATCH_START,
    "on_train_batch_end": _BATCH_END,
    "on_train_epoch_end": Hook(
        (),
        ((), ("outputs",)),
        constants={"outputs": None},
        aliases={"unused": "outputs"},
        required=("outputs",),
    ),
    "on_predict_epoch_end": Hook(
        (), (("results",),), constants={"results": None}, aliases={"outputs": "results"}
    ),
    "on_before_optimizer_step": Hook(
        _words("optimizer"), (_words("optimizer optimizer_idx"),), constants=_FIRST, aliases=_OPTIMIZER
    ),
    "optimizer_step": Hook(
        _words("epoch batch_idx optimizer optimizer_closure"),
        (
            _words("epoch batch_idx optimizer optimizer_idx optimizer_closure"),
            _words("epoch batch_idx optimizer optimizer_idx optimizer_closure on_tpu using_lbfgs"),
            _words("epoch batch_idx optimizer optimizer_idx optimizer_closure")
            + _words("on_tpu using_native_amp using_lbfgs"),
            _words("epoch batch_idx optimizer optimizer_closure"),
        ),
        extras=_words("on_tpu using_native_amp using_lbfgs"),
        constants={**_FIRST, "on_tpu": False, "using_native_amp": False, "using_lbfgs": False},
        aliases={
            **_OPTIMIZER,
            "second_order_closure": "optimizer_closure",
            "closure": "optimizer_closure",
            "current_epoch": "epoch",
            "epoch_nb": "epoch",
            "epoch_i": "epoch",
            "batch_nb": "batch_idx",
            "batch_i": "batch_idx",
        },
        keywords=("on_tpu", "using_lbfgs"),
    ),
    "optimizer_zero_grad": Hook(
        _words("epoch batch_idx optimizer"),
        (_words("epoch batch_idx optimizer optimizer_idx"),),
        constants=_FIRST,
        aliases={**_OPTIMIZER, "current_epoch": "epoch"},
    ),
    "backward": Hook(
        _words("loss"),
        (
            _words("loss optimizer optimizer_idx"),
            _words("trainer loss optimizer optimizer_idx"),
            _words("loss"),
        ),
        extras=("trainer",),
        constants={**_FIRST, "optimizer": None, "trainer": None},
        aliases=_OPTIMIZER,
    ),
    "lr_scheduler_step": Hook(
        _words("scheduler metric"),
        (_words("scheduler optimizer_idx metric"), _words("scheduler metric")),
        constants=_FIRST,
        aliases={**_OPTIMIZER, "metrics": "metric"},
    ),
    "configure_gradient_clipping": Hook(
        _words("optimizer gradient_clip_val gradient_clip_algorithm"),
        (_words("optimizer optimizer_idx gradient_clip_val gradient_clip_algorithm"),),
        constants=_FIRST,
        aliases=_OPTIMIZER,
        keywords=_words("gradient_clip_val gradient_clip_algorithm"),
    ),
    "transfer_batch_to_device": Hook(
        _words("batch device dataloader_idx"),
        (_words("batch device dataloader_idx"), _words("batch device")),
        constants=_INDEX,
    ),
    "on_before_batch_transfer": Hook(
        _words("batch dataloader_idx"), (_words("batch dataloader_idx"), _words("batch")), constants=_INDEX
    ),
    "on_after_batch_transfer": Hook(
        _words("batch dataloader_idx"), (_words("batch dataloader_idx"), _words("batch")), constants=_INDEX
    ),
    "setup": Hook(_words("stage"), (_words("stage"), ()), aliases={"step": "stage"}),
    "teardown": Hook(_words("stage"), (_words("stage"), ())),
    **{f"on_{stage}_batch_start": _EVAL_START for stage in ("validation", "test", "predict")},
    **{f"on_{stage}_batch_end": _EVAL_END for stage in ("validation", "test", "predict")},
}

DATAMODULE: dict[str, Hook] = {
    name: MODULE[name]
    for name in (
        "setup",
        "teardown",
        "transfer_batch_to_device",
        "on_before_batch_transfer",
        "on_after_batch_transfer",
    )
}


def _with_trainer(hook: Hook) -> Hook:
    first = ("trainer", "pl_module")
    return Hook(
        first + hook.modern,
        tuple(first + layout for layout in hook.layouts),
        hook.extras,
        hook.optional,
        hook.constants,
        {**hook.aliases, "module": "pl_module", "model": "pl_module", "pl_trainer": "trainer"},
        hook.keywords,
        hook.required,
    )


_STAGE = Hook(
    _words("trainer pl_module stage"),
    (_words("trainer pl_module stage"), _words("trainer pl_module"), _words("trainer stage"), ("trainer",)),
    aliases={"module": "pl_module", "model": "pl_module"},
)
_ALONE = Hook(
    _words("trainer pl_module"), (_words("trainer pl_module"), ("trainer",)), aliases={"module": "pl_module"}
)

CALLBACK: dict[str, Hook] = {
    "on_train_batch_start": _with_trainer(_BATCH_START),
    "on_train_batch_end": _with_trainer(_BATCH_END),
    "on_train_epoch_end": _with_trainer(MODULE["on_train_epoch_end"]),
    "on_predict_epoch_end": Hook(
        _words("trainer pl_module"),
        (_words("trainer pl_module outputs"),),
        constants={"outputs": None},
        aliases={"results": "outputs", "module": "pl_module"},
    ),
    "on_before_optimizer_step": _with_trainer(MODULE["on_before_optimizer_step"]),
    "setup": _STAGE,
    "teardown": _STAGE,
    "on_fit_start": _ALONE,
    "on_fit_end": _ALONE,
    **{f"on_{stage}_batch_start": _with_trainer(_EVAL_START) for stage in ("validation", "test", "predict")},
    **{f"on_{stage}_batch_end": _with_trainer(_EVAL_END) for stage in ("validation", "test", "predict")},
}

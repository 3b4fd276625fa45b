"""Parameters of the hooks whose signature changed, as 1.x had them and as 2.x has them.

Positions are counted without ``self``. 2.x passes most of these arguments by position, so what counts is
where a parameter stands; a name only tells an old signature from a new one of the same length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["DROPPED", "INDEXED", "Dropped", "Indexed"]

INDEX = re.compile(r"^_*(opt(im(izer)?)?_?(idx|index|i|id|num)|optimizer_n|idx|i|_)$")
LOADER = re.compile(r"loader|unused|^_*idx2?$|^_+$")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hook that lost parameters.

    Attributes:
        legacy: All parameters of 1.x, in order.
        gone: Those that 2.x does not pass.
        constants: What a parameter that is gone always was, where that is known.
        one_optimizer: Names that are constant only with a single optimizer.
    """

    legacy: tuple[str, ...]
    gone: tuple[str, ...]
    constants: tuple[tuple[str, str], ...] = ()
    one_optimizer: tuple[tuple[str, str], ...] = ()


_INDEX = (("optimizer_idx", "0"),)
_LBFGS = (("using_lbfgs", "isinstance({optimizer}, torch.optim.LBFGS)"),)

# (kind of class, hook)
DROPPED: dict[tuple[str, str], Dropped] = {
    ("LightningModule", "optimizer_step"): Dropped(
        (
            "epoch",
            "batch_idx",
            "optimizer",
            "optimizer_idx",
            "optimizer_closure",
            "on_tpu",
            "using_native_amp",
            "using_lbfgs",
        ),
        ("optimizer_idx", "on_tpu", "using_native_amp", "using_lbfgs"),
        constants=_LBFGS,
        one_optimizer=_INDEX,
    ),
    ("LightningModule", "optimizer_zero_grad"): Dropped(
        ("epoch", "batch_idx", "optimizer", "optimizer_idx"), ("optimizer_idx",), one_optimizer=_INDEX
    ),
    ("LightningModule", "lr_scheduler_step"): Dropped(
        ("scheduler", "optimizer_idx", "metric"), ("optimizer_idx",), one_optimizer=_INDEX
    ),
    ("LightningModule", "on_before_optimizer_step"): Dropped(
        ("optimizer", "optimizer_idx"), ("optimizer_idx",), one_optimizer=_INDEX
    ),
    ("LightningModule", "configure_gradient_clipping"): Dropped(
        ("optimizer", "optimizer_idx", "gradient_clip_val", "gradient_clip_algorithm"),
        ("optimizer_idx",),
        one_optimizer=_INDEX,
    ),
    ("LightningModule", "backward"): Dropped(
        ("loss", "optimizer", "optimizer_idx"), ("optimizer", "optimizer_idx"), one_optimizer=_INDEX
    ),
    ("LightningModule", "on_train_batch_start"): Dropped(
        ("batch", "batch_idx", "dataloader_idx"), ("dataloader_idx",), (("dataloader_idx", "0"),)
    ),
    ("LightningModule", "on_train_batch_end"): Dropped(
        ("outputs", "batch", "batch_idx", "dataloader_idx"), ("dataloader_idx",), (("dataloader_idx", "0"),)
    ),
    ("Callback", "on_train_batch_start"): Dropped(
        ("trainer", "pl_module", "batch", "batch_idx", "dataloader_idx"),
        ("dataloader_idx",),
        (("dataloader_idx", "0"),),
    ),
    ("Callback", "on_train_batch_end"): Dropped(
        ("trainer", "pl_module", "outputs", "batch", "batch_idx", "dataloader_idx"),
        ("dataloader_idx",),
        (("dataloader_idx", "0"),),
    ),
    ("Callback", "on_before_optimizer_step"): Dropped(
        ("trainer", "pl_module", "optimizer", "optimizer_idx"), ("optimizer_idx",)
    ),
    ("Callback", "finetune_function"): Dropped(
        ("pl_module", "epoch", "optimizer", "optimizer_idx"), ("optimizer_idx",)
    ),
}


@dataclass(frozen=True, slots=True)
class Indexed:
    """A hook whose ``dataloader_idx`` is passed only with several loaders: it needs a default.

    Attributes:
        position: Where the parameter stands.
        old: Parameters of 0.7–0.9, which had no outputs.
    """

    position: int
    old: tuple[str, ...] = ()


INDEXED: dict[tuple[str, str], Indexed] = {}
for _stage in ("validation", "test", "predict"):
    INDEXED["LightningModule", f"{_stage}_step"] = Indexed(2)
    INDEXED["LightningModule", f"on_{_stage}_batch_start"] = Indexed(2)
    INDEXED["LightningModule", f"on_{_stage}_batch_end"] = Indexed(
        3, ("batch", "batch_idx", "dataloader_idx")
    )
    INDEXED["Callback", f"on_{_stage}_batch_start"] = Indexed(4)
    INDEXED["Callback", f"on_{_stage}_batch_end"] = Indexed(
        5, ("trainer", "pl_module", "batch", "batch_idx", "dataloader_idx")
    )

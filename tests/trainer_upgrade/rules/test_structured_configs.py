from __future__ import annotations

from trainer_upgrade.testing import check, check_noop

CONF = """
from dataclasses import dataclass
from typing import Optional

import pytorch_lightning as pl


@dataclass
class TrainerConf:
    _target_: str = "pytorch_lightning.Trainer"
    checkpoint_callback: bool = True  # keep
    track_grad_norm: int = -1
    gpus: Optional[int] = None
    max_epochs: int = 3
"""


def test_plain_fields_are_renamed_and_dropped_and_the_others_told() -> None:
    after = CONF.replace("checkpoint_callback", "enable_checkpointing").replace(
        "    track_grad_norm: int = -1\n", ""
    )
    check(CONF, after, target="lightning", unsafe=True, codes=["TRU117", "TRU127", "TRU101"])


def test_nothing_is_changed_without_being_asked() -> None:
    check_noop(CONF, target="lightning", unsafe=False, codes=["TRU117", "TRU127", "TRU101"])


def test_a_dataclass_that_looks_like_one_is_told() -> None:
    source = CONF.replace('    _target_: str = "pytorch_lightning.Trainer"\n', "    precision: int = 16\n")
    check_noop(source, target="lightning", codes=["TRU117", "TRU127", "TRU101"])


def test_other_dataclasses_are_none_of_ours() -> None:
    few = "import pytorch_lightning as pl\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    gpus: int = 1\n"
    check_noop(few, target="lightning")
    many = "".join(f"    x{number}: int = 1\n" for number in range(9))
    check_noop(few + many + "    precision: int = 16\n", target="lightning")
    check_noop(
        CONF.replace("@dataclass\n", "").replace("from dataclasses import dataclass\n", ""),
        target="lightning",
    )
    check_noop(
        CONF.replace("pytorch_lightning.Trainer", "other.Trainer").replace("max_epochs", "steps"),
        target="lightning",
    )

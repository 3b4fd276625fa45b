"""Members of loggers, plugins, bars and loops, and overrides of theirs."""

from __future__ import annotations

import pytest

from trainer_upgrade.testing import check, check_noop, findings

HEAD = """\
import pytorch_lightning as pl
from pytorch_lightning.callbacks import LearningRateMonitor, ModelCheckpoint, TQDMProgressBar
from pytorch_lightning.loggers import CSVLogger
from pytorch_lightning.plugins.environments import ClusterEnvironment, LightningEnvironment
from pytorch_lightning.plugins.io import CheckpointIO
from pytorch_lightning.profilers import SimpleProfiler
from pytorch_lightning.strategies import DDPStrategy
from pytorch_lightning.utilities.combined_loader import CombinedLoader

logger, monitor, keep = CSVLogger("a"), LearningRateMonitor(), ModelCheckpoint()
trainer, profiler, environment = pl.Trainer(), SimpleProfiler(), LightningEnvironment()
logger2 = CSVLogger("a")
monitor2 = LearningRateMonitor()
environment2 = LightningEnvironment()
profiler2 = SimpleProfiler()
keep2 = ModelCheckpoint()
trainer2 = pl.Trainer()
"""


@pytest.mark.parametrize(
    ("before", "after", "code", "unsafe"),
    [
        ("logger2.close()", 'logger2.finalize("success")', "TRU886", False),
        ("logger2.agg_and_log_metrics({}, 1)", "logger2.log_metrics({}, 1)", "TRU886", False),
        ("monitor2.lr_sch_names[0]", "list(monitor2.lrs)[0]", "TRU892", False),
        ("environment2.creates_children()", "environment2.creates_processes_externally", "TRU890", False),
        ("environment2.master_port()", "environment2.main_port", "TRU890", False),
        ("trainer2.accelerator.barrier('a')", "trainer2.strategy.barrier('a')", "TRU889", False),
        ("CombinedLoader(loaders=[1])", "CombinedLoader(iterables=[1])", "TRU896", False),
        ("CombinedLoader([1]).loaders", "CombinedLoader([1]).iterables", "TRU896", True),
        ("trainer2.fit_loop.max_steps = 1", "trainer2.fit_loop.epoch_loop.max_steps = 1", "TRU893", True),
    ],
)
def test_members(before: str, after: str, code: str, unsafe: bool) -> None:
    found = check(f"{HEAD}{before}\n", f"{HEAD}{after}\n", target="lightning", unsafe=unsafe)
    assert [each.code for each in found] == [code]


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("profiler2.profile_iterable([], 'a')", "TRU887"),
        ("keep2.save_checkpoint(trainer2)", "TRU892"),
        ("trainer2.fit_loop.epoch_loop.connect(batch_loop=1)", "TRU893"),
        ("trainer2.fit_loop.replace(epoch_loop=1)", "TRU893"),
    ],
)
def test_members_for_a_person(expression: str, code: str) -> None:
    check_noop(f"{HEAD}{expression}\n", target="lightning", codes=[code])


def test_members_of_others_are_left_alone() -> None:
    check_noop(
        f"{HEAD}open('a').close()\nfor loader in []:\n    loader.loaders\ntrainer2.model.connect(1)\n",
        target="lightning",
    )


OVERRIDES = [
    (
        "TQDMProgressBar",
        "get_metrics(self, trainer)",
        "get_metrics(self, trainer, pl_module)",
        "TRU891",
        False,
    ),
    ("TQDMProgressBar", "get_metrics(self, *args)", None, None, False),
    (
        "CheckpointIO",
        "load_checkpoint(self, path, map_location=None)",
        "load_checkpoint(self, path, map_location=None, weights_only=None)",
        "TRU892",
        False,
    ),
    (
        "DDPStrategy",
        "backward(self, closure_loss, model, optimizer, optimizer_idx)",
        "backward(self, closure_loss, model, optimizer)",
        "TRU889",
        True,
    ),
    ("DDPStrategy", "dispatch(self, trainer)", "setup(self, trainer)", "TRU889", True),
    ("ClusterEnvironment", "creates_children(self)", None, "TRU890", True),
    ("object", "dispatch(self, trainer)", None, None, True),
]


@pytest.mark.parametrize(("base", "before", "after", "code", "unsafe"), OVERRIDES)
def test_overrides(base: str, before: str, after: str | None, code: str | None, unsafe: bool) -> None:
    def text(signature: str) -> str:
        return f"{HEAD}\n\nclass Own({base}):\n    def {signature}:\n        return 1\n"

    found = check(text(before), text(after or before), target="lightning", unsafe=unsafe)
    assert [each.code for each in found] == ([code] if code else [])


def test_an_index_that_is_read_stays() -> None:
    text = f"{HEAD}\n\nclass Own(DDPStrategy):\n    def backward(self, loss, optimizer, optimizer_idx):\n"
    (found,) = findings(f"{text}        return optimizer_idx\n", target="lightning")
    assert (found.code, found.fix) == ("TRU889", None)


def test_a_bar_that_counts_itself() -> None:
    text = f"{HEAD}\n\nclass Bar(TQDMProgressBar):\n"
    reads = "    def look(self):\n        return self.train_batch_idx\n"
    assert [each.code for each in findings(text + reads, target="lightning")] == ["TRU891"]
    own = "    def start(self):\n        self.train_batch_idx = 0\n\n"
    assert not findings(text + own + reads, target="lightning")

"""Imports of Lightning, and names reached through a package."""

from __future__ import annotations

import pytest

from trainer_upgrade import testing

LIGHTNING = [
    pytest.param(
        "from pytorch_lightning.core.lightning import LightningModule\n",
        "from pytorch_lightning import LightningModule\n",
        id="a module that is gone",
    ),
    pytest.param(
        "from pytorch_lightning.utilities.distributed import rank_zero_only, rank_zero_info\n",
        "from pytorch_lightning.utilities.rank_zero import rank_zero_only, rank_zero_info\n",
        id="several names that moved together",
    ),
    pytest.param(
        "from pytorch_lightning.utilities.seed import seed_everything, isolate_rng\n",
        "from pytorch_lightning import seed_everything\n"
        "from pytorch_lightning.utilities.seed import isolate_rng\n",
        id="one moves and one stays",
    ),
    pytest.param(
        "from pytorch_lightning.loggers.base import LightningLoggerBase\n\n\nclass L(LightningLoggerBase): ...\n",
        "from pytorch_lightning.loggers import Logger\n\n\nclass L(Logger): ...\n",
        id="a renamed class, with its uses",
    ),
    pytest.param(
        "from pytorch_lightning.loggers.base import LightningLoggerBase as Base\n\n\nclass L(Base): ...\n",
        "from pytorch_lightning.loggers import Logger as Base\n\n\nclass L(Base): ...\n",
        id="an alias stays",
    ),
    pytest.param(
        "from logging import Logger\nfrom pytorch_lightning.loggers.base import LightningLoggerBase\n\n"
        "x = (Logger, LightningLoggerBase)\n",
        "from logging import Logger\nfrom pytorch_lightning.loggers import Logger as LightningLoggerBase\n\n"
        "x = (Logger, LightningLoggerBase)\n",
        id="the new name is taken",
    ),
    pytest.param(
        'from pytorch_lightning.loggers.base import LightningLoggerBase\n\n__all__ = ["LightningLoggerBase"]\n',
        "from pytorch_lightning.loggers import Logger as LightningLoggerBase\n\n"
        '__all__ = ["LightningLoggerBase"]\n',
        id="a name that others may import stays",
    ),
    pytest.param(
        "from pytorch_lightning.callbacks.base import (\n    # the base\n    Callback,  # ours\n)\n",
        "from pytorch_lightning import (\n    # the base\n    Callback,  # ours\n)\n",
        id="lines and comments stay",
    ),
    pytest.param(
        "from pytorch_lightning.utilities.seed import (\n    isolate_rng,  # one\n    seed_everything,\n)\n",
        "from pytorch_lightning.utilities.seed import (\n    isolate_rng,  # one\n)\n"
        "from pytorch_lightning import seed_everything\n",
        id="one line of several moves",
    ),
    pytest.param(
        "from pytorch_lightning.utilities.types import EPOCH_OUTPUT, STEP_OUTPUT\n\n\n"
        "def f(x: EPOCH_OUTPUT) -> STEP_OUTPUT: ...\n",
        "from pytorch_lightning.utilities.types import STEP_OUTPUT\n\n\ndef f(x: list) -> STEP_OUTPUT: ...\n",
        id="an alias for a type that is gone",
    ),
    pytest.param(
        "import pytorch_lightning as pl\n\n\n@pl.utilities.distributed.rank_zero_only\ndef f(): ...\n",
        "import pytorch_lightning as pl\n\n\n@pl.utilities.rank_zero.rank_zero_only\ndef f(): ...\n",
        id="a path through the package",
    ),
    pytest.param(
        "import pytorch_lightning\n\np = pytorch_lightning.profiler.SimpleProfiler()\n",
        "import pytorch_lightning\n\np = pytorch_lightning.profilers.SimpleProfiler()\n",
        id="a path through the package without an alias",
    ),
    pytest.param(
        "import pytorch_lightning.core.lightning as lit\n\n\nclass M(lit.LightningModule): ...\n",
        "import pytorch_lightning as lit\n\n\nclass M(lit.LightningModule): ...\n",
        id="a module by another name",
    ),
    pytest.param(
        "from lightning.pytorch.utilities.cli import LightningCLI\n",
        "from lightning.pytorch.cli import LightningCLI\n",
        id="the root that the project writes",
    ),
    pytest.param(
        "def f():\n    from pytorch_lightning.core.lightning import LightningModule\n    return LightningModule\n",
        "def f():\n    from pytorch_lightning import LightningModule\n    return LightningModule\n",
        id="within a function",
    ),
    pytest.param(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
        "    from pytorch_lightning.core.lightning import LightningModule\n",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pytorch_lightning import LightningModule\n",
        id="for type checkers only",
    ),
    pytest.param(
        "from pytorch_lightning import seed_everything\n"
        "from pytorch_lightning.utilities.seed import seed_everything\n\nseed_everything(1)\n",
        "from pytorch_lightning import seed_everything\n\nseed_everything(1)\n",
        id="what is imported already",
    ),
]


@pytest.mark.parametrize(("before", "after"), LIGHTNING)
def test_lightning(before: str, after: str) -> None:
    testing.check(before, after, target="lightning")


UNSAFE = [
    pytest.param(
        "from pytorch_lightning.metrics import Accuracy\n\na = Accuracy()\n",
        "from torchmetrics import Accuracy\n\na = Accuracy()\n",
        id="metrics left",
    ),
    pytest.param(
        "import pytorch_lightning as pl\n\na = pl.metrics.Accuracy()\n",
        "import pytorch_lightning as pl\nfrom torchmetrics import Accuracy\n\na = Accuracy()\n",
        id="metrics through the package",
    ),
    pytest.param(
        "from pytorch_lightning import callbacks as cbs\n\nbar = cbs.ProgressBar(refresh_rate=5)\n",
        "from pytorch_lightning import callbacks as cbs\n\nbar = cbs.TQDMProgressBar(refresh_rate=5)\n",
        id="a name that means something else",
    ),
    pytest.param(
        "from pytorch_lightning.plugins import DDPSpawnPlugin\n\ns = DDPSpawnPlugin(find_unused_parameters=False)\n",
        "from pytorch_lightning.strategies import DDPStrategy\n\n"
        's = DDPStrategy(start_method="spawn", find_unused_parameters=False)\n',
        id="a class that became an argument",
    ),
]


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_unsafe(before: str, after: str) -> None:
    assert testing.upgrade(before, target="lightning") == before
    testing.check(before, after, target="lightning", unsafe=True)


RELIGHT = [
    pytest.param(
        "import pytorch_lightning as pl\n\nt = pl.Trainer()\n",
        "import relight as pl\n\nt = pl.Trainer()\n",
        id="the root",
    ),
    pytest.param(
        "import pytorch_lightning\n\nt = pytorch_lightning.Trainer()\n",
        "import relight\n\nt = relight.Trainer()\n",
        id="the root by its own name",
    ),
    pytest.param(
        "import lightning as L\n\nt = L.Trainer(callbacks=[L.pytorch.callbacks.LearningRateMonitor()])\n",
        "import relight as L\n\nt = L.Trainer(callbacks=[L.callbacks.LearningRateMonitor()])\n",
        id="the umbrella package",
    ),
    pytest.param(
        "from pytorch_lightning import Trainer, LightningModule\n",
        "from relight import Trainer, LightningModule\n",
        id="names",
    ),
    pytest.param(
        "from pytorch_lightning.callbacks import EarlyStopping as ES\n",
        "from relight.callbacks import EarlyStopping as ES\n",
        id="an alias stays here too",
    ),
    pytest.param(
        "import pytorch_lightning as pl\n\n\n@pl.utilities.rank_zero.rank_zero_only\ndef f(): ...\n",
        "import relight as pl\n\n\n@pl.utilities.rank_zero_only\ndef f(): ...\n",
        id="a path that is shorter there",
    ),
    pytest.param(
        "from pytorch_lightning.plugins.environments import SLURMEnvironment\n",
        "from lightning_fabric.plugins.environments import SLURMEnvironment\n",
        id="Fabric's own",
    ),
]


@pytest.mark.parametrize(("before", "after"), RELIGHT)
def test_relight(before: str, after: str) -> None:
    testing.check(before, after)


UNTOUCHED = [
    pytest.param("from pytorch_lightning import Trainer\n", id="nothing moved"),
    pytest.param(
        "try:\n    from pytorch_lightning.utilities.rank_zero import rank_zero_only\n"
        "except ImportError:\n    from pytorch_lightning.utilities.distributed import rank_zero_only\n\n"
        "rank_zero_only(print)\n",
        id="two ways to one name",
    ),
    pytest.param('"""See pytorch_lightning.core.lightning."""\nimport torch\n', id="a docstring"),
    pytest.param("from .core.lightning import LightningModule\n", id="a relative import"),
    pytest.param(
        "import pytorch_lightning as pl\n\nx = pl.callbacks.ModelCheckpoint\n", id="a path of today"
    ),
    pytest.param(
        "import pytorch_lightning as pl\n\n\ndef f(x):\n    return isinstance(x, pl.callbacks.ProgressBar)\n",
        id="a class that is only compared with",
    ),
    pytest.param("import lightning_fabric\n\nf = lightning_fabric.Fabric()\n", id="Fabric"),
]


@pytest.mark.parametrize("source", UNTOUCHED)
def test_untouched(source: str) -> None:
    testing.check_noop(source, target="lightning")


STAYS = [
    pytest.param(
        "import pytorch_lightning as pl\n\nl = pl.accelerators.DDP2Accelerator()\nt = pl.Trainer(logger=l)\n",
        ["TRU334", "TRU306"],
        id="one use has no twin: the import and all uses stay, and the import says so",
    ),
    pytest.param(
        "from pytorch_lightning.accelerators import CPUAccelerator, DDP2Accelerator\n\n"
        "x = (CPUAccelerator, DDP2Accelerator)\n",
        ["TRU306"],
        id="one name of a statement has no twin",
    ),
    pytest.param(
        "try:\n    from pytorch_lightning.utilities.debugging import gone\nexcept ImportError:\n"
        "    from pytorch_lightning.utilities import move_data_to_device as gone\n\ngone()\n",
        ["TRU334"],
        id="two ways to Lightning, the first of which leads nowhere on relight",
    ),
    pytest.param(
        "import pytorch_lightning as pl\n\nif pl:\n    pl = None\n",
        ["TRU334"],
        id="the name stands for something else too",
    ),
]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "try:\n    import lightning.pytorch as pl\nexcept ImportError:\n    import pytorch_lightning as pl\n\n"
            "trainer = pl.Trainer(gpus=1)\n",
            "try:\n    import relight as pl\nexcept ImportError:\n    import pytorch_lightning as pl\n\n"
            'trainer = pl.Trainer(accelerator="gpu", devices=1)\n',
        ),
        (
            "try:\n    from pytorch_lightning.loggers import Logger\nexcept ImportError:\n"
            "    from pytorch_lightning.loggers import LightningLoggerBase as Logger\n\nclass Mine(Logger): ...\n",
            "try:\n    from relight.loggers import Logger\nexcept ImportError:\n"
            "    from pytorch_lightning.loggers import LightningLoggerBase as Logger\n\nclass Mine(Logger): ...\n",
        ),
    ],
)
def test_the_first_of_two_ways_goes_to_relight_and_the_fallback_stays(before: str, after: str) -> None:
    testing.check(before, after)
    # On Lightning both ways are right.
    testing.check(before, before.replace("gpus=1", 'accelerator="gpu", devices=1'), target="lightning")


def test_what_only_compat_has_goes_through_compat() -> None:
    testing.check(
        "import pytorch_lightning as pl\n"
        "from pytorch_lightning.core.decorators import auto_move_data\n"
        "from pytorch_lightning.loggers import CSVLogger, LoggerCollection\n\n"
        "NEW = pl.__version__ >= '1.4'\nt = pl.Trainer()\n",
        "import relight as pl\n"
        "from relight.compat.core.decorators import auto_move_data\n"
        "from relight.loggers import CSVLogger\n"
        "from relight.compat.loggers import LoggerCollection\n\n"
        "NEW = pl.compat.__version__ >= '1.4'\nt = pl.Trainer()\n",
    )


def test_on_lightning_a_guard_and_a_version_check_are_right() -> None:
    guard = (
        "try:\n    import lightning.pytorch as pl\nexcept ImportError:\n    import pytorch_lightning as pl\n"
    )
    testing.check_noop(guard + "\nNEW = pl.__version__ >= '2'\n", target="lightning")


@pytest.mark.parametrize(("source", "codes"), STAYS)
def test_stays_on_lightning(source: str, codes: list[str]) -> None:
    testing.check_noop(source, codes=codes)


def test_code_whose_import_stays_is_written_for_lightning() -> None:
    testing.check(
        "import pytorch_lightning as pl\n\nl = pl.accelerators.DDP2Accelerator()\n"
        "t = pl.Trainer(gpus=0, limit_train_batches=2)\nt.fit(None)\n",
        "import pytorch_lightning as pl\n\nl = pl.accelerators.DDP2Accelerator()\n"
        't = pl.Trainer(accelerator="cpu", devices=1, limit_train_batches=2)\nt.fit(None)\n',
    )


def test_a_package_keeps_its_public_names() -> None:
    testing.check(
        "from pytorch_lightning.loggers.base import LightningLoggerBase\n",
        "from pytorch_lightning.loggers import Logger as LightningLoggerBase\n",
        target="lightning",
        path="pack/__init__.py",
    )


def test_a_file_that_others_import_from_keeps_its_names() -> None:
    testing.check(
        "from pytorch_lightning.loggers.base import LightningLoggerBase\n",
        "from pytorch_lightning.loggers import Logger as LightningLoggerBase\n",
        target="lightning",
        path="base.py",
        files={"user.py": "import pytorch_lightning\nfrom base import LightningLoggerBase\n"},
    )


def test_questions_for_a_class_that_nothing_is_any_more() -> None:
    head = "from pytorch_lightning import Trainer\n"
    body = "\n\ndef dp(trainer: Trainer):\n    return {}\n"
    gone = "from pytorch_lightning.strategies import DataParallelStrategy\n"
    asks = "isinstance(trainer.strategy, DataParallelStrategy)"
    found = testing.check(
        head + gone + body.format(asks), head + body.format("False"), target="lightning", unsafe=True
    )
    assert [each.code for each in found] == ["TRU306"]
    # Made, not asked about: a person has to decide.
    for other in (
        "DataParallelStrategy()",
        f"{asks} or DataParallelStrategy",
        "isinstance(f(), DataParallelStrategy)",
    ):
        text = head + gone + body.format(other)
        testing.check(text, text, target="lightning", unsafe=True)

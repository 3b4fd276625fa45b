"""What changes outside Python code: pins, configuration files, command lines, the environment."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from trainer_upgrade.catalogue.build import MANUAL, UNSAFE, custom, make
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry

__all__ = ["ENTRIES"]

# (code, owner, name, applicability, what takes its place, advice)
_TABLE: tuple[tuple[str, str, str, Applicability, str, str], ...] = (
    (
        "TRU901",
        "requirements",
        "pytorch-lightning",
        UNSAFE,
        "relight[train], or lightning>=2.0",
        "the pin of pytorch-lightning is for the old API: require what the upgraded code runs on",
    ),
    (
        "TRU902",
        "requirements",
        "torch",
        UNSAFE,
        "torch>=2.6",
        "the pin of torch is older than the target takes: raise it",
    ),
    (
        "TRU903",
        "requirements",
        "python",
        UNSAFE,
        "python>=3.10",
        "the target needs Python 3.10: raise the pin",
    ),
    (
        "TRU904",
        "requirements",
        "torchmetrics",
        UNSAFE,
        "torchmetrics>=1.5",
        "metrics come from torchmetrics: require it",
    ),
    (
        "TRU905",
        "requirements",
        "tensorboard",
        UNSAFE,
        "tensorboard",
        "tensorboard no longer comes with Lightning since 1.9: require it where its logger is used",
    ),
    (
        "TRU906",
        "requirements",
        "torch_xla",
        MANUAL,
        "torch_xla>=1.13",
        "torch_xla before 1.13 (XRT) is not supported since 2.0: raise the pin",
    ),
    (
        "TRU907",
        "requirements",
        "lightning[app]",
        MANUAL,
        "",
        "lightning.app left the package: require what you use of it by its own name",
    ),
    (
        "TRU910",
        "environment",
        "PL_TORCH_DISTRIBUTED_BACKEND",
        MANUAL,
        "process_group_backend=… of the strategy",
        "PL_TORCH_DISTRIBUTED_BACKEND is not read since 1.8: say process_group_backend to the strategy",
    ),
    (
        "TRU910",
        "environment",
        "PL_INTER_BATCH_PARALLELISM",
        MANUAL,
        "",
        "PL_INTER_BATCH_PARALLELISM is not read since 2.0: delete it",
    ),
    (
        "TRU910",
        "environment",
        "PL_RECONCILE_PROCESS",
        MANUAL,
        "",
        "PL_RECONCILE_PROCESS is not read since 2.0: delete it",
    ),
    (
        "TRU910",
        "environment",
        "PL_FAULT_TOLERANT_TRAINING",
        MANUAL,
        "OnExceptionCheckpoint on Lightning",
        "PL_FAULT_TOLERANT_TRAINING is not read since 2.0: save a checkpoint in on_exception",
    ),
    (
        "TRU920",
        "configuration",
        "trainer-key",
        UNSAFE,
        "the modern key",
        "a key of the Trainer's section in a configuration file has another name or place today",
    ),
    (
        "TRU921",
        "configuration",
        "target",
        UNSAFE,
        "the modern path",
        "a class path in a configuration file has moved",
    ),
    (
        "TRU930",
        "command-line",
        "trainer-flag",
        MANUAL,
        "the modern flag",
        "a flag on a command line, in a script or a readme names an argument that is gone",
    ),
    (
        "TRU931",
        "command-line",
        "lightning-cli",
        MANUAL,
        "python main.py fit …",
        "LightningCLI wants a subcommand (fit, validate, test, predict) on the command line since 1.5, or run=False",
    ),
    (
        "TRU940",
        "project",
        "two-roots",
        MANUAL,
        "one of the two",
        "pytorch_lightning and lightning.pytorch hold different classes of the same names: import from one of them everywhere",
    ),
    (
        "TRU941",
        "project",
        "cli-import",
        UNSAFE,
        "from pytorch_lightning.cli import LightningCLI",
        "`pl.cli` is not there after `import pytorch_lightning as pl`: import it from pytorch_lightning.cli",
    ),
    (
        "TRU942",
        "project",
        "newer-than-the-pin",
        MANUAL,
        "a newer pin, or the older form",
        "the Lightning that the project pins does not have this yet: raise the pin or write the older form",
    ),
)

ENTRIES: tuple[Entry, ...] = tuple(
    make(
        Area.PROJECT_FILE,
        owner,
        code,
        name,
        advice,
        relight=custom(text),
        how=how,
        source="Lightning 1.5 to 2.6",
        behaviour="outside the code",
    )
    for code, owner, name, how, text, advice in _TABLE
)

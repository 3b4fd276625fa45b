"""Stop after any batch, resume: everything equals the unbroken run, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from resume_world import (
    Rows,
    SizedStream,
    StatefulLoader,
    StatefulSampler,
    StatefulStream,
    Stream,
    World,
    differences,
    loader,
)  # fmt: skip
from torch.utils.data import WeightedRandomSampler

from relight.utilities.combined_loader import CombinedLoader

pytestmark = pytest.mark.filterwarnings("ignore")

EVERYWHERE = ("on_train_batch_end", "on_validation_batch_end", "on_validation_end", "on_train_epoch_end")


def shuffled(n: int = 10, **kwargs: Any) -> Any:
    return loader(Rows(n, kwargs.pop("noise", None)), shuffle=True, **kwargs)


WORLDS: dict[str, dict[str, Any]] = {
    "shuffled": {"train": shuffled},
    "augmented": {"train": lambda: shuffled(noise="torch")},
    "accumulation": {"train": shuffled, "accumulate_grad_batches": 3},
    "validation inside": {
        "train": shuffled, "val": lambda: [loader(Rows(3)), shuffled(5)], "val_check_interval": 2,
    },
    "validation at the end": {"train": shuffled, "val": lambda: loader(Rows(6, "torch"))},
    "manual optimization": {"train": shuffled, "manual": True},
    "own generator": {"train": lambda: shuffled(generator=torch.Generator().manual_seed(7))},
    "weighted sampler": {
        "train": lambda: loader(Rows(10), sampler=WeightedRandomSampler([1.0, 2.0] * 5, 10)),
    },
    "stateful sampler": {"train": lambda: loader(Rows(10), sampler=StatefulSampler(10))},
    "stateful loader": {"train": lambda: StatefulLoader(10)},
    "iterable": {"draws": False, "train": lambda: loader(Stream(10))},
    "iterable with noise": {"draws": False, "train": lambda: loader(Stream(10, "torch"))},
    "sized iterable": {"draws": False, "train": lambda: loader(SizedStream(10))},
    "stateful iterable": {"train": lambda: loader(StatefulStream(10))},
    "several loaders": {"train": lambda: {"a": shuffled(), "b": shuffled(6)}},
    "smallest loader": {"train": lambda: CombinedLoader([shuffled(), shuffled(6, noise="torch")], "min_size")},
    "largest loader": {"train": lambda: CombinedLoader([shuffled(), shuffled(6)], "max_size")},
    "several streams": {"draws": False, "train": lambda: [loader(Stream(10)), shuffled(6)]},
    "limited": {"train": shuffled, "limit_train_batches": 3},
    "over epochs": {
        "train": shuffled, "val": lambda: shuffled(4), "val_check_interval": 3, "check_val_every_n_epoch": None,
    },
}  # fmt: skip


def walk(world: World, *hooks: str) -> None:
    expected, files, rows = world.unbroken(*hooks)
    assert files
    wrong = {}
    for path, known in files:
        if found := differences(expected, world.resumed(path, rows[:known])):
            wrong[path.name] = found
    assert not wrong, "\n".join(f"{name}: {text}" for name, texts in wrong.items() for text in texts)


@pytest.mark.parametrize("name", WORLDS)
def test_stop_anywhere(name: str, tmp_path: Path) -> None:
    walk(World(tmp_path, **WORLDS[name]), *EVERYWHERE)

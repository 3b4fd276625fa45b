"""Stop after any batch, resume: everything equals the unbroken run, to the last bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from resume_world import (
    Rows,
    SaveAll,
    SizedStream,
    StatefulLoader,
    StatefulSampler,
    StatefulStream,
    Stream,
    World,
    differences,
    loader,
    report,
)  # fmt: skip
from torch.utils.data import WeightedRandomSampler

import relight
from relight.callbacks import ModelCheckpoint
from relight.trainer.resume import KEY
from relight.utilities.combined_loader import CombinedLoader
from relight.utilities.exceptions import SIGTERMException

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


# Other ways to stop


class StopsAt(relight.Callback):
    """Wants the end of the run after a batch."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_train_batch_end(self, trainer: Any, *args: Any) -> None:
        if trainer.global_step == self.step:
            trainer.should_stop = True


class Raises(relight.Callback):
    """Raises in a hook, at a step."""

    def __init__(self, hook: str, step: int, error: BaseException) -> None:
        self.step, self.error = step, error
        setattr(self, hook, self.hook)

    def hook(self, trainer: Any, *args: Any) -> None:
        if trainer.global_step == self.step and not trainer.sanity_checking:
            raise self.error


class SavesOnException(relight.callbacks.Checkpoint):
    def __init__(self, path: Path) -> None:
        self.path = path

    def on_exception(self, trainer: Any, *args: Any) -> None:
        trainer.save_checkpoint(self.path)


def world_of(tmp_path: Path, name: str = "validation inside", **more: Any) -> World:
    return World(tmp_path, **{**WORLDS[name], **more})


def from_saved(world: World, rows: list[Any], trainer: Any) -> dict[str, Any]:
    path = world.directory / "stopped.ckpt"
    trainer.save_checkpoint(path)
    return world.resumed(path, rows)


@pytest.mark.parametrize("steps", range(1, 10))
def test_max_steps(steps: int, tmp_path: Path) -> None:
    world = world_of(tmp_path)
    expected = world.unbroken()[0]
    rows: list[Any] = []
    trainer = world.fit(rows, SaveAll(tmp_path), max_steps=steps)
    assert trainer.global_step == steps
    found = from_saved(world, rows, trainer)
    extra = [row for row in found["rows"] if row not in expected["rows"]]
    assert len(extra) <= 1  # of the epoch that was cut short
    assert not differences({**expected, "rows": []}, {**found, "rows": []})
    assert [row for row in found["rows"] if row not in extra] == expected["rows"]


@pytest.mark.parametrize("steps", range(1, 11))
def test_should_stop(steps: int, tmp_path: Path) -> None:
    world = world_of(tmp_path)
    expected = world.unbroken()[0]
    rows: list[Any] = []
    trainer = world.fit(rows, StopsAt(steps), SaveAll(tmp_path))
    assert trainer.global_step == steps
    found = from_saved(world, rows, trainer)
    assert not differences({**expected, "rows": []}, {**found, "rows": []})
    unlike = [
        row for row in found["rows"] if row not in expected["rows"]
    ]  # what the epoch that was cut came to
    assert [row for row in once(found["rows"]) if row not in unlike] == expected["rows"]


def once(rows: list[Any]) -> list[Any]:
    """Return the last of equal rows: an epoch that was ended too early is ended again."""
    return [row for index, row in enumerate(rows) if row not in rows[index + 1 :]]


@pytest.mark.parametrize("epochs", [1, 2])
def test_max_epochs(epochs: int, tmp_path: Path) -> None:
    world = world_of(tmp_path, max_epochs=3)
    expected = world.unbroken()[0]
    rows: list[Any] = []
    trainer = world.fit(rows, SaveAll(tmp_path), max_epochs=epochs)
    assert not differences(expected, from_saved(world, rows, trainer))


@pytest.mark.parametrize("hook", ["on_train_batch_start", "on_validation_batch_start", "on_before_zero_grad"])
@pytest.mark.parametrize("step", [0, 2, 7])
def test_an_exception(hook: str, step: int, tmp_path: Path) -> None:
    world = world_of(tmp_path, draws=False)
    expected = world.unbroken()[0]
    if hook == "on_validation_batch_start":
        step = {0: 2, 2: 4, 7: 7}[step]  # there it runs
    rows: list[Any] = []
    path = tmp_path / "stopped.ckpt"
    with pytest.raises(RuntimeError, match="here"):
        world.fit(rows, Raises(hook, step, RuntimeError("here")), SavesOnException(path))
    found = world.resumed(path, rows)
    unlike = differences(expected, found)
    if hook == "on_before_zero_grad":  # within a batch: it is done again, with other random numbers
        assert found["step"] == expected["step"]
        assert unlike
    else:
        found["callbacks"]["Counts"]["batch_start"] = expected["callbacks"]["Counts"]["batch_start"]
        assert not differences(expected, found)


class Signalled(relight.Callback):
    """Gets a signal while a hook runs."""

    def __init__(self, number: int, hook: str, step: int, times: int = 1) -> None:
        self.number, self.step, self.times = number, step, times
        setattr(self, hook, self.hook)

    def hook(self, trainer: Any, *args: Any) -> None:
        if trainer.global_step == self.step and not trainer.sanity_checking and self.times:
            for _ in range(self.times):
                signal.raise_signal(self.number)
            self.times = 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("hook", "step"),
    [
        ("on_train_batch_start", 0),
        ("on_before_zero_grad", 2),
        ("on_train_batch_start", 4),
        ("on_train_batch_end", 8),
        ("on_validation_batch_start", 4),
        ("on_validation_end", 7),
        ("on_train_epoch_end", 5),
    ],
)
def test_a_signal_ends_the_run_in_order(number: int, hook: str, step: int, tmp_path: Path) -> None:
    world = world_of(tmp_path)
    expected = world.unbroken()[0]
    rows: list[Any] = []
    path, before = tmp_path / "stopped.ckpt", signal.getsignal(number)
    kind = KeyboardInterrupt if number == signal.SIGINT else SIGTERMException
    with pytest.raises(kind) as raised:
        world.fit(rows, Signalled(number, hook, step), SavesOnException(path))
    assert raised.value.code == (1 if number == signal.SIGINT else 143)
    assert signal.getsignal(number) is before
    assert not differences(expected, world.resumed(path, rows))


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        world.fit(
            [], Signalled(signal.SIGINT, "on_before_zero_grad", 3, times=2), SavesOnException(tmp_path / "a")
        )
    saved = torch.load(tmp_path / "a", weights_only=True)
    assert saved["relight"]["processes"][0]["moment"] == "in batch"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_users_own_gets_ctrl_c(tmp_path: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        world_of(tmp_path).fit([], Signalled(signal.SIGINT, "on_train_batch_start", 3))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_workers_do_again_what_they_did(tmp_path: Path) -> None:
    world = World(
        tmp_path, lambda: shuffled(6, noise="torch", num_workers=1), limit_train_batches=3, max_epochs=2
    )
    walk(world, "on_train_batch_end")


def test_passing_over_batches_loads_nothing(tmp_path: Path) -> None:
    asked: list[int] = []

    class Watched(Rows):
        def __getitem__(self, index: int) -> Any:
            asked.append(index)
            return super().__getitem__(index)

    world = World(tmp_path, lambda: loader(Watched(10), shuffle=True), max_epochs=1)
    _, files, rows = world.unbroken("on_train_batch_end")
    asked.clear()
    world.resumed(files[3][0], rows[: files[3][1]])
    assert len(asked) == 2  # of 10: the last batch


def test_several_checkpoint_callbacks_save_at_once(tmp_path: Path) -> None:
    def callbacks() -> list[Any]:
        return [
            ModelCheckpoint(
                tmp_path / "a", every_n_train_steps=2, save_top_k=2, monitor="loss", save_last=True
            ),
            ModelCheckpoint(tmp_path / "b", every_n_train_steps=2, save_top_k=-1),
            ModelCheckpoint(
                tmp_path / "c", every_n_train_steps=2, monitor="seen", mode="max", save_last=True
            ),
        ]

    world = World(tmp_path, **WORLDS["validation inside"], callbacks=callbacks)
    rows: list[Any] = []
    expected = report(world.fit(rows, SaveAll(tmp_path)), rows)
    tree = files_below(tmp_path)
    for step in (2, 4, 5, 7):
        clear(tmp_path)
        with pytest.raises(RuntimeError, match="here"):
            world.fit([], SaveAll(tmp_path), Raises("on_train_batch_start", step, RuntimeError("here")))
        left = {path: path.read_bytes() for path in tmp_path.rglob("*.ckpt")}
        steps = {path: torch.load(path)["global_step"] for path in left}
        for path in left:
            if steps[path] < max(steps.values()):
                continue  # what was saved since belongs to another run
            clear(tmp_path)
            for other, content in left.items():
                other.write_bytes(content)
            found = world.resumed(path, [])
            assert not differences({**expected, "rows": []}, {**found, "rows": []}), (step, path)
            spared = {str(path.relative_to(tmp_path))}  # what a run is resumed from stays
            assert set(files_below(tmp_path)) - spared == set(tree) - spared, (step, path)


def clear(directory: Path) -> None:
    for path in directory.rglob("*.ckpt"):
        path.unlink()


def files_below(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*.ckpt"))


def test_loaders_that_are_asked_for_again(tmp_path: Path) -> None:
    class Data(relight.LightningDataModule):
        def train_dataloader(self) -> Any:
            return shuffled(4 + 2 * torch.randint(3, ()).item())

    walk(World(tmp_path, Data, reload_dataloaders_every_n_epochs=2, max_epochs=5), *EVERYWHERE)


def test_lightning_reads_the_key_without_trust(tmp_path: Path) -> None:
    _, files, _ = world_of(tmp_path).unbroken("on_validation_batch_end")
    loaded = torch.load(files[0][0], weights_only=True)
    assert set(loaded[KEY]) == {"version", "saver", "places", "processes"}


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed package")
def test_two_processes(tmp_path: Path) -> None:
    script = Path(__file__).with_name("pair_of_processes.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, script, tmp_path],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert first["draws"] != second["draws"]
    assert first["tried"] == 8
    assert first["wrong"] == second["wrong"] == {}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", ["shuffled", "stream"])
def test_the_stateful_loader_of_torchdata(kind: str, workers: int, tmp_path: Path) -> None:
    pytest.importorskip("torchdata")
    from torchdata.stateful_dataloader import StatefulDataLoader

    def train() -> Any:
        options = {"batch_size": 2, "num_workers": workers}
        if kind == "stream":
            return StatefulDataLoader(StatefulStream(10), **options)
        return StatefulDataLoader(Rows(10), shuffle=True, **options)

    hooks = ("on_train_batch_end", "on_train_epoch_end") if not workers else ("on_train_epoch_end",)
    walk(World(tmp_path, train), *hooks)

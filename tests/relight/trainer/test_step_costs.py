"""What a training step must not do: wait for the device, or keep anything."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader

import relight

pytestmark = pytest.mark.filterwarnings("ignore")


class Waits(TorchDispatchMode):
    """Counts what makes the host wait for the device: a value read, or data copied to the host."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        for name in ("cpu", "numpy", "tolist", "item", "__float__", "__int__", "__bool__"):
            original = getattr(torch.Tensor, name)

            def counted(tensor: Any, *args: Any, _name: str = name, _original: Any = original) -> Any:
                self.seen[_name] += 1
                return _original(tensor, *args)

            monkeypatch.setattr(torch.Tensor, name, counted)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket in (torch.ops.aten._local_scalar_dense, torch.ops.aten.nonzero):
            self.seen[str(func.overloadpacket)] += 1
        return func(*args, **(kwargs or {}))


class Net(relight.LightningModule):
    def __init__(self, manual: bool = False) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.automatic_optimization = not manual

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self.layer(batch).square().mean()
        self.log("loss", loss, on_step=True, on_epoch=True, prog_bar=True)
        self.log_dict({"most": batch.max(), "number": 1.0}, on_epoch=True, reduce_fx="max")
        if not self.automatic_optimization:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            self.clip_gradients(optimizer, 1.0, "norm")
            optimizer.step()
        return loss

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.log("end", outputs["loss"])

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class Memory(relight.loggers.DummyLogger):
    rows: list[Any]

    def log_metrics(self, metrics: Any, step: Any = None) -> None:  # type: ignore[override]
        self.rows.append((step, metrics))


def loader(batches: int) -> Any:
    return DataLoader(torch.ones(batches, 4), batch_size=1)  # type: ignore[arg-type]


def trainer_with(*callbacks: Any, logger: Any = False, **arguments: Any) -> relight.Trainer:
    return relight.Trainer(
        accelerator="cpu", devices=1, logger=logger, enable_checkpointing=False, enable_progress_bar=False,
        callbacks=list(callbacks), **arguments,
    )  # fmt: skip


class FirstToLast(relight.Callback):
    """Remembers the counts of the batches that are neither the first of an epoch nor its end."""

    def __init__(self, waits: Waits) -> None:
        self.waits, self.inside = waits, Counter[str]()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self.before = Counter(self.waits.seen)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, out: Any, batch: Any, batch_idx: int) -> None:
        self.inside += Counter(self.waits.seen) - self.before


@pytest.mark.parametrize(
    ("manual", "options"),
    [(False, {}), (False, {"accumulate_grad_batches": 2, "gradient_clip_val": 0.5}), (True, {})],
)
def test_a_step_never_waits(manual: bool, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Waits(monkeypatch)
    watch = FirstToLast(waits)
    logger = Memory()
    logger.rows = []
    trainer = trainer_with(watch, logger=logger, max_epochs=2)
    with waits:
        trainer.fit(Net(manual), loader(12), log_every_n_steps=100, **options)
    assert watch.inside == Counter()
    assert len(logger.rows) == 2  # the epochs' ends
    assert waits.seen  # they did read values: the counting works


def test_values_are_read_when_a_logger_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, logger = Waits(monkeypatch), Memory()
    logger.rows = []
    with waits:
        trainer_with(logger=logger, max_epochs=1).fit(Net(), loader(12), log_every_n_steps=4)
    steps = [row for row in logger.rows if "loss_step" in row[1]]
    assert [step for step, _ in steps] == [3, 7, 11]
    logged = sum(len([name for name in row if name != "epoch"]) for _, row in logger.rows)
    shown = 3 + 4  # `loss` is for the progress bar, too: read with the step's and the epoch's values
    assert logged <= waits.seen["item"] <= logged + shown


class Counts(relight.Callback):
    """Counts objects and bytes at some batches."""

    def __init__(self, *at: int) -> None:
        self.at, self.objects, self.bytes = at, {}, {}  # type: ignore[var-annotated]

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if batch_idx in self.at:
            gc.collect()
            self.objects[batch_idx] = len(gc.get_objects())
            self.bytes[batch_idx] = tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("manual", [False, True])
def test_nothing_piles_up(manual: bool) -> None:
    """The long form of this, over 10^5 steps, is benchmarks/training_memory.py."""
    counts = Counts(200, 600, 1000)
    tracemalloc.start()
    try:
        trainer_with(counts, max_epochs=1).fit(Net(manual), loader(1005), log_every_n_steps=100)
    finally:
        tracemalloc.stop()
    # The lower of two later counts, as some objects come and go.
    assert min(counts.objects[600], counts.objects[1000]) - counts.objects[200] < 50
    # 400 steps at least, so less than 100 bytes a step: fewer than one small tensor.
    assert min(counts.bytes[600], counts.bytes[1000]) - counts.bytes[200] < 40_000


def test_outputs_go_when_their_batch_is_over() -> None:
    """What a step returned is dropped after the hooks; so is the batch."""
    import weakref

    alive: list[Any] = []

    class Returns(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            big = torch.zeros(10)
            alive.append((weakref.ref(big), weakref.ref(batch)))
            return {"loss": super().training_step(batch, batch_idx), "big": big}

        def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
            for big, old_batch in alive[:-1]:
                assert big() is None
                assert old_batch() is None

    trainer_with(max_epochs=1).fit(Returns(), loader(5))
    assert len(alive) == 5

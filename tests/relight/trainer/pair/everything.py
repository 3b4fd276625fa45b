"""Run in two processes: many checks in one start. Each process writes what it saw to DIRECTORY/RANK.json.

``python everything.py STRATEGY DIRECTORY``, also under torchrun.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

import relight
import relight.trainer.signals
from relight.callbacks import EarlyStopping, ModelCheckpoint

STRATEGY, DIRECTORY = sys.argv[1], Path(sys.argv[2])
warnings.filterwarnings("ignore")
logging.getLogger("lightning_fabric").setLevel(logging.ERROR)


class Numbers(Dataset[Any]):
    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        return index, torch.full((2,), float(index)) / self.n


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.unused = nn.Linear(2, 1)  # only DDP that looks for unused parameters takes this
        self.seen: dict[str, list[list[int]]] = {"train": [], "val": [], "predict": []}
        self.prepared = 0
        self.printed: list[str] = []

    def prepare_data(self) -> None:
        self.prepared += 1

    def on_train_epoch_start(self) -> None:
        self.seen["train"].append([])

    def on_validation_epoch_start(self) -> None:
        self.seen["val"].append([])

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        index, x = batch
        self.seen["train"][-1] += index.tolist()
        loss = self.layer(x).square().mean()
        self.log("loss", loss, on_step=True, on_epoch=True)  # of this process alone
        self.log("rank_step", float(self.global_rank + 1), sync_dist=True, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.seen["val"][-1] += batch[0].tolist()
        rank = float(self.global_rank)
        for reduce_fx in ("mean", "sum", "min", "max"):
            self.log(f"rank_{reduce_fx}", rank, reduce_fx=reduce_fx, sync_dist=True)
        self.log("rank_alone", rank)
        # Getting worse in the second process alone: on average, too, but not in the first process.
        self.log(
            "watched", rank * (self.current_epoch + 1) + 1 / (self.current_epoch + 1) / 8, sync_dist=True
        )
        if self.global_rank == 0:
            self.log("of_the_first", 5.0, rank_zero_only=True)

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        self.seen["predict"][-1] += batch[0].tolist()
        return batch[0]

    def on_predict_epoch_start(self) -> None:
        self.seen["predict"].append([])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class CountCollectives(relight.Callback):
    """Counts what a step asks of the other processes beside the gradients, which DDP exchanges in C++."""

    def __init__(self) -> None:
        self.all, self.inside = 0, 0
        for name in ("all_reduce", "broadcast", "barrier", "all_gather", "broadcast_object_list"):
            original = getattr(dist, name)

            def counted(*args: Any, _original: Any = original, **kwargs: Any) -> Any:
                self.all += 1
                return _original(*args, **kwargs)

            setattr(dist, name, counted)

    def on_train_batch_start(self, *_: Any) -> None:
        self.before = self.all

    def on_before_zero_grad(self, *_: Any) -> None:  # the step with its logging is done, so is the loss
        self.inside += self.all - self.before


class AnotherClock(relight.Callback):
    """Lets it be time to validate in the second process alone, and after the third batch in the first."""

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        due = trainer.global_rank == 1 or batch_idx == 2
        trainer._last_val_time = float("-inf") if due else time.monotonic()


class SignalsTheSecond(relight.Callback):
    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if batch_idx == 1 and trainer.global_rank == 1:
            signal.raise_signal(signal.SIGTERM)


def trainer(**arguments: Any) -> relight.Trainer:
    return relight.Trainer(
        accelerator="cpu", devices=2, strategy=STRATEGY, logger=False, enable_progress_bar=False,
        default_root_dir=DIRECTORY, **arguments,
    )  # fmt: skip


def weights(module: nn.Module) -> list[str]:
    return [float(value).hex() for parameter in module.parameters() for value in parameter.flatten()]


def main() -> None:
    relight.seed_everything(7, verbose=False)
    net, report = Net(), dict[str, Any]()
    saved: list[str] = []
    original_save = torch.save

    def counted_save(data: Any, file: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(data, dict) and "state_dict" in data:
            saved.append(str(getattr(file, "name", "")))
        original_save(data, file, *args, **kwargs)

    torch.save = counted_save
    collectives = CountCollectives()
    first = trainer(
        max_epochs=2,
        callbacks=[collectives, ModelCheckpoint(DIRECTORY / "saved", save_top_k=-1, save_last=True)],
    )
    first.fit(net, DataLoader(Numbers(24), 3, shuffle=True), DataLoader(Numbers(10), 2))
    rank = first.global_rank
    report["rank"], report["world"] = rank, first.world_size
    report["weights"] = weights(net)
    report["metrics"] = {name: float(value) for name, value in first.callback_metrics.items()}
    report["train"], report["val"] = net.seen["train"], net.seen["val"]
    report["saves"], report["prepared"] = len(saved), net.prepared
    report["collectives"] = collectives.inside, first.global_step
    report["gathered"] = net.all_gather(torch.tensor([float(rank)])).flatten().tolist()
    report["files"] = sorted(path.name for path in (DIRECTORY / "saved").glob("*.ckpt"))
    report["path"] = first.checkpoint_callback.best_model_path
    report["broadcast"] = first.strategy.broadcast(f"from {rank}")

    # Stopping is agreed, also when only one process would.
    second = trainer(
        max_epochs=9, enable_checkpointing=False, callbacks=[EarlyStopping("watched", patience=1)]
    )
    second.fit(net, DataLoader(Numbers(8), 2), DataLoader(Numbers(4), 2))
    report["stopped"] = second.current_epoch, second.global_step, second.early_stopping_callback.stopped_epoch

    # Going on from what the first process wrote.
    third = trainer(max_epochs=3, enable_checkpointing=False)
    again = Net()
    third.fit(again, DataLoader(Numbers(24), 3, shuffle=True), ckpt_path=DIRECTORY / "saved" / "last.ckpt")
    report["resumed"], report["resumed_steps"] = weights(again), third.global_step

    # The user's own sampler stays, and evaluation is split without shuffling.
    own = DataLoader(Numbers(6), 1, sampler=[5, 4, 3])
    third.validate(again, own, verbose=False)
    report["own_sampler"] = again.seen["val"][-1]
    third.predict(again, DataLoader(Numbers(5), 1))
    report["predict"] = again.seen["predict"][-1]
    unsplit = trainer(max_epochs=1, enable_checkpointing=False, options={"use_distributed_sampler": False})
    unsplit.validate(again, DataLoader(Numbers(3), 1), verbose=False)
    report["unsplit"] = again.seen["val"][-1]

    # Of the clocks, that of the first process decides when to validate.
    validations = len(net.seen["val"])
    fourth = trainer(max_epochs=1, enable_checkpointing=False, callbacks=[AnotherClock()])
    interval = {"val_check_interval": "00:00:10:00", "num_sanity_val_steps": 0}
    fourth.fit(net, DataLoader(Numbers(16), 2), DataLoader(Numbers(4), 2), **interval)
    report["validated_by_time"] = len(net.seen["val"]) - validations

    # A signal to one process ends both, after the same batch.
    relight.trainer.signals.AGREE_EVERY = 0.0
    fifth = trainer(max_epochs=1, enable_checkpointing=False, callbacks=[SignalsTheSecond()])
    try:
        fifth.fit(again, DataLoader(Numbers(24), 2))
    except SystemExit as ended:
        report["ended"] = type(ended).__name__, fifth.global_step

    (DIRECTORY / f"{rank}.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()

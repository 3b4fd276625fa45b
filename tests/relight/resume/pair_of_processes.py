"""Run by two processes: an unbroken training, and ones that go on from its files. Usage: DIRECTORY."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from resume_world import Kept, Rows, SaveAll, World, differences, loader, report

import relight


class Together(World):
    def trainer(self, rows: list[Any], callbacks: list[Any], **limits: Any) -> relight.Trainer:
        return relight.Trainer(
            accelerator="cpu", devices=2, strategy="ddp", logger=Kept(rows), enable_progress_bar=False,
            callbacks=callbacks, default_root_dir=self.directory, max_epochs=2,
        )  # fmt: skip


def main(directory: Path) -> None:
    rank = int(os.environ["RANK"])
    world = Together(
        directory, lambda: loader(Rows(20, "python"), shuffle=True), lambda: loader(Rows(8, "torch")),
        accumulate_grad_batches=2, val_check_interval=3,
    )  # fmt: skip
    rows: list[Any] = []
    saver = SaveAll(directory, "on_train_batch_end", "on_validation_batch_end", "on_train_epoch_end")

    class OfItsOwn(relight.Callback):
        """Makes the random states of the processes differ."""

        def on_train_start(self, trainer: Any, module: Any) -> None:
            random.seed(trainer.global_rank)

    trainer = world.fit(rows, OfItsOwn(), saver)
    expected = report(trainer, rows)
    wrong = {}
    for path, known in saver.files[1::2]:
        again = rows[:known]
        resumed = world.fit(again, OfItsOwn(), SaveAll(directory), seed=99, path=path)
        if found := differences(expected, report(resumed, again)):
            wrong[path.name] = found
    summary = {"wrong": wrong, "tried": len(saver.files[1::2]), "draws": expected["draws"]["python"][1][:3]}
    (directory / f"{rank}.json").write_text(json.dumps(summary))


main(Path(sys.argv[1]))

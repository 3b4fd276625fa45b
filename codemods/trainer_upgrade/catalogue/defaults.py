"""What changed without a new name: defaults, meanings, the order of calls.

The table ``data/defaults.tsv`` has a line for each; what keeps the old behaviour stands here.
"""

from __future__ import annotations

from importlib.resources import files

from trainer_upgrade.catalogue.build import MANUAL, NONE, SAFE, UNSAFE, expression, make, value
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["ENTRIES", "ROWS"]

_PIN = {
    "accelerator": value("accelerator", 'accelerator="cpu"'),
    "devices": value("devices", "devices=1"),
    "find-unused-parameters": value("strategy", 'strategy="ddp_find_unused_parameters_true"'),
    "trainer-precision": expression('trainer.precision in ("16-mixed", "16-true")'),
    "default-logger": expression("logger=TensorBoardLogger(…)"),
    "train-dataloader": expression("trainer.train_dataloader"),
    "one-val-dataloader": expression("trainer.val_dataloaders"),
    "sampler": value("use_distributed_sampler", "use_distributed_sampler=False"),
    "seed": value("seed", "seed_everything(seed)"),
    "dataloader-idx": expression("dataloader_idx=0"),
    "inference-mode": value("inference_mode", "inference_mode=False"),
    "best-checkpoint": value("ckpt_path", 'ckpt_path="best"'),
    "lr-find-update": value("update_attr", "update_attr=False"),
    "batch-size-margin": value("margin", "margin=0.0"),
    "cli-seed": value("seed_everything_default", "seed_everything_default=False"),
    "weights-only": value("weights_only", "weights_only=False"),
    "loss-in-bar": expression('self.log("loss", loss, prog_bar=True)'),
    "progress-bar-name": expression("TQDMProgressBar"),
    "default-bar": expression("callbacks=[TQDMProgressBar()]"),
    "logged-tensor": expression("value.mean()"),
    "map-location": value("map_location", 'map_location="cpu"'),
    "step-extras": expression("value.detach()"),
    "unattached-trainer": expression("self._trainer is None"),
}

_HOW = {"s": SAFE, "u": UNSAFE, "m": MANUAL}


def _read() -> tuple[tuple[str, Entry], ...]:
    text = (files("trainer_upgrade.catalogue") / "data" / "defaults.tsv").read_text(encoding="utf-8")
    found = []
    for line in text.splitlines()[1:]:
        row, code, owner, name, since, how, silent, advice = line.split("\t")
        entry = make(
            Area.DEFAULT,
            owner,
            code,
            name,
            advice,
            relight=_PIN.get(name, NONE),
            how=_HOW[how],
            source=f"Lightning {since}",
            behaviour="goes on, with another result" if silent else "an error",
            silent=bool(silent),
        )
        found.append((row, entry))
    return tuple(found)


_ROWS = _read()
ENTRIES: tuple[Entry, ...] = tuple(entry for _, entry in _ROWS)
ROWS: dict[str, str] = {row: entry.code for row, entry in _ROWS}
"""Code by row of the fact table."""

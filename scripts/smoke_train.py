"""What a wheel with the ``train`` extra must do outside of the checkout: train, resume, run legacy code.

Exits 1 with what failed; prints one line if all is well.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

MODERN = """\
import torch
import relight


class Net(relight.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).square().mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = torch.utils.data.DataLoader(torch.ones(8, 4), batch_size=2)
for epochs, path in ((1, None), (2, "one.ckpt")):
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = relight.Trainer(accelerator="cpu", max_epochs=epochs, **quiet)
    trainer.fit(Net(), data, ckpt_path=path)
    trainer.save_checkpoint("one.ckpt")
assert trainer.global_step == 8, trainer.global_step
"""
LEGACY = """\
import pytorch_lightning as pl
import torch


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return {"loss": self.layer(batch).square().mean()}

    def training_epoch_end(self, outputs):
        assert len(outputs) == 4, outputs
        print("epoch end with", len(outputs), "outputs")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = torch.utils.data.DataLoader(torch.ones(8, 4), batch_size=2)
trainer = pl.Trainer(
    gpus=0, max_epochs=1, logger=False, checkpoint_callback=False, progress_bar_refresh_rate=0
)
trainer.fit(Net(), data)
"""


def main() -> int:
    """Run both scripts with the installed package."""
    with tempfile.TemporaryDirectory() as directory:
        for name, text, command, expected in (
            ("modern.py", MODERN, ["modern.py"], ""),
            ("legacy.py", LEGACY, ["-m", "relight.compat", "legacy.py"], "epoch end with 4 outputs"),
        ):
            (Path(directory) / name).write_text(text)
            done = subprocess.run(
                [sys.executable, *command], cwd=directory, capture_output=True, text=True, check=False
            )
            if done.returncode or expected not in done.stdout:
                print(f"{name} failed:\n{done.stdout}\n{done.stderr}", file=sys.stderr)
                return 1
    print("the installed package trains, resumes and runs legacy code")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Save checkpoints with a real old release, and what the unbroken run came to, for the tests of old files.

usage: <python with pytorch_lightning 1.5.10 or 1.9.5> scripts/record_old_checkpoints.py

Writes tests/golden/old_checkpoints/<release>.ckpt and .json: saved at the end of the second of four epochs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from pathlib import Path

import pytorch_lightning as pl
import torch

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "old_checkpoints"
sys.path.insert(0, str(GOLDEN))
warnings.filterwarnings("ignore")

import old_net  # noqa: E402


def main() -> None:
    """Record the files of the release that runs this."""
    from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

    Net = old_net.make(pl)
    namespace = argparse.Namespace(width=3, rate=0.05, folder=Path("data"))
    with tempfile.TemporaryDirectory() as directory:
        pl.seed_everything(7)
        net = Net(namespace)
        saver = ModelCheckpoint(dirpath=directory, save_top_k=-1, filename="{epoch}")
        trainer = pl.Trainer(
            max_epochs=4, logger=False, callbacks=[EarlyStopping("loss", patience=9), saver],
            default_root_dir=directory, **old_net.QUIET,
        )  # fmt: skip
        trainer.fit(net, old_net.loader())
        path = Path(directory) / "epoch=1.ckpt"
        content = torch.load(path, weights_only=False)
        for state in content["callbacks"].values():  # no path of this machine
            for key, value in state.items():
                if isinstance(value, str) and directory in value:
                    state[key] = value.replace(directory, "recorded")
            state.pop("best_k_models", None)
    GOLDEN.mkdir(exist_ok=True)
    torch.save(content, GOLDEN / f"{pl.__version__}.ckpt")
    report = {
        "losses": net.losses,
        "weights": {name: value.tolist() for name, value in net.state_dict().items()},
        "rate": trainer.optimizers[0].param_groups[0]["lr"],
        "step": trainer.global_step,
    }
    (GOLDEN / f"{pl.__version__}.json").write_text(json.dumps(report) + "\n")
    print(f"recorded {pl.__version__}: {sorted(content)}")


if __name__ == "__main__":
    main()

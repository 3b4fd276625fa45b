import argparse
import json
import os

import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

from callbacks import History
from data import MoonsDataModule
from model import MoonsClassifier


def as_hex(data):
    """Floats as hexadecimal text, so that two runs can be compared to the last bit."""
    if isinstance(data, float):
        return data.hex()
    if isinstance(data, dict):
        return {key: as_hex(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [as_hex(value) for value in data]
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=0, help="number of GPUs, 0 for the CPU")
    parser.add_argument("--max_epochs", type=int, default=8)
    parser.add_argument("--resume_from_checkpoint", type=str, default=None)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--root", type=str, default="runs", help="where checkpoints go")
    parser.add_argument("--metrics", type=str, default="metrics.json")
    args = parser.parse_args()

    pl.seed_everything(args.seed)
    data = MoonsDataModule(batch_size=args.batch_size)
    model = MoonsClassifier(lr=args.lr)

    history = History()
    checkpoint = ModelCheckpoint(
        dirpath=os.path.join(args.root, "checkpoints"),
        filename="best",
        monitor="val_loss",
        save_last=True,
    )
    trainer = pl.Trainer(
        gpus=args.gpus,
        max_epochs=args.max_epochs,
        resume_from_checkpoint=args.resume_from_checkpoint,
        callbacks=[EarlyStopping(monitor="val_loss", patience=3), checkpoint, history],
        gradient_clip_val=1.0,
        replace_sampler_ddp=True,
        precision=32,
        logger=False,
        default_root_dir=args.root,
    )
    trainer.fit(model, datamodule=data)
    results = trainer.test(model, datamodule=data)

    metrics = {
        "epochs": history.epochs,
        "train_curve": model.train_curve,
        "test": results[0],
        "best": checkpoint.best_model_score.item(),
        "weights": [p.sum().item() for p in model.parameters()],
    }
    with open(args.metrics, "w") as f:
        json.dump(as_hex(metrics), f, indent=1)
    print("test accuracy: %.3f" % results[0]["test_acc"])


if __name__ == "__main__":
    main()

import torch
import torch.nn.functional as F
from torch import nn

import pytorch_lightning as pl


class MoonsClassifier(pl.LightningModule):
    """A small MLP that tells the two moons apart."""

    def __init__(self, hidden=32, lr=0.05, gamma=0.8):
        super().__init__()
        self.save_hyperparameters()
        self.train_curve = []  # (loss, accuracy) of each epoch, for the plot in the paper
        self.net = nn.Sequential(
            nn.Linear(2, hidden),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y)
        correct = (logits.argmax(dim=1) == y).sum()
        self.log("train_loss_step", loss, prog_bar=True)
        return {"loss": loss, "correct": correct, "n": len(y)}

    def training_epoch_end(self, outputs):
        loss = torch.stack([out["loss"] for out in outputs]).mean()
        acc = sum(out["correct"].item() for out in outputs) / sum(out["n"] for out in outputs)
        self.log("train_loss", loss)
        self.log("train_acc", acc)
        self.train_curve.append((loss.item(), acc))

    def validation_step(self, batch, batch_idx):
        return self._evaluate(batch)

    def validation_epoch_end(self, outputs):
        loss, acc = self._summarize(outputs)
        # the early stopping and the checkpoints look at these
        self.log("val_loss", loss, prog_bar=True)
        self.log("val_acc", acc, prog_bar=True)

    def test_step(self, batch, batch_idx):
        return self._evaluate(batch)

    def test_epoch_end(self, outputs):
        loss, acc = self._summarize(outputs)
        self.log("test_loss", loss)
        self.log("test_acc", acc)

    def _evaluate(self, batch):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y, reduction="sum")
        return {"loss": loss, "correct": (logits.argmax(dim=1) == y).sum(), "n": len(y)}

    def _summarize(self, outputs):
        n = sum(out["n"] for out in outputs)
        loss = torch.stack([out["loss"] for out in outputs]).sum() / n
        acc = torch.stack([out["correct"] for out in outputs]).sum() / n
        return loss, acc

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=self.hparams.gamma)
        return [optimizer], [scheduler]

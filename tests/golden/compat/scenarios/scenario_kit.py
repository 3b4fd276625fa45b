"""What every scenario uses: data, a recording logger, and the record that is compared to the bit.

A scenario is an ordinary 1.x script: `python scenario.py RESULT.json`. It runs on a real release and on compat.
"""
import hashlib
import json
import os
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", module="pytorch_lightning|lightning_fabric|torch")
import pytorch_lightning as pl  # noqa: E402

try:
    from pytorch_lightning.loggers.logger import Logger as LoggerBase
except ImportError:
    from pytorch_lightning.loggers.base import LightningLoggerBase as LoggerBase

import logging  # noqa: E402

for name in ("pytorch_lightning", "lightning_fabric", "relight"):
    logging.getLogger(name).setLevel(logging.ERROR)

RESULT = {"events": []}


def plain(value):
    """JSON form of `value` that keeps every bit of a float."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().flatten().tolist()
        return {
            "shape": list(value.shape),
            "dtype": str(value.dtype),
            "grad": value.requires_grad,
            "values": [plain(item) for item in flat],
        }
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if hasattr(value, "__index__"):
        return int(value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [plain(item) for item in value]
    if isinstance(value, (pl.Trainer, pl.LightningModule, pl.LightningDataModule, pl.Callback)):
        return "<%s>" % [base for base in ("Trainer", "LightningModule", "LightningDataModule", "Callback") if isinstance(value, getattr(pl, base))][0]
    return "<%s>" % type(value).__name__


def record(event, *values):
    RESULT["events"].append([event] + [plain(value) for value in values])


class Rows(LoggerBase):
    """A logger that keeps its rows."""

    def __init__(self):
        super().__init__()
        self.rows = []

    @property
    def name(self):
        return "rows"

    @property
    def version(self):
        return 0

    @property
    def experiment(self):
        return self

    def log_hyperparams(self, *args, **kwargs):
        pass

    def log_metrics(self, metrics, step=None):
        self.rows.append([step, {key: float(value).hex() for key, value in metrics.items()}])


def weights(module):
    digest = hashlib.sha256()
    for key, value in module.state_dict().items():
        digest.update(key.encode())
        digest.update(value.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()


def state_of(trainer, key):
    """Record what a run left behind."""
    module = trainer.lightning_module
    logger = trainer.logger
    RESULT[key] = {
        "callback_metrics": plain(dict(trainer.callback_metrics)),
        "rows": logger.rows if isinstance(logger, Rows) else None,
        "global_step": trainer.global_step,
        "current_epoch": trainer.current_epoch,
        "weights": weights(module),
    }


def files(*paths):
    RESULT["files"] = {os.path.basename(path): sorted(os.listdir(path)) for path in paths}


def finish():
    with open(sys.argv[1], "w") as stream:
        json.dump(RESULT, stream, indent=1, sort_keys=True)


def data(length=24, batch_size=4, seed=1, shuffle=False):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(length, 6, generator=generator)
    y = (x.sum(1, keepdim=True) > 0).float()
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=shuffle)


class Base(pl.LightningModule):
    """The smallest classifier."""

    def __init__(self, width=8, lr=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, 1))
        self.lr = lr

    def forward(self, x):
        return self.net(x)

    def loss(self, batch):
        x, y = batch
        return F.binary_cross_entropy_with_logits(self(x), y)

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def trainer(**arguments):
    """A quiet Trainer of whatever release this is."""
    quiet = {
        "default_root_dir": os.getcwd(),
        "logger": Rows(),
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "enable_checkpointing": False,
        "log_every_n_steps": 1,
        "max_epochs": 2,
    }
    quiet.update(arguments)
    return pl.Trainer(**quiet)

import pytorch_lightning as pl


class History(pl.Callback):
    """Keeps what happened, epoch by epoch, so that train.py can write it to a file."""

    def __init__(self):
        self.epochs = []
        self.grad_norms = []
        self.n_train = 0
        self.n_val = 0

    def on_train_epoch_start(self, trainer, pl_module):
        self.grad_norms = []
        self.n_train = 0

    def on_before_optimizer_step(self, trainer, pl_module, optimizer, opt_idx):
        total = sum(p.grad.pow(2).sum() for p in pl_module.parameters())
        self.grad_norms.append(total.sqrt().item())

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        self.n_train += outputs["n"]

    def on_validation_epoch_start(self, trainer, pl_module):
        self.n_val = 0

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        self.n_val += outputs["n"]

    def on_train_epoch_end(self, trainer, pl_module, outputs=None):
        self.epochs.append(
            {
                "epoch": trainer.current_epoch,
                "lr": trainer.optimizers[0].param_groups[0]["lr"],
                "grad_norm": sum(self.grad_norms) / len(self.grad_norms),
                "n_train": self.n_train,
                "n_val": self.n_val,
                "val_loss": trainer.callback_metrics["val_loss"].item(),
                "val_acc": trainer.callback_metrics["val_acc"].item(),
            }
        )

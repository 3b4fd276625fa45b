"""ReduceLROnPlateau by epoch and by step, with its monitor, beside a schedule by step."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def __init__(self, interval):
        super().__init__()
        self.interval = interval

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch) * 0 + 1)

    def on_train_batch_start(self, batch, batch_idx):
        record("lr", self.optimizers().param_groups[0]["lr"])

    def configure_optimizers(self):
        optimizer = super().configure_optimizers()
        return {
            "optimizer": optimizer,
            "lr_scheduler": {
                "scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5),
                "monitor": "val_loss" if self.interval == "epoch" else "train_loss",
                "interval": self.interval,
                "frequency": 1 if self.interval == "epoch" else 2,
                "strict": True,
            },
        }


for interval in ("epoch", "step"):
    pl.seed_everything(11)
    run = trainer(max_epochs=3)
    run.fit(Model(interval), data(12), data(8, seed=2))
    state_of(run, interval)
finish()

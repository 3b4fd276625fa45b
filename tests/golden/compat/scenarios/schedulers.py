"""Learning rate schedulers: by step, by epoch, with a frequency, on a plateau; the monitor callback."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer
from pytorch_lightning.callbacks import LearningRateMonitor


class Steps(Base):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
        return [optimizer], [
            {"scheduler": torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9), "interval": "step", "frequency": 2, "name": "fast"},
        ]


class Epochs(Base):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


class Plateau(Base):
    def validation_step(self, batch, batch_idx):
        return self.loss(batch)

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack(outputs).mean() + self.current_epoch)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
        return {"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "val_loss"}


pl.seed_everything(8)
for model in (Steps(), Epochs(), Plateau()):
    run = trainer(max_epochs=4, accumulate_grad_batches=2, callbacks=[LearningRateMonitor()])
    run.fit(model, data(), data(8, seed=2))
    record("lr", run.optimizers[0].param_groups[0]["lr"])
    state_of(run, type(model).__name__)
finish()

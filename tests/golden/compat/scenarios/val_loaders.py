"""Several validation loaders: a list of lists, logged with and without the loader's suffix."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def validation_step(self, batch, batch_idx, dataloader_idx):
        loss = self.loss(batch)
        self.log("val_loss", loss)
        self.log("plain_%d" % dataloader_idx, loss, add_dataloader_idx=False)
        if dataloader_idx == 1 and batch_idx == 0:
            return None
        return loss

    def validation_epoch_end(self, outputs):
        record("validation_epoch_end", outputs)
        for i, per_loader in enumerate(outputs):
            if per_loader:
                self.log("mean_%d" % i, torch.stack(per_loader).mean())

    def val_dataloader(self):
        return [data(12, seed=2), data(8, seed=3)]


pl.seed_everything(7)
run = trainer(num_sanity_val_steps=1)
run.fit(Model(), data())
state_of(run, "fit")
finish()

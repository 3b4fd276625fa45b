"""Loaders from the module's own methods, several test loaders, verbose results."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def train_dataloader(self):
        record("train_dataloader")
        return data(12)

    def val_dataloader(self):
        record("val_dataloader")
        return [data(8, seed=2), data(4, seed=3)]

    def test_dataloader(self):
        record("test_dataloader")
        return [data(8, seed=4), data(12, seed=5)]

    def validation_step(self, batch, batch_idx, dataloader_idx):
        self.log("val_loss", self.loss(batch))
        return dataloader_idx

    def test_step(self, batch, batch_idx, dataloader_idx):
        self.log("test_loss", self.loss(batch))
        self.log("same", 1.0, add_dataloader_idx=False) if dataloader_idx == 0 else None
        return self.loss(batch)

    def validation_epoch_end(self, outputs):
        record("val", outputs)

    def test_epoch_end(self, outputs):
        record("tested", outputs)
        self.log("mean", torch.stack([torch.stack(each).mean() for each in outputs]).mean())


pl.seed_everything(20)
model = Model()
run = trainer(reload_dataloaders_every_n_epochs=1)
run.fit(model)
state_of(run, "fit")
record("results", run.test(model, verbose=False))
finish()

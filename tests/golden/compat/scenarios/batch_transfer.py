"""Hooks around the transfer of a batch, on the module and on the data module."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Hooks:
    def on_before_batch_transfer(self, batch, dataloader_idx):
        record("before", dataloader_idx)
        return [batch[0] * 2, batch[1]]

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        record("transfer", str(device), dataloader_idx)
        return super().transfer_batch_to_device(batch, device, dataloader_idx)

    def on_after_batch_transfer(self, batch, dataloader_idx):
        record("after", dataloader_idx)
        return batch[0] + 1, batch[1]


class Model(Hooks, Base):
    def validation_step(self, batch, batch_idx, dataloader_idx):
        self.log("val", self.loss(batch))


class Data(Hooks, pl.LightningDataModule):
    def train_dataloader(self):
        return data(8)


pl.seed_everything(10)
run = trainer(max_epochs=1)
run.fit(Model(), data(8), [data(4, seed=2), data(4, seed=3)])
state_of(run, "module")
run = trainer(max_epochs=1)
run.fit(Base(), datamodule=Data())
state_of(run, "datamodule")
finish()

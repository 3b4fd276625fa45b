"""An old-style data module: setup(stage=None), batch transfer hooks, order of the data hooks."""
from scenario_kit import Base, DataLoader, data, finish, pl, record, state_of, torch, trainer


class Data(pl.LightningDataModule):
    def __init__(self, batch_size=4):
        super().__init__()
        self.batch_size = batch_size

    def prepare_data(self):
        record("prepare_data")

    def setup(self, stage=None):
        record("setup", stage)
        if stage == "fit" or stage is None:
            self.train, self.val = data(24).dataset, data(8, seed=2).dataset
        if stage == "test" or stage is None:
            self.test = data(8, seed=3).dataset

    def train_dataloader(self):
        record("train_dataloader")
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        record("val_dataloader")
        return DataLoader(self.val, batch_size=self.batch_size)

    def test_dataloader(self):
        record("test_dataloader")
        return [DataLoader(self.test, batch_size=self.batch_size)]

    def on_before_batch_transfer(self, batch, dataloader_idx):
        x, y = batch
        return x + 1.0, y

    def on_after_batch_transfer(self, batch, dataloader_idx):
        record("after", dataloader_idx)
        x, y = batch
        return x * 0.5, y

    def teardown(self, stage=None):
        record("teardown", stage)


class Model(Base):
    def validation_step(self, batch, batch_idx):
        return self.loss(batch)

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack(outputs).mean())

    def test_step(self, batch, batch_idx):
        return self.loss(batch)

    def test_epoch_end(self, outputs):
        self.log("test_loss", torch.stack(outputs).mean())

    def setup(self, stage=None):
        record("module setup", stage)

    def teardown(self, stage=None):
        record("module teardown", stage)


pl.seed_everything(11)
module = Data()
run = trainer()
model = Model()
run.fit(model, datamodule=module)
state_of(run, "fit")
record("test", run.test(model, datamodule=module, verbose=False))
record("validate", run.validate(model, datamodule=module, verbose=False))
plain = Data.from_datasets(train_dataset=data(16).dataset, batch_size=8)
run = trainer(max_epochs=1)
run.fit(Base(), plain)
state_of(run, "from_datasets")
finish()

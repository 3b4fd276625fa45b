"""Steps that return None, some or all of an epoch, with and without an epoch's end."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Some(Base):
    def training_step(self, batch, batch_idx):
        if batch_idx % 2:
            return None
        return super().training_step(batch, batch_idx)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        record("outputs", outputs)

    def training_epoch_end(self, outputs):
        record("epoch", outputs)


class Skips(Base):
    def on_train_batch_start(self, batch, batch_idx):
        return -1 if batch_idx == 2 else None


for model in (Some, Skips):
    pl.seed_everything(13)
    run = trainer()
    run.fit(model(), data(16))
    state_of(run, model.__name__)
finish()

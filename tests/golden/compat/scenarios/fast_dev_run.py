"""fast_dev_run with validation, test and loggers."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def validation_epoch_end(self, outputs):
        record("val", len(outputs))


for runs in (True, 3):
    pl.seed_everything(17)
    run = trainer(fast_dev_run=runs)
    run.fit(Model(), data(), data(8, seed=2))
    record("limits", run.max_epochs, run.max_steps, run.num_training_batches, list(run.num_val_batches))
    record("test", run.test(run.lightning_module, data(8, seed=3), verbose=False))
    state_of(run, str(runs))
finish()

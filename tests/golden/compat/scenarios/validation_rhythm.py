"""When validation runs: within an epoch, every other epoch, a share of it, by sanity check."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def on_validation_start(self):
        record("validation", self.trainer.sanity_checking, self.current_epoch, self.trainer.fit_loop.batch_idx)

    def validation_epoch_end(self, outputs):
        record("epoch_end", len(outputs))


for arguments in ({"val_check_interval": 2}, {"val_check_interval": 0.5}, {"check_val_every_n_epoch": 2}, {"num_sanity_val_steps": -1}, {"limit_val_batches": 1}, {"num_sanity_val_steps": 0}):
    pl.seed_everything(2)
    run = trainer(max_epochs=3, **arguments)
    run.fit(Model(), data(16), data(12, seed=2))
    state_of(run, str(sorted(arguments.items())))
finish()

"""EarlyStopping on several metrics and modes, and stopping by the model."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def validation_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("val_loss", loss)
        self.log("val_up", -loss)


for name, stopping in {
    "patience": pl.callbacks.EarlyStopping("val_loss", patience=1, min_delta=0.05),
    "max": pl.callbacks.EarlyStopping(monitor="val_up", mode="max", patience=2, min_delta=0.02),
    "threshold": pl.callbacks.EarlyStopping("val_loss", stopping_threshold=0.6),
    "train": pl.callbacks.EarlyStopping("train_loss", check_on_train_epoch_end=True, min_delta=0.1),
}.items():
    pl.seed_everything(7)
    run = trainer(max_epochs=8, callbacks=[stopping])
    run.fit(Model(), data(), data(8, seed=2))
    record(name, stopping.stopped_epoch, stopping.wait_count, stopping.best_score)
    state_of(run, name)


class Stops(Model):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        if self.global_step >= 4:
            self.trainer.should_stop = True


for arguments in ({}, {"min_epochs": 2}, {"min_steps": 9}, {"max_steps": 5}):
    pl.seed_everything(7)
    run = trainer(**{"max_epochs": 4, **arguments})
    run.fit((Base if "max_steps" in arguments else Stops)(), data(12), data(8, seed=2))
    state_of(run, "stops" + str(arguments))
finish()

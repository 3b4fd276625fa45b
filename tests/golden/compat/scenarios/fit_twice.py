"""fit, validate, test and fit again with the same Trainer and model."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))
        return self.loss(batch)

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def on_train_start(self):
        record("train_start", self.current_epoch, self.global_step)


pl.seed_everything(18)
model = Model()
run = trainer(max_epochs=1)
run.fit(model, data(12), data(8, seed=2))
record("validate", run.validate(model, data(8, seed=2), verbose=False))
record("test", run.test(model, data(8, seed=3), verbose=False))
state_of(run, "first")
run = trainer(max_epochs=2)
run.fit(model, data(12), data(8, seed=2))
state_of(run, "second")
finish()

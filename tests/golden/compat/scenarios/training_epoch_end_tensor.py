"""training_epoch_end of a step that returns a bare tensor; training_step_end maps what the step returned."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def training_epoch_end(self, outputs):
        record("training_epoch_end", outputs)
        self.log("mean", torch.stack([out["loss"] for out in outputs]).mean(), prog_bar=True)

    def on_train_epoch_end(self):
        record("module.on_train_epoch_end", dict(self.trainer.callback_metrics))


class Halved(Base):
    def training_step(self, batch, batch_idx):
        return {"loss": self.loss(batch), "i": batch_idx}

    def training_step_end(self, step_output):
        record("training_step_end", sorted(step_output), step_output["i"])
        return {"loss": step_output["loss"] / 2, "j": step_output["i"]}

    def training_epoch_end(self, outputs):
        record("training_epoch_end", outputs)


pl.seed_everything(4)
run = trainer()
run.fit(Model(), data())
state_of(run, "tensor")
run = trainer(max_epochs=1, limit_train_batches=1)
run.fit(Model(), data())
state_of(run, "one batch")
run = trainer()
run.fit(Halved(), data())
state_of(run, "step_end")
finish()

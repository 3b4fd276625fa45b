"""self.log by step, by epoch, both, with other reductions, and log_dict."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("both", loss, on_step=True, on_epoch=True)
        self.log("by_step", loss, on_step=True, on_epoch=False)
        self.log("by_epoch", loss, on_step=False, on_epoch=True)
        self.log("highest", loss, on_step=False, on_epoch=True, reduce_fx="max")
        self.log("total", float(batch_idx), on_step=False, on_epoch=True, reduce_fx=torch.sum)
        self.log_dict({"a": loss * 2, "b": 1.5}, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_default", self.loss(batch))
        self.log("val_step", self.loss(batch), on_step=True, on_epoch=True)
        self.log("val_size", float(len(batch[0])), batch_size=1)

    def training_epoch_end(self, outputs):
        self.log("at_end", float(len(outputs)))

    def on_train_epoch_start(self):
        self.log("at_start", 1.0)


pl.seed_everything(3)
run = trainer(max_epochs=2)
run.fit(Model(), data(18), data(10, seed=2))
record("bar", sorted(run.progress_bar_metrics))
record("logged", dict(run.logged_metrics))
state_of(run, "fit")
finish()

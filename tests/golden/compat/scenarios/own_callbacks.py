"""Callbacks that log, return state and see each other's metrics; LambdaCallback."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Logs(pl.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pl_module.log("from_callback", float(batch_idx), on_epoch=True)

    def on_validation_epoch_end(self, trainer, pl_module):
        record("sees", sorted(trainer.callback_metrics))
        self.log("val_from_callback", 2.0)

    def on_train_epoch_end(self, trainer, pl_module):
        record("train_end_sees", sorted(trainer.callback_metrics))


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def configure_callbacks(self):
        return [pl.callbacks.LambdaCallback(on_train_start=lambda trainer, module: record("lambda"))]


pl.seed_everything(15)
run = trainer(callbacks=[Logs()])
run.fit(Model(), data(12), data(8, seed=2))
record("has", [name for name in ("Logs", "LambdaCallback") if name in [type(callback).__name__ for callback in run.callbacks]])
state_of(run, "fit")
finish()

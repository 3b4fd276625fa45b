"""training_epoch_end: dicts with a detached loss divided by the accumulation, extras, a skipped step."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def training_step(self, batch, batch_idx):
        if batch_idx == 2:
            return None
        loss = self.loss(batch)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return {"loss": loss, "n": len(batch[0]), "pred": self(batch[0]).detach(), "text": "kept"}

    def training_epoch_end(self, outputs):
        record("training_epoch_end", outputs)
        self.log("mean", torch.stack([out["loss"] for out in outputs]).mean())


class Watch(pl.Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        record("seen", {key: value for key, value in trainer.callback_metrics.items()})


pl.seed_everything(3)
run = trainer(accumulate_grad_batches=2, callbacks=[Watch()])
run.fit(Model(), data())
state_of(run, "fit")
finish()

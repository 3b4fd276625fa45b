"""validation_epoch_end: raw outputs, None left out, in the sanity check too; validation_step_end before it."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def validation_step(self, batch, batch_idx):
        if batch_idx == 1:
            return None
        pred = self(batch[0])
        return {"val_loss": self.loss(batch), "pred": pred}

    def validation_step_end(self, output):
        record("validation_step_end", output is None)
        if output is not None:
            output["added"] = 1
        return output

    def validation_epoch_end(self, outputs):
        record("validation_epoch_end", self.trainer.sanity_checking, self.training, torch.is_grad_enabled(), outputs)
        self.log("val_loss", torch.stack([o["val_loss"] for o in outputs]).mean())
        self.log_dict({"pred_std": torch.cat([o["pred"] for o in outputs]).std()})


class Tuples(Base):
    def validation_step(self, batch, batch_idx):
        self.log("each", self.loss(batch))
        return batch_idx, self.loss(batch)

    def validation_epoch_end(self, outputs):
        record("validation_epoch_end", outputs)

    def on_validation_epoch_end(self):
        record("module.on_validation_epoch_end", dict(self.trainer.callback_metrics))


class Nothing(Base):
    def validation_step(self, batch, batch_idx):
        self.log("each", self.loss(batch))

    def validation_epoch_end(self, outputs):
        record("validation_epoch_end", outputs)


class Watch(pl.Callback):
    def on_validation_epoch_end(self, trainer, pl_module):
        record("callback.on_validation_epoch_end", dict(trainer.callback_metrics))

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        record("callback.on_validation_batch_end", outputs, batch_idx, dataloader_idx)

    def on_validation_end(self, trainer, pl_module):
        record("callback.on_validation_end", dict(trainer.callback_metrics))


pl.seed_everything(5)
for model in (Model(), Tuples(), Nothing()):
    run = trainer(callbacks=[Watch()])
    run.fit(model, data(), data(12, seed=2))
    state_of(run, type(model).__name__ + " fit")
    record("validate", run.validate(model, data(12, seed=3), verbose=False))
    state_of(run, type(model).__name__ + " validate")
finish()

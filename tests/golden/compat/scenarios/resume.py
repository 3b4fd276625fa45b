"""resume_from_checkpoint: what the first and a second fit of one Trainer do with it."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def on_train_epoch_start(self):
        record("epoch", self.current_epoch, self.global_step)

    def on_load_checkpoint(self, checkpoint):
        record("on_load_checkpoint", checkpoint["epoch"], checkpoint["global_step"])

    def on_save_checkpoint(self, checkpoint):
        checkpoint["mine"] = 7

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)]


pl.seed_everything(10)
first = trainer(max_epochs=2)
first.fit(Model(), data())
state_of(first, "first")
first.save_checkpoint("a.ckpt")

second = trainer(max_epochs=4, resume_from_checkpoint="a.ckpt")
model = Model()
second.fit(model, data())
record("lr", second.optimizers[0].param_groups[0]["lr"])
state_of(second, "resumed")
other = Model()
second.fit(other, data())
record("lr", second.optimizers[0].param_groups[0]["lr"])
state_of(second, "resumed again")
finish()

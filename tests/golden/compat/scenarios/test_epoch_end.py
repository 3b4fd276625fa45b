"""test_epoch_end: one loader and several, with what test() returns."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def test_step(self, batch, batch_idx, dataloader_idx=0):
        loss = self.loss(batch)
        self.log("test_loss", loss)
        return {"loss": loss, "who": dataloader_idx}

    def test_epoch_end(self, outputs):
        record("test_epoch_end", outputs)
        flat = outputs if isinstance(outputs[0], dict) else [o for per_loader in outputs for o in per_loader]
        self.log("test_mean", torch.stack([o["loss"] for o in flat]).mean())

    def test_step_end(self, output):
        output["seen"] = True
        return output


pl.seed_everything(6)
model = Model()
run = trainer(max_epochs=1)
run.fit(model, data())
record("test one", run.test(model, data(8, seed=2), verbose=False))
state_of(run, "one")
record("test list of one", run.test(model, [data(8, seed=2)], verbose=False))
record("test two", run.test(model, [data(8, seed=2), data(4, seed=3)], verbose=False))
state_of(run, "two")
fresh = trainer()
record("test without fit", fresh.test(model, dataloaders=data(8, seed=4), verbose=False))
state_of(fresh, "without fit")
finish()

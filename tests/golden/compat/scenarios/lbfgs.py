"""An optimizer that calls its closure several times."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def training_step(self, batch, batch_idx):
        loss = super().training_step(batch, batch_idx)
        record("loss", loss.detach())
        return loss

    def configure_optimizers(self):
        return torch.optim.LBFGS(self.parameters(), lr=0.2, max_iter=3)


pl.seed_everything(5)
run = trainer(max_epochs=2)
run.fit(Model(), data(12))
state_of(run, "fit")
finish()

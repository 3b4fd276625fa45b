"""Training on a dictionary and a list of loaders."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def training_step(self, batch, batch_idx):
        parts = batch.values() if isinstance(batch, dict) else batch
        record("keys", sorted(batch) if isinstance(batch, dict) else len(batch))
        return sum(self.loss(part) for part in parts)

    def training_epoch_end(self, outputs):
        record("outputs", len(outputs))


for name, loaders in {"dict": {"a": data(12), "b": data(20, seed=2)}, "list": [data(8), data(16, seed=2)]}.items():
    for mode in ("max_size_cycle", "min_size"):
        pl.seed_everything(9)
        run = trainer(multiple_trainloader_mode=mode)
        run.fit(Model(), loaders)
        state_of(run, name + mode)
finish()

"""predict with hooks, several loaders, forward as default."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def on_predict_start(self):
        record("start")

    def on_predict_batch_start(self, batch, batch_idx, dataloader_idx):
        record("batch_start", batch_idx, dataloader_idx)

    def on_predict_batch_end(self, outputs, batch, batch_idx, dataloader_idx):
        record("batch_end", outputs, batch_idx, dataloader_idx)

    def on_predict_epoch_end(self, results):
        record("results", results)

    def predict_step(self, batch, batch_idx, dataloader_idx=0):
        return self(batch[0]).sigmoid()


pl.seed_everything(6)
model = Model()
run = trainer(limit_predict_batches=2)
record("one", run.predict(model, data(12)))
record("two", run.predict(model, [data(8), data(4, seed=2)]))


class Bare(Base):
    def forward(self, batch):
        return self.net(batch[0])


record("bare", trainer().predict(Bare(), data(8)))
finish()

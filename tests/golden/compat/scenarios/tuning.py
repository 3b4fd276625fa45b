"""trainer.tune and trainer.tuner: learning rates, losses, suggestions, batch sizes, and the fit after them."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(Base):
    def __init__(self, batch_size=4, limit=None, **kwargs):
        super().__init__(**kwargs)
        self.batch_size, self.limit = batch_size, limit
        self.tried = []

    def training_step(self, batch, batch_idx):
        size = len(batch[0])
        if not self.tried or self.tried[-1] != size:
            self.tried.append(size)
        if self.limit is not None and size > self.limit:
            raise RuntimeError("CUDA out of memory.")
        return self.loss(batch)

    def train_dataloader(self):
        dataset = data(200).dataset
        return DataLoader(dataset, batch_size=self.batch_size, shuffle=True)


def found(finder):
    record("rates", finder.results["lr"], finder.results["loss"], finder.suggestion(), finder.suggestion(5, 2))


pl.seed_everything(11)
run = trainer(auto_lr_find=True, max_epochs=3)
model = Model(lr=0.5)
result = run.tune(model)
found(result["lr_find"])
record("lr", model.lr, sorted(result), torch.rand(1))
run.fit(model)
state_of(run, "after a rate")

pl.seed_everything(12)
run = trainer(max_epochs=3)
model = Model()
finder = run.tuner.lr_find(model, data(400, shuffle=True), min_lr=1e-4, max_lr=5.0, num_training=60, mode="linear")
found(finder)
record("kept", model.lr)
run.fit(model)
state_of(run, "after a look")


class Named(Model):
    def __init__(self):
        super().__init__()
        self.my_rate = 1.0


pl.seed_everything(13)
run = trainer(auto_lr_find="my_rate", max_epochs=2)
model = Named()
run.tune(model, lr_find_kwargs={"num_training": 30, "early_stop_threshold": None})
record("named", model.my_rate, model.lr)

for mode, limit, options in (
    (True, None, {}),
    ("power", 40, {}),
    ("binsearch", 40, {}),
    ("binsearch", 3, {"init_val": 8, "steps_per_trial": 1}),
    ("power", None, {"max_trials": 3}),
    ("binsearch", None, {"max_trials": 3}),
):
    pl.seed_everything(14)
    run = trainer(auto_scale_batch_size=mode, max_epochs=2)
    model = Model(limit=limit)
    result = run.tune(model, scale_batch_size_kwargs=dict(options))
    record("size", mode, result["scale_batch_size"], model.batch_size, model.tried, torch.rand(1))
    model.limit = None
    run.fit(model)
    state_of(run, "%s %s %s" % (mode, limit, sorted(options)))

record("nothing", trainer(max_epochs=1).tune(Model()))
finish()

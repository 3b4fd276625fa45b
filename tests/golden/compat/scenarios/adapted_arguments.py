"""Arguments whose behaviour no modern argument has: track_grad_norm, multiple_trainloader_mode, dict accumulation."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


pl.seed_everything(40)
run = trainer(track_grad_norm=2, gradient_clip_val=0.1)
run.fit(Base(), data(12))
state_of(run, "track_grad_norm")


class Two(Base):
    def training_step(self, batch, batch_idx):
        record("step", batch_idx, sorted(batch), [len(part[0]) for part in batch.values()])
        return sum(self.loss(part) for part in batch.values())


for mode in ("min_size", "max_size_cycle"):
    run = trainer(max_epochs=1, multiple_trainloader_mode=mode)
    run.fit(Two(), {"a": data(12), "b": data(8, seed=2)})
    state_of(run, mode)


class Own(Two):
    def train_dataloader(self):
        return {"a": data(12), "b": data(8, seed=2)}


run = trainer(max_epochs=1, multiple_trainloader_mode="min_size")
run.fit(Own())
state_of(run, "own")
run = trainer(max_epochs=3, accumulate_grad_batches={0: 1, 1: 2, 2: 3})
run.fit(Base(), data())
state_of(run, "schedule")
run = trainer(min_epochs=3, max_steps=4, max_epochs=5, check_val_every_n_epoch=2, replace_sampler_ddp=False)
run.fit(Base(), data(8))
state_of(run, "minimum")
finish()

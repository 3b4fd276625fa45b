"""Everything that draws: shuffling, dropout, a sampler, validation inside the epoch, limits by fraction."""
from scenario_kit import Base, DataLoader, F, TensorDataset, data, finish, nn, pl, record, state_of, torch, trainer


class Noisy(Base):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.binary_cross_entropy_with_logits(self(x + 0.1 * torch.randn_like(x)), y)
        self.log("train_loss", loss, on_step=True, on_epoch=True, prog_bar=True)
        return loss

    def training_epoch_end(self, outputs):
        record("order", torch.stack([o["loss"] for o in outputs]))

    def validation_step(self, batch, batch_idx):
        loss = self.loss(batch) + 0.01 * torch.rand(())
        self.log("val_loss", loss)
        return loss

    def validation_epoch_end(self, outputs):
        record("validation", torch.stack(outputs))


pl.seed_everything(12)
run = trainer(max_epochs=3, val_check_interval=0.5, log_every_n_steps=2, gradient_clip_val=0.5)
run.fit(Noisy(), data(32, shuffle=True), data(12, seed=2))
state_of(run, "interval")

pl.seed_everything(13, workers=True)
run = trainer(limit_train_batches=0.5, limit_val_batches=2, check_val_every_n_epoch=2, max_epochs=4, deterministic=False)
run.fit(Noisy(), data(32, shuffle=True), data(24, seed=2))
state_of(run, "limits")

pl.seed_everything(14)
run = trainer(overfit_batches=3, max_epochs=3)
run.fit(Noisy(), data(32, shuffle=True), data(24, seed=2))
state_of(run, "overfit")

pl.seed_everything(15)
run = trainer(max_steps=7, max_epochs=-1)
run.fit(Noisy(), data(16, shuffle=True), data(8, seed=2))
state_of(run, "steps")

pl.seed_everything(16)
run = trainer(fast_dev_run=2)
run.fit(Noisy(), data(16, shuffle=True), data(16, seed=2))
record("fast", run.global_step, run.num_training_batches)

pl.seed_everything(17)
run = trainer(max_epochs=2, reload_dataloaders_every_n_epochs=1)
run.fit(Noisy(), data(16, shuffle=True), data(8, seed=2))
state_of(run, "reload")
finish()

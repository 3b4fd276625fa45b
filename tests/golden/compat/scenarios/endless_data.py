"""Iterable datasets without a length, limits on them."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        generator = torch.Generator().manual_seed(3)
        for _ in range(self.count):
            x = torch.randn(6, generator=generator)
            yield x, (x.sum(0, keepdim=True) > 0).float()


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def on_train_epoch_end(self):
        record("epoch", self.trainer.is_last_batch, self.trainer.fit_loop.batch_idx)


def stream(count=18):
    return DataLoader(Stream(count), batch_size=4)


for name, arguments in {"plain": {}, "train": {"limit_train_batches": 3}, "val": {"limit_val_batches": 2}, "check": {"val_check_interval": 2}}.items():
    pl.seed_everything(14)
    run = trainer(**arguments)
    run.fit(Model(), stream(), stream(10))
    state_of(run, name)
finish()

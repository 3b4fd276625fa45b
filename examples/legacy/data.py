import math

import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

import pytorch_lightning as pl


def make_moons(n, noise, seed):
    """Two interleaved half circles, like scikit-learn's but without needing it."""
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(n, generator=g) * math.pi
    y = (torch.arange(n) % 2).long()
    upper = torch.stack([torch.cos(t), torch.sin(t)], dim=1)
    lower = torch.stack([1 - torch.cos(t), 0.5 - torch.sin(t)], dim=1)
    x = torch.where(y.unsqueeze(1) == 0, upper, lower)
    return x + noise * torch.randn(n, 2, generator=g), y


class MoonsDataModule(pl.LightningDataModule):
    def __init__(self, n=600, noise=0.2, batch_size=32, seed=0):
        super().__init__()
        self.n = n
        self.noise = noise
        self.batch_size = batch_size
        self.seed = seed

    def setup(self, stage=None):
        data = TensorDataset(*make_moons(self.n, self.noise, self.seed))
        sizes = [self.n * 4 // 6, self.n // 6, self.n // 6]
        g = torch.Generator().manual_seed(self.seed)
        self.train_set, self.val_set, self.test_set = random_split(data, sizes, generator=g)

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=self.batch_size)

    def test_dataloader(self):
        return DataLoader(self.test_set, batch_size=self.batch_size)

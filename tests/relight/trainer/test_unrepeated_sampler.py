"""Sharing samples among processes that predict."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, SequentialSampler

from relight.trainer.data import _share_out
from relight.trainer.sampler import UnrepeatedSampler


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", [SequentialSampler, RandomSampler])
def test_each_sample_once(kind: Any, processes: int) -> None:
    parts = [UnrepeatedSampler(kind(range(5)), processes, rank) for rank in range(processes)]
    for epoch in (0, 1):
        for part in parts:
            part.set_epoch(epoch)
        got = [list(part) for part in parts]
        assert [len(part) for part in parts] == [len(part) for part in got]
        assert sorted(index for part in got for index in part) == [0, 1, 2, 3, 4]
    assert max(map(len, got)) - min(map(len, got)) <= 1


def test_shuffling_follows_the_epoch_and_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def order(epoch: int) -> list[int]:
        sampler = UnrepeatedSampler(RandomSampler(range(20)), 2, 1)
        sampler.set_epoch(epoch)
        return list(sampler)

    assert order(0) == order(0) != order(1)
    first = order(0)
    monkeypatch.setenv("PL_GLOBAL_SEED", "7")
    assert order(0) != first


def test_only_loaders_that_can_be_shared_are() -> None:
    class Trainer:
        distributed_sampler_kwargs = {"num_replicas": 2, "rank": 1}

    data: Any = torch.arange(5)
    shared: Any = _share_out(Trainer(), DataLoader(data, batch_size=2))  # type: ignore[arg-type]
    assert [batch.tolist() for batch in shared] == [[1, 3]]
    own = DataLoader(data, sampler=DistributedSampler(data, 2, 0))
    assert _share_out(Trainer(), own) is own  # type: ignore[arg-type]


def test_a_closure_has_gradients_whatever_the_optimizer_does() -> None:
    import relight

    class WithoutGradients(torch.optim.SGD):
        @torch.no_grad()
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            closure()
            super().step()

    class Net(relight.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return self.layer(batch).sum()

        def configure_optimizers(self) -> Any:
            return WithoutGradients(self.parameters(), lr=0.5)

    module = Net()
    before = module.layer.bias.item()
    relight.Trainer(accelerator="cpu", devices=1, fast_dev_run=True, enable_progress_bar=False).fit(
        module, torch.ones(1, 1)
    )
    assert module.layer.bias.item() == pytest.approx(before - 0.5)

"""Freezing, unfreezing, and writing predictions; the rates and indices are those of Lightning 2.6.6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler, TensorDataset

import relight
from relight.callbacks import BackboneFinetuning, BaseFinetuning, BasePredictionWriter, ModelCheckpoint
from relight.utilities.exceptions import MisconfigurationException

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_progress_bar": False,
}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.head = nn.Linear(2, 1)
        self.groups: list[Any] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.head(self.backbone(x))
        return output

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self(batch[0]).square().mean()

    def predict_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
        return batch[0][:, 0].tolist() if batch[0].dim() > 1 else batch[0][0].item()

    def on_train_epoch_end(self) -> None:
        groups = self.trainer.optimizers[0].param_groups
        self.groups.append([(round(group["lr"] * 1e5, 6), len(group["params"])) for group in groups])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD((p for p in self.parameters() if p.requires_grad), lr=1e-5)


def data(n: int = 5, **options: Any) -> Any:
    numbers = torch.arange(2.0 * n).reshape(n, 2)
    return DataLoader(TensorDataset(numbers), **{"batch_size": 2, **options})


def test_a_backbone_gets_a_growing_rate_and_resumes_with_it(tmp_path: Path) -> None:
    def finetuning() -> BackboneFinetuning:
        return BackboneFinetuning(1, backbone_initial_ratio_lr=0.1)

    module = Net()
    saver = ModelCheckpoint(tmp_path, filename="{epoch}", save_top_k=-1, save_on_train_epoch_end=True)
    relight.Trainer(**QUIET, max_epochs=6, callbacks=[finetuning(), saver]).fit(module, data(6))
    # The batch norm trains from the start; then the linear layer follows.
    expected = [[(1.0, 4)]] + [[(1.0, 4), (rate, 2)] for rate in (0.1, 0.2, 0.4, 0.8, 1.0)]
    assert module.groups == expected
    again = Net()
    trainer = relight.Trainer(**QUIET, max_epochs=6, callbacks=[finetuning()], enable_checkpointing=False)
    trainer.fit(again, data(6), ckpt_path=tmp_path / "epoch=2.ckpt")
    assert again.groups == expected[3:]
    for one, other in zip(module.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_finetuning_wants_a_backbone_and_overrides() -> None:
    class Bare(Net):
        def __init__(self) -> None:
            super().__init__()
            self.backbone = None  # type: ignore[assignment]

    class Careless(BackboneFinetuning):
        def freeze_before_training(self, pl_module: Any) -> None:
            pass

    with pytest.raises(MisconfigurationException, match="backbone"):
        relight.Trainer(**QUIET, max_epochs=1, callbacks=[Careless()]).fit(Bare(), data())
    with pytest.raises(NotImplementedError, match="freeze_before_training"):
        relight.Trainer(**QUIET, max_epochs=1, callbacks=[BaseFinetuning()]).fit(Net(), data())


def test_freezing_goes_through_nested_modules() -> None:
    net = Net()
    BaseFinetuning.freeze([net.backbone, [net.head]], train_bn=True)
    assert [p.requires_grad for p in net.parameters()] == [False, False, True, True, False, False]
    BaseFinetuning.freeze(net, train_bn=False)
    assert not any(p.requires_grad for p in net.parameters())
    assert not any(m.track_running_stats for m in net.modules() if isinstance(m, nn.BatchNorm1d))
    BaseFinetuning.make_trainable(nn.ModuleDict({"a": net}))
    assert all(p.requires_grad for p in net.parameters())
    assert len(list(BaseFinetuning.filter_params(net, train_bn=False))) == 4


class Writer(BasePredictionWriter):
    def __init__(self, interval: str) -> None:
        super().__init__(interval)
        self.written: list[Any] = []

    def write_on_batch_end(
        self, trainer: Any, pl_module: Any, prediction: Any, batch_indices: Any, *_: Any
    ) -> None:
        self.written.append((prediction, batch_indices))

    def write_on_epoch_end(self, trainer: Any, pl_module: Any, predictions: Any, batch_indices: Any) -> None:
        self.written.append((predictions, batch_indices))


def predict(interval: str, loader: Any) -> list[Any]:
    writer = Writer(interval)
    trainer = relight.Trainer(**QUIET, callbacks=[writer])
    assert trainer.predict(Net(), loader, return_predictions=False) is None
    return writer.written


def test_batches_are_written_with_the_places_of_their_samples() -> None:
    loader = data(shuffle=True, generator=torch.Generator().manual_seed(1), drop_last=True)
    written = predict("batch", loader)
    assert len(written) == 3  # nothing is dropped
    assert sorted(index for _, indices in written for index in indices) == [0, 1, 2, 3, 4]
    for values, indices in written:
        assert values == [2.0 * index for index in indices]
    assert loader.drop_last  # the user's own loader is as it was


def test_an_epoch_is_written_whole() -> None:
    ((predictions, indices),) = predict("epoch", [data(3), data(2)])
    assert predictions == [[[0.0, 2.0], [4.0]], [[0.0, 2.0]]]
    assert indices == [[[0, 1], [2]], [[0, 1]]]


def test_a_batch_sampler_keeps_its_last_batch_too() -> None:
    numbers = TensorDataset(torch.arange(10.0).reshape(5, 2))
    loader = DataLoader(numbers, batch_sampler=BatchSampler(SequentialSampler(numbers), 2, drop_last=True))
    assert [indices for _, indices in predict("batch", loader)] == [[0, 1], [2, 3], [4]]


def test_loaders_without_indices_give_none() -> None:
    class Stream(IterableDataset[Any]):
        def __iter__(self) -> Any:
            return iter([(torch.ones(2),), (torch.ones(2),)])

    assert [indices for _, indices in predict("batch", DataLoader(Stream(), batch_size=2))] == [[]]
    assert [indices for _, indices in predict("batch", data(batch_size=None))] == [[]] * 5
    with pytest.raises(MisconfigurationException, match="write_interval"):
        BasePredictionWriter("hour")


def test_a_loader_of_any_class_can_be_overfitted() -> None:
    class Own(DataLoader[Any]):
        def __init__(self, rows: int) -> None:
            super().__init__(TensorDataset(torch.arange(2.0 * rows).reshape(rows, 2)), 2, shuffle=True)

    seen: list[Any] = []

    class Sees(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            seen.append(batch[0][:, 0].tolist())
            return super().training_step(batch, batch_idx)

    relight.Trainer(**QUIET, max_epochs=2, enable_checkpointing=False).fit(Sees(), Own(9), overfit_batches=2)
    assert seen == [[0.0, 2.0], [4.0, 6.0]] * 2

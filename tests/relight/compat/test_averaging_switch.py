"""``stochastic_weight_avg=True``: numbers of 1.5.10, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import relight.compat as pl
from golden_values import same
from relight.utilities.exceptions import MisconfigurationException

# What 1.5.10 ended with after the same five epochs.
WEIGHTS = {
    "net.0.weight": [
        0.28228551149368286,
        0.6089624762535095,
        -0.16330023109912872,
        -0.2875960171222687,
        -0.078023761510849,
        0.3062126040458679,
        -0.3299404978752136,
        0.14766085147857666,
        -0.3529632091522217,
        -0.5145342350006104,
        -0.8381749987602234,
        -0.7735631465911865,
    ],
    "net.0.bias": [-0.3683122396469116, -0.28019267320632935, -0.1163819432258606, 0.0738210529088974],
    "net.1.weight": [0.42099517583847046, -0.016151659190654755, -0.2896544933319092, -1.165980339050293],
    "net.1.bias": [0.2585585117340088],
}
RATES = [
    0.09000000000000001,
    0.08100000000000002,
    0.07290000000000002,
    0.07290000000000002,
    0.07290000000000002,
]


class Net(pl.LightningModule):  # type: ignore[misc,name-defined]
    def __init__(self, *between: torch.nn.Module) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), *between, torch.nn.Linear(4, 1))
        self.rates: list[float] = []

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return (self.net(batch[0]) - batch[1]).pow(2).mean()

    def on_train_epoch_end(self) -> None:
        self.rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), 0.1)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]

    def train_dataloader(self) -> Any:
        x = torch.linspace(-1, 1, 30).reshape(10, 3)
        data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
        return torch.utils.data.DataLoader(data, batch_size=4)


pytestmark = pytest.mark.filterwarnings("ignore::relight.compat.LegacyWarning")


@pytest.fixture
def trainer(tmp_path: Path) -> Any:
    return pl.Trainer(
        max_epochs=5,
        stochastic_weight_avg=True,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        default_root_dir=str(tmp_path),
    )


def test_it_averages_as_the_old_release(trainer: Any) -> None:
    torch.manual_seed(0)
    model = Net()
    trainer.fit(model)
    assert same(model.rates, RATES)
    weights = {name: value.flatten().tolist() for name, value in model.state_dict().items()}
    assert same(weights, WEIGHTS)


def test_batch_normalization_is_refused(trainer: Any) -> None:
    with pytest.raises(MisconfigurationException, match=r"TRU175.*batch normalization"):
        trainer.fit(Net(torch.nn.BatchNorm1d(4)))

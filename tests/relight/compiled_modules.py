"""Compiled modules. Run by test_compiled_modules.py in a process of its own: torch's profiler, used later in
the same process, crashes over what a compilation leaves behind (torch 2.13).
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight.utilities.compile import from_compiled, to_uncompiled

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        loss = self(batch).mean()
        self.log("loss", loss, prog_bar=True)
        self.log("most", batch.max(), reduce_fx="max", on_epoch=True, on_step=True)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log_dict({"sum": batch.sum(), "number": 2}, reduce_fx="sum")

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(n: int = 6) -> DataLoader[Any]:
    return DataLoader(torch.arange(2.0 * n).reshape(n, 2), batch_size=2)  # type: ignore[arg-type]


@pytest.fixture
def compiles() -> Any:
    """Counts what was compiled; compiling for real would take seconds."""
    torch._dynamo.reset()  # type: ignore[attr-defined]
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    return graphs, backend


def test_a_compiled_module_trains_compiled(compiles: Any) -> None:
    graphs, backend = compiles
    relight.seed_everything(1, verbose=False)
    plain = Net()
    compiled = copy.deepcopy(plain)
    for model in (plain, torch.compile(compiled, backend=backend)):
        trainer = relight.Trainer(**QUIET, max_epochs=1)
        trainer.fit(model, loader(), loader())  # type: ignore[arg-type]
    assert graphs
    assert trainer.lightning_module is compiled
    assert torch.equal(plain.layer.weight, compiled.layer.weight)
    assert compiled.training_step != Net.training_step.__get__(compiled)
    count = len(graphs)
    torch._dynamo.reset()  # type: ignore[attr-defined]
    relight.Trainer(**QUIET).validate(compiled, loader(), verbose=False)
    assert len(graphs) > count  # it stays compiled …
    count = len(graphs)
    torch._dynamo.reset()  # type: ignore[attr-defined]
    relight.Trainer(**QUIET).validate(to_uncompiled(compiled), loader(), verbose=False)
    assert len(graphs) == count  # … until it is asked not to be
    assert "training_step" not in vars(compiled)


def test_compiled_steps_are_those_that_are_there() -> None:
    net = Net()
    assert from_compiled(torch.compile(net, backend="eager")) is net
    assert {"forward", "training_step", "validation_step"} <= set(vars(net))
    assert not {"test_step", "predict_step"} & set(vars(net))
    from_compiled(torch.compile(net, backend="eager"))  # again: not compiled twice over
    assert to_uncompiled(net) is net
    assert not {"forward", "training_step", "validation_step"} & set(vars(net))
    assert to_uncompiled(torch.compile(net, backend="eager")) is net


def test_what_is_no_compiled_module() -> None:
    with pytest.raises(ValueError, match=r"torch\.compile"):
        from_compiled(Net())
    compiled = torch.compile(nn.Linear(1, 1), backend="eager")
    with pytest.raises(TypeError, match="LightningModule"):
        from_compiled(compiled)
    with pytest.raises(TypeError, match="LightningModule"):
        relight.Trainer(**QUIET).fit(compiled, loader())  # type: ignore[arg-type]

"""The module without a Trainer: in a loop of one's own, under Fabric, compiled, exported."""

from __future__ import annotations

import copy
import importlib.util
import pickle
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


# Logging


def test_a_module_keeps_what_it_logs() -> None:
    net = Net()
    assert net.logged_values() == {}
    losses = [net.training_step(batch, i) for i, batch in enumerate(loader())]
    values = net.logged_values()
    assert values["loss"].item() == pytest.approx(float(torch.stack(losses).detach().mean()))
    assert values["most"].item() == 11.0
    assert not values["loss"].requires_grad
    assert net.logged_values(last=True)["loss"].item() == losses[-1].item()
    assert set(net.logged_values(reset=True)) == {"loss", "most"}
    assert net.logged_values() == {}
    for i, batch in enumerate(loader()):
        net.validation_step(batch, i)
    assert {name: float(value) for name, value in net.logged_values().items()} == {"sum": 66.0, "number": 6.0}


def test_a_weight_for_each_value() -> None:
    net = Net()
    for value, size in ((1.0, 1), (4.0, 2)):
        net.log("mean", value, batch_size=size)
    assert net.logged_values()["mean"].item() == 3.0


def test_metrics_compute_their_own() -> None:
    torchmetrics = pytest.importorskip("torchmetrics")

    class Measures(Net):
        def __init__(self) -> None:
            super().__init__()
            self.mean = torchmetrics.MeanMetric()

    net = Measures()
    for value in (1.0, 5.0):
        net.mean(value)
        net.log("mean", net.mean)
    assert net.logged_values()["mean"].item() == 3.0
    assert net.logged_values(last=True)["mean"].item() == 5.0
    net.logged_values(reset=True)
    assert net.mean.update_count == 0
    with pytest.raises(relight.utilities.MisconfigurationException, match="no attribute"):
        net.log("foreign", torchmetrics.MeanMetric())


def test_what_cannot_be_logged_is_told_without_a_trainer_too() -> None:
    net = Net()
    for value in (torch.ones(2), "text", {"a": 1}):
        with pytest.raises(ValueError, match="'x'"):
            net.log("x", value)
    with pytest.raises(relight.utilities.MisconfigurationException, match="reduce_fx"):
        net.log("x", 1.0, reduce_fx=torch.prod)


def test_a_trainer_takes_over_and_copies_start_afresh() -> None:
    net = Net()
    net.training_step(torch.ones(2, 2), 0)
    for copied in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert copied.logged_values() == {}
    trainer = relight.Trainer(**QUIET, max_epochs=1)
    trainer.fit(net, loader())
    assert net.logged_values()["most"].item() == 1.0  # what was logged before, and nothing since
    assert trainer.callback_metrics["most"].item() == 11.0


# Under Fabric


def test_a_loop_on_fabric() -> None:
    from lightning_fabric import Fabric

    sent: list[dict[str, Any]] = []

    class Logger:
        def log_metrics(self, metrics: Any, step: Any = None) -> None:
            sent.append({name: float(value) for name, value in metrics.items()})

    fabric = Fabric(accelerator="cpu", devices=1, loggers=Logger())  # type: ignore[arg-type]
    net = Net()
    model, optimizer = fabric.setup(net, net.configure_optimizers())
    assert net.fabric is fabric
    assert net.optimizers() is optimizer
    before = net.layer.weight.clone()
    for i, batch in enumerate(fabric.setup_dataloaders(loader())):
        loss = model.training_step(batch, i)
        optimizer.zero_grad()
        net.manual_backward(loss)
        optimizer.step()
    assert not torch.equal(net.layer.weight, before)
    assert [row for row in sent if "most" in row] == [{"most": 3.0}, {"most": 7.0}, {"most": 11.0}]
    assert net.logged_values()["most"].item() == 11.0
    assert net.trainer.world_size == 1
    assert net.all_gather(torch.ones(1)).item() == 1.0
    with pytest.raises(AttributeError, match=r"self\.trainer\.max_epochs"):
        net.trainer.max_epochs
    net.print("nothing to fear")


# Compiled


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


# Exported


class Drops(Net):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.frozen = nn.Dropout(0.5)
        self.frozen.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.layer(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["script", "trace"])
@pytest.mark.parametrize("attached", [True, False])
def test_to_torchscript(method: str, attached: bool, tmp_path: Any) -> None:
    net, trainer = Drops(), relight.Trainer(**QUIET, max_epochs=1)
    if attached:
        trainer.fit(net, loader())
    net.example_input_array = torch.ones(3, 2)
    script = net.to_torchscript(tmp_path / "net.pt", method=method)
    assert torch.equal(script(torch.ones(1, 2)), net.layer(torch.ones(1, 2)))
    loaded = torch.jit.load(tmp_path / "net.pt")  # type: ignore[no-untyped-call]
    assert torch.equal(loaded(torch.ones(1, 2)), net.layer(torch.ones(1, 2)))
    assert net.training
    assert not net.frozen.training
    assert (net._trainer is not None) == attached


def test_what_torchscript_wants() -> None:
    with pytest.raises(ValueError, match='"script" or "trace"'):
        Net().to_torchscript(method="magic")
    with pytest.raises(ValueError, match="example_input_array"):
        Net().to_torchscript(method="trace")


def test_samples_go_through_the_transfer_hooks() -> None:
    class Doubles(Net):
        def on_before_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
            return batch * 2

        def on_after_batch_transfer(self, batch: Any, dataloader_idx: int) -> Any:
            return batch + 1

    assert torch.equal(Doubles()._sample(torch.ones(1), "input_sample"), torch.full((1,), 3.0))


@pytest.mark.skipif(importlib.util.find_spec("onnx") is not None, reason="the package onnx is there")
def test_onnx_needs_its_package() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"Net\.to_onnx.*pip install onnx"):
        Net().to_onnx("net.onnx", torch.ones(1, 2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True])
def test_to_onnx(dynamo: bool, tmp_path: Any) -> None:
    onnx = pytest.importorskip("onnx")
    if dynamo:
        pytest.importorskip("onnxscript")
    net = Drops()
    with pytest.raises(ValueError, match="example_input_array"):
        net.to_onnx(tmp_path / "net.onnx", dynamo=dynamo)
    net.to_onnx(tmp_path / "net.onnx", torch.ones(3, 2), dynamo=dynamo)
    model = onnx.load(tmp_path / "net.onnx")
    onnx.checker.check_model(model)
    assert "Dropout" not in {node.op_type for node in model.graph.node}
    assert net.training

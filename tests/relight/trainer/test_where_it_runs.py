"""Accelerators, strategies and precisions: what is taken, and what is refused with which words."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
import torch
from lightning_fabric.plugins import MixedPrecision
from lightning_fabric.strategies import DDPStrategy, FSDPStrategy, ModelParallelStrategy, SingleDeviceStrategy
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight.utilities import MisconfigurationException

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET: dict[str, Any] = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader() -> Any:
    return DataLoader(torch.ones(4, 2), batch_size=2)  # type: ignore[arg-type]


def cuda(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Pretend to have GPUs; enough to build a Trainer, not to run one."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr("lightning_fabric.accelerators.cuda.num_cuda_devices", lambda: count)
    monkeypatch.setattr(
        "lightning_fabric.accelerators.cuda._check_cuda_matmul_precision", lambda device: None
    )


# What is not here


@pytest.mark.parametrize(
    ("accelerator", "error", "words"),
    [
        ("gpu", MisconfigurationException, "No supported gpu backend"),
        ("cuda", MisconfigurationException, r"CUDAAccelerator.*not available.*argument of `Trainer`"),
        ("mps", MisconfigurationException, r"MPSAccelerator.*not available.*argument of `Trainer`"),
        ("tpu", ModuleNotFoundError, "torch_xla"),
        ("abacus", ValueError, "accelerator='abacus'"),
        ("ddp_cpu", ValueError, r"accelerator='ddp_cpu'.*strategy='ddp_spawn'.*TRU721"),
    ],
)
def test_accelerators_that_are_not_here(
    accelerator: str, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda(monkeypatch, 0)
    monkeypatch.setattr("lightning_fabric.accelerators.mps.MPSAccelerator.is_available", lambda: False)
    with pytest.raises(error, match=words):
        relight.Trainer(**QUIET, accelerator=accelerator)


@pytest.mark.parametrize(
    ("strategy", "error", "words"),
    [
        ("fsdp", ValueError, r"FSDP.*`Trainer\(accelerator='gpu'"),
        (FSDPStrategy(), ValueError, r"FSDP.*`Trainer\(accelerator='gpu'"),
        (
            ModelParallelStrategy(lambda module, mesh: module),
            MisconfigurationException,
            "ModelParallelStrategy",
        ),
        ("xla", ModuleNotFoundError, "torch_xla"),
        ("ddp_magic_find_unused_parameters_true", ValueError, "ddp_magic"),
        ("abacus", ValueError, "strategy='abacus'"),
        ("horovod", ValueError, r"strategy='horovod'.*say strategy='ddp' \(TRU714\)"),
        ("dp", ValueError, r"no `strategy='dp'`.*TRU710"),
    ],
)
def test_strategies_that_do_not_run_here(strategy: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        relight.Trainer(**QUIET, accelerator="cpu", devices=2, strategy=strategy)


@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is not None, reason="DeepSpeed is installed")
@pytest.mark.parametrize("name", ["deepspeed", "deepspeed_stage_3_offload"])
def test_deepspeed_names_its_package(name: str) -> None:
    with pytest.raises(ImportError, match="pip install -U deepspeed"):
        relight.Trainer(**QUIET, accelerator="cpu", devices=2, strategy=name)


def test_sharding_is_built_where_there_are_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda(monkeypatch, 2)
    trainer = relight.Trainer(**QUIET, accelerator="gpu", devices=2, strategy="fsdp", precision="16-mixed")
    assert isinstance(trainer.strategy, FSDPStrategy)
    assert (trainer.num_devices, trainer.device_ids) == (2, [0, 1])
    assert not trainer._backend.plain
    assert trainer.scaler is not None


def test_checkpoints_in_an_unknown_format_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def checkpoint_io(self: Any) -> Any:
        raise NotImplementedError

    trainer = relight.Trainer(**QUIET, accelerator="cpu", max_epochs=1)
    monkeypatch.setattr(type(trainer.strategy), "checkpoint_io", property(checkpoint_io))
    trainer.fit(Net(), loader())
    assert trainer.global_step == 2
    with pytest.raises(MisconfigurationException, match=r"SingleDeviceStrategy.*enable_checkpointing=False"):
        trainer.save_checkpoint(tmp_path / "x.ckpt")


# What is


@pytest.mark.parametrize(
    ("name", "start", "finds"),
    [
        ("ddp", "popen", None),
        ("ddp_spawn", "spawn", None),
        ("ddp_fork", "fork", None),
        ("ddp_find_unused_parameters_true", "popen", True),
        ("ddp_find_unused_parameters_false", "popen", False),
        ("ddp_spawn_find_unused_parameters_true", "spawn", True),
        ("ddp_fork_find_unused_parameters_false", "fork", False),
        ("ddp_notebook_find_unused_parameters_true", "fork", True),
    ],
)
def test_names_of_ddp(name: str, start: str, finds: bool | None) -> None:
    trainer = relight.Trainer(**QUIET, accelerator="cpu", devices=2, strategy=name)
    strategy = trainer.strategy
    assert isinstance(strategy, DDPStrategy)
    assert strategy._start_method == start
    assert strategy._ddp_kwargs.get("find_unused_parameters") == finds
    assert trainer._backend.spawns == (start != "popen")


@pytest.mark.parametrize("devices", [2, "2"])
def test_several_devices_mean_ddp(devices: Any) -> None:
    assert isinstance(relight.Trainer(**QUIET, accelerator="cpu", devices=devices).strategy, DDPStrategy)


def test_one_device_means_no_wrapper() -> None:
    for devices in (1, "auto"):
        trainer = relight.Trainer(**QUIET, accelerator="cpu", devices=devices)
        assert isinstance(trainer.strategy, SingleDeviceStrategy)
        net = Net()
        trainer.fit_loop.max_epochs = 1
        trainer.fit(net, loader())
        assert trainer.model is net


@pytest.mark.parametrize("devices", [0, [], -1, "-1", [0], 1.5, None])
def test_numbers_of_devices_that_a_cpu_has_not(devices: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="devices"):
        relight.Trainer(**QUIET, accelerator="cpu", devices=devices)


@pytest.mark.parametrize("nodes", [0, -1])
def test_numbers_of_nodes(nodes: Any) -> None:
    with pytest.raises(ValueError, match="num_nodes"):
        relight.Trainer(**QUIET, accelerator="cpu", num_nodes=nodes)


# Precision


@pytest.mark.parametrize(
    ("given", "precision"),
    [
        (None, "32-true"), (32, "32-true"), ("32", "32-true"), (64, "64-true"), ("bf16", "bf16-mixed"),
        ("bf16-true", "bf16-true"), ("16-true", "16-true"), (16, "bf16-mixed"), ("16-mixed", "bf16-mixed"),
    ],
)  # fmt: skip
def test_names_of_precisions(given: Any, precision: str) -> None:
    assert relight.Trainer(**QUIET, accelerator="cpu", precision=given).precision == precision


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("17", ValueError, "Precision '17' is invalid"),
        ("transformer-engine", ModuleNotFoundError, "transformer_engine"),
    ],
)
def test_precisions_that_are_not_there(given: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        relight.Trainer(**QUIET, accelerator="cpu", precision=given)


def scaled(**options: Any) -> Any:
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)  # type: ignore[attr-defined]
    trainer = relight.Trainer(
        **QUIET, accelerator="cpu", max_epochs=1, plugins=[MixedPrecision("16-mixed", "cpu", scaler)]
    )

    def fit(net: Any) -> Any:
        trainer.fit(net, loader(), **options)
        return scaler

    return fit


def test_lbfgs_does_not_go_with_scaled_gradients() -> None:
    net = type("Lbfgs", (Net,), {"configure_optimizers": lambda self: torch.optim.LBFGS(self.parameters())})()
    with pytest.raises(MisconfigurationException, match="LBFGS"):
        scaled()(net)


def test_an_optimizer_that_unscales_by_itself_cannot_be_clipped() -> None:
    class Fused(torch.optim.SGD):
        _step_supports_amp_scaling = True
        seen: list[bool] = []

        def step(self, closure: Any = None) -> Any:
            Fused.seen.append(hasattr(self, "grad_scale"))
            assert float(self.grad_scale) == 8.0

    net = type("UsesFused", (Net,), {"configure_optimizers": lambda self: Fused(self.parameters(), lr=0.0)})()
    scaled()(net)
    assert Fused.seen == [True, True]
    with pytest.raises(RuntimeError, match=r"`Fused` unscales.*clipped"):
        scaled(gradient_clip_val=1.0)(net)


@pytest.mark.parametrize("hook", ["backward", "configure_gradient_clipping"])
def test_overrides_see_scaled_and_unscaled_gradients(hook: str) -> None:
    """``backward`` is given the scaled loss, clipping the gradients as they are."""
    seen: list[float] = []

    class Looks(Net):
        def training_step(self, batch: Any, batch_idx: int) -> Any:
            return self.layer(batch).float().sum() * 0 + self.layer.bias.sum() * 3

    def backward(self: Any, loss: torch.Tensor) -> None:
        loss.backward()  # type: ignore[no-untyped-call]
        seen.append(float(self.layer.bias.grad))

    def clip(self: Any, optimizer: Any, gradient_clip_val: Any, gradient_clip_algorithm: Any) -> None:
        seen.append(float(self.layer.bias.grad))

    methods: Any = {"backward": backward, "configure_gradient_clipping": clip}
    scaled()(type("Sees", (Looks,), {hook: methods[hook]})())
    assert seen == ([24.0, 24.0] if hook == "backward" else [3.0, 3.0])


def test_modules_are_made_in_the_precision_of_the_trainer() -> None:
    trainer = relight.Trainer(**QUIET, accelerator="cpu", precision="bf16-true", max_epochs=1)
    with trainer.init_module():
        assert nn.Linear(1, 1).weight.dtype is torch.bfloat16
    assert nn.Linear(1, 1).weight.dtype is torch.float32

    class Late(Net):
        def __init__(self) -> None:
            super().__init__()
            self.layer = None  # type: ignore[assignment]

        def configure_model(self) -> None:
            if self.layer is None:
                self.layer = nn.Linear(2, 1)
                self.made = self.layer.weight.dtype

    net = Late()
    trainer.fit(net, loader())
    assert net.made is torch.bfloat16

"""The module, the data module and the small helpers."""

from __future__ import annotations

import argparse
import copy
import pickle
import random
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import relight
from relight.core.hparams import AttributeDict
from relight.utilities import CombinedLoader, MisconfigurationException, grad_norm, move_data_to_device
from relight.utilities.memory import extract_batch_size
from relight.utilities.overrides import is_overridden, takes_parameter
from relight.utilities.seed import isolate_rng

QUIET: dict[str, Any] = {
    "accelerator": "cpu",
    "devices": 1,
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
}


# Hyperparameters


class Base(relight.LightningModule):
    def __init__(self, base: int, dropped: int = 5) -> None:
        super().__init__()
        self.save_hyperparameters()


class Derived(Base):
    def __init__(self, own: str, *args: int, flag: bool = True, **kwargs: Any) -> None:
        super().__init__(base=1)
        self.save_hyperparameters(ignore=["dropped"])


def test_arguments_of_the_class_and_its_bases_are_saved() -> None:
    assert dict(Base(3).hparams) == {"base": 3, "dropped": 5}
    assert dict(Derived("x", 1, 2, more=4).hparams) == {"base": 1, "own": "x", "flag": True, "more": 4}


def test_an_object_built_within_another_does_not_take_its_arguments() -> None:
    class Outer(relight.LightningModule):
        def __init__(self, outer: int) -> None:
            super().__init__()
            self.inner = Base(7)
            self.save_hyperparameters()

    outer = Outer(1)
    assert dict(outer.hparams) == {"outer": 1}
    assert dict(outer.inner.hparams) == {"base": 7, "dropped": 5}


def test_forms_of_hyperparameters() -> None:
    module = relight.LightningModule()
    module.save_hyperparameters(argparse.Namespace(a=1, b={"c": 2}))
    assert module.hparams.a == 1
    assert module.hparams["b"] == {"c": 2}
    module.hparams.a = 5
    assert module.hparams["a"] == 5
    assert module.hparams_initial.a == 1
    with pytest.raises(ValueError, match="dict or a Namespace"):
        module.save_hyperparameters(3)
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.hparams.nothing

    class Named(relight.LightningModule):
        def __init__(self, a: int, b: int) -> None:
            super().__init__()
            self.save_hyperparameters("a")

    assert dict(Named(1, 2).hparams) == {"a": 1}
    assert repr(AttributeDict(bb=1, a="x")) == '"a":  x\n"bb": 1'


def test_a_module_among_the_hyperparameters_warns() -> None:
    class Holds(relight.LightningModule):
        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.save_hyperparameters()

    with pytest.warns(UserWarning, match="'layer' is a module"):
        Holds(nn.Linear(1, 1))


# The module


def test_device_and_dtype_follow_the_module() -> None:
    module = relight.LightningModule()
    assert (module.device, module.dtype) == (torch.device("cpu"), torch.float32)
    outer = nn.Sequential(nn.Linear(1, 1), module)
    outer.to(torch.float64)
    assert module.dtype is torch.float64
    assert module.to("meta").device == torch.device("meta")
    assert not module.on_gpu


def test_without_a_trainer() -> None:
    module = Base(1)
    assert (module.current_epoch, module.global_step, module.loggers, module.logger) == (0, 0, [], None)
    with pytest.raises(RuntimeError, match="not attached"):
        _ = module.trainer
    with pytest.raises(MisconfigurationException):
        module.train_dataloader()


def test_copies_leave_the_trainer_behind() -> None:
    module = Base(1)
    module.trainer = relight.Trainer(**QUIET)
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert copied._trainer is None
        assert dict(copied.hparams) == dict(module.hparams)


def test_freeze() -> None:
    module = Base(1)
    module.layer = nn.Linear(1, 1)
    module.freeze()
    assert not module.training
    assert not any(p.requires_grad for p in module.parameters())
    module.unfreeze()
    assert module.training
    assert all(p.requires_grad for p in module.parameters())


def test_data_module_from_datasets() -> None:
    data = TensorDataset(torch.arange(6.0))

    class Taking(relight.LightningDataModule):
        def __init__(self, batch_size: int) -> None:
            super().__init__()
            self.batch_size = batch_size

    module = Taking.from_datasets(data, [data, data], batch_size=2)
    assert module.batch_size == 2  # type: ignore[attr-defined]
    assert len(module.train_dataloader()) == 3
    assert [len(loader) for loader in module.val_dataloader()] == [3, 3]
    with pytest.raises(MisconfigurationException):
        module.test_dataloader()


# Helpers


def test_combined_loader_modes() -> None:
    short, long = DataLoader([0, 1, 2, 3], batch_size=2), DataLoader(list(range(6)), batch_size=2)

    def batches(mode: Any, iterables: Any) -> Any:
        combined = CombinedLoader(iterables, mode)
        items = [(copy.deepcopy(batch), index, loader) for batch, index, loader in combined]
        assert len(combined) == len(items)
        return items

    assert [b["a"].tolist() for b, _, _ in batches("min_size", {"a": short, "b": long})] == [[0, 1], [2, 3]]
    assert [b[0].tolist() for b, _, _ in batches("max_size_cycle", [short, long])] == [[0, 1], [2, 3], [0, 1]]
    assert [b[0] is None for b, _, _ in batches("max_size", [short, long])] == [False, False, True]
    assert [(i, j) for _, i, j in batches("sequential", [short, long])] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (2, 1),
    ]
    assert len(batches("sequential", [])) == 0
    combined = CombinedLoader([short, long], "sequential")
    combined.limits = 1
    assert [j for _, _, j in combined] == [0, 1]
    with pytest.raises(ValueError, match="Unsupported mode"):
        CombinedLoader([], "nonsense")  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        len(CombinedLoader(iter([1]), "max_size"))


class Pair(NamedTuple):
    a: torch.Tensor
    b: Any


@dataclass
class Batch:
    x: torch.Tensor
    name: str


def test_moving_nested_data() -> None:
    class Movable:
        device = "cpu"

        def to(self, device: Any) -> Any:
            self.device = str(device)
            return self

    data = {
        "pair": Pair(torch.ones(2), [torch.ones(1), "text"]),
        "batch": Batch(torch.ones(3), "n"),
        "own": Movable(),
    }
    moved = move_data_to_device(data, "meta")
    assert moved["pair"].a.is_meta
    assert moved["pair"].b[0].is_meta
    assert moved["pair"].b[1] == "text"
    assert moved["batch"].x.is_meta
    assert moved["own"].device == "meta"
    assert not data["pair"].a.is_meta  # type: ignore[union-attr]


def test_size_of_a_batch() -> None:
    assert extract_batch_size(torch.ones(3, 2)) == 3
    assert extract_batch_size(torch.ones(())) == 1
    assert extract_batch_size({"a": Batch(torch.ones(5), "n")}) == 5
    with pytest.warns(UserWarning, match="ambiguous"):
        assert extract_batch_size([torch.ones(3), torch.ones(4)]) == 3
    with pytest.raises(MisconfigurationException, match="batch_size"):
        extract_batch_size("text")


def test_norms_of_gradients() -> None:
    layer = nn.Linear(2, 1, bias=False)
    assert grad_norm(layer, 2) == {}
    layer.weight.grad = torch.tensor([[3.0, 4.0]])
    assert {k: float(v) for k, v in grad_norm(layer, 2).items()} == {
        "grad_2.0_norm/weight": 5.0,
        "grad_2.0_norm_total": 5.0,
    }
    assert float(grad_norm(layer, "inf")["grad_inf_norm_total"]) == 4.0
    with pytest.raises(ValueError, match="positive"):
        grad_norm(layer, 0)


def test_isolated_random_state() -> None:
    relight.seed_everything(5, verbose=False)
    expected = torch.rand(1), random.random()
    relight.seed_everything(5, verbose=False)
    with isolate_rng():
        torch.rand(7), random.random()
    assert (torch.rand(1), random.random()) == expected


def test_seeds_out_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="between 0"):
        relight.seed_everything(-1)
    monkeypatch.setenv("PL_GLOBAL_SEED", "12")
    assert relight.seed_everything(verbose=False) == 12
    monkeypatch.setenv("PL_GLOBAL_SEED", "text")
    with pytest.raises(ValueError, match="no number"):
        relight.seed_everything()


def test_questions_about_methods() -> None:
    class Child(relight.LightningModule):
        def on_train_start(self) -> None:
            pass

    assert is_overridden("on_train_start", Child(), relight.LightningModule)
    assert not is_overridden("on_train_end", Child(), relight.LightningModule)
    assert not is_overridden("no_such_hook", Child(), relight.LightningModule)

    def step(self: Any, batch: Any, batch_idx: int) -> None: ...
    def loose(self: Any, *args: Any) -> None: ...

    assert takes_parameter(step.__get__(object()), "batch_idx")
    assert takes_parameter(step.__get__(object()), "other", min_args=2)
    assert not takes_parameter(step.__get__(object()), "other", min_args=3)
    assert takes_parameter(loose.__get__(object()), "anything")
    assert not takes_parameter(loose.__get__(object()), "anything", explicit=True)

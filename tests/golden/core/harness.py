"""Runs one scenario under Lightning or relight and says exactly what happened.

A scenario is a function of a :class:`Harness`. It must not know which of the two it runs under: what Lightning takes
in ``Trainer(...)`` and relight as an option of an entry point is sorted out by :meth:`Harness.trainer`.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

HERE = Path(__file__).resolve().parent

MODULE_HOOKS = (
    "configure_callbacks", "configure_optimizers", "setup", "teardown", "prepare_data",
    "on_fit_start", "on_fit_end", "on_train_start", "on_train_end", "on_train_epoch_start", "on_train_epoch_end",
    "on_train_batch_start", "on_train_batch_end", "on_before_backward", "on_after_backward", "on_before_zero_grad",
    "on_before_optimizer_step", "on_validation_start", "on_validation_end", "on_validation_epoch_start",
    "on_validation_epoch_end", "on_validation_batch_start", "on_validation_batch_end", "on_test_start", "on_test_end",
    "on_test_epoch_start", "on_test_epoch_end", "on_test_batch_start", "on_test_batch_end", "on_predict_start",
    "on_predict_end", "on_predict_epoch_start", "on_predict_epoch_end", "on_predict_batch_start",
    "on_predict_batch_end", "on_save_checkpoint", "on_load_checkpoint", "training_step", "validation_step",
    "test_step", "predict_step", "optimizer_step", "optimizer_zero_grad", "backward", "lr_scheduler_step",
    "configure_gradient_clipping", "on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer",
    "on_validation_model_eval", "on_validation_model_train", "on_validation_model_zero_grad", "on_test_model_eval",
    "on_test_model_train", "on_predict_model_eval", "train_dataloader", "val_dataloader", "test_dataloader",
    "predict_dataloader", "configure_model",
)  # fmt: skip
CALLBACK_HOOKS = (
    "setup", "teardown", "on_fit_start", "on_fit_end", "on_sanity_check_start", "on_sanity_check_end",
    "on_train_start", "on_train_end", "on_train_epoch_start", "on_train_epoch_end", "on_train_batch_start",
    "on_train_batch_end", "on_before_backward", "on_after_backward", "on_before_zero_grad",
    "on_before_optimizer_step", "on_validation_start", "on_validation_end", "on_validation_epoch_start",
    "on_validation_epoch_end", "on_validation_batch_start", "on_validation_batch_end", "on_test_start", "on_test_end",
    "on_test_epoch_start", "on_test_epoch_end", "on_test_batch_start", "on_test_batch_end", "on_predict_start",
    "on_predict_end", "on_predict_epoch_start", "on_predict_epoch_end", "on_predict_batch_start",
    "on_predict_batch_end", "on_exception", "on_save_checkpoint", "on_load_checkpoint", "state_dict",
    "load_state_dict",
)  # fmt: skip
DATA_HOOKS = (
    "prepare_data", "setup", "teardown", "train_dataloader", "val_dataloader", "test_dataloader",
    "predict_dataloader", "on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer",
    "state_dict", "load_state_dict", "on_exception",
)  # fmt: skip
#: Arguments of Lightning's Trainer that are options of relight's entry points.
OPTIONS = (
    "limit_train_batches", "limit_val_batches", "limit_test_batches", "limit_predict_batches", "overfit_batches",
    "val_check_interval", "check_val_every_n_epoch", "num_sanity_val_steps", "accumulate_grad_batches",
    "gradient_clip_val", "gradient_clip_algorithm", "log_every_n_steps", "reload_dataloaders_every_n_epochs",
    "use_distributed_sampler", "detect_anomaly", "inference_mode",
)  # fmt: skip


def number(value: Any) -> Any:
    """Return a number so that not a bit is lost."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value.hex()
    return value


def digest(tensor: Tensor) -> str:
    """Return a fingerprint of a tensor's type, shape and bytes."""
    data = tensor.detach().cpu().contiguous()
    sha = hashlib.sha256(data.reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:16]
    return f"{str(data.dtype).removeprefix('torch.')}{list(data.shape)}:{sha}"


def summary(value: Any) -> Any:
    """Return what a trace keeps of an argument or result."""
    if isinstance(value, Tensor):
        return number(value.item()) if value.numel() == 1 and value.dim() == 0 else digest(value)
    if isinstance(value, torch.optim.Optimizer):
        return type(value).__name__
    if isinstance(value, dict):
        return {str(key): summary(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [summary(item) for item in value]
    if isinstance(value, (torch.device, torch.dtype)):
        return str(value)
    if isinstance(value, str):
        return str(value.value) if hasattr(value, "value") else value
    if isinstance(value, (bool, int, float)) or value is None:
        return number(value)
    if callable(value):
        return "<callable>"
    return f"<{type(value).__name__}>"


class Iterable4(IterableDataset):
    """Batches without a length."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y

    def __iter__(self) -> Any:
        return iter(zip(self.x, self.y))


class Harness:
    """One run of a scenario."""

    def __init__(self, root: str, directory: Path) -> None:
        self.root, self.dir = root, Path(directory)
        self.pl = importlib.import_module(root)
        self.is_relight = root.split(".")[0] == "relight"
        self.hooks: list[Any] = []
        self.logged: list[Any] = []
        self.losses: list[Any] = []
        self.results: dict[str, Any] = {}
        self.trainers: list[Any] = []
        self.models: list[Any] = []
        self.tracing = True
        warnings.filterwarnings("ignore")
        for name in ("lightning", "pytorch_lightning", "lightning_fabric", "lightning.pytorch", "lightning.fabric",
                     "lightning_utilities.core.rank_zero"):  # fmt: skip
            logging.getLogger(name).setLevel(logging.ERROR)

    data_hooks = DATA_HOOKS

    # What a scenario uses

    def seed(self, seed: int = 7) -> None:
        self.pl.seed_everything(seed, verbose=False)

    def data(self, n: int = 26, seed: int = 3) -> TensorDataset:
        generator = torch.Generator().manual_seed(seed)
        return TensorDataset(
            torch.randn(n, 4, generator=generator), torch.randint(0, 2, (n,), generator=generator)
        )

    def loader(self, n: int = 26, batch_size: int = 4, shuffle: bool = False, seed: int = 3, **kwargs: Any) -> DataLoader:
        return DataLoader(self.data(n, seed), batch_size=batch_size, shuffle=shuffle, **kwargs)

    def endless(self, n: int = 26, batch_size: int = 4) -> DataLoader:
        return DataLoader(Iterable4(*self.data(n).tensors), batch_size=batch_size)

    def trainer(self, **kwargs: Any) -> Any:
        kwargs.setdefault("accelerator", "cpu")
        kwargs.setdefault("devices", 1)
        kwargs.setdefault("default_root_dir", str(self.dir))
        kwargs.setdefault("enable_progress_bar", False)
        kwargs.setdefault("enable_checkpointing", False)
        if kwargs.pop("log", True):
            kwargs.setdefault("logger", self.logger())
            kwargs.setdefault("log_every_n_steps", 2)
        else:
            kwargs.setdefault("logger", False)
        if self.is_relight:
            options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
            minimum = {name[4:]: kwargs.pop(name) for name in ("min_epochs", "min_steps") if name in kwargs}
            if minimum:
                at_least = self.pl.callbacks.TrainAtLeast(**minimum)
                kwargs["callbacks"] = [*(kwargs.get("callbacks") or []), at_least]
            trainer = self.pl.Trainer(**kwargs, options=options)
        else:
            kwargs.setdefault("enable_model_summary", False)
            trainer = self.pl.Trainer(**kwargs)
        self.trainers.append(trainer)
        return trainer

    def logger(self) -> Any:
        harness = self

        class MemoryLogger(self.pl.loggers.Logger):
            name, version = "memory", 0

            def log_metrics(self, metrics: Any, step: Any = None) -> None:
                harness.logged.append([step, {k: number(v) for k, v in metrics.items()}])

            def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
                harness.logged.append(["hparams", {k: summary(v) for k, v in dict(params).items()}])

            def finalize(self, status: str) -> None:
                harness.logged.append(["finalize", status])

        return MemoryLogger()

    def net(self, dropout: float = 0.0, **attributes: Any) -> Any:
        """Return a new class: a small module that logs in all steps; ``attributes`` replace or add methods."""
        harness, pl = self, self.pl

        class Net(pl.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 2))

            def forward(self, x: Tensor) -> Tensor:
                return self.net(x)

            def loss(self, batch: Any) -> Tensor:
                x, y = batch
                return nn.functional.cross_entropy(self(x), y)

            def training_step(self, batch: Any, batch_idx: int) -> Any:
                loss = self.loss(batch)
                harness.losses.append(number(loss.item()))
                self.log("loss", loss, on_step=True, on_epoch=True, prog_bar=True)
                return loss

            def validation_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
                loss = self.loss(batch)
                self.log("val_loss", loss, prog_bar=True)
                return loss

            def test_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
                loss = self.loss(batch)
                self.log("test_loss", loss, on_step=True, on_epoch=True)
                return {"test": loss}

            def predict_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> Any:
                return self(batch[0]).argmax(1)

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.5)

        for name, value in attributes.items():
            setattr(Net, name, value)
        return Net

    def traced(self, cls: Any, hooks: Any = MODULE_HOOKS, tag: str = "M") -> Any:
        """Return a subclass of a module, data module or callback that traces calls of ``hooks``."""
        harness = self

        def make(name: str, original: Any) -> Any:
            def hook(self: Any, *args: Any, **kwargs: Any) -> Any:
                shown = args[2:] if tag.startswith("C") and name not in ("state_dict", "load_state_dict") else args
                harness.note(f"{tag}.{name}", [*shown, *kwargs.values()])
                result = original(self, *args, **kwargs)
                if name.endswith("_step"):
                    harness.note(f"{tag}.{name} ->", [result])
                return result

            hook.__name__ = name
            if "step" in name or "batch" in name or "dataloader" in name:
                import functools

                hook = functools.wraps(original)(hook)
                del hook.__wrapped__
                hook.__signature__ = __import__("inspect").signature(original)
            return hook

        body = {name: make(name, getattr(cls, name)) for name in hooks if hasattr(cls, name)}
        name = f"{tag}{cls.__name__}" if tag.startswith("C") else cls.__name__  # callbacks need keys that differ
        return type(name, (cls,), body)

    def note(self, name: str, args: list[Any]) -> None:
        if not self.tracing:
            return
        trainer = self.trainers[-1] if self.trainers else None
        shown = [] if "checkpoint" in name or "state_dict" in name else [summary(a) for a in args]
        where = [trainer.global_step, trainer.current_epoch] if trainer is not None else []
        self.hooks.append([name, shown, where])

    def callback(self, tag: str = "C", base: Any = None, hooks: Any = CALLBACK_HOOKS, **kwargs: Any) -> Any:
        """Return a callback that traces its hooks."""
        return self.traced(base or self.pl.Callback, hooks, tag)(**kwargs)

    # What is compared

    def report(self) -> dict[str, Any]:
        trainer = self.trainers[-1]
        model = trainer.lightning_module
        draws = [number(torch.rand(1).item()), number(random.random()), number(float(numpy.random.rand()))]
        files = {}
        for path in sorted(self.dir.rglob("*")):
            if path.is_file():
                content = self.checkpoint(path) if path.suffix == ".ckpt" else None
                files[path.relative_to(self.dir).as_posix()] = content
        return {
            "hooks": self.hooks,
            "logged": self.logged,
            "losses": self.losses,
            "weights": {name: digest(value) for name, value in model.state_dict().items()},
            "sums": {name: number(value.double().sum().item()) for name, value in model.state_dict().items()},
            "callback_metrics": {k: summary(v) for k, v in trainer.callback_metrics.items()},
            "logged_metrics": {k: summary(v) for k, v in trainer.logged_metrics.items()},
            "progress_bar_metrics": {k: summary(v) for k, v in trainer.progress_bar_metrics.items()},
            "global_step": trainer.global_step,
            "current_epoch": trainer.current_epoch,
            "should_stop": trainer.should_stop,
            "optimizers": [summary(optimizer.state_dict()) for optimizer in trainer.optimizers],
            "lr_schedulers": [summary(config.scheduler.state_dict()) for config in trainer.lr_scheduler_configs],
            "draws": draws,
            "files": files,
            "results": {name: summary(value) for name, value in self.results.items()},
        }

    def checkpoint(self, path: Path) -> Any:
        """Return what a checkpoint file holds; it must load without running code."""

        def shown(value: Any) -> Any:
            if isinstance(value, dict):
                return {str(k).replace(str(self.dir), "DIR"): shown(v) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                return [shown(v) for v in value]
            if isinstance(value, str):
                return value.replace(str(self.dir), "DIR")
            return summary(value)

        return shown(torch.load(path, map_location="cpu", weights_only=True))


def scenarios() -> dict[str, Any]:
    """Return all scenarios by name."""
    found: dict[str, Any] = {}
    for path in sorted((HERE / "scenarios").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"core_scenarios_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for name, function in module.SCENARIOS.items():
            assert name not in found, name
            found[name] = function
    return found


def run(name: str, root: str, directory: Path) -> dict[str, Any]:
    """Run a scenario and report."""
    torch.set_num_threads(1)
    harness = Harness(root, directory)
    harness.seed()
    before = os.getcwd()
    os.chdir(directory)
    try:
        scenarios()[name](harness)
    finally:
        os.chdir(before)
    return harness.report()

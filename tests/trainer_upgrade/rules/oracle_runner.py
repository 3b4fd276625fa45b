"""Runs scripts under this interpreter's Lightning: ``python oracle_runner.py < scripts.json > results.json``.

Input: ``{name: source}``. Each source sees ``pl``, ``torch``, ``nn``, ``F``, loaders made by ``data(n)`` and
``record(...)``. Output: ``{name: {"error": …, "records": …, "weights": …, "metrics": …, "steps": …}}``.
"""

from __future__ import annotations

import functools
import importlib
import json
import logging
import sys
import tempfile
import traceback
import warnings

warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

# "relight" runs the scripts on relight's own Trainer.
ROOT = sys.argv[1] if len(sys.argv) > 1 else "pytorch_lightning"
pl = importlib.import_module(ROOT)

for name in ("pytorch_lightning", "lightning.pytorch", "lightning_fabric", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)

MODERN = ROOT == "relight" or int(pl.__version__.split(".")[0]) >= 2
X = torch.arange(24, dtype=torch.float32).reshape(6, 4) / 10 - 1
Y = (X * torch.tensor([1.0, -2.0, 0.5, 0.3])).sum(1, keepdim=True)
trainers: list[object] = []


def same_weights(layer: nn.Linear) -> None:
    with torch.no_grad():
        for number, parameter in enumerate(layer.parameters(recurse=False)):
            ramp = torch.cos(torch.arange(parameter.numel(), dtype=torch.float32) + number) * 0.3
            parameter.copy_(ramp.reshape(parameter.shape))


nn.Linear.reset_parameters = same_weights  # type: ignore[method-assign]
original = pl.Trainer.__init__


@functools.wraps(original)
def quiet(self, *args, **options):  # type: ignore[no-untyped-def]
    options.setdefault("logger", False)
    for flag in ("enable_progress_bar", "enable_checkpointing"):
        options.setdefault(flag, False)
    if ROOT != "relight":
        options.setdefault("enable_model_summary", False)
    options.setdefault("max_epochs", 2)
    options.setdefault("default_root_dir", tempfile.mkdtemp())
    if MODERN:
        options.setdefault("accelerator", "cpu")
    original(self, *args, **options)
    trainers.append(self)


pl.Trainer.__init__ = quiet  # type: ignore[method-assign]


def data(count: int = 6, batch: int = 2) -> DataLoader:
    return DataLoader(TensorDataset(X[:count], Y[:count]), batch_size=batch)


def plain(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return value.detach().tolist()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(type(value).__name__)


def run(source: str) -> dict[str, object]:
    records: list[object] = []
    trainers.clear()
    torch.manual_seed(0)
    space = {
        "__name__": "script",
        "data": data,
        "record": lambda *values: records.append(plain(values)),
        "pl": pl,
        "torch": torch,
        "nn": nn,
        "F": F,
    }
    result: dict[str, object] = {"error": None, "records": records}
    try:
        exec(compile(source, "<script>", "exec"), space)
    except Exception:
        result["error"] = traceback.format_exc(limit=-3)
    used = [each for each in trainers if each.lightning_module is not None]
    if used:
        last = used[-1]
        state = last.lightning_module.state_dict()
        result["weights"] = {key: plain(value) for key, value in state.items()}
        result["metrics"] = {key: float(value) for key, value in last.callback_metrics.items()}
        result["steps"] = last.global_step
    return result


if __name__ == "__main__":
    json.dump({key: run(source) for key, source in json.load(sys.stdin).items()}, sys.stdout)

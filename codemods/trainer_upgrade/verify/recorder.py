"""Put on the path of a verified run as ``sitecustomize``: writes down what every Trainer of the process
computes.

It works alike on relight, on relight.compat and on any real Lightning, because it only adds one callback
to each Trainer. It stands alone: nothing of the tool is imported in the runs. Written are the losses of
the training batches, the metrics after each epoch, what loggers get, and a digest of the weights when fit
ends, each number to the last bit. Random numbers are seeded before the program begins, so that a script
without a seed can be compared, too.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

OUT = "RELIGHT_VERIFY_OUT"
#: Set where the legacy code is served by relight.compat.
COMPAT = "RELIGHT_VERIFY_COMPAT"
SEED = 20240229
_ROOTS = ("pytorch_lightning", "lightning.pytorch", "relight")
_TRAINERS = tuple(f"{root}.trainer.trainer" for root in _ROOTS)


def write(event: str, **values: Any) -> None:
    """Append one record."""
    path = os.environ.get(OUT)
    if not path or any(int(os.environ.get(name) or 0) for name in ("RANK", "LOCAL_RANK", "SLURM_PROCID")):
        return  # the other ranks compute the same
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(json.dumps({"event": event, **values}, sort_keys=True) + "\n")


def exact(value: Any) -> Any:
    """Return a number to the last bit, or ``None`` for what is none."""
    if hasattr(value, "detach"):
        value = value.detach()
        if getattr(value, "numel", lambda: 0)() != 1:
            return None
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value).hex()


def numbers(metrics: Any) -> dict[str, Any]:
    """Return the numbers among some metrics."""
    found = {str(name): exact(value) for name, value in dict(metrics or {}).items()}
    return {name: value for name, value in found.items() if value is not None}


def loss_of(outputs: Any) -> Any:
    """Return the loss among what a training step gave; ``None`` where there is not just one."""
    if isinstance(outputs, dict):
        outputs = outputs.get("loss")
    return exact(outputs) if not isinstance(outputs, (list, tuple)) else None


def weights_of(module: Any) -> str:
    """Return a digest of a module's parameters and buffers."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        if hasattr(value, "detach"):
            digest.update(name.encode())
            digest.update(value.detach().cpu().contiguous().reshape(-1).double().numpy().tobytes())
    return digest.hexdigest()[:16]


def watcher(base: type) -> Any:
    """Make the callback that records, for one Lightning's ``Callback``."""

    class VerifyRecorder(base):  # type: ignore[misc]
        """Writes down what a run computes."""

        def on_train_epoch_start(self, trainer: Any, *rest: Any) -> None:
            write(
                "metrics",
                stage="train",
                epoch=trainer.current_epoch,
                values=numbers(trainer.callback_metrics),
            )

        def on_train_batch_end(
            self, trainer: Any, module: Any, outputs: Any, batch: Any, index: int, *rest: Any
        ) -> None:
            write("train batch", epoch=trainer.current_epoch, batch=index, loss=loss_of(outputs))

        def on_validation_end(self, trainer: Any, *rest: Any) -> None:
            write("metrics", stage="validation", values=numbers(trainer.callback_metrics))

        def on_test_end(self, trainer: Any, *rest: Any) -> None:
            write("metrics", stage="test", values=numbers(trainer.callback_metrics))

        def on_predict_end(self, trainer: Any, *rest: Any) -> None:
            write("predicted")

        def on_fit_end(self, trainer: Any, module: Any = None) -> None:
            module = module if module is not None else getattr(trainer, "lightning_module", None)
            write(
                "weights",
                values=numbers(trainer.callback_metrics),
                digest=weights_of(module) if module else None,
            )

    return VerifyRecorder()


def watch(trainer: Any, base: type) -> None:
    """Record what one Trainer does."""
    callbacks = getattr(trainer, "callbacks", None)
    if isinstance(callbacks, list) and not any(type(each).__name__ == "VerifyRecorder" for each in callbacks):
        callbacks.insert(0, watcher(base))
    loggers = getattr(trainer, "loggers", None) or [getattr(trainer, "logger", None)]
    for logger in loggers:
        log = getattr(logger, "log_metrics", None)
        if log is None or hasattr(log, "verified"):
            continue

        def recorded(metrics: Any = None, *rest: Any, _log: Callable[..., Any] = log, **named: Any) -> Any:
            step = named.get("step", rest[0] if rest else None)
            write("logged", step=step, values=numbers(metrics))
            return _log(metrics, *rest, **named)

        recorded.verified = True  # type: ignore[attr-defined]
        try:
            logger.log_metrics = recorded
        except AttributeError:
            continue


def patch(module: types.ModuleType) -> None:
    """Let the Trainer of a module be watched."""
    trainer = getattr(module, "Trainer", None)
    if trainer is None or hasattr(trainer.__init__, "verified"):
        return
    root = module.__name__.rpartition(".trainer.")[0]
    build = trainer.__init__

    def build_and_watch(self: Any, *arguments: Any, **named: Any) -> None:
        build(self, *arguments, **named)
        watch(self, importlib.import_module(root).Callback)

    build_and_watch.verified = True  # type: ignore[attr-defined]
    build_and_watch.__wrapped__ = build  # type: ignore[attr-defined]
    build_and_watch.__signature__ = getattr(build, "__signature__", None)  # type: ignore[attr-defined]
    if build_and_watch.__signature__ is None:  # type: ignore[attr-defined]
        del build_and_watch.__signature__  # type: ignore[attr-defined]
    trainer.__init__ = build_and_watch


def seed(name: str, module: types.ModuleType) -> None:
    """Begin with the same random numbers."""
    if name == "torch":
        module.manual_seed(SEED)
    elif name == "numpy":
        module.random.seed(SEED % 2**32)


class Loaded(importlib.abc.Loader):
    """Runs something after a module was loaded."""

    def __init__(self, loader: Any, then: Callable[[types.ModuleType], None]) -> None:
        """Wrap a loader."""
        self.loader, self.then = loader, then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """Leave it to the loader."""
        return self.loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        """Load, then run."""
        self.loader.exec_module(module)
        self.then(module)

    def __getattr__(self, name: str) -> Any:  # noqa: D105
        return getattr(self.loader, name)


class Finder(importlib.abc.MetaPathFinder):
    """Sees the imports that matter."""

    def __init__(self) -> None:
        """See nothing yet."""
        self.busy = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module as it would be without this finder."""
        if self.busy or name not in ("torch", "numpy", *_TRAINERS, *_ROOTS[:1], "lightning"):
            return None
        self.busy = True
        try:
            if name in ("pytorch_lightning", "lightning") and os.environ.get(COMPAT):
                importlib.import_module("relight.compat").install()
            spec = importlib.util.find_spec(name)
        finally:
            self.busy = False
        if spec is not None and spec.loader is not None:
            if name in _TRAINERS:
                spec.loader = Loaded(spec.loader, patch)
            elif name in ("torch", "numpy"):
                spec.loader = Loaded(spec.loader, lambda module: seed(name, module))
        return spec


def begin() -> None:
    """Watch this process."""
    random.seed(SEED)
    sys.meta_path.insert(0, Finder())


def next_one() -> None:
    """Run the ``sitecustomize`` that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    for entry in sys.path:
        file = os.path.join(entry or ".", "sitecustomize.py")
        if os.path.abspath(entry or ".") != here and os.path.exists(file):
            spec = importlib.util.spec_from_file_location("_next_sitecustomize", file)
            if spec is not None and spec.loader is not None:
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
            return


if __name__ == "sitecustomize":
    begin()
    next_one()

"""Write the generated parts of ``docs/hooks.md``: who has which hook, who goes first, when each is called.

::

    python scripts/hooks_page.py          # write
    python scripts/hooks_page.py --check  # exit 1 if the page is out of date
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

import relight
from relight import LightningDataModule, LightningModule, Trainer
from relight.core.hooks import CheckpointHooks, DataHooks, ModelHooks
from relight.trainer import HOOK_ORDER, Order

PAGE = Path(__file__).resolve().parent.parent / "docs" / "hooks.md"
#: What `LightningModule` itself defines for users to override.
OWN = (
    "configure_callbacks", "configure_optimizers", "training_step", "validation_step", "test_step",
    "predict_step", "backward", "optimizer_step", "optimizer_zero_grad", "lr_scheduler_step",
    "configure_gradient_clipping",
)  # fmt: skip


def defined(*classes: type) -> list[str]:
    """Return the public methods of classes, in the order in which they are written."""
    return [
        name
        for cls in classes
        for name, value in vars(cls).items()
        if not name.startswith("_") and callable(value) and not isinstance(value, (property, type))
    ]


MODULE = [*OWN, *defined(ModelHooks, DataHooks, CheckpointHooks)]
DATA = [*defined(DataHooks), "state_dict", "load_state_dict", "on_exception"]
CALLBACK = defined(relight.Callback)


def table() -> Iterator[str]:
    """Yield who has which hook, and who goes first."""
    yield "| hook | module | data module | callback | first |"
    yield "|---|---|---|---|---|"
    for name in dict.fromkeys([*MODULE, *DATA, *CALLBACK]):
        owners = [name in names for names in (MODULE, DATA, CALLBACK)]
        first = ""
        if owners[0] and owners[2]:
            module_first = HOOK_ORDER.get(name) is Order.MODULE_FIRST
            first = "**module**" if module_first else "callbacks"
        yield f"| `{name}` | {' | '.join('✓' if owned else '' for owned in owners)} | {first} |"


def traced(cls: type, owner: str, hooks: list[str], calls: list[tuple[str, str]]) -> Any:
    """Return an instance of a subclass that notes its hooks."""

    def make(name: str) -> Any:
        original = getattr(cls, name)

        def hook(self: Any, *args: Any, **kwargs: Any) -> Any:
            calls.append((name, owner))
            return original(self, *args, **kwargs)

        hook.__name__ = name
        hook.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return hook

    return type(owner, (cls,), {name: make(name) for name in hooks})()


class Net(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    def validation_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch).sum()

    test_step = validation_step

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        return self.layer(batch)

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


class Data(LightningDataModule):
    def train_dataloader(self) -> Any:
        return DataLoader(torch.ones(1, 2))  # type: ignore[arg-type]

    val_dataloader = test_dataloader = predict_dataloader = train_dataloader

    def state_dict(self) -> dict[str, Any]:
        return {"a": 1}


class Stateful(relight.Callback):
    def state_dict(self) -> dict[str, Any]:
        return {"a": 1}


def runs() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each kind of run and the calls in it, one batch a loader."""
    calls: list[tuple[str, str]] = []
    net, data = traced(Net, "module", MODULE, calls), traced(Data, "data module", DATA, calls)
    callbacks = [traced(Stateful, "callbacks", [n for n in CALLBACK if n != "state_key"], calls)]
    with tempfile.TemporaryDirectory() as directory:
        trainer = Trainer(
            accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
            max_epochs=1, callbacks=callbacks, default_root_dir=directory,
        )  # fmt: skip
        trainer.fit(net, datamodule=data, gradient_clip_val=1.0)
        yield "`fit`, one epoch of one batch", list(calls)
        calls.clear()
        trainer.save_checkpoint(f"{directory}/a.ckpt")
        yield "`save_checkpoint`", list(calls)
        calls.clear()
        trainer.fit(net, datamodule=data, ckpt_path=f"{directory}/a.ckpt")
        yield "`fit(ckpt_path=…)` of a run that is done already", list(calls)
        for entry in ("validate", "test", "predict"):
            calls.clear()
            getattr(trainer, entry)(net, datamodule=data)
            yield f"`{entry}`", list(calls)
        calls.clear()
        net.layer.forward = None
        try:
            trainer.test(net, datamodule=data)
        except TypeError:
            yield "a `test` that fails in `test_step`", list(calls)


def listing(calls: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a line a hook, with its owners in the order in which they were called."""
    width = max(len(name) for name, _ in calls) + 2
    for name, group in groupby(calls, key=lambda call: call[0]):
        yield f"{name:<{width}}{', '.join(owner for _, owner in group)}"


def generate() -> dict[str, str]:
    """Return the generated parts by name."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lists = {title: "\n".join(listing(calls)) for title, calls in runs()}
    finally:
        logging.disable(before)
    sequence = [f"{title}:\n\n```text\n{lines}\n```\n" for title, lines in lists.items()]
    return {"table": "\n".join(table()), "sequence": "\n".join(sequence)}


def page(text: str) -> str:
    """Return the page's text with the generated parts replaced."""
    for name, part in generate().items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{PAGE}: the marks of the part {name!r} are missing")
        text = pattern.sub(lambda _, b=begin, p=part, e=end: f"{b}\n{p.rstrip()}\n{e}", text)
    return text


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    new = page(text)
    if "--check" in sys.argv:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

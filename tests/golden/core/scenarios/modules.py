"""What modules do by themselves, and workers of loaders."""

import argparse
import dataclasses
import inspect
import random

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Random(Dataset):
    """Draws from all random generators in the workers."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        x = torch.rand(4) + random.random() + numpy.random.rand() + index / 24
        return x.float(), index % 2


def _workers(h, **loader):
    h.pl.seed_everything(11, workers=True, verbose=False)
    seen = []

    def training_step(self, batch, batch_idx):
        seen.append(batch[0].double().sum().item().hex())
        return self.loss(batch)

    def validation_step(self, batch, batch_idx):
        seen.append(batch[0].double().sum().item().hex())

    net = h.net(training_step=training_step, validation_step=validation_step)()
    h.trainer(max_epochs=2, log=False).fit(
        net, DataLoader(Random(), 4, shuffle=True, **loader), DataLoader(Random(), 6, **loader)
    )
    h.results["seen"] = seen


def workers(h):
    _workers(h, num_workers=2)


def persistent_workers(h):
    _workers(h, num_workers=2, persistent_workers=True)


def hparams_forms(h):
    pl, found = h.pl, {}

    def note(name, module):
        found[name] = {
            "hparams": {str(k): repr(v) for k, v in dict(module.hparams).items()},
            "initial": {str(k): repr(v) for k, v in dict(module.hparams_initial).items()},
            "type": type(module.hparams).__name__,
            "name": getattr(module, "_hparams_name", None),
            "logged": module._log_hyperparams,
        }

    class All(pl.LightningModule):
        def __init__(self, a, b=2, *rest, c=3, **more):
            super().__init__()
            self.save_hyperparameters()

    class Chosen(pl.LightningModule):
        def __init__(self, a, b=2, c=3):
            super().__init__()
            self.save_hyperparameters("a", "c", logger=False)

    class Ignoring(pl.LightningModule):
        def __init__(self, a, layer=None, loss=None):
            super().__init__()
            self.save_hyperparameters(ignore=["layer", "loss"])

    class IgnoringOne(pl.LightningModule):
        def __init__(self, a, layer=None):
            super().__init__()
            self.save_hyperparameters(ignore="layer")

    class Positional(pl.LightningModule):
        def __init__(self, conf, other=1):
            super().__init__()
            self.save_hyperparameters(conf)

    class Twice(pl.LightningModule):
        def __init__(self, a, b):
            super().__init__()
            self.save_hyperparameters("a")
            self.save_hyperparameters("b")
            self.save_hyperparameters({"late": 5})

    class Changed(pl.LightningModule):
        def __init__(self, a):
            a = a * 2
            super().__init__()
            self.save_hyperparameters()
            self.hparams.a += 1

    class InHelper(pl.LightningModule):
        def __init__(self, a, b):
            super().__init__()
            self._save()

        def _save(self):
            self.save_hyperparameters(frame=inspect.currentframe().f_back)

    class Base(pl.LightningModule):
        def __init__(self, width, depth=1):
            super().__init__()
            self.save_hyperparameters()

    class Derived(Base):
        def __init__(self, name, **kwargs):
            super().__init__(width=7, **kwargs)

    class DerivedSaving(Base):
        def __init__(self, name, width, dropped=0):
            super().__init__(width=width * 2)
            self.save_hyperparameters(ignore=["dropped"])

    @dataclasses.dataclass(eq=False)
    class Data(pl.LightningModule):
        width: int
        name: str = "n"
        made: int = dataclasses.field(init=False, default=0)

        def __post_init__(self):
            super().__init__()
            self.save_hyperparameters()

    class Module(pl.LightningDataModule):
        def __init__(self, size, path="here"):
            super().__init__()
            self.save_hyperparameters(ignore=["path"])

    note("all", All(1, 5, 6, 7, c=4, d=8))
    note("defaults", All("x"))
    note("chosen", Chosen(1, c=5))
    note("ignoring", Ignoring(1, nn.Linear(1, 1), "loss"))
    note("ignoring_one", IgnoringOne(1, nn.Linear(1, 1)))
    note("namespace", Positional(argparse.Namespace(x=1, y=[1, 2])))
    note("dictionary", Positional({"x": 1}, other=3))
    note("twice", Twice(1, 2))
    note("changed", Changed(4))
    note("in_helper", InHelper(1, b=2))
    note("derived", Derived("d", depth=3))
    note("derived_saving", DerivedSaving("d", 4))
    note("dataclass", Data(3))
    note("data_module", Module(5))
    note("nothing", h.net()())
    for bad in (3, "text", [1]):
        try:
            Positional(bad)
            found[f"bad {bad!r}"] = "taken"
        except Exception as error:
            found[f"bad {bad!r}"] = type(error).__name__
    h.results.update(found)
    h.trainer(max_epochs=1, log=False).fit(h.net()(), h.loader(8))


def hparams_logged(h):
    def net(logger):
        class Net(h.net()):
            def __init__(self, width, rate=0.1):
                super().__init__()
                self.save_hyperparameters(logger=logger)

        return Net(3)

    class Data(h.pl.LightningDataModule):
        def __init__(self, size):
            super().__init__()
            self.save_hyperparameters()

        def train_dataloader(self):
            return h.loader(self.hparams.size)

    h.trainer(max_epochs=1).fit(net(True), datamodule=Data(8))
    h.trainer(max_epochs=1).fit(net(False), datamodule=Data(8))
    h.trainer(max_epochs=1).fit(net(False), h.loader(8))


def loading_with_other_arguments(h):
    class Net(h.net()):
        def __init__(self, width=1, options=None, **kwargs):
            super().__init__()
            self.save_hyperparameters()
            self.extra = nn.Linear(1, width)

    trainer = h.trainer(max_epochs=1, log=False)
    trainer.fit(Net(2, options={"a": 1}, more=3), h.loader(8))
    trainer.save_checkpoint(h.dir / "a.ckpt")
    for name, arguments in (
        ("plain", {}), ("other", {"more": 5}), ("open", {"more": 7}), ("loose", {"width": 2, "strict": False}),
    ):  # fmt: skip
        if name == "open":
            with open(h.dir / "a.ckpt", "rb") as file:
                loaded = Net.load_from_checkpoint(file, **arguments)
        else:
            loaded = Net.load_from_checkpoint(h.dir / "a.ckpt", map_location="cpu", **arguments)
        h.results[name] = {k: repr(v) for k, v in dict(loaded.hparams).items()}
    for name, arguments in (("shape", {"width": 3}), ("instance", None)):
        try:
            (loaded if arguments is None else Net).load_from_checkpoint(h.dir / "a.ckpt", **(arguments or {}))
        except Exception as error:
            h.results[name] = type(error).__name__


SCENARIOS = {
    function.__name__: function
    for function in (workers, persistent_workers, hparams_forms, hparams_logged, loading_with_other_arguments)
}

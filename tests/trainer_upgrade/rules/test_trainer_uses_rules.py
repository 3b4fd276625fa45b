"""What is done with a Trainer: entry points, attributes, precision values, the tuner."""

from __future__ import annotations

import pytest

from trainer_upgrade import catalogue, testing

HEAD = "import pytorch_lightning as pl\n\nm = dl = None\n"

REWRITTEN = [
    pytest.param(
        "pl.Trainer().fit(m, train_dataloader=dl)", "pl.Trainer().fit(m, train_dataloaders=dl)", id="fit"
    ),
    pytest.param("pl.Trainer().test(test_dataloaders=dl)", "pl.Trainer().test(dataloaders=dl)", id="test"),
    pytest.param(
        "pl.Trainer().validate(val_dataloaders=dl)", "pl.Trainer().validate(dataloaders=dl)", id="validate"
    ),
    pytest.param(
        "def f(trainer: pl.Trainer):\n    return trainer.running_sanity_check",
        "def f(trainer: pl.Trainer):\n    return trainer.sanity_checking",
        id="a renamed attribute of an annotated parameter",
    ),
    pytest.param(
        "class M(pl.LightningModule):\n    def f(self):\n        return self.trainer.training_type_plugin",
        "class M(pl.LightningModule):\n    def f(self):\n        return self.trainer.strategy",
        id="through the module",
    ),
    pytest.param(
        "class C(pl.Callback):\n    def on_fit_end(self, trainer, pl_module):\n        return trainer.get_model()",
        "class C(pl.Callback):\n    def on_fit_end(self, trainer, pl_module):\n        return trainer.lightning_module",
        id="a method that became a property",
    ),
    pytest.param(
        't = pl.Trainer()\ns = t.lr_schedulers[0]["scheduler"]',
        "t = pl.Trainer()\ns = t.lr_scheduler_configs[0].scheduler",
        id="schedulers are objects",
    ),
    pytest.param(
        "t = pl.Trainer()\nx = 1 + (t.disable_validation)",
        "t = pl.Trainer()\nx = 1 + ((not t.enable_validation))",
        id="an operator gets parentheses",
    ),
    pytest.param(
        't = pl.Trainer()\nif t.precision == "bf16": ...',
        't = pl.Trainer()\nif t.precision in ("bf16-mixed", "bf16-true"): ...',
        id="precision has names",
    ),
    pytest.param(
        "t = pl.Trainer()\nf = t.tuner.lr_find(m, train_dataloader=dl)",
        "t = pl.Trainer()\nf = pl.tuner.Tuner(t).lr_find(m, train_dataloaders=dl, update_attr=False)",
        id="the tuner, which overwrote nothing",
    ),
    pytest.param(
        "t = pl.Trainer(auto_lr_find=True)\nt.fit(m)",
        "t = pl.Trainer()\nt.fit(m)",
        id="a flag that had no effect without tune",
    ),
]


@pytest.mark.parametrize(("before", "after"), REWRITTEN)
def test_rewritten(before: str, after: str) -> None:
    testing.check(HEAD + before + "\n", HEAD + after + "\n", target="lightning")


UNSAFE = [
    pytest.param(
        "t = pl.Trainer()\nx = len(t.gpus)", "t = pl.Trainer()\nx = t.num_devices", id="how many there are"
    ),
    pytest.param(
        "def f(trainer):\n    return trainer.training_type_plugin",
        "def f(trainer):\n    return trainer.strategy",
        id="a name that only Lightning's Trainer had",
    ),
    pytest.param(
        "def f(x):\n    x.fit(m, train_dataloader=dl)",
        "def f(x):\n    x.fit(m, train_dataloaders=dl)",
        id="a keyword that only Lightning's fit had",
    ),
    pytest.param(
        "t = pl.Trainer()\nif t.precision == 16: ...",
        't = pl.Trainer()\nif t.precision in ("16-mixed", "16-true"): ...',
        id="a number, which 1.9 compared in vain",
    ),
    pytest.param(
        "t = pl.Trainer()\nx = t.on_gpu",
        "t = pl.Trainer()\nx = isinstance(t.accelerator, pl.accelerators.CUDAAccelerator)",
        id="a question that a class answers",
    ),
    pytest.param(
        'def f():\n    t = pl.Trainer(auto_lr_find="rate", auto_scale_batch_size=True)\n'
        '    t.tune(m, train_dataloader=dl, lr_find_kwargs={"num_training": 5})\n    t.fit(m, dl)',
        "def f():\n    t = pl.Trainer()\n    tuner = pl.tuner.Tuner(t)\n"
        "    tuner.scale_batch_size(m, train_dataloaders=dl)\n"
        '    tuner.lr_find(m, train_dataloaders=dl, num_training=5, attr_name="rate")\n    t.fit(m, dl)',
        id="tune, in the old order",
    ),
]


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_unsafe(before: str, after: str) -> None:
    assert testing.upgrade(HEAD + before + "\n", target="lightning") == HEAD + before + "\n"
    testing.check(HEAD + before + "\n", HEAD + after + "\n", target="lightning", unsafe=True)


REPORTED = [
    pytest.param("t = pl.Trainer()\nt.tune(m)", "lightning", ["TRU404"], id="tune without flags in sight"),
    pytest.param(
        "t = pl.Trainer()\nt.max_epochs = 3", "lightning", ["TRU496"], id="an attribute that is read-only now"
    ),
    pytest.param("t = pl.Trainer()\nt.gpus = 3", "lightning", ["TRU401"], id="assigning what is gone"),
]


@pytest.mark.parametrize(("source", "target", "codes"), REPORTED)
def test_reported_and_left(source: str, target: str, codes: list[str]) -> None:
    testing.check_noop(HEAD + source + "\n", target=target, codes=codes)


def test_the_tuner_on_relight() -> None:
    before = (
        "from pytorch_lightning import Trainer\n\n\ndef f(m, dm):\n"
        '    t = Trainer(auto_scale_batch_size="binsearch", auto_lr_find=True)\n'
        "    t.tune(m, datamodule=dm)\n    t.fit(m, datamodule=dm)\n\n\n"
        "def g(m):\n    t = Trainer()\n    return t.tuner.lr_find(m)\n"
    )
    after = (
        "from relight import Trainer\nfrom relight.tuner import Tuner\n\n\ndef f(m, dm):\n"
        "    t = Trainer()\n    tuner = Tuner(t)\n"
        '    tuner.scale_batch_size(m, datamodule=dm, mode="binsearch")\n'
        "    tuner.lr_find(m, datamodule=dm)\n    t.fit(m, datamodule=dm)\n\n\n"
        "def g(m):\n    t = Trainer()\n    return Tuner(t).lr_find(m, update_attr=False)\n"
    )
    testing.check(before, after, target="relight", unsafe=True)


UNTOUCHED = [
    pytest.param("def f(x):\n    return x.running_sanity_check", id="something of unknown type"),
    pytest.param("class T:\n    gpus = 1\n\nprint(T().gpus)", id="a class of the user's own"),
    pytest.param(
        "class T(pl.Trainer):\n    def __init__(self):\n        super().__init__()\n        self.gpus = 2\n\n"
        "print(T().gpus)",
        id="an attribute that the subclass has itself",
    ),
    pytest.param(
        "class M(pl.LightningModule):\n    def f(self):\n        return self.lr_schedulers()",
        id="the module's method of that name",
    ),
    pytest.param(
        "t = pl.Trainer()\nprint(t.global_step, t.current_epoch, t.logger)", id="attributes of today"
    ),
    pytest.param(
        "from transformers import Trainer\nTrainer().predict(test_dataset=dl)", id="another library"
    ),
    pytest.param("import keras\nkeras.Model().fit(m, train_dataloaders=dl)", id="another fit"),
    pytest.param("t = pl.Trainer()\nif t.precision == '16-mixed': ...", id="a precision of today"),
    pytest.param("t = pl.Trainer()\nt.fit(m, dl)\nt.test(m, dl)", id="positions did not change"),
]


@pytest.mark.parametrize("source", UNTOUCHED)
def test_untouched(source: str) -> None:
    testing.check_noop(HEAD + source + "\n", target="lightning")


def test_on_relight_the_strategy_is_fabrics() -> None:
    head = "import {root} as pl\n\n\nclass M(pl.LightningModule):\n    def f(self):\n"
    body = (
        "        x = self.trainer.training_type_plugin.reduce(1.0)\n"
        "        return self.trainer.training_type_plugin.broadcast(x)\n"
    )
    after = body.replace("training_type_plugin.reduce", "strategy.all_reduce").replace(
        "training_type_plugin", "strategy"
    )
    testing.check(head.format(root="pytorch_lightning") + body, head.format(root="relight") + after)


def test_what_fabrics_strategy_lacks_is_reported() -> None:
    testing.check_noop(
        "import relight as pl\n\n\nclass M(pl.LightningModule):\n    def f(self):\n"
        "        return self.trainer.training_type_plugin.model\n",
        codes=[catalogue.code(catalogue.Area.TRAINER_ATTRIBUTE, "Trainer", "training_type_plugin")],
    )

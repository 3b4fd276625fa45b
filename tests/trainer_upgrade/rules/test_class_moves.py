"""Hooks that moved, state, hyperparameters, and other things of classes."""

from __future__ import annotations

import textwrap

import pytest

from trainer_upgrade import testing
from trainer_upgrade.catalogue.entry import Applicability

MODULE = "import torch\nimport pytorch_lightning as pl\n\nclass Net(pl.LightningModule):\n"
CALLBACK = "import pytorch_lightning as pl\n\nclass Log(pl.Callback):\n"
DATA = "import pytorch_lightning as pl\n\nclass Data(pl.LightningDataModule):\n"


def body(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n") + "\n", "    ")


SAFE = {
    "on_batch_end of a callback": (
        CALLBACK,
        "def on_batch_end(self, trainer, pl_module):\n    print()",
        "def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):\n    print()",
    ),
    "it joins the hook that is there, before it": (
        CALLBACK,
        "def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):\n    print(2)\n\n"
        "def on_batch_end(self, trainer, pl_module):\n    print(1)",
        "def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):\n"
        "    self._on_batch_end(trainer, pl_module)\n    print(2)\n\n"
        "def _on_batch_end(self, trainer, pl_module):\n    print(1)",
    ),
    "an interrupt is an exception": (
        CALLBACK,
        "def on_keyboard_interrupt(self, trainer, pl_module):\n    print()",
        "def on_exception(self, trainer, pl_module, exception):\n"
        "    if not isinstance(exception, KeyboardInterrupt):\n        return\n    print()",
    ),
    "an interrupt beside other exceptions": (
        CALLBACK,
        "def on_exception(self, trainer, pl_module, exception):\n    print(exception)\n\n"
        "def on_keyboard_interrupt(self, trainer, pl_module):\n    print()",
        "def on_exception(self, trainer, pl_module, exception):\n"
        "    if isinstance(exception, KeyboardInterrupt):\n"
        "        self._on_keyboard_interrupt(trainer, pl_module)\n    print(exception)\n\n"
        "def _on_keyboard_interrupt(self, trainer, pl_module):\n    print()",
    ),
    "what ran before a loader was made": (
        DATA,
        "def on_train_dataloader(self):\n    print()\n\ndef train_dataloader(self):\n    return self.make()",
        "def _on_train_dataloader(self):\n    print()\n\ndef train_dataloader(self):\n"
        "    self._on_train_dataloader()\n    return self.make()",
    ),
    "a callback's state": (
        CALLBACK,
        'def on_save_checkpoint(self, trainer, pl_module, checkpoint):\n    return {"n": self.n}\n\n'
        'def on_load_checkpoint(self, trainer, pl_module, callback_state):\n    self.n = callback_state["n"]',
        'def state_dict(self):\n    return {"n": self.n}\n\n'
        'def load_state_dict(self, state_dict):\n    self.n = state_dict["n"]',
    ),
    "a callback's state up to 1.2": (
        CALLBACK,
        'def on_load_checkpoint(self, checkpointed_state):\n    self.n = checkpointed_state["n"]',
        'def load_state_dict(self, state_dict):\n    self.n = state_dict["n"]',
    ),
    "hyperparameters": (
        MODULE,
        "def __init__(self, hparams):\n    super().__init__()\n    self.hparams = hparams  # kept",
        "def __init__(self, hparams):\n    super().__init__()\n    "
        "self.save_hyperparameters(hparams)  # kept",
    ),
    "hyperparameters of several lines": (
        MODULE,
        "def __init__(self, **kw):\n    super().__init__()\n    self.hparams = (\n        kw\n    )",
        "def __init__(self, **kw):\n    super().__init__()\n    self.save_hyperparameters(\n     "
        "   kw\n    )",
    ),
    "loading through an instance": (
        MODULE,
        "def reload(self, path):\n    return self.load_from_checkpoint(path)",
        "def reload(self, path):\n    return type(self).load_from_checkpoint(path)",
    ),
}


@pytest.mark.parametrize(("head", "before", "after"), SAFE.values(), ids=SAFE)
def test_safe(head: str, before: str, after: str) -> None:
    testing.check(head + body(before), head + body(after), target="lightning")


UNSAFE = {
    "on_epoch_end ran in every stage": (
        MODULE,
        "def on_epoch_end(self):\n    print()",
        "def on_train_epoch_end(self):\n    print()",
    ),
    "two old hooks for one new one": (
        MODULE,
        "def on_epoch_end(self):\n    print(2)\n\ndef training_epoch_end(self, outputs):\n    print(1)",
        "def on_train_epoch_end(self):\n    self._training_epoch_end()\n    print(2)\n\n"
        "def _training_epoch_end(self):\n    print(1)",
    ),
    "two old hooks for one new one, the other way round": (
        MODULE,
        "def training_epoch_end(self, outputs):\n    print(1)\n\ndef on_epoch_end(self):\n    print(2)",
        "def on_train_epoch_end(self):\n    print(1)\n    self._on_epoch_end()\n\n"
        "def _on_epoch_end(self):\n    print(2)",
    ),
    "the pretrain routine": (
        CALLBACK,
        "def on_pretrain_routine_start(self, trainer, pl_module):\n    "
        "super().on_pretrain_routine_start(trainer, pl_module)",
        "def on_fit_start(self, trainer, pl_module):\n    super().on_fit_start(trainer, pl_module)",
    ),
    "on_init_end": (
        CALLBACK,
        "def on_init_end(self, trainer):\n    print(trainer)",
        "def setup(self, trainer, pl_module, stage):\n    print(trainer)",
    ),
    "configure_sharded_model": (
        MODULE,
        "def configure_sharded_model(self):\n    self.net = None",
        "def configure_model(self):\n    self.net = None",
    ),
    "a data module's state": (
        DATA,
        'def on_save_checkpoint(self, checkpoint):\n    checkpoint["n"] = self.n\n\n'
        'def on_load_checkpoint(self, checkpoint):\n    self.n = checkpoint["n"]',
        'def state_dict(self):\n    checkpoint = {}\n    checkpoint["n"] = self.n\n    return checkpoint\n\n'
        'def load_state_dict(self, state_dict):\n    self.n = state_dict["n"]',
    ),
    "a step-end hook that gives the loss": (
        MODULE,
        "def training_step(self, batch, batch_idx):\n    return self.net(batch)\n\n"
        "def training_step_end(self, out):\n    return out.mean()",
        "def training_step(self, batch, batch_idx):\n    return self._training_step_end(self.net(batch))\n\n"
        "def _training_step_end(self, out):\n    return out.mean()",
    ),
    "a step-end hook that only looks": (
        MODULE,
        "def test_step(self, batch, batch_idx):\n    return batch, 1\n\ndef test_step_end(self, "
        "out):\n    print(out)",
        "def test_step(self, batch, batch_idx):\n    output = batch, 1\n    self._test_step_end(output)\n"
        "    return output\n\ndef _test_step_end(self, out):\n    print(out)",
    ),
    "a step-end hook for a tuple": (
        MODULE,
        "def test_step(self, batch, batch_idx):\n    return batch, 1\n\ndef test_step_end(self, "
        "out):\n    return out",
        "def test_step(self, batch, batch_idx):\n    return self._test_step_end((batch, 1))\n\n"
        "def _test_step_end(self, out):\n    return out",
    ),
    "logs of 0.x with one key for both": (
        MODULE,
        "def training_step(self, batch, batch_idx):\n    loss = self.f(batch)\n"
        '    return {"loss": loss, "log": {"a": loss}, "progress_bar": {"a": loss}}',
        "def training_step(self, batch, batch_idx):\n    loss = self.f(batch)\n"
        '    self.log("a", loss, prog_bar=True)\n    return {"loss": loss}',
    ),
    "a hook under the name of 0.x": (
        MODULE,
        "def test_end(self, outputs):\n    print()",
        "def on_test_epoch_end(self):\n    print()",
    ),
    "outputs that never come": (
        CALLBACK,
        "def on_test_epoch_end(self, trainer, pl_module, outputs):\n    print(outputs)",
        "def on_test_epoch_start(self, trainer, pl_module):\n    self._test_outputs = []\n\n"
        "def on_test_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):\n"
        "    if outputs is not None:\n        self._test_outputs.append(outputs)\n\n"
        "def on_test_epoch_end(self, trainer, pl_module):\n    outputs = self._test_outputs\n    "
        "print(outputs)\n"
        "    self._test_outputs = []",
    ),
}


@pytest.mark.parametrize(("head", "before", "after"), UNSAFE.values(), ids=UNSAFE)
def test_unsafe(head: str, before: str, after: str) -> None:
    testing.check(head + body(before), head + body(after), target="lightning", unsafe=True)
    found = testing.findings(head + body(before), target="lightning")
    assert Applicability.UNSAFE in {each.applicability for each in found}


REPORTED = {
    "on_init_start": (CALLBACK + body("def on_init_start(self, trainer):\n    print()"), ["TRU260"], True),
    "a state that needs the trainer": (
        CALLBACK
        + body(
            "def on_save_checkpoint(self, trainer, pl_module, checkpoint):\n    return {'e': "
            "trainer.current_epoch}"
        ),
        ["TRU274"],
        True,
    ),
    "a loaded checkpoint that is thrown away": (
        MODULE + body("def f(self, path):\n    self.load_from_checkpoint(path)"),
        ["TRU233"],
        True,
    ),
    "a hook before a loader that is not there": (
        MODULE + body("def on_val_dataloader(self):\n    print()"),
        ["TRU231"],
        True,
    ),
    "truncated backpropagation": (
        MODULE
        + body(
            "truncated_bptt_steps = 2\n\ndef training_step(self, batch, batch_idx, hiddens):\n    return 1"
        ),
        ["TRU212", "TRU212"],
        True,
    ),
    "gradients in a test step": (
        MODULE + body("@torch.enable_grad()\ndef test_step(self, batch, batch_idx):\n    return 1"),
        ["TRU185"],
        False,
    ),
    "get_progress_bar_dict": (
        MODULE + body("def get_progress_bar_dict(self):\n    return {}"),
        ["TRU229"],
        True,
    ),
}


@pytest.mark.parametrize(("source", "codes", "silent"), REPORTED.values(), ids=REPORTED)
def test_reported_and_left_alone(source: str, codes: list[str], silent: bool) -> None:
    found = testing.check_noop(source, target="lightning", codes=codes)
    assert any(each.silent for each in found) == silent


NOOPS = {
    "hooks of a class of another library": (
        "import pytorch_lightning\nfrom keras.callbacks import Callback\n\nclass Log(Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        print()\n"
    ),
    "Hugging Face's callback": (
        "import pytorch_lightning\nfrom transformers import TrainerCallback\n\nclass Log(TrainerCallback):\n"
        "    def on_epoch_end(self, args, state, control):\n        print()\n"
    ),
    "a module's own checkpoint hooks": MODULE
    + body(
        "def on_save_checkpoint(self, checkpoint):\n    checkpoint['n'] = 1\n\n"
        "def on_load_checkpoint(self, checkpoint):\n    print(checkpoint['n'])"
    ),
    "a callback that adds to the checkpoint": CALLBACK
    + body(
        "def on_save_checkpoint(self, trainer, pl_module, checkpoint):\n    checkpoint['n'] = 1\n\n"
        "def on_load_checkpoint(self, trainer, pl_module, checkpoint):\n    print(checkpoint['n'])"
    ),
    "a method of the user's own called test_end": MODULE
    + body("def test_end(self, x):\n    print(x)\n\ndef on_test_epoch_end(self):\n    self.test_end(1)"),
    "hyperparameters of a plain class": (
        "import pytorch_lightning\n\nclass Store:\n    def __init__(self, hparams):\n        "
        "self.hparams = hparams\n"
    ),
    "a property of the user's own": MODULE
    + body("@property\ndef hparams(self):\n    return 1\n\ndef f(self, h):\n    self.x = h"),
    "another object's hyperparameters": MODULE + body("def f(self, other, h):\n    other.hparams = h"),
    "loading through the class": MODULE
    + body("@classmethod\ndef f(cls, path):\n    return cls.load_from_checkpoint(path)")
    + "\nnet = Net.load_from_checkpoint('x')\n",
    "a dict with a key called log that is no log": MODULE
    + body("def predict_step(self, batch, batch_idx):\n    return {'log': 1}"),
    "gradients where inference mode is off": MODULE
    + body("@torch.enable_grad()\ndef test_step(self, batch, batch_idx):\n    return 1")
    + "\noptions = {'inference_mode': False}\n",
    "a callback that reads metrics no module logs at its end": CALLBACK
    + body("def on_train_epoch_end(self, trainer, pl_module):\n    print(trainer.callback_metrics['x'])"),
}


@pytest.mark.parametrize("source", NOOPS.values(), ids=NOOPS)
def test_left_alone(source: str) -> None:
    testing.check_noop(source, target="lightning")


WATCH = """
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def on_train_epoch_end(self):
        self.log("mean", self.mean)

class Watch(pl.Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        print(trainer.callback_metrics["mean"])
"""


def test_a_callback_runs_before_the_module_on_lightning_only() -> None:
    (found,) = testing.check_noop(WATCH, target="lightning", codes=["TRU272"])
    assert found.silent
    assert "before the module's" in found.message
    assert "TRU272" not in {each.code for each in testing.findings(WATCH, target="relight")}


def test_a_metric_that_is_logged_elsewhere_is_no_matter() -> None:
    testing.check_noop(WATCH.replace('callback_metrics["mean"]', 'callback_metrics["x"]'), target="lightning")

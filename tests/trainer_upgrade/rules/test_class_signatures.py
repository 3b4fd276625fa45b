"""Signatures of hooks: what 2.x no longer passes, and what it passes that old signatures lack."""

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


ONE = "\ndef configure_optimizers(self):\n    return torch.optim.SGD(self.parameters(), 0.1)\n"

MODULE_CASES = {
    "the index of on_before_optimizer_step": (
        "def on_before_optimizer_step(self, optimizer, optimizer_idx):\n    print(optimizer)",
        "def on_before_optimizer_step(self, optimizer):\n    print(optimizer)",
    ),
    "whatever the index is called": (
        "def optimizer_zero_grad(self, epoch, step, opt, opt_idx):\n    opt.zero_grad()",
        "def optimizer_zero_grad(self, epoch, step, opt):\n    opt.zero_grad()",
    ),
    "the middle one of lr_scheduler_step, and in super()": (
        "def lr_scheduler_step(self, scheduler, optimizer_idx, metric):\n"
        "    super().lr_scheduler_step(scheduler, optimizer_idx, metric)",
        "def lr_scheduler_step(self, scheduler, metric):\n    super().lr_scheduler_step(scheduler, metric)",
    ),
    "keywords in super()": (
        "def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, **kwargs):\n"
        "    super().optimizer_step(epoch=epoch, batch_idx=batch_idx, optimizer=optimizer,\n"
        "                           optimizer_idx=optimizer_idx, "
        "optimizer_closure=optimizer_closure, **kwargs)",
        "def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure, **kwargs):\n"
        "    super().optimizer_step(epoch=epoch, batch_idx=batch_idx, optimizer=optimizer, "
        "optimizer_closure=optimizer_closure, **kwargs)",
    ),
    "the signature of 0.7": (
        "def optimizer_step(self, epoch, batch_nb, optimizer, optimizer_i, second_order_closure=None):\n"
        "    optimizer.step(second_order_closure)",
        "def optimizer_step(self, epoch, batch_nb, optimizer, second_order_closure=None):\n"
        "    optimizer.step(second_order_closure)",
    ),
    "the index is 0 with one optimizer": (
        "def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):\n    print(optimizer_idx)"
        + ONE,
        "def optimizer_zero_grad(self, epoch, batch_idx, optimizer):\n    optimizer_idx = 0\n    "
        "print(optimizer_idx)" + ONE,
    ),
    "using_lbfgs is a property of the optimizer": (
        "def optimizer_step(self, epoch, batch_idx, opt, opt_idx, closure, on_tpu=False, "
        "using_lbfgs=False):\n"
        "    print(using_lbfgs)",
        "def optimizer_step(self, epoch, batch_idx, opt, closure):\n"
        "    using_lbfgs = isinstance(opt, torch.optim.LBFGS)\n    print(using_lbfgs)",
    ),
    "backward keeps what is the user's": (
        "def backward(self, loss, optimizer, optimizer_idx, *args):\n    loss.backward(*args)",
        "def backward(self, loss, *args):\n    loss.backward(*args)",
    ),
    "a training hook's loader, which was always 0": (
        "def on_train_batch_start(self, batch, batch_idx, dataloader_idx):\n    print(dataloader_idx)",
        "def on_train_batch_start(self, batch, batch_idx):\n    dataloader_idx = 0\n    "
        "print(dataloader_idx)",
    ),
    "a step's loader gets a default": (
        "def test_step(self, batch, batch_idx, dataloader_idx: int):\n    print(batch)",
        "def test_step(self, batch, batch_idx, dataloader_idx: int = 0):\n    print(batch)",
    ),
    "no outputs in 0.9": (
        "def on_train_batch_end(self, batch, batch_idx, dataloader_idx):\n    print(batch)",
        "def on_train_batch_end(self, outputs, batch, batch_idx):\n    print(batch)",
    ),
    "transfer_batch_to_device and its super()": (
        "def transfer_batch_to_device(self, batch, device):\n"
        "    return super().transfer_batch_to_device(batch, device)",
        "def transfer_batch_to_device(self, batch, device, dataloader_idx):\n"
        "    return super().transfer_batch_to_device(batch, device, dataloader_idx)",
    ),
    "transfer_batch_to_device with a default": (
        "def transfer_batch_to_device(self, batch, device=None):\n    return batch",
        "def transfer_batch_to_device(self, batch, device=None, dataloader_idx=0):\n    return batch",
    ),
    "setup without a stage": (
        "def setup(self):\n    self.x = 1",
        "def setup(self, stage=None):\n    self.x = 1",
    ),
    "a predict hook of 1.x whose results are not read": (
        "def on_predict_epoch_end(self, results):\n    print()",
        "def on_predict_epoch_end(self):\n    print()",
    ),
    "an index that 1.x never passed": (
        "def training_step(self, batch, batch_idx, optimizer_idx=None):\n    return "
        "self.f(batch, optimizer_idx)" + ONE,
        "def training_step(self, batch, batch_idx):\n    optimizer_idx = None\n    return "
        "self.f(batch, optimizer_idx)" + ONE,
    ),
}


@pytest.mark.parametrize(("before", "after"), MODULE_CASES.values(), ids=MODULE_CASES)
def test_module_hooks(before: str, after: str) -> None:
    testing.check(MODULE + body(before), MODULE + body(after), target="lightning")


CALLBACK_CASES = {
    "the loader of a training hook": (
        "def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, "
        "dataloader_idx):\n    print()",
        "def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):\n    print()",
    ),
    "unused=0 of 1.5, and in super()": (
        "def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, unused=0):\n"
        "    super().on_train_batch_start(trainer, pl_module, batch, batch_idx, unused)",
        "def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):\n"
        "    super().on_train_batch_start(trainer, pl_module, batch, batch_idx)",
    ),
    "the loader of a validation hook": (
        "def on_validation_batch_start(self, trainer, pl_module, batch, batch_idx, "
        "dataloader_idx):\n    print()",
        "def on_validation_batch_start(self, trainer, pl_module, batch, batch_idx, "
        "dataloader_idx=0):\n    print()",
    ),
    "the index": (
        "def on_before_optimizer_step(self, trainer, pl_module, optimizer, opt_idx):\n    print()",
        "def on_before_optimizer_step(self, trainer, pl_module, optimizer):\n    print()",
    ),
    "hooks of 0.7 with neither batch nor outputs": (
        "def on_validation_batch_end(self, trainer, pl_module):\n    print()",
        "def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, "
        "dataloader_idx=0):\n"
        "    print()",
    ),
    "setup of 0.8": (
        "def setup(self, trainer, stage):\n    print(stage)",
        "def setup(self, trainer, pl_module, stage):\n    print(stage)",
    ),
    "the stage has another name": (
        "def setup(self, trainer, pl_module, mode=None):\n    print(mode)",
        "def setup(self, trainer, pl_module, stage=None):\n    print(stage)",
    ),
    "on_fit_start of 0.8": (
        "def on_fit_start(self, trainer):\n    print()",
        "def on_fit_start(self, trainer, pl_module):\n    print()",
    ),
    "outputs of an epoch that are not read": (
        "def on_train_epoch_end(self, trainer, pl_module, outputs):\n    print()",
        "def on_train_epoch_end(self, trainer, pl_module):\n    print()",
    ),
}


@pytest.mark.parametrize(("before", "after"), CALLBACK_CASES.values(), ids=CALLBACK_CASES)
def test_callback_hooks(before: str, after: str) -> None:
    testing.check(CALLBACK + body(before), CALLBACK + body(after), target="lightning")


def test_setup_called_by_keyword_follows_the_rename() -> None:
    testing.check(
        DATA + "    def setup(self, mode=None):\n        print(mode)\n\ndata = Data()\n"
        "data.setup(mode='fit')\ndata.setup()\n",
        DATA
        + "    def setup(self, stage=None):\n        print(stage)\n\ndata = Data()\ndata.setup(stage='fit')\n"
        "data.setup()\n",
        target="lightning",
    )


def test_a_data_module_without_super_init() -> None:
    testing.check(
        DATA + '    def __init__(self, n):\n        """Say it."""\n        self.n = n\n',
        DATA + '    def __init__(self, n):\n        """Say it."""\n        super().__init__()\n       '
        " self.n = n\n",
        target="lightning",
        codes=["TRU240"],
    )


REPORTED = {
    "an index that is read, with an unknown number of optimizers": (
        MODULE
        + body("def optimizer_zero_grad(self, e, b, optimizer, optimizer_idx):\n    print(optimizer_idx)"),
        "TRU217",
    ),
    "on_tpu that is read": (
        MODULE
        + body(
            "def optimizer_step(self, e, b, opt, opt_idx, closure, on_tpu=False, using_lbfgs=False):\n"
            "    print(on_tpu)"
        ),
        "TRU213",
    ),
    "a callback that reads the index": (
        CALLBACK
        + body(
            "def on_before_optimizer_step(self, trainer, pl_module, optimizer, opt_idx):\n    print(opt_idx)"
        ),
        "TRU276",
    ),
    "two optimizers": (
        MODULE
        + body(
            "def training_step(self, batch, batch_idx, optimizer_idx):\n    return self.f(batch)\n\n"
            "def configure_optimizers(self):\n    return self.a, self.b"
        ),
        "TRU214",
    ),
    "a list of optimizers made at run time": (
        MODULE
        + body(
            "def training_step(self, batch, batch_idx, optimizer_idx=0):\n    return self.f(batch)\n\n"
            "def configure_optimizers(self):\n    return [torch.optim.SGD(p, 0.1) for p in self.parts]"
        ),
        "TRU214",
    ),
    "results of a predict epoch that are read": (
        MODULE + body("def on_predict_epoch_end(self, results):\n    print(results)"),
        "TRU224",
    ),
}


@pytest.mark.parametrize(("source", "code"), REPORTED.values(), ids=REPORTED)
def test_reported_and_left_alone(source: str, code: str) -> None:
    (found,) = testing.check_noop(source, target="lightning", codes=[code])
    assert found.applicability is Applicability.MANUAL


MANUAL_MODE = """
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        a, b = self.optimizers()
        {call}
"""
CALLS = {
    "an optimizer for manual_backward": (
        "self.manual_backward(self.f(), a)",
        "self.manual_backward(self.f())",
    ),
    "by keyword": ("self.manual_backward(self.f(), optimizer=b)", "self.manual_backward(self.f())"),
    "an index for toggle_optimizer": ("self.toggle_optimizer(a, 0)", "self.toggle_optimizer(a)"),
    "the index of untoggle_optimizer, by the order of the optimizers": (
        "self.untoggle_optimizer(1)",
        "self.untoggle_optimizer(b)",
    ),
    "a gradient for manual_backward": (
        "self.manual_backward(self.f(), grad)",
        "self.manual_backward(self.f(), grad)",
    ),
    "nothing to do": ("self.untoggle_optimizer(a)", "self.untoggle_optimizer(a)"),
    "another object's": (
        "self.engine.manual_backward(self.f(), a)",
        "self.engine.manual_backward(self.f(), a)",
    ),
}


@pytest.mark.parametrize(("before", "after"), CALLS.values(), ids=CALLS)
def test_calls_of_manual_optimization(before: str, after: str) -> None:
    testing.check(MANUAL_MODE.format(call=before), MANUAL_MODE.format(call=after), target="lightning")


NOOPS = {
    "signatures of 2.x": MODULE
    + body("""
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)

    def backward(self, loss, *args, **kwargs):
        loss.backward()

    def lr_scheduler_step(self, scheduler, metric):
        scheduler.step()

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        pass

    def on_train_batch_end(self, outputs, batch, batch_idx):
        pass

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        pass

    def setup(self, stage):
        pass

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        return batch
    """),
    "everything by star": MODULE + body("def optimizer_step(self, *args, **kwargs):\n    pass"),
    "a class of another library": (
        "import lightning\nfrom torch.optim import Optimizer\n\nclass Mine(Optimizer):\n"
        "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx):\n        pass\n"
    ),
    "a plain class": "import pytorch_lightning\n\nclass Plain:\n    def setup(self):\n        pass\n",
    "Hugging Face": (
        "import pytorch_lightning\nfrom transformers import TrainerCallback\n\nclass Log(TrainerCallback):\n"
        "    def on_train_batch_end(self, a, b, c, d, e, f):\n        pass\n"
    ),
    "a static method": MODULE + body("@staticmethod\ndef setup():\n    pass"),
    "callback hooks of 2.x": CALLBACK
    + body("""
    def setup(self, trainer, pl_module, stage):
        pass

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        pass

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        pass
    """),
    "a data module that calls its base": DATA
    + body("def __init__(self):\n    super().__init__()\n    self.n = 1"),
    "a user's own argument behind the loader": MODULE
    + body("def validation_step(self, batch, batch_idx, dataloader_idx, extra):\n    pass"),
}


@pytest.mark.parametrize("source", NOOPS.values(), ids=NOOPS)
def test_left_alone(source: str) -> None:
    testing.check_noop(source, target="lightning")


DOUBTFUL = {
    "a decorator around a changed signature": (
        MODULE
        + body("@timed\ndef on_before_optimizer_step(self, optimizer, optimizer_idx):\n    print(optimizer)"),
        "`@timed` may count on the old signature",
    ),
    "a decorator around a signature that lacks something": (
        DATA + body("@timed\ndef setup(self):\n    print()"),
        "`@timed` may count on the old signature",
    ),
    "a second definition": (
        CALLBACK + body("def on_fit_start(self, trainer):\n    print()\n") * 2,
        "`on_fit_start` more than once",
    ),
}


@pytest.mark.parametrize(("source", "message"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_a_changed_signature_that_something_else_may_count_on_is_unsafe(source: str, message: str) -> None:
    found = [each for each in testing.findings(source, target="lightning") if message in each.message]
    assert [each.applicability for each in found] == [Applicability.UNSAFE]


def test_decorators_that_pass_everything_on_are_no_doubt() -> None:
    source = MODULE + body(
        "@torch.no_grad()\ndef on_before_optimizer_step(self, optimizer, optimizer_idx):\n    print(optimizer)"
    )
    assert [each.applicability for each in testing.findings(source)] == [Applicability.SAFE] * 2

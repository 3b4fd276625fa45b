"""Several optimizers and truncated backpropagation: written out by hand, or kept on compat."""

from __future__ import annotations

import pytest
from optimizer_scripts import OPTIMIZER_SCRIPTS

from trainer_upgrade import testing

HEAD = "import pytorch_lightning as pl\nimport torch\n\n\n"
GAN = """\
class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.gen = torch.nn.Linear(2, 2)

    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            return self.gen(batch).mean()
        return None

    def configure_optimizers(self):
        return [torch.optim.SGD(self.gen.parameters(), 1.0), torch.optim.SGD(self.gen.parameters(), 2.0)]
"""
BY_HAND = """\
class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.gen = torch.nn.Linear(2, 2)

    def training_step(self, batch, batch_idx):
        for optimizer_idx, optimizer in enumerate(self.optimizers()):
            self.toggle_optimizer(optimizer)
            output = self._training_step(batch, batch_idx, optimizer_idx)
            loss = output["loss"] if isinstance(output, dict) else output
            optimizer.zero_grad()
            if loss is not None:
                self.manual_backward(loss)
{clip}            optimizer.step()
            self.untoggle_optimizer(optimizer)

    def _training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            return self.gen(batch).mean()
        return None

    def configure_optimizers(self):
        return [torch.optim.SGD(self.gen.parameters(), 1.0), torch.optim.SGD(self.gen.parameters(), 2.0)]
"""
CLIP = '            self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")\n'


@pytest.mark.parametrize("target", ["lightning", "relight"])
def test_each_optimizer_in_turn(target: str) -> None:
    head = HEAD.replace("pytorch_lightning", "relight") if target == "relight" else HEAD
    testing.check(HEAD + GAN, head + BY_HAND.format(clip=""), target=target, unsafe=True)


@pytest.mark.parametrize("target", ["lightning", "relight"])
def test_clipping_moves_from_the_trainer_of_another_file(target: str) -> None:
    files = {
        "gan.py": HEAD + GAN,
        "run.py": "import pytorch_lightning as pl\nfrom gan import Gan\n\n"
        "trainer = pl.Trainer(max_epochs=3, gradient_clip_val=0.5)\ntrainer.fit(Gan())\n",
    }
    after = testing.upgrade_files(files, target=target, unsafe=True)
    root = "relight" if target == "relight" else "pytorch_lightning"
    assert after["gan.py"] == HEAD.replace("pytorch_lightning", root) + BY_HAND.format(clip=CLIP)
    assert "pl.Trainer(max_epochs=3)\ntrainer.fit(Gan())\n" in after["run.py"]


def test_safe_fixes_leave_it_to_compat_for_relight() -> None:
    after = (HEAD + GAN).replace("import pytorch_lightning", "import relight")
    after = after.replace("pl.LightningModule", "pl.compat.LightningModule")
    testing.check(HEAD + GAN, after)


def test_names_imported_one_by_one_come_from_compat() -> None:
    before = """
    from pytorch_lightning import LightningModule, Trainer, seed_everything

    class Net(LightningModule):
        def training_step(self, batch, batch_idx, optimizer_idx):
            return self.losses(batch)[optimizer_idx]

    Trainer(max_epochs=1).fit(Net())
    """
    after = """
    from relight.compat import LightningModule, Trainer
    from relight import seed_everything

    class Net(LightningModule):
        def training_step(self, batch, batch_idx, optimizer_idx):
            return self.losses(batch)[optimizer_idx]

    Trainer(max_epochs=1).fit(Net())
    """
    testing.check(before, after, unsafe=True)


def test_one_optimizer_needs_no_compat() -> None:
    before = """
    from pytorch_lightning import LightningModule

    class Net(LightningModule):
        def training_step(self, batch, batch_idx):
            return batch.mean()
    """
    testing.check(before, before.replace("pytorch_lightning", "relight"))


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            "    def optimizer_step(self, epoch, batch_idx, optimizer, *a, **k):\n        pass\n",
            "optimizer_step",
        ),
        ("    def training_epoch_end(self, outputs):\n        print(outputs)\n", "training_epoch_end"),
        ("    def on_train_batch_end(self, outputs, *a):\n        print(outputs)\n", "outputs"),
        (
            "class Sub(Gan):\n    def training_step(self, b, i, optimizer_idx):\n        return b\n",
            "another class",
        ),
        ("def run(c):\n    pl.Trainer(gradient_clip_val=c.clip)\n", "gradient_clip_val"),
        ("def run(c):\n    c['accumulate_grad_batches'] = 3\n", "accumulate_grad_batches"),
        ("pl.Trainer(gradient_clip_val=1.0, precision=16)\n", "scaler"),
        ("pl.Trainer(gradient_clip_val=1.0)\npl.Trainer(gradient_clip_val=2.0)\n", "different ways"),
    ],
)
def test_what_speaks_against_it_is_said(more: str, reason: str) -> None:
    source = HEAD + GAN + "\n" + more
    found = [each for each in testing.findings(source, target="lightning") if each.code == "TRU214"]
    assert found
    assert found[0].fix is None
    assert reason in found[0].message.split("not written here: ")[1]


@pytest.mark.parametrize(
    "returned",
    [
        "self.make()",
        "({'optimizer': a, 'frequency': 2}, {'optimizer': b, 'frequency': 1})",
        "[a, b], [make(each) for each in (a, b)]",
        "[a, b], [{'scheduler': make(a), 'interval': self.hparams.interval}]",
        "[a, b], [torch.optim.lr_scheduler.ReduceLROnPlateau(a)]",
    ],
)
def test_schedulers_out_of_sight_are_left_to_a_person(returned: str) -> None:
    source = HEAD + GAN[: GAN.rindex("        return")] + f"        a = b = 0\n        return {returned}\n"
    found = [each for each in testing.findings(source, target="lightning") if each.code == "TRU214"]
    assert found
    assert found[0].fix is None


def test_every_script_of_the_oracle_is_written_out() -> None:
    for name, text in OPTIMIZER_SCRIPTS.items():
        after = testing.upgrade(
            HEAD + "F = nn = data = record = None\n" + text, target="lightning", unsafe=True
        )
        assert "automatic_optimization = False" in after, name
        assert "gradient_clip_val=" not in after.rpartition("pl.Trainer(")[2], name


def test_truncated_backpropagation_keeps_what_the_step_says() -> None:
    before = """
    import pytorch_lightning as pl
    import torch

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.truncated_bptt_steps = 2

        def training_step(self, batch, batch_idx, hiddens):
            return {"loss": batch[0].mean(), "hiddens": hiddens}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1.0)
    """
    after = """
    import pytorch_lightning as pl
    import torch

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.truncated_bptt_steps = 2

        def training_step(self, batch, batch_idx):
            optimizer = self.optimizers()
            hiddens = None
            for start in range(0, batch[0].size(1), self.truncated_bptt_steps):
                chunk = [each[:, start : start + self.truncated_bptt_steps] for each in batch]
                output = self._training_step(chunk, batch_idx, hiddens)
                optimizer.zero_grad()
                self.manual_backward(output["loss"])
                optimizer.step()
                hiddens = output["hiddens"]
                if isinstance(hiddens, tuple):
                    hiddens = tuple(each.detach() for each in hiddens)
                else:
                    hiddens = hiddens.detach()

        def _training_step(self, batch, batch_idx, hiddens):
            return {"loss": batch[0].mean(), "hiddens": hiddens}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1.0)
    """
    testing.check(before, after, target="lightning", unsafe=True)
    assert not testing.findings(after.replace("\n    ", "\n"), target="lightning")


def test_the_fit_of_another_library_keeps_its_arguments() -> None:
    source = (
        HEAD
        + BY_HAND.format(clip=CLIP)
        + "\n\ndef run(forecaster):\n    forecaster.fit(Gan(), gradient_clip_val=0.5)\n"
    )
    testing.check_noop(source, target="lightning")

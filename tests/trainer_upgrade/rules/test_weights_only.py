"""``weights_only=False`` where code for older releases reads checkpoints."""

from __future__ import annotations

import pytest

from trainer_upgrade.testing import check, findings, upgrade_files

HEAD = "import torch\nimport pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    pass\n\n\ntrainer = pl.Trainer(accelerator='cpu')\nnet = Net()\n"
PIN = {"requirements.txt": "pytorch-lightning==1.9.5\n"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Net.load_from_checkpoint(path)", "Net.load_from_checkpoint(path, weights_only=False)"),
        ("trainer.fit(net, ckpt_path=path)", "trainer.fit(net, ckpt_path=path, weights_only=False)"),
        ("trainer.test(net, ckpt_path='best')", "trainer.test(net, ckpt_path='best', weights_only=False)"),
        ("torch.load(path)['state_dict']", "torch.load(path, weights_only=False)['state_dict']"),
        ("torch.load(self.ckpt)", "torch.load(self.ckpt, weights_only=False)"),
    ],
)
def test_old_code_goes_on_reading_everything(before: str, after: str) -> None:
    for target in ("lightning", "relight"):
        root = "relight" if target == "relight" else "pytorch_lightning"
        new = HEAD.replace("pytorch_lightning", root) + after + "\n"
        check(HEAD + before + "\n", new, target=target, unsafe=True, files=PIN)
    (found,) = [
        each
        for each in findings(HEAD + before + "\n", target="lightning", files=PIN)
        if each.code == "TRU873"
    ]
    assert found.fix is not None
    assert str(found.applicability) == "unsafe"


@pytest.mark.parametrize(
    "text",
    [
        "Net.load_from_checkpoint(path, weights_only=True)",
        "Net.load_from_checkpoint(path, **more)",
        "trainer.fit(net, ckpt_path=None)",
        "trainer.fit(net)",
        "torch.load('weights.pt')",
        "other.load_from_checkpoint(path)",
    ],
)
def test_what_stays(text: str) -> None:
    found = findings(HEAD + text + "\n", target="lightning", files=PIN)
    assert "TRU873" not in [each.code for each in found]


@pytest.mark.parametrize("pin", ["pytorch-lightning==2.6.0\n", "torch\n"])
def test_new_code_and_code_without_a_pin_is_left_alone(pin: str) -> None:
    found = findings(
        HEAD + "Net.load_from_checkpoint(path)\n", target="lightning", files={"requirements.txt": pin}
    )
    assert "TRU873" not in [each.code for each in found]


def test_the_pin_follows() -> None:
    done = upgrade_files(
        {"net.py": HEAD + "Net.load_from_checkpoint(path)\n", **PIN}, target="lightning", unsafe=True
    )
    assert done["requirements.txt"] == "pytorch-lightning>=2.6,<3\n"
    done = upgrade_files({"net.py": HEAD, **PIN}, target="lightning", unsafe=True)
    assert done["requirements.txt"] == "pytorch-lightning>=2,<3\n"

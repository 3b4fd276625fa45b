"""What the pin has removed already, what a later release removes, and what the pin does not have yet."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from packaging.version import Version

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.arrivals import first_release
from trainer_upgrade.catalogue.consequences import GENERAL, consequence
from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.engine import Engine, Options
from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.project.index import Project

FACTS = Path(__file__).parents[2] / "data" / "facts"


def check(
    root: Path, source: str, pin: str | None = None, version: str | None = None, target: str = "lightning"
) -> list[Finding]:
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text("import pytorch_lightning as pl\n" + source)
    if pin is not None:
        (root / "requirements.txt").write_text(pin + "\n")
    project = Project(
        [root / "train.py"], Target(target), target_version=Version(version) if version is not None else None
    )
    (result,) = Engine(project, Options(strict=True)).check()
    return result.findings


@pytest.mark.parametrize(
    ("pin", "version", "expected"),
    [
        ("pytorch-lightning==1.6.0", None, Severity.WARNING),  # gpus left in 2.0
        ("pytorch-lightning>=1.6", None, Severity.ERROR),  # a fresh install gets 2.6
        ("pytorch-lightning>=1.6,<2", None, Severity.WARNING),
        ("lightning==2.1.0", None, Severity.ERROR),
        (None, None, Severity.ERROR),
        ("pytorch-lightning==1.6.0", "2.0", Severity.ERROR),
        ("lightning==2.1.0", "1.9", Severity.WARNING),
    ],
)
def test_the_pin_decides_what_is_an_error(
    tmp_path: Path, pin: str | None, version: str | None, expected: Severity
) -> None:
    found = check(tmp_path, "pl.Trainer(gpus=2)\n", pin, version)
    assert [(each.code, each.severity) for each in found] == [("TRU101", expected)]


@pytest.mark.parametrize(
    ("pin", "expected"), [("1.4.9", Severity.WARNING), ("1.5.0", Severity.ERROR), ("2.0", Severity.ERROR)]
)
def test_imports_know_when_they_left(tmp_path: Path, pin: str, expected: Severity) -> None:
    # The module left in 1.5 for torchmetrics.
    found = check(tmp_path, "from pytorch_lightning.metrics import Accuracy\n", f"pytorch-lightning=={pin}")
    assert [each.severity for each in found] == [expected]


NEW = {
    "precision": ('pl.Trainer(precision="16-mixed")\n', '`precision="16-mixed"` came in 2.0'),
    "an argument": ("pl.Trainer(barebones=True)\n", "`barebones` came in 2.0"),
    "an argument of fit": ("t = pl.Trainer()\nt.fit(m, ckpt_path='x')\n", "`fit(ckpt_path=…)` came in 1.5"),
    "an import": (
        "from pytorch_lightning.callbacks import OnExceptionCheckpoint\n",
        "`pytorch_lightning.callbacks.OnExceptionCheckpoint` came in 2.0",
    ),
    "a hook": (
        "class Net(pl.LightningModule):\n    def configure_model(self): ...\n",
        "`configure_model` came in 2.1 and is never called before",
    ),
    "another distribution": ("import lightning.pytorch\n", "`lightning.pytorch` comes with `lightning`"),
}


@pytest.mark.parametrize(("source", "message"), NEW.values(), ids=NEW)
def test_modern_forms_under_an_old_pin(tmp_path: Path, source: str, message: str) -> None:
    found = [each for each in check(tmp_path, source, "pytorch-lightning==1.4.9") if each.code == "TRU942"]
    assert len(found) == 1
    assert found[0].message.startswith(message)
    assert "pytorch-lightning==1.4.9 (requirements.txt:1)" in found[0].message


@pytest.mark.parametrize(("source", "message"), NEW.values(), ids=NEW)
def test_they_are_fine_under_a_new_pin_or_none(tmp_path: Path, source: str, message: str) -> None:
    both = "pytorch-lightning>=2.1\nlightning>=2.1"
    assert not [each for each in check(tmp_path, source, both) if each.code == "TRU942"]
    (tmp_path / "requirements.txt").unlink()
    assert not [each for each in check(tmp_path, source) if each.code == "TRU942"]


def test_an_upgrade_says_nothing_of_the_kind(tmp_path: Path) -> None:
    check(tmp_path, "pl.Trainer(precision=16)\n", "pytorch-lightning==1.9.5")
    project = Project([tmp_path / "train.py"], Target.LIGHTNING)
    (result,) = Engine(project, Options(strict=True, unsafe=True)).upgrade()
    assert b'precision="16-mixed"' in result.after
    assert result.findings == []


def test_a_comment_that_silences_it_is_kept_by_an_upgrade(tmp_path: Path) -> None:
    source = 'pl.Trainer(accelerator="cpu", precision="16-mixed")  # noqa: TRU942\n'
    assert check(tmp_path, source, "pytorch-lightning==1.9.5") == []
    (result,) = Engine(Project([tmp_path / "train.py"], Target.LIGHTNING), Options(strict=True)).upgrade()
    assert not result.changed


def test_objects_of_other_libraries_and_of_relight_have_no_pin(tmp_path: Path) -> None:
    source = (
        "from transformers import Trainer\nTrainer(barebones=True)\n"
        "import relight\nrelight.Trainer(precision='16-mixed')\n"
    )
    (tmp_path / "requirements.txt").write_text("pytorch-lightning==1.4.9\n")
    path = tmp_path / "train.py"
    path.write_text(source)
    (result,) = Engine(Project([path], Target.RELIGHT), Options(strict=True)).check()
    assert result.findings == []


def test_the_table_of_arrivals_is_that_of_the_facts() -> None:
    with (FACTS / "trainer_args.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    late = {row["arg"]: row["first"] for row in rows if Version(row["first"]) >= Version("1.3")}
    late = {name: first for name, first in late.items() if first_release("argument", "Trainer", name)}
    assert {name: first_release("argument", "Trainer", name) for name in late} == late
    assert late["use_distributed_sampler"] == "2.0"
    assert first_release("argument", "Trainer", "max_epochs") is None


def test_each_silent_entry_has_a_consequence() -> None:
    silent = [each for each in catalogue.entries() if each.silent]
    assert len(silent) > 150
    own = [each for each in silent if consequence(each) != GENERAL]
    # Changes of meaning have their own story in the advice; all others say what happens.
    assert {each.code[:4] for each in silent if each not in own} == {"TRU8"}


def test_the_consequence_is_part_of_the_text(tmp_path: Path) -> None:
    (found,) = check(tmp_path, "class Log(pl.Callback):\n    def on_batch_end(self, t, m): print()\n")
    assert found.silent
    assert found.text.endswith("[silent: 2.x never calls it and raises no error]")


def test_under_a_pin_of_1_x_a_trainer_without_devices_is_told(tmp_path: Path) -> None:
    (found,) = check(tmp_path, "pl.Trainer(max_epochs=1)\n", "pytorch-lightning==1.9.5")
    assert (found.code, found.silent) == ("TRU108", True)
    assert found.text.endswith("[silent: 2.x takes all accelerators it finds, without an error]")
    assert str(found.applicability) == "unsafe"
    assert check(tmp_path, "pl.Trainer(max_epochs=1)\n", "pytorch-lightning>=2") == []
    assert check(tmp_path, "pl.Trainer(max_epochs=1, accelerator='cpu')\n", "pytorch-lightning==1.9.5") == []


SILENT = {
    "a callback's state": "class C(pl.Callback):\n    def on_save_checkpoint(self, t, m, c):\n        return {'a': 1}\n",
    "the optimizer's step": "class N(pl.LightningModule):\n    def optimizer_step(self, e, b, o, i, c):\n        o.step(closure=c)\n",
    "a log dictionary": "class N(pl.LightningModule):\n    def training_step(self, batch, i):\n        return {'loss': 1, 'log': {'a': 1}}\n",
    "outputs=None": "class N(pl.LightningModule):\n    def on_train_epoch_end(self, outputs=None):\n        print(outputs)\n",
    "a dead hook": "class N(pl.LightningModule):\n    def on_epoch_end(self):\n        print()\n",
}  # fmt: skip


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_what_breaks_in_silence_says_what_happens(tmp_path: Path, source: str) -> None:
    found = [each for each in check(tmp_path, source) if each.silent]
    assert len(found) == 1
    assert found[0].consequence != GENERAL

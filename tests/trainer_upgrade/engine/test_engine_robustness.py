"""Files that have nothing to do with Lightning: no finding, no crash, no change, whatever they look like."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.engine import Engine, Options, check_file
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.discovery import discover
from trainer_upgrade.project.index import Project

STDLIB = Path(sysconfig.get_paths()["stdlib"])
PACKAGES = Path(sysconfig.get_paths()["purelib"])


def sample(root: Path, number: int) -> list[Path]:
    files = [path for path in discover([root]).files if "lib2to3/tests/data" not in path.as_posix()]
    # Always the same ones on one machine; spread over the whole tree.
    return sorted(random.Random(7).sample(files, min(number, len(files))))


@pytest.mark.slow
@pytest.mark.parametrize("target", list(Target))
def test_rules_are_silent_on_the_standard_library(target: Target) -> None:
    """The rules are run in earnest: the search for words would skip these files."""
    project = Project(sample(STDLIB, 300), target, roots=[STDLIB])
    ran = 0
    for path in project.files:
        module = project.module(path)
        if not module.usable:
            continue
        assert check_file(FileContext(module, project), Options(strict=True)) == [], path
        ran += 1
    assert ran > 250


@pytest.mark.slow
def test_the_standard_library_stays_as_it_is() -> None:
    project = Project(sample(STDLIB, 300), roots=[STDLIB])
    for result in Engine(project, Options(unsafe=True, strict=True)).upgrade():
        assert not result.changed
        assert not result.findings or result.failed


@pytest.mark.slow
def test_other_packages_do_not_crash_it() -> None:
    """Whatever is installed here (torch, torchmetrics, lightning-fabric): only a trouble with the file is told."""
    project = Project(sample(PACKAGES, 200), Target.LIGHTNING, roots=[PACKAGES])
    for result in Engine(project, Options(unsafe=True, strict=True)).check():
        assert not result.failed or result.findings[0].code in ("TRU001", "TRU003")


SNIPPETS = [
    "import pytorch_lightning as pl",
    "from lightning.pytorch import Trainer, callbacks as cbs",
    "trainer = pl.Trainer(gpus=1, progress_bar_refresh_rate=0)",
    "trainer = Trainer(resume_from_checkpoint=None,)",
    "trainer.fit(model, train_dataloader=x)",
    "class N(pl.LightningModule):",
    "    def training_step(self, batch, batch_idx, optimizer_idx): return {'loss': 1}",
    "    def validation_epoch_end(self, outputs): self.log('x', 1)",
    "def f(pl, *, trainer=None, **kw):",
    "    global Trainer",
    "    return lambda: [Trainer(gpus=g) for g in kw]",
    "try:",
    "    import relight",
    "except ImportError: relight = None",
    "if pl.__version__ > '1': pass",
    'x = \'é\', """a\r\nb""", f\'{pl.Trainer(gpus=1)!r:>{x}}\'',
    "async def g(): await trainer.fit(); yield",
    "del trainer",
    "nonlocal x",
    "with a as (pl, b): pass",
    "    \tpass  # noqa",
    "\x0c",
    "match x:",
    "    case {'a': Trainer, **pl}: pass",
    "from . import *",
    "from .x import y as Trainer",
    "@pl.utilities.rank_zero_only",
    "if (trainer := pl.Trainer(tpu_cores=8)): trainer.test()",
    "pl.Trainer(**{'gpus': 1}, *args)",
    "    self.trainer.current_epoch",
    "]",
    "\\",
]


VALID = [
    "import pytorch_lightning as pl",
    "from lightning.pytorch import Trainer, callbacks as cbs",
    "from pytorch_lightning.metrics import Accuracy",
    "from pytorch_lightning.utilities.distributed import rank_zero_only, rank_zero_info as info",
    "import relight.compat as pl",
    "trainer = pl.Trainer(gpus=1, progress_bar_refresh_rate=0)",
    "trainer = pl.Trainer(gpus='0,1',\n\n  # why\n  weights_summary=None, resume_from_checkpoint=path)",
    "trainer = Trainer(resume_from_checkpoint=None, accelerator='ddp', amp_backend='apex',)",
    "trainer.fit(model, train_dataloader=x)",
    "class N(pl.LightningModule):\n    def training_step(self, batch, batch_idx, optimizer_idx):\n        return {'loss': 1}",
    "class M(pl.LightningModule):\n    def validation_step(self, batch, i):\n        return 1\n"
    "    def validation_epoch_end(self, outputs):\n        self.log('x', sum(outputs))",
    "class C(pl.Callback):\n    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):\n        pass",
    "class D(pl.LightningDataModule):\n\tdef setup(self):\n\t\tself.dims = 1",
    "def f(pl, *, trainer=None, **kw):\n    return lambda: [Trainer(gpus=g) for g in kw]",
    "try:\n    import relight\nexcept ImportError: relight = None",
    "if pl.__version__ > '1': pl.Trainer(gpus=1)",
    'x = \'é\', """a\nb""", f\'{pl.Trainer(gpus=1)!r:>{x}}\'',
    "async def g():\n    await trainer.fit()\n    yield trainer.tune(model)",
    "match x:\n    case {'a': Trainer, **pl}: pass",
    "from .x import y as Trainer",
    "if (trainer := pl.Trainer(tpu_cores=8)): trainer.test(test_dataloaders=1)",
    "pl.Trainer(**{'gpus': 1}, **args)",
    "make = __import__('functools').partial(pl.Trainer, gpus=2); make(gpus=None)",
    "args = pl.Trainer.from_argparse_args(a, checkpoint_callback=False)",
    "cb = pl.callbacks.ModelCheckpoint(filepath='a/b', period=2) ; cbs.ProgressBar()",
]


def survives(path: Path, data: bytes, target: Target) -> None:
    """No exception; what changes compiles; the second run changes nothing."""
    path.write_bytes(data)
    options = Options(unsafe=True, strict=True)
    (result,) = Engine(Project([path], target, roots=[path.parent]), options).upgrade()
    assert not [each for each in result.findings if each.code == "TRU004"]
    if not result.changed:
        return
    compile(result.after, "x.py", "exec", dont_inherit=True)
    path.write_bytes(result.after)
    (again,) = Engine(Project([path], target, roots=[path.parent]), options).upgrade()
    assert not again.changed, again.after.decode()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(SNIPPETS), max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(list(Target)),
)
def test_any_text_is_survived(tmp_path: Path, lines: list[str], newline: str, target: Target) -> None:
    survives(tmp_path / "x.py", newline.join(lines).encode("utf-8", "surrogatepass"), target)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(VALID), min_size=1, max_size=9),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(list(Target)),
)
def test_any_program_is_survived(tmp_path: Path, lines: list[str], newline: str, target: Target) -> None:
    survives(tmp_path / "x.py", ("\n".join(lines) + "\n").replace("\n", newline).encode(), target)

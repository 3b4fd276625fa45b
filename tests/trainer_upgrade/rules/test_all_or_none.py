"""To relight go all files that run together, or none; stand-ins are told of."""

from __future__ import annotations

from trainer_upgrade import testing

MODEL = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule): ...\n"
TRAIN = "import pytorch_lightning as pl\nfrom model import Net\n\npl.Trainer(gpus=0).fit(Net())\n"
STUCK = MODEL + "\n\nx = pl.accelerators.DDP2Accelerator\n"


def test_what_imports_each_other_goes_together() -> None:
    after = testing.upgrade_files({"model.py": MODEL, "train.py": TRAIN})
    assert "import relight as pl" in after["model.py"]
    assert "import relight as pl" in after["train.py"]


def test_one_place_that_cannot_go_keeps_all_that_run_with_it() -> None:
    files = {"model.py": STUCK, "train.py": TRAIN, "other.py": MODEL}
    after = testing.upgrade_files(files)
    assert after["model.py"] == STUCK
    assert "import pytorch_lightning as pl" in after["train.py"]
    assert 'pl.Trainer(accelerator="cpu", devices=1).fit(Net())' in after["train.py"]
    assert "import relight as pl" in after["other.py"]  # runs with neither


def test_the_place_is_named() -> None:
    found = testing.findings(TRAIN, files={"model.py": STUCK})
    (told,) = [each for each in found if each.code == "TRU334"]
    assert "model.py:7 cannot leave it" in told.message


def test_files_of_a_package_run_together() -> None:
    files = {"pack/__init__.py": "", "pack/a.py": STUCK, "pack/sub/__init__.py": "", "pack/sub/b.py": MODEL}
    after = testing.upgrade_files(files)
    assert after["pack/sub/b.py"] == MODEL


def test_what_cannot_be_used_moves_and_is_told_of_each_time() -> None:
    before = "import pytorch_lightning as pl\n\n\nclass Mine(pl.loops.EvaluationLoop): ...\n"
    after = (
        "import relight as pl\nfrom relight.compat.loops import EvaluationLoop\n\n\n"
        "class Mine(EvaluationLoop): ...\n"
    )
    testing.check(before, after, codes=["TRU334", "TRU330"])
    (left,) = testing.findings(after)
    assert left.code == "TRU330"
    assert left.fix is None


def test_what_compat_has_an_adapter_for_moves_and_works() -> None:
    testing.check(
        "from pytorch_lightning.loggers import TestTubeLogger\n",
        "from relight.compat.loggers import TestTubeLogger\n",
    )


def test_a_metric_that_is_gone_from_every_2_x_keeps_nothing_on_lightning() -> None:
    metric = (
        "from pytorch_lightning.metrics.metric import TensorMetric\n\n\nclass Mine(TensorMetric):\n    pass\n"
    )
    trains = "import pytorch_lightning as pl\nfrom metric import Mine\n\nprint(pl.Trainer, Mine)\n"
    done = testing.upgrade_files({"metric.py": metric, "train.py": trains})
    assert done["metric.py"] == metric
    assert done["train.py"].startswith("import relight as pl\n")

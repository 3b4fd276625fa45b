"""The same numbers before and after: legacy scripts on 1.9.5, upgraded ones on 2.6.6 and on relight.

``RELIGHT_ORACLE_1_9_5`` and ``RELIGHT_ORACLE_2_6_6`` name their pythons. All scripts of a release run
in one process; what they record, log and learn must be equal.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import optimizer_scripts
import pytest

from trainer_upgrade import testing

RUNNER = Path(__file__).with_name("oracle_runner.py")
HEAD = (
    "import pytorch_lightning as pl\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
)
BASE = """
class Base(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)

"""

SCRIPTS: dict[str, str] = {
    "append-in-step": """
class Model(Base):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def validation_step(self, batch, batch_idx):
        return {"val_loss": F.mse_loss(self.net(batch[0]), batch[1]) * self.scale}

    def validation_epoch_end(self, outputs):
        self.log("val_loss", torch.stack([o["val_loss"] for o in outputs]).mean())
        record(self.trainer.sanity_checking, len(outputs))

pl.Trainer().fit(Model(), data(), data(4))
""",
    "step-of-a-subclass": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return F.mse_loss(self.net(batch[0]), batch[1])

    def validation_epoch_end(self, outputs):
        record(torch.stack(outputs).sum(), len(outputs))

class Twice(Model):
    def validation_step(self, batch, batch_idx):
        return 2 * super().validation_step(batch, batch_idx)

pl.Trainer().fit(Twice(), data(), data(4))
""",
    "hook-overridden-and-super": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return {"err": F.mse_loss(self.net(batch[0]), batch[1])}

    def validation_epoch_end(self, outputs):
        self.log("mean", torch.stack([o["err"] for o in outputs]).mean())
        record("base", len(outputs))

class Worst(Model):
    def validation_epoch_end(self, outs):
        outs = [o for o in outs if o["err"] > 0]
        super().validation_epoch_end(outs[:1])
        record("worst", max(o["err"] for o in outs))

pl.Trainer().fit(Worst(), data(), data(6))
""",
    "both-hooks-in-one-class": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return batch[0].sum()

    def on_validation_epoch_end(self):
        record("second", self.seen)

    def validation_epoch_end(self, outputs):
        self.seen = len(outputs)
        record("first", outputs)

pl.Trainer().fit(Model(), data(), data(4))
""",
    "early-return": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        if batch_idx == 1:
            return
        return batch[0].sum()

    def validation_epoch_end(self, outputs):
        record(len(outputs))
        if self.current_epoch == 0:
            return
        record(torch.stack(outputs).sum())

pl.Trainer(max_epochs=3).fit(Model(), data(), data())
""",
    "outputs-kept-by-the-user": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return batch_idx

    def validation_epoch_end(self, outputs):
        self.kept = outputs

    def on_fit_end(self):
        record(self.kept)

pl.Trainer().fit(Model(), data(), data(4))
""",
    "called-by-hand": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return batch[0].mean()

    def validation_epoch_end(self, outputs):
        record("end", torch.stack(outputs).mean(), len(outputs))

    def on_train_end(self):
        self.validation_epoch_end([torch.ones(()), torch.zeros(())])

pl.Trainer().fit(Model(), data(), data(4))
""",
    "test-uses-the-validation-hook": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return {"loss": F.mse_loss(self.net(batch[0]), batch[1])}

    def test_step(self, batch, batch_idx):
        return self.validation_step(batch, batch_idx)

    def validation_epoch_end(self, outputs):
        value = torch.stack([o["loss"] for o in outputs]).mean()
        record(len(outputs), value)
        return {"value": value}

    def test_epoch_end(self, outputs):
        result = self.validation_epoch_end(outputs)
        self.log("test_value", result["value"])
        return result

trainer = pl.Trainer()
model = Model()
trainer.fit(model, data(), data(4))
trainer.test(model, data(), verbose=False)
""",
    "one-function-two-hooks": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return batch[0].sum()

    test_step = validation_step

    def validation_epoch_end(self, outputs):
        record(self.trainer.state.fn.value if hasattr(self.trainer.state.fn, "value") else "", outputs)

    test_epoch_end = validation_epoch_end

trainer = pl.Trainer()
model = Model()
trainer.fit(model, data(), data(4))
trainer.test(model, data(), verbose=False)
""",
    "several-loaders": """
class Model(Base):
    def validation_step(self, batch, batch_idx, dataloader_idx):
        return batch[0].sum()

    def validation_epoch_end(self, outputs):
        record([[o for o in one] for one in outputs])

pl.Trainer().fit(Model(), data(), [data(6), data(2)])
""",
    "as-many-loaders-as-come": """
class Model(Base):
    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        return batch[0].sum()

    def validation_epoch_end(self, outputs):
        record(isinstance(outputs[0], list), outputs)

pl.Trainer().fit(Model(), data(), [data(6), data(2)])
pl.Trainer().fit(Model(), data(), data(4))
pl.Trainer().fit(Model(), data(), [data(4)])
""",
    "training-with-accumulation-and-extras": """
class Model(Base):
    def training_step(self, batch, batch_idx):
        if batch_idx == 2:
            return None
        out = self.net(batch[0])
        return {"loss": F.mse_loss(out, batch[1]), "out": out, "n": len(batch[0]), "unused": batch}

    def training_epoch_end(self, outputs):
        self.log("total", sum(o["n"] for o in outputs) * 1.0)
        record([o["loss"] for o in outputs], torch.cat([o["out"] for o in outputs]))

pl.Trainer(accumulate_grad_batches=2).fit(Model(), data())
""",
    "training-with-manual-optimization": """
class Model(Base):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx, optimizer_idx=None):
        optimizer = self.optimizers()
        loss = F.mse_loss(self.net(batch[0]), batch[1])
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        return {"loss": loss, "idx": optimizer_idx}

    def training_epoch_end(self, outputs):
        record([o["loss"] for o in outputs], [o["idx"] for o in outputs])

pl.Trainer().fit(Model(), data())
""",
    "own-batch-end-hooks": """
class Model(Base):
    def on_train_epoch_start(self):
        self.batches = 0

    def on_train_batch_end(self, outs, batch, batch_idx):
        self.batches += 1

    def training_epoch_end(self, outputs):
        record(self.batches, [o["loss"] for o in outputs])

    def validation_step(self, batch, batch_idx):
        return {"x": batch[0].sum()}

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx):
        record("end", outputs["x"])

    def validation_epoch_end(self, outputs):
        record("all", [o["x"] for o in outputs])

pl.Trainer().fit(Model(), data(), data(4))
""",
    "hooks-of-a-subclass": """
class Model(Base):
    def validation_step(self, batch, batch_idx):
        return batch[0].sum()

    def validation_epoch_end(self, outputs):
        record("collected", outputs)

class Sub(Model):
    def on_validation_epoch_start(self):
        record("start")

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        record("batch", outputs)

    def on_validation_epoch_end(self):
        record("end")

pl.Trainer().fit(Sub(), data(), data(4))
""",
    "mixin": """
class Collects:
    def validation_epoch_end(self, outputs):
        record("mixin", outputs)
        self.log("n", float(len(outputs)))

class Model(Collects, Base):
    def validation_step(self, batch, batch_idx):
        return batch[0].sum()

pl.Trainer().fit(Model(), data(), data(4))
""",
    "step-end-in-line": """
class Model(Base):
    def training_step(self, batch, batch_idx):
        return {"out": self.net(batch[0]), "target": batch[1]}

    def training_step_end(self, outputs):
        return F.mse_loss(outputs["out"], outputs["target"])

    def validation_step(self, batch, batch_idx):
        return {"out": batch[0].sum()}

    def validation_step_end(self, outputs):
        record("step", outputs["out"])

    def validation_epoch_end(self, outputs):
        record([o["out"] for o in outputs])

pl.Trainer().fit(Model(), data(), data(4))
""",
    "optimizer-hooks": """
class Model(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure=None,
                       on_tpu=False, using_lbfgs=False):
        record("step", optimizer_idx, using_lbfgs)
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=on_tpu,
                               using_lbfgs=using_lbfgs)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):
        record("zero", optimizer_idx)
        super().optimizer_zero_grad(epoch, batch_idx, optimizer, optimizer_idx)

    def backward(self, loss, optimizer, optimizer_idx):
        record("backward")
        loss.backward()

    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        record(float(self.net.weight.grad.sum()))

    def configure_gradient_clipping(self, optimizer, optimizer_idx, gradient_clip_val=None,
                                    gradient_clip_algorithm=None):
        record("clip", optimizer_idx)
        self.clip_gradients(optimizer, gradient_clip_val=0.2, gradient_clip_algorithm="norm")

pl.Trainer().fit(Model(), data())
""",
    "callback-signatures-and-state": """
class Watch(pl.Callback):
    def __init__(self):
        self.seen = 0

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, unused=0):
        self.seen += 1 + unused

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        record("val", batch_idx, dataloader_idx)

    def on_before_optimizer_step(self, trainer, pl_module, optimizer, opt_idx):
        record("opt", self.seen)

class Model(Base):
    def validation_step(self, batch, batch_idx):
        return batch[0].sum()

pl.Trainer(callbacks=[Watch()]).fit(Model(), data(), data(4))
""",
    "datamodule-transfer": """
class Data(pl.LightningDataModule):
    def __init__(self):
        super().__init__()

    def setup(self, stage=None):
        record(str(getattr(stage, "value", stage)))

    def train_dataloader(self):
        return data()

class Model(Base):
    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        return super().transfer_batch_to_device(batch, device, dataloader_idx)

pl.Trainer().fit(Model(), datamodule=Data())
""",
}


def differences(one: object, two: object, where: str = "") -> Iterator[str]:
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        if not math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-9):
            yield f"{where}: {one} != {two}"
    elif isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(set(one) | set(two)):
            yield from differences(one.get(key, "missing"), two.get(key, "missing"), f"{where}.{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for position, (left, right) in enumerate(zip(one, two, strict=True)):
            yield from differences(left, right, f"{where}[{position}]")
    elif one != two:
        yield f"{where}: {one!r} != {two!r}"


def oracle(variable: str) -> str:
    interpreter = os.environ.get(variable)
    if not interpreter:
        pytest.skip(f"{variable} does not name a python with that release")
    return interpreter


def run(interpreter: str, scripts: dict[str, str], *root: str) -> dict[str, dict[str, object]]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
    done = subprocess.run(
        [interpreter, str(RUNNER), *root],
        input=json.dumps(scripts),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found


Results = dict[str, tuple[dict[str, object], str]]
SCRIPTS |= optimizer_scripts.OPTIMIZER_SCRIPTS
BEFORE = {name: HEAD + BASE + text for name, text in SCRIPTS.items()}


def upgraded(target: str) -> dict[str, str]:
    return {name: testing.upgrade(text, target=target, unsafe=True) for name, text in BEFORE.items()}


@pytest.fixture(scope="module")
def legacy() -> dict[str, dict[str, object]]:
    return run(oracle("RELIGHT_ORACLE_1_9_5"), BEFORE)


@pytest.fixture(scope="module")
def on_lightning() -> Results:
    interpreter, after = oracle("RELIGHT_ORACLE_2_6_6"), upgraded("lightning")
    found = run(interpreter, after)
    return {name: (found[name], after[name]) for name in after}


@pytest.fixture(scope="module")
def on_relight() -> Results:
    pytest.importorskip("torch")
    pytest.importorskip("lightning_fabric")
    after = upgraded("relight")
    found = run(sys.executable, after, "relight")
    return {name: (found[name], after[name]) for name in after}


def compare(old: dict[str, object], new: dict[str, object], text: str) -> None:
    assert old["error"] is None, f"the legacy script fails on 1.9.5:\n{old['error']}"
    assert new["error"] is None, f"{new['error']}\n{text}"
    assert old["records"] or old["metrics"]
    assert not list(differences(old, new)), "\n".join([*differences(old, new), text])


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_same_numbers_on_lightning(
    name: str, legacy: dict[str, dict[str, object]], on_lightning: Results
) -> None:
    compare(legacy[name], *on_lightning[name])


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_same_numbers_on_relight(
    name: str, legacy: dict[str, dict[str, object]], on_relight: Results
) -> None:
    compare(legacy[name], *on_relight[name])


@pytest.mark.oracle
@pytest.mark.slow
def test_safe_fixes_keep_several_optimizers_on_compat(legacy: dict[str, dict[str, object]]) -> None:
    pytest.importorskip("lightning_fabric")
    after = {name: testing.upgrade(BEFORE[name]) for name in optimizer_scripts.OPTIMIZER_SCRIPTS}
    assert all("compat.LightningModule" in text and "compat.Trainer" in text for text in after.values())
    found = run(sys.executable, after, "relight")
    for name, text in after.items():
        compare(legacy[name], found[name], text)

"""``*_step_end`` in a base, with the steps in the classes below it, in other files."""

from __future__ import annotations

from trainer_upgrade.testing import check, upgrade_files

BASE = """\
import pytorch_lightning as pl


class Base(pl.LightningModule):
    def validation_step_end(self, logs):
        self.log("loss", logs["loss"])
        return {"loss": logs["loss"]}
"""
BELOW = """\
from base import Base


class Net(Base):
    def validation_step(self, batch, batch_idx):
        return {"loss": self(batch), "extra": batch}
"""


def test_each_step_calls_the_hook_of_the_base() -> None:
    done = upgrade_files({"base.py": BASE, "net.py": BELOW}, target="lightning", unsafe=True)
    assert "def _validation_step_end(self, logs):" in done["base.py"]
    assert 'return self._validation_step_end({"loss": self(batch), "extra": batch})' in done["net.py"]


def test_nothing_is_done_without_the_option() -> None:
    done = upgrade_files({"base.py": BASE, "net.py": BELOW}, target="lightning")
    assert (done["base.py"], done["net.py"]) == (BASE, BELOW)


def test_a_class_with_a_hook_of_its_own_goes_along() -> None:
    own = BELOW + "\n    def validation_step_end(self, logs):\n        return logs\n"
    done = upgrade_files({"base.py": BASE, "net.py": own}, target="lightning", unsafe=True)
    assert "def _validation_step_end(self, logs):" in done["base.py"]
    assert "def _validation_step_end(self, logs):" in done["net.py"]
    assert done["net.py"].count("self._validation_step_end(") == 1


def test_one_step_that_does_not_fit_keeps_all_as_they_are() -> None:
    other = BELOW.replace("class Net", "class Other").replace(
        "        return {", "        if batch:\n            return None\n        return {"
    )
    done = upgrade_files(
        {"base.py": BASE, "net.py": BELOW, "other.py": other}, target="lightning", unsafe=True
    )
    assert (done["base.py"], done["net.py"], done["other.py"]) == (BASE, BELOW, other)


def test_a_step_that_calls_its_base_is_left_to_a_person() -> None:
    both = BASE + "\n    def validation_step(self, batch, batch_idx):\n        return {'loss': batch}\n"
    below = BELOW.replace(
        'return {"loss": self(batch), "extra": batch}', "return super().validation_step(batch, batch_idx)"
    )
    done = upgrade_files({"base.py": both, "net.py": below}, target="lightning", unsafe=True)
    assert (done["base.py"], done["net.py"]) == (both, below)


def test_the_outputs_that_are_collected_are_the_hooks() -> None:
    base = (
        BASE
        + "\n    def validation_epoch_end(self, outputs):\n        self.log('all', sum(each['loss'] for each in outputs))\n"
    )
    done = upgrade_files({"base.py": base, "net.py": BELOW}, target="lightning", unsafe=True)
    assert (
        "def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):" in done["base.py"]
    )
    assert "self._validation_step_end({" in done["net.py"]


def test_a_helper_of_the_users_own_is_no_hook() -> None:
    text = BASE.replace("validation_step_end", "_validation_step_end")
    done = upgrade_files({"base.py": text, "net.py": BELOW}, target="lightning", unsafe=True)
    assert done["net.py"] == BELOW


def test_logs_that_are_one_dict_under_two_names() -> None:
    check(
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def training_step(self, batch, batch_idx):
                loss = self(batch)
                logs = {"loss_a": loss}
                bar = logs
                return {"loss": loss, "log": logs, "progress_bar": bar}
        """,
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def training_step(self, batch, batch_idx):
                loss = self(batch)
                logs = {"loss_a": loss}
                bar = logs
                self.log_dict(logs, prog_bar=True)
                return {"loss": loss}
        """,
        target="lightning",
        unsafe=True,
    )


def test_a_base_with_a_step_of_its_own_and_no_hook_is_left_alone() -> None:
    base = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    def validation_step(self, batch, batch_idx):\n        return batch\n"
    net = (
        "from base import Base\n\n\nclass Net(Base):\n    def validation_step(self, batch, batch_idx):\n"
        "        return self(batch)\n\n    def validation_step_end(self, outputs):\n        return outputs\n"
    )
    done = upgrade_files({"base.py": base, "net.py": net}, target="lightning", unsafe=True)
    assert done["base.py"] == base
    assert "return self._validation_step_end(self(batch))" in done["net.py"]
    # Without a step of its own the base's would have to call a hook that the base does not have.
    inherits = net.replace(
        "    def validation_step(self, batch, batch_idx):\n        return self(batch)\n\n", ""
    )
    done = upgrade_files({"base.py": base, "net.py": inherits}, target="lightning", unsafe=True)
    assert done["net.py"] == inherits

"""What is there under the same name and means something else: loaders, self.trainer, counters, defaults."""

from __future__ import annotations

import pytest

from trainer_upgrade.testing import check, check_noop, findings

HEAD = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    def look(self, x):\n        return {}\n"


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("self.trainer.train_dataloader.loaders['a']", "self.trainer.train_dataloader['a']", "TRU450"),
        ("self.trainer.train_dataloader.dataset.datasets", "self.trainer.train_dataloader.dataset", "TRU450"),
        ("not hasattr(self, 'trainer')", "not (self._trainer is not None)", "TRU884"),
        ("self.log('a', {'b': x, \"c\": 1})", "self.log_dict({'a/b': x, \"a/c\": 1})", "TRU895"),
    ],
)
def test_unsafe_fixes(before: str, after: str, code: str) -> None:
    found = check(HEAD.format(before), HEAD.format(after), target="lightning", unsafe=True)
    assert [each.code for each in found] == [code]
    # Without the option nothing is changed.
    check(HEAD.format(before), HEAD.format(before), target="lightning")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.trainer is None", "self._trainer is None"),
        ("self.trainer != None", "self._trainer != None"),
        ("getattr(self, 'trainer', None)", "self._trainer"),
        ("1 if self.trainer else 2", "1 if self._trainer else 2"),
        ("self.trainer and self.trainer.training", "self._trainer and self.trainer.training"),
        ("not self.trainer", "not self._trainer"),
    ],
)
def test_questions_for_a_trainer_are_safe_fixes(before: str, after: str) -> None:
    found = check(HEAD.format(before), HEAD.format(after), target="lightning")
    assert [each.code for each in found] == ["TRU884"]
    check(HEAD.format(before), HEAD.format(after).replace("import pytorch_lightning", "import relight"))


@pytest.mark.parametrize(
    "text",
    [
        "self.trainer.val_dataloaders",
        "self.trainer.train_dataloader.dataset",
        "self.trainer.train_dataloader.batch_size",
        "x.trainer is None",
        "x.val_dataloaders[0]",
        "getattr(x, 'trainer', None)",
        "getattr(self, 'trainer')",
        "getattr(self, 'net', None)",
        "self.trainer == x",
        "self.log('a', x)",
        "x.log('a', {'b': 1})",
    ],
)
def test_what_stays(text: str) -> None:
    check_noop(HEAD.format(text), target="lightning", unsafe=True)


def test_loaders_that_are_a_list_in_plain_sight_keep_their_index() -> None:
    check_noop(
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def val_dataloader(self):
                return [self.first, self.second]

            def look(self):
                return self.trainer.val_dataloaders[0]
        """,
        target="lightning",
        unsafe=True,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}[0].dataset", "pl.utilities.CombinedLoader({}).flattened[0].dataset"),
        ("{}[x]", "pl.utilities.CombinedLoader({}).flattened[x]"),
        ("len({})", "len(pl.utilities.CombinedLoader({}).flattened)"),
        ("[a for a in {}]", "[a for a in pl.utilities.CombinedLoader({}).flattened]"),
    ],
)
def test_loaders_are_found_in_whatever_was_given(before: str, after: str) -> None:
    for name in ("val", "test", "predict"):
        loaders = f"self.trainer.{name}_dataloaders"
        old, new = HEAD.format(before.format(loaders)), HEAD.format(after.format(loaders))
        (found,) = check(old, new, target="lightning")
        assert found.code == "TRU451"
        assert found.silent is ("[0]" not in before and "[x]" not in before)
        check(old, new.replace("import pytorch_lightning", "import relight"))


def test_a_module_with_a_trainer_of_its_own_is_left_alone() -> None:
    check_noop(
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            @property
            def trainer(self):
                return self.mine

            def forward(self, x):
                return self.trainer is None
        """,
        target="lightning",
    )


def test_steps_over_the_iterator() -> None:
    check(
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def training_step(self, dataloader_iter, batch_idx):
                batch = next(dataloader_iter)
                return self(batch) * batch_idx

            def validation_step(self, dataloader_iter, batch_idx, dataloader_idx):
                batch = next(dataloader_iter)
                return self(batch)
        """,
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def training_step(self, dataloader_iter):
                batch, batch_idx, _ = next(dataloader_iter)
                return self(batch) * batch_idx

            def validation_step(self, dataloader_iter):
                batch, _, _ = next(dataloader_iter)
                return self(batch)
        """,
        target="lightning",
        unsafe=True,
        codes=["TRU897", "TRU897"],
    )


@pytest.mark.parametrize(
    "body",
    [
        "first = next(dataloader_iter)\n        second = next(dataloader_iter)\n        return first",
        "for batch in dataloader_iter:\n            return batch",
        "print(batch_idx)\n        batch = next(dataloader_iter)\n        return batch",
    ],
)
def test_other_uses_of_the_iterator_are_reported(body: str) -> None:
    head = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n"
    text = f"{head}    def training_step(self, dataloader_iter, batch_idx):\n        {body}\n"
    check(text, text, target="lightning", unsafe=True)
    (found,) = findings(text, target="lightning")
    assert (found.code, found.fix) == ("TRU897", None)


def test_parameters_of_the_wrapped_module() -> None:
    before = """
    import torch
    import pytorch_lightning as pl

    class Net(pl.LightningModule):
        def configure_optimizers(self):
            return torch.optim.SGD(self.trainer.model.parameters(), lr=0.1)

        def other(self):
            return self.trainer.model.parameters()
    """
    after = before.replace("SGD(self.trainer.model.", "SGD(self.")
    check(before, after, target="lightning", unsafe=True, codes=["TRU899"])


RUN = """\
import pytorch_lightning as pl

pl.seed_everything()
data = Data()
data.setup()
trainer = pl.Trainer(strategy="ddp", logger=[first, second])
print(trainer.current_epoch)
trainer.fit(model, data)
print(trainer.current_epoch, trainer.global_step)
"""
DATA = "import pytorch_lightning as pl\n\n\nclass Data(pl.LightningDataModule):\n    pass\n"


@pytest.mark.parametrize(
    ("pin", "codes"),
    [
        ("1.5.10", ["TRU534", "TRU843", "TRU804", "TRU810", "TRU454", "TRU453"]),
        ("1.6.5", ["TRU534", "TRU804", "TRU810"]),
        ("1.9.5", ["TRU534", "TRU804"]),
        ("2.1.0", ["TRU534"]),
        ("2.4.0", []),
        (None, []),
    ],
)
def test_changed_numbers_follow_the_pin(pin: str | None, codes: list[str]) -> None:
    files = {} if pin is None else {"requirements.txt": f"pytorch-lightning=={pin}\n"}
    text = RUN.replace("\n\n", "\nfrom data import Data\n\n", 1)
    told = {"TRU534", "TRU843", "TRU804", "TRU810", "TRU454", "TRU453"}
    found = findings(text, target="lightning", files={"data.py": DATA, **files})
    assert [each.code for each in found if each.code in told] == codes
    assert all(each.silent and each.fix is None for each in found if each.code in told)


@pytest.mark.parametrize("target", ["lightning", "relight"])
def test_arguments_of_the_tuner(target: str) -> None:
    root = "relight" if target == "relight" else "pytorch_lightning"
    head = f"from {root}.tuner import Tuner\n\n\n" + "def search(trainer, model, loader, other):\n"
    body = (
        "    Tuner(trainer).lr_find(model, train_dataloader=loader)\n    tuner = Tuner(trainer)\n"
        "    tuner.scale_batch_size(model, train_dataloader=loader, mode='power')\n"
    )
    rest = "    other.lr_find(model, train_dataloader=loader)\n"
    before = head.replace("relight", "pytorch_lightning") + body + rest
    after = head + body.replace("train_dataloader=", "train_dataloaders=") + rest
    found = check(before, after, target=target)
    assert [each.code for each in found if each.code != "TRU334"] == ["TRU504", "TRU504"]

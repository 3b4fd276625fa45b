"""What modules and data modules no longer have, and what their calls no longer take."""

from __future__ import annotations

import pytest

from trainer_upgrade.testing import check, check_noop, findings, upgrade

MODULE = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    def look(self, x):\n        return {}\n"
DATA = "import pytorch_lightning as pl\n\n\nclass Data(pl.LightningDataModule):\n    def look(self):\n        return {}\n"


def on_lightning(text: str, before: str, after: str, code: str, *, unsafe: bool = False) -> None:
    found = check(text.format(before), text.format(after), target="lightning", unsafe=unsafe)
    assert [each.code for each in found] == [code]


@pytest.mark.parametrize(
    ("before", "after", "code", "unsafe"),
    [
        ("self.datamodule.size", "self.trainer.datamodule.size", "TRU237", False),
        ("self.running_stage", "self.trainer.state.stage", "TRU237", False),
        ("self.precision", "self.trainer.precision", "TRU237", True),
        ("not self.use_amp", 'not (self.trainer.precision in ("16-mixed", "bf16-mixed"))', "TRU237", True),
        ("self.use_dp", "False", "TRU237", True),
        ("self.grad_norm(x)", "pl.utilities.grad_norm(self, norm_type=x)", "TRU230", True),
        (
            "print(self.summarize('full'))",
            "print(pl.utilities.model_summary.summarize(self, max_depth=-1))",
            "TRU232",
            False,
        ),
        (
            "print(self.summarize(max_depth=x))",
            "print(pl.utilities.model_summary.summarize(self, max_depth=x))",
            "TRU232",
            False,
        ),
        ("self.log('a', x, tbptt_reduce_fx=None)", "self.log('a', x)", "TRU228", False),
        ("self.log('a', x, sync_dist_op='mean')", "self.log('a', x)", "TRU228", False),
        ("self.log('a', x, sync_dist_op='sum')", "self.log('a', x, reduce_fx='sum')", "TRU228", True),
    ],
)
def test_module_members(before: str, after: str, code: str, unsafe: bool) -> None:
    on_lightning(MODULE, before, after, code, unsafe=unsafe)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("self.write_prediction('a', x)", "TRU238"),
        ("self.summarize(x, x)", "TRU232"),
        ("self.log('a', x, reduce_fx='max', sync_dist_op='sum')", "TRU228"),
    ],
)
def test_module_members_for_a_person(expression: str, code: str) -> None:
    check_noop(MODULE.format(expression), target="lightning", codes=[code])


@pytest.mark.parametrize("name", ["has_prepared_data", "train_transforms", "size()", "add_argparse_args(1)"])
def test_datamodule_members(name: str) -> None:
    (found,) = findings(DATA.format(f"self.{name}"), target="lightning")
    assert found.code in ("TRU241", "TRU242", "TRU249")
    assert found.fix is None


@pytest.mark.parametrize(
    "own",
    [
        "    precision = 16\n",
        "    def precision(self):\n        return 1\n",
        "    def __init__(self, precision):\n        super().__init__()\n        self.precision = precision\n",
        "    def __init__(self, x):\n        super().__init__()\n        self.register_buffer('precision', x)\n",
        "    def __getattr__(self, name):\n        return 1\n",
    ],
)
def test_own_members_are_left_alone(own: str) -> None:
    check_noop(MODULE.format("self.precision") + own, target="lightning")


def test_a_base_nobody_sees_may_have_it() -> None:
    text = "import pytorch_lightning as pl\nfrom elsewhere import Mixin\n\n\nclass Net(Mixin, pl.LightningModule):\n"
    check_noop(text + "    def look(self):\n        return self.precision\n", target="lightning")


def test_a_subclass_may_set_it() -> None:
    text = MODULE.format("self.precision")
    check_noop(f"{text}\n\nclass Half(Net):\n    precision = 16\n", target="lightning")


def test_transforms_of_the_constructor() -> None:
    text = "import pytorch_lightning as pl\n\n\nclass Data(pl.LightningDataModule):\n    def __init__(self, t):\n"
    found = check(
        text + "        super().__init__(t, dims=(1, 2))  # sizes\n        self.n = 1\n",
        text + "        super().__init__()  # sizes\n        self.train_transforms = t\n"
        "        self.dims = (1, 2)\n        self.n = 1\n",
        target="lightning",
    )
    assert [each.code for each in found] == ["TRU240"]
    assert found[0].silent


def test_the_constructor_of_a_base_of_the_project_takes_what_it_takes() -> None:
    check_noop(
        "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningDataModule):\n    def __init__(self, dims):\n"
        "        super().__init__()\n\n\nclass Data(Base):\n    def __init__(self):\n"
        "        super().__init__(dims=1)\n",
        target="lightning",
    )


def test_from_argparse_args_of_a_data_module() -> None:
    text = (
        "import inspect\nfrom argparse import Namespace\n\nimport pytorch_lightning as pl\n\n\n"
        "class Data(pl.LightningDataModule):\n    def __init__(self, size=1, workers=0):\n"
        "        super().__init__()\n        self.given = size, workers\n\n\n"
        "data = Data.from_argparse_args(Namespace(size=2, gpus=1), workers=3)\n"
    )
    after = upgrade(text, target="lightning", unsafe=True)
    # What the call does, on a class that takes what is left.
    space: dict[str, object] = {}
    stand_in = "class pl:\n    class LightningDataModule:\n        pass\n"
    exec(after.replace("import pytorch_lightning as pl\n", stand_in), space)
    assert space["data"].given == (2, 3)  # type: ignore[attr-defined]


def test_loaders_that_want_arguments() -> None:
    text = "import pytorch_lightning as pl\n\n\nclass Data(pl.LightningDataModule):\n"
    check_noop(
        f"{text}    def train_dataloader(self, epoch):\n        return []\n\n"
        "    def val_dataloader(self, shuffle=False):\n        return []\n",
        target="lightning",
        codes=["TRU248"],
    )


@pytest.mark.parametrize("argument", ["prefix", "output_filename"])
def test_arguments_of_the_same_name_elsewhere(argument: str) -> None:
    # An argument of the same name on another class is that class's.
    text = f"from pytorch_lightning.loggers import CometLogger\n\nlogger = CometLogger({argument}='a')\n"
    assert "TRU004" not in [each.code for each in findings(text)]


def test_options_of_a_data_module_are_added_in_plain_sight() -> None:
    before = DATA.split("    def look")[0] + (
        "    def __init__(self, folder, size=3, **kwargs):\n        super().__init__()\n\n\n"
        "parser = argparse.ArgumentParser()\nparser = Data.add_argparse_args(parser)\n"
    )
    after = before.replace(
        "import pytorch_lightning as pl\n", "import pytorch_lightning as pl\nimport inspect\nimport yaml\n"
    )
    after = after.replace(
        "parser = Data.add_argparse_args(parser)\n",
        "for name, parameter in inspect.signature(Data.__init__).parameters.items():\n"
        '    if name not in ("self", "args", "kwargs") and f"--{name}" not in parser._option_string_actions:\n'
        "        parser.add_argument(\n"
        '            f"--{name}", type=yaml.safe_load, nargs="?", const=True, default=parameter.default,\n'
        "            required=parameter.default is parameter.empty,\n"
        "        )\n",
    )
    head = "import argparse\n"
    found = check(head + before, head + after, target="lightning", unsafe=True)
    assert [each.code for each in found] == ["TRU249"]

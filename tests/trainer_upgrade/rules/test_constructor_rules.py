"""Arguments of callbacks, profilers and strategies; argparse helpers; pinned defaults; dicts of arguments."""

from __future__ import annotations

import pytest

from trainer_upgrade import testing

HEAD = "import os\n\nimport pytorch_lightning as pl\nfrom pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n"

SAFE = [
    pytest.param("ModelCheckpoint(period=2)", "ModelCheckpoint(every_n_epochs=2)", id="a renamed argument"),
    pytest.param(
        "ModelCheckpoint(every_n_val_epochs=n)", "ModelCheckpoint(every_n_epochs=n)", id="of any value"
    ),
    pytest.param(
        'ModelCheckpoint(filepath="out/{epoch}-{acc:.2f}")',
        'ModelCheckpoint(dirpath="out", filename="{epoch}-{acc:.2f}")',
        id="folder and template",
    ),
    pytest.param(
        'ModelCheckpoint(filepath=os.path.join(OUT, "x", "{epoch}"), prefix="net")',
        'ModelCheckpoint(dirpath=os.path.join(OUT, "x"), filename="net-{epoch}")',
        id="a joined path, and the prefix before the name",
    ),
    pytest.param('ModelCheckpoint(filepath="out/")', 'ModelCheckpoint(dirpath="out")', id="a folder alone"),
    pytest.param(
        "ModelCheckpoint(filepath=None, save_top_k=2)", "ModelCheckpoint(save_top_k=2)", id="no path"
    ),
    pytest.param(
        'ModelCheckpoint(monitor="val_acc", mode="auto")',
        'ModelCheckpoint(monitor="val_acc", mode="max")',
        id="grows",
    ),
    pytest.param(
        'EarlyStopping("val_loss", mode="auto")', 'EarlyStopping("val_loss", mode="min")', id="shrinks"
    ),
]


@pytest.mark.parametrize(("before", "after"), SAFE)
def test_safe(before: str, after: str) -> None:
    top = "OUT = n = 1\n"
    testing.check(HEAD + top + before + "\n", HEAD + top + after + "\n", target="lightning")


UNSAFE = [
    pytest.param(
        'ModelCheckpoint(filepath="runs/latest")',
        'ModelCheckpoint(dirpath="runs", filename="latest")',
        id="a name without a field may be a folder that exists",
    ),
    pytest.param(
        "ModelCheckpoint(filepath=OUT)",
        "ModelCheckpoint(dirpath=os.path.dirname(OUT), filename=os.path.basename(OUT))",
        id="a path that is not in sight",
    ),
    pytest.param(
        'pl.profilers.AdvancedProfiler(output_filename="logs/a.txt")',
        'pl.profilers.AdvancedProfiler(dirpath="logs", filename="a")',
        id="a profiler's file",
    ),
]


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_unsafe(before: str, after: str) -> None:
    top = "OUT = 'x'\n"
    assert testing.upgrade(HEAD + top + before + "\n", target="lightning") == HEAD + top + before + "\n"
    testing.check(HEAD + top + before + "\n", HEAD + top + after + "\n", target="lightning", unsafe=True)


UNTOUCHED = [
    pytest.param("ModelCheckpoint(dirpath='out', filename='{epoch}')", id="modern already"),
    pytest.param(
        "from keras.callbacks import ModelCheckpoint as K\nK(filepath='w.h5', period=5, mode='auto')",
        id="Keras's class",
    ),
    pytest.param(
        "class Mine(ModelCheckpoint):\n    def __init__(self, period): ...\n\nMine(period=3)",
        id="a subclass's own argument",
    ),
    pytest.param("EarlyStopping('loss', mode='min')", id="a mode that still stands"),
    pytest.param(
        "def ModelCheckpoint(period): ...\nModelCheckpoint(period=1)", id="the name was bound again"
    ),
]


@pytest.mark.parametrize("source", UNTOUCHED)
def test_untouched(source: str) -> None:
    testing.check_noop(HEAD + source + "\n", target="lightning")


def test_what_a_strategy_shares_with_the_trainer_is_left_to_the_trainer() -> None:
    testing.check(
        "import pytorch_lightning as pl\nfrom pytorch_lightning.plugins import DDPPlugin\n\n"
        "n = 2\nt = pl.Trainer(num_nodes=n, plugins=[DDPPlugin(num_nodes=n)])\n",
        "import pytorch_lightning as pl\nfrom pytorch_lightning.strategies import DDPStrategy\n\n"
        "n = 2\nt = pl.Trainer(num_nodes=n, strategy=DDPStrategy())\n",
        target="lightning",
        unsafe=True,
    )


ARGPARSE = (
    "from argparse import ArgumentParser\n\nimport pytorch_lightning as pl\n\nparser = ArgumentParser()\n"
    "parser = pl.Trainer.add_argparse_args(parser)\nargs = parser.parse_args()\n"
    "trainer = pl.Trainer.from_argparse_args(args, callbacks=[])\n"
)


def test_argparse_helpers_are_served_by_compat() -> None:
    testing.check(
        ARGPARSE,
        ARGPARSE.replace(
            "import pytorch_lightning as pl\n", "import relight as pl\nfrom relight import compat\n"
        ).replace("pl.Trainer.", "compat.Trainer."),
    )


def test_argparse_helpers_have_no_safe_twin_on_lightning() -> None:
    assert testing.upgrade(ARGPARSE, target="lightning") == ARGPARSE
    text = testing.upgrade(ARGPARSE, target="lightning", unsafe=True)
    assert "add_argparse_args" not in text
    assert "inspect.signature(pl.Trainer.__init__)" in text


def test_argparse_helpers_stay_where_options_that_are_gone_are_read() -> None:
    testing.check_noop(ARGPARSE + "print(args.gpus)\n", target="lightning", codes=["TRU435", "TRU434"])


def test_options_that_are_all_in_sight_are_passed_by_name() -> None:
    head = (
        "from argparse import ArgumentParser\n\nimport pytorch_lightning as pl\n\nparser = ArgumentParser()\n"
        'parser.add_argument("--max_epochs", type=int, default=3)\nparser.add_argument("--rate", type=float)\n'
        'parser.add_argument("--gpus", type=int, default=0)\nargs = parser.parse_args()\n'
    )
    testing.check(
        head + "t = pl.Trainer.from_argparse_args(args, logger=False)\n",
        head + 't = pl.Trainer(max_epochs=args.max_epochs, accelerator="gpu" if args.gpus else "cpu", '
        "devices=args.gpus or 1, logger=False)\n",
        target="lightning",
    )


def test_default_devices_are_pinned_on_request_only() -> None:
    source = "import pytorch_lightning as pl\n\na = pl.Trainer(max_epochs=1)\nb = pl.Trainer(devices=2)\n"
    testing.check_noop(source, target="lightning")
    testing.check(
        source,
        source.replace("max_epochs=1", 'max_epochs=1, accelerator="cpu", devices=1'),
        target="lightning",
        pin_defaults=True,
    )


DICT = (
    "import {root} as pl\n{more}\n\ndef build(debug):\n    kw = dict(gpus=2, max_epochs=3)\n    if debug:\n"
    '        kw["gpus"] = 0\n    return kw, {{"gpus": 8, "name": "night"}}\n\n\n'
    "kw, job = build(True)\ntrainer = {name}.Trainer(**kw)\n"
)


def test_a_dict_whose_way_cannot_be_followed_is_reported() -> None:
    source = DICT.format(root="pytorch_lightning", more="", name="pl")
    testing.check_noop(source, target="lightning", codes=["TRU101"])


def test_compat_translates_such_a_dict_on_relight() -> None:
    testing.check(
        DICT.format(root="pytorch_lightning", more="", name="pl"),
        DICT.format(root="relight", more="from relight import compat\n", name="compat"),
        unsafe=True,
    )


def test_early_stopping_has_to_name_what_it_watches() -> None:
    before = HEAD + "x = EarlyStopping()\ny = EarlyStopping(\n    patience=3,\n)\n"
    after = (
        HEAD + 'x = EarlyStopping(monitor="early_stop_on")\n'
        'y = EarlyStopping(\n    patience=3,\n    monitor="early_stop_on",\n)\n'
    )
    testing.check(before, after, target="lightning", unsafe=True, codes=["TRU610", "TRU610"])
    testing.check(before, before, target="lightning")  # which release it was written for is not known


@pytest.mark.parametrize(
    "call",
    [
        pytest.param('EarlyStopping("val_loss")', id="named by position"),
        pytest.param("EarlyStopping(**options)", id="may be among the options"),
        pytest.param("Mine()", id="a subclass says it itself"),
    ],
)
def test_early_stopping_that_may_name_it(call: str) -> None:
    mine = 'class Mine(EarlyStopping):\n    def __init__(self):\n        super().__init__(monitor="x")\n\n\n'
    testing.check_noop(f"{HEAD}{mine}x = {call}\n", target="lightning", codes=[])


@pytest.mark.parametrize("name", ["GPUStatsMonitor", "XLAStatsMonitor"])
def test_arguments_that_go_together_go_in_one_fix(name: str) -> None:
    arguments = (
        "verbose=True"
        if name.startswith("X")
        else "intra_step_time=True, inter_step_time=True, fan_speed=True"
    )
    testing.check(
        f"from pytorch_lightning.callbacks import {name}\n\nmonitor = {name}({arguments})\n",
        "from pytorch_lightning.callbacks import DeviceStatsMonitor\n\nmonitor = DeviceStatsMonitor()\n",
        target="lightning",
        unsafe=True,
    )

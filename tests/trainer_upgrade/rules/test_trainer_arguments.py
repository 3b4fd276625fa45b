"""Arguments of the Trainer: what each call becomes, and which calls are nobody's business."""

from __future__ import annotations

import pytest

from trainer_upgrade import testing

PL = "import pytorch_lightning as pl\n"


def call(before: str, after: str, *, target: str = "lightning", unsafe: bool = False, head: str = "") -> None:
    root = PL.replace("pytorch_lightning", "relight") if target == "relight" else PL
    testing.check(PL + head + before + "\n", root + head + after + "\n", target=target, unsafe=unsafe)


LITERALS = [
    pytest.param("gpus=2", 'accelerator="gpu", devices=2', id="a number of GPUs"),
    pytest.param("gpus=[1]", 'accelerator="gpu", devices=[1]', id="a list of GPUs"),
    pytest.param('gpus="0,1"', 'accelerator="gpu", devices="0,1"', id="GPUs in a string"),
    pytest.param('gpus="2,"', 'accelerator="gpu", devices="2,"', id="one GPU by its number keeps the comma"),
    pytest.param("gpus=-1", 'accelerator="gpu", devices=-1', id="all GPUs"),
    pytest.param("gpus=0", 'accelerator="cpu", devices=1', id="no GPU is one CPU process, devices=0 raises"),
    pytest.param("gpus=None", 'accelerator="cpu", devices=1', id="None is one CPU process"),
    pytest.param("gpus=[]", 'accelerator="cpu", devices=1', id="an empty list is one CPU process"),
    pytest.param("num_processes=4", 'accelerator="cpu", devices=4', id="CPU processes"),
    pytest.param("tpu_cores=8", 'accelerator="tpu", devices=8', id="TPU cores"),
    pytest.param(
        "tpu_cores=[1]", 'accelerator="tpu", devices=[0]', id="a TPU core's number counts from 0 now"
    ),
    pytest.param(
        'gpus=2, accelerator="ddp"',
        'devices=2, accelerator="gpu", strategy="ddp"',
        id="a strategy in accelerator",
    ),
    pytest.param(
        'num_processes=2, accelerator="ddp_cpu"',
        'devices=2, accelerator="cpu", strategy="ddp_spawn"',
        id="ddp_cpu spawned processes",
    ),
    pytest.param("precision=16", 'precision="16-mixed"', id="precision has names"),
    pytest.param(
        'precision=16, amp_backend="native"', 'precision="16-mixed"', id="the native backend is all there is"
    ),
    pytest.param("checkpoint_callback=False", "enable_checkpointing=False", id="a switch that was renamed"),
    pytest.param("progress_bar_refresh_rate=0", "enable_progress_bar=False", id="rate 0 is no bar"),
    pytest.param("weights_summary=None", "enable_model_summary=False", id="no summary"),
    pytest.param('weights_summary="top", max_epochs=1', "max_epochs=1", id="the default summary goes"),
    pytest.param("replace_sampler_ddp=False", "use_distributed_sampler=False", id="a renamed argument"),
    pytest.param("max_steps=None, max_epochs=1", "max_epochs=1", id="None is no longer no limit"),
    pytest.param(
        "reload_dataloaders_every_epoch=True", "reload_dataloaders_every_n_epochs=1", id="true is 1"
    ),
    pytest.param("profiler=True", 'profiler="simple"', id="the profiler has a name"),
    pytest.param("strategy=None, max_epochs=1", "max_epochs=1", id="no strategy is the default"),
    pytest.param("resume_from_checkpoint=None, max_epochs=1", "max_epochs=1", id="nothing to resume from"),
    pytest.param("terminate_on_nan=False, max_epochs=1", "max_epochs=1", id="a default goes"),
    pytest.param(
        "early_stop_callback=False, max_epochs=1", "max_epochs=1", id="no early stopping is the default"
    ),
    pytest.param("row_log_interval=5", "log_every_n_steps=5", id="a name of 0.x"),
    pytest.param("val_percent_check=0.1", "limit_val_batches=0.1", id="a share of 0.x"),
    pytest.param(
        "progress_bar_refresh_rate=5",
        "callbacks=[pl.callbacks.TQDMProgressBar(refresh_rate=5)]",
        id="a rate becomes a bar",
    ),
    pytest.param(
        "progress_bar_refresh_rate=5, callbacks=[cb]",
        "callbacks=[cb, pl.callbacks.TQDMProgressBar(refresh_rate=5)]",
        id="the bar joins the list",
    ),
    pytest.param(
        "progress_bar_refresh_rate=5, callbacks=None",
        "callbacks=[pl.callbacks.TQDMProgressBar(refresh_rate=5)]",
        id="None is no callback",
    ),
    pytest.param(
        "progress_bar_refresh_rate=5, callbacks=[]",
        "callbacks=[pl.callbacks.TQDMProgressBar(refresh_rate=5)]",
        id="an empty list",
    ),
    pytest.param(
        "accumulate_grad_batches={0: 8, 4: 2}",
        "callbacks=[pl.callbacks.GradientAccumulationScheduler(scheduling={0: 8, 4: 2})]",
        id="a schedule is a callback",
    ),
    pytest.param(
        "gpus=1, progress_bar_refresh_rate=2, callbacks=[pl.callbacks.RichProgressBar()]",
        'accelerator="gpu", devices=1, callbacks=[pl.callbacks.RichProgressBar()]',
        id="a bar of the user's own wins",
    ),
    pytest.param("gpus='0,1'", "accelerator='gpu', devices='0,1'", id="the user's quotes"),
]


@pytest.mark.parametrize(("before", "after"), LITERALS)
def test_literal(before: str, after: str) -> None:
    call(f"pl.Trainer({before})", f"pl.Trainer({after})", head="cb = None\n" if "cb" in before else "")


RUN_TIME = [
    pytest.param(
        "def f(n: int):\n    return pl.Trainer(gpus=n)",
        'def f(n: int):\n    return pl.Trainer(accelerator="gpu" if n else "cpu", devices=n or 1)',
        id="a whole number: truth decides",
    ),
    pytest.param(
        "def f(c):\n    return pl.Trainer(gpus=c.gpus)",
        'def f(c):\n    return pl.Trainer(accelerator="gpu" if c.gpus not in (None, 0, "0", "", []) else "cpu", '
        'devices=c.gpus if c.gpus not in (None, 0, "0", "", []) else 1)',
        id="anything: a string of one zero is no GPU either",
    ),
    pytest.param(
        "def f(c):\n    return pl.Trainer(gpus=1 if c else None)",
        'def f(c):\n    return pl.Trainer(accelerator="gpu" if c else "cpu", devices=1)',
        id="each branch is translated, and what is equal is written once",
    ),
    pytest.param(
        "def f(c):\n    return pl.Trainer(gpus=2 if c else 0, precision=16 if c else 32)",
        'def f(c):\n    return pl.Trainer(accelerator="gpu" if c else "cpu", devices=2 if c else 1, '
        'precision="16-mixed" if c else "32-true")',
        id="two arguments under one condition",
    ),
    pytest.param(
        'def f(c):\n    return pl.Trainer(strategy="deepspeed" if c else None)',
        'def f(c):\n    return pl.Trainer(strategy="deepspeed" if c else "auto")',
        id="the branch that is None is auto",
    ),
    pytest.param(
        "def f(n: int):\n    return pl.Trainer(progress_bar_refresh_rate=n)",
        "def f(n: int):\n    return pl.Trainer(enable_progress_bar=n != 0, "
        "callbacks=[*([pl.callbacks.TQDMProgressBar(refresh_rate=n)] if n else [])])",
        id="a rate that may be 0",
    ),
    pytest.param(
        "def f(n=None, *, m: 'int | None' = None):\n    return pl.Trainer(max_steps=m)",
        "def f(n=None, *, m: 'int | None' = None):\n    return pl.Trainer(max_steps=m if m is not None else -1)",
        id="a limit that may be None",
    ),
    pytest.param(
        "def f(flag: bool):\n    return pl.Trainer(checkpoint_callback=flag)",
        "def f(flag: bool):\n    return pl.Trainer(enable_checkpointing=flag)",
        id="a switch of known type",
    ),
    pytest.param(
        "import torch\nt = pl.Trainer(gpus=torch.cuda.device_count())",
        'import torch\nt = pl.Trainer(accelerator="gpu" if torch.cuda.device_count() else "cpu", '
        "devices=torch.cuda.device_count() or 1)",
        id="all GPUs there are",
    ),
    pytest.param(
        "keep = pl.callbacks.ModelCheckpoint()\nt = pl.Trainer(checkpoint_callback=keep)",
        "keep = pl.callbacks.ModelCheckpoint()\nt = pl.Trainer(callbacks=[keep])",
        id="a callback in an argument of its own",
    ),
    pytest.param(
        "more = [pl.callbacks.LearningRateMonitor()]\nt = pl.Trainer(progress_bar_refresh_rate=3, callbacks=more)",
        "more = [pl.callbacks.LearningRateMonitor()]\n"
        "t = pl.Trainer(callbacks=[*more, pl.callbacks.TQDMProgressBar(refresh_rate=3)])",
        id="a list by name is not changed in place",
    ),
    pytest.param(
        "def f(n: int):\n    return pl.Trainer(profiler=n == 1)",
        'def f(n: int):\n    return pl.Trainer(profiler="simple" if n == 1 else None)',
        id="a switch that became a name",
    ),
    pytest.param(
        "from pytorch_lightning.strategies import DDPStrategy\n"
        "def f(n):\n    return pl.Trainer(plugins=DDPStrategy() if n else None)",
        "from pytorch_lightning.strategies import DDPStrategy\n"
        'def f(n):\n    return pl.Trainer(strategy=DDPStrategy() if n else "auto")',
        id="a strategy among plugins under a condition",
    ),
    pytest.param(
        "one = pl.callbacks.LearningRateMonitor()\nt = pl.Trainer(progress_bar_refresh_rate=3, callbacks=one)",
        "one = pl.callbacks.LearningRateMonitor()\n"
        "t = pl.Trainer(callbacks=[one, pl.callbacks.TQDMProgressBar(refresh_rate=3)])",
        id="a single callback",
    ),
]


@pytest.mark.parametrize(("before", "after"), RUN_TIME)
def test_value_known_at_run_time_only(before: str, after: str) -> None:
    call(before, after)


def test_option_of_the_command_line_has_a_type() -> None:
    head = "from argparse import ArgumentParser\np = ArgumentParser()\n"
    head += 'p.add_argument("--gpus", type=int, default=None)\nargs = p.parse_args()\n'
    call(
        "pl.Trainer(gpus=args.gpus)",
        'pl.Trainer(accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or 1)',
        head=head,
    )


FORMS = [
    pytest.param(
        "t = pl.Trainer(\n    gpus=2,  # both cards\n    # how long\n    max_epochs=3,\n    weights_summary=None,\n)",
        't = pl.Trainer(\n    accelerator="gpu",\n    devices=2,  # both cards\n    # how long\n    max_epochs=3,\n'
        "    enable_model_summary=False,\n)",
        id="an argument a line, comments and the last comma stay",
    ),
    pytest.param(
        "t = pl.Trainer(gpus=2,\n               max_epochs=3)",
        't = pl.Trainer(accelerator="gpu",\n               devices=2,\n               max_epochs=3)',
        id="aligned arguments",
    ),
    pytest.param(
        "t = pl.Trainer(max_epochs=3,\n               terminate_on_nan=False)",
        "t = pl.Trainer(max_epochs=3)",
        id="the last argument goes with its comma",
    ),
    pytest.param(
        "t = pl.Trainer(\n    max_epochs=3,\n    terminate_on_nan=False,  # as ever\n)",
        "t = pl.Trainer(\n    max_epochs=3,\n    # as ever\n)",
        id="a comment outlives its argument",
    ),
    pytest.param("t = pl.Trainer(terminate_on_nan=False)", "t = pl.Trainer()", id="nothing is left"),
    pytest.param(
        "kw = dict(gpus=1, max_epochs=2)\nt = pl.Trainer(**kw)",
        'kw = dict(accelerator="gpu", devices=1, max_epochs=2)\nt = pl.Trainer(**kw)',
        id="a dict of arguments that is used once",
    ),
    pytest.param(
        'kw = {"gpus": 1, "max_epochs": 2}\nt = pl.Trainer(**kw)',
        'kw = {"accelerator": "gpu", "devices": 1, "max_epochs": 2}\nt = pl.Trainer(**kw)',
        id="a dict display",
    ),
    pytest.param(
        "from functools import partial\nmake = partial(pl.Trainer, gpus=0)\ncpu = partial(make, gpus=None)",
        'from functools import partial\nmake = partial(pl.Trainer, accelerator="cpu", devices=1)\n'
        'cpu = partial(make, accelerator="cpu", devices=1)',
        id="partial, and a partial of it",
    ),
    pytest.param(
        "class T(pl.Trainer):\n    def __init__(self, cards: int):\n        super().__init__(gpus=cards)",
        "class T(pl.Trainer):\n    def __init__(self, cards: int):\n"
        '        super().__init__(accelerator="gpu" if cards else "cpu", devices=cards or 1)',
        id="what a subclass passes on",
    ),
    pytest.param(
        "class T(pl.Trainer):\n    pass\nT(gpus=0)",
        'class T(pl.Trainer):\n    pass\nT(accelerator="cpu", devices=1)',
        id="a subclass without a constructor of its own",
    ),
    pytest.param(
        "t = pl.Trainer(False, max_epochs=1)", "t = pl.Trainer(logger=False, max_epochs=1)", id="a position"
    ),
]


@pytest.mark.parametrize(("before", "after"), FORMS)
def test_form(before: str, after: str) -> None:
    call(before, after)


def test_safe_and_unsafe_parts_of_one_call() -> None:
    before = 'pl.Trainer(gpus=1, precision=16, amp_backend="apex", amp_level="O1")'
    call(before, 'pl.Trainer(accelerator="gpu", devices=1, precision=16, amp_backend="apex", amp_level="O1")')
    call(before, 'pl.Trainer(accelerator="gpu", devices=1, precision="16-mixed")', unsafe=True)


def test_a_strategy_in_an_option_wants_a_look() -> None:
    head = "from argparse import ArgumentParser\np = ArgumentParser()\n"
    head += 'p.add_argument("--accelerator", default="ddp")\nargs = p.parse_args()\n'
    before = "pl.Trainer(gpus=2, accelerator=args.accelerator)"
    after = 'pl.Trainer(devices=2, accelerator="gpu", strategy=args.accelerator or "auto")'
    call(before, before, head=head)
    call(before, after, head=head, unsafe=True)


def test_callbacks_of_unknown_kind_want_a_look() -> None:
    before = "def f(cbs=None):\n    return pl.Trainer(progress_bar_refresh_rate=2, callbacks=cbs)"
    after = (
        "def f(cbs=None):\n"
        "    return pl.Trainer(callbacks=[*(cbs or []), pl.callbacks.TQDMProgressBar(refresh_rate=2)])"
    )
    call(before, before)
    call(before, after, unsafe=True)


RELIGHT = [
    pytest.param(
        "t = pl.Trainer(max_epochs=1, limit_train_batches=5)\nt.fit(m)\nt.test(m)",
        "t = pl.Trainer(max_epochs=1)\nt.fit(m, limit_train_batches=5)\nt.test(m)",
        id="what fit alone uses goes to fit",
    ),
    pytest.param(
        "t = pl.Trainer(limit_val_batches=2)\nt.fit(m)\nt.validate(m)",
        "t = pl.Trainer()\nt.fit(m, limit_val_batches=2)\nt.validate(m, limit_batches=2)",
        id="a limit goes to both calls",
    ),
    pytest.param(
        "def make(n):\n    return pl.Trainer(gradient_clip_val=n)",
        'def make(n):\n    return pl.Trainer(options={"gradient_clip_val": n})',
        id="where the calls are not in sight it is an option",
    ),
    pytest.param(
        "t = pl.Trainer(val_check_interval=n)\nn = 3\nt.fit(m)",
        't = pl.Trainer(options={"val_check_interval": n})\nn = 3\nt.fit(m)',
        id="a value that changes before fit stays where it is",
    ),
    pytest.param(
        "t = pl.Trainer(min_epochs=2)",
        "t = pl.Trainer(callbacks=[pl.callbacks.TrainAtLeast(epochs=2)])",
        id="a minimum is a stopping condition",
    ),
    pytest.param(
        "t = pl.Trainer(sync_batchnorm=True)",
        "t = pl.Trainer(plugins=[pl.plugins.TorchSyncBatchNorm()])",
        id="synchronised batch norm is a plugin",
    ),
    pytest.param(
        "t = pl.Trainer(weights_summary=None)", "t = pl.Trainer()", id="no summary unless asked for"
    ),
]


@pytest.mark.parametrize(("before", "after"), RELIGHT)
def test_relight(before: str, after: str) -> None:
    head = "m = None\n" + ("n = 1\n" if "interval=n" in before else "")
    call(before, after, target="relight", head=head)


def test_settings_of_torch_stand_before_the_trainer() -> None:
    testing.check(
        "import pytorch_lightning as pl\nimport torch\n\n\ndef f():\n    t = pl.Trainer(benchmark=True)\n",
        "import relight as pl\nimport torch\n\n\ndef f():\n    torch.backends.cudnn.benchmark = True\n"
        "    t = pl.Trainer()\n",
    )


UNTOUCHED = [
    pytest.param("pl.Trainer(max_epochs=3, accelerator='auto', devices=2)", id="modern already"),
    pytest.param("pl.Trainer(precision='16-true')", id="a precision of today"),
    pytest.param("pl.Trainer(precision=args.precision)", id="old precisions are still accepted"),
    pytest.param(
        "from transformers import Trainer\nTrainer(gpus=1, resume_from_checkpoint='x')", id="another library"
    ),
    pytest.param("def Trainer(gpus): ...\nTrainer(gpus=1)", id="a function of the user's own"),
    pytest.param(
        "class Job:\n    def Trainer(self, gpus): ...\nJob().Trainer(gpus=1)", id="a method of that name"
    ),
    pytest.param("run = dict(gpus=1, name='x')", id="a dict that has nothing to do with it"),
    pytest.param(
        "class T(pl.Trainer):\n    def __init__(self, gpus): ...\nT(gpus=1)", id="a subclass's own argument"
    ),
    pytest.param("print('pl.Trainer(gpus=1)')", id="a string"),
    pytest.param("if pl.__version__ < '2':\n    pl.Trainer(gpus=1)", id="kept for an old release on purpose"),
    pytest.param("pl.Trainer(max_steps=args.max_steps)", id="a limit nobody says may be None"),
    pytest.param(
        "pl.Trainer(accelerator='gpu' if args.gpus else 'cpu', devices=args.gpus or 1)", id="our own output"
    ),
    pytest.param("import polars as pl\npl.Trainer(gpus=1)", id="the name was bound again"),
]


@pytest.mark.parametrize("source", UNTOUCHED)
def test_untouched(source: str) -> None:
    testing.check_noop("import pytorch_lightning as pl\n\nargs = None\n" + source + "\n", target="lightning")


MANUAL = [
    pytest.param('pl.Trainer(gpus=2, accelerator="dp")', "TRU108", id="DataParallel has no twin"),
    pytest.param(
        "pl.Trainer(truncated_bptt_steps=2)", "TRU144", id="truncated backpropagation is the module's"
    ),
    pytest.param("pl.Trainer(track_grad_norm=2)", "TRU127", id="logging of norms is the module's"),
    pytest.param("pl.Trainer(stochastic_weight_avg=True)", "TRU175", id="a learning rate is wanted"),
    pytest.param("pl.Trainer(amp_level=cfg.level)", "TRU113", id="a level that nobody can see"),
    pytest.param(
        "pl.Trainer(gpus=cfg.n, accelerator=cfg.a)", "TRU101", id="hardware or strategy: not to be guessed"
    ),
]


@pytest.mark.parametrize(("source", "code"), MANUAL)
def test_reported_and_left(source: str, code: str) -> None:
    text = "import pytorch_lightning as pl\n\ncfg = object()\n" + source + "\n"
    assert testing.upgrade(text, target="lightning", unsafe=True) == text
    found = testing.findings(text, target="lightning")
    assert code in [each.code for each in found]
    assert all(each.fix is None for each in found)


def test_defaults_of_a_parser_that_reaches_the_trainer_are_told() -> None:
    text = (
        "import argparse\nimport pytorch_lightning as pl\n\nparser = argparse.ArgumentParser()\n"
        "parser = pl.Trainer.add_argparse_args(parser)\nparser.set_defaults(gpus=2, max_epochs=3, mine=1)\n"
        "trainer = pl.Trainer.from_argparse_args(parser.parse_args())\n"
    )
    found = testing.findings(text, target="lightning")
    assert sorted(each.code for each in found) == ["TRU101", "TRU434", "TRU435"]
    # An option that is gone would be dropped without a word: nothing is rewritten.
    testing.check(text, text, target="lightning", unsafe=True)
    # On relight compat takes them.
    assert "TRU101" not in [each.code for each in testing.findings(text)]

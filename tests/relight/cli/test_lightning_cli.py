"""The command line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

pytest.importorskip("jsonargparse")

import cli_program as program

import relight
from relight.callbacks import Callback, EarlyStopping
from relight.cli import (
    LightningArgumentParser,
    LightningCLI,
    ReduceLROnPlateau,
    SaveConfigCallback,
    instantiate_class,
    instantiate_module,
)
from relight.cli._instantiate import WITH_NONE
from relight.core.hparams import given_hyperparameters
from relight.trainer.options import UNSET, Options
from relight.utilities.exceptions import MisconfigurationException

pytestmark = pytest.mark.filterwarnings(
    "ignore:There are .* training batches",
    "ignore:Checkpoint directory .* exists",
    "ignore:No seed found",
    "error::DeprecationWarning",
)


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["main.py"])


QUIET = ["--trainer.accelerator=cpu", "--trainer.enable_progress_bar=false"]
CSV = ["--trainer.logger=CSVLogger", "--trainer.logger.save_dir=."]
NO_FILES = ["--trainer.logger=false", "--trainer.enable_checkpointing=false"]


def run(*args: str, **settings: Any) -> LightningCLI:
    settings = {
        "model_class": program.Net,
        "datamodule_class": program.Data,
        "save_config_callback": None,
        **settings,
    }
    kind = settings.pop("kind", LightningCLI)
    return kind(args=[args[0], *QUIET, *args[1:]], **settings)


def fit(*args: str, **settings: Any) -> LightningCLI:
    return run("fit", *NO_FILES, "--trainer.max_epochs=1", *args, **settings)


def build(*args: str, **settings: Any) -> LightningCLI:
    """Everything but running."""
    settings = {"model_class": program.Net, "save_config_callback": None, **settings}
    return LightningCLI(args=[*QUIET, *NO_FILES, *args], run=False, **settings)


def last(path: str = ".") -> Path:
    return sorted(Path(path, "lightning_logs").iterdir())[-1]


# Configuration


def test_a_run_can_be_repeated_from_its_saved_configuration() -> None:
    saving = {"save_config_callback": SaveConfigCallback, "kind": program.CLI}
    first = run("fit", *CSV, "--trainer.max_epochs=2", "--model.rate=0.5", "--data.width=3", **saving)
    assert first.trainer.global_step == 8
    config = Path("lightning_logs/version_0/config.yaml")
    saved = yaml.safe_load(config.read_text())
    assert config.read_text().startswith(f"# relight=={relight.__version__}\n")
    assert isinstance(saved["seed_everything"], int)  # not `true`
    assert saved["model"] == {"rate": 0.5, "encoder": None, "widths": [1, 2]}
    assert saved["data"] == {"batch_size": 1, "samples": 4, "width": 3}
    assert saved["trainer"]["max_epochs"] == 2
    assert saved["stop"]["monitor"] == "val_loss"
    assert first.model.layer.in_features == 3
    second = program.CLI(program.Net, program.Data, args=["fit", "--config", str(config)])
    again = yaml.safe_load(Path("lightning_logs/version_1/config.yaml").read_text())
    assert again == saved
    assert torch.equal(first.model.layer.weight, second.model.layer.weight)


def test_arguments_go_before_files(tmp_path: Path) -> None:
    Path("a.yaml").write_text("model: {rate: 0.3}\ntrainer: {max_epochs: 5}\nlimit_train_batches: 3\n")
    cli = fit("--config=a.yaml", "--trainer.max_epochs=1")
    assert (cli.model.rate, cli.trainer.max_epochs, cli.trainer.global_step) == (0.3, 1, 3)


def test_one_file_for_all_subcommands() -> None:
    Path("all.yaml").write_text(
        "fit: {model: {rate: 0.3}, limit_train_batches: 2}\ntest: {limit_batches: 1, trainer: {num_nodes: 1}}\n"
    )
    cli = LightningCLI(
        program.Net, program.Data, save_config_callback=None,
        args=["--config=all.yaml", "fit", *QUIET, *NO_FILES, "--trainer.max_epochs=1"],
    )  # fmt: skip
    assert (cli.model.rate, cli.trainer.global_step) == (0.3, 2)


def test_print_config(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("fit", "--model.rate=0.7", "--print_config")
    assert ended.value.code == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert shown["model"]["rate"] == 0.7
    assert shown["seed_everything"] is True
    assert shown["trainer"]["options"] is None


def test_help_says_what_arguments_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("fit", "--help")
    shown = capsys.readouterr().out
    for text in (
        "Learning rate.",
        "--trainer.max_epochs",
        "--limit_train_batches",
        "--ckpt_path",
        "--data.width",
    ):
        assert text in shown


def test_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PL_MODEL__RATE", "0.25")
    monkeypatch.setenv("PL_TRAINER__MAX_EPOCHS", "7")
    cli = build(parser_kwargs={"default_env": True})
    assert (cli.model.rate, cli.trainer.max_epochs) == (0.25, 7)
    assert build().model.rate == 0.1


@pytest.mark.parametrize("form", [dict, "namespace"])
def test_arguments_as_objects(form: Any) -> None:
    from jsonargparse import Namespace

    given: Any = {"model": {"rate": 0.5}, "trainer": {"logger": False, "max_epochs": 3}}
    if form == "namespace":
        given = Namespace(model=Namespace(rate=0.5), trainer=Namespace(logger=False, max_epochs=3))
    cli = LightningCLI(program.Net, args=given, run=False)
    assert (cli.model.rate, cli.trainer.max_epochs) == (0.5, 3)


def test_a_command_line_beside_args_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["main.py", "fit"])
    with pytest.warns(UserWarning, match=r"not read: \['fit'\]"):
        build()


@pytest.mark.parametrize(("default", "given", "expected"), [(7, [], 7), (False, [], False), (7, ["9"], 9)])
def test_seeds(default: Any, given: list[str], expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PL_GLOBAL_SEED", raising=False)
    cli = build(*(f"--seed_everything={seed}" for seed in given), seed_everything_default=default)
    assert cli.config["seed_everything"] is expected if expected is False else expected
    if expected:
        assert torch.initial_seed() == expected


# The Trainer


@pytest.mark.parametrize(
    ("args", "steps"),
    [
        (["--trainer.options.limit_train_batches=2"], 2),
        (["--limit_train_batches=3"], 3),
        (["--trainer.options.limit_train_batches=2", "--limit_train_batches=3"], 3),
        (["--trainer.options={limit_train_batches: 2, gradient_clip_val: 0.5}"], 2),
        (["--limit_train_batches=0.5"], 2),
    ],
)
def test_options_of_entry_points(args: list[str], steps: int) -> None:
    assert fit(*args).trainer.global_step == steps


def test_options_are_typed() -> None:
    cli = build("--trainer.options.check_val_every_n_epoch=null", "--trainer.options.val_check_interval=5")
    assert cli.trainer.options == Options(check_val_every_n_epoch=None, val_check_interval=5)
    assert build("--trainer.options.limit_val_batches=1").trainer.options.check_val_every_n_epoch is UNSET
    dumped = cli.parser.dump(cli.config, **WITH_NONE)
    again = LightningCLI(program.Net, args=yaml.safe_load(dumped), run=False, save_config_callback=None)
    assert again.trainer.options == cli.trainer.options


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("--trainer.limit_train_batches=2", "say `trainer.options.limit_train_batches`"),
        ("--trainer.gpus=1", "TRU101"),
        ("--trainer.max_epohcs=1", "did you mean `max_epochs`?"),
    ],
)
def test_arguments_that_are_elsewhere(argument: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fit(argument)
    assert text in capsys.readouterr().err
    name, value = argument.removeprefix("--trainer.").split("=")
    Path("old.yaml").write_text(f"trainer: {{{name}: {value}}}\n")
    with pytest.raises(SystemExit):
        fit("--config=old.yaml")
    assert text in capsys.readouterr().err


def test_trainer_defaults() -> None:
    timer = Callback()
    defaults = {"max_epochs": 4, "options": {"limit_train_batches": 1}, "callbacks": timer}
    cli = build(trainer_defaults=defaults)
    assert cli.trainer.max_epochs == 4
    assert cli.trainer.options == Options(limit_train_batches=1)
    assert timer in cli.trainer.callbacks
    assert build("--trainer.max_epochs=2", trainer_defaults=defaults).trainer.max_epochs == 2
    written = {"class_path": "relight.callbacks.EarlyStopping", "init_args": {"monitor": "x"}}
    assert build(trainer_defaults={"callbacks": written}).trainer.callbacks[0].monitor == "x"
    with pytest.raises(
        MisconfigurationException, match=r"`trainer_defaults`.*trainer\.options\.gradient_clip_val"
    ):
        build(trainer_defaults={"gradient_clip_val": 1.0})


def test_what_the_trainer_takes_can_be_built() -> None:
    cli = build(
        "--trainer.callbacks+=EarlyStopping", "--trainer.callbacks.monitor=x", "--trainer.callbacks+=lr_monitor"
        if False else "--trainer.callbacks+=Timer", "--trainer.callbacks.duration=00:00:01:00",
        "--trainer.profiler=SimpleProfiler", "--trainer.profiler.filename=perf", "--trainer.devices=1",
        "--trainer.strategy=SingleDeviceStrategy", "--trainer.strategy.device=cpu", "--trainer.precision=64-true",
        "--trainer.default_root_dir=here",
    )  # fmt: skip
    kinds = [type(callback).__name__ for callback in cli.trainer.callbacks]
    assert kinds[:2] == ["EarlyStopping", "Timer"]
    assert cli.trainer.profiler.filename == "perf"
    assert type(cli.trainer.strategy).__name__ == "SingleDeviceStrategy"
    assert cli.trainer.precision == "64-true"


def test_profilers_take_arguments_of_torch() -> None:
    profiler = build(
        "--trainer.profiler=PyTorchProfiler", "--trainer.profiler.row_limit=7", "--trainer.profiler.with_stack=true",
        "--trainer.profiler.record_shapes=true", "--trainer.profiler.dict_kwargs.with_flops=true",
    ).trainer.profiler  # fmt: skip
    assert profiler._row_limit == 7
    assert profiler._default  # its own schedule, not none
    assert profiler._schedule is not None
    assert {name: profiler._settings[name] for name in ("with_stack", "record_shapes", "with_flops")} == {
        "with_stack": True, "record_shapes": True, "with_flops": True,
    }  # fmt: skip


def test_callbacks_by_registered_name() -> None:
    cli = build("--trainer.callbacks=[model_summary]", "--trainer.profiler=simple")
    assert type(cli.trainer.callbacks[0]).__name__ == "ModelSummary"
    assert type(cli.trainer.profiler).__name__ == "SimpleProfiler"


class MyTrainer(relight.Trainer):
    def __init__(self, *, greeting: str = "hello", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.greeting = greeting


def make_trainer(
    epochs: int = 3, logger: bool = True, callbacks: list[Callback] | None = None
) -> relight.Trainer:
    return relight.Trainer(
        max_epochs=epochs, logger=logger, callbacks=callbacks, enable_progress_bar=False, accelerator="cpu"
    )


def test_a_trainer_of_ones_own() -> None:
    cli = build("--trainer.greeting=hi", "--trainer.max_epochs=2", trainer_class=MyTrainer)
    assert (type(cli.trainer), cli.trainer.greeting, cli.trainer.max_epochs) == (MyTrainer, "hi", 2)
    cli = LightningCLI(
        program.Net, program.Data, trainer_class=make_trainer, save_config_callback=None,
        args=["fit", "--trainer.epochs=1", "--trainer.logger=false"],
    )  # fmt: skip
    assert cli.trainer.global_step == 4


# Model and data


def make_model(rate: float, extra: int = 0) -> program.Net:
    return program.Net(rate=rate * 2)


def test_a_function_makes_the_model() -> None:
    assert build("--model.rate=0.5", model_class=make_model).model.rate == 1.0


@pytest.mark.parametrize("how", [{"model_class": None}, {"subclass_mode_model": True}])
def test_a_subclass_is_chosen(how: dict[str, Any]) -> None:
    cli = build("--model=cli_program.Wide", "--model.wide=false", "--model.rate=0.5", **how)
    assert type(cli.model) is program.Wide
    assert (cli.model.wide, cli.model.rate) == (False, 0.5)
    assert build("--model=Wide", **how).model.wide is True  # a short name, once it is imported


def test_a_model_has_to_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build(model_class=None)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert "model" in line
    assert "required" in line


def test_any_data_module_may_be_chosen() -> None:
    cli = fit("--data=cli_program.Data", "--data.samples=2", datamodule_class=None)
    assert type(cli.datamodule) is program.Data
    assert cli.trainer.global_step == 2
    assert build().datamodule is None


def test_nested_classes_come_back_from_a_checkpoint() -> None:
    cli = run(
        "fit", *CSV, "--trainer.max_epochs=1", "--model.encoder=cli_program.Encoder", "--model.encoder.size=5",
        "--model.encoder.inner=torch.nn.Dropout", "--model.encoder.inner.p=0.25",
    )  # fmt: skip
    written = {"class_path": "torch.nn.Dropout", "init_args": {"p": 0.25, "inplace": False}}
    encoder = {"class_path": "cli_program.Encoder", "init_args": {"size": 5, "inner": written}}
    assert cli.model.hparams["encoder"] == encoder
    assert yaml.safe_load(Path(last(), "hparams.yaml").read_text())["encoder"] == encoder
    path = cli.trainer.checkpoint_callback.best_model_path
    again = program.Net.load_from_checkpoint(path)
    assert (again.encoder.size, again.encoder.inner.p) == (5, 0.25)
    assert torch.equal(again.layer.weight, cli.model.layer.weight)
    assert program.Net.load_from_checkpoint(path, rate=9.0).rate == 9.0
    assert program.Data.load_from_checkpoint(path).samples == 4


def test_module_and_data_module_may_both_be_of_chosen_classes() -> None:
    cli = run("fit", *CSV, "--trainer.max_epochs=1", "--model=cli_program.Wide", "--data=cli_program.Data",
              model_class=None, datamodule_class=None)  # fmt: skip
    logged = yaml.safe_load(Path(last(), "hparams.yaml").read_text())
    assert "_class_path" not in logged
    assert {"rate", "samples"} <= set(logged)
    path = cli.trainer.checkpoint_callback.best_model_path
    assert type(program.Net.load_from_checkpoint(path)) is program.Wide


def test_a_subclass_comes_back_from_a_checkpoint() -> None:
    cli = run("fit", *CSV, "--trainer.max_epochs=1", "--model=cli_program.Wide", model_class=None)
    assert cli.model.hparams["_class_path"] == "cli_program.Wide"
    path = cli.trainer.checkpoint_callback.best_model_path
    assert type(program.Net.load_from_checkpoint(path)) is program.Wide
    hparams = yaml.safe_load(Path(last(), "hparams.yaml").read_text())
    assert "_class_path" not in hparams


def test_a_checkpoint_does_not_choose_what_code_runs(tmp_path: Path) -> None:
    cli = run("fit", *CSV, "--trainer.max_epochs=1")
    path = cli.trainer.checkpoint_callback.best_model_path
    checkpoint = torch.load(path, weights_only=True)
    for change, message in (
        ({"_instantiator": "os.system"}, "is to be built by 'os.system'"),
        ({"_class_path": "subprocess.Popen"}, "not an imported subclass of `Net`"),
        ({"_class_path": "not_imported.Net"}, "not an imported subclass of `Net`"),
    ):
        changed = {**checkpoint, "hyper_parameters": {**checkpoint["hyper_parameters"], **change}}
        torch.save(changed, tmp_path / "changed.ckpt")
        with pytest.raises(ValueError, match=message):
            program.Net.load_from_checkpoint(tmp_path / "changed.ckpt")


def test_without_support_for_checkpoints_arguments_are_kept() -> None:
    cli = build("--model.encoder=cli_program.Encoder", load_from_checkpoint_support=False)
    assert isinstance(cli.model.hparams["encoder"], program.Encoder)
    assert "_instantiator" not in cli.model.hparams


def test_a_module_within_the_model_keeps_its_own_hyperparameters() -> None:
    class Inner(relight.LightningModule):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.save_hyperparameters()

    class Outer(relight.LightningModule):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.inner = Inner(depth=width + 1)

    with given_hyperparameters(Outer, {"width": 1}):
        outer = Outer(1)
    assert dict(outer.inner.hparams) == {"depth": 2}
    assert outer.hparams["width"] == 1
    assert "_instantiator" in outer.hparams


# Entry points


def test_subcommands_run_what_they_are_called() -> None:
    path = run(
        "fit", *CSV, "--trainer.max_epochs=1", "--model.rate=0.5"
    ).trainer.checkpoint_callback.best_model_path
    for name in ("validate", "test", "predict"):
        cli = run(name, *NO_FILES, f"--ckpt_path={path}", "--limit_batches=2")
        assert cli.trainer.state.fn == name
        assert cli.trainer.state.finished
        assert cli.model.rate == 0.5  # read from the checkpoint
    assert cli.config.predict.ckpt_path == path


def test_hyperparameters_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    path = run("fit", *CSV, "--trainer.max_epochs=1").trainer.checkpoint_callback.best_model_path

    class Other(relight.LightningModule):
        def __init__(self, something: int = 1) -> None:
            super().__init__()

    with pytest.raises(SystemExit):
        run("test", *NO_FILES, f"--ckpt_path={path}", model_class=Other)
    assert "come from the hyperparameters in" in capsys.readouterr().err


def test_hooks_around_subcommands() -> None:
    class Mine(program.CLI):
        calls: list[str] = []

        def before_instantiate_classes(self) -> None:
            assert not hasattr(self, "model")
            self.calls.append("before_instantiate_classes")

        def after_instantiate_classes(self) -> None:
            assert self.trainer.global_step == 0
            self.calls.append("after_instantiate_classes")

        def fit(self, **kwargs: Any) -> None:
            self.calls.append("fit")
            self.trainer.fit(**kwargs)

        def before_fit(self) -> None:
            self.calls.append("before_fit")

        def after_fit(self) -> None:
            self.calls.append(f"after_fit {self.trainer.global_step}")

    fit(kind=Mine)
    names = ["before_instantiate_classes", "after_instantiate_classes", "before_fit", "fit", "after_fit 4"]
    assert Mine.calls == names


def test_a_subcommand_of_ones_own() -> None:
    class OwnTrainer(relight.Trainer):
        def count(self, model: Any, datamodule: Any, times: int = 1) -> None:
            """Count."""
            self.counted = [type(model).__name__] * times

    class Mine(LightningCLI):
        @staticmethod
        def subcommands() -> dict[str, set[str]]:
            return {**LightningCLI.subcommands(), "count": {"model", "datamodule"}}

    cli = run("count", *NO_FILES, "--times=3", kind=Mine, trainer_class=OwnTrainer)
    assert cli.trainer.counted == ["Net"] * 3


# Optimizers


@pytest.mark.filterwarnings("ignore:.*gives way to the optimizer")
def test_optimizer_and_scheduler_of_the_command_line() -> None:
    args = ["--optimizer=Adam", "--optimizer.lr=0.01", "--lr_scheduler=StepLR", "--lr_scheduler.step_size=1"]
    trainer = fit(*args).trainer
    assert type(trainer.optimizers[0]) is torch.optim.Adam
    assert type(trainer.lr_scheduler_configs[0].scheduler) is torch.optim.lr_scheduler.StepLR
    assert trainer.optimizers[0].param_groups[0]["lr"] == pytest.approx(0.001)
    args = ["--lr_scheduler=ReduceLROnPlateau", "--lr_scheduler.monitor=loss", "--lr_scheduler.patience=7"]
    config = fit("--optimizer=SGD", "--optimizer.lr=0.1", *args).trainer.lr_scheduler_configs[0]
    assert type(config.scheduler) is ReduceLROnPlateau
    assert (config.monitor, config.scheduler.patience) == ("loss", 7)


def test_without_one_the_model_decides() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*gives way")
        assert type(fit().trainer.optimizers[0]) is torch.optim.SGD
    with pytest.warns(UserWarning, match=r"`Net.configure_optimizers` gives way"):
        fit("--optimizer=Adam")
    with pytest.raises(SystemExit):
        fit("--optimizer=Adam", auto_configure_optimizers=False)


@pytest.mark.filterwarnings("ignore:.*gives way to the optimizer")
def test_a_fixed_optimizer_and_a_changed_answer() -> None:
    class Mine(LightningCLI):
        def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
            parser.add_optimizer_args(torch.optim.RMSprop)
            parser.add_lr_scheduler_args(torch.optim.lr_scheduler.ExponentialLR)
            parser.set_defaults({"lr_scheduler.gamma": 0.5})

        @staticmethod
        def configure_optimizers(lightning_module: Any, optimizer: Any, lr_scheduler: Any = None) -> Any:
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": lr_scheduler, "interval": "step"}}

    trainer = fit("--optimizer.lr=0.5", kind=Mine).trainer
    assert type(trainer.optimizers[0]) is torch.optim.RMSprop
    assert trainer.lr_scheduler_configs[0].interval == "step"
    assert trainer.optimizers[0].param_groups[0]["lr"] == pytest.approx(0.5**5)


def test_optimizers_linked_to_the_model() -> None:
    class TwoNets(program.Net):
        def __init__(self, first: dict[str, Any], second: dict[str, Any]) -> None:
            super().__init__()
            self.automatic_optimization = False
            self.first, self.second = first, second

        def training_step(self, batch: Any, batch_idx: int) -> None:
            for optimizer in self.optimizers():
                optimizer.step()

        def configure_optimizers(self) -> Any:
            return [instantiate_class(self.parameters(), init) for init in (self.first, self.second)]

    class Mine(LightningCLI):
        def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
            parser.add_optimizer_args(nested_key="one", link_to="model.first")
            parser.add_optimizer_args(torch.optim.Adam, nested_key="two", link_to="model.second")

    cli = fit("--one=SGD", "--one.lr=0.2", "--two.lr=0.3", model_class=TwoNets, kind=Mine)
    assert [type(o) for o in cli.trainer.optimizers] == [torch.optim.SGD, torch.optim.Adam]
    assert [o.param_groups[0]["lr"] for o in cli.trainer.optimizers] == [0.2, 0.3]


def test_only_one_can_be_automatic() -> None:
    class Mine(LightningCLI):
        def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
            parser.add_optimizer_args(torch.optim.SGD, "one")
            parser.add_optimizer_args(torch.optim.Adam, "two")

    with pytest.raises(MisconfigurationException, match=r"not \['one', 'two', "):
        fit("--one.lr=0.1", "--two.lr=0.1", kind=Mine)


def test_models_that_take_functions() -> None:
    cli = fit(
        "--model.optimizer=Adam", "--model.optimizer.lr=0.02", "--model.scheduler=StepLR",
        "--model.scheduler.step_size=9", model_class=program.WithCallables,
    )  # fmt: skip
    assert type(cli.trainer.optimizers[0]) is torch.optim.Adam
    assert cli.trainer.lr_scheduler_configs[0].scheduler.step_size == 9


# Saving the configuration


def test_an_earlier_configuration_is_not_replaced() -> None:
    saving = {"save_config_callback": SaveConfigCallback}
    args = ["fit", "--trainer.logger=false", "--trainer.enable_checkpointing=false", "--trainer.max_epochs=1"]
    run(*args, **saving)
    with pytest.raises(RuntimeError, match="does not replace"):
        run(*args, **saving)
    run(
        *args,
        "--model.rate=0.4",
        save_config_kwargs={"overwrite": True, "config_filename": "c.yaml"},
        **saving,
    )
    run(
        *args,
        "--model.rate=0.5",
        save_config_kwargs={"overwrite": True, "config_filename": "c.yaml"},
        **saving,
    )
    assert yaml.safe_load(Path("c.yaml").read_text())["model"]["rate"] == 0.5


def test_not_saved_in_a_trial_run() -> None:
    run("fit", "--trainer.fast_dev_run=1", save_config_callback=SaveConfigCallback)
    assert list(Path().iterdir()) == []


def test_saving_elsewhere() -> None:
    class Mine(SaveConfigCallback):
        def save_config(self, trainer: Any, pl_module: Any, stage: str) -> None:
            saved.append((stage, self.parser.dump(self.config)))

    saved: list[Any] = []
    cli = fit(save_config_callback=Mine, save_config_kwargs={"save_to_log_dir": False})
    assert [stage for stage, _ in saved] == ["fit"]
    assert yaml.safe_load(saved[0][1])["data"]["samples"] == 4
    assert not Path("config.yaml").exists()
    with pytest.raises(ValueError, match="saves nothing"):
        SaveConfigCallback(cli.parser, cli.config, save_to_log_dir=False)


# Parts


def test_the_parser_takes_what_it_knows() -> None:
    parser = LightningArgumentParser()
    parser.add_lightning_class_args(EarlyStopping, "stop")
    assert parser.callback_keys == ["stop"]
    with pytest.raises(MisconfigurationException, match="takes a Trainer, a module"):
        parser.add_lightning_class_args(dict, "x")
    with pytest.raises(MisconfigurationException, match="is no subclass"):
        parser.add_optimizer_args(dict)  # type: ignore[arg-type]


def test_instantiate_class() -> None:
    made = instantiate_class((2, 3), {"class_path": "torch.nn.Linear", "init_args": {"bias": False}})
    assert (made.in_features, made.out_features, made.bias) == (2, 3, None)
    assert isinstance(instantiate_class(0.5, {"class_path": "torch.nn.Dropout"}), torch.nn.Dropout)


def test_instantiate_module() -> None:
    nested = {"class_path": "cli_program.Encoder", "init_args": {"size": 4}}
    assert instantiate_module(program.Net, {"encoder": nested}).encoder.size == 4
    made = instantiate_module(program.Net, {"_class_path": "cli_program.Wide", "wide": False})
    assert (type(made), made.wide) == (program.Wide, False)


def test_without_jsonargparse(monkeypatch: pytest.MonkeyPatch) -> None:
    import relight.cli

    monkeypatch.delitem(relight.cli.__dict__, "LightningCLI", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'relight\[cli\]'"):
        relight.cli.LightningCLI

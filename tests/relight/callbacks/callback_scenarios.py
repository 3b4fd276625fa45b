"""Small fits that exercise the callbacks; the same code runs on real Lightning 2.6 and on relight.

``scripts/record_callbacks.py`` records them from Lightning 2.6.6 into ``tests/golden/callbacks``; the tests
run them on relight and compare. A :class:`Dialect` hides the two places where the APIs differ: options of
``fit`` that Lightning wants in the constructor, and ``min_epochs``.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

FIT_OPTIONS = (
    "limit_train_batches",
    "limit_val_batches",
    "val_check_interval",
    "check_val_every_n_epoch",
    "num_sanity_val_steps",
    "accumulate_grad_batches",
    "log_every_n_steps",
)


class Dialect:
    """The API under test: ``lightning.pytorch`` or ``relight``."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.pl = importlib.import_module(root)
        self.callbacks = importlib.import_module(f"{root}.callbacks")
        self.loggers = importlib.import_module(f"{root}.loggers")
        self.profilers = importlib.import_module(f"{root}.profilers")
        self.is_relight = root == "relight"

    def fit(self, model: Any, ckpt_path: str | None = None, **arguments: Any) -> Any:
        arguments = {"accelerator": "cpu", "devices": 1, "enable_progress_bar": False, **arguments}
        fit: dict[str, Any] = {}
        if self.is_relight:
            fit = {name: arguments.pop(name) for name in FIT_OPTIONS if name in arguments}
            if (epochs := arguments.pop("min_epochs", None)) is not None:
                arguments["callbacks"] = [*arguments["callbacks"], self.callbacks.TrainAtLeast(epochs=epochs)]
        else:
            arguments["enable_model_summary"] = False
        trainer = self.pl.Trainer(**arguments)
        model.on_trainer(trainer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer.fit(model, ckpt_path=ckpt_path, **fit)
        return trainer


def make_model(dialect: Dialect, values: list[float], **settings: Any) -> Any:
    """Return a model whose n-th validation logs ``values[n]`` (the last one from then on)."""

    class Net(dialect.pl.LightningModule):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            self.values = values
            self.validations = 0
            self.settings = settings
            self.saved: list[list[Any]] = []

        def on_trainer(self, trainer: Any) -> None:
            save = trainer.save_checkpoint

            def save_checkpoint(path: Any, *args: Any, **kwargs: Any) -> None:
                save(path, *args, **kwargs)
                directory = os.path.dirname(path)
                self.saved.append(
                    [os.path.basename(path), trainer.current_epoch, trainer.global_step, _listing(directory)]
                )

            trainer.save_checkpoint = save_checkpoint

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            if settings.get("fail_at") == self.trainer.global_step:
                raise RuntimeError("stop here")
            loss = self.layer(batch).pow(2).mean()
            self.log("train_loss", loss, on_step=True, on_epoch=True)
            return loss

        def validation_step(self, batch: Any, batch_idx: int) -> None:
            value = values[min(self.validations, len(values) - 1)]
            self.log(settings.get("metric", "val_loss"), value)
            if "second" in settings:
                self.log(settings["second"], -value)

        def on_validation_epoch_end(self) -> None:
            if not self.trainer.sanity_checking:
                self.validations += 1

        def configure_optimizers(self) -> Any:
            if "optimizers" in settings:
                return settings["optimizers"](self)
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def train_dataloader(self) -> Any:
            torch.manual_seed(settings.get("data_seed", 1))
            return torch.utils.data.DataLoader(torch.randn(8, 4), batch_size=1)

        def val_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(torch.ones(2, 4), batch_size=1)

    torch.manual_seed(0)
    return Net()


def number(value: Any) -> Any:
    """Return a number so that JSON keeps it to the bit."""
    if value is None or isinstance(value, str):
        return value
    value = value.item() if isinstance(value, torch.Tensor) else value
    return value if isinstance(value, (bool, int)) else float(value).hex()


def _listing(directory: str | os.PathLike[str]) -> list[str]:
    return sorted(
        str(path.relative_to(directory)) + (" ->" if path.is_symlink() else "")
        for path in Path(directory).rglob("*")
        if not path.is_dir()
    )


def _checkpoint_state(callback: Any, base: str) -> dict[str, Any]:
    def relative(path: Any) -> str:
        return os.path.relpath(path, base) if path else str(path or "")

    state = callback.state_dict()
    return {
        "keys": list(state),
        "state_key": callback.state_key,
        "best_model_path": relative(state["best_model_path"]),
        "best_model_score": number(state["best_model_score"]),
        "current_score": number(state["current_score"]),
        "dirpath": relative(state["dirpath"]),
        "best_k_models": {relative(path): number(value) for path, value in state["best_k_models"].items()},
        "kth_best_model_path": relative(state["kth_best_model_path"]),
        "kth_value": number(state["kth_value"]),
        "last_model_path": relative(state["last_model_path"]),
    }


# -- ModelCheckpoint ----------------------------------------------------------------------------------------

DOWN_UP = [0.5, 0.3, 0.4, 0.2, 0.6, 0.25]

#: name -> (values, arguments of ModelCheckpoint, arguments of the Trainer, settings of the model)
CHECKPOINTS: dict[str, tuple[list[float], dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "default": (DOWN_UP, {}, {}, {}),
    "top1": (DOWN_UP, {"monitor": "val_loss"}, {}, {}),
    "top2": (DOWN_UP, {"monitor": "val_loss", "save_top_k": 2}, {}, {}),
    "top3_max": (DOWN_UP, {"monitor": "val_loss", "save_top_k": 3, "mode": "max"}, {}, {}),
    "all": (DOWN_UP, {"save_top_k": -1}, {}, {}),
    "all_monitored": (DOWN_UP, {"monitor": "val_loss", "save_top_k": -1}, {}, {}),
    "ties": ([0.3, 0.3, 0.3, 0.2, 0.2], {"monitor": "val_loss", "save_top_k": 2}, {}, {}),
    "nan": (
        [0.5, math.nan, 0.4, math.nan, 0.3, math.inf],
        {"monitor": "val_loss", "save_top_k": 3},
        {},
        {},
    ),
    "nan_max": ([math.nan, 0.5, math.nan], {"monitor": "val_loss", "save_top_k": 2, "mode": "max"}, {}, {}),
    "train_metric": (DOWN_UP, {"monitor": "train_loss_epoch", "save_top_k": 2}, {}, {}),
    "step_metric": (DOWN_UP, {"monitor": "train_loss", "save_top_k": 2, "every_n_train_steps": 3}, {}, {}),
    "by_step": (DOWN_UP, {"save_top_k": -1, "every_n_train_steps": 3}, {}, {}),
    "by_step_newest": (DOWN_UP, {"every_n_train_steps": 5}, {}, {}),
    "by_step_waits": (DOWN_UP, {"monitor": "val_loss", "save_top_k": 3, "every_n_train_steps": 3}, {}, {}),
    "by_step_at_epoch_end": (
        DOWN_UP,
        {"monitor": "val_loss", "save_top_k": 3, "every_n_train_steps": 4},
        {"val_check_interval": 0.5},
        {},
    ),
    "by_step_last_batch": (
        DOWN_UP,
        {
            "monitor": "val_loss",
            "save_top_k": -1,
            "every_n_train_steps": 8,
            "save_on_train_epoch_end": False,
        },
        {},
        {},
    ),
    "by_time": (DOWN_UP, {"save_top_k": -1, "train_time_interval": timedelta(0)}, {"max_epochs": 1}, {}),
    "every_2_epochs": (DOWN_UP, {"save_top_k": -1, "every_n_epochs": 2}, {}, {}),
    "every_0_epochs": (DOWN_UP, {"save_top_k": -1, "every_n_epochs": 0, "save_last": True}, {}, {}),
    "last": (DOWN_UP, {"monitor": "val_loss", "save_last": True}, {}, {}),
    "last_alone": (DOWN_UP, {"save_top_k": 0, "save_last": True}, {}, {}),
    "last_link": (DOWN_UP, {"monitor": "val_loss", "save_last": "link"}, {}, {}),
    "last_by_step": (
        DOWN_UP,
        {"monitor": "val_loss", "save_last": True, "every_n_train_steps": 3},
        {},
        {},
    ),
    "none": (DOWN_UP, {"save_top_k": 0}, {}, {}),
    "names": (
        DOWN_UP,
        {"monitor": "val_loss", "save_top_k": 2, "filename": "{epoch:02d}-{val_loss:.2f}-{other}"},
        {},
        {},
    ),
    "names_bare": (
        DOWN_UP,
        {
            "monitor": "val/loss",
            "filename": "e={epoch}-s{step}-v{val/loss:.3f}-{val/acc.top1:.1f}",
            "auto_insert_metric_name": False,
            "save_top_k": 2,
        },
        {},
        {"metric": "val/loss", "second": "val/acc.top1"},
    ),
    "names_slash": (DOWN_UP, {"filename": "{epoch}-{val/loss:.1f}"}, {}, {"metric": "val/loss"}),
    "names_overlap": (
        DOWN_UP,
        {"filename": "{epoch}_{epoch_loss:.1f}_{epoch}"},
        {},
        {"metric": "epoch_loss"},
    ),
    "logged_epoch": (DOWN_UP, {"save_top_k": -1}, {}, {"metric": "epoch"}),
    "versions": (DOWN_UP, {"monitor": "val_loss", "save_top_k": 3, "filename": "same"}, {}, {}),
    "no_versions": (
        DOWN_UP,
        {"monitor": "val_loss", "save_top_k": 3, "filename": "same", "enable_version_counter": False},
        {},
        {},
    ),
    "after_validation": (DOWN_UP, {"monitor": "val_loss", "save_on_train_epoch_end": False}, {}, {}),
    "twice_an_epoch": (DOWN_UP, {"monitor": "val_loss", "save_top_k": 2}, {"val_check_interval": 0.5}, {}),
    "every_other_validation": (
        DOWN_UP,
        {"monitor": "val_loss", "save_top_k": 2},
        {"check_val_every_n_epoch": 2},
        {},
    ),
    "no_validation": (DOWN_UP, {}, {"limit_val_batches": 0}, {}),
    "weights_only": (DOWN_UP, {"save_weights_only": True}, {}, {}),
    "accumulated": (
        DOWN_UP,
        {"save_top_k": -1, "every_n_train_steps": 2},
        {"accumulate_grad_batches": 3},
        {},
    ),
    "max_steps": (DOWN_UP, {"save_top_k": -1}, {"max_steps": 11, "max_epochs": -1}, {}),
    "exception": (DOWN_UP, {"save_on_exception": True}, {}, {"fail_at": 11}),
    "missing": (DOWN_UP, {"monitor": "no_such"}, {}, {}),
    "missing_without_sanity": (DOWN_UP, {"monitor": "no_such"}, {"num_sanity_val_steps": 0}, {}),
    "fast_dev_run": (DOWN_UP, {}, {"fast_dev_run": 2}, {}),
}


def run_checkpoint(dialect: Dialect, name: str, directory: str) -> dict[str, Any]:
    values, arguments, trainer_arguments, settings = CHECKPOINTS[name]
    model = make_model(dialect, values, **settings)
    callback = dialect.callbacks.ModelCheckpoint(dirpath=os.path.join(directory, "ckpts"), **arguments)
    error = None
    trainer_arguments = {"max_epochs": 3, "logger": False, **trainer_arguments}
    if "max_epochs" not in CHECKPOINTS[name][2] and "val_check_interval" not in trainer_arguments:
        trainer_arguments["max_epochs"] = min(len(values), 6)
    try:
        dialect.fit(model, callbacks=[callback], default_root_dir=directory, **trainer_arguments)
    except Exception as failure:
        error = [type(failure).__name__, str(failure)]
    base = os.path.realpath(directory)
    return {
        "saved": model.saved,
        "files": _listing(base),
        "error": error,
        **_checkpoint_state(callback, base),
    }


def run_checkpoint_directories(dialect: Dialect, directory: str) -> dict[str, Any]:
    """Default directories, and what a second fit and a resumed fit do to the files of the first."""
    base = os.path.realpath(directory)
    result: dict[str, Any] = {}

    def fit(title: str, **arguments: Any) -> Any:
        callback = dialect.callbacks.ModelCheckpoint(save_last=True)
        model = make_model(dialect, DOWN_UP)
        arguments = {"max_epochs": 2, **arguments}
        dialect.fit(model, callbacks=[callback], default_root_dir=base, **arguments)
        result[title] = {"files": _listing(base), **_checkpoint_state(callback, base)}
        return callback

    csv = dialect.loggers.CSVLogger
    fit("no_logger", logger=False)
    fit("no_logger_again", logger=False)
    fit("csv", logger=csv(base))
    fit("csv_next", logger=csv(base))
    fit("csv_named", logger=csv(base, name="x", version="run"))
    first = fit("csv_flat", logger=csv(base, name=None, version=7))
    fit("two_loggers", logger=[csv(base, name="a"), csv(base, name="b")])
    fit("resumed", logger=csv(base, name=None, version=7), ckpt_path=first.last_model_path, max_epochs=4)
    fit("resumed_elsewhere", logger=csv(base, name="r"), ckpt_path=first.last_model_path, max_epochs=5)
    return result


# -- EarlyStopping ------------------------------------------------------------------------------------------

WORSE = [0.5, 0.4, 0.45, 0.41, 0.42, 0.43, 0.1]

#: name -> (values, arguments of EarlyStopping, arguments of the Trainer)
STOPS: dict[str, tuple[list[float], dict[str, Any], dict[str, Any]]] = {
    "patience3": (WORSE, {}, {}),
    "patience1": (WORSE, {"patience": 1}, {}),
    "patience0": (WORSE, {"patience": 0}, {}),
    "max": (WORSE, {"mode": "max", "patience": 2}, {}),
    "delta": ([0.5, 0.45, 0.39, 0.38, 0.37], {"min_delta": 0.1, "patience": 2}, {}),
    "delta_exact": ([0.5, 0.25, 0.0], {"min_delta": 0.25, "patience": 1}, {}),
    "delta_max": ([0.1, 0.15, 0.3, 0.31], {"min_delta": 0.1, "patience": 1, "mode": "max"}, {}),
    "nan": ([0.5, math.nan, 0.1], {}, {}),
    "nan_allowed": ([0.5, math.nan, math.nan, 0.1], {"check_finite": False, "patience": 2}, {}),
    "inf": ([0.5, -math.inf], {}, {}),
    "threshold": ([0.5, 0.3, 0.19, 0.1], {"stopping_threshold": 0.2}, {}),
    "divergence": ([0.5, 0.3, 1.5, 0.1], {"divergence_threshold": 1.0}, {}),
    "divergence_max": ([0.5, 0.3, 0.1], {"divergence_threshold": 0.2, "mode": "max"}, {}),
    "never": ([0.5, 0.4, 0.3, 0.2], {}, {"max_epochs": 4}),
    "min_epochs": (WORSE, {"patience": 1}, {"min_epochs": 6}),
    "after_validation": (WORSE, {"patience": 2}, {"val_check_interval": 0.5}),
    "every_other_epoch": (WORSE, {"patience": 1}, {"check_val_every_n_epoch": 2}),
    "forced_validation_end": (WORSE, {"patience": 2, "check_on_train_epoch_end": False}, {}),
    "train_metric": (WORSE, {"monitor": "train_loss_epoch", "min_delta": 10.0, "patience": 2}, {}),
    "missing": (WORSE, {"monitor": "no_such"}, {}),
    "missing_allowed": (WORSE, {"monitor": "no_such", "strict": False}, {"max_epochs": 2}),
    "fast_dev_run": (WORSE, {"monitor": "no_such"}, {"fast_dev_run": True}),
}


def run_stop(dialect: Dialect, name: str, directory: str) -> dict[str, Any]:
    values, arguments, trainer_arguments = STOPS[name]
    model = make_model(dialect, values)
    callback = dialect.callbacks.EarlyStopping(**{"monitor": "val_loss", **arguments})
    trainer_arguments = {"max_epochs": 12, **trainer_arguments}
    error, trainer = None, None
    try:
        trainer = dialect.fit(
            model,
            callbacks=[callback],
            logger=False,
            enable_checkpointing=False,
            default_root_dir=directory,
            **trainer_arguments,
        )
    except Exception as failure:
        error = [type(failure).__name__, str(failure)]
    return {
        "error": error,
        "state_key": callback.state_key,
        "state": {key: number(value) for key, value in callback.state_dict().items()},
        "epoch": trainer.current_epoch if trainer else None,
        "step": trainer.global_step if trainer else None,
        "should_stop": trainer.should_stop if trainer else None,
    }


# -- LearningRateMonitor ------------------------------------------------------------------------------------


def _two_groups(model: Any, **extra: Any) -> Any:
    groups = [{"params": [model.layer.weight]}, {"params": [model.layer.bias], "lr": 0.01}]
    for group, name in zip(groups, extra.get("names", ()), strict=False):
        group["name"] = name
    return torch.optim.Adam(groups, lr=0.1, weight_decay=0.25)


def _sgd(model: Any) -> Any:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def _step_lr(optimizer: Any, **config: Any) -> dict[str, Any]:
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, **config}}


#: name -> (configure_optimizers, arguments of LearningRateMonitor)
RATES: dict[str, tuple[Any, dict[str, Any]]] = {
    "no_scheduler": (_sgd, {}),
    "epoch": (lambda m: _step_lr(_sgd(m)), {}),
    "step": (lambda m: _step_lr(_sgd(m), interval="step"), {}),
    "named": (lambda m: _step_lr(_sgd(m), name="my-rate"), {}),
    "forced_step": (lambda m: _step_lr(_sgd(m)), {"logging_interval": "step"}),
    "forced_epoch": (lambda m: _step_lr(_sgd(m), interval="step"), {"logging_interval": "epoch"}),
    "groups": (lambda m: _step_lr(_two_groups(m)), {"log_momentum": True, "log_weight_decay": True}),
    "group_names": (lambda m: _step_lr(_two_groups(m, names=("w", "b"))), {}),
    "momentum": (lambda m: _step_lr(_sgd(m)), {"log_momentum": True}),
    "two_schedulers": (
        lambda m: (
            lambda optimizer: (
                [optimizer],
                [
                    torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5),
                    {
                        "scheduler": torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: 1.0),
                        "interval": "step",
                    },
                ],
            )
        )(_sgd(m)),
        {},
    ),
}


def run_rates(dialect: Dialect, name: str, directory: str) -> dict[str, Any]:
    optimizers, arguments = RATES[name]
    rows: list[Any] = []

    class Rows(dialect.loggers.CSVLogger):  # type: ignore[name-defined,misc]
        def log_metrics(self, metrics: Any, step: Any = None) -> None:
            rows.append([step, {key: number(value) for key, value in metrics.items()}])

    callback = dialect.callbacks.LearningRateMonitor(**arguments)
    trainer = dialect.fit(
        make_model(dialect, [0.5], optimizers=optimizers),
        callbacks=[callback],
        logger=Rows(directory),
        enable_checkpointing=False,
        default_root_dir=directory,
        max_epochs=3,
        log_every_n_steps=3,
    )
    return {
        "rows": rows,
        "lrs": {key: [number(value) for value in values] for key, values in callback.lrs.items()},
        "callback_metrics": {
            key: number(value) for key, value in trainer.callback_metrics.items() if "loss" not in key
        },
    }


# -- loggers, profiler, state keys --------------------------------------------------------------------------


def run_csv(dialect: Dialect, directory: str) -> dict[str, Any]:
    """Bytes of the CSV logger's files after fits with different settings."""
    result: dict[str, Any] = {}

    def fit(title: str, logger: Any, hparams: dict[str, Any] | None = None, **arguments: Any) -> None:
        model = make_model(dialect, DOWN_UP)
        if hparams is not None:
            model.save_hyperparameters(hparams)
        arguments = {"max_epochs": 2, "log_every_n_steps": 3, **arguments}
        dialect.fit(model, logger=logger, enable_checkpointing=False, default_root_dir=directory, **arguments)
        result[title] = {
            str(path.relative_to(directory)): path.read_bytes().decode()
            for path in sorted(Path(directory, title).rglob("*"))
            if path.is_file()
        }

    csv = dialect.loggers.CSVLogger
    fit("plain", csv(directory, name="plain"))
    fit("prefixed", csv(directory, name="prefixed", prefix="run", flush_logs_every_n_steps=2))
    fit(
        "hparams",
        csv(directory, name="hparams", version="v"),
        {"b": 1, "a": 0.5, "layers": [1, 2], "nested": {"x": None}, "name": "net"},
    )
    fit("often", csv(directory, name="often"), log_every_n_steps=1, val_check_interval=0.5, max_epochs=1)
    return result


def run_profiler(dialect: Dialect, directory: str) -> dict[str, int]:
    """How often SimpleProfiler saw each hook of callbacks and module that is overridden."""
    profiler = dialect.profilers.SimpleProfiler()
    overridden: set[str] = set()

    class Note(dialect.callbacks.Callback):  # type: ignore[name-defined,misc]
        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None: ...
        def on_train_batch_end(self, *args: Any) -> None: ...
        def on_validation_batch_start(self, *args: Any, **kwargs: Any) -> None: ...
        def setup(self, *args: Any, **kwargs: Any) -> None: ...

    stopping = dialect.callbacks.EarlyStopping("val_loss", patience=9)
    for name in ("on_train_epoch_end", "on_train_batch_end", "on_validation_batch_start", "setup"):
        overridden.add(f"[Callback]run_profiler.<locals>.Note.{name}")
    for name in ("setup", "on_train_epoch_end", "on_validation_end"):
        overridden.add(f"[Callback]{stopping.state_key}.{name}")
    overridden |= {
        "[LightningModule]Net.on_validation_epoch_end",
        "[LightningModule]Net.configure_optimizers",
    }
    dialect.fit(
        make_model(dialect, DOWN_UP),
        callbacks=[Note(), stopping],
        profiler=profiler,
        logger=False,
        enable_checkpointing=False,
        default_root_dir=directory,
        max_epochs=2,
    )
    return {name: len(profiler.recorded_durations.get(name, ())) for name in sorted(overridden)}


def run_state_keys(dialect: Dialect, directory: str) -> dict[str, list[str]]:
    """Keys under which the callbacks' states stand in a checkpoint, and the keys of each state."""
    cb = dialect.callbacks
    trainer = dialect.fit(
        make_model(dialect, DOWN_UP),
        callbacks=[
            cb.EarlyStopping("val_loss"),
            cb.EarlyStopping("train_loss_epoch", mode="max", patience=9),
            cb.Timer(),
            cb.LearningRateMonitor(),
            cb.ModelCheckpoint(monitor="val_loss", mode="max"),
            cb.ModelCheckpoint(train_time_interval=timedelta(minutes=90)),
            cb.ModelCheckpoint(every_n_train_steps=4),
        ],
        logger=dialect.loggers.CSVLogger(directory),
        default_root_dir=directory,
        max_epochs=1,
    )
    path = os.path.join(directory, "x.ckpt")
    trainer.save_checkpoint(path)
    states = torch.load(path, weights_only=True)["callbacks"]
    return {key: list(state) for key, state in states.items()}


#: class -> where it is; their parameters are to be those of Lightning
CLASSES = {
    "ModelCheckpoint": "callbacks",
    "EarlyStopping": "callbacks",
    "Timer": "callbacks",
    "LearningRateMonitor": "callbacks",
    "GradientAccumulationScheduler": "callbacks",
    "DeviceStatsMonitor": "callbacks",
    "ModelSummary": "callbacks",
    "RichModelSummary": "callbacks",
    "TQDMProgressBar": "callbacks",
    "RichProgressBar": "callbacks",
    "StochasticWeightAveraging": "callbacks",
    "WeightAveraging": "callbacks",
    "EMAWeightAveraging": "callbacks",
    "OnExceptionCheckpoint": "callbacks",
    "ModelPruning": "callbacks",
    "ThroughputMonitor": "callbacks",
    "LearningRateFinder": "callbacks",
    "BatchSizeFinder": "callbacks",
    "BaseFinetuning": "callbacks",
    "BackboneFinetuning": "callbacks",
    "BasePredictionWriter": "callbacks",
    "CSVLogger": "loggers",
    "TensorBoardLogger": "loggers",
    "SimpleProfiler": "profilers",
    "AdvancedProfiler": "profilers",
}


def _parameters(function: Any) -> list[list[str]]:
    parameters = inspect.signature(function).parameters.values()
    return [[p.name, str(p.kind), "" if p.default is p.empty else _default(p.default)] for p in parameters]


def _default(value: Any) -> str:
    return value.__name__ if inspect.isfunction(value) else str(getattr(value, "value", value))


def run_signatures(dialect: Dialect) -> dict[str, Any]:
    """Parameters of all hooks of the base, and of the constructors of the classes in CLASSES."""
    base = dialect.callbacks.Callback
    hooks = {
        name: _parameters(function)
        for name, function in vars(base).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }
    constructors = {
        name: _parameters(getattr(getattr(dialect, where), name).__init__) for name, where in CLASSES.items()
    }
    return {"hooks": hooks, "constructors": constructors}


def run_all(dialect: Dialect, directory: Path) -> dict[str, Any]:
    """Run everything, each in a directory of its own."""

    def fresh(name: str) -> str:
        path = directory / name
        path.mkdir()
        return str(path)

    return {
        "checkpoints": {name: run_checkpoint(dialect, name, fresh(f"c_{name}")) for name in CHECKPOINTS},
        "directories": run_checkpoint_directories(dialect, fresh("dirs")),
        "stops": {name: run_stop(dialect, name, fresh(f"s_{name}")) for name in STOPS},
        "rates": {name: run_rates(dialect, name, fresh(f"r_{name}")) for name in RATES},
        "csv": run_csv(dialect, fresh("csv")),
        "profiler": run_profiler(dialect, fresh("profiler")),
        "signatures": run_signatures(dialect),
        "state_keys": run_state_keys(dialect, fresh("keys")),
    }

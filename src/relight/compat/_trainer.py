"""The Trainer of the legacy API: old arguments in, the core's loops underneath."""

from __future__ import annotations

import argparse
import inspect
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal

import torch
from packaging.version import Version

from relight import callbacks as core_callbacks
from relight.compat import _argparse, _arguments, _own_files
from relight.compat._adapters import Adapters, combined
from relight.compat._attributes import LegacyAttributes
from relight.compat._binding import plan
from relight.compat._facts import advice_for, code_for
from relight.compat._hooks import LegacyHooks
from relight.compat._notices import notice, place_of
from relight.compat._outputs import EpochOutputs
from relight.compat._release import before, release
from relight.compat._steps import LegacyStep, read_optimizers
from relight.trainer import Trainer as CoreTrainer
from relight.trainer.hooks import HOOK_ORDER, Order
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import is_overridden
from trainer_upgrade.catalogue import Area, Target, translate_trainer_arguments

__all__ = ["Trainer"]

# DDP with another way to start processes: strategy → start method.
_START_METHODS: dict[str, Literal["spawn", "fork"]] = {
    "ddp_spawn": "spawn",
    "ddp_fork": "fork",
    "ddp_notebook": "fork",
}


class Trainer(LegacyAttributes, CoreTrainer):
    """Takes every argument that any release from 0.7 to 2.6 took, positional ones in the order of 1.9.

    The order is another one where :func:`relight.compat.emulate` chose another release.

    The arguments are translated to those of :class:`relight.Trainer`, its entry points and callbacks by the
    same function that the codemod uses; each one that changed warns once a place.

    Raises:
        MisconfigurationException: For combinations that the old release refused, too.
        TypeError: For an argument that no release took.
    """

    #: The order of 1.9: callbacks before the module, also at an epoch's end.
    hook_order: Mapping[str, Order] = MappingProxyType(
        {"on_load_checkpoint": HOOK_ORDER["on_load_checkpoint"]}
    )
    restores_callbacks = False  # up to 1.9

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = _arguments.bind(args, kwargs)
        for name, value in vars(_argparse.parse_env_variables(type(self))).items():
            given.setdefault(name, value)
        self._compat_release = release()
        #: Up to 1.5, how far `global_step` is from the batches that stepped; `None` since.
        self._compat_step_shift = 0 if before("1.6") else None
        self._compat_epoch_ended = False
        self._compat_collection: Any = None
        given = _arguments.with_device_number(given) if before("1.5") else given
        self._compat_given = dict(given)
        self._compat_assigned: dict[str, Any] = {}
        self._compat_adapters = Adapters()
        self._compat_frequencies: list[int] = []
        self._compat_optimizer_idx = 0
        self._compat_outputs = EpochOutputs(self, training=False, validation=False, test=False)
        given = _arguments.without_idle_level(given)
        options = dict(given.pop("options", None) or {})
        translation = translate_trainer_arguments(given, target=Target.RELIGHT, defaults=True)
        if translation.errors:
            raise MisconfigurationException("; ".join(f"{e.code} {e.message}" for e in translation.errors))
        for finding in translation.findings:
            seen = {finding.argument: given[finding.argument]} if finding.argument in given else None
            notice(finding.code, f"Trainer.{finding.argument}", finding.message, values=seen)
        self._compat_translation = translation
        self._compat_resume = translation.entry_points.get("fit", {}).get("ckpt_path")
        constructor = dict(translation.constructor)
        constructor["callbacks"] = self._compat_callbacks(constructor.get("callbacks"), given)
        if translation.plugins:
            mine = [getattr(_plugins(), ref.name)(**ref.arguments) for ref in translation.plugins]
            others = constructor.get("plugins")
            constructor["plugins"] = [
                *(others if isinstance(others, (list, tuple)) else [others] if others else []),
                *mine,
            ]
        start = _START_METHODS.get(str(constructor.get("strategy")))
        if start is not None and translation.adapters.get("find_unused_parameters"):
            # Fabric has no name for it; 1.x looked for unused parameters unless told not to.
            from lightning_fabric.strategies.ddp import DDPStrategy

            constructor["strategy"] = DDPStrategy(start_method=start, find_unused_parameters=True)
        for setting, value in translation.torch.items():
            _set_torch(setting, value)
        settings = dict(translation.options)
        if translation.adapters.get("terminate_on_nan") and not given.get("detect_anomaly"):
            settings.pop("detect_anomaly", None)  # done as it was: by looking at losses and parameters
        self._compat_construction_hook("on_init_start", constructor["callbacks"])
        super().__init__(**constructor, options={**settings, **options})
        written = given.get("callbacks")
        own = {id(each) for each in (written if isinstance(written, (list, tuple)) else [written])}
        self.callbacks = [each if id(each) in own else _legacy_of(each) for each in self.callbacks]
        self._compat_construction_hook("on_init_end", constructor["callbacks"])

    def _compat_callbacks(self, given: Any, arguments: Mapping[str, Any]) -> list[Any]:
        callbacks = list(given) if isinstance(given, (list, tuple)) else [given] if given is not None else []
        for reference in self._compat_translation.callbacks:
            if reference.argument == "weights_save_path":
                continue  # the ModelCheckpoint that there is anyway looks for it
            made = getattr(core_callbacks, reference.name, None)
            if made is None:
                raise MisconfigurationException(
                    f"`{reference.argument}` asks for the callback {reference.name}, which relight lacks"
                )
            callbacks.append(made(**reference.arguments))
        if self._compat_translation.adapters.get("stochastic_weight_avg"):
            from relight.compat._averaging import SwitchedOnAveraging

            callbacks.append(SwitchedOnAveraging())
        return callbacks

    def _compat_construction_hook(self, name: str, callbacks: list[Any]) -> None:
        for callback in callbacks:
            method = getattr(callback, name, None)
            if callable(method) and not str(getattr(method, "__module__", "")).startswith("relight."):
                advice = advice_for(Area.CALLBACK_HOOK, "Callback", name, f"`{name}` left in 1.8")
                code = code_for(Area.CALLBACK_HOOK, "Callback", name, "TRU260")
                notice(code, f"Callback.{name}", advice, place_of(method))
                plan(method, (("trainer",),)).call(method, {"trainer": self})

    # Entry points

    def fit(
        self,
        model: Any,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        datamodule: Any = None,
        ckpt_path: Any = None,
        **options: Any,
    ) -> Any:
        """Train; see :meth:`relight.Trainer.fit`. ``train_dataloader`` is taken as ``train_dataloaders``.

        A checkpoint given to the constructor is restored by the first ``fit`` only, as in 1.5 and 1.9.
        """
        train_dataloaders = _renamed(
            "fit", options, "train_dataloader", "train_dataloaders", train_dataloaders
        )
        val_dataloaders = _renamed("fit", options, "val_dataloader", "val_dataloaders", val_dataloaders)
        resume, self._compat_resume = self._compat_resume, None
        self._compat_epoch_ended = False
        mode = self._compat_translation.adapters.get("multiple_trainloader_mode")
        if mode is not None:
            train_dataloaders = combined(train_dataloaders, mode)
        with self._compat_run(model, datamodule, train_dataloaders):
            ckpt_path = ckpt_path or resume or None
            self._compat_trust(ckpt_path, options)
            return super().fit(model, train_dataloaders, val_dataloaders, datamodule, ckpt_path, **options)

    def validate(
        self,
        model: Any = None,
        dataloaders: Any = None,
        ckpt_path: Any = None,
        verbose: bool = True,
        datamodule: Any = None,
        **options: Any,
    ) -> Any:
        """Validate; see :meth:`relight.Trainer.validate`. ``val_dataloaders`` is taken as ``dataloaders``."""
        dataloaders = _renamed("validate", options, "val_dataloaders", "dataloaders", dataloaders)
        with self._compat_run(model, datamodule, dataloaders):
            ckpt_path = self._compat_best(model, ckpt_path)
            self._compat_trust(ckpt_path, options)
            return super().validate(model, dataloaders, ckpt_path, verbose, datamodule, **options)

    def test(
        self,
        model: Any = None,
        dataloaders: Any = None,
        ckpt_path: Any = None,
        verbose: bool = True,
        datamodule: Any = None,
        **options: Any,
    ) -> Any:
        """Test; see :meth:`relight.Trainer.test`. ``test_dataloaders`` is taken as ``dataloaders``."""
        dataloaders = _renamed("test", options, "test_dataloaders", "dataloaders", dataloaders)
        with self._compat_run(model, datamodule, dataloaders):
            ckpt_path = self._compat_best(model, ckpt_path)
            self._compat_trust(ckpt_path, options)
            return super().test(model, dataloaders, ckpt_path, verbose, datamodule, **options)

    def predict(
        self, model: Any = None, dataloaders: Any = None, datamodule: Any = None, *args: Any, **options: Any
    ) -> Any:
        """Predict; see :meth:`relight.Trainer.predict`."""
        with self._compat_run(model, datamodule, dataloaders):
            self._compat_trust(args[1] if len(args) > 1 else options.get("ckpt_path"), options)
            return super().predict(model, dataloaders, datamodule, *args, **options)

    def _compat_trust(self, ckpt_path: Any, options: dict[str, Any]) -> None:
        """Let a checkpoint that this process has written be read whole."""
        if ckpt_path == "best":
            ckpt_path = getattr(self.checkpoint_callback, "best_model_path", None)
        if options.get("weights_only") is None and _own_files.is_own(ckpt_path):
            options["weights_only"] = False

    @contextmanager
    def _compat_run(self, model: Any, datamodule: Any, dataloaders: Any) -> Iterator[None]:
        """Let adapters stand for the hooks of everything that takes part, while an entry point runs."""
        from relight.datamodule import LightningDataModule

        model = model if model is not None else self.lightning_module
        if isinstance(dataloaders, LightningDataModule):
            datamodule = dataloaders
        adapters = self._compat_adapters
        if adapters.busy:  # an entry point within an entry point
            yield
            return
        try:
            if model is not None:
                self._compat_attach(model)
                adapters.module(model)
            if datamodule is not None:
                for name, value in self._compat_translation.datamodule.items():
                    setattr(datamodule, name, value)
                adapters.datamodule(datamodule)
                if model is not None:
                    adapters.checkpoints(model, datamodule)
            mode = self._compat_translation.adapters.get("multiple_trainloader_mode")
            if mode is not None and model is not None:
                adapters.combining(model if datamodule is None else datamodule, mode)
            yield
        except SystemExit as error:
            # 2.x ends the process after an interrupt; up to 1.9 the entry point returned and the script went
            # on.
            if not isinstance(error.__context__, KeyboardInterrupt):
                raise
            self._compat_interrupted(model)
        finally:
            adapters.remove()

    def _compat_attach(self, model: Any) -> None:
        for name, value in self._compat_translation.module.items():
            setattr(model, name, value)
        for name, value in self._compat_translation.datamodule.items():
            setattr(model, name, value)

    def _compat_overrides(self, name: str) -> bool:
        """Return whether the module brings its own hook of the legacy API."""
        from relight.compat._module import LightningModule

        module = self.lightning_module
        method = getattr(module, name, None)
        return callable(method) and (
            not isinstance(module, LightningModule) or is_overridden(name, module, LightningModule)
        )

    def save_checkpoint(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Save a checkpoint; see :meth:`relight.Trainer.save_checkpoint`."""
        shift, self._compat_step_shift = self._compat_step_shift, None  # files hold the core's numbers
        ended, self._compat_epoch_ended = self._compat_epoch_ended, False
        try:
            with self._compat_run(None, None, None):
                for callback in self.callbacks:
                    self._compat_adapters.callback(callback)
                super().save_checkpoint(filepath, *args, **kwargs)
            _own_files.note(filepath)
        finally:
            self._compat_step_shift, self._compat_epoch_ended = shift, ended

    # What releases counted differently

    @property
    def global_step(self) -> int:
        """Optimizer steps taken; up to 1.5 batches that stepped, counted when they are over."""
        loop = self.fit_loop.epoch_loop
        if self._compat_step_shift is None:
            return loop.global_step
        return max(loop._batches_that_stepped + self._compat_step_shift, 0)

    @property
    def current_epoch(self) -> int:
        """Epochs completed; up to 1.5 the index of the last one once training has ended."""
        epoch = super().current_epoch
        return max(epoch - 1, 0) if self._compat_epoch_ended else epoch

    @property
    def logged_metrics(self) -> Any:
        """What loggers were sent last; plain numbers up to 1.5."""
        logged = super().logged_metrics
        if self._compat_release < Version("1.6"):
            return {key: value.item() if hasattr(value, "item") else value for key, value in logged.items()}
        return logged

    def _compat_best(self, model: Any, ckpt_path: Any) -> Any:
        """Return the checkpoint that an evaluation starts from: up to 1.4 the best one was the default."""
        if ckpt_path is None and model is None and self._compat_release < Version("1.5"):
            callback = self.checkpoint_callback
            return "best" if getattr(callback, "best_model_path", None) else None
        return ckpt_path

    @property
    def logger(self) -> Any:
        """The first logger; up to 1.7 several loggers were one ``LoggerCollection``."""
        loggers = self.loggers
        if len(loggers) > 1 and self._compat_release < Version("1.8"):
            from relight.compat._small import LoggerCollection

            if self._compat_collection is None or list(self._compat_collection) != loggers:
                self._compat_collection = LoggerCollection(loggers)
            return self._compat_collection
        return loggers[0] if loggers else None

    @logger.setter
    def logger(self, logger: Any) -> None:
        CoreTrainer.logger.fset(self, logger)  # type: ignore[attr-defined]

    # What the core asks

    def _check_legacy_hooks(self, fn: str) -> None:
        """Refuse nothing: the hooks are called."""

    def _read_optimizers(self, returned: Any) -> Any:
        """Return optimizers and schedulers, also of forms that 2.0 dropped."""
        optimizers, configs, self._compat_frequencies = read_optimizers(self, returned)
        return optimizers, configs

    def _make_step(self, loop: Any) -> Any:
        """Return what runs a batch, also with several optimizers or in chunks."""
        module = self.lightning_module
        chunks = bool(getattr(module, "truncated_bptt_steps", 0))
        if module.automatic_optimization and (chunks or len(self.optimizers) > 1):
            return LegacyStep(self, loop)
        return super()._make_step(loop)

    def _make_hooks(self) -> LegacyHooks:
        for callback in self.callbacks:  # also those of `configure_callbacks`
            self._compat_adapters.callback(callback)
        wants_entries = self._compat_adapters.wants_training_outputs
        self._compat_outputs = EpochOutputs(
            self,
            training=self._compat_overrides("training_epoch_end") or wants_entries,
            validation=self._compat_overrides("validation_epoch_end"),
            test=self._compat_overrides("test_epoch_end"),
        )
        return LegacyHooks(self, self._compat_outputs)

    @property
    def evaluating(self) -> bool:
        """Whether validation or testing runs; the sanity check did not count before 2.0."""
        return self.validating or self.testing

    def _compat_interrupted(self, model: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        for callback in self.callbacks:
            method = getattr(callback, "on_keyboard_interrupt", None)
            if callable(method) and not str(getattr(method, "__module__", "")).startswith("relight."):
                method(self, model)

    # Tuning

    @property
    def tuner(self) -> Any:
        """Left in 2.0: the searches."""
        notice(
            code_for(Area.TRAINER_ATTRIBUTE, "Trainer", "tuner", "TRU400"),
            "Trainer.tuner",
            advice_for(
                Area.TRAINER_ATTRIBUTE, "Trainer", "tuner", "`trainer.tuner` left in 2.0: `Tuner(trainer)`"
            ),
        )
        from relight.compat._tuner import LegacyTuner

        return LegacyTuner(self)

    def tune(
        self,
        model: Any,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        dataloaders: Any = None,
        datamodule: Any = None,
        scale_batch_size_kwargs: dict[str, Any] | None = None,
        lr_find_kwargs: dict[str, Any] | None = None,
        method: str = "fit",
        train_dataloader: Any = None,
    ) -> dict[str, Any]:
        """Left in 2.0: run the searches that ``auto_scale_batch_size`` and ``auto_lr_find`` ask for."""
        notice(
            code_for(Area.TRAINER_ATTRIBUTE, "Trainer", "tune", "TRU400"),
            "Trainer.tune",
            advice_for(
                Area.TRAINER_ATTRIBUTE, "Trainer", "tune", "`trainer.tune` left in 2.0: `Tuner(trainer)`"
            ),
        )
        if not self._compat_translation.tuner:
            return {}
        from relight.compat._tuner import tune

        train = train_dataloader if train_dataloaders is None else train_dataloaders
        data = (train, val_dataloaders, dataloaders, datamodule, method)
        return tune(self, model, data, scale_batch_size_kwargs, lr_find_kwargs)

    # Command lines

    @classmethod
    def add_argparse_args(
        cls, parent_parser: argparse.ArgumentParser, **kwargs: Any
    ) -> argparse.ArgumentParser:
        """Left in 2.0: add an option for every argument that has a plain type."""
        _method("add_argparse_args", "`Trainer.add_argparse_args` left in 2.0: add the options that you use")
        return _argparse.add_argparse_args(cls, parent_parser, **kwargs)

    @classmethod
    def from_argparse_args(cls, args: Any, **kwargs: Any) -> Any:
        """Left in 2.0: build a Trainer from what it accepts of parsed arguments; keywords win."""
        _method("from_argparse_args", "`Trainer.from_argparse_args` left in 2.0: `Trainer(**vars(args))`")
        return _argparse.from_argparse_args(cls, args, **kwargs)

    @classmethod
    def parse_argparser(cls, arg_parser: Any) -> argparse.Namespace:
        """Left in 2.0: parse arguments, with switches that may stand alone."""
        _method("parse_argparser", "`Trainer.parse_argparser` left in 2.0")
        return _argparse.parse_argparser(cls, arg_parser)

    @classmethod
    def match_env_arguments(cls) -> argparse.Namespace:
        """Left in 2.0: the arguments that environment variables give."""
        _method("match_env_arguments", "`Trainer.match_env_arguments` left in 2.0")
        return _argparse.parse_env_variables(cls)

    @classmethod
    def default_attributes(cls) -> dict[str, Any]:
        """Left in 2.0: the arguments and their defaults."""
        _method(
            "default_attributes", "`Trainer.default_attributes` left in 2.0: `inspect.signature(Trainer)`"
        )
        parameters = inspect.signature(cls.__init__).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters if parameter.name != "self"}

    @classmethod
    def get_init_arguments_and_types(cls) -> list[tuple[str, tuple[Any, ...], Any]]:
        """Left in 0.10: name, types and default of each argument."""
        _method("get_init_arguments_and_types", "`Trainer.get_init_arguments_and_types` left in 0.10")
        return _argparse.get_init_arguments_and_types(cls)

    @classmethod
    def get_deprecated_arg_names(cls) -> list[str]:
        """Left in 1.8: nothing is deprecated in the end."""
        return []


Trainer.__init__.__signature__ = _arguments.signature()  # type: ignore[attr-defined]


def _method(name: str, default: str) -> None:
    notice(
        code_for(Area.TRAINER_ATTRIBUTE, "Trainer", name, "TRU400"),
        f"Trainer.{name}",
        advice_for(Area.TRAINER_ATTRIBUTE, "Trainer", name, default),
    )


def _renamed(entry_point: str, options: dict[str, Any], old: str, new: str, value: Any) -> Any:
    """Return ``options[old]`` if it was given, else ``value``."""
    if old not in options:
        return value
    given = options.pop(old)
    notice(
        code_for(Area.ENTRY_POINT_ARGUMENT, f"Trainer.{entry_point}", old, "TRU500"),
        f"Trainer.{entry_point}({old}=…)",
        advice_for(Area.ENTRY_POINT_ARGUMENT, f"Trainer.{entry_point}", old, f"`{old}` is called `{new}`"),
    )
    if value is not None and given is not None:
        raise MisconfigurationException(f"`{old}` and `{new}` say the same: choose")
    return given if given is not None else value


def _plugins() -> Any:
    import relight.plugins

    return relight.plugins


def _legacy_of(callback: Any) -> Any:
    """Return compat's callback for one that the core made."""
    if type(callback) is core_callbacks.TQDMProgressBar:  # shows no running loss
        from relight.compat._progress import TQDMProgressBar

        return TQDMProgressBar(callback.refresh_rate, callback.process_position, callback._leave)
    if type(callback) is core_callbacks.ModelCheckpoint:
        from relight.compat._callbacks import ModelCheckpoint

        return ModelCheckpoint()
    return callback


def _set_torch(setting: str, value: Any) -> None:
    """Set a torch setting of a translation: an attribute, a function to call, or an environment variable."""
    kind, _, name = setting.partition(".")
    if kind == "environ":
        os.environ.setdefault(name, str(value))
        return
    if setting == "use_deterministic_algorithms":
        torch.use_deterministic_algorithms(bool(value), warn_only=value == "warn")
        return
    owner: Any = torch
    *path, last = setting.split(".")
    for part in path:
        owner = getattr(owner, part)
    current = getattr(owner, last)
    if callable(current):
        current(value)
    else:
        setattr(owner, last, value)

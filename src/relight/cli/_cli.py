"""The command line: from arguments and files to a model, a Trainer, and a run."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

from jsonargparse import ActionConfigFile, Namespace, class_from_function
from torch.optim import Optimizer

import relight
from relight.callbacks import Callback
from relight.cli._instantiate import (
    WITH_NONE,
    HyperparameterInstantiator,
    as_class_path,
    instantiate,
    instantiate_class,
)
from relight.cli._parser import LightningArgumentParser, where_it_is
from relight.cli._save_config import SaveConfigCallback
from relight.cli._types import ArgsType, LRSchedulerTypeTuple, LRSchedulerTypeUnion, ReduceLROnPlateau
from relight.datamodule import LightningDataModule
from relight.loggers._hparams import yaml_module
from relight.module import LightningModule
from relight.trainer import Trainer
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_warn
from relight.utilities.seed import seed_everything

__all__ = ["LightningCLI"]


class LightningCLI:
    """Builds a model, data and a Trainer from the command line and configuration files, and runs them.

    ``main.py fit|validate|test|predict`` with ``--config FILE``, ``--print_config``, ``--seed_everything``,
    ``--trainer.…``, ``--model.…``, ``--data.…``, ``--optimizer …``, ``--lr_scheduler …`` and the entry
    point's own arguments. With ``parser_kwargs={"default_env": True}`` also from variables such as
    ``PL_FIT__TRAINER__MAX_EPOCHS``.

    Override :meth:`add_arguments_to_parser` to add and link arguments, :meth:`before_instantiate_classes`,
    :meth:`after_instantiate_classes`, and ``before_fit``, ``fit``, ``after_fit`` (so for each subcommand) to
    do more.

    Args:
        model_class: The module's class, or a function annotated to return one; any subclass without it.
        datamodule_class: The data module's; any subclass, or none, without it.
        save_config_callback: What saves the configuration beside the logs; ``None`` for nothing.
        save_config_kwargs: Arguments of that.
        trainer_class: The Trainer's class, or a function annotated to return one.
        trainer_defaults: Other defaults of the Trainer; callbacks given here (objects, or their classes and
            arguments as in a file) are always there.
        seed_everything_default: The seed; True for ``$PL_GLOBAL_SEED``, else 0; False for none.
        parser_kwargs: Arguments of the parsers, by subcommand or for the main one.
        parser_class: Their class.
        subclass_mode_model: Whether a subclass of ``model_class`` may be chosen.
        subclass_mode_data: Whether a subclass of ``datamodule_class`` may be chosen.
        args: Arguments instead of those of the command line: a list, a dict, or a ``Namespace``.
        run: False builds everything and runs nothing; there are no subcommands then.
        auto_configure_optimizers: Whether ``--optimizer`` and ``--lr_scheduler`` are there.
        load_from_checkpoint_support: Whether hyperparameters are kept as they were written, so that a
            checkpoint can make nested classes again.

    Attributes:
        config: What was parsed.
        config_init: The same with objects in place of classes.
        model: The module.
        datamodule: The data module, or ``None``.
        trainer: The Trainer.
        subcommand: Its name, or ``None``.
    """

    def __init__(
        self,
        model_class: type[LightningModule] | Callable[..., LightningModule] | None = None,
        datamodule_class: type[LightningDataModule] | Callable[..., LightningDataModule] | None = None,
        save_config_callback: type[SaveConfigCallback] | None = SaveConfigCallback,
        save_config_kwargs: dict[str, Any] | None = None,
        trainer_class: type[Trainer] | Callable[..., Trainer] = Trainer,
        trainer_defaults: dict[str, Any] | None = None,
        seed_everything_default: bool | int = True,
        parser_kwargs: dict[str, Any] | None = None,
        parser_class: type[LightningArgumentParser] = LightningArgumentParser,
        subclass_mode_model: bool = False,
        subclass_mode_data: bool = False,
        args: ArgsType = None,
        run: bool = True,
        auto_configure_optimizers: bool = True,
        load_from_checkpoint_support: bool = True,
    ) -> None:
        self.save_config_callback = save_config_callback
        self.save_config_kwargs = save_config_kwargs or {}
        self.trainer_class = trainer_class
        self.trainer_defaults = trainer_defaults or {}
        self.seed_everything_default = seed_everything_default
        self.parser_kwargs = parser_kwargs or {}
        self.parser_class = parser_class
        self.auto_configure_optimizers = auto_configure_optimizers
        self.model_class = model_class
        self._model_class = model_class or LightningModule
        self.subclass_mode_model = model_class is None or subclass_mode_model
        self.datamodule_class = datamodule_class
        self._datamodule_class = datamodule_class or LightningDataModule
        self.subclass_mode_data = datamodule_class is None or subclass_mode_data
        self._subcommand_parsers: dict[str, LightningArgumentParser] = {}
        self._subcommand_method_arguments: dict[str, list[str]] = {}

        names = self.subcommands().keys()
        main = {name: value for name, value in self.parser_kwargs.items() if name not in names}
        self.setup_parser(run, main, {n: v for n, v in self.parser_kwargs.items() if n in names})
        self.parse_arguments(self.parser, args)
        self._read_checkpoint()
        self.subcommand: str | None = self.config["subcommand"] if run else None
        self._set_seed()
        self._instantiators = self._keeping_hyperparameters() if load_from_checkpoint_support else []
        self.before_instantiate_classes()
        self.instantiate_classes()
        self.after_instantiate_classes()
        if self.subcommand is not None:
            self._run_subcommand(self.subcommand)

    # Parsers

    def init_parser(self, **kwargs: Any) -> LightningArgumentParser:
        """Return a parser that knows ``--config``."""
        kwargs.setdefault("dump_header", [f"relight=={relight.__version__}"])
        parser = self.parser_class(**kwargs)
        parser.add_argument(
            "-c", "--config", action=ActionConfigFile, help="A configuration file in YAML or JSON."
        )
        return parser

    def setup_parser(
        self, add_subcommands: bool, main_kwargs: dict[str, Any], subparser_kwargs: dict[str, Any]
    ) -> None:
        """Make ``self.parser``, with subcommands or with all arguments itself."""
        self.parser = self.init_parser(**main_kwargs)
        if add_subcommands:
            self._add_subcommands(self.parser, **subparser_kwargs)
        else:
            self._add_arguments(self.parser)

    def add_default_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Add ``--seed_everything``."""
        parser.add_argument(
            "--seed_everything",
            type=Union[bool, int],  # noqa: UP007
            default=self.seed_everything_default,
            help="The seed; true for $PL_GLOBAL_SEED, else 0; false for none.",
        )

    def add_core_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Add the arguments of Trainer, module and data module.

        Raises:
            MisconfigurationException: For ``trainer_defaults`` that the Trainer does not have.
        """
        parser.add_lightning_class_args(self.trainer_class, "trainer")
        for name, value in self.trainer_defaults.items():
            if name == "callbacks":
                continue
            try:
                parser.set_defaults({f"trainer.{name}": value})
            except KeyError:
                raise MisconfigurationException(f"`trainer_defaults`: {where_it_is(name)}") from None
        parser.add_lightning_class_args(self._model_class, "model", subclass_mode=self.subclass_mode_model)
        # Without a class of its own, a data module may be left out: the module may bring loaders.
        needed = {} if self.datamodule_class is not None else {"required": False}
        parser.add_lightning_class_args(
            self._datamodule_class, "data", subclass_mode=self.subclass_mode_data, **needed
        )

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Override to add arguments, or link them: ``parser.link_arguments("data.size", "model.size")``."""

    def _add_arguments(self, parser: LightningArgumentParser) -> None:
        self.add_default_arguments_to_parser(parser)
        self.add_core_arguments_to_parser(parser)
        self.add_arguments_to_parser(parser)
        if self.auto_configure_optimizers:
            if not parser._optimizers:
                parser.add_optimizer_args((Optimizer,))
            if not parser._lr_schedulers:
                parser.add_lr_scheduler_args(LRSchedulerTypeTuple)
        self.link_optimizers_and_lr_schedulers(parser)

    @staticmethod
    def subcommands() -> dict[str, set[str]]:
        """Return the subcommands, methods of the Trainer, with the arguments that the command line does not
        have."""
        evaluation = {"model", "dataloaders", "datamodule"}
        return {
            "fit": {"model", "train_dataloaders", "val_dataloaders", "datamodule"},
            "validate": evaluation,
            "test": set(evaluation),
            "predict": set(evaluation),
        }

    def _add_subcommands(self, parser: LightningArgumentParser, **kwargs: Any) -> None:
        subcommands = parser.add_subcommands()
        trainer_class = self.trainer_class
        if not isinstance(trainer_class, type):
            trainer_class = class_from_function(trainer_class)
        for name, skip in self.subcommands().items():
            text = inspect.getdoc(getattr(trainer_class, name)) or ""
            description = text.partition("\n")[0] or None
            own = {"description": description, **kwargs.get(name, {})}
            sub = self.init_parser(**own)
            self._add_arguments(sub)
            added = sub.add_method_arguments(trainer_class, name, skip=set(skip), fail_untyped=False)
            self._subcommand_method_arguments[name] = added
            self._subcommand_parsers[name] = sub
            subcommands.add_subcommand(name, sub, help=description)

    @staticmethod
    def link_optimizers_and_lr_schedulers(parser: LightningArgumentParser) -> None:
        """Link the optimizers and schedulers that were added with ``link_to``."""
        for key, (cls, link_to) in {**parser._optimizers, **parser._lr_schedulers}.items():
            if link_to == "AUTOMATIC":
                continue
            if isinstance(cls, tuple):
                parser.link_arguments(key, link_to)
            else:
                parser.link_arguments(key, link_to, compute_fn=functools.partial(as_class_path, cls))

    def _parser(self, subcommand: str | None) -> LightningArgumentParser:
        return self.parser if subcommand is None else self._subcommand_parsers[subcommand]

    # Configuration

    def parse_arguments(self, parser: LightningArgumentParser, args: ArgsType) -> None:
        """Parse the command line, or ``args``, into ``self.config``."""
        if args is not None and len(sys.argv) > 1:
            rank_zero_warn(
                "`LightningCLI(args=…)` stands for a command line, and there is one, too, which is not read:"
                f" {sys.argv[1:]}"
            )
        if isinstance(args, (dict, Namespace)):
            self.config = parser.parse_object(args)
        else:
            self.config = parser.parse_args(args)

    def _read_checkpoint(self) -> None:
        """Take the model's hyperparameters from the checkpoint that ``--ckpt_path`` names."""
        subcommand = self.config.get("subcommand")
        path = self.config[subcommand].get("ckpt_path") if subcommand else None
        if not path or not Path(path).is_file():
            return
        from relight import checkpoint

        hparams = dict(checkpoint.load(path, "cpu", True).get("hyper_parameters") or {})
        hparams.pop("_instantiator", None)
        if not hparams:
            return
        if "_class_path" in hparams:
            hparams = {"class_path": hparams.pop("_class_path"), "dict_kwargs": hparams}
        try:
            self.config = self.parser.parse_object({subcommand: {"model": hparams}}, self.config)
        except SystemExit:
            sys.stderr.write(
                f"These come from the hyperparameters in {path}, which the model does not take.\n"
            )
            raise

    def _set_seed(self) -> None:
        seed = self._get(self.config, "seed_everything")
        if seed is False:
            return
        seed = seed_everything(None if seed is True else seed, workers=True)
        (self.config[self.subcommand] if self.subcommand else self.config)["seed_everything"] = seed

    def _get(self, config: Any, key: str, default: Any = None) -> Any:
        """Return a value of the configuration, within the subcommand's part if there is one."""
        return config.get(str(self.subcommand), config).get(key, default)

    def _dumped(self) -> dict[str, Any]:
        """Return the configuration as plain data."""
        if not hasattr(self, "config_dump"):
            text = self.parser.dump(self.config, skip_link_targets=False, format="yaml", **WITH_NONE)
            self.config_dump: dict[str, Any] = yaml_module().safe_load(text)
            if "subcommand" in self.config:
                self.config_dump = self.config_dump[self.config.subcommand]
        return self.config_dump

    # Objects

    def before_instantiate_classes(self) -> None:
        """Override to do something before objects are made; ``self.config`` is there."""

    def after_instantiate_classes(self) -> None:
        """Override to do something when model, data and Trainer are made."""

    def _keeping_hyperparameters(self) -> list[tuple[Any, Any, bool]]:
        """Return what makes model and data module so that they keep their arguments as they were written."""
        made = []
        for key, cls, subclasses in (
            ("model", self._model_class, self.subclass_mode_model),
            ("data", self._datamodule_class, self.subclass_mode_data),
        ):
            if not isinstance(cls, type):
                cls = inspect.signature(cls, eval_str=True).return_annotation
            made.append((HyperparameterInstantiator(self, key), cls, subclasses))
        return made

    def instantiate_classes(self) -> None:
        """Make model, data module and Trainer."""
        self.config_init = instantiate(self.parser, self.config, self._instantiators)
        self.datamodule = self._get(self.config_init, "data")
        self.model = self._get(self.config_init, "model")
        self._add_configure_optimizers_method_to_model(self.subcommand)
        self.trainer = self.instantiate_trainer()

    def instantiate_trainer(self, **kwargs: Any) -> Trainer:
        """Make the Trainer; ``kwargs`` go before what was configured."""
        extra = [self._get(self.config_init, key) for key in self._parser(self.subcommand).callback_keys]
        configured = self._get(self.config_init, "trainer", default={})
        configured = dict(configured.items()) if isinstance(configured, Namespace) else dict(configured)
        return self._instantiate_trainer({**configured, **kwargs}, extra)

    def _instantiate_trainer(self, config: dict[str, Any], callbacks: list[Callback]) -> Trainer:
        if "callbacks" not in config:
            rank_zero_warn(
                f"`{self.trainer_class.__qualname__}` has no `callbacks`: those of the command line are left"
                " out."
            )
            return self.trainer_class(**config)
        always = [
            instantiate_class((), each) if isinstance(each, dict) else each
            for each in _as_list(self.trainer_defaults.get("callbacks"))
        ]
        config["callbacks"] = [*_as_list(config["callbacks"]), *callbacks, *always]
        if self.save_config_callback and not config.get("fast_dev_run", False):
            own = self.config.get(str(self.subcommand), self.config)
            parser = self._parser(self.subcommand)
            config["callbacks"].append(self.save_config_callback(parser, own, **self.save_config_kwargs))
        return self.trainer_class(**config)

    # Optimizers

    @staticmethod
    def configure_optimizers(
        lightning_module: LightningModule,
        optimizer: Optimizer,
        lr_scheduler: LRSchedulerTypeUnion | None = None,
    ) -> Any:
        """Override to change what the model's ``configure_optimizers`` returns.

        Args:
            lightning_module: The model.
            optimizer: What ``--optimizer`` made.
            lr_scheduler: What ``--lr_scheduler`` made.
        """
        if lr_scheduler is None:
            return optimizer
        if isinstance(lr_scheduler, ReduceLROnPlateau):
            scheduler = {"scheduler": lr_scheduler, "monitor": lr_scheduler.monitor}
            return {"optimizer": optimizer, "lr_scheduler": scheduler}
        return [optimizer], [lr_scheduler]

    def _add_configure_optimizers_method_to_model(self, subcommand: str | None) -> None:
        """Give the model the optimizer and scheduler of the command line.

        Raises:
            MisconfigurationException: If several were added without ``link_to``.
        """
        if not self.auto_configure_optimizers:
            return
        parser = self._parser(subcommand)
        optimizers = _automatic(Optimizer, parser._optimizers)
        schedulers = _automatic(LRSchedulerTypeTuple, parser._lr_schedulers)
        if not optimizers:
            return
        if len(optimizers) > 1 or len(schedulers) > 1:
            raise MisconfigurationException(
                f"Only one optimizer and one scheduler can be the model's automatically, not"
                f" {optimizers + schedulers}: add them with `link_to=`, and write `configure_optimizers`."
            )
        how = self._made_later(optimizers[0], parser._optimizers)
        if not how:
            return  # none was asked for
        if is_overridden("configure_optimizers", self.model, LightningModule):
            warnings.warn(
                f"`{type(self.model).__name__}.configure_optimizers` gives way to the optimizer of the"
                " command line.",
                stacklevel=2,
            )
        optimizer = instantiate_class(self.model.parameters(), how)
        how = self._made_later(schedulers[0], parser._lr_schedulers) if schedulers else None
        scheduler = instantiate_class(optimizer, how) if how else None
        configure = self.configure_optimizers

        @functools.wraps(configure)
        def configure_optimizers(module: LightningModule) -> Any:
            return configure(module, optimizer=optimizer, lr_scheduler=scheduler)

        self.model.configure_optimizers = types.MethodType(configure_optimizers, self.model)

    def _made_later(self, key: str, added: Mapping[str, tuple[Any, str]]) -> Any:
        cls = added[key][0]
        configured = self._get(self.config_init, key)
        return configured if isinstance(cls, tuple) else as_class_path(cls, configured)

    # Running

    def _run_subcommand(self, subcommand: str) -> None:
        self._call(f"before_{subcommand}")
        function = getattr(self, subcommand, None) or getattr(self.trainer, subcommand)
        function(**self._prepare_subcommand_kwargs(subcommand))
        self._call(f"after_{subcommand}")

    def _call(self, name: str) -> None:
        if callable(function := getattr(self, name, None)):
            function()

    def _prepare_subcommand_kwargs(self, subcommand: str) -> dict[str, Any]:
        """Return the arguments of the entry point."""
        names = self._subcommand_method_arguments[subcommand]
        given = {name: value for name, value in self.config_init[subcommand].items() if name in names}
        given["model"] = self.model
        if self.datamodule is not None:
            given["datamodule"] = self.datamodule
        return given


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _automatic(kind: Any, added: Mapping[str, tuple[Any, str]]) -> list[str]:
    return [
        key
        for key, (cls, link_to) in added.items()
        if link_to == "AUTOMATIC"
        and any(issubclass(c, kind) for c in (cls if isinstance(cls, tuple) else (cls,)))
    ]

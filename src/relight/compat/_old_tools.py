"""Tools of Lightning's ``utilities`` and ``core`` that projects call, and one logger that was removed."""

from __future__ import annotations

import inspect
import logging
import math
from argparse import Namespace
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from relight.callbacks._layer_table import LayerTable
from relight.loggers import TensorBoardLogger
from relight.utilities.overrides import is_overridden as core_is_overridden
from relight.utilities.overrides import takes_parameter

__all__ = [
    "Interval",
    "ModelSummary",
    "Registry",
    "TestTubeLogger",
    "convert_inf",
    "get_init_args",
    "is_oom_error",
    "is_overridden",
    "is_param_in_hook_signature",
    "load_hparams_from_tags_csv",
    "load_hparams_from_yaml",
    "log",
    "no_patch",
    "save_hparams_to_tags_csv",
    "save_hparams_to_yaml",
    "summarize",
]

log = logging.getLogger("relight")


def is_overridden(method_name: str, instance: Any = None, parent: type | None = None) -> bool:
    """Return whether a module, data module or callback brings its own method.

    Raises:
        ValueError: If ``parent`` is needed to say so, or has no such method.
    """
    from relight.callbacks import Callback
    from relight.compat._callback import Callback as LegacyCallback
    from relight.compat._datamodule import LightningDataModule as LegacyDataModule
    from relight.compat._module import LightningModule as LegacyModule
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule

    if instance is None:
        return False
    if parent is None:
        # Compat's first: what its classes add counts as inherited.
        known = (
            LegacyModule, LightningModule, LegacyDataModule, LightningDataModule, LegacyCallback, Callback,
        )  # fmt: skip
        parent = next((each for each in known if isinstance(instance, each)), None)
        if parent is None:
            raise ValueError(f"`is_overridden` wants `parent` for a {type(instance).__name__}")
    if not hasattr(parent, method_name):
        raise ValueError(f"`{parent.__name__}` has no `{method_name}`")
    return core_is_overridden(method_name, instance, parent)


def is_param_in_hook_signature(
    hook_fx: Callable[..., Any], param: str, explicit: bool = False, min_args: int | None = None
) -> bool:
    """Return whether a hook takes a parameter: by name, or (unless ``explicit``) through ``*args``."""
    return takes_parameter(hook_fx, param, explicit=explicit, min_args=min_args)


def is_oom_error(exception: BaseException) -> bool:
    """Return whether a device (or the CPU) ran out of memory."""
    text = str(exception)
    signs = ("CUDA out of memory", "CUDNN_STATUS_NOT_SUPPORTED", "can't allocate memory")
    return isinstance(exception, MemoryError) or (
        isinstance(exception, RuntimeError) and any(sign in text for sign in signs)
    )


def get_init_args(frame: Any) -> dict[str, Any]:
    """Return the arguments that the ``__init__`` running in ``frame`` was called with, without ``self``."""
    values = frame.f_locals
    if "__class__" not in values:
        return {}
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(values["__class__"].__init__).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given.update(values.get(name, {}))
        elif parameter.kind is not parameter.VAR_POSITIONAL and name in values:
            given[name] = values[name]
    given.pop("self", None)
    return given


def load_hparams_from_yaml(config_yaml: str | Path, use_omegaconf: bool = True) -> dict[str, Any]:
    """Return the hyperparameters in a YAML file; nothing if there is no such file."""
    from relight.loggers._hparams import yaml_module

    path = Path(config_yaml)
    if not path.is_file():
        return {}
    return dict(yaml_module().full_load(path.read_text(encoding="utf-8")) or {})


def save_hparams_to_yaml(config_yaml: str | Path, hparams: Any, use_omegaconf: bool = True) -> None:
    """Write hyperparameters to a YAML file, those that YAML can hold.

    Raises:
        RuntimeError: The directory does not exist.
    """
    from relight.loggers._hparams import as_dict, write_hparams

    path = Path(config_yaml)
    if not path.parent.is_dir():
        raise RuntimeError(f"There is no directory `{path.parent}`")
    write_hparams(str(path), as_dict(hparams))


def load_hparams_from_tags_csv(tags_csv: str | Path) -> dict[str, Any]:
    """Return the hyperparameters in a CSV file with the columns ``key`` and ``value``."""
    import ast
    import csv

    path = Path(tags_csv)
    if not path.is_file():
        return {}
    read: dict[str, Any] = {}
    with path.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            try:
                read[row["key"]] = ast.literal_eval(row["value"])
            except (ValueError, SyntaxError):
                read[row["key"]] = row["value"]
    return read


def save_hparams_to_tags_csv(tags_csv: str | Path, hparams: Namespace | Mapping[str, Any]) -> None:
    """Write hyperparameters to a CSV file with the columns ``key`` and ``value``."""
    import csv

    items = vars(hparams) if isinstance(hparams, Namespace) else hparams
    with Path(tags_csv).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["key", "value"])
        writer.writerows(items.items())


class Interval(str, Enum):
    """How often a Timer looks at the clock."""

    step = "step"
    epoch = "epoch"


class ModelSummary(LayerTable):
    """The layers of a module: printed as a table, with counts of parameters.

    Args:
        model: The module.
        mode: Left in 1.6: ``"top"``, ``"full"``.
        max_depth: Levels of nesting; -1 all, 0 none.
    """

    def __init__(self, model: Any, mode: Any = None, max_depth: int | None = 1) -> None:
        if isinstance(mode, int):  # the second argument since 1.6
            mode, max_depth = None, mode
        depth = {"top": 1, "full": -1}[mode] if isinstance(mode, str) else max_depth
        super().__init__(model, 1 if depth is None else depth)
        self.max_depth = depth

    @property
    def layer_names(self) -> list[str]:
        """The layers' names."""
        return list(self.layers)

    @property
    def layer_types(self) -> list[str]:
        """Their classes."""
        return [type(layer).__name__ for layer in self.layers.values()]

    @property
    def param_nums(self) -> list[int]:
        """Their numbers of parameters."""
        return [sum(p.numel() for p in layer.parameters()) for layer in self.layers.values()]

    @property
    def named_modules(self) -> list[tuple[str, Any]]:
        """Names and layers."""
        return list(self.layers.items())


def convert_inf(x: float | int | None) -> float | int | None:
    """Return ``None`` for infinity (and what is no number), for a bar whose end is unknown."""
    return None if x is None or math.isinf(x) or math.isnan(x) else x


def summarize(lightning_module: Any, max_depth: int | None = 1, mode: Any = None) -> ModelSummary:
    """Return a summary of a module's layers."""
    return ModelSummary(lightning_module, mode, max_depth)


class Registry(dict[str, type]):
    """Classes by name, for the command line of 1.4 to 1.8; used as a decorator it registers a class."""

    def __call__(self, cls: type, key: str | None = None, override: bool = False) -> type:
        """Register and return a class."""
        self[key or cls.__name__] = cls
        return cls

    @property
    def names(self) -> list[str]:
        """The registered names."""
        return list(self)

    @property
    def classes(self) -> tuple[type, ...]:
        """The registered classes."""
        return tuple(self.values())


class TestTubeLogger(TensorBoardLogger):
    """Left in 1.7, with the test-tube package: writes the same events to TensorBoard.

    Files are at ``<save_dir>/<name>/version_<n>``, without the ``tf`` directory below. No git tag is created.
    """

    __test__ = False  # no test class

    def __init__(
        self,
        save_dir: Any,
        name: str = "default",
        description: str | None = None,
        debug: bool = False,
        version: int | None = None,
        create_git_tag: bool = False,
        log_graph: bool = False,
        prefix: str = "",
    ) -> None:
        super().__init__(save_dir, name, version, log_graph=log_graph, prefix=prefix)


class no_patch:
    """A context in which nothing is patched: files of old releases are read without it."""

    def __enter__(self) -> no_patch:
        """Do nothing."""
        return self

    def __exit__(self, *details: object) -> None:
        """Do nothing."""


def __getattr__(name: str) -> Any:
    if name.endswith("_REGISTRY"):
        registry = globals()[name] = Registry()
        return registry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

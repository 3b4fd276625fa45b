"""Loggers of tracking services that took other arguments in older releases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from relight.compat._facts import code_for
from relight.compat._notices import notice
from relight.loggers import comet, neptune, wandb
from relight.loggers._params import prefixed
from trainer_upgrade.catalogue import Area

__all__ = ["CometLogger", "NeptuneLogger", "WandbLogger"]


def _tell(owner: str, name: str, what: str) -> None:
    code = code_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, "TRU600")
    notice(code, f"{owner}({name}=…)", f"`{owner}({name}=…)` was dropped: {what}")


def _positional(owner: str, names: Iterable[str], values: tuple[Any, ...], arguments: dict[str, Any]) -> None:
    """Add arguments given by position under their names.

    Raises:
        TypeError: If one is given twice, or there are too many.
    """
    names = tuple(names)
    if len(values) > len(names):
        raise TypeError(f"{owner}() takes {len(names)} positional arguments, got {len(values)}")
    for name, value in zip(names, values, strict=False):
        if name in arguments:
            raise TypeError(f"{owner}() got {name!r} twice")
        arguments[name] = value


def _drop(owner: str, arguments: dict[str, Any], *names: str) -> None:
    for name in names:
        if arguments.pop(name, None) is not None:
            _tell(owner, name, "it has no effect")


class WandbLogger(wandb.WandbLogger):
    """See :class:`relight.loggers.WandbLogger`; takes the arguments of 0.7 to 1.9 as well, in their order."""

    def __init__(
        self, name: str | None = None, save_dir: Any = ".", *positional: Any, **arguments: Any
    ) -> None:
        order: tuple[str, ...] = (
            "version",
            "offline",
            "dir",
            "id",
            "anonymous",
            "project",
            "log_model",
            "experiment",
            "prefix",
        )
        if positional and isinstance(positional[0], bool):  # `version` stood after `anonymous` up to 1.7
            order = ("offline", "id", "anonymous", "version", "project", "log_model", "experiment", "prefix")
        _positional("WandbLogger", order, positional, arguments)
        _drop("WandbLogger", arguments, "sync_step", "agg_key_funcs", "agg_default_func")
        super().__init__(name, save_dir, **arguments)


class CometLogger(comet.CometLogger):
    """See :class:`relight.loggers.CometLogger`; takes the arguments of 0.7 to 2.4 as well.

    Without a key, but with ``save_dir``, it works offline, as it did then. A prefix is joined with ``-``.
    """

    def __init__(self, *positional: Any, **arguments: Any) -> None:
        order = (
            "api_key", "save_dir", "project_name", "rest_api_key", "experiment_name", "experiment_key",
            "offline", "prefix",
        )  # fmt: skip
        _positional("CometLogger", order, positional, arguments)
        _drop("CometLogger", arguments, "rest_api_key", "agg_key_funcs", "agg_default_func")
        old = {
            name for name in ("save_dir", "project_name", "experiment_name", "offline") if name in arguments
        }
        key = arguments.get("api_key") or os.environ.get("COMET_API_KEY")
        if old and "online" not in arguments:
            offline = arguments.pop("offline", False) or (not key and bool(arguments.get("save_dir")))
            arguments["online"] = not offline
        for name, modern in comet.RENAMED.items():
            if name in arguments:
                _tell("CometLogger", name, f"say `{modern}`")
                if (value := arguments.pop(name)) is not None:
                    arguments.setdefault(modern, value)
        self._old_prefix = arguments.pop("prefix", None) or ""
        super().__init__(**arguments)

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Log numbers; their ``epoch`` becomes Comet's own."""
        epoch = {name: metrics[name] for name in ("epoch",) if name in metrics}
        others = {name: value for name, value in metrics.items() if name != "epoch"}
        super().log_metrics({**prefixed(others, self._old_prefix, "-"), **epoch}, step)


class NeptuneLogger(neptune.NeptuneLogger):
    """See :class:`relight.loggers.NeptuneLogger`; takes the arguments of 0.7 to 1.4 as well.

    What that release's own methods (``log_metric``, ``log_artifact`` …) did, ``logger.experiment`` does.
    """

    _RENAMED = {"project_name": "project", "experiment_name": "name", "experiment_id": "with_id"}

    def __init__(self, *positional: Any, **arguments: Any) -> None:
        _positional("NeptuneLogger", ("api_key", "project_name"), positional, arguments)
        _drop("NeptuneLogger", arguments, "close_after_fit", "agg_key_funcs", "agg_default_func")
        if arguments.pop("offline_mode", False):
            _tell("NeptuneLogger", "offline_mode", 'say `mode="offline"`')
            arguments.setdefault("mode", "offline")
        for name, modern in self._RENAMED.items():
            if name in arguments:
                _tell("NeptuneLogger", name, f"say `{modern}`")
                arguments.setdefault(modern, arguments.pop(name))
        params, properties = arguments.pop("params", None), arguments.pop("properties", None)
        if "upload_source_files" in arguments:
            _tell("NeptuneLogger", "upload_source_files", "say `source_files`")
            arguments.setdefault("source_files", arguments.pop("upload_source_files"))
        super().__init__(**arguments)
        for name, values in (("params", params), ("properties", properties)):
            if values:
                _tell("NeptuneLogger", name, "call `log_hyperparams`")
                self.log_hyperparams(dict(values))

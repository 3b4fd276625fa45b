"""Build a module or a data module from a checkpoint."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import IO, Any

import torch

from relight.checkpoint import OMEGACONF, PathLike, load
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_warn

__all__ = ["load_from_checkpoint"]

#: Where releases before 0.8 kept hyperparameters.
_PAST_HPARAMS_KEYS = ("hparams", "module_arguments")


def load_from_checkpoint(
    cls: Any,
    path: PathLike | IO[bytes],
    map_location: Any,
    hparams_file: PathLike | None,
    strict: bool | None,
    weights_only: bool | None,
    kwargs: dict[str, Any],
) -> Any:
    """Build a module or data module from what a checkpoint tells about it; see the classes' methods."""
    from relight.module import LightningModule

    checkpoint = load(path, map_location if map_location is not None else _default_location, weights_only)
    key = cls.CHECKPOINT_HYPER_PARAMS_KEY
    if hparams_file is not None:
        checkpoint[key] = _read_hparams(hparams_file)
    past = (checkpoint.get(name, {}) for name in _PAST_HPARAMS_KEYS)
    hparams = {name: value for known in (checkpoint.get(key, {}), *past) for name, value in known.items()}
    hparams |= kwargs
    checkpoint[key] = hparams
    name = checkpoint.get(cls.CHECKPOINT_HYPER_PARAMS_NAME)
    parameters = inspect.signature(cls.__init__).parameters
    accepted = [
        p.name for p in list(parameters.values())[1:] if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    arguments: dict[str, Any] = hparams
    if name and name in accepted:
        arguments = {name: _collection(hparams, checkpoint.get(cls.CHECKPOINT_HYPER_PARAMS_TYPE))}
    arguments = {**arguments, **kwargs}
    by_cli = arguments.pop("_instantiator", None)
    class_path = arguments.pop("_class_path", None) if by_cli is not None else None
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        arguments = {argument: value for argument, value in arguments.items() if argument in accepted}
    built = cls(**arguments) if by_cli is None else _build_by_cli(cls, class_path, arguments, by_cli)
    if not isinstance(built, LightningModule):
        if type(built).__qualname__ in checkpoint:
            built.load_state_dict(checkpoint[type(built).__qualname__])
        return built
    return _load_weights(built, checkpoint, strict, path)


def _build_by_cli(cls: Any, class_path: str | None, arguments: dict[str, Any], by: Any) -> Any:
    """Build an object of hyperparameters that ``LightningCLI`` kept, nested classes among them.

    Raises:
        ValueError: If the file names a function that is not known to do that, or a class that is not
            imported: it must not choose what code runs (Lightning #21822).
    """
    from relight.core.hparams import INSTANTIATORS

    if by not in INSTANTIATORS:
        raise ValueError(f"The checkpoint is to be built by {by!r}, which is none of {INSTANTIATORS}")
    if class_path is not None:
        module, _, name = class_path.rpartition(".")
        known = getattr(sys.modules.get(module), name, None)
        if not (isinstance(known, type) and issubclass(known, cls)):
            raise ValueError(
                f"The checkpoint is of the class {class_path!r}, which is not an imported subclass of"
                f" `{cls.__name__}`: import its module first, if you trust the file."
            )
        arguments = {"_class_path": class_path, **arguments}
    from relight.cli import instantiate_module

    return instantiate_module(cls, arguments)


def _collection(hparams: dict[str, Any], kind: Any) -> Any:
    """Return hyperparameters in the type that the module was given; ``kind`` is a class or its name."""
    if getattr(kind, "__name__", kind) == OMEGACONF:
        from omegaconf import OmegaConf

        return OmegaConf.create(hparams)
    from relight.core.hparams import AttributeDict

    return AttributeDict(hparams) if isinstance(kind, str) else hparams


def _load_weights(module: Any, checkpoint: dict[str, Any], strict: bool | None, path: Any) -> Any:
    from relight.module import LightningModule

    if strict is not None and module._strict_loading is not None and strict != module.strict_loading:
        raise ValueError(
            f"`load_from_checkpoint(strict={strict})` contradicts `strict_loading={module.strict_loading}` of"
            f" `{type(module).__name__}`"
        )
    strict = module.strict_loading if strict is None else strict
    if is_overridden("configure_model", module, LightningModule):
        module.configure_model()
    module.on_load_checkpoint(checkpoint)
    weights = checkpoint["state_dict"]
    keys = module.load_state_dict(weights, strict=strict)
    if not strict:
        for kind in ("missing", "unexpected"):
            if found := getattr(keys, f"{kind}_keys"):
                rank_zero_warn(f"Loading without `strict`: {kind} keys {found}")
    if not weights:
        rank_zero_warn(f"The checkpoint {path!r} holds no weights")
        return module
    device = next((value.device for value in weights.values() if isinstance(value, torch.Tensor)), None)
    return module.to(device) if device is not None else module


def _default_location(storage: Any, location: str) -> Any:
    """Load to where the file says, or to the CPU if that device is not here."""
    missing = {
        "cuda": not torch.cuda.is_available(),
        "mps": not torch.backends.mps.is_available(),
        "xla": True,
    }
    return storage.cpu() if missing.get(location.split(":")[0], False) else None


def _read_hparams(path: PathLike) -> dict[str, Any]:
    suffix = Path(path).suffix.lower()
    if not os.path.exists(path):
        rank_zero_warn(f"There is no `hparams_file` {os.fspath(path)!r}: no hyperparameters are read from it")
        return {}
    if suffix in (".yaml", ".yml"):
        import yaml  # type: ignore[import-untyped,unused-ignore]

        with open(path, encoding="utf-8") as file:
            return yaml.safe_load(file) or {}
    if suffix == ".csv":
        import ast
        import csv

        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        values = {}
        for name, text, *_ in rows:
            try:
                values[name] = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                values[name] = text
        return values
    raise ValueError(f"`hparams_file` must be a .yaml, .yml or .csv file, not {os.fspath(path)!r}")

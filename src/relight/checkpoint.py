"""Checkpoints: the file format of Lightning 2.x, written atomically and read without running code."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import torch

from relight.core.hparams import is_omegaconf
from relight.trainer import resume, sharding
from relight.trainer.hooks import Order, call_own_hook
from relight.trainer.signals import is_slurm_job, last_hpc_file
from relight.trainer.states import TrainerFn
from relight.utilities.atomic import local_path, write_atomically
from relight.utilities.exceptions import CheckpointLoadError, MisconfigurationException
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["dump", "load", "load_from_checkpoint", "migrate", "write"]

#: The release whose file format is written: Lightning of this version and later reads it without a migration.
FORMAT_VERSION = "2.6.6"
VERSION_KEY = "pytorch-lightning_version"
#: Where releases before 0.8 kept hyperparameters.
_PAST_HPARAMS_KEYS = ("hparams", "module_arguments")
_OMEGACONF = "DictConfig"
PathLike = str | os.PathLike[str]


# Writing


def dump(trainer: Trainer, weights_only: bool = False) -> dict[str, Any]:
    """Return the Trainer's state as a checkpoint.

    Args:
        trainer: Must have a module.
        weights_only: Leave out the state of callbacks, optimizers, schedulers and precision.
    """
    module, datamodule = trainer.lightning_module, trainer.datamodule
    checkpoint: dict[str, Any] = {
        "epoch": trainer.current_epoch,
        "global_step": trainer.global_step,
        VERSION_KEY: FORMAT_VERSION,
        "state_dict": sharding.model_state(trainer._backend)
        if sharding.is_sharded(trainer._backend)
        else module.state_dict(),
        "loops": {
            "fit_loop": trainer.fit_loop.state_dict(),
            "validate_loop": trainer.validate_loop.state_dict(),
            "test_loop": trainer.test_loop.state_dict(),
            "predict_loop": trainer.predict_loop.state_dict(),
        },
    }
    if not weights_only:
        states = {
            callback.state_key: call_own_hook(trainer, callback, "state_dict")
            for callback in trainer.callbacks
        }
        checkpoint["callbacks"] = {key: state for key, state in states.items() if state}
        checkpoint["optimizer_states"] = [
            _optimizer_state(trainer, optimizer) for optimizer in trainer.optimizers
        ]
        checkpoint["lr_schedulers"] = [
            config.scheduler.state_dict() for config in trainer.lr_scheduler_configs
        ]
        precision = trainer.precision_plugin
        if state := precision.state_dict():
            checkpoint[type(precision).__qualname__] = state
    for owner in (module, datamodule):
        if owner is not None and owner.hparams:
            if hasattr(owner, "_hparams_name"):
                checkpoint[owner.CHECKPOINT_HYPER_PARAMS_NAME] = owner._hparams_name
            checkpoint[owner.CHECKPOINT_HYPER_PARAMS_KEY] = _plain_hparams(owner.hparams)
            if is_omegaconf(owner.hparams):
                checkpoint[owner.CHECKPOINT_HYPER_PARAMS_TYPE] = _OMEGACONF
    if datamodule is not None and (state := call_own_hook(trainer, datamodule, "state_dict")):
        checkpoint[type(datamodule).__qualname__] = state
    hooks = trainer._hooks
    assert hooks is not None
    hook = hooks.module("on_save_checkpoint") if weights_only else hooks.bind("on_save_checkpoint")
    if hook is not None:
        hook(checkpoint)
    if not weights_only and (place := resume.gather(trainer)) is not None:
        checkpoint[resume.KEY] = place
    return checkpoint


def _plain_hparams(hparams: Any) -> dict[str, Any]:
    """Return hyperparameters as a dict, so that reading the file runs no code of OmegaConf's."""
    if is_omegaconf(hparams):
        from omegaconf import OmegaConf

        container: Any = OmegaConf.to_container(hparams)
        return dict(container)
    return dict(hparams)


def _optimizer_state(trainer: Trainer, optimizer: Any) -> dict[str, Any]:
    if sharding.is_sharded(trainer._backend):
        return sharding.optimizer_state(trainer._backend, optimizer)
    return optimizer.state_dict() if trainer.is_global_zero else {}


def write(trainer: Trainer, checkpoint: dict[str, Any], path: PathLike, storage_options: Any = None) -> None:
    """Write a checkpoint in the first process; a reader never sees half a file.

    Args:
        trainer: Whose strategy or checkpoint plugin may have a way of its own.
        checkpoint: What to write.
        path: A local path, or a URL that fsspec knows.
        storage_options: For a checkpoint plugin.
    """
    from lightning_fabric.plugins.io.torch_io import TorchCheckpointIO

    io = sharding.checkpoint_io(trainer._backend)
    if not trainer.is_global_zero:
        return
    local = local_path(path)
    if type(io) is TorchCheckpointIO and local is not None:
        save_atomically(checkpoint, local)
    else:
        io.save_checkpoint(checkpoint, os.fspath(path), storage_options=storage_options)


def save_atomically(data: Any, path: PathLike) -> None:
    """Write ``data`` with torch to a file that is there whole or not at all; see :func:`write_atomically`."""
    write_atomically(path, lambda file: torch.save(data, file))


# Reading


def load(
    path: PathLike | IO[bytes], map_location: Any = "cpu", weights_only: bool | None = None
) -> dict[str, Any]:
    """Read a checkpoint.

    Args:
        path: A path, a URL that fsspec knows, or an open file.
        map_location: As for ``torch.load``.
        weights_only: ``None`` and True load data only; False runs whatever code the file carries.

    Raises:
        FileNotFoundError: If there is no such file.
        CheckpointLoadError: If the file holds more than data and ``weights_only`` is not False.
    """
    return migrate(load_raw(path, map_location, weights_only))


def load_raw(
    path: PathLike | IO[bytes], map_location: Any = "cpu", weights_only: bool | None = None
) -> dict[str, Any]:
    """Read a checkpoint as it was saved; see :func:`load`."""
    if weights_only is False:
        return _read(path, map_location, safe=False)
    start = path.tell() if not isinstance(path, (str, os.PathLike)) else 0
    try:
        return _read(path, map_location, safe=True)
    except Exception as error:
        if not (names := _refused(error)):
            raise
        try:
            return _read_old(path, map_location, names, start)
        except _Untrusted as untrusted:
            raise _needs_trust(path, untrusted.names) from error


def _read(path: PathLike | IO[bytes], map_location: Any, safe: bool) -> dict[str, Any]:
    source: Any = local_path(path) if isinstance(path, (str, os.PathLike)) else path
    if source is None:
        import fsspec  # type: ignore[import-untyped]

        try:
            with fsspec.open(os.fspath(path), "rb") as file:  # type: ignore[arg-type]
                loaded = torch.load(file, map_location=map_location, weights_only=safe)
        except FileNotFoundError:
            raise FileNotFoundError(f"There is no file at the checkpoint path {path!r}") from None
        return loaded  # type: ignore[no-any-return]
    if isinstance(source, str) and not os.path.isfile(source):
        what = "a directory, not a file" if os.path.isdir(source) else "no file"
        raise FileNotFoundError(f"There is {what} at the checkpoint path {source!r}")
    return torch.load(  # type: ignore[no-any-return]
        source, map_location=map_location, weights_only=safe
    )


def _read_old(path: PathLike | IO[bytes], map_location: Any, names: list[str], start: int) -> dict[str, Any]:
    """Read a file that holds classes, with stand-ins for them; torch names them one after the other."""
    from relight.old_checkpoints.known_classes import Untrusted, stand_ins, to_plain

    names = list(names)
    while True:
        if not isinstance(path, (str, os.PathLike)):
            path.seek(start)
        try:
            with torch.serialization.safe_globals(stand_ins(names)):
                return to_plain(_read(path, map_location, safe=True))
        except Untrusted as untrusted:
            raise _Untrusted(untrusted.names) from None
        except Exception as error:
            more = [name for name in _refused(error) if name not in names]
            if not more:
                raise _Untrusted(names) from error
            names += more


class _Untrusted(Exception):
    def __init__(self, names: list[str]) -> None:
        super().__init__(names)
        self.names = names


def _needs_trust(path: object, names: list[str]) -> CheckpointLoadError:
    listed = ", ".join(f"`{name}`" for name in names)
    return CheckpointLoadError(
        f"The checkpoint {path!r} holds more than data: {listed}. Loading it would run code from the file."
        " If you trust its author, pass `weights_only=False`"
        " (or allow the class alone:"
        f" `torch.serialization.add_safe_globals([{names[0].rpartition('.')[2]}])`)."
    )


def is_of_saver(path: PathLike, saver: tuple[int, str], step: int) -> bool:
    """Whether a file was saved by this callback (its index), in this hook, at this step."""
    try:
        found = load(path)
    except Exception:  # whatever it is, it is not ours
        return False
    place = found.get(resume.KEY) or {}
    return place.get("saver") == list(saver) and found.get("global_step") == step


def _refused(error: BaseException) -> list[str]:
    """Return the globals that torch's safe loader refused."""
    text = str(error)
    found = re.findall(r"[Uu]nsupported (?:global: )?GLOBAL ([\w.]+)", text) + re.findall(
        r"Unsupported class ([\w.]+)", text
    )
    found += re.findall(r"WeightsUnpickler error: .*?(?:class|function) ([\w.]+\.[\w.]+)", text)
    return list(dict.fromkeys(name.rstrip(".") for name in found))


def migrate(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Bring a checkpoint of an older release to the form of today; files of 2.x are in it already."""
    version = str(checkpoint.get(VERSION_KEY, "0"))
    if version.startswith("2.") and "state_dict" in checkpoint:
        return checkpoint
    from relight.old_checkpoints import migrations

    return migrations.migrate(checkpoint, FORMAT_VERSION)


# Resuming


def select_path(
    trainer: Trainer, fn: TrainerFn, given: PathLike | None, module_given: bool
) -> PathLike | None:
    """Return the file to load: what was asked for, with ``"best"``, ``"last"`` and ``"hpc"`` looked up.

    Raises:
        ValueError: If a keyword finds no file.
    """
    if trainer._user_managed_ckpt_path:
        if given is None:
            return trainer.ckpt_path
        rank_zero_warn(
            f"`trainer.ckpt_path` is set, but `ckpt_path={given!r}` was passed to `{fn}`: that is loaded"
        )
        trainer.ckpt_path = None
    call = f"`{fn}(ckpt_path={given!r})`"
    if given is None:
        if is_slurm_job() and (newest := last_hpc_file(trainer.default_root_dir)) is not None:
            return newest[1]
        if module_given:
            return None
        given = "best"
        rank_zero_warn(
            f"`{fn}()` was called without a module: the best weights of the last fit are loaded. Pass"
            f" `ckpt_path='best'`, or another, to say so."
        )
    if given == "best":
        callback = trainer.checkpoint_callback
        if len(trainer.checkpoint_callbacks) > 1:
            rank_zero_warn(f"{call}: there are several checkpoint callbacks; the first one's best is loaded")
        if callback is None:
            raise ValueError(f"{call}: there is no `ModelCheckpoint` to ask")
        best = getattr(callback, "best_model_path", None)
        if not best:
            reason = (
                "`fast_dev_run` saves nothing" if trainer.fast_dev_run else "the `ModelCheckpoint` saved none"
            )
            raise ValueError(f"{call}: {reason}; pass a path")
        return best  # type: ignore[no-any-return]
    if given == "last":
        candidates: dict[str, float] = {}
        for callback in trainer.checkpoint_callbacks:
            if hasattr(callback, "_find_last_checkpoints"):
                candidates |= callback._find_last_checkpoints(trainer)
        if not candidates:
            rank_zero_warn(
                f"{call}: there is no last checkpoint, so none is loaded. `save_last=True` would make one."
            )
            return None
        return max(candidates, key=candidates.__getitem__)
    if given == "hpc":
        newest = last_hpc_file(trainer.default_root_dir)
        if newest is None:
            raise ValueError(f"{call}: there is no file hpc_ckpt_N.ckpt in {trainer.default_root_dir!r}")
        return newest[1]
    if not given:
        raise ValueError(f"{call} names no file")
    return given


def restore_modules_and_callbacks(trainer: Trainer, path: PathLike | None, weights_only: bool | None) -> None:
    """Read the file and give their state to the module, the data module and the callbacks."""
    if not trainer._user_managed_ckpt_path:
        trainer._ckpt_path = path
    trainer._loaded_checkpoint = {}
    if not path:
        return
    rank_zero_info(f"Restoring states from the checkpoint path at {path}")
    trainer._loaded_checkpoint = load(path, "cpu", weights_only)
    parts = [_restore_module, _restore_datamodule]
    if trainer.restores_callbacks or trainer.state.fn == TrainerFn.FITTING:
        parts.append(_restore_callbacks)
    if trainer.hook_order.get("on_load_checkpoint") is not Order.MODULE_FIRST:
        parts.reverse()
    for part in parts:
        part(trainer, trainer._loaded_checkpoint)


def _restore_module(trainer: Trainer, checkpoint: dict[str, Any]) -> None:
    module = trainer.lightning_module
    call_own_hook(trainer, module, "on_load_checkpoint", checkpoint)
    if sharding.is_sharded(trainer._backend):
        sharding.load_model_state(trainer._backend, checkpoint["state_dict"])
    else:
        module.load_state_dict(checkpoint["state_dict"], strict=module.strict_loading)


def _restore_datamodule(trainer: Trainer, checkpoint: dict[str, Any]) -> None:
    datamodule = trainer.datamodule
    if datamodule is not None and type(datamodule).__qualname__ in checkpoint:
        call_own_hook(trainer, datamodule, "load_state_dict", checkpoint[type(datamodule).__qualname__])


def _restore_callbacks(trainer: Trainer, checkpoint: dict[str, Any]) -> None:
    states: Mapping[Any, Any] | None = checkpoint.get("callbacks")
    if states is None:
        return
    known = {callback.state_key for callback in trainer.callbacks}
    known |= {callback._legacy_state_key for callback in trainer.callbacks}  # type: ignore[misc]
    known |= {type(callback).__qualname__ for callback in trainer.callbacks}
    if missing := [key for key in states if key not in known]:
        rank_zero_warn(
            f"The checkpoint holds the state of callbacks that this Trainer does not have: {missing}."
            " Give it the same."
        )
    for callback in trainer.callbacks:
        call_own_hook(trainer, callback, "on_load_checkpoint", trainer, trainer.lightning_module, checkpoint)
    for callback in trainer.callbacks:
        state = states.get(callback.state_key, states.get(callback._legacy_state_key))
        if state is None:  # before 1.5 a class had one state
            state = states.get(type(callback).__qualname__)
        if state:
            call_own_hook(trainer, callback, "load_state_dict", _copied(state))


def _copied(state: Any) -> Any:
    import copy

    return copy.deepcopy(state)


def restore_training_state(trainer: Trainer) -> None:
    """Give precision, loops, optimizers and schedulers the state that was read.

    Raises:
        MisconfigurationException: If the checkpoint is past ``max_epochs``.
        KeyError: If it holds weights only.
    """
    checkpoint = trainer._loaded_checkpoint
    trainer.fit_loop.resumed = None
    if not checkpoint:
        return
    precision = trainer.precision_plugin
    state = checkpoint.get(type(precision).__qualname__, checkpoint.get("native_amp_scaling_state"))
    if state is not None:
        precision.load_state_dict(state)
    fn = trainer.state.fn
    loops = checkpoint.get("loops")
    if loops is not None:
        trainer._active_loop.load_state_dict(loops.get(f"{fn}_loop", {}))
    if fn != TrainerFn.FITTING:
        return
    if (resumed := resume.read(trainer, checkpoint)) is not None:
        resumed.restore_counts(trainer)
        trainer.fit_loop.resumed = resumed
    limit = trainer.max_epochs
    if limit not in (None, -1) and trainer.current_epoch > limit:
        raise MisconfigurationException(
            f"The checkpoint has done {trainer.current_epoch} epochs, more than max_epochs={limit}"
        )
    for key, what in (("optimizer_states", "optimizers"), ("lr_schedulers", "learning rate schedulers")):
        if key not in checkpoint:
            raise KeyError(
                f"The checkpoint holds no state of {what}; it was saved with `save_weights_only`. Load it"
                " with `load_from_checkpoint`, and fit without `ckpt_path`."
            )
    for optimizer, optimizer_state in zip(trainer.optimizers, checkpoint["optimizer_states"], strict=False):
        if sharding.is_sharded(trainer._backend):
            sharding.load_optimizer_state(trainer._backend, optimizer, optimizer_state)
            continue
        optimizer.load_state_dict(optimizer_state)
        _to_device(optimizer, trainer._backend.device)
    for config, scheduler_state in zip(
        trainer.lr_scheduler_configs, checkpoint["lr_schedulers"], strict=False
    ):
        config.scheduler.load_state_dict(scheduler_state)
    if resumed is not None:
        resumed.restore_rest(trainer)


def give_back(trainer: Trainer, saved: dict[str, Any]) -> None:
    """Set module, data module, callbacks, optimizers and schedulers back to what was saved in this very run.

    What else the run is about to load, and the loops, are left as they are.
    """
    pending, trainer._loaded_checkpoint = trainer._loaded_checkpoint, saved
    try:
        for part in (_restore_module, _restore_datamodule, _restore_callbacks):
            part(trainer, saved)
        restore_training_state(trainer)
    finally:
        trainer._loaded_checkpoint = pending


def _to_device(optimizer: Any, device: torch.device) -> None:
    if device.type == "cpu":
        return
    for state in optimizer.state.values():
        for name, value in state.items():
            if isinstance(value, torch.Tensor) and name != "step":  # torch keeps the step where it wants it
                state[name] = value.to(device)


def resume_end(trainer: Trainer) -> None:
    """All is restored: say so, and let go of the file's contents."""
    if trainer._loaded_checkpoint:
        what = "Restored all states" if trainer.state.fn == TrainerFn.FITTING else "Loaded model weights"
        rank_zero_info(f"{what} from the checkpoint at {trainer.ckpt_path}")
    trainer._loaded_checkpoint = {}
    trainer.strategy.barrier("resume_end")


# Building an object from a file


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
    if getattr(kind, "__name__", kind) == _OMEGACONF:
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


if __name__ == "__main__":
    from relight.old_checkpoints.upgrade import main

    sys.exit(main())

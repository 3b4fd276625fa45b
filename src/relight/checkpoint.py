"""Checkpoints: the file format of Lightning 2.x, written atomically and read without running code."""

from __future__ import annotations

import os
import re
import sys
from typing import IO, TYPE_CHECKING, Any

import torch

from relight.core.hparams import is_omegaconf
from relight.trainer import resume, sharding
from relight.trainer.hooks import call_own_hook
from relight.utilities.atomic import local_path, write_atomically
from relight.utilities.exceptions import CheckpointLoadError

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["dump", "load", "migrate", "write"]

#: The release whose file format is written: Lightning of this version and later reads it without a migration.
FORMAT_VERSION = "2.6.6"
VERSION_KEY = "pytorch-lightning_version"
OMEGACONF = "DictConfig"
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
                checkpoint[owner.CHECKPOINT_HYPER_PARAMS_TYPE] = OMEGACONF
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


if __name__ == "__main__":
    from relight.old_checkpoints.upgrade import main

    sys.exit(main())

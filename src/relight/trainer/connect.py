"""Callbacks, loggers and profilers: from what the user gave to what the Trainer runs."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from relight.trainer.hooks import call_own_hook
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_info

if TYPE_CHECKING:
    from relight.callbacks import Callback
    from relight.trainer.trainer import Trainer

__all__ = [
    "attach_log_functions",
    "attach_module_callbacks",
    "make_callbacks",
    "make_loggers",
    "make_profiler",
]


def make_callbacks(
    given: Any, enable_checkpointing: bool | None, enable_progress_bar: bool | None
) -> list[Callback]:
    """Return the callbacks in the order in which they run: checkpoints last.

    Args:
        given: A callback, the registered name of one, or a list of both.
        enable_checkpointing: Whether a ``ModelCheckpoint`` is added if there is none; False refuses one.
        enable_progress_bar: Whether a progress bar is added if there is none; False refuses one.

    Raises:
        MisconfigurationException: If something is switched off and given, too.
    """
    from relight.callbacks import Checkpoint, ModelCheckpoint, ProgressBar, TQDMProgressBar, resolve_callback

    if given is None:
        given = []
    elif isinstance(given, str) or not isinstance(given, Sequence):
        given = [given]
    callbacks = [resolve_callback(callback) for callback in given]
    for enabled, kind, default, argument in (
        (enable_checkpointing, Checkpoint, ModelCheckpoint, "enable_checkpointing"),
        (enable_progress_bar, ProgressBar, TQDMProgressBar, "enable_progress_bar"),
    ):
        present = [callback for callback in callbacks if isinstance(callback, kind)]
        if present and enabled is False:
            raise MisconfigurationException(
                f"`{argument}=False` and `{type(present[0]).__name__}` among the callbacks: which one?"
            )
        if kind is ProgressBar and len(present) > 1:
            raise MisconfigurationException("There can be only one progress bar")
        if not present and enabled is not False:
            callbacks.append(default())
    _check_state_keys(callbacks)
    return in_order(callbacks)


def in_order(callbacks: Sequence[Callback]) -> list[Callback]:
    """Return callbacks with those that write checkpoints last, as they should see what the others did."""
    from relight.callbacks import Checkpoint

    return sorted(callbacks, key=lambda callback: isinstance(callback, Checkpoint))


def _check_state_keys(callbacks: Sequence[Callback]) -> None:
    from relight.callbacks import Callback

    seen = set()
    for callback in callbacks:
        if is_overridden("state_dict", callback, Callback):
            if callback.state_key in seen:
                raise RuntimeError(
                    f"Two callbacks share the state key {callback.state_key!r}, so a checkpoint could"
                    " keep only"
                    " one of them. Give their class a `state_key` that tells them apart."
                )
            seen.add(callback.state_key)


def attach_module_callbacks(trainer: Trainer) -> None:
    """Add the callbacks of ``configure_callbacks``; one takes the place of those of its type or a base."""
    from relight.callbacks import Callback

    module = trainer.lightning_module
    own = call_own_hook(trainer, module, "configure_callbacks")
    if not own:
        return
    own = list(own) if isinstance(own, Sequence) else [own]
    replaced = {
        type(given)
        for given in trainer.callbacks
        if type(given) is not Callback and any(issubclass(type(callback), type(given)) for callback in own)
    }
    if replaced:
        names = ", ".join(sorted(kind.__name__ for kind in replaced))
        rank_zero_info(
            f"Callbacks of `configure_callbacks` take the place of those given to the Trainer: {names}"
        )
    trainer.callbacks = in_order([c for c in trainer.callbacks if type(c) not in replaced] + own)


def attach_log_functions(trainer: Trainer) -> None:
    """Let callbacks log as the module does, and let the profiler see it."""
    module = trainer.lightning_module
    trainer.profiler._lightning_module = weakref.proxy(module)
    for callback in trainer.callbacks:
        callback.log = module.log
        callback.log_dict = module.log_dict


def make_loggers(given: Any, default_root_dir: str) -> list[Any]:
    """Return the loggers: none for False, the default one for ``None`` and True."""
    if given is None or given is True:
        from relight.loggers import default_logger

        return [default_logger(default_root_dir)]
    if given is False:
        return []
    return list(given) if isinstance(given, Iterable) else [given]


def make_profiler(given: Any) -> Any:
    """Return the profiler; ``"simple"``, ``"advanced"`` and ``"pytorch"`` name one.

    Raises:
        MisconfigurationException: For another name.
    """
    from relight import profilers

    if given is None:
        return profilers.PassThroughProfiler()
    if isinstance(given, str):
        known = {"simple": "SimpleProfiler", "advanced": "AdvancedProfiler", "pytorch": "PyTorchProfiler"}
        if given.lower() not in known:
            raise MisconfigurationException(f"`profiler` names one of {list(known)}, not {given!r}")
        return getattr(profilers, known[given.lower()])()
    return given


def active(profiler: Any) -> Any:
    """Return the profiler, ``None`` if it records nothing, so that nobody need ask it."""
    from relight.profilers import PassThroughProfiler

    return None if type(profiler) is PassThroughProfiler else profiler


def log_hyperparameters(trainer: Trainer) -> None:
    """Send hyperparameters and the module's graph to the loggers.

    Raises:
        RuntimeError: If module and data module have the same hyperparameter with different values.
    """
    if not trainer.loggers:
        return
    module, datamodule = trainer.lightning_module, trainer.datamodule
    hparams: dict[str, Any] | None = None
    if module._log_hyperparams:
        hparams = dict(module.hparams_initial)
    if datamodule is not None and datamodule._log_hyperparams:
        other = datamodule.hparams_initial
        different = [
            name
            for name in other
            # `_class_path` is the command line's note of the class.
            if hparams is not None
            and name in hparams
            and name != "_class_path"
            and _differ(hparams[name], other[name])
        ]
        if different:
            raise RuntimeError(
                f"The hyperparameters {different} of the module and the data module have different values"
            )
        hparams = {**(hparams or {}), **other}
    for logger in trainer.loggers:
        if hparams is not None:
            logger.log_hyperparams({name: value for name, value in hparams.items() if name != "_class_path"})
        logger.log_graph(module)
        logger.save()


def _differ(one: Any, other: Any) -> bool:
    import torch

    if type(one) is not type(other):
        return True
    if isinstance(one, torch.Tensor):
        return one is not other
    return bool(one != other)

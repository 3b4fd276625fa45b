"""Trainers that write nothing, show nothing and leave out what a test does not want."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from relight.callbacks import Callback, Checkpoint, ModelSummary, ProgressBar
from relight.callbacks.registry import registered_callbacks, resolve_callback
from relight.trainer import Trainer, connect

__all__ = ["PARTS", "QuietTrainers"]

_KINDS: dict[str, type[Callback] | str] = {
    "checkpoints": Checkpoint,
    "configurations": "SaveConfigCallback",  # by name, as jsonargparse may not be installed
    "progress_bars": ProgressBar,
    "summaries": ModelSummary,
}
#: What is turned off unless it is kept.
PARTS = ("loggers", *_KINDS)


class QuietTrainers:
    """Within ``with``, all Trainers run without loggers, checkpoints, progress bars and summaries, and the
    command line saves no configuration.

    It does not matter where they are made or how they are configured: loggers become dummies that take every
    call, callbacks of the other kinds are left out, also those of ``configure_callbacks``, and files that
    something writes nevertheless go to ``root``. Processes that a Trainer spawns know nothing of it.

    Args:
        root: ``default_root_dir`` of Trainers that are given none.
        leave_out: More callbacks to leave out: classes, names of classes (bases count), or registered names.
        keep: What is left on, of :data:`PARTS`.

    Attributes:
        left_out: How many callbacks were left out, by class name.
        trainers: The Trainers that were made, in order.

    Raises:
        ValueError: For a part that does not exist.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        leave_out: Iterable[type[Callback] | str] = (),
        keep: Iterable[str] = (),
    ) -> None:
        self.root = root
        self.left_out: Counter[str] = Counter()
        self.trainers: list[Trainer] = []
        self._unwanted: list[type[Callback] | str] = []
        self._off = set(PARTS)
        self._undo: list[Callable[[], None]] = []
        self.leave_out(*leave_out)
        self.keep(*keep)

    def leave_out(self, *callbacks: type[Callback] | str) -> None:
        """Leave out more callbacks; Trainers that are there do without them from their next run on."""
        for callback in callbacks:
            if isinstance(callback, str) and callback in registered_callbacks():
                callback = type(resolve_callback(callback))
            self._unwanted.append(callback)

    def keep(self, *parts: str) -> None:
        """Leave parts on that would be turned off."""
        if unknown := sorted(set(parts) - set(PARTS)):
            raise ValueError(f"There is nothing called {unknown} to keep; there are {list(PARTS)}")
        self._off.difference_update(parts)

    def __enter__(self) -> QuietTrainers:
        """Begin."""
        self._replace(Trainer, "__init__", self._init)
        self._replace(connect, "make_callbacks", self._make_callbacks)
        self._replace(connect, "make_loggers", self._make_loggers)
        self._replace(connect, "attach_module_callbacks", self._attach_module_callbacks)
        return self

    def __exit__(self, *details: object) -> None:
        """End; Trainers that were made keep what they have."""
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def replaced(*args: Any, **kwargs: Any) -> Any:
            return wrapper(original, *args, **kwargs)

        setattr(owner, name, replaced)
        self._undo.append(lambda: setattr(owner, name, original))

    def _init(self, original: Callable[..., None], trainer: Trainer, *args: Any, **kwargs: Any) -> None:
        if self.root is not None and kwargs.get("default_root_dir") is None:
            kwargs["default_root_dir"] = self.root
        original(trainer, *args, **kwargs)
        self.trainers.append(trainer)

    def _make_callbacks(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Callback]:
        # All are made first, so that what the user got wrong is told as ever.
        return self._wanted(original(*args, **kwargs))

    def _attach_module_callbacks(self, original: Callable[..., None], trainer: Trainer) -> None:
        original(trainer)
        trainer.callbacks = self._wanted(trainer.callbacks)

    def _make_loggers(self, original: Callable[..., Any], given: Any, default_root_dir: str) -> list[Any]:
        if "loggers" not in self._off:
            return list(original(given, default_root_dir))
        if given is False or given == []:
            return []
        from relight.loggers import DummyLogger

        return [DummyLogger()]

    def _wanted(self, callbacks: Iterable[Callback]) -> list[Callback]:
        kept = []
        for callback in callbacks:
            if self._is_wanted(callback):
                kept.append(callback)
            else:
                self.left_out[type(callback).__name__] += 1
        return kept

    def _is_wanted(self, callback: Callback) -> bool:
        names = {cls.__name__ for cls in type(callback).__mro__}
        unwanted = [*self._unwanted, *(_KINDS[part] for part in self._off if part in _KINDS)]
        return not any(
            each in names if isinstance(each, str) else isinstance(callback, each) for each in unwanted
        )

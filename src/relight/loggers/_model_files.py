"""Which checkpoints of a callback a logger has still to upload."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

__all__ = ["ModelFile", "Uploads", "settings"]


class ModelFile(NamedTuple):
    """A checkpoint to upload."""

    changed: float  #: when it was written, in seconds since the epoch
    path: str
    score: Any  #: value of the monitored metric, ``None`` without one
    best: bool

    @property
    def aliases(self) -> list[str]:
        """Names under which services find it."""
        return ["latest", "best"] if self.best else ["latest"]


class Uploads:
    """Remembers, for one logger, what is uploaded and what waits for the end of the run.

    Args:
        log_model: False for nothing, ``"all"`` for every checkpoint as soon as it is written, True for those
            that are left at the end (at once for a callback that keeps all).
    """

    def __init__(self, log_model: Any) -> None:
        self.log_model = log_model
        self._done: MutableMapping[str, float] = {}
        self._waiting: list[Any] = []

    def saved(self, callback: Any) -> list[ModelFile]:
        """Return what is to be uploaded now that ``callback`` wrote a checkpoint."""
        if self.log_model == "all" or (self.log_model is True and callback.save_top_k == -1):
            return self._new(callback)
        # The Trainer hands out the same weak proxy of a callback each time.
        if self.log_model is True and not any(callback is other for other in self._waiting):
            self._waiting.append(callback)
        return []

    def rest(self) -> list[tuple[Any, list[ModelFile]]]:
        """Return what waited for the end, for each callback, and wait no longer."""
        # A logger outlives Trainers, and a callback that is gone could not be asked later.
        waiting, self._waiting = self._waiting, []
        return [(callback, self._new(callback)) for callback in waiting]

    def done(self, file: ModelFile) -> None:
        """Remember an upload; a file of that name is uploaded again only when it is written again."""
        self._done[file.path] = file.changed

    def _new(self, callback: Any) -> list[ModelFile]:
        """Return the files of ``callback`` that are not uploaded, oldest first."""
        best = getattr(callback, "best_model_path", "")
        scores: dict[str, Any] = {}
        if hasattr(callback, "last_model_path"):
            scores[callback.last_model_path] = getattr(callback, "current_score", None)
        if hasattr(callback, "best_model_path"):
            scores[best] = getattr(callback, "best_model_score", None)
        scores.update(getattr(callback, "best_k_models", {}))
        files = [
            ModelFile(Path(path).stat().st_mtime, path, _number(score), path == best)
            for path, score in scores.items()
            if path and Path(path).is_file()
        ]
        fresh = [f for f in files if f.path not in self._done or self._done[f.path] < f.changed]
        return sorted(fresh, key=lambda file: (file.changed, file.path))


def _number(score: Any) -> Any:
    return score.item() if isinstance(score, Tensor) else score


def settings(callback: Any, *names: str) -> dict[str, Any]:
    """Return those settings of a callback that it has, by name."""
    return {name: getattr(callback, name) for name in names if hasattr(callback, name)}

"""Which functions each action spends its time in."""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import tempfile
from typing import Any

from relight.callbacks._files import filesystem
from relight.profilers.profiler import Profiler


class AdvancedProfiler(Profiler):
    """Runs each action under :mod:`cProfile`; the report is long.

    Actions nest (a step calls hooks), but cProfile does not: while an inner action runs, the outer one is
    not measured, and it is not resumed.

    Args:
        dirpath: directory for the report, by default the logger's.
        filename: file for the report, without suffix; without one it is shown on rank 0.
        line_count_restriction: number of functions to report for each action, or their share (≤ 1.0).
        dump_stats: also write each action's ``.prof`` file into ``dirpath``.

    Raises:
        ValueError: when an action is stopped without having been started.
    """

    def __init__(
        self,
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        line_count_restriction: float = 1.0,
        dump_stats: bool = False,
    ) -> None:
        super().__init__(dirpath=dirpath, filename=filename)
        self.profiled_actions: dict[str, cProfile.Profile] = {}
        self.line_count_restriction = line_count_restriction
        self.dump_stats = dump_stats

    def start(self, action_name: str) -> None:
        """Begin to measure; from Python 3.12 on only one cProfile may run."""
        for profile in self.profiled_actions.values():
            profile.disable()
        if action_name not in self.profiled_actions:
            self.profiled_actions[action_name] = cProfile.Profile()
        self.profiled_actions[action_name].enable()

    def stop(self, action_name: str) -> None:
        """End to measure."""
        profile = self.profiled_actions.get(action_name)
        if profile is None:
            raise ValueError(
                f"Attempting to stop recording an action ({action_name}) which was never started."
            )
        profile.disable()

    def summary(self) -> str:
        """Return the functions of each action by cumulative time."""
        parts = [self._title()]
        for name, profile in self.profiled_actions.items():
            if self.dump_stats:
                self._dump(name, profile)
            text = io.StringIO()
            stats = pstats.Stats(profile, stream=text).strip_dirs().sort_stats("cumulative")
            stats.print_stats(self.line_count_restriction)
            rank = "" if self._local_rank is None else f" rank: {self._local_rank}"
            parts += [f"Profile stats for: {name}{rank}", text.getvalue()]
        return "\n".join(parts)

    def _dump(self, name: str, profile: cProfile.Profile) -> None:
        if not self.dirpath:
            raise ValueError("`AdvancedProfiler(dump_stats=True)` needs a `dirpath` or a logger's directory.")
        path = os.path.join(self.dirpath, self._prepare_filename(action_name=name, extension=".prof"))
        fs = filesystem(path)
        fs.makedirs(str(self.dirpath), exist_ok=True)
        with tempfile.TemporaryDirectory() as directory:  # cProfile writes local files only
            local = os.path.join(directory, "stats.prof")
            profile.dump_stats(local)
            fs.put(local, path)

    def teardown(self, stage: str | None) -> None:
        """Forget what was measured."""
        super().teardown(stage=stage)
        self.profiled_actions.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only: a cProfile cannot be pickled."""
        state = {
            name: getattr(self, name)
            for name in ("dirpath", "filename", "line_count_restriction", "dump_stats")
        }
        return (type(self), (), state)

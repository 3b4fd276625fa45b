"""The profiler that measures nothing."""

from __future__ import annotations

from relight.profilers.profiler import Profiler


class PassThroughProfiler(Profiler):
    """Measures nothing; what a Trainer without a profiler has."""

    def start(self, action_name: str) -> None:
        """Do nothing."""

    def stop(self, action_name: str) -> None:
        """Do nothing."""

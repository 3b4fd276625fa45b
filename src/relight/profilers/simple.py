"""How often each action ran and how long it took."""

from __future__ import annotations

import math
import os
import time

from relight.profilers.profiler import Profiler


class SimpleProfiler(Profiler):
    """Measures the duration of actions and reports a table, longest first.

    Args:
        dirpath: directory for the report, by default the logger's.
        filename: file for the report, without suffix; without one it is shown on rank 0.
        extended: also report the number of calls and the share of the whole time, and sort by it; without,
            sort by mean duration.

    Attributes:
        recorded_durations: seconds of each finished action, by name.
        current_actions: start times of those that run, by name.

    Raises:
        ValueError: when an action is started twice, or stopped without having been started.
    """

    def __init__(
        self,
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        extended: bool = True,
    ) -> None:
        super().__init__(dirpath=dirpath, filename=filename)
        self.current_actions: dict[str, float] = {}
        self.recorded_durations: dict[str, list[float]] = {}
        self.extended = extended
        self.start_time = time.perf_counter()

    def start(self, action_name: str) -> None:
        """Begin to measure."""
        if action_name in self.current_actions:
            raise ValueError(f"Attempted to start {action_name} which has already started.")
        self.current_actions[action_name] = time.perf_counter()

    def stop(self, action_name: str) -> None:
        """End to measure."""
        now = time.perf_counter()
        started = self.current_actions.pop(action_name, None)
        if started is None:
            raise ValueError(
                f"Attempting to stop recording an action ({action_name}) which was never started."
            )
        self.recorded_durations.setdefault(action_name, []).append(now - started)

    def summary(self) -> str:
        """Return the table; times in seconds."""
        whole = time.perf_counter() - self.start_time
        found = [(name, math.fsum(d), len(d)) for name, d in self.recorded_durations.items()]
        if self.extended:
            found.sort(key=lambda row: row[1], reverse=True)
            head: tuple[str, ...] = (
                "Action",
                "Mean duration (s)",
                "Num calls",
                "Total time (s)",
                "Percentage %",
            )
            calls = str(sum(count for _, _, count in found))
            rows: list[tuple[str, ...]] = [("Total", "-", calls, f"{whole:.5}", "100 %")]
            rows += [
                (name, f"{total / n:.5}", str(n), f"{total:.5}", f"{100.0 * total / whole:.5}")
                for name, total, n in found
            ]
        else:
            found.sort(key=lambda row: row[1] / row[2], reverse=True)
            head = ("Action", "Mean duration (s)", "Total time (s)")
            rows = [(name, f"{total / n:.5}", f"{total:.5}") for name, total, n in found]
        if not found:
            return f"{self._title()}\n\n"
        table = [head, *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["|  " + "  |  ".join(map(str.ljust, row, widths)) + "  |" for row in table]
        rule = "-" * len(lines[0])
        body = [lines[0], rule, *([lines[1], rule, *lines[2:]] if self.extended else lines[1:])]
        return "\n".join([self._title(), "", rule, *body, rule, ""])

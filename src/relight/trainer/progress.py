"""Counters of what was begun and finished, in the form that checkpoints of Lightning 2.x store.

An event is counted when it is made ready, started, processed and completed. The four differ by at most one
while the event runs, which tells a resumed run exactly where the saved one stood.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BatchProgress", "Count", "OptimizerProgress", "Progress"]


class Count:
    """Counts of one kind of event; ``fields`` says which of the four moments are counted, in stored order."""

    __slots__ = ("completed", "fields", "processed", "ready", "started")

    def __init__(self, fields: tuple[str, ...] = ("ready", "completed", "started", "processed")) -> None:
        self.fields = fields
        self.reset()

    def reset(self) -> None:
        """Set all counts to 0."""
        self.ready = self.completed = self.started = self.processed = 0

    def reset_on_restart(self) -> None:
        """Take back what was begun and not completed."""
        self.ready = self.started = self.processed = self.completed

    def add(self, n: int) -> None:
        """Count ``n`` whole events."""
        self.ready += n
        self.started += n
        self.processed += n
        self.completed += n

    def state_dict(self) -> dict[str, int]:
        """Return the counts as stored in a checkpoint."""
        return {field: getattr(self, field) for field in self.fields}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Take the counts from a checkpoint."""
        for field in self.fields:
            setattr(self, field, state[field])

    def __repr__(self) -> str:
        """Return the counts."""
        return f"Count({', '.join(f'{field}={getattr(self, field)}' for field in self.fields)})"


class Progress:
    """Counts over the whole run (``total``) and since the last epoch or run began (``current``)."""

    def __init__(self, fields: tuple[str, ...] = ("ready", "completed", "started", "processed")) -> None:
        self.total, self.current = Count(fields), Count(fields)

    def increment_ready(self) -> None:
        """Count an event that is about to begin."""
        self.total.ready += 1
        self.current.ready += 1

    def increment_started(self) -> None:
        """Count an event whose start hooks ran."""
        self.total.started += 1
        self.current.started += 1

    def increment_processed(self) -> None:
        """Count an event whose work is done."""
        self.total.processed += 1
        self.current.processed += 1

    def increment_completed(self) -> None:
        """Count an event whose end hooks ran."""
        self.total.completed += 1
        self.current.completed += 1

    def increment_by(self, n: int) -> None:
        """Count ``n`` whole events."""
        self.total.add(n)
        self.current.add(n)

    def reset(self) -> None:
        """Forget everything."""
        self.total.reset()
        self.current.reset()

    def reset_on_run(self) -> None:
        """Begin a new epoch or run."""
        self.current.reset()

    def reset_on_restart(self) -> None:
        """Take back what a resumed run had begun and not completed."""
        self.current.reset_on_restart()

    def state_dict(self) -> dict[str, Any]:
        """Return the counts as stored in a checkpoint."""
        return {"total": self.total.state_dict(), "current": self.current.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the counts from a checkpoint."""
        self.total.load_state_dict(state["total"])
        self.current.load_state_dict(state["current"])


class BatchProgress(Progress):
    """Counts of batches, and whether the one at hand is the last of its epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.is_last_batch = False

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self.is_last_batch = False

    def reset_on_run(self) -> None:
        """Begin a new epoch or run."""
        super().reset_on_run()
        self.is_last_batch = False

    def state_dict(self) -> dict[str, Any]:
        """Return the counts as stored in a checkpoint."""
        return {**super().state_dict(), "is_last_batch": self.is_last_batch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the counts from a checkpoint."""
        super().load_state_dict(state)
        self.is_last_batch = state["is_last_batch"]


class OptimizerProgress:
    """Counts of optimizer steps and of gradients set to zero, under automatic optimization."""

    def __init__(self) -> None:
        self.step = Progress(("ready", "completed"))
        self.zero_grad = Progress(("ready", "completed", "started"))

    @property
    def optimizer_steps(self) -> int:
        """How many optimizer steps were completed in the whole run."""
        return self.step.total.completed

    def reset(self) -> None:
        """Forget everything."""
        self.step.reset()
        self.zero_grad.reset()

    def reset_on_run(self) -> None:
        """Begin a new epoch."""
        self.step.reset_on_run()
        self.zero_grad.reset_on_run()

    def reset_on_restart(self) -> None:
        """Take back what a resumed run had begun and not completed."""
        self.step.reset_on_restart()
        self.zero_grad.reset_on_restart()

    def state_dict(self) -> dict[str, Any]:
        """Return the counts as stored in a checkpoint."""
        return {"optimizer": {"step": self.step.state_dict(), "zero_grad": self.zero_grad.state_dict()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the counts from a checkpoint."""
        self.step.load_state_dict(state["optimizer"]["step"])
        self.zero_grad.load_state_dict(state["optimizer"]["zero_grad"])

"""Compares what two runs wrote down, and says where they part."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Difference", "Record", "compare", "read", "summary"]

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two runs part.

    Attributes:
        where: Which event it is.
        before: What the first run has there.
        after: What the second has.
    """

    where: str
    before: str
    after: str

    def __str__(self) -> str:  # noqa: D105
        return f"{self.where}: {self.before} before, {self.after} after"


def read(path: Path) -> list[Record]:
    """Return what a run wrote; nothing if it wrote nothing."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def compare(before: list[Record], after: list[Record]) -> Difference | None:
    """Return the first difference between two runs, or ``None`` where all that both can say is equal.

    A loss that one side does not give (several optimizers return none where they are stepped by hand) and a
    metric that only the new run has are no difference.
    """
    for first, second in zip(before, after, strict=False):
        found = next(_differences(first, second), None)
        if found is not None:
            return found
    if len(before) != len(after):
        more, events = ("before", before) if len(before) > len(after) else ("after", after)
        place = _where(events[min(len(before), len(after))])
        texts = ("it is there", "nothing more happens")
        return Difference(place, *(texts if more == "before" else texts[::-1]))
    return None


def summary(records: list[Record]) -> str:
    """Say in a few words what a run computed."""
    kinds = Counter(each["event"] for each in records)
    values = sum(len(each.get("values") or ()) for each in records)
    losses = sum(each.get("loss") is not None for each in records)
    parts = [
        f"{kinds['train batch']} training batches with {losses} losses",
        f"{kinds['logged']} rows for loggers",
        f"{values} metrics",
        f"{sum(each.get('digest') is not None for each in records)} states of all weights",
    ]
    return ", ".join(parts)


def _differences(first: Record, second: Record) -> Iterator[Difference]:
    if first["event"] != second["event"]:
        yield Difference("the order of events", _where(first), _where(second))
        return
    where = _where(first)
    for name in ("stage", "epoch", "batch", "step", "digest"):
        if first.get(name) != second.get(name):
            yield Difference(f"{where}, {name}", str(first.get(name)), str(second.get(name)))
    if None not in (first.get("loss"), second.get("loss")) and first.get("loss") != second.get("loss"):
        yield Difference(f"{where}, loss", _shown(first["loss"]), _shown(second["loss"]))
    old, new = first.get("values") or {}, second.get("values") or {}
    for name, value in old.items():
        if name not in new:
            yield Difference(f"{where}, `{name}`", _shown(value), "nothing")
        elif new[name] != value:
            yield Difference(f"{where}, `{name}`", _shown(value), _shown(new[name]))


def _where(record: Record) -> str:
    parts = [record["event"]]
    if record["event"] == "metrics":
        parts = [f"metrics of {record.get('stage')}"]
    if record["event"] == "weights":
        parts = ["weights when fit ends"]
    parts += [f"{name} {record[name]}" for name in ("epoch", "batch", "step") if record.get(name) is not None]
    return " ".join(parts)


def _shown(value: str) -> str:
    number = float.fromhex(value)
    return f"{number!r}"

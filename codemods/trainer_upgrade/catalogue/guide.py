"""Which codes cover each row of Lightning's migration guide, and of what the guide leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["GuideRow", "guide_rows"]


@dataclass(frozen=True, slots=True)
class GuideRow:
    """One row of the guide.

    Attributes:
        row: Its name, such as ``1.6-R07``: the release it starts from, and the row (R regular, A advanced,
            D developer; X for what the guide leaves out).
        codes: Codes whose entries cover it.
        reason: Why there are none, if there are none.
    """

    row: str
    codes: tuple[str, ...]
    reason: str


@cache
def guide_rows() -> Mapping[str, GuideRow]:
    """Return the rows by name."""
    text = (files("trainer_upgrade.catalogue") / "data" / "guide_rows.tsv").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines()[1:]:
        row, codes, reason = line.split("\t")
        found[row] = GuideRow(row, tuple(codes.split()), reason)
    return found

"""How much work is left, and how that is counted."""

from __future__ import annotations

from dataclasses import dataclass

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.report.summary import TROUBLE, Report

__all__ = ["HOW", "Estimate", "estimate"]

REVIEW, FIRST, AGAIN = 2, 10, 3  # minutes
HOW = (
    f"counted as: safe fixes 0 min, unsafe fixes {REVIEW} min each to look at, by hand {FIRST} min for the "
    f"first of a code and {AGAIN} min for each more"
)


@dataclass(frozen=True)
class Estimate:
    """Findings by what is to be done, and minutes.

    Attributes:
        automatic: Safe fixes.
        review: Unsafe fixes.
        manual: Findings without a fix.
        minutes: All of it.
    """

    automatic: int
    review: int
    manual: int
    minutes: int

    @property
    def total(self) -> int:
        """All findings."""
        return self.automatic + self.review + self.manual

    def __str__(self) -> str:
        """Say it in one line."""
        hours, minutes = divmod(self.minutes, 60)
        # More than a day's work is not known to the minute.
        time = (
            f"{hours} h" + (f" {minutes} min" if hours < 8 and minutes else "") if hours else f"{minutes} min"
        )
        return (
            f"Work left: about {time} ({self.automatic} automatic, {self.review} to look at, "
            f"{self.manual} by hand)"
        )


def estimate(report: Report) -> Estimate:
    """Count what is left to do."""
    left = [finding for _, finding in report.left() if finding.code not in TROUBLE]
    automatic = sum(each.applicability is Applicability.SAFE for each in left)
    review = sum(each.applicability is Applicability.UNSAFE for each in left)
    manual = [each.code for each in left if each.applicability is Applicability.MANUAL]
    first = len(set(manual))
    minutes = review * REVIEW + first * FIRST + (len(manual) - first) * AGAIN
    return Estimate(automatic, review, len(manual), minutes)

"""Tests of code that trains: quiet Trainers, and what is left of the legacy API.

With pytest, the fixture ``quiet_trainers`` is there as soon as relight is installed (see
:mod:`pytest_relight`); elsewhere, :class:`QuietTrainers` is a context manager.
"""

from __future__ import annotations

from relight.testing._quiet import PARTS, QuietTrainers

__all__ = ["PARTS", "QuietTrainers"]

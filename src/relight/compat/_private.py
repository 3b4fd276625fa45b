"""Private pieces of 1.x that public projects reach for, mostly their tests (a ``conftest.py`` copied around).

Each does as much as those uses need, and no more.
"""

from __future__ import annotations

import signal

__all__ = ["SignalConnector"]


class SignalConnector:
    """Left: watched the process's signals; test suites ask it which there are, to find leaked handlers."""

    @staticmethod
    def _valid_signals() -> set[signal.Signals]:
        """Return the signals of this system."""
        return set(signal.Signals)

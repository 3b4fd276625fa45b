"""What a user got wrong: told in one line, never as a traceback."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """The command line, or a setting, asks for something that does not exist."""

"""Patterns of paths, as in ``.gitignore``."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["fits"]


def fits(path: Path, root: Path, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns, relative to a directory, fits a path.

    A name alone (``legacy``, ``*.py``) fits at any depth, and a directory stands for all in it.
    """
    if not patterns:
        return False
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(root)).replace(os.sep, "/")
    if relative.startswith("../"):
        return False
    spec = _compiled(patterns)
    # With a slash, too: the path may be a directory's.
    return bool(spec.match_file(relative) or spec.match_file(relative + "/"))


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> Any:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)

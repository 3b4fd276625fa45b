"""Copies of a project to run: the original is never touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["copy_project"]

# What a run does not need, and what would be copied in vain.
_SKIPPED = frozenset(
    [
        ".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache",
        ".pytest_cache", ".ruff_cache", "lightning_logs", "wandb", "mlruns",
    ]
)  # fmt: skip
# Larger files are linked, not copied: data and weights that a run reads.
_LARGE = 50_000_000


def copy_project(root: Path, copy: Path) -> list[Path]:
    """Copy a project; returns the files that were linked because they are large.

    Raises:
        OSError: A file cannot be read, or there is no room.
    """
    linked = []
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name not in _SKIPPED]
        place = copy / Path(directory).relative_to(root)
        place.mkdir(parents=True, exist_ok=True)
        for name in list(names):
            if os.path.islink(os.path.join(directory, name)):
                os.symlink(os.path.realpath(os.path.join(directory, name)), place / name)
        for name in files:
            source = Path(directory, name)
            if not source.exists():
                continue  # a link that leads nowhere, or a file that has just gone
            if source.stat().st_size > _LARGE:
                os.symlink(source.resolve(), place / name)
                linked.append(source)
            elif source.is_file():
                shutil.copy2(source, place / name)
    return linked

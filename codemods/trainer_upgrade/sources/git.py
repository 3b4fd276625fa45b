"""What git knows of a file: whether it holds work that an upgrade would be mixed with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

__all__ = ["changed_files"]


def changed_files(paths: Iterable[Path]) -> list[Path]:
    """Return those of some files that git tracks and whose contents differ from what is staged.

    Staged changes are safe: ``git diff`` shows the upgrade alone, ``git restore`` takes it back. What git
    does not track, and what lies in no repository, is not told.
    """
    by_directory: dict[str, list[Path]] = {}
    for path in paths:
        by_directory.setdefault(os.path.dirname(os.path.abspath(path)), []).append(path)
    found: list[Path] = []
    for directory, inside in by_directory.items():
        names = {os.path.basename(path): path for path in inside}
        command = ["git", "-C", directory, "diff", "--name-only", "--relative", "-z", "--", *names]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=60)
        except (OSError, subprocess.SubprocessError):
            continue  # no git
        if done.returncode == 0:
            changed = {os.fsdecode(name) for name in done.stdout.split(b"\0")}
            found += [path for name, path in names.items() if name in changed]
    return found

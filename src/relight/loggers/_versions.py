"""Numbered run directories."""

from __future__ import annotations

import os

from relight.callbacks._files import filesystem


def next_version(directory: str) -> int:
    """Return the number after the highest ``version_<n>`` in ``directory``, 0 if there is none."""
    fs = filesystem(directory)
    if not fs.isdir(directory):
        return 0
    numbers = []
    for entry in fs.ls(directory, detail=True):
        name = os.path.basename(entry["name"].rstrip("/"))
        # Lightning reads the part between the first two underscores: version_3_old counts as 3.
        if name.startswith("version_") and entry["type"] == "directory":
            number = name.split("_")[1]
            if number.isdigit():
                numbers.append(int(number))
    return max(numbers, default=-1) + 1

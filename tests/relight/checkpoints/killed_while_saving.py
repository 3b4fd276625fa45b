"""Save over a file in child processes, each of which is killed at another step. Usage: DIRECTORY.

Prints, for each child, what the file held afterwards: "old", "new" or what is wrong; and what lay beside it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

from relight.checkpoint import save_atomically

# The built-in functions and methods that ask something of the system
STEPS = {
    "open", "fdopen", "write", "flush", "close", "fsync", "replace", "unlink", "mkdir", "flock", "stat", "fstat",
    "listdir", "lstat",
}  # fmt: skip


def save_until(step: int, path: Path) -> None:
    """Save, and be killed at the step of that number; its half is the moment after it."""
    seen = 0

    def watch(frame: Any, event: str, function: Any) -> None:
        nonlocal seen
        if event in ("c_call", "c_return") and getattr(function, "__name__", "") in STEPS:
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)
    save_atomically({"what": "new", "data": torch.ones(3000)}, path)
    sys.setprofile(None)


def main(directory: Path) -> None:
    path = directory / "a.ckpt"
    results = []
    for step in range(1, 1000):
        save_atomically({"what": "old", "data": torch.zeros(3000)}, path)  # removes what was left before
        left = sorted(os.listdir(directory))
        child = os.fork()
        if child == 0:
            save_until(step, path)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        try:
            found = torch.load(path, weights_only=True)
            what = found["what"] if len(set(found["data"].tolist())) == 1 else "mixed"
        except Exception as error:
            what = repr(error)
        results.append([what, left, len(os.listdir(directory))])
        if status == 0:
            break
    print(json.dumps(results))


main(Path(sys.argv[1]))

"""Modules that were given to ``torch.compile``, tested in a process of their own; the tests say why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_compiled_modules() -> None:
    tests = Path(__file__).with_name("compiled_modules.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "3 passed" in done.stdout

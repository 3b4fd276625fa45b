"""Record what Lightning 2.6.6 does with the core's scenarios.

Run it with a Python that has lightning 2.6.6 and torchmetrics::

    python scripts/record_core.py [scenario ...]

It writes ``tests/golden/core/traces/<scenario>.json`` and the checkpoint that one scenario goes on from.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "core"
ROOT = "lightning.pytorch"
VERSION = "2.6.6"


def record_checkpoint(harness_module: object) -> None:
    """Write the file that ``resume_lightning_file`` goes on from: saved at the end of the second epoch."""
    target = GOLDEN / "checkpoints" / "lightning_2_6_6.ckpt"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        harness_module.run("checkpoint_contents", ROOT, Path(directory))  # type: ignore[attr-defined]
        found = next(Path(directory).rglob("epoch=1-step=14.ckpt"))
        content = torch.load(found, weights_only=True)
    torch.save(_without(content, directory), target)


def _without(value: Any, directory: str) -> Any:
    """Return a checkpoint's content with the directory it was recorded in taken out of its paths."""
    if isinstance(value, dict):
        return {_without(key, directory): _without(item, directory) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, directory) for item in value]
    return value.replace(directory, "recorded") if isinstance(value, str) else value


def record_processes() -> None:
    """Record what two processes do."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, str(GOLDEN / "processes.py"), ROOT, "ddp", directory]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report = next(line for line in output.splitlines() if line.startswith("REPORT"))
    (GOLDEN / "processes.json").write_text(report.removeprefix("REPORT") + "\n")


def main(names: list[str]) -> None:
    """Record the named scenarios, or all."""
    import lightning

    if lightning.__version__ != VERSION:
        raise SystemExit(f"This records Lightning {VERSION}, not {lightning.__version__}")
    sys.path.insert(0, str(GOLDEN))
    import harness

    if not names:
        record_processes()
    if not names or "resume_lightning_file" in names:
        record_checkpoint(harness)
    for name in names or harness.scenarios():
        with tempfile.TemporaryDirectory() as directory:
            report = harness.run(name, ROOT, Path(directory).resolve())
        (GOLDEN / "traces").mkdir(exist_ok=True)
        lines = json.dumps(report, indent=None, separators=(",", ":"))
        (GOLDEN / "traces" / f"{name}.json").write_text(lines + "\n")
        print(f"{name}: {len(report['hooks'])} hooks, {len(report['logged'])} rows")


if __name__ == "__main__":
    main(sys.argv[1:])

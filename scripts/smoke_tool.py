"""Run with the interpreter of an environment that has the tool and no torch: the plain install works."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

LEGACY = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(gpus=2, max_epochs=3)\n"


def main() -> int:
    if importlib.util.find_spec("torch") is not None:
        raise SystemExit("this environment has torch: the smoke test is for one without")
    ran = subprocess.run([sys.executable, "-c", "import relight"], capture_output=True, text=True)
    last = ran.stderr.strip().splitlines()[-1]
    if ran.returncode == 0 or "relight[train]" not in last:
        raise SystemExit(f"`import relight` without torch must name the extra; it said: {last!r}")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        script.write_text(LEGACY)
        tool = [sys.executable, "-m", "trainer_upgrade"]
        if subprocess.run([*tool, "--check", str(script)]).returncode != 1:
            raise SystemExit("--check must end with 1 where there is something to do")
        subprocess.run([*tool, "--target", "lightning", str(script)], check=True)
        upgraded = script.read_text()
        if "gpus" in upgraded or "devices=2" not in upgraded:
            raise SystemExit(f"the upgrade went wrong:\n{upgraded}")
        print(upgraded)
    return 0


if __name__ == "__main__":
    sys.exit(main())

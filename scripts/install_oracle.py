"""Install real Lightning releases beside the project, to compare relight with.

    python scripts/install_oracle.py --root .oracles 2.6.6 1.9.5 1.5.10

Each release gets a virtual environment of its own, with the pins that let it run on a recent torch, and,
for 1.x, a small patch (see ``PATCH``). Nothing is done where the environment is complete already.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

# setuptools: Lightning up to 1.9 imports pkg_resources, which left in 82; torch wants at least 77.
_OLD = ["setuptools<81", "numpy<2", "rich<14", "jsonargparse[signatures]<4.20"]
PINS: dict[str, list[str]] = {
    "2.6.6": [
        "lightning==2.6.6", "pytorch-lightning==2.6.6", "tensorboard", "rich", "jsonargparse[signatures]",
    ],
    "1.9.5": ["pytorch-lightning==1.9.5", *_OLD],
    "1.8.6": ["pytorch-lightning==1.8.6", *_OLD],
    "1.7.7": ["pytorch-lightning==1.7.7", "torchmetrics<1", *_OLD],
    "1.6.5": ["pytorch-lightning==1.6.5", "torchmetrics<1", *_OLD],
    # Its metadata pins a setuptools that torch refuses, so its dependencies are given by hand.
    "1.5.10": [
        "future", "tqdm", "PyYAML", "fsspec[http]", "tensorboard", "torchmetrics<1", "pyDeprecate==0.3.1",
        "packaging", "typing-extensions", *_OLD,
    ],
}  # fmt: skip
NO_DEPS = {"1.5.10": ["pytorch-lightning==1.5.10"]}

PATCH = '''\
"""Lets Lightning 1.5-1.9 run on a recent torch and Python; lazy, does nothing until it is imported."""
import enum
import os
import sys

PACKAGES = ("pytorch_lightning", "lightning_fabric", "lightning_lite")


class Finder:
    """Waits for the first import of an old release, patches what it stumbles over, and steps aside."""

    def find_spec(self, name, path=None, target=None):
        if name in PACKAGES:
            sys.meta_path.remove(self)
            patch()
        return None


def patch():
    # torch 2.6 loads with weights_only=True; old releases pickle their hyperparameters.
    os.environ.setdefault("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    import torch.optim.lr_scheduler as lr_scheduler

    # torch 2.0 renamed the base class that 1.5-1.7 test schedulers against.
    lr_scheduler._LRScheduler = lr_scheduler.LRScheduler
    # Python 3.11 formats (str, Enum) members by name; old releases build attribute names from them.
    modern = enum.Enum.__format__

    def __format__(self, spec):
        cls = type(self)
        if issubclass(cls, str) and cls.__module__.split(".")[0] in PACKAGES + ("lightning_utilities",):
            if cls.__str__ in (enum.Enum.__str__, str.__str__):
                return str.__format__(self.value, spec)
        return modern(self, spec)

    enum.Enum.__format__ = __format__


sys.meta_path.insert(0, Finder())
'''


def install(version: str, root: Path, torch: str) -> Path:
    """Create the environment of one release and return its interpreter."""
    if version not in PINS:
        raise SystemExit(f"no pins are known for {version}; known: {', '.join(PINS)}")
    home = root / version
    python = home / "bin" / "python"
    ready = home / ".ready"
    if ready.exists():
        return python
    venv.create(home, with_pip=True, clear=True)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, torch], check=True)
    if version in NO_DEPS:
        subprocess.run([*pip, "--no-deps", *NO_DEPS[version]], check=True)
    # torch again, so that no requirement can replace the build that is there.
    subprocess.run([*pip, torch, *PINS[version]], check=True)
    if version.startswith("1."):
        where = [str(python), "-c", "import site; print(site.getsitepackages()[0])"]
        site = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
        (site / "relight_oracle_patch.py").write_text(PATCH)
        (site / "relight_oracle_patch.pth").write_text("import relight_oracle_patch\n")
    check = "import pytorch_lightning as pl; print('ready:', pl.__version__)"
    subprocess.run([str(python), "-c", check], check=True)
    ready.touch()
    return python


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("versions", nargs="+", metavar="VERSION", help=f"one of {', '.join(PINS)}")
    parser.add_argument("--root", type=Path, default=Path(".oracles"), help="where the environments go")
    parser.add_argument("--torch", default="torch==2.13.0", help="requirement to install torch by")
    args = parser.parse_args()
    for version in args.versions:
        python = install(version, args.root.resolve(), args.torch)
        print(f"export RELIGHT_ORACLE_{version.replace('.', '_')}={python}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The legacy API (Lightning 0.7 to 1.9) on relight's core.

``import relight.compat as pl`` gives it at the paths it had: ``pl.Trainer(gpus=1)``, ``pl.LightningModule``
with ``validation_epoch_end(outputs)``, ``pl.callbacks.ModelCheckpoint``. :func:`install`, or running a
script with ``python -m relight.compat script.py``, serves ``import pytorch_lightning`` and ``import
lightning.pytorch`` as well.

Each legacy use warns once a place (:class:`LegacyWarning`), with its code and the modern form;
``RELIGHT_COMPAT=warn|error|summary|ignore`` says what a use does. Where releases behaved differently, compat
does as 1.9 did, or as the one that :func:`emulate` or ``RELIGHT_COMPAT_VERSION`` names.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from relight.compat import _finder
from relight.compat._finder import install, installed, uninstall
from relight.compat._notices import LegacyAPIWarning, LegacyWarning
from relight.compat._release import emulate, release

if TYPE_CHECKING:
    from relight.compat._callback import Callback
    from relight.compat._datamodule import LightningDataModule
    from relight.compat._module import LightningModule
    from relight.compat._small import seed_everything
    from relight.compat._trainer import Trainer

__all__ = [
    "Callback",
    "LegacyAPIWarning",
    "LegacyWarning",
    "LightningDataModule",
    "LightningModule",
    "Trainer",
    "emulate",
    "install",
    "installed",
    "seed_everything",
    "uninstall",
]

# The release whose API this is: scripts branch on it.
try:
    __version__ = str(release())
except ValueError:
    if sys.argv[:1] != ["-m"]:  # `python -m relight.compat` says it in one line
        raise
    __version__ = ""

_finder.serve_own()


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _finder.lookup(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_finder.names(__name__)})

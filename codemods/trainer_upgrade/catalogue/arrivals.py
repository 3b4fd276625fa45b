"""When names of Lightning 2.6 came: what a pin on an older release does not have yet.

The table is built from the facts of 21 releases by ``scripts/build_arrivals.py``; what came before 1.3 is not
in it. The values below were tried with real releases: 1.9.5 refuses them, 2.0 takes them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["VALUES", "first_release"]

# (argument of the Trainer, value) -> first release.
VALUES: dict[tuple[str, str], str] = {
    ("precision", "16-mixed"): "2.0",
    ("precision", "bf16-mixed"): "2.0",
    ("precision", "32-true"): "2.0",
    ("precision", "64-true"): "2.0",
    ("strategy", "ddp_find_unused_parameters_true"): "2.0",
}


def first_release(kind: str, owner: str, name: str) -> str | None:
    """Return the first release that has something, ``None`` if it came before 1.3 or is not known.

    Args:
        kind: ``argument``, ``hook`` or ``import``.
        owner: ``Trainer``, ``Trainer.fit``, ``LightningModule``, ``Callback``; for an import the module.
        name: The name.
    """
    return _table().get((kind, owner, name))


@cache
def _table() -> dict[tuple[str, str, str], str]:
    text = (files("trainer_upgrade.catalogue") / "data" / "arrivals.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {(kind, owner, name): first for kind, owner, name, first in rows}

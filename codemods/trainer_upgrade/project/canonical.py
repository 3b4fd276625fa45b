"""One name for one Lightning thing, whatever path a file reaches it by.

``lightning.pytorch.core.module.LightningModule``, ``pytorch_lightning.core.lightning.LightningModule`` and
``relight.LightningModule`` are all ``pytorch_lightning.LightningModule``. Only where a thing lives is made
equal, never what it is called: a class that was renamed keeps its old name, so that a rule can find it.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["CORE", "LIGHTNING_ROOTS", "canonical", "kind_of", "root_of"]

# The longest that fits counts. lightning.fabric has a root of its own.
LIGHTNING_ROOTS = ("relight.compat", "lightning.pytorch", "pytorch_lightning", "relight", "lightning")
FABRIC_ROOTS = ("lightning.fabric", "lightning_fabric", "lightning_lite", "lightning.lite")
# Other parts of the `lightning` package that have nothing to do with the Trainer.
_FOREIGN = (
    "lightning.app",
    "lightning.data",
    "lightning.store",
    "lightning.cloud",
    "lightning.lightning_cloud",
)

# Classes and functions at the top of the package, wherever they are defined.
CORE = {
    "Trainer": ("trainer",),
    "LightningModule": ("core",),
    "LightningDataModule": ("core",),
    "Callback": ("callbacks",),
    "seed_everything": ("utilities",),
}
# Packages whose public names are importable from the package itself.
_FLAT = {
    "callbacks", "loggers", "profiler", "profilers", "strategies", "accelerators", "plugins", "metrics",
    "overrides", "tuner", "loops", "lite", "cli",
}  # fmt: skip


@lru_cache(maxsize=8192)
def root_of(dotted: str) -> str | None:
    """Return the Lightning root a dotted name starts with (``lightning.pytorch``), or ``None``."""
    for root in _FOREIGN:
        if dotted == root or dotted.startswith(root + "."):
            return None
    for root in (*FABRIC_ROOTS, *LIGHTNING_ROOTS):
        if dotted == root or dotted.startswith(root + "."):
            return root
    return None


@lru_cache(maxsize=4096)
def canonical(dotted: str) -> str | None:
    """Return the public name, rooted at ``pytorch_lightning`` (``lightning_fabric`` for Fabric), or ``None``.

    Names of other libraries give ``None``.
    """
    root = root_of(dotted)
    if root is None:
        return None
    rest = dotted[len(root) + 1 :].split(".") if len(dotted) > len(root) else []
    if root in FABRIC_ROOTS:
        return ".".join(["lightning_fabric", *rest])
    return ".".join(["pytorch_lightning", *_public(rest)])


def _public(rest: list[str]) -> list[str]:
    for position, part in enumerate(rest):
        homes = CORE.get(part)
        if homes is not None and (position == 0 or rest[0] in homes):
            return rest[position:]
    if len(rest) > 2 and rest[0] in _FLAT:
        # The first part that is a class or a constant ends the path of modules.
        for position, part in enumerate(rest[1:], 1):
            if part[:1].isupper():
                return [rest[0], *rest[position:]]
    return rest


_KINDS = (
    ("callbacks.", "Callback"),
    ("loggers.", "Logger"),
    ("logging.", "Logger"),
    ("profilers.", "Profiler"),
    ("profiler.", "Profiler"),
    ("strategies.", "Strategy"),
    ("plugins.", "Plugin"),
    ("accelerators.", "Accelerator"),
    ("loops.", "Loop"),
    ("metrics.", "Metric"),
    ("lite.", "LightningLite"),
)


def kind_of(name: str) -> str | None:
    """Return what sort of class a canonical name is: ``LightningModule``, ``Callback``, ``Logger`` …

    A Lightning class of no known sort is its own sort; ``None`` for names that are no class.
    """
    rest = name.partition(".")[2]
    if rest in CORE:
        return rest
    if not rest.rpartition(".")[2][:1].isupper():
        return None
    for prefix, kind in _KINDS:
        if rest.startswith(prefix):
            return kind
    return rest.rpartition(".")[2]

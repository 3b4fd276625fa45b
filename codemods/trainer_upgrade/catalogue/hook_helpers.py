"""Short ways to describe what changed in a LightningModule."""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import SAFE, UNSAFE, custom, make
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["hook", "missing", "signature", "uncalled"]

_NEVER_CALLED = "never called, without a word"
_ATTRIBUTE = "AttributeError where it is used"


def hook(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe any change of a hook, method or attribute; unsafe unless it says otherwise."""
    rest.setdefault("how", UNSAFE)
    return make(Area.MODULE_HOOK, "LightningModule", code, name, advice, **rest)


def uncalled(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an override that 2.x never calls."""
    return hook(code, name, advice, behaviour=_NEVER_CALLED, silent=True, **rest)


def missing(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe a method or attribute that 2.x does not have."""
    return hook(code, name, advice, behaviour=_ATTRIBUTE, **rest)


def signature(code: str, name: str, modern: str, advice: str, **rest: Any) -> Entry:
    """Describe a method that stays, with other parameters."""
    rest.setdefault("relight", custom(modern, name))
    rest.setdefault("how", SAFE)
    return hook(code, name, advice, **rest)

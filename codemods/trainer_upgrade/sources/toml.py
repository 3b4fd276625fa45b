"""Reading TOML: the standard library's reader, where it has one."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["load_toml"]


def load_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        ValueError: It is none.
    """
    loaded: dict[str, Any] = tomllib.loads(text)
    return loaded

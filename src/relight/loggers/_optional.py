"""Packages that a logger needs and relight does not install."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, version

from packaging.version import Version

__all__ = ["require"]


def require(module: str, *distributions: str, at_least: str, by: str) -> None:
    """Make sure that an optional package is there.

    Args:
        module: What is imported.
        distributions: What pip installs, the usual one first; any of them brings the module.
        at_least: The oldest release that works.
        by: Who needs it, for the message.

    Raises:
        ModuleNotFoundError: It is missing or too old; the message holds the pip command.
    """
    if module in sys.modules:  # imported already, or put there by a test
        return
    command = f"pip install '{distributions[0]}>={at_least}'"
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(
            f"`{by}` needs the package `{distributions[0]}`, which is not installed: {command}", name=module
        )
    for distribution in distributions:
        try:
            found = version(distribution)
        except PackageNotFoundError:  # another of them, or put on the path by hand
            continue
        if Version(found) < Version(at_least):
            raise ModuleNotFoundError(
                f"`{by}` needs `{distribution}>={at_least}`; {found} is installed: {command}", name=module
            )
        return

"""What relight's core has no twin of and ``relight.compat`` keeps running: legacy path → compat's path.

The upgrade for target relight sends these names through compat, so that a file that uses one of them can
move with the rest of its project.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["NAMES", "stands_in", "through_compat"]

_ROOT, _HERE = "pytorch_lightning", "relight.compat"


def _served(module: str, *names: str) -> dict[str, str]:
    """List names that compat serves at their legacy path."""
    return {f"{_ROOT}.{module}.{name}": f"{_HERE}.{module}.{name}" for name in names}


NAMES: dict[str, str] = {
    # A check of the version asks which of several old ways a piece of code has to go: the last 1.x one.
    f"{_ROOT}.__version__": f"{_HERE}.__version__",
    **_served("loggers", "LoggerCollection"),
    **_served("loggers.base", "LoggerCollection"),
    **_served("core.decorators", "auto_move_data"),
    **_served(
        "utilities.argparse",
        "add_argparse_args",
        "from_argparse_args",
        "get_init_arguments_and_types",
        "parse_argparser",
        "parse_env_variables",
    ),
}


@cache
def _table() -> dict[str, bool]:
    """Return the other legacy paths that only compat has, each with whether it works.

    Written by ``scripts/build_compat_names.py`` from what compat really gives.
    """
    text = (files("trainer_upgrade.catalogue") / "data" / "compat.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {path: how == "served" for path, how in rows}


def through_compat(path: str) -> str | None:
    """Return where compat has a legacy path (rooted at ``pytorch_lightning``) that the core has not."""
    head, rest = path, ""
    while head:
        if head in _table():
            return _HERE + head[len(_ROOT) :] + rest
        head, _, last = head.rpartition(".")
        rest = f".{last}{rest}"
    return None


def stands_in(path: str) -> bool:
    """Whether compat has only a stand-in: it can be imported, and says what to do when it is used."""
    return _table().get(path) is False

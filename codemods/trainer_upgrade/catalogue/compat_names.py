"""What relight's core has no twin of and ``relight.compat`` keeps running: legacy path → compat's path.

The upgrade for target relight sends these names through compat, so that a file that uses one of them can
move with the rest of its project.
"""

from __future__ import annotations

__all__ = ["NAMES"]

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

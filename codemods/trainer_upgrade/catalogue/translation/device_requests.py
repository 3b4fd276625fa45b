"""What a request for devices means: numbers, lists and strings, as the releases parsed them.

Sources: ``utilities/device_parser.py`` and the accelerator connectors of 0.7.6, 1.0.8, 1.4.9, 1.5.10, 1.6.5
and 1.9.5.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.translation.draft import MISSING, show

__all__ = ["count", "cpu_problem", "gpu_problem", "is_none", "legacy_gpus", "modern_tpu", "tpu_problem"]

_INDEX_STRINGS_UNTIL = (1, 5)
_TPU_CORES = 8


def is_none(value: Any) -> bool:
    """Whether a device argument was not given or is None."""
    return value is MISSING or value is None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _indices(text: str) -> list[int] | None:
    """Parse ``"0,1"``; None when it is not a list of whole numbers."""
    try:
        return [int(part) for part in text.split(",") if part]
    except ValueError:
        return None


def gpu_problem(value: Any) -> str | None:
    """Say why no release accepted ``value`` as a request for GPUs; None when it was accepted.

    Whether the machine has those GPUs is not asked.
    """
    if isinstance(value, bool) or not isinstance(value, (int, str, list, tuple)):
        return f"GPUs are a number, a string or a list of numbers, not {show(value)}"
    if isinstance(value, int):
        return None if value >= -1 else "a negative number of GPUs selects none"
    if isinstance(value, str):
        if value == "-1":
            return None
        numbers = _indices(value)
        if numbers is None or not numbers:
            return f"{show(value)} is not a list of GPU numbers"
        if "," not in value:
            return None if numbers[0] >= 0 else "a negative number of GPUs selects none"
        value = numbers
    if not all(_is_int(each) for each in value):
        return "a list of GPUs holds whole numbers"
    if len(set(value)) != len(value):
        return "a GPU is named twice"
    if any(each < 0 for each in value):
        return "a GPU's number is not negative"
    return None


def legacy_gpus(value: Any, release: tuple[int, int]) -> Any:
    """Return ``gpus`` as today's ``devices``: until 1.4 a bare number in a string named one GPU."""
    if isinstance(value, str) and release < _INDEX_STRINGS_UNTIL and value != "-1" and "," not in value:
        return _indices(value)
    return value


def no_gpus(value: Any, release: tuple[int, int]) -> bool:
    """Whether ``gpus`` asks for none.

    ``"0"`` was GPU number 0 until 1.4. From 1.6 on the value was first tested for truth.
    """
    if is_none(value) or value == [] or value == () or (_is_int(value) and value == 0):
        return True
    if isinstance(value, str):
        if release >= _INDEX_STRINGS_UNTIL and value.strip() == "0":
            return True
        return release >= (1, 6) and value == ""
    return release >= (1, 6) and value is False


def count(value: Any) -> int | None:
    """Return how many devices today's ``devices`` asks for, if that can be told without the machine."""
    if _is_int(value):
        return int(value) if value > 0 else None
    if isinstance(value, (list, tuple)):
        return len(value)
    if isinstance(value, str):
        numbers = _indices(value)
        if numbers and value.strip() != "-1":
            return len(numbers) if "," in value else numbers[0]
    return None


def cpu_problem(value: Any) -> str | None:
    """Say why ``value`` is not a number of CPU processes."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if not isinstance(value, int) or value <= 0:
        return f"CPU processes are a number above 0, not {show(value)}"
    return None


def _tpu(value: Any) -> Any:
    """Parse a string for TPU cores into a number or a list; other values are returned as they are."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    return int(text) if text in ("1", "8") else _indices(text)


def tpu_problem(value: Any) -> str | None:
    """Say why no release accepted ``value`` as a request for TPU cores, counted from 1."""
    parsed = _tpu(value)
    if _is_int(parsed) and parsed in (1, _TPU_CORES):
        return None
    one = isinstance(parsed, (list, tuple)) and len(parsed) == 1 and _is_int(parsed[0])
    if one and 1 <= parsed[0] <= _TPU_CORES:
        return None
    return f"TPU cores are 1, {_TPU_CORES} or a list of one core from 1 to {_TPU_CORES}, not {show(value)}"


def modern_tpu(value: Any) -> Any:
    """Return TPU cores as today's ``devices``: since 2.1 a core's index counts from 0."""
    parsed = _tpu(value)
    if isinstance(parsed, (list, tuple)):
        return [parsed[0] - 1]
    return parsed

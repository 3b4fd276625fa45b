"""Legacy code for each code: what the pages show as the before, and the tool turns into the after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Example", "example", "written"]


@dataclass(frozen=True, slots=True)
class Example:
    """A piece of legacy code.

    Attributes:
        code: What it shows.
        text: The file.
        path: Its name, which says what kind of file it is.
    """

    code: str
    text: str
    path: str = "example.py"


@cache
def written() -> Mapping[str, Example]:
    """Return the examples written by hand, by code."""
    text = (files("trainer_upgrade.pages") / "examples.txt").read_text(encoding="utf-8")
    found = {}
    for part in text.split("\n== ")[1:]:
        head, _, body = part.partition("\n")
        code, _, path = head.partition(" ")
        found[code] = Example(code, body.rstrip("\n") + "\n", path or "example.py")
    return found


def example(code: str) -> Example | None:
    """Return an example in which ``code`` is found, or ``None`` where there is none.

    The first of the written one and those made from the code's entries in which the tool finds the code (a
    value is found under the code of its argument).
    """
    from trainer_upgrade import catalogue
    from trainer_upgrade.pages.made import made
    from trainer_upgrade.pages.run import codes_in

    by_hand = written().get(code)
    if by_hand is not None:
        return by_hand
    for entry in catalogue.by_code(code)[:8]:
        text = made(entry)
        if text is not None and code in codes_in(Example(code, text)):
            return Example(code, text)
    return None

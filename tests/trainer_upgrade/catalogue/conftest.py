"""Read the fact tables that the catalogue is held against."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

FACTS = Path(__file__).resolve().parents[2] / "data" / "facts"


@pytest.fixture(scope="session")
def facts() -> Callable[[str], list[dict[str, str]]]:
    def read(name: str) -> list[dict[str, str]]:
        with (FACTS / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))

    return read

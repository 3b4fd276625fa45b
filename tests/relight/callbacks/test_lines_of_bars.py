"""What a bar's line shows, and what is printed around it."""

from __future__ import annotations

import io
from typing import Any

import pytest

from relight.callbacks.progress import TQDMProgressBar
from relight.callbacks.progress._bar import Bar


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1.000"), (0.1, "0.100"), (12.5, "12.50"), (1e-5, "1e-05"), (12345.0, "1.23e+04"), (3, "3"), ("x", "x"),
     (float("nan"), "nan")],
)  # fmt: skip
def test_floats_keep_their_width(value: Any, shown: str) -> None:
    bar = Bar(file=io.StringIO())
    bar.set_postfix({"a": value})
    assert bar.postfix == f"a={shown}"


def test_printing_to_another_file() -> None:
    own, other = io.StringIO(), io.StringIO()
    callback = TQDMProgressBar()
    callback._train_progress_bar = Bar(file=own)
    callback.print("one", 2, sep="-", end="!", file=other)
    callback.print("three")
    assert (own.getvalue(), other.getvalue()) == ("three\n", "one-2!")


def test_the_environment_sets_the_smallest_refresh_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TQDM_MINITERS", "5")
    assert [TQDMProgressBar(refresh_rate=rate).refresh_rate for rate in (0, 1, 9)] == [5, 5, 9]

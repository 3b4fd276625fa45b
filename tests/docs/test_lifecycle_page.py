"""docs/lifecycle.md: compat's entries leave when their release arrives; the questions of docs/faq.md find their page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.version import Version

from trainer_upgrade import __version__, catalogue
from trainer_upgrade.pages.lookup import find_codes

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _overdue(version: str) -> list[str]:
    """Return the codes of entries that a release should have dropped."""
    # A pre-release of it may still have them.
    return [each.code for each in catalogue.entries() if Version(version) >= Version(each.sunset)]


def test_no_entry_outlives_its_sunset() -> None:
    assert _overdue(__version__) == []


def test_the_first_release_without_compat_is_noticed() -> None:
    assert _overdue("2.0.dev0") == []
    assert len(_overdue("2.0")) == len(list(catalogue.entries()))


def _quoted() -> list[tuple[str, str]]:
    """Return the errors and names in the FAQ's questions, each with the answer."""
    text = (DOCS / "faq.md").read_text(encoding="utf-8")
    found = []
    for part in text.split("\n### ")[1:]:
        question, _, answer = part.partition("\n")
        found += [(each, answer) for each in re.findall(r"`([^`]+)`", question)[:1]]
    return found


WITHOUT_A_CODE = (
    "No module named 'torch._six'",  # other packages
    "lightning", "Trainer", "global_step",  # words of a question, not what is asked
    "ReduceLROnPlateau",
    "test_step",
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "answer"),
    [pytest.param(*each, id=each[0][:40]) for each in _quoted() if each[0] not in WITHOUT_A_CODE],
)
def test_explain_answers_the_question(asked: str, answer: str) -> None:
    codes = find_codes(asked)
    linked = re.findall(r"\[(TRU\d+)\]\(rules/", answer)
    assert codes
    if linked:
        assert set(linked) & set(codes), (asked, codes)


def test_questions_are_looked_at() -> None:
    assert len(_quoted()) > 20

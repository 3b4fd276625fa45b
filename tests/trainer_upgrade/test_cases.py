"""The tricky inputs in tests/cases: what must be gone, there, or kept after an upgrade for target lightning.

Each ``NAME.expect.md`` ends with machine checks. Texts are compared after taking out white space and unifying
quotes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainer_upgrade import testing

CASES = Path(__file__).parents[1] / "cases"
CHECK = re.compile(r"^- (gone|has|keep): `([^`]*)`", re.MULTILINE)

# Cases whose checks are not all met yet, each with what is missing.
PENDING: dict[str, str] = {}

# What only run-time translation can do: relight.compat brings it, Lightning has nothing of the kind.
COMPAT: dict[str, str] = {
    "argparse_flags": "options that are gone are declared and read, so no option list of today's is right",
    "gpus_dict_merge": "the dict is made in another function and changed on the way",
}


def plain(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def load(name: str) -> tuple[Path, list[tuple[str, str]]]:
    (source,) = (each for each in CASES.glob(f"{name}.*") if not each.name.endswith(".expect.md"))
    checks = CHECK.findall(
        (CASES / f"{name}.expect.md").read_text(encoding="utf-8").split("## Machine checks")[1]
    )
    assert checks, f"{name} has no machine checks"
    return source, checks


def names() -> list[str]:
    return sorted(path.name.removesuffix(".expect.md") for path in CASES.glob("*.expect.md"))


def missed(text: str, checks: list[tuple[str, str]]) -> list[str]:
    inside = plain(text)
    return [f"{kind}: {each}" for kind, each in checks if (plain(each) in inside) != (kind != "gone")]


def upgraded(source: Path, *, unsafe: bool) -> str:
    text = source.read_text(encoding="utf-8")
    return testing.upgrade(text, target="lightning", unsafe=unsafe, path=source.name)


def test_the_cases_are_there() -> None:
    assert len(names()) == 41
    assert set(PENDING) <= set(names())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason={**PENDING, **COMPAT}[name], strict=True))
        if name in PENDING or name in COMPAT
        else name
        for name in names()
    ],
)
def test_case(name: str) -> None:
    source, checks = load(name)
    assert not missed(upgraded(source, unsafe=True), checks)


@pytest.mark.parametrize("name", COMPAT)
def test_case_with_compat(name: str) -> None:
    source, checks = load(name)
    text = testing.upgrade(source.read_text(encoding="utf-8"), unsafe=True, path=source.name)
    assert not missed(text, checks)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("target", ["lightning", "relight"])
def test_what_must_stay_stays_with_safe_fixes(name: str, target: str) -> None:
    source, checks = load(name)
    text = testing.upgrade(source.read_text(encoding="utf-8"), target=target, path=source.name)
    kept = [(kind, each) for kind, each in checks if kind == "keep"]
    if target == "relight":
        # The root of imports differs there, and synchronised batch norm is a plugin.
        kept = [
            (kind, each)
            for kind, each in kept
            if "pytorch_lightning" not in each and "sync_batchnorm" not in each
        ]
    assert not missed(text, kept)

"""Comments that switch findings off: which of them do nothing, and what removing them leaves."""

from __future__ import annotations

import pytest

from trainer_upgrade import testing
from trainer_upgrade.sources.suppress import may_suppress

HEAD = "import pytorch_lightning as pl\n\n"


def unused(line: str) -> list[str]:
    return [
        each.message for each in testing.findings(HEAD + line, target="lightning") if each.code == "TRU002"
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # noqa: TRU101\n", "x = 1\n"),
        ("x = 1  # noqa: TRU101,E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: E501, TRU101, W291\n", "x = 1  # noqa: E501, W291\n"),
        ("x = 1  # type: ignore  # noqa: TRU101\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: TRU101  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: TRU101 it was old\n", "x = 1  # it was old\n"),
        ("x = 1  # trainer-upgrade: ignore\n", "x = 1\n"),
        ("x = 1  # trainer-upgrade: ignore[TRU101]\n", "x = 1\n"),
        ("# trainer-upgrade: ignore-file[TRU101]\nx = 1\n", "x = 1\n"),
        ("# trainer-upgrade: ignore-file\nx = 1\n", "x = 1\n"),
        (
            "pl.Trainer(accelerator='cpu', gpus=2)  # noqa: TRU101,TRU102\n",
            "pl.Trainer(accelerator='cpu', gpus=2)  # noqa: TRU101\n",
        ),
    ],
)
def test_what_is_in_vain_goes_and_nothing_else(before: str, after: str) -> None:
    codes = ["TRU002"]
    testing.check(HEAD + before, HEAD + after, target="lightning", codes=codes)


@pytest.mark.parametrize(
    "line",
    [
        "pl.Trainer(gpus=2)  # noqa: TRU101\n",
        "pl.Trainer(gpus=2)  # trainer-upgrade: ignore[TRU1]\n",
        "pl.Trainer(  # noqa: TRU101\n    gpus=2,\n)\n",
        "pl.Trainer(\n    gpus=2,\n)  # noqa: TRU101\n",
        "# trainer-upgrade: ignore-file[TRU101]\npl.Trainer(gpus=2)\n",
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501\n",
        "x = '# noqa: TRU101'\n",
        "x = 1  # noqa: TRU101,TRU002\n",
        "x = 1  # noqa: TRU101  # trainer-upgrade: ignore[TRU002]\n",
    ],
)
def test_what_is_used_or_not_ours_is_no_finding(line: str) -> None:
    assert unused(line) == []


def test_the_report_names_the_codes() -> None:
    assert unused("x = 1  # noqa: TRU101,E501,TRU2\n") == [
        "`noqa` switches nothing off by `TRU101`, `TRU2`: remove it"
    ]


def test_what_is_switched_off_is_not_fixed() -> None:
    source = HEAD + "a = pl.Trainer(gpus=2)  # noqa: TRU101\nb = pl.Trainer(gpus=2)\n"
    text = testing.upgrade(source, target="lightning")
    assert 'a = pl.Trainer(gpus=2)  # noqa: TRU101\nb = pl.Trainer(accelerator="gpu", devices=2)\n' in text


def test_a_file_without_lightning_is_looked_at_for_its_comments() -> None:
    assert [each.code for each in testing.findings("x = 1  # noqa: TRU101\n")] == ["TRU002"]
    assert may_suppress(b"x = 1  # trainer-upgrade: ignore\n")
    assert not may_suppress(b"x = 1  # noqa\n# TRUE\n")

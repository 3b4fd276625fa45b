"""What docs/linting.md says is so."""

from __future__ import annotations

import re
from pathlib import Path

from trainer_upgrade.arguments import build_parser
from trainer_upgrade.report.estimate import AGAIN, FIRST, REVIEW
from trainer_upgrade.settings import FORMATS, Settings, read_file

PAGE = (Path(__file__).parents[3] / "docs" / "linting.md").read_text(encoding="utf-8")


def test_the_settings_are_all_there_and_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(block, encoding="utf-8")
    settings = read_file(tmp_path / "pyproject.toml")
    assert settings.baseline == tmp_path / "trainer-upgrade-baseline.json"
    named = set(re.findall(r"^([a-z-]+) =", block, re.MULTILINE))
    assert named == {name.replace("_", "-") for name in Settings.__dataclass_fields__} - {"source"}


def test_formats_options_and_minutes_are_those_of_the_code() -> None:
    told = PAGE[PAGE.index("`--output-format`") : PAGE.index("`--report FILE`")]
    assert all(f"`{name}`" in told for name in FORMATS)
    options = {option for action in build_parser()._actions for option in action.option_strings}
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= options
    assert f"unsafe fixes {REVIEW} minutes" in PAGE
    assert f"by hand {FIRST} minutes for the first of a code and {AGAIN} for each more" in PAGE

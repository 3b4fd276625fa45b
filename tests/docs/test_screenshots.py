"""The pictures show what the commands print."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("screenshot_script", ROOT / "scripts" / "screenshot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


screenshot = _script()


@pytest.mark.parametrize("name", sorted(screenshot.SCENES))
def test_the_picture_is_up_to_date(name: str) -> None:
    shown = [line for line in screenshot.shown(name) if line]
    assert len(shown) > 2
    drawn = screenshot.lines_of((screenshot.IMAGES / f"{name}.svg").read_text(encoding="utf-8"))
    assert [line for line in drawn if line] == shown, "run `python scripts/screenshot.py`"


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name in screenshot.SCENES:
        text = (screenshot.IMAGES / f"{name}.svg").read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "@font-face" not in text

"""The page on hooks says what the code does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.filterwarnings("ignore")
def test_the_generated_parts_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("hooks_page_script", ROOT / "scripts" / "hooks_page.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
    assert script.page(text) == text, "run `python scripts/hooks_page.py`"

"""The page on training: its tables are those of the code. Its examples run with all others (tests/docs)."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_a_condition_of_ones_own_is_ten_lines() -> None:
    text = (ROOT / "docs" / "callbacks.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "StoppingCondition" in b)
    own = block.split("\n\n\n")[0]
    assert len([line for line in own.splitlines() if line.strip()]) <= 10


def test_the_tables_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("trainer_page_script", ROOT / "scripts" / "trainer_page.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.page(TEXT) == TEXT, "run `python scripts/trainer_page.py`"

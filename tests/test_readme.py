"""The README shows what the tool really does."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_before_becomes_after(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    before, after = blocks[0], blocks[1]
    assert "gpus=2" in before
    script = tmp_path / "train.py"
    script.write_text(before)
    ran = subprocess.run(
        [sys.executable, "-m", "trainer_upgrade", str(script)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert script.read_text() == after


def test_modern_examples_have_no_findings(tmp_path):
    modern = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1:]
    for number, block in enumerate(modern):
        (tmp_path / f"block_{number}.py").write_text(block)
    tool = [sys.executable, "-m", "trainer_upgrade", "--check", str(tmp_path)]
    ran = subprocess.run(tool, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_make_targets_exist():
    makefile = (README.parent / "Makefile").read_text()
    named = set(re.findall(r"`?make ([a-z][a-z-]*)", README.read_text()))
    assert {"demo", "test"} <= named
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in named - {"and"}), named

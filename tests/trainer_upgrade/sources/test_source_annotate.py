"""Comments that mark what is left to do: there once, gone when it is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainer_upgrade.cli import main

SOURCE = '''import pytorch_lightning as pl

text = """
# TODO(trainer-upgrade TRU101): in a string
"""


class Net(pl.LightningModule):
    @timed
    def get_progress_bar_dict(self):
        return {}


trainer = pl.Trainer(
    gpus=1,
    track_grad_norm=2,
)
'''


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    return tmp_path / "a.py"


def upgrade(*options: str) -> int:
    return main(["--target", "lightning", "--annotate", *options, "a.py"])


def test_each_statement_is_marked_once(path: Path) -> None:
    assert upgrade() == 1
    once = path.read_text()
    lines = once.splitlines()
    row = next(index for index, line in enumerate(lines) if "def get_progress_bar_dict" in line)
    assert lines[row - 1].startswith(
        "    # TODO(trainer-upgrade TRU229): `get_progress_bar_dict` left in 1.7"
    )
    row = lines.index("trainer = pl.Trainer(")
    assert lines[row - 1].startswith("# TODO(trainer-upgrade TRU127): `track_grad_norm=2`: log")
    assert max(map(len, lines)) <= 100
    assert 'accelerator="gpu"' in once
    assert once.count("TODO(") == 3
    assert upgrade() == 1
    assert path.read_text() == once


def test_a_mark_goes_with_its_finding(path: Path) -> None:
    upgrade()
    text = (
        path.read_text()
        .replace("    track_grad_norm=2,\n", "")
        .replace("get_progress_bar_dict(self)", "mine(self)")
    )
    path.write_text(text)
    assert upgrade() == 0
    done = path.read_text()
    assert done.count("TODO(") == 1
    assert "# TODO(trainer-upgrade TRU101): in a string" in done
    assert "    @timed\n    def mine(self):" in done


def test_a_file_that_has_nothing_left_of_lightning_loses_its_marks(path: Path) -> None:
    path.write_text("# TODO(trainer-upgrade TRU101): old\nx = 1\n")
    assert upgrade() == 0
    assert path.read_text() == "x = 1\n"


def test_line_ends_and_nothing_else_to_do(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_bytes(b"import pytorch_lightning as pl\r\nif x: pl.Trainer(track_grad_norm=2)\r\n")
    assert upgrade("--diff") == 1
    assert "\n+# TODO(trainer-upgrade TRU127)" in capsys.readouterr().out.replace("\r", "")
    upgrade()
    data = path.read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") == 3
    assert main(["--check", "--annotate", "a.py"]) == 2
    assert "--annotate changes files" in capsys.readouterr().err

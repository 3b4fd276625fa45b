"""Which files are found, which are of interest, what they are called."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from trainer_upgrade.project.discovery import discover
from trainer_upgrade.project.index import Project
from trainer_upgrade.project.relevance import imports


def make(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def found(root: Path, *paths: str) -> list[str]:
    result = discover([root / path for path in paths or (".",)])
    return [os.path.relpath(path, root).replace(os.sep, "/") for path in result.files]


def test_what_a_directory_stands_for(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            "b.py": "", "a.py": "", "c.pyi": "", "notes.txt": "", "pkg/x.py": "", "build/x.py": "", ".venv/x.py": "",
            "node_modules/x.py": "", ".git/x.py": "", "myenv/pyvenv.cfg": "", "myenv/lib/x.py": "",
            "pkg/.gitignore": "gen_*.py\n!gen_keep.py\n", "pkg/gen_a.py": "", "pkg/gen_keep.py": "",
            ".gitignore": "/out/\n*.tmp.py\n", "out/x.py": "", "pkg/out/x.py": "", "q.tmp.py": "",
        },
    )  # fmt: skip
    assert found(tmp_path) == ["a.py", "b.py", "pkg/gen_keep.py", "pkg/out/x.py", "pkg/x.py"]


def test_a_gitignore_above_the_path_counts_within_the_repository(tmp_path: Path) -> None:
    make(tmp_path, {".git/HEAD": "", ".gitignore": "generated/\n", "src/generated/x.py": "", "src/y.py": ""})
    assert found(tmp_path, "src") == ["src/y.py"]
    # what is asked for by name is meant, though it is excluded
    assert found(tmp_path, "src/generated") == ["src/generated/x.py"]


def test_a_named_file_is_always_taken(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*\n", "build/script": "", "x.py": ""})
    assert found(tmp_path, "build/script", "x.py", "x.py") == ["build/script", "x.py"]
    assert discover([tmp_path / "nothing.py"]).missing == [tmp_path / "nothing.py"]


def test_links_are_no_danger(tmp_path: Path) -> None:
    make(tmp_path, {"pkg/x.py": ""})
    (tmp_path / "pkg/loop").symlink_to(tmp_path)
    (tmp_path / "a_link.py").symlink_to(tmp_path / "pkg/x.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "gone.py")
    assert found(tmp_path) == ["pkg/x.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a", [(0, "a", None, "a")]),
        ("import a.b as c, d", [(0, "a.b", None, "c"), (0, "d", None, "d")]),
        ("from a import b", [(0, "a", (("b", "b"),), "")]),
        (
            "from ..a.b import (\n    c as d,  # why, not\n    e,\n)",
            [(2, "a.b", (("c", "d"), ("e", "e")), "")],
        ),
        ("from . import x", [(1, "", (("x", "x"),), "")]),
        ("from.a import*", [(1, "a", (("*", "*"),), "")]),
        ("from a import \\\n  b", [(0, "a", (("b", "b"),), "")]),
        ("if x: import a", [(0, "a", None, "a")]),
        ("x = 1; import a; y", [(0, "a", None, "a")]),
        ("\tfrom a import b\r\n", [(0, "a", (("b", "b"),), "")]),
        ("# import a\nimportant = 1", []),
        ("import a  # and b, c", [(0, "a", None, "a")]),
    ],
)
def test_imports_without_parsing(text: str, expected: list[tuple[object, ...]]) -> None:
    assert [(e.level, e.module, e.names, e.local) for e in imports(text.encode())] == expected


FILES = {
    "pyproject.toml": "",
    "app/__init__.py": "from .hub import *\n",
    "app/base.py": "import pytorch_lightning as pl\nclass Base(pl.LightningModule): ...\n",
    "app/hub.py": "from .base import Base\nfrom .plain import helper\n",
    "app/plain.py": "def helper(): ...\n",
    "app/user.py": "from .base import Base\nclass U(Base): ...\n",
    "app/second.py": "from app.user import U as V\n",
    "app/through_hub.py": "from app.hub import Base\n",
    "app/only_helper.py": "from app.hub import helper\n",
    "app/star.py": "from app import *\n",
    "app/whole.py": "import app.base\nx = app.base.Base\n",
    "app/whole_alias.py": "import app.hub as h\nh.Base\n",
    "app/whole_plain.py": "import app.hub as h\nh.helper\n",
    "app/unknown_base.py": "from elsewhere import Task\nclass T(Task):\n    def training_step(self): ...\n",
    "app/nothing.py": "import os, app.plain\napp.plain.helper()\n",
    "app/cycle_a.py": "from .cycle_b import b\na = b\n",
    "app/cycle_b.py": "from .cycle_a import a\nb = a\n",
}
INTERESTING = {
    "app/__init__.py", "app/base.py", "app/hub.py", "app/user.py", "app/second.py", "app/through_hub.py", "app/star.py",
    "app/whole.py", "app/whole_alias.py", "app/unknown_base.py",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_which_files_are_of_interest_whatever_the_order(tmp_path: Path, seed: int) -> None:
    make(tmp_path, FILES)
    names = [name for name in FILES if name.endswith(".py")]
    random.Random(seed).shuffle(names)
    project = Project([tmp_path / name for name in names], roots=[tmp_path])
    assert {name for name in names if project.relevant(tmp_path / name)} == INTERESTING


def test_one_file_alone_sees_its_base(tmp_path: Path) -> None:
    make(tmp_path, FILES)
    project = Project([tmp_path / "app/second.py"])
    assert project.relevant(tmp_path / "app/second.py")


def test_uninteresting_files_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainer_upgrade.engine import Engine
    from trainer_upgrade.project import module

    make(tmp_path, FILES)
    parsed: list[str] = []
    real = module.parse
    monkeypatch.setattr(
        module, "parse", lambda text, name="": parsed.append(Path(name).name) or real(text, name)
    )
    engine = Engine(Project([tmp_path / name for name in FILES if name.endswith(".py")], roots=[tmp_path]))
    list(engine.check())
    assert len(parsed) == len(set(parsed)), "a file was parsed twice"
    assert "nothing.py" not in parsed
    assert "only_helper.py" not in parsed
    assert "user.py" in parsed


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("app/base.py", "app.base"),
        ("app/__init__.py", "app"),
        ("src/pkg/mod.py", "pkg.mod"),
        ("src/ns/sub/mod.py", "ns.sub.mod"),
        ("scripts/run.py", "scripts.run"),
        ("setup.py", "setup"),
    ],
)
def test_names_of_modules(tmp_path: Path, path: str, name: str) -> None:
    make(tmp_path, {**FILES, "src/pkg/__init__.py": "", path: FILES.get(path, "")})
    assert Project([tmp_path / path]).module(tmp_path / path).name == name

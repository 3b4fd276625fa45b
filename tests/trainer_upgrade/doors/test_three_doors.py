"""One engine, three doors: the command, flake8 and pre-commit say the same of the same files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "cases"
MORE = {
    "silenced.py": (
        "import pytorch_lightning as pl\n"
        "pl.Trainer(gpus=1)  # noqa\n"
        "pl.Trainer(gpus=1)  # noqa: TRU101,E501\n"
        "pl.Trainer(gpus=1)  # noqa: E501\n"
        "pl.Trainer(\n    gpus=1,\n)  # trainer-upgrade: ignore[TRU101]\n"
        "pl.Trainer(gpus=1, max_epochs=1)  # noqa: TRU101,TRU119\n"
        "pl.Trainer(  # noqa: TRU101\n    gpus=1,\n)\n"
    ),
    "silent.py": (
        "import pytorch_lightning as pl\n\nclass Log(pl.Callback):\n    def on_batch_end(self, trainer, module):\n        print('é')\n"
    ),
    "whole.py": "# trainer-upgrade: ignore-file[TRU101]\nimport pytorch_lightning as pl\npl.Trainer(gpus=1)\n",
    "requirements.txt": "pytorch-lightning==1.4.9\n",
    "new.py": "import pytorch_lightning as pl\npl.Trainer(precision='16-mixed')\n",
}
Row = tuple[str, int, int, str]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every Python file of the cases, and some with comments, in one project."""
    root = tmp_path_factory.mktemp("doors")
    for path in CASES.glob("*.py"):
        shutil.copy(path, root / path.name)
    for name, text in MORE.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "pyproject.toml").write_text("[tool.trainer-upgrade]\ntarget = 'lightning'\n")
    return root


def run(root: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
        check=False,
    )


def rows(text: str) -> list[Row]:
    found = []
    for line in text.splitlines():
        matched = re.match(r"(?:\./)?([\w./-]+\.py):(\d+):(\d+): (TRU.*)$", line)
        if matched:
            found.append((matched[1], int(matched[2]), int(matched[3]), matched[4]))
    return sorted(found)


@pytest.fixture(scope="module")
def told(project: Path) -> list[Row]:
    done = run(
        project, "trainer_upgrade", "--check", "--file-types", "python", "--output-format", "concise", "."
    )
    assert (done.returncode, done.stderr) == (1, "")
    return rows(done.stdout)


def test_the_command_tells_what_there_is(told: list[Row]) -> None:
    assert len({name for name, *_ in told}) > 25
    texts = {(name, row): text for name, row, _, text in told}
    assert {key for key in texts if key[0] == "silenced.py"} == {("silenced.py", 4), ("silenced.py", 8)}
    assert texts["silenced.py", 8].startswith("TRU002 `noqa` switches nothing off by `TRU119`")
    assert "[silent: 2.x never calls it and raises no error]" in texts["silent.py", 4]
    assert not any(name == "whole.py" for name, *_ in told)
    assert texts["new.py", 2].startswith("TRU942")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_flake8_tells_the_same(project: Path, told: list[Row], workers: str) -> None:
    done = run(project, "flake8", "--isolated", "-j", workers, "--select", "TRU", ".")
    assert done.stderr == ""
    assert rows(done.stdout) == told


def test_flake8_is_asked_in_its_own_words(project: Path, told: list[Row]) -> None:
    (project / "setup.cfg").write_text(
        "[flake8]\nselect = TRU\nextend-ignore = TRU2,TRU3\nper-file-ignores =\n    gpus_*.py:TRU1\n"
        "trainer-upgrade-target-version = 2.0\ntrainer-upgrade-target = lightning\n"
    )
    try:
        found = rows(run(project, "flake8", "-j1", ".").stdout)
    finally:
        (project / "setup.cfg").unlink()
    expected = [
        row
        for row in told
        if not row[3].startswith(("TRU2", "TRU3", "TRU942"))
        # These go by the pin.
        and not row[3].startswith(("TRU453", "TRU454", "TRU804", "TRU810", "TRU843"))
        and "no devices are named" not in row[3]
        and not (row[0].startswith("gpus_") and row[3].startswith("TRU1"))
    ]
    assert found == expected
    # flake8's switch shows what `noqa` hides, and nothing of what our own comments hide.
    bare = rows(
        run(
            project, "flake8", "--isolated", "-j1", "--select", "TRU1", "--disable-noqa", "silenced.py"
        ).stdout
    )
    assert [row for _, row, _, _ in bare] == [2, 3, 4, 8, 10]


def test_a_wrong_setting_is_one_line(project: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.trainer-upgrade]\ntaget = 'lightning'\n")
    (tmp_path / "a.py").write_text("import pytorch_lightning\n")
    done = run(tmp_path, "flake8", "--isolated", "-j1", "a.py")
    assert done.returncode == 1
    assert "has no setting `taget`; did you mean `target`?" in done.stdout + done.stderr
    done = run(tmp_path, "trainer_upgrade", "--check", "a.py")
    assert done.returncode == 2
    assert "did you mean `target`?" in done.stderr
    assert "Traceback" not in done.stderr


# pre-commit


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def hooks() -> dict[str, dict[str, object]]:
    import yaml

    listed = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return {each["id"]: each for each in listed}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository whose hooks are ours, run by this interpreter."""
    pytest.importorskip("pre_commit", reason="pre-commit comes with the extra dev")
    local = []
    for hook in hooks().values():
        entry = str(hook["entry"]).replace("trainer-upgrade", f"{sys.executable} -m trainer_upgrade", 1)
        local.append({**hook, "entry": entry, "language": "system"})
    config = {"repos": [{"repo": "local", "hooks": local}]}
    root = tmp_path / "repository"
    root.mkdir()
    (root / ".pre-commit-config.yaml").write_text(json.dumps(config))  # JSON is YAML
    (root / "pyproject.toml").write_text("[tool.trainer-upgrade]\ntarget = 'lightning'\nexclude = ['old/']\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "start")
    return root


def hook(root: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(
        root,
        "pre_commit",
        "run",
        name,
        "--color",
        "never",
        *arguments,
        PRE_COMMIT_HOME=str(root.parent / "home"),
    )


def test_pre_commit_tells_the_same(repository: Path, project: Path, told: list[Row]) -> None:
    for path in project.glob("*"):
        if path.suffix in (".py", ".txt"):
            shutil.copy(path, repository / path.name)
    git(repository, "add", ".")
    done = hook(repository, "trainer-upgrade-check")
    assert done.returncode == 1
    found = [(name, row, column, text.replace(" [*]", "")) for name, row, column, text in rows(done.stdout)]
    assert sorted(found) == told


def test_pre_commit_without_files_and_with_some_it_must_not_touch(repository: Path) -> None:
    assert hook(repository, "trainer-upgrade").returncode == 0
    assert hook(repository, "trainer-upgrade", "--all-files").returncode == 0
    (repository / "old").mkdir()
    source = "import pytorch_lightning as pl\npl.Trainer(gpus=1)\n"
    (repository / "old" / "a.py").write_text(source)
    git(repository, "add", ".")
    assert hook(repository, "trainer-upgrade").returncode == 0
    assert (repository / "old" / "a.py").read_text() == source
    # A hook that always runs is called without a path.
    assert run(repository, "trainer_upgrade", "--no-files-ok").returncode == 0


def test_pre_commit_rewrites_what_is_staged_and_keeps_what_is_not(repository: Path) -> None:
    path = repository / "train.py"
    head = "import pytorch_lightning as pl\n"
    path.write_text(head + "a = pl.Trainer(gpus=1)\n\n\n\n\n\n\n\n\n\n# end\n")
    git(repository, "add", "train.py")
    path.write_text(path.read_text() + "b = pl.Trainer(gpus=2)\n")  # not staged
    done = hook(repository, "trainer-upgrade")
    assert done.returncode == 1, done.stdout + done.stderr  # files were modified
    text = path.read_text()
    assert 'a = pl.Trainer(accelerator="gpu", devices=1)\n' in text
    assert text.endswith("# end\nb = pl.Trainer(gpus=2)\n")
    assert "gpus=1" in git(repository, "show", ":train.py")

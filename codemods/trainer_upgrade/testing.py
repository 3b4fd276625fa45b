"""Helpers to test rules: the before and the after as text.

    check('import pytorch_lightning as pl\\npl.Trainer(gpus=1)\\n', '…', target="lightning", codes=["TRU101"])
    check_noop('import pytorch_lightning as pl\\npl.Trainer(max_epochs=1)\\n')

Every check also asserts that the result compiles and that a second run changes nothing.
"""

from __future__ import annotations

import difflib
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.engine import Engine, FileResult, Options, error_of
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.index import Project

__all__ = ["check", "check_noop", "context", "findings", "upgrade", "upgrade_files"]


def check(
    before: str,
    after: str,
    *,
    target: str | Target = Target.RELIGHT,
    unsafe: bool = False,
    files: Mapping[str, str] | None = None,
    codes: Sequence[str] | None = None,
    path: str = "example.py",
    pin_defaults: bool = False,
) -> list[Finding]:
    """Assert what an upgrade makes of a file.

    Args:
        before: The file's text (common indentation and a first empty line are taken off).
        after: What it must become.
        target: ``relight`` or ``lightning``.
        unsafe: Whether unsafe fixes are made.
        files: Other files of the project: path and text.
        codes: Codes that a check of ``before`` must find, in the order of the text.
        path: Where the file lies in the project.
        pin_defaults: Whether changed defaults are written out.

    Returns:
        What is found in ``before``.

    Raises:
        AssertionError: Something differs.
    """
    options = Options(unsafe=unsafe, pin_defaults=pin_defaults, strict=True)
    before, after = _clean(before), _clean(after)
    every = {path: before, **{name: _clean(text) for name, text in (files or {}).items()}}
    with _project(every) as root:
        found = _check(root, path, target, options)
        if codes is not None:
            assert [each.code for each in found] == list(codes), _listing(found)
        result = _upgrade(root, every, target, options)[path]
        text = _text(result, before)
        assert text == after, "\n" + _diff(after, text)
        assert error_of(text) is None
        again = _again(every, {path: result}, target, options)[path]
        assert not again.changed, "a second run changes it again\n" + _diff(text, _text(again, text))
    return found


def check_noop(
    source: str,
    *,
    target: str | Target = Target.RELIGHT,
    unsafe: bool = True,
    files: Mapping[str, str] | None = None,
    codes: Sequence[str] = (),
    path: str = "example.py",
) -> list[Finding]:
    """Assert that an upgrade leaves a file as it is, and which codes it finds there (none by default)."""
    return check(source, source, target=target, unsafe=unsafe, files=files, codes=codes, path=path)


def findings(
    source: str,
    *,
    target: str | Target = Target.RELIGHT,
    files: Mapping[str, str] | None = None,
    path: str = "example.py",
) -> list[Finding]:
    """Return what is found in a file, in the order of the text."""
    with _project(
        {path: _clean(source), **{name: _clean(text) for name, text in (files or {}).items()}}
    ) as root:
        return _check(root, path, target, Options(strict=True))


def upgrade(
    source: str,
    *,
    target: str | Target = Target.RELIGHT,
    unsafe: bool = False,
    files: Mapping[str, str] | None = None,
    path: str = "example.py",
) -> str:
    """Return what an upgrade makes of a file."""
    every = {path: _clean(source), **{name: _clean(text) for name, text in (files or {}).items()}}
    return upgrade_files(every, target=target, unsafe=unsafe)[path]


def upgrade_files(
    files: Mapping[str, str], *, target: str | Target = Target.RELIGHT, unsafe: bool = False
) -> dict[str, str]:
    """Return what an upgrade makes of all files of a project; asserts that a second run changes nothing."""
    options = Options(unsafe=unsafe, strict=True)
    every = {name: _clean(text) for name, text in files.items()}
    with _project(every) as root:
        results = _upgrade(root, every, target, options)
    texts = {name: _text(result, every[name]) for name, result in results.items()}
    for name, again in _again(every, results, target, options).items():
        assert not again.changed, "a second run changes it again\n" + _diff(
            texts[name], again.after.decode("utf-8")
        )
    return texts


@contextmanager
def context(
    source: str,
    *,
    target: str | Target = Target.RELIGHT,
    files: Mapping[str, str] | None = None,
    path: str = "example.py",
) -> Iterator[FileContext]:
    """Give the context of a file, as a rule sees it."""
    every = {path: _clean(source), **{name: _clean(text) for name, text in (files or {}).items()}}
    with _project(every) as root:
        project = Project([root / name for name in every], Target(str(target)), roots=[root])
        yield FileContext(project.module(root / path), project)


def _clean(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n")


@contextmanager
def _project(files: Mapping[str, str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        (root / "pyproject.toml").touch()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode("utf-8"))
        yield root


def _engine(root: Path, files: Mapping[str, object], target: str | Target, options: Options) -> Engine:
    project = Project([root / name for name in files], Target(str(target)), roots=[root])
    return Engine(project, options)


def _check(root: Path, path: str, target: str | Target, options: Options) -> list[Finding]:
    (result,) = _engine(root, {path: None}, target, options).check()
    return result.findings


def _upgrade(
    root: Path, files: Mapping[str, str], target: str | Target, options: Options
) -> dict[str, FileResult]:
    results = {
        str(each.path.relative_to(root).as_posix()): each
        for each in _engine(root, files, target, options).upgrade()
    }
    for name, result in results.items():
        told = [each for each in result.findings if each.code == "TRU004"]
        assert not told, f"{name}: {_listing(told)}"
    return results


def _again(
    files: Mapping[str, str], results: Mapping[str, FileResult], target: str | Target, options: Options
) -> dict[str, FileResult]:
    done = {
        name: results[name].after.decode("utf-8") if name in results else text for name, text in files.items()
    }
    with _project(done) as root:
        return _upgrade(root, done, target, options)


def _text(result: FileResult, before: str) -> str:
    return result.after.decode("utf-8") if result.changed else before


def _listing(found: Sequence[Finding]) -> str:
    return "\n".join(f"{each.start.row}:{each.start.column} {each.code} {each.message}" for each in found)


def _diff(one: str, other: str) -> str:
    return "\n".join(
        difflib.unified_diff(one.splitlines(), other.splitlines(), "expected", "got", lineterm="")
    )

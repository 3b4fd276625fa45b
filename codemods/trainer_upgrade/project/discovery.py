"""Which files a path on the command line stands for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathspec import PathSpec

__all__ = ["Discovery", "discover"]

# Never the user's own sources.
SKIPPED_DIRECTORIES = frozenset(
    {
        ".git", ".hg", ".svn", ".bzr", ".venv", "venv", "env", ".env", ".tox", ".nox", ".eggs",
        "node_modules", "__pycache__", "__pypackages__", "site-packages", "build", "dist", "_build",
        "buck-out", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints", ".direnv",
        ".idea", ".vscode",
    }
)  # fmt: skip


@dataclass(slots=True)
class Discovery:
    """What the paths gave.

    Attributes:
        files: Files, sorted, each once.
        roots: The directories given.
        missing: Paths that do not exist.
    """

    files: list[Path] = field(default_factory=list)
    roots: list[Path] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)


def discover(
    paths: Iterable[Path],
    suffixes: tuple[str, ...] = (".py",),
    wanted: Callable[[Path], bool] = lambda path: True,
    skipped: Callable[[Path], bool] | None = None,
) -> Discovery:
    """Find the files to work on.

    A file that is named is always taken, whatever it is called. In a directory, files with one of the
    suffixes that are wanted are taken, except what ``.gitignore`` files exclude and directories of tools
    (virtual environments, builds, caches). Links to directories are not followed, so that a cycle cannot
    occur; two paths of one file count once.

    Args:
        paths: Files and directories.
        suffixes: Ends of the names of files to take in directories.
        wanted: Says whether a file in a directory is taken.
        skipped: Says whether a directory in a directory is left out.
    """
    result = Discovery()
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            result.roots.append(path)
            ignores = _ignores_above(path)
            _walk(path, suffixes, wanted, ignores, found, skipped)
        elif path.exists() or path.is_symlink():
            found.setdefault(os.path.realpath(path), path)
        else:
            result.missing.append(path)
    result.files = sorted(found.values(), key=lambda path: path.as_posix())
    return result


def _walk(
    directory: Path,
    suffixes: tuple[str, ...],
    wanted: Callable[[Path], bool],
    ignores: list[tuple[str, PathSpec[Any]]],
    found: dict[str, Path],
    skipped: Callable[[Path], bool] | None = None,
) -> None:
    left = [(directory, ignores)]
    while left:
        current, rules = left.pop()
        try:
            with os.scandir(current) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            continue
        if any(entry.name == ".gitignore" for entry in entries):
            rules = [*rules, *_read_ignore(current)]
        for entry in entries:
            try:
                is_directory = entry.is_dir(follow_symlinks=False)
                is_file = not is_directory and entry.is_file()
            except OSError:
                continue
            if is_directory:
                if entry.name in SKIPPED_DIRECTORIES or entry.name.endswith(".egg-info"):
                    continue
                if os.path.exists(os.path.join(entry.path, "pyvenv.cfg")) or _ignored(
                    entry.path + "/", rules
                ):
                    continue
                if skipped is not None and skipped(Path(entry.path)):
                    continue
                left.append((Path(entry.path), rules))
            elif is_file and entry.name.endswith(suffixes) and not _ignored(entry.path, rules):
                real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.abspath(entry.path)
                known = found.get(real)
                path = Path(entry.path)
                if not wanted(path):
                    continue
                # The name in the tree is kept rather than a link's.
                if known is None or (known.is_symlink() and not entry.is_symlink()):
                    found[real] = path


def _ignored(path: str, rules: list[tuple[str, PathSpec[Any]]]) -> bool:
    ignored = False
    absolute = os.path.abspath(path).replace(os.sep, "/") + ("/" if path.endswith("/") else "")
    for base, spec in rules:
        verdict = spec.check_file(absolute[len(base) :]).include
        if verdict is not None:
            ignored = verdict  # the nearest .gitignore has the last word
    return ignored


def _read_ignore(directory: Path) -> list[tuple[str, PathSpec[Any]]]:
    import pathspec

    try:
        text = (directory / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    base = os.path.abspath(directory).replace(os.sep, "/").rstrip("/") + "/"
    try:
        return [(base, pathspec.GitIgnoreSpec.from_lines(text.splitlines()))]
    except ValueError:
        return []  # a pattern that git would not take either


def _ignores_above(directory: Path) -> list[tuple[str, PathSpec[Any]]]:
    """The ``.gitignore`` files of the directories above, up to the repository's top."""
    above: list[Path] = []
    current = Path(os.path.abspath(directory))
    if (current / ".git").exists():
        return []
    for parent in current.parents:
        above.append(parent)
        if (parent / ".git").exists():
            rules: list[tuple[str, PathSpec[Any]]] = []
            for each in reversed(above):
                if each != above[-1] and _ignored(f"{each}/", rules):
                    return []
                if (each / ".gitignore").is_file():
                    rules.extend(_read_ignore(each))
            # A directory that is excluded itself and asked for all the same: its files are meant.
            return [] if _ignored(f"{current}/", rules) else rules
    return []

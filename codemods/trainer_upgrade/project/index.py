"""The project: its files by path and by dotted name, and which of them have to do with Lightning.

Files are looked up when a name leads to them, so that a single file given on the command line (as a
pre-commit hook does) sees the same base classes as a run over the whole tree. What looks the other way,
from a class to its subclasses, needs all files: they are scanned once, when first asked for.

Which files are parsed is decided by :mod:`trainer_upgrade.project.relevance`.
"""

from __future__ import annotations

import ast
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.version import Version

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.project.discovery import discover
from trainer_upgrade.project.module import Module
from trainer_upgrade.project.pins import Pin, find_pins
from trainer_upgrade.project.relevance import Relevance
from trainer_upgrade.sources.kinds import Kind, kind_of

__all__ = ["Project"]

_MARKERS = frozenset({".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg"})


class Project:
    """All files that may say what a name in one of them means.

    Attributes:
        target: Where the code is to run.
        files: The Python files to work on, sorted.
        documents: The other files to work on: notebooks, configurations, requirements …, sorted.
    """

    def __init__(
        self,
        files: Iterable[Path] = (),
        target: Target = Target.RELIGHT,
        *,
        roots: Iterable[Path] = (),
        overlay: dict[Path, bytes] | None = None,
        target_version: Version | None = None,
    ) -> None:
        """Describe a project.

        Args:
            files: Files to work on.
            target: Where the code is to run.
            roots: Directories that were given; a project without a marker (``.git``, ``pyproject.toml`` …)
                ends there.
            overlay: Contents that stand in for what is on disk.
            target_version: The Lightning that the project is taken to install, whatever it pins.
        """
        self.target = target
        self.target_version = target_version
        self._pins: dict[Path, tuple[Pin, ...]] = {}
        self._pins_in: dict[Path, tuple[Pin, ...]] = {}
        given = sorted({absolute(path) for path in files})
        # A file that is named and is of no known kind is taken for Python.
        self.files: tuple[Path, ...] = tuple(path for path in given if kind_of(path) in (None, Kind.PYTHON))
        self.documents: tuple[Path, ...] = tuple(path for path in given if path not in set(self.files))
        self._roots = tuple(absolute(path) for path in roots)
        self._overlay = {absolute(path): data for path, data in (overlay or {}).items()}
        self._modules: dict[Path, Module] = {}
        self._listings: dict[str, dict[str, bool]] = {}
        self._found: dict[tuple[tuple[str, ...], str], Module | None] = {}
        self._tops: dict[tuple[tuple[str, ...], str], bool] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._relevant: dict[Path, bool] = {}
        self._relevance = Relevance(self)
        self._visitor: Module | None = None
        self._scanned: set[Path] = set()
        self._scanned_roots: set[str] = set()
        # Results of name resolution and class lookup, dropped when a file changes.
        self.memo: dict[object, object] = {}
        # What is worked out once for the project as it was given.
        self.extras: dict[str, object] = {}

    # Files

    def module(self, path: Path) -> Module:
        """Return the module of a file (which is read when something of it is asked for)."""
        path = absolute(path)
        found = self._modules.get(path)
        if found is None:
            found = self._modules[path] = Module(path, self._name(path), self._overlay.get(path))
        return found

    def take(self, path: Path, text: str, tree: ast.Module) -> Module:
        """Let a file that was read and parsed elsewhere be one to work on; returns its module.

        What is known of other files stays known, unless the text is not the one on disk.
        """
        module = self.module(path)
        position = bisect_left(self.files, module.path)
        if self.files[position : position + 1] != (module.path,):
            self.files = (*self.files[:position], module.path, *self.files[position:])
        if not module.adopt(text, tree):
            module = self._modules[module.path] = Module.parsed(module.path, module.name, text, tree)
            self._forget(module.path)
        return module

    def replace(self, path: Path, data: bytes) -> Module:
        """Let a file have new contents (not written to disk); everything derived from names is forgotten."""
        path = absolute(path)
        self._overlay[path] = data
        self._modules.pop(path, None)
        self._forget(path)
        return self.module(path)

    def document(self, path: Path, largest: int) -> bytes | None:
        """Return the bytes of a file that is no Python module; ``None`` if it is larger than said.

        Raises:
            OSError: It cannot be read.
        """
        path = absolute(path)
        data = self._overlay.get(path)
        if data is None:
            if path.stat().st_size > largest:
                return None
            data = path.read_bytes()
        return data

    def top(self, path: Path) -> Path | None:
        """Return the directory with a project's marker (``.git``, ``pyproject.toml`` …) around a file."""
        found = self._marked_root(str(absolute(path).parent))
        return Path(found) if found is not None else None

    def replace_document(self, path: Path, data: bytes) -> None:
        """Let a file that is no Python module have new contents (not written to disk)."""
        self._overlay[absolute(path)] = data

    def relevant_text(self, module: Module) -> bool:
        """Whether Python that stands in another file (a notebook) may have to do with Lightning."""
        return self._relevance.relevant(module)

    def pins(self, directory: Path) -> tuple[Pin, ...]:
        """Return what the project says of the Lightning it installs, seen from a directory; locks first."""
        found = self._pins.get(directory)
        if found is None:
            stop = None
            if not any((each / ".git").exists() for each in (directory, *directory.parents)):
                # No repository: the project ends at its marker, else where the user stands.
                marked, here = self._marked_root(str(directory)), Path.cwd()
                inside = marked is None and directory.is_relative_to(here)
                stop = here if inside else Path(self._root(str(directory)))
            found = self._pins[directory] = find_pins(directory, stop, self._pins_in)
        return found

    def _forget(self, path: Path) -> None:
        """Drop what was worked out with an older text of a file."""
        self._relevant.clear()
        self._relevance = Relevance(self)
        self._found = {
            key: value for key, value in self._found.items() if value is None or value.path != path
        }
        self.memo.clear()

    def relevant(self, path: Path) -> bool:
        """Whether a file may have to do with Lightning: see :mod:`trainer_upgrade.project.relevance`.

        Raises:
            OSError: The file cannot be read.
        """
        path = absolute(path)
        known = self._relevant.get(path)
        if known is None:
            known = self._relevant[path] = self._relevance.relevant(self.module(path))
        return known

    def everything(self) -> tuple[Path, ...]:
        """Return all Python files of the projects that the files to work on belong to, sorted."""
        for path in (*self.files, *self.documents):
            root = self._marked_root(str(path.parent))
            if root is None or root in self._scanned_roots:
                continue
            self._scanned_roots.add(root)
            if Path(root) not in (Path.home(), Path(root).parent):
                self._scanned.update(absolute(each) for each in discover([Path(root)]).files)
        return tuple(sorted(self._scanned.union(self.files)))

    @contextmanager
    def visiting(self, module: Module) -> Iterator[None]:
        """Let Python that stands in another file (a notebook) be a module of the project meanwhile."""
        memo, self._visitor = self.memo, module
        if b"class " in module.data:
            self.memo = {}  # who derives from whom is another matter with this module
        try:
            yield
        finally:
            self.memo, self._visitor = memo, None

    def relevant_modules(self) -> Iterator[Module]:
        """Yield all files of the project that have to do with Lightning and can be parsed, sorted by path."""
        if self._visitor is not None:
            yield self._visitor
        for path in self.everything():
            try:
                if self.relevant(path) and self.module(path).usable:
                    yield self.module(path)
            except OSError:
                continue

    # Names

    def find(self, dotted: str, importer: Module) -> Module | None:
        """Return the file of the project that ``import dotted`` in ``importer`` reaches, or ``None``."""
        if not self.top_level(dotted.partition(".")[0], importer):
            return None
        bases = self._import_bases(importer)
        key = (bases, dotted)
        if key not in self._found:
            self._found[key] = self._find(bases, dotted.split("."))
        return self._found[key]

    def top_level(self, name: str, importer: Module) -> bool:
        """Whether the project may have a top-level module or directory of a name, seen from a file."""
        bases = self._import_bases(importer)
        key = (bases, name)
        if key not in self._tops:
            listings = [self._listing(base) for base in bases]
            self._tops[key] = any(
                listing.get(name) is True or name + ".py" in listing for listing in listings
            )
        return self._tops[key]

    def find_from(self, level: int, name: str | None, importer: Module) -> Module | None:
        """Return the file that the module part of ``from ..name import x`` reaches, or ``None``."""
        if level == 0:
            return self.find(name or "", importer)
        directory = importer.path.parent
        for _ in range(level - 1):
            directory = directory.parent
        if name is None:
            return self._file(directory / "__init__.py")
        key = ((str(directory),), name)
        if key not in self._found:
            self._found[key] = self._find((str(directory),), name.split("."))
        return self._found[key]

    def is_package(self, directory: str) -> bool:
        """Whether a directory has an ``__init__.py``."""
        return self._listing(directory).get("__init__.py") is False

    # Inner works

    def _file(self, path: Path) -> Module | None:
        listing = self._listing(str(path.parent))
        return self.module(path) if listing.get(path.name) is False else None

    def _find(self, bases: tuple[str, ...], parts: list[str]) -> Module | None:
        for base in bases:
            found = self._locate(base, parts)
            if found is not None:
                return found
        return None

    def _locate(self, directory: str, parts: list[str]) -> Module | None:
        """Find a module below a directory in Python's order: package, module, directory without __init__."""
        listing = self._listing(directory)
        part, rest = parts[0], parts[1:]
        inside = os.path.join(directory, part)
        is_directory = listing.get(part) is True
        if is_directory and self._listing(inside).get("__init__.py") is False:
            return self._locate(inside, rest) if rest else self.module(Path(inside, "__init__.py"))
        if listing.get(part + ".py") is False:
            return None if rest else self.module(Path(directory, part + ".py"))
        return self._locate(inside, rest) if is_directory and rest else None

    def _listing(self, directory: str) -> dict[str, bool]:
        """Names in a directory and whether each is a directory; empty if it cannot be read."""
        found = self._listings.get(directory)
        if found is None:
            found = {}
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        try:
                            found[entry.name] = entry.is_dir()
                        except OSError:
                            continue
            except OSError:
                pass
            for path in self._overlay:
                if str(path.parent) == directory:
                    found.setdefault(path.name, False)
            self._listings[directory] = found
        return found

    def _package_parent(self, directory: str) -> str:
        """The directory that holds the outermost package around ``directory`` (itself, if it is in none)."""
        while self._listing(directory).get("__init__.py") is False:
            parent = os.path.dirname(directory)
            if parent == directory:
                break
            directory = parent
        return directory

    def _marked_root(self, directory: str) -> str | None:
        while True:
            if not _MARKERS.isdisjoint(self._listing(directory)):
                return directory
            parent = os.path.dirname(directory)
            if parent == directory:
                return None
            directory = parent

    def _root(self, directory: str) -> str:
        """Where a directory's project ends: its marker, else the path given, else its package's parent."""
        marked = self._marked_root(directory)
        if marked is not None:
            return marked
        given = [str(root) for root in self._roots if Path(directory).is_relative_to(root)]
        return min(given, key=len) if given else self._package_parent(directory)

    def _import_bases(self, module: Module) -> tuple[str, ...]:
        """Directories where an absolute import of a file may start, the likeliest first.

        The parent of its package (or its own directory, for a script), then each directory up to the root of
        the project, then the root's ``src``, then a script's directory inside of a package.
        """
        if module.bases is not None:
            return module.bases
        directory = str(module.path.parent)
        known = self._bases.get(directory)
        if known is None:
            root = self._root(directory)
            base = self._package_parent(directory)
            found = [base]
            while base != root and Path(base).is_relative_to(root):
                base = os.path.dirname(base)
                found.append(base)
            source = os.path.join(root, "src")
            if self._listing(root).get("src") is True:
                found.append(source)
            found.append(directory)
            known = self._bases[directory] = tuple(dict.fromkeys(found))
        module.bases = known
        return known

    def _name(self, path: Path) -> str:
        directory = str(path.parent)
        base = self._package_parent(directory)
        if base == directory:
            # No package, or one without __init__.py: from the top of the project's sources.
            root = self._root(directory)
            source = os.path.join(root, "src")
            base = source if Path(directory).is_relative_to(source) else root
        try:
            relative = path.relative_to(base)
        except ValueError:
            relative = Path(path.name)
        parts = [*relative.parts[:-1], path.stem]
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        return ".".join(parts)


def absolute(path: Path) -> Path:
    """Return an absolute path without ``..`` and without following symlinks."""
    return Path(os.path.abspath(path))

"""One file of the user's project, read and parsed once."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from trainer_upgrade.project.scopes import FileScopes, build_scopes
from trainer_upgrade.sources.text import LineIndex, SourceText, decode

__all__ = ["Module", "parse"]


def parse(text: str, filename: str = "<unknown>") -> ast.Module:
    """Parse a text without the warnings that belong to the user's own runs.

    Raises:
        SyntaxError: The text is no Python of the running interpreter (also for null bytes and for code
            nested too deeply).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text, filename)
        except SyntaxError:
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__, (filename, 1, 1, "")) from error


class Module:
    """A Python file: its bytes, text, tree and scopes, each made when first asked for.

    Attributes:
        path: Where it lies.
        name: Dotted name, from the top of its package or of the project.
        is_package: Whether it is an ``__init__.py``.
        bases: Directories where its absolute imports may start (the project fills it in).
    """

    def __init__(self, path: Path, name: str, data: bytes | None = None) -> None:
        """Describe a file; ``data`` stands in for what is on disk."""
        self.path = path
        self.name = name
        self.is_package = path.name in ("__init__.py", "__init__.pyi")
        self.bases: tuple[str, ...] | None = None
        self._data = data
        self._given = data is not None
        self._source: SourceText | None = None
        self._lines: LineIndex | None = None
        self._tree: ast.Module | None = None
        self._scopes: FileScopes | None = None

    @classmethod
    def parsed(cls, path: Path, name: str, text: str, tree: ast.Module) -> Module:
        """Make a module of a text that was read and parsed elsewhere."""
        module = cls(path, name, text.encode("utf-8", "surrogateescape"))
        module._source = SourceText(text)
        module._tree = tree
        return module

    def adopt(self, text: str, tree: ast.Module) -> bool:
        """Take a text and a tree that were read and parsed elsewhere; ``False`` if another text is known."""
        if self._data is None and self._source is None:
            self._data = text.encode("utf-8", "surrogateescape")
            self._source = SourceText(text)
        try:
            if self.source.text != text:
                return False
        except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
            return False
        self._tree = self._tree or tree
        return True

    def release(self) -> None:
        """Forget the contents of a file that turned out to be of no interest (they are on disk)."""
        if not self._given:
            self._data = self._source = self._lines = self._tree = self._scopes = None

    @property
    def data(self) -> bytes:
        """The file's bytes.

        Raises:
            OSError: It cannot be read.
        """
        if self._data is None:
            self._data = self.path.read_bytes()
        return self._data

    @property
    def source(self) -> SourceText:
        """The file's text.

        Raises:
            OSError: It cannot be read.
            SyntaxError: Its encoding is unknown.
            UnicodeDecodeError: It is not in the encoding it declares.
        """
        if self._source is None:
            self._source = decode(self.data)
        return self._source

    @property
    def lines(self) -> LineIndex:
        """Places in the text."""
        if self._lines is None:
            self._lines = LineIndex(self.source.text)
        return self._lines

    @property
    def tree(self) -> ast.Module:
        """The syntax tree.

        Raises:
            SyntaxError: The text is no Python.
        """
        if self._tree is None:
            self._tree = parse(self.source.text, str(self.path))
        return self._tree

    @property
    def scopes(self) -> FileScopes:
        """Parents, scopes and bindings."""
        if self._scopes is None:
            self._scopes = build_scopes(self.tree)
        return self._scopes

    @property
    def usable(self) -> bool:
        """Whether the file can be read and parsed."""
        try:
            return self.tree is not None
        except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
            return False

    @property
    def package(self) -> str:
        """Dotted name of the package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def __repr__(self) -> str:
        """Name the file."""
        return f"Module({self.name!r}, {str(self.path)!r})"

"""Settings: ``[tool.trainer-upgrade]`` of the nearest ``pyproject.toml``, and the command line over it.

    [tool.trainer-upgrade]
    target = "lightning"
    target-version = "1.9"
    extend-exclude = ["third_party/"]
    ignore = ["TRU805"]
    per-file-ignores = { "tests/*" = ["TRU1"] }
    baseline = "trainer-upgrade-baseline.json"

Paths and patterns in the file are relative to its directory, those on the command line to the current one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.codes import read_codes
from trainer_upgrade.errors import UsageError

if TYPE_CHECKING:
    from trainer_upgrade.sources.kinds import Kind

__all__ = ["FORMATS", "Pattern", "Settings", "find_file", "read_file", "read_kinds", "read_version"]

FORMATS = (
    "text", "concise", "grouped", "github", "gitlab", "sarif", "json", "jsonl", "junit", "html", "markdown",
)  # fmt: skip
_TABLE = "trainer-upgrade"


@dataclass(frozen=True)
class Pattern:
    """A pattern of paths, as in ``.gitignore``, and the directory it is relative to."""

    root: Path
    text: str

    def __str__(self) -> str:
        """Show the pattern."""
        return self.text


@dataclass(frozen=True)
class Settings:
    """What a run is to do, from whatever said so.

    Attributes:
        target: Where the code is to run.
        target_version: The Lightning that the project is taken to install; ``None``: what it pins.
        select: Codes to report; empty for all.
        extend_select: Codes to report, too.
        ignore: Codes not to report.
        extend_ignore: More of them.
        per_file_ignores: Patterns and the codes not to report in the files they fit.
        exclude: Patterns of files and directories not to look at.
        extend_exclude: More of them.
        file_types: Kinds of files to look for in directories; empty for all.
        unsafe_fixes: Whether fixes are made that want a person's eye.
        pin_defaults: Whether defaults that changed are written out.
        output_format: How findings are shown.
        baseline: The file of findings that are known.
        docs_url: Where the built docs site stands; empty: nowhere.
        source: The file that settings come from.
    """

    target: Target = Target.RELIGHT
    target_version: Version | None = None
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = ()
    exclude: tuple[Pattern, ...] = ()
    extend_exclude: tuple[Pattern, ...] = ()
    file_types: frozenset[Kind] = frozenset()
    unsafe_fixes: bool = False
    pin_defaults: bool = False
    output_format: str = "text"
    baseline: Path | None = None
    docs_url: str = ""
    source: Path | None = field(default=None, compare=False)

    def with_given(self, given: dict[str, Any]) -> Settings:
        """Return the settings with those of the command line over them; ``None`` says nothing."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def excluded(self, path: Path) -> bool:
        """Whether a file or directory is not to be looked at."""
        from trainer_upgrade.sources.patterns import fits

        patterns = (*self.exclude, *self.extend_exclude)
        return any(fits(path, each.root, (each.text,)) for each in patterns)

    def show(self) -> Iterator[str]:
        """Yield each setting as a line of TOML, after where they come from."""
        yield f"# from {self.source}" if self.source is not None else "# no [tool.trainer-upgrade] was found"
        for each in fields(self):
            if each.name == "source":
                continue
            yield f"{each.name.replace('_', '-')} = {_toml(getattr(self, each.name))}"


def _toml(value: object) -> str:
    import json

    if value is None:
        return '""  # not set'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return _toml(tuple(sorted(str(each) for each in value)))
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "{ " + ", ".join(f"{_toml(str(key))} = {_toml(codes)}" for key, codes in value) + " }"
        return "[" + ", ".join(_toml(str(each)) for each in value) + "]"
    return json.dumps(str(value), ensure_ascii=False)


# Reading


def find_file(paths: Iterable[Path]) -> Path | None:
    """Return the nearest ``pyproject.toml`` with our table, from where all paths lie together upwards."""
    starts = [os.path.abspath(path) for path in paths] or [os.getcwd()]
    try:
        start = Path(os.path.commonpath(starts))
    except ValueError:  # on several drives
        start = Path.cwd()
    for directory in (start, *start.parents):
        candidate = directory / "pyproject.toml"
        try:
            text = candidate.read_text(encoding="utf-8") if candidate.is_file() else ""
        except (OSError, UnicodeDecodeError):
            continue
        if f"tool.{_TABLE}" in text:
            return candidate
    return None


def read_file(path: Path) -> Settings:
    """Read the settings of a file.

    Raises:
        UsageError: It cannot be read, or a setting is unknown or of a wrong type.
    """
    from trainer_upgrade.sources.toml import load_toml

    try:
        data = load_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    table = data.get("tool", {}).get(_TABLE, {}) if path.name == "pyproject.toml" else data
    where = f"{path.name}: [tool.{_TABLE}] " if path.name == "pyproject.toml" else f"{path.name}: "
    if not isinstance(table, dict):
        raise UsageError(f"{where}is no table")
    given: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        reader = _READERS.get(name)
        if reader is None:
            raise UsageError(f"{where}has no setting `{key}`{_meant(key)}")
        given[name] = reader(value, f"{where}{key}: ", path.parent)
    return Settings(source=path).with_given(given)


def _meant(key: str) -> str:
    import difflib

    names = [each.replace("_", "-") for each in _READERS]
    close = difflib.get_close_matches(key.replace("_", "-").lower(), names, n=1, cutoff=0.5)
    return f"; did you mean `{close[0]}`?" if close else f"; there are {', '.join(names)}"


_Reader = Callable[[Any, str, Path], Any]


def _target(value: Any, where: str, root: Path) -> Target:
    try:
        return Target(value)
    except ValueError as error:
        raise UsageError(f"{where}{value!r} is neither `relight` nor `lightning`") from error


def read_version(value: Any, where: str = "", root: Path | None = None) -> Version:
    """Read a release: ``1.9``, ``2.0.1``.

    Raises:
        UsageError: It is none.
    """
    try:
        if isinstance(value, str):
            return Version(value)
    except InvalidVersion:
        pass
    raise UsageError(f"{where}{value!r} is no release of Lightning; say it as in `1.9`")


def _strings(value: Any, where: str) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UsageError(f"{where}must be a list of strings")
    return value


def _codes(value: Any, where: str, root: Path) -> tuple[str, ...]:
    return read_codes(_strings(value, where), where)


def _per_file(value: Any, where: str, root: Path) -> tuple[tuple[Pattern, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise UsageError(f'{where}must be a table, such as {{ "tests/*" = ["TRU1"] }}')
    return tuple((Pattern(root, each), _codes(codes, where, root)) for each, codes in value.items())


def _patterns(value: Any, where: str, root: Path) -> tuple[Pattern, ...]:
    return tuple(Pattern(root, each) for each in _strings(value, where))


def read_kinds(value: Any, where: str = "", root: Path | None = None) -> frozenset[Kind]:
    """Read kinds of files: ``python``, ``notebook`` …

    Raises:
        UsageError: There is no such kind.
    """
    from trainer_upgrade.sources.kinds import Kind

    known = {each.value: each for each in Kind}
    names = [
        name.strip().lower() for part in _strings(value, where) for name in part.split(",") if name.strip()
    ]
    for name in names:
        if name not in known:
            raise UsageError(f"{where}there is no file type {name}; there are {', '.join(known)}")
    return frozenset(known[name] for name in names)


def _switch(value: Any, where: str, root: Path) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{where}must be true or false")
    return value


def _format(value: Any, where: str, root: Path) -> str:
    if value not in FORMATS:
        raise UsageError(f"{where}there is no format {value!r}; there are {', '.join(FORMATS)}")
    return str(value)


def _url(value: Any, where: str, root: Path) -> str:
    if not isinstance(value, str) or not value.startswith(("https://", "http://", "file://")):
        raise UsageError(f"{where}must be an address that begins with https://, http:// or file://")
    return value


def _path(value: Any, where: str, root: Path) -> Path:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{where}must be the path of a file")
    return root / value


_READERS: dict[str, _Reader] = {
    "target": _target,
    "target_version": read_version,
    "select": _codes,
    "extend_select": _codes,
    "ignore": _codes,
    "extend_ignore": _codes,
    "per_file_ignores": _per_file,
    "exclude": _patterns,
    "extend_exclude": _patterns,
    "file_types": read_kinds,
    "unsafe_fixes": _switch,
    "pin_defaults": _switch,
    "output_format": _format,
    "baseline": _path,
    "docs_url": _url,
}

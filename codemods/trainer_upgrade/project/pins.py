"""Which Lightning a project installs, read from its requirements, project, environment and lock files.

A lock file says it to the digit; of a range the newest release that fits is what a fresh install gets. Only
what stands in the files as text is read: nothing is run, and a requirement that is put together at run time
is not seen.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.sources.toml import load_toml

__all__ = ["DISTRIBUTIONS", "NEWEST", "Pin", "find_pins", "judged", "newest", "pins_in"]

# What the Lightning of this tool comes as; `lightning` holds `lightning.pytorch` and more.
DISTRIBUTIONS = ("pytorch-lightning", "lightning")
# The last patch of each minor release that the catalogue knows.
_LAST_PATCHES = (
    "0.7.6", "0.8.5", "0.9.0", "0.10.0", "1.0.8", "1.1.8", "1.2.10", "1.3.8", "1.4.9", "1.5.10", "1.6.5",
    "1.7.7", "1.8.6", "1.9.5", "2.0.9", "2.1.4", "2.2.5", "2.3.3", "2.4.0", "2.5.6", "2.6.6",
)  # fmt: skip
NEWEST = Version(_LAST_PATCHES[-1])
_RELEASES = tuple(
    Version(f"{minor}.{patch}")
    for minor, _, last in (each.rpartition(".") for each in reversed(_LAST_PATCHES))
    for patch in range(int(last), -1, -1)
)
_NAME = re.compile(r"(?<![\w./-])(?:pytorch[-_.]lightning|lightning)(?![\w-])", re.IGNORECASE)
# Names of files in a directory `requirements`.
_PARTS = ("base", "dev", "train", "main", "all")
_LARGEST = 20_000_000  # bytes; a lock file of a large project has two million


@dataclass(frozen=True)
class Pin:
    """One requirement of Lightning.

    Attributes:
        distribution: ``pytorch-lightning`` or ``lightning``.
        specifier: The releases it takes, empty for any.
        path: The file it stands in.
        row: Its line.
        locked: Whether it stands in a lock file.
    """

    distribution: str
    specifier: SpecifierSet
    path: Path
    row: int = 1
    locked: bool = False

    @cached_property
    def installs(self) -> Version:
        """The newest release that fits; for an exact pin on one that is not known, that one."""
        return newest(self.specifier)

    def __str__(self) -> str:
        """Say it as a person would: ``pytorch-lightning<1.7 (requirements.txt:3)``."""
        return f"{self.distribution}{self.specifier} ({self.path.name}:{self.row})"


def newest(specifier: SpecifierSet) -> Version:
    """Return the newest known release that a specifier takes."""
    for release in _RELEASES:
        if specifier.contains(release, prereleases=True):
            return release
    exact = [each.version for each in specifier if each.operator in ("==", "===", "~=", ">=")]
    for text in exact:
        try:
            return Version(text.removesuffix(".*"))
        except InvalidVersion:
            continue
    return NEWEST


def judged(finding: Finding, installed: Version) -> Finding:
    """Return a finding with its severity: an error where what is installed lacks the thing already."""
    if finding.removed_in is None or Version(finding.removed_in) > installed:
        return finding
    return replace(finding, severity=Severity.ERROR)


def find_pins(
    directory: Path, stop: Path | None = None, seen: dict[Path, tuple[Pin, ...]] | None = None
) -> tuple[Pin, ...]:
    """Return the pins of the nearest directory, from one upwards, that has any.

    A directory whose requirements ask for relight and no longer for Lightning has gone over: what a lock file
    still says, there or above, is old.

    Args:
        directory: Where a source file lies.
        stop: The last directory to look in; by default the repository's top.
        seen: What directories hold, remembered from call to call.
    """
    seen = {} if seen is None else seen
    current = directory
    while True:
        found = seen.get(current)
        if found is None:
            found = seen[current] = _in_directory(current)
        if all(pin.locked for pin in found) and _asks_for_relight(current):
            return ()
        if found or current == stop or (stop is None and (current / ".git").exists()):
            return found
        if current.parent == current or (stop is None and current == Path.home()):
            return ()
        current = current.parent


def _in_directory(directory: Path) -> tuple[Pin, ...]:
    candidates = [directory]
    candidates += [directory / each for each in ("requirements", "environments", "envs", "env", "conda")]
    found: list[Pin] = []
    for place in candidates:
        try:
            names = sorted(each for each in place.iterdir() if _reader(each.name) is not None)
        except OSError:
            continue
        for path in names:
            if place != directory and not path.name.endswith((".txt", ".in", ".yml", ".yaml")):
                continue
            found += pins_in(path)
    return tuple(sorted(found, key=lambda pin: not pin.locked))


_RELIGHT = re.compile(rb"""^[ \t"'\-\[]*relight(?:\[[\w, ]*\])?[ \t]*(?:[<>=~!;,"']|$)""", re.MULTILINE)


def _asks_for_relight(directory: Path) -> bool:
    for name in ("pyproject.toml", "requirements.txt", "setup.cfg", "environment.yml", "environment.yaml"):
        try:
            if _RELIGHT.search((directory / name).read_bytes()):
                return True
        except OSError:
            continue
    return False


def pins_in(path: Path) -> list[Pin]:
    """Return the pins of Lightning in one file; none for a file that cannot be read."""
    reader = _reader(path.name)
    if reader is None:
        return []
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return []
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return []
    if _NAME.search(text) is None:
        return []
    try:
        return list(reader(text, path))
    except (ValueError, configparser.Error, RecursionError, SyntaxError, AttributeError, TypeError):
        return []  # broken: its own tool will say so


_Reader = Callable[[str, Path], Iterator[Pin]]


def _reader(name: str) -> _Reader | None:
    lower = name.lower()
    if lower.endswith((".txt", ".in")) and ("requirement" in lower or "constraint" in lower):
        return _requirements
    if lower.endswith((".txt", ".in")) and lower.rpartition(".")[0] in _PARTS:
        return _requirements
    if lower.endswith((".yml", ".yaml")) and ("env" in lower or "conda" in lower):
        return _environment
    return {
        "pyproject.toml": _pyproject,
        "setup.cfg": _setup_cfg,
        "setup.py": _setup_py,
        "pipfile": _pipfile,
        "poetry.lock": _toml_lock,
        "uv.lock": _toml_lock,
        "pdm.lock": _toml_lock,
        "pylock.toml": _toml_lock,
        "pipfile.lock": _pipfile_lock,
    }.get(lower)


def _pin(text: str, path: Path, row: int, *, locked: bool = False) -> Pin | None:
    """Read one requirement; ``None`` if it is of something else."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    name = canonicalize_name(requirement.name)
    if name not in DISTRIBUTIONS:
        return None
    return Pin(name, requirement.specifier, path, row, locked)


def _requirements(text: str, path: Path) -> Iterator[Pin]:
    for row, line in enumerate(text.splitlines(), 1):
        bare = re.split(r"(?:^|\s)#", line)[0].strip().rstrip("\\").strip()
        bare = re.split(r"\s+--", bare)[0]  # --hash=…
        found = _pin(bare, path, row) if bare and not bare.startswith("-") else None
        if found is not None:
            yield found


def _row(text: str, part: str) -> int:
    position = text.find(part)
    if position < 0:
        matched = _NAME.search(text)
        position = matched.start() if matched else 0
    return text.count("\n", 0, position) + 1


def _pyproject(text: str, path: Path) -> Iterator[Pin]:
    data = load_toml(text)
    project = data.get("project", {})
    listed: list[object] = [*project.get("dependencies", [])]
    groups = [project.get("optional-dependencies", {}), data.get("dependency-groups", {})]
    tool = data.get("tool", {})
    groups.append(tool.get("pdm", {}).get("dev-dependencies", {}))
    for group in groups:
        for requirements in group.values():
            listed += requirements
    listed += tool.get("uv", {}).get("dev-dependencies", [])
    for environment in tool.get("hatch", {}).get("envs", {}).values():
        listed += [*environment.get("dependencies", []), *environment.get("extra-dependencies", [])]
    for each in listed:
        if isinstance(each, str):
            found = _pin(each, path, _row(text, each))
            if found is not None:
                yield found
    poetry = tool.get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    for table in tables:
        yield from _table(table, text, path)


def _pipfile(text: str, path: Path) -> Iterator[Pin]:
    data = load_toml(text)
    for table in ("packages", "dev-packages"):
        yield from _table(data.get(table, {}), text, path)


def _table(table: dict[str, Any], text: str, path: Path) -> Iterator[Pin]:
    """Read ``name = "^1.5"`` and ``name = {version = "^1.5"}``."""
    for name, value in table.items():
        if canonicalize_name(name) not in DISTRIBUTIONS:
            continue
        for one in value if isinstance(value, list) else [value]:
            version = one.get("version", "*") if isinstance(one, dict) else one
            specifier = _poetry(str(version))
            if specifier is not None:
                matched = re.search(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=", text, re.MULTILINE)
                row = text.count("\n", 0, matched.end()) + 1 if matched else _row(text, name)
                yield Pin(canonicalize_name(name), specifier, path, row)


def _poetry(text: str) -> SpecifierSet | None:
    """Translate poetry's ``^1.5`` and ``~1.5``, and a bare version, to a specifier."""
    parts: list[str] = []
    for part in text.split(","):
        part = part.strip()
        if part in ("", "*"):
            continue
        if part[0] not in "^~" or part.startswith("~="):
            parts.append(part if part[0] in "<>=!~" else f"=={part}")
            continue
        numbers = [int(each) for each in re.findall(r"\d+", part)[:3]]
        if not numbers:
            return None
        if part[0] == "^":
            position = next((index for index, each in enumerate(numbers) if each), len(numbers) - 1)
        else:
            position = min(1, len(numbers) - 1)
        upper = [*numbers[:position], numbers[position] + 1]
        parts += [f">={'.'.join(map(str, numbers))}", f"<{'.'.join(map(str, upper))}"]
    try:
        return SpecifierSet(",".join(parts))
    except InvalidSpecifier:
        return None


def _setup_cfg(text: str, path: Path) -> Iterator[Pin]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    values = [parser.get("options", "install_requires", fallback="")]
    values.append(parser.get("options", "tests_require", fallback=""))
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    for value in values:
        for line in value.splitlines():
            found = _pin(line.split(" #")[0].strip(), path, _row(text, line.strip()))
            if found is not None:
                yield found


def _setup_py(text: str, path: Path) -> Iterator[Pin]:
    """Take the strings of the file that are requirements of Lightning; a bare name only in a list."""
    tree = ast.parse(text)
    listed = {
        id(element)
        for node in ast.walk(tree)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set))
        for element in node.elts
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        for offset, line in enumerate(node.value.splitlines()):
            found = _pin(line.strip(), path, node.lineno + offset)
            if found is not None and (found.specifier or id(node) in listed):
                yield found


_CONDA = re.compile(
    r"^\s*-\s*[\"']?(?:[\w.-]+::)?(?P<name>pytorch[-_.]lightning|lightning)\s*(?P<spec>[^\s\"'#]*)",
    re.IGNORECASE | re.MULTILINE,
)


def _environment(text: str, path: Path) -> Iterator[Pin]:
    """Read conda's and pip's requirements of an environment, line by line."""
    for matched in _CONDA.finditer(text):
        spec = matched["spec"]
        if spec.startswith("[") or spec[:1].isalnum():
            spec = spec.partition("]")[2] if "]" in spec else ""
        if spec.startswith("=") and not spec.startswith("=="):
            version = spec[1:].split("=")[0]  # =1.5.10=pyhd8ed1ab_0
            spec = f"=={version}" if version.endswith("*") or version.count(".") >= 2 else f"=={version}.*"
        row = text.count("\n", 0, matched.start("name")) + 1
        try:
            yield Pin(canonicalize_name(matched["name"]), SpecifierSet(spec), path, row)
        except InvalidSpecifier:
            continue


def _toml_lock(text: str, path: Path) -> Iterator[Pin]:
    data = load_toml(text)
    for package in (*data.get("package", []), *data.get("packages", [])):
        name, version = canonicalize_name(str(package.get("name", ""))), package.get("version")
        if name in DISTRIBUTIONS and version is not None:
            yield from _locked(name, str(version), text, path)


def _pipfile_lock(text: str, path: Path) -> Iterator[Pin]:
    data = json.loads(text)
    for section in ("default", "develop"):
        for name, value in data.get(section, {}).items():
            if canonicalize_name(name) in DISTRIBUTIONS and isinstance(value, dict):
                version = str(value.get("version", "")).lstrip("=")
                yield from _locked(canonicalize_name(name), version, text, path)


def _locked(name: str, version: str, text: str, path: Path) -> Iterable[Pin]:
    try:
        specifier = SpecifierSet(f"=={Version(version)}")
    except InvalidVersion:
        return []
    return [Pin(name, specifier, path, _row(text, f'"{name}"'), locked=True)]

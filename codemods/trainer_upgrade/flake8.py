"""The flake8 plugin: the findings of ``trainer-upgrade --check``, at the same places, with the same text.

flake8 gives a plugin one file at a time. What a name in it means is looked up in the files it imports from
the same project, as the command does; the project's other files are read only for a class whose subclasses
matter. Files that do not mention Lightning, nor import a file that does, are not looked at. No fix is built.

Which codes count, in which files, is flake8's to say (``select``, ``extend-ignore``, ``per-file-ignores``,
``# noqa``, ``--disable-noqa``). Where the code is to run and what is installed are options here, also in
flake8's configuration; what they do not say is taken from ``[tool.trainer-upgrade]`` of ``pyproject.toml``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from trainer_upgrade import __version__

if TYPE_CHECKING:
    import argparse

    from packaging.version import Version

    from trainer_upgrade.catalogue.entry import Target
    from trainer_upgrade.project.index import Project

__all__ = ["TrainerUpgradePlugin"]


class TrainerUpgradePlugin:
    """Registered with flake8 under the prefix ``TRU``."""

    name = "trainer-upgrade"
    version = __version__

    target: ClassVar[str] = ""
    target_version: ClassVar[str] = ""
    noqa: ClassVar[bool] = True
    # Shared by the files of a run, so that a base class is read once.
    _projects: ClassVar[dict[object, Project]] = {}
    _settings: ClassVar[dict[Path, tuple[Target, Version | None]]] = {}

    def __init__(self, tree: ast.Module, filename: str, lines: list[str]) -> None:
        """Take what flake8 has of a file: its syntax tree, its name, its lines with their ends."""
        self.tree = tree
        self.filename = filename
        self.lines = lines

    @staticmethod
    def add_options(parser: Any) -> None:
        """Add our options, also for configuration files."""
        parser.add_option(
            "--trainer-upgrade-target",
            default="",
            choices=["", "relight", "lightning"],
            parse_from_config=True,
            help="where the code is to run: relight or lightning (2.x)"
            " (default: what pyproject.toml says, else relight)",
        )
        parser.add_option(
            "--trainer-upgrade-target-version",
            default="",
            parse_from_config=True,
            help="the Lightning that the project installs (default: what it pins)",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take the options."""
        cls.target = options.trainer_upgrade_target
        cls.target_version = options.trainer_upgrade_target_version
        cls.noqa = not getattr(options, "disable_noqa", False)
        # What an earlier run in this process found may be told otherwise now.
        cls._projects, cls._settings = {}, {}
        if cls.target_version:
            from packaging.version import InvalidVersion, Version

            try:
                Version(cls.target_version)
            except InvalidVersion as error:
                raise _usage(f"--trainer-upgrade-target-version: {error}") from error

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Yield row, column (from 0), text that begins with the code, and the plugin's type."""
        if not self.lines:
            return
        from trainer_upgrade.project.index import Project, absolute
        from trainer_upgrade.sources.suppress import may_suppress

        path = absolute(Path("stdin.py" if self.filename in ("stdin", "-") else self.filename))
        target, version = self._told(path.parent)
        project = self._projects.get((target, version))
        if project is None:
            project = Project(target=target, target_version=version)
            self._projects[target, version] = project
        module = project.take(path, "".join(self.lines), self.tree)
        try:
            if not project.relevant(path) and not may_suppress(module.data):
                module.release()
                return
        except OSError:
            return
        from trainer_upgrade.engine import Options, check_file
        from trainer_upgrade.project.context import FileContext

        file = FileContext(module, project, fixing=False, options=frozenset({"checking"}))
        for finding in check_file(file, Options(noqa=self.noqa)):
            yield finding.start.row, finding.start.column - 1, f"{finding.code} {finding.text}", type(self)

    def _told(self, directory: Path) -> tuple[Target, Version | None]:
        """Return the target and the release: our options, else the settings of the nearest project."""
        from packaging.version import Version

        from trainer_upgrade.catalogue.entry import Target
        from trainer_upgrade.errors import UsageError
        from trainer_upgrade.settings import Settings, find_file, read_file

        found = self._settings.get(directory)
        if found is None:
            settings = Settings()
            if not self.target or not self.target_version:
                source = find_file([directory])
                try:
                    settings = read_file(source) if source is not None else settings
                except UsageError as error:
                    raise _usage(str(error)) from error
            found = (
                Target(self.target) if self.target else settings.target,
                Version(self.target_version) if self.target_version else settings.target_version,
            )
            self._settings[directory] = found
        return found


def _usage(message: str) -> Exception:
    """Make the error that flake8 tells in one line."""
    try:
        from flake8.exceptions import ExecutionError
    except ImportError:
        return ValueError(message)
    return ExecutionError(message)  # type: ignore[no-any-return]

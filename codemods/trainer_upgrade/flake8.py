"""The flake8 plugin: the same findings as ``trainer-upgrade --check``, at the same places.

flake8 gives a plugin one file at a time. What a name in it means is looked up in the files it imports from
the same project, as the command does; the project's other files are read only for a class whose subclasses
matter. Files that do not mention Lightning, nor import a file that does, are not looked at. No fix is built.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from trainer_upgrade import __version__

if TYPE_CHECKING:
    import argparse

    from trainer_upgrade.project.index import Project

__all__ = ["TrainerUpgradePlugin"]


class TrainerUpgradePlugin:
    """Registered with flake8 under the prefix ``TRU``."""

    name = "trainer-upgrade"
    version = __version__

    target: ClassVar[str] = "relight"
    # Shared by the files of a run, so that a base class is read once.
    _projects: ClassVar[dict[str, Project]] = {}

    def __init__(self, tree: ast.Module, filename: str, lines: list[str]) -> None:
        """Take what flake8 has of a file: its syntax tree, its name, its lines with their ends."""
        self.tree = tree
        self.filename = filename
        self.lines = lines

    @staticmethod
    def add_options(parser: Any) -> None:
        """Add ``--trainer-upgrade-target``, also for configuration files."""
        parser.add_option(
            "--trainer-upgrade-target",
            default="relight",
            choices=["relight", "lightning"],
            parse_from_config=True,
            help="where the code is to run: relight (default) or lightning (2.x)",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take the options."""
        cls.target = options.trainer_upgrade_target

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Yield row, column (from 0), text that begins with the code, and the plugin's type."""
        if not self.lines:
            return
        from trainer_upgrade.catalogue.entry import Target
        from trainer_upgrade.project.index import Project, absolute
        from trainer_upgrade.project.module import Module

        project = self._projects.get(self.target)
        if project is None:
            project = self._projects[self.target] = Project(target=Target(self.target))
        path = absolute(Path("stdin.py" if self.filename in ("stdin", "-") else self.filename))
        module = Module.parsed(path, project.module(path).name, "".join(self.lines), self.tree)
        project.add(module)
        try:
            if not project.relevant(path):
                module.release()
                return
        except OSError:
            return
        from trainer_upgrade.engine import check_file
        from trainer_upgrade.project.context import FileContext

        for finding in check_file(FileContext(module, project, fixing=False)):
            yield finding.start.row, finding.start.column - 1, f"{finding.code} {finding.message}", type(self)

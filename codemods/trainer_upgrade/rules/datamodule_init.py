"""Data modules whose ``__init__`` does not call the base's, which sets what the Trainer reads.

Before::

    class Data(pl.LightningDataModule):
        def __init__(self, root):
            self.root = root

After::

    class Data(pl.LightningDataModule):
        def __init__(self, root):
            super().__init__()
            self.root = root
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import BodyEdits
from trainer_upgrade.rules.support.reading import inner_nodes, self_name

__all__ = ["DataModuleInit"]


@rule("datamodule-init")
class DataModuleInit:
    """``super().__init__()`` in data modules."""

    @on(ast.ClassDef)
    def check(self, node: ast.ClassDef, file: FileContext) -> Iterator[Finding]:
        """Look at the ``__init__`` of a class."""
        info = file.class_info(node)
        init = info.methods.get("__init__")
        if info.kind != "LightningDataModule" or init is None or not info.known or init not in node.body:
            return
        if any(isinstance(each, ast.Attribute) and each.attr == "__init__" for each in inner_nodes(init)):
            return
        if len(node.bases) != 1 or self_name(init) is None:
            return
        # A base of the project may want arguments.
        if any("__init__" in each.methods for each in info.ancestors()[1:]):
            return
        entry = catalogue.hook("LightningDataModule", "__init__") or "TRU240"
        body = BodyEdits(file, init)
        body.head.append("super().__init__()")
        try:
            fix: Fix | None = Fix(Applicability.SAFE, "call it", tuple(body.edits()))
        except ValueError:
            fix = None
        message = (
            f"`{info.name}.__init__` does not call `super().__init__()`, which sets what the Trainer reads"
        )
        yield file.finding(entry, init, message, fix, silent=False)

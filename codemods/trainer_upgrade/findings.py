"""What the linter says and what the codemod does about it: findings, fixes and edits.

A finding has a code, a place and a message, and at most one fix. A fix is a set of edits of the file's
text plus the imports they need; the engine applies fixes that do not touch each other in one pass and
runs the rules again for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from trainer_upgrade.catalogue.entry import Applicability

__all__ = ["Edit", "Finding", "Fix", "ImportRequest", "Location", "Severity"]


class Severity(str, Enum):
    """How bad a finding is with the Lightning that the project installs.

    ``ERROR``: what is installed has it no more. ``WARNING``: it works there, a later release takes it away
    or changes it.
    """

    ERROR = "error"
    WARNING = "warning"

    def __str__(self) -> str:  # noqa: D105
        return self.value


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file: row from 1, column from 1, in characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters ``start`` (inclusive) to ``end`` (exclusive) of a file's text by ``content``."""

    start: int
    end: int
    content: str


@dataclass(frozen=True, slots=True, order=True)
class ImportRequest:
    """A name that an edit uses: ``from module import name [as asname]``, or ``import module`` without a name.

    The engine adds it once, beside the imports that are there, unless the name is bound already.
    """

    module: str
    name: str | None = None
    asname: str | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """How a finding is put right.

    Attributes:
        applicability: Whether behaviour is kept (safe) or a person should look (unsafe).
        message: What the fix does, in one line.
        edits: The changes, none of which overlap.
        imports: Names that the new text uses.
        unimports: Local names whose import may go if nothing else uses them.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    imports: tuple[ImportRequest, ...] = ()
    unimports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to do in one place.

    Attributes:
        code: The catalogue's code.
        message: What is wrong and what to do, in one line.
        path: The file.
        start: Where it begins.
        end: Where it ends (exclusive).
        fix: How to put it right, if a machine can.
        silent: The code goes on without an error on the target, meaning something else.
        consequence: What the target does then; empty unless ``silent``.
        removed_in: The release that took it away, where one did.
        severity: How bad it is for the Lightning that the project installs.
        cell: In a notebook, the cell (from 1, among all) that the rows count in; else ``None``.
    """

    code: str
    message: str
    path: Path
    start: Location
    end: Location
    fix: Fix | None = None
    silent: bool = False
    consequence: str = ""
    removed_in: str | None = None
    severity: Severity = Severity.WARNING
    cell: int | None = None

    @property
    def text(self) -> str:
        """The message as every door shows it: with the consequence where no error will tell."""
        return f"{self.message} [silent: {self.consequence}]" if self.silent else self.message

    @property
    def applicability(self) -> Applicability:
        """How sure the fix is; ``MANUAL`` when there is none."""
        return self.fix.applicability if self.fix else Applicability.MANUAL

"""One file that is not a Python module, as its checkers see it."""

from __future__ import annotations

from pathlib import Path

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.consequences import GENERAL
from trainer_upgrade.catalogue.consequences import consequence as consequence_of
from trainer_upgrade.catalogue.entry import Entry, Target
from trainer_upgrade.findings import Finding, Fix, Location
from trainer_upgrade.project.index import Project
from trainer_upgrade.sources.kinds import Kind
from trainer_upgrade.sources.text import LineIndex, SourceText

__all__ = ["BrokenDocumentError", "Document", "decode_document"]

_BOM = b"\xef\xbb\xbf"


class BrokenDocumentError(ValueError):
    """A file is not what its name says.

    Attributes:
        reason: What is wrong with it.
        offset: Where, in characters.
    """

    def __init__(self, reason: str, offset: int = 0) -> None:
        """Say what is wrong where."""
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


def decode_document(data: bytes) -> SourceText:
    """Decode a file that declares no encoding: UTF-8, with or without a byte order mark.

    Raises:
        UnicodeDecodeError: It is something else.
    """
    bom = data.startswith(_BOM)
    return SourceText((data[len(_BOM) :] if bom else data).decode("utf-8"), "utf-8", bom)


class Document:
    """A file to look at.

    Attributes:
        path: Where it lies.
        shown: How findings name it.
        kind: What its name says it is.
        project: The project it belongs to.
        target: Where the code is to run.
        source: Its text and how it was stored.
        text: Its text.
        lines: Places in the text.
        options: What the user asked for.
        fixing: Whether fixes are wanted.
        after_upgrade: Whether the project's Python files have been upgraded already (in memory).
    """

    def __init__(
        self,
        path: Path,
        kind: Kind,
        source: SourceText,
        project: Project,
        *,
        shown: Path | None = None,
        options: frozenset[str] = frozenset(),
        fixing: bool = True,
        after_upgrade: bool = False,
    ) -> None:
        """Look at a text of a project."""
        self.path = path
        self.shown = shown if shown is not None else path
        self.kind = kind
        self.project = project
        self.target: Target = project.target
        if after_upgrade and kind in (Kind.CONFIG, Kind.SCRIPT) and self._stays():
            self.target = Target.LIGHTNING
        self.source = source
        self.text = source.text
        self.lines = LineIndex(source.text)
        self.options = options
        self.fixing = fixing
        self.after_upgrade = after_upgrade

    def _stays(self) -> bool:
        """Whether the code has stayed on Lightning, so that what it reads has to stay there, too."""
        from trainer_upgrade.documents.pins import needs_of

        if self.project.target is Target.LIGHTNING:
            return False
        needs = needs_of(self.project, after=True)
        return needs.lightning and not needs.imports("relight")

    @property
    def newline(self) -> str:
        """The file's line end."""
        position = self.text.find("\n")
        return "\r\n" if position > 0 and self.text[position - 1] == "\r" else "\n"

    def finding(
        self,
        entry_or_code: Entry | str,
        span: tuple[int, int],
        message: str | None = None,
        fix: Fix | None = None,
        *,
        silent: bool | None = None,
    ) -> Finding:
        """Make a finding at a place of the text (begin and end, in characters)."""
        entry = entry_or_code if isinstance(entry_or_code, Entry) else None
        code = entry.code if entry is not None else str(entry_or_code)
        if entry is None:
            entry = next(iter(catalogue.by_code(code)), None)
        if message is None:
            message = entry.advice if entry is not None else code
        if silent is None:
            silent = entry.silent if entry is not None else False
        start, end = span
        return Finding(
            code=code,
            message=message,
            path=self.shown,
            start=Location(*self.lines.place(start)),
            end=Location(*self.lines.place(max(end, start))),
            fix=fix if self.fixing else None,
            silent=silent,
            consequence=(consequence_of(entry) if entry is not None else GENERAL) if silent else "",
            removed_in=entry.removed_in if entry is not None else None,
        )

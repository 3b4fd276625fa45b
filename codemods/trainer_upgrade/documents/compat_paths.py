"""``--compat-only`` in configurations: the class paths that hydra and LightningCLI import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.engine import FileResult
from trainer_upgrade.findings import Edit, Finding, Fix, Location
from trainer_upgrade.rules.compat_only import renamed
from trainer_upgrade.sources.text import LineIndex, apply_edits, decode

__all__ = ["configuration"]

_PATH = re.compile(
    r"""(?:_target_|class_path)["']?\s*[:=]\s*["']?(?P<path>(?:pytorch_lightning|lightning\.pytorch)(?:\.\w+)+)"""
)


def configuration(path: Path, shown: Path, *, fixing: bool) -> FileResult:
    """Look at one configuration; with ``fixing`` its result has the new contents.

    Raises:
        OSError: The file cannot be read.
        UnicodeDecodeError: It is no text.
    """
    data = path.read_bytes()
    result = FileResult(shown, before=data, after=data)
    if b"pytorch" not in data:
        return result
    source = decode(data)
    found = list(_findings(source.text, shown))
    if not fixing:
        result.findings = found
        return result
    edits = [edit for each in found if each.fix is not None for edit in each.fix.edits]
    if edits:
        result.after = source.encode(apply_edits(source.text, edits))
        result.fixed = found
    return result


def _findings(text: str, shown: Path) -> Iterator[Finding]:
    lines = LineIndex(text)
    for match in _PATH.finditer(text):
        old = match["path"]
        new = renamed(old)
        if new is None:
            continue
        start, end = match.span("path")
        fix = Fix(Applicability.SAFE, f"say {new}", (Edit(start, end, new),))
        places = Location(*lines.place(start)), Location(*lines.place(end))
        yield Finding("TRU921", f"`{old}` is `{new}` on compat", shown, *places, fix)

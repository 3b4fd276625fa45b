"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["FileChangedError", "write_atomically"]


class FileChangedError(OSError):
    """The file is not what it was when it was read."""


def write_atomically(path: Path, data: bytes, expected: bytes | None = None) -> None:
    """Put new contents in a file's place: a temporary file beside it is written first, then renamed.

    A link stays a link (its target is replaced); permissions stay as they are.

    Args:
        path: The file.
        data: Its new contents.
        expected: What it must hold now.

    Raises:
        FileChangedError: It holds something else than ``expected``.
        OSError: It, or its directory, cannot be written.
    """
    real = Path(os.path.realpath(path))
    status = real.stat()
    # os.replace asks only for the directory's permission, and root for none.
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
        raise PermissionError(13, "the file is read-only", str(path))
    if expected is not None and real.read_bytes() != expected:
        raise FileChangedError(0, "the file was changed by someone else meanwhile", str(path))
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".tmp", dir=real.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, stat.S_IMODE(status.st_mode))
        os.replace(name, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise

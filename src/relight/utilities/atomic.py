"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

__all__ = ["link_atomically", "local_path", "write_atomically"]

# Not made from the file's own name, which may be as long as the system allows.
_PREFIX, _SUFFIX = ".relight-", ".tmp"
_ABANDONED_AFTER = 24 * 3600.0  # seconds, where nobody can tell whether the writer lives


def local_path(path: str | os.PathLike[str]) -> str | None:
    """Return the path on the local file system, also of a ``file://`` URL; ``None`` for another URL."""
    text = os.fspath(path)
    if "://" not in text:
        return text
    if not text.startswith(("file://", "local://")):
        return None
    from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped,unused-ignore]

    return str(LocalFileSystem._strip_protocol(text))


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], None]) -> None:
    """Let ``write`` fill a file, and give it its name only when all of it is on the disk.

    The content goes to a temporary file in the same directory, which is synchronized and renamed, and so is
    the directory: a process that is killed, or a machine that loses power, at any moment leaves what was
    there before, or the new file, never a part of one. A temporary file that a killed process left is removed
    the next time something is written there. A symbolic link at ``path`` is replaced; what it pointed to
    stays.

    Args:
        path: A local path; directories are made as needed.
        write: Is given the open file.

    Raises:
        OSError: If the file cannot be written, e.g. since the disk is full: naming the file and the room
            there is. The previous file is untouched.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target.parent)
    file, temporary = _temporary(target.parent)
    watched = _Watched(file)
    try:
        with file:
            try:
                write(watched)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            except BaseException as error:
                # torch hides an error of the file behind one of its own
                cause = watched.error if watched.error is not None else error
                if isinstance(cause, OSError):
                    raise _explained(cause, target) from error
                raise
            # Renamed while still locked: nobody takes it for abandoned.
            _replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(target.parent)


def link_atomically(target: str, link_path: str) -> None:
    """Make ``link_path`` a relative symbolic link to ``target`` in place of what is there.

    Raises:
        OSError: Where an ordinary user may create no links (Windows).
    """
    directory = os.path.dirname(link_path)
    temporary = os.path.join(directory, f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    os.symlink(os.path.relpath(target, directory), temporary)
    try:
        if os.path.isdir(link_path) and not os.path.islink(link_path):
            shutil.rmtree(link_path)
        os.replace(temporary, link_path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(Path(directory))


class _Watched:
    """A file that remembers the error that a writer met."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _temporary(directory: Path) -> tuple[IO[bytes], str]:
    """Open a new file that is locked as long as it is open."""
    while True:
        path = str(directory / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
        # As `open` makes files, so that the user's umask decides who may read it.
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")
        _lock(file)
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file, path
        file.close()  # someone took it for abandoned before it was locked


def _lock(file: IO[bytes]) -> bool | None:
    """Lock a file; return whether nobody else has, ``None`` where the system cannot tell."""
    try:
        import fcntl
    except ImportError:  # Windows, where an open file cannot be removed anyway
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def _remove_abandoned(directory: Path) -> None:
    """Remove the temporary files of writers that are no more."""
    try:
        names = [
            name for name in os.listdir(directory) if name.startswith(_PREFIX) and name.endswith(_SUFFIX)
        ]
    except OSError:
        return
    for name in names:
        path = directory / name
        with contextlib.suppress(OSError):
            unlocked: bool | None = None
            if not path.is_symlink():
                with open(path, "r+b") as file:
                    if unlocked := _lock(file):
                        path.unlink()
            if unlocked is None and time.time() - path.lstat().st_mtime > _ABANDONED_AFTER:
                path.unlink()


def _replace(temporary: str, target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)  # a checkpoint of several files
    os.replace(temporary, target)


def _sync_directory(directory: Path) -> None:
    """Have the system write down the names in a directory."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):  # some file systems cannot
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _explained(error: OSError, target: Path) -> OSError:
    """Return the error with what a user needs to know."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        with contextlib.suppress(OSError):
            free = shutil.disk_usage(target.parent).free
            reason += f" ({free / 2**20:.0f} MiB free there)"
    what = "the previous file is as it was" if target.exists() else "no file was left behind"
    return type(error)(error.errno, f"{reason}: could not write; {what}", str(target))

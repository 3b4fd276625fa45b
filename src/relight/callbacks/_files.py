"""What the checkpoint callbacks and loggers need of file systems, local or remote (fsspec)."""

from __future__ import annotations

import os
import shutil
from typing import Any


def filesystem(path: str | os.PathLike[str]) -> Any:
    """Return the fsspec file system that ``path`` (a path or a URL) lies on."""
    # not at the top: `import relight.callbacks` is to be quick
    from fsspec.core import url_to_fs  # type: ignore[import-untyped,unused-ignore]

    return url_to_fs(str(path))[0]


def is_local(path: str | os.PathLike[str]) -> bool:
    """Tell whether ``path`` is on the local file system."""
    from fsspec.utils import get_protocol  # type: ignore[import-untyped,unused-ignore]

    return bool(get_protocol(str(path)) == "file")


def link(target: str, link_path: str) -> None:
    """Make ``link_path`` a relative symbolic link to ``target``, replacing what is there.

    Copies the file where the system lets an ordinary user create no links (Windows).
    """
    if os.path.abspath(target) == os.path.abspath(link_path):
        return
    if os.path.islink(link_path) or os.path.isfile(link_path):
        os.remove(link_path)
    elif os.path.isdir(link_path):
        shutil.rmtree(link_path)
    try:
        os.symlink(os.path.relpath(target, os.path.dirname(link_path)), link_path)
    except OSError:
        shutil.copy(target, link_path)

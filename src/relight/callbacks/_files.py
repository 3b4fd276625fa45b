"""What the checkpoint callbacks and loggers need of file systems, local or remote (fsspec)."""

from __future__ import annotations

import os
import shutil
from typing import Any

from relight.utilities.atomic import link_atomically, write_atomically


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
    try:
        link_atomically(target, link_path)
    except OSError:
        if os.path.isdir(target):
            shutil.rmtree(link_path, ignore_errors=True)
            shutil.copytree(target, link_path)
        else:
            with open(target, "rb") as source:
                write_atomically(link_path, lambda file: shutil.copyfileobj(source, file))

"""``python -m relight.checkpoint upgrade PATH…``: rewrite old checkpoints in today's form, keeping a copy."""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["main", "upgrade_file"]

BACKUP = ".bak"


def upgrade_file(path: str | os.PathLike[str], map_location: Any = None, trust: bool = False) -> str | None:
    """Rewrite a checkpoint in today's form, whole or not at all; the old file stays beside it as ``.bak``.

    Args:
        path: A file of any release since 0.7.
        map_location: As for ``torch.load``.
        trust: Load whatever the file holds, which runs its code.

    Returns:
        The release it was saved by, ``None`` if it was in today's form already.

    Raises:
        CheckpointLoadError: If it holds classes that need trust.
        FileExistsError: If there is a backup already that differs from the file.
    """
    from relight import checkpoint
    from relight.old_checkpoints.migrations import version_of

    raw = checkpoint.load_raw(path, map_location, weights_only=False if trust else None)
    old = version_of(raw)
    if old.major >= 2:
        return None
    migrated = checkpoint.migrate(raw)
    _keep(pathlib.Path(path))
    checkpoint.save_atomically(_storable(migrated), path)
    return str(old)


def _keep(path: pathlib.Path) -> None:
    backup = path.with_name(path.name + BACKUP)
    if backup.exists():
        if backup.read_bytes() != path.read_bytes():
            raise FileExistsError(f"{backup} is another file: move it away first")
        return
    partial = backup.with_name(backup.name + ".part")
    shutil.copy2(path, partial)
    os.replace(partial, backup)


def _storable(data: Any) -> Any:
    """Return data that loads without trust everywhere: paths as texts, namespaces as dicts."""
    if isinstance(data, argparse.Namespace):
        return {key: _storable(value) for key, value in vars(data).items()}
    if isinstance(data, pathlib.PurePath):
        return str(data)
    if type(data).__module__.startswith("omegaconf"):
        from omegaconf import OmegaConf

        return OmegaConf.to_container(data)
    if type(data) is dict:
        return {key: _storable(value) for key, value in data.items()}
    if type(data) in (list, tuple):
        return type(data)(_storable(item) for item in data)
    return data


def _files(paths: Sequence[str], extension: str) -> Iterator[pathlib.Path]:
    for given in map(pathlib.Path, paths):
        if given.is_dir():
            yield from sorted(path for path in given.rglob(f"*{extension}") if path.is_file())
        else:
            yield given


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0 if every file is in today's form, else 1."""
    parser = argparse.ArgumentParser("python -m relight.checkpoint", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    upgrade = commands.add_parser("upgrade", help="rewrite old checkpoints in place, keeping a copy (.bak)")
    upgrade.add_argument("paths", nargs="+", metavar="PATH", help="files, or directories that are searched")
    upgrade.add_argument("--extension", default=".ckpt", help="of the files in directories (default: .ckpt)")
    upgrade.add_argument("--map-to-cpu", action="store_true", help="move all tensors to the CPU")
    upgrade.add_argument("--trust", action="store_true", help="load whatever files hold, running their code")
    options = parser.parse_args(arguments)
    return _upgrade_all(
        list(_files(options.paths, options.extension)), "cpu" if options.map_to_cpu else None, options.trust
    )


def _upgrade_all(files: list[pathlib.Path], map_location: Any, trust: bool) -> int:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console, errors = (
        Console(highlight=False, soft_wrap=True),
        Console(stderr=True, highlight=False, soft_wrap=True),
    )
    counts = {"upgraded": 0, "up to date": 0, "failed": 0}
    with Progress(console=errors, transient=True) as progress:
        for path in progress.track(files, description="Upgrading"):
            try:
                old = upgrade_file(path, map_location, trust)
            except Exception as error:  # the next file may be fine
                counts["failed"] += 1
                errors.print(f"[red]{escape(str(path))}: {escape(str(error) or type(error).__name__)}")
                continue
            counts["up to date" if old is None else "upgraded"] += 1
            if old is not None:
                console.print(f"{escape(str(path))}: from {old if old != '0.0' else 'an unknown release'}")
    console.print(", ".join(f"{count} {what}" for what, count in counts.items() if count) or "no files")
    return 1 if counts["failed"] or not files else 0


if __name__ == "__main__":
    sys.exit(main())

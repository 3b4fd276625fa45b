"""The base of profilers."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lightning_utilities.core import rank_zero

from relight.callbacks._files import filesystem

_UNSAFE = re.compile(r"[\\/:*?\"<>|\n\r\t_]+")


class Profiler(ABC):
    """Measures actions, which have names; the Trainer starts and stops one around every hook and step.

    Actions of the same name are counted together.

    Args:
        dirpath: directory for the report, by default the logger's.
        filename: file for the report, without suffix; without one it is shown on rank 0.
    """

    def __init__(self, dirpath: str | os.PathLike[str] | None = None, filename: str | None = None) -> None:
        self.dirpath = dirpath
        self.filename = filename
        self._stage: str | None = None
        self._lightning_module: Any = None  # a weak proxy, set when an entry point begins
        self._local_rank: int | None = None
        self._output_file: Any = None
        self._write_stream: Callable[[str], Any] | None = None

    @abstractmethod
    def start(self, action_name: str) -> None:
        """Begin to measure an action."""

    @abstractmethod
    def stop(self, action_name: str) -> None:
        """End to measure an action."""

    def summary(self) -> str:
        """Return the report."""
        return ""

    @contextmanager
    def profile(self, action_name: str) -> Iterator[str]:
        """Measure what is done within ``with``."""
        try:
            self.start(action_name)
            yield action_name
        finally:
            self.stop(action_name)

    def describe(self) -> None:
        """Write the report to the file, or show it."""
        self._prepare_streams()
        text = self.summary()
        if text and self._write_stream is not None:
            self._write_stream(text)
        if self._output_file is not None:
            self._output_file.flush()
        self.teardown(stage=self._stage)

    def setup(self, stage: str, local_rank: int | None = None, log_dir: str | None = None) -> None:
        """Called when an entry point begins."""
        self._stage = stage
        self._local_rank = local_rank
        self.dirpath = self.dirpath or log_dir

    def teardown(self, stage: str | None) -> None:
        """Called when an entry point ends; closes the file."""
        self._write_stream = None
        if self._output_file is not None:
            self._output_file.close()
            self._output_file = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the module and the open file, which a copy cannot share."""
        return {**self.__dict__, "_lightning_module": None, "_output_file": None, "_write_stream": None}

    def __del__(self) -> None:
        """Close the file."""
        if getattr(self, "_output_file", None) is not None:
            self.teardown(stage=self._stage)

    @property
    def local_rank(self) -> int:
        """Rank of this process on its node."""
        return self._local_rank or 0

    def _prepare_filename(self, action_name: str | None = None, extension: str = ".txt") -> str:
        """Return ``<stage>-<filename>-<rank>-<action><extension>`` of what there is, safe on all systems."""
        rank = None if self._local_rank is None else str(self._local_rank)
        parts = [self._stage, self.filename or None, rank, action_name]
        name = _UNSAFE.sub("_", "-".join(part for part in parts if part is not None)).strip()
        return (name or "profile") + extension

    def _prepare_streams(self) -> None:
        if self._write_stream is not None:
            return
        if self.filename and self.dirpath:
            path = os.path.join(self.dirpath, self._prepare_filename())
            fs = filesystem(path)
            fs.makedirs(str(self.dirpath), exist_ok=True)
            self._output_file = fs.open(path, "a")
            self._write_stream = self._output_file.write
        elif self.local_rank == 0:
            self._write_stream = rank_zero.log.info

    def _title(self) -> str:
        return f"{self._stage.upper()} Profiler Report" if self._stage is not None else "Profiler Report"

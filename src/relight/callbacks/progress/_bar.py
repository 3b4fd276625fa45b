"""One line of progress on a terminal; one line per finished bar where there is none."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from torch import Tensor

#: Seconds between two drawings: the eye sees no more, and drawing is what costs.
INTERVAL = 0.1
_WIDTH = 10


class Bar:
    """A progress bar with the part of tqdm's interface that the callbacks and their users need.

    Args:
        desc: text in front.
        total: number of items, None if unknown.
        position: number of lines below the cursor's at which to draw.
        leave: keep the line when the bar is closed.
        disable: draw nothing.
        file: where to draw, by default ``sys.stdout``. If it is no terminal, one line is written when the bar
            is closed or reset after some progress, and nothing before.
    """

    def __init__(
        self,
        desc: str = "",
        total: float | None = None,
        position: int = 0,
        leave: bool = True,
        disable: bool = False,
        file: TextIO | None = None,
    ) -> None:
        self.desc = desc
        self.total = total
        self.position = position
        self.leave = leave
        self.disable = disable
        self.initial = 0
        self.n: float = 0
        self.postfix = ""
        self._file = file if file is not None else sys.stdout
        self._live = bool(getattr(self._file, "isatty", lambda: False)())
        self._start = time.monotonic()
        self._drawn_at = 0.0
        self._pending = False

    def due(self, n: float) -> bool:
        """Note that ``n`` items are done; tell whether it is time to draw."""
        self.n = n
        if self.disable or not self._live:
            self._pending = True
            return False
        return n == self.total or time.monotonic() - self._drawn_at >= INTERVAL

    def update(self, n: float = 1) -> None:
        """Count ``n`` more items, and draw if it is time to."""
        if self.due(self.n + n):
            self.refresh()

    def reset(self, total: float | None = None) -> None:
        """Start again from 0."""
        if self.leave:
            self.flush_line()
        self.n, self._start, self._pending, self.postfix = 0, time.monotonic(), False, ""
        if total is not None:
            self.total = total

    def set_description(self, desc: str | None = None, refresh: bool = True) -> None:
        """Set the text in front."""
        self.desc = desc or ""
        if refresh:
            self.refresh()

    def set_postfix(self, ordered_dict: Mapping[str, Any] | None = None, refresh: bool = True) -> None:
        """Set the ``name=value`` pairs at the end."""
        pairs = ordered_dict or {}
        self.postfix = ", ".join(f"{name}={_number(value)}" for name, value in pairs.items())
        if refresh:
            self.refresh()

    def refresh(self) -> None:
        """Draw now, if there is a terminal to draw on."""
        if not self.disable and self._live:
            self._drawn_at = time.monotonic()
            self._draw(self.text()[: max(shutil.get_terminal_size().columns - 1, 20)])

    def flush_line(self) -> None:
        """Write the state as a line of its own where there is no terminal and something is new."""
        if self._pending and not self.disable and not self._live:
            self._pending = False
            self.write(self.text())

    def close(self) -> None:
        """Draw for the last time."""
        if self.disable:
            return
        if not self._live:
            if self.leave:
                self.flush_line()
        elif not self.leave:
            self._draw("")
        elif self.position == 0:
            self._draw(self.text())
            self._file.write("\n")
            self._file.flush()
        self.disable = True

    def write(self, text: str, end: str = "\n", file: TextIO | None = None) -> None:
        """Print ``text`` above the bar, or to another ``file``, which may show on the same terminal."""
        if self._live:
            self._file.write("\r\x1b[K")
            self._file.flush()
        file = file if file is not None else self._file
        file.write(f"{text}{end}")
        file.flush()
        if self._live:
            self.refresh()

    def text(self) -> str:
        """Return the line, such as ``Epoch 0:  50%|█████     | 4/8 [00:01<00:01, 3.9it/s, loss=0.7]``."""
        elapsed = time.monotonic() - self._start
        rate = self.n / elapsed if elapsed > 0 and self.n else 0.0
        rest = f"{rate:.2f}it/s" if rate else "?it/s"
        if self.postfix:
            rest += f", {self.postfix}"
        desc = f"{self.desc}: " if self.desc else ""
        if not self.total:
            return f"{desc}{self.n:g}it [{_clock(elapsed)}, {rest}]"
        done = min(self.n / self.total, 1.0)
        left = _clock((self.total - self.n) / rate) if rate else "?"
        bar = ("█" * int(done * _WIDTH)).ljust(_WIDTH)
        count = f"{self.n:g}/{self.total:g}"
        return f"{desc}{done:4.0%}|{bar}| {count} [{_clock(elapsed)}<{left}, {rest}]"

    def _draw(self, text: str) -> None:
        down, up = "\n" * self.position, "\x1b[A" * self.position
        self._file.write(f"{down}\r{text}\x1b[K\r{up}" if self.position else f"\r{text}\x1b[K")
        self._file.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def _number(value: Any) -> str:
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.3g}"
    # As wide as the last one, so that the line does not jump: 1 → 1.000
    if len(text) < 5 and math.isfinite(value) and "e" not in text:
        text = (text if "." in text else f"{text}.").ljust(5, "0")
    return text

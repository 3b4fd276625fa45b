"""Signals: noted when they come, acted on between two batches, when the state is whole.

``SIGTERM`` ends the run, and so does Ctrl-C (``SIGINT``): pressed once, after the batch at hand; pressed
again, at once. On a SLURM cluster the signal that announces the end of the job's time (``SIGUSR1`` unless the
environment says otherwise) saves ``hpc_ckpt_N.ckpt`` and puts the job back into the queue; the next run goes
on from that file.

One process acts at once. Several have to act after the same batch, so they agree every few seconds: a
collective every batch would cost more than the batch of a small model.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from relight.utilities.exceptions import SIGTERMException

if TYPE_CHECKING:
    from relight.trainer.trainer import Trainer

__all__ = ["Signals", "is_slurm_job", "last_hpc_file"]

_log = logging.getLogger(__name__)
#: How many seconds several processes let pass between two agreements, about.
AGREE_EVERY = 5.0
_MOST_BATCHES = 1000


class Signals:
    """What was signalled to the processes of a run.

    Attributes:
        term: The run is to end: all processes know it.
        polls: Whether :meth:`poll` has anything to do between batches.
    """

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.term = False
        self.polls = False
        self._wants_term = self._wants_requeue = self._wants_int = False
        self._interrupted = False  # Ctrl-C is the reason of the end
        self._together = False
        self._batches = 0
        self._interval = 1
        self._since = 0.0

    @property
    def term_here(self) -> bool:
        """Whether this process was told to end; outside of training each ends for itself."""
        return self._wants_term or self._wants_int or self.term

    def end(self) -> BaseException:
        """Return the exception that ends the run."""
        return KeyboardInterrupt() if self._interrupted or self._wants_int else SIGTERMException()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note signals within the ``with`` block; afterwards the handlers are those of before."""
        self.term = self._wants_term = self._wants_requeue = self._wants_int = self._interrupted = False
        requeue = _requeue_signal(self.trainer)
        self._together = self.trainer.world_size > 1
        self.polls = self._together or requeue is not None
        self._batches, self._interval, self._since = 0, 1, time.monotonic()
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may set handlers; it may agree with others, still
            return
        before = {signal.SIGTERM: signal.getsignal(signal.SIGTERM)}
        signal.signal(signal.SIGTERM, self._on_term(before[signal.SIGTERM]))
        if requeue is not None and signal.getsignal(requeue) in (
            None,
            signal.SIG_DFL,
        ):  # else it is the user's
            before[requeue] = signal.getsignal(requeue)
            signal.signal(requeue, self._on_requeue)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is the user's
            before[signal.SIGINT] = signal.default_int_handler
            signal.signal(signal.SIGINT, self._on_int)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def _on_term(self, before: Any) -> Callable[[int, Any], None]:
        def notice(number: int, frame: Any) -> None:
            if not self._wants_term:
                self.trainer._backend.signal_children(number)
            self._wants_term = True
            if not self._together:
                self.term = True
            if callable(before):
                before(number, frame)

        return notice

    def _on_int(self, number: int, frame: Any) -> None:
        if self._wants_int:
            signal.default_int_handler(number, frame)
        self._wants_int = True
        if not self._together:
            self.term = self._interrupted = True
        when = f"within {AGREE_EVERY:.0f} seconds or so" if self._together else "after this batch"
        if self.trainer.is_global_zero:
            _log.warning("Ctrl-C: the run ends %s. Press it again to end at once.", when)

    def _on_requeue(self, number: int, frame: Any) -> None:
        self._wants_requeue = True

    # Between batches

    def poll(self) -> None:
        """Do what was asked for, agreed with the other processes; call it after each training batch."""
        if self._together:
            self._batches += 1
            if self._batches >= self._interval:
                self._agree()
        elif self._wants_requeue:
            self._requeue()

    def poll_alone(self) -> None:
        """The same after a batch of evaluation, whose number may differ between processes."""
        if self._wants_requeue and not self._together:
            self._requeue()

    def _agree(self) -> None:
        now = time.monotonic()
        a_batch = (now - self._since) / self._batches
        device = self.trainer._backend.device
        wants = float(self._wants_term), float(self._wants_requeue), float(self._wants_int)
        mine = torch.tensor([*wants, a_batch], device=device)
        term, requeue, interrupt, slowest = self.trainer._backend.reduce(mine, "max").tolist()
        self._batches, self._since = 0, now
        self._interval = min(_MOST_BATCHES, max(1, int(AGREE_EVERY / max(slowest, 1e-6))))
        if requeue:
            self._requeue()
        self._interrupted = bool(interrupt) and not term
        self.term = self.term or bool(term or interrupt)

    def _requeue(self) -> None:
        """Save, and have SLURM start the job again."""
        self._wants_requeue = False
        trainer = self.trainer
        for logger in trainer.loggers:
            logger.finalize("finished")
        last = last_hpc_file(trainer.default_root_dir)
        path = os.path.join(trainer.default_root_dir, f"hpc_ckpt_{(last[0] if last else 0) + 1}.ckpt")
        trainer.save_checkpoint(trainer.strategy.broadcast(path))
        if trainer.is_global_zero:
            _requeue_job()


def _requeue_signal(trainer: Trainer) -> signal.Signals | None:
    """Return the signal on which a job of SLURM is put back into the queue, ``None`` elsewhere."""
    from lightning_fabric.plugins.environments.slurm import SLURMEnvironment

    environment = trainer._backend.cluster_environment
    if not isinstance(environment, SLURMEnvironment) or not environment.auto_requeue:
        return None
    return environment.requeue_signal


def _requeue_job() -> None:
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    job = f"{array}_{task}" if array is not None else os.environ.get("SLURM_JOB_ID", "")
    if not re.fullmatch(r"[0-9_-]+", job):
        _log.warning("SLURM gave no number of the job (SLURM_JOB_ID=%r): it cannot be requeued", job)
        return
    try:
        result = subprocess.call(["scontrol", "requeue", job])
    except FileNotFoundError:  # it may be a function of the shell
        result = subprocess.call(f"scontrol requeue {job}", shell=True)
    if result:
        _log.warning("`scontrol requeue %s` failed with code %s", job, result)
    else:
        _log.info("The SLURM job %s is in the queue again", job)


def is_slurm_job() -> bool:
    """Whether SLURM started this process for its own work, not for an interactive session."""
    from lightning_fabric.plugins.environments.slurm import SLURMEnvironment

    return SLURMEnvironment.detect()


def last_hpc_file(directory: str) -> tuple[int, str] | None:
    """Return number and path of the newest ``hpc_ckpt_N.ckpt`` in ``directory``, ``None`` without one."""
    folder = Path(directory)
    found = [
        (int(match[1]), str(path))
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (match := re.fullmatch(r"hpc_ckpt_(\d+)\.ckpt", path.name))
    ]
    return max(found) if found else None

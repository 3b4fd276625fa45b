"""``trainer-upgrade --verify "python train.py --fast_dev_run 1"``.

The project in the current directory is copied twice. In the first copy the command runs the code as it
is, served by relight.compat; the second is upgraded first. Both write down what they compute (see
``recorder``), and the two are compared bit for bit. ``--verify-python`` adds a third run of the first
copy: on the real old release.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.errors import UsageError
from trainer_upgrade.verify import recorder
from trainer_upgrade.verify.compare import Record, compare, read, summary
from trainer_upgrade.verify.projects import copy_project

__all__ = ["Asked", "verify"]

_LINES = 15


@dataclass(frozen=True, slots=True)
class Asked:
    """What is verified.

    Attributes:
        command: What runs the program, as in a shell; it runs in the copy of the current directory.
        target: Where the upgraded code runs.
        unsafe: Whether unsafe fixes are made.
        seconds: How long each run may take.
        python: An interpreter with the old release, for a run on it.
    """

    command: str
    target: Target
    unsafe: bool = False
    seconds: float = 3600.0
    python: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its name, what it wrote down, and how it ended (``None``: its time was up)."""

    name: str
    records: list[Record]
    code: int | None
    output: str
    seconds: float

    @property
    def ended_well(self) -> bool:
        """Whether the program ended as programs should."""
        return self.code == 0


def verify(asked: Asked, root: Path, say: Callable[[str], None]) -> bool:
    """Run and compare; tells the user what happens, and returns whether all runs are equal.

    Raises:
        UsageError: The command is empty, its program is not there, or a file cannot be copied.
    """
    words = shlex.split(asked.command)
    if not words:
        raise UsageError("--verify wants a command, such as: --verify 'python train.py --fast_dev_run 1'")
    with tempfile.TemporaryDirectory(prefix="trainer-upgrade-") as directory:
        scratch = Path(directory).resolve()
        before, after = scratch / "before" / root.name, scratch / "after" / root.name
        try:
            linked = copy_project(root, before)
            copy_project(root, after)
        except OSError as error:
            raise UsageError(
                f"--verify: {error.filename or root} cannot be copied: {error.strerror}"
            ) from error
        for each in linked:
            say(f"large, so linked and not copied: {each.relative_to(root)}")
        changed = _upgrade(after, asked)
        say(f"upgraded a copy for {asked.target}: {changed} files changed")
        runs = [_run("the old code on relight.compat", words, before, scratch / "compat", asked, compat=True)]
        say(_said(runs[0]))
        if asked.python is not None:
            real = [asked.python, *words[1:]] if _is_python(words[0]) else words
            copy = scratch / "real" / root.name
            copy_project(root, copy)
            runs.append(_run("the old code on the real release", real, copy, scratch / "old", asked))
            say(_said(runs[-1]))
        runs.append(_run(f"the upgraded code on {asked.target}", words, after, scratch / "new", asked))
        say(_said(runs[-1]))
        return _judged(runs, say)


def _judged(runs: list[Run], say: Callable[[str], None]) -> bool:
    for run in runs:
        if not run.ended_well:
            why = "its time was up" if run.code is None else f"it ended with {run.code}"
            say(f"{run.name}: {why}; its last lines:")
            for line in run.output.rstrip().splitlines()[-_LINES:]:
                say(f"    {line}")
    new = runs[-1]
    if not all(run.ended_well for run in runs):
        say("not verified: a run failed")
        return False
    if not new.records:
        say("not verified: no Trainer ran, so there is nothing to compare")
        return False
    equal = True
    for run in runs[:-1]:
        found = compare(run.records, new.records)
        if found is None:
            say(f"equal to {run.name}: {summary(run.records)}")
        else:
            equal = False
            say(f"differs from {run.name}, first at {found}")
    say("verified: equal to the last bit" if equal else "not verified: the runs differ")
    return equal


def _said(run: Run) -> str:
    how = "" if run.ended_well else ", and failed"
    return f"ran {run.name}: {run.seconds:.1f} s{how}"


def _is_python(word: str) -> bool:
    return Path(word).name.removesuffix(".exe").rstrip("0123456789.") == "python"


def _upgrade(root: Path, asked: Asked) -> int:
    from trainer_upgrade.engine import Engine, Options
    from trainer_upgrade.project.discovery import discover
    from trainer_upgrade.project.index import Project
    from trainer_upgrade.sources.kinds import SUFFIXES

    found = discover([root], SUFFIXES)
    project = Project(found.files, asked.target, roots=found.roots)
    engine = Engine(project, Options(unsafe=asked.unsafe))
    return sum(engine.write(result) for result in engine.upgrade())


def _run(
    name: str, words: list[str], root: Path, scratch: Path, asked: Asked, *, compat: bool = False
) -> Run:
    scratch.mkdir(parents=True)
    shutil.copy(recorder.__file__, scratch / "sitecustomize.py")
    out = scratch / "records.jsonl"
    environment = {**os.environ, recorder.OUT: str(out), "RELIGHT_COMPAT": "ignore", "PYTHONHASHSEED": "0"}
    environment.pop(recorder.COMPAT, None)
    if compat:
        environment[recorder.COMPAT] = "1"
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(scratch), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    )
    program = words
    if words[0] in ("python", "python3") and importlib.util.find_spec("torch") is not None:
        program = [sys.executable, *words[1:]]  # the environment that the tool is in can run it
    if shutil.which(program[0], path=os.environ.get("PATH")) is None:
        raise UsageError(f"--verify: there is no program {program[0]}")
    begun = time.monotonic()
    with (scratch / "output").open("w+", encoding="utf-8", errors="replace") as output:
        try:
            done = subprocess.run(
                program,
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=asked.seconds,
                check=False,
            )
            code: int | None = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        output.seek(0)
        text = output.read()
    return Run(name, read(out), code, text, time.monotonic() - begun)

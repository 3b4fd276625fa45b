"""``python -m relight.compat``: run a script or a module as ``python`` would, on the core.

Only the imports differ: ``pytorch_lightning`` and ``lightning.pytorch`` come from compat. ``sys.argv``,
``sys.path[0]``, ``__main__``, exit codes and tracebacks are those of ``python script.py``.
"""

from __future__ import annotations

import importlib.machinery
import io
import os
import runpy
import signal
import sys
import types
from collections.abc import Sequence

from relight.compat._finder import install
from relight.compat._notices import mode
from relight.compat._release import release

__all__ = ["main"]

# The environment variable that tells child processes which script runs.
SCRIPT = "RELIGHT_COMPAT_SCRIPT"

USAGE = """\
usage: python -m relight.compat [-h] [--version] [--log FILE]
                                (-m MODULE | SCRIPT) [ARG ...]

Run code written for PyTorch Lightning 0.7 to 1.9 unchanged on relight: imports
of `pytorch_lightning` and `lightning.pytorch` are served by relight.compat.
Each legacy use warns once, with its code.

options:
  -h, --help   show this text and exit
  --version    show the version and exit
  --log FILE   append every legacy use to FILE, one JSON object a line, for
               `trainer-upgrade`
  -m MODULE    run a module, as `python -m MODULE` does

environment:
  RELIGHT_COMPAT=warn|error|summary|ignore
               what a legacy use does (default: warn once a place)
"""


class _UsageError(Exception):
    pass


def _parse(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        name, equals, value = option.partition("=")
        if name in {"-h", "--help", "--version"}:
            options[name.lstrip("-")[0]] = ""
            return options, rest
        if name not in {"--log", "-m"} or (name == "-m" and equals):
            raise _UsageError(f"unknown option {option!r}")
        if not equals:
            if not rest:
                raise _UsageError(f"option {option!r} needs a value")
            value = rest.pop(0)
        options[name.lstrip("-")] = value
        if name == "-m":
            return options, rest
    if not rest:
        raise _UsageError("nothing to run: name a script or -m MODULE")
    return options, rest


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("relight")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def _wrong_settings() -> str:
    """Say what is wrong with the environment; nothing if it is right."""
    try:
        mode()
        release()
        if log := os.environ.get("RELIGHT_COMPAT_LOG"):
            with open(log, "a"):
                pass
    except ValueError as error:
        return str(error)
    except OSError as error:
        return f"the log {error.filename!r} cannot be written: {error.strerror}"
    return ""


def main(arguments: Sequence[str]) -> int:
    """Run what ``arguments`` name and return the exit code.

    Errors of the usage give 2, an exception of the script is shown by ``sys.excepthook`` without the
    runner's frames and gives 1; ``SystemExit`` passes through, an interrupt ends the process as it ends
    Python.
    """
    try:
        options, rest = _parse(arguments)
    except _UsageError as error:
        print(f"python -m relight.compat: {error}\n\n{USAGE}", file=sys.stderr, end="")
        return 2
    if "h" in options:
        print(USAGE, end="")
        return 0
    if "v" in options:
        print(f"relight {_version()}")
        return 0
    if "log" in options:
        # Through the environment, so that processes which the script starts append to the same file.
        os.environ["RELIGHT_COMPAT_LOG"] = os.path.abspath(options["log"])
    if wrong := _wrong_settings():
        print(f"python -m relight.compat: {wrong}", file=sys.stderr)
        return 2
    install()
    try:
        if "m" in options:
            _run_module(options["m"], rest)
        else:
            _run_script(rest[0], rest[1:])
    except SystemExit:
        raise
    except BaseException as error:
        return _report(error)
    return 0


def _run_module(name: str, arguments: list[str]) -> None:
    sys.argv = [name, *arguments]
    if not _safe_path():
        sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run_script(path: str, arguments: list[str]) -> None:
    sys.argv = [path, *arguments]
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with io.open_code(os.path.abspath(path)) as stream:
            source = stream.read()
    except OSError as error:
        print(
            f"python -m relight.compat: can't open file {path!r}: [Errno {error.errno}] {error.strerror}",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    if not _safe_path():
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = types.ModuleType("__main__")
    main.__file__ = os.path.abspath(path)
    if sys.version_info < (3, 14):
        main.__dict__["__annotations__"] = {}  # noqa: RUF063
    main.__dict__["__cached__"] = None
    # Processes that the script starts begin there: see that module.
    main.__spec__ = importlib.machinery.ModuleSpec("relight.compat._child", None)
    os.environ[SCRIPT] = main.__file__
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    main.__dict__["__builtins__"] = __builtins__
    # The script's own module stays the main one until the process ends: pickling and exit handlers need it.
    sys.modules["__main__"] = main
    exec(compile(source, main.__file__, "exec", dont_inherit=True), main.__dict__)


def _safe_path() -> bool:
    return bool(getattr(sys.flags, "safe_path", False))


def _report(error: BaseException) -> int:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename in {
        __file__,
        runpy.__file__,
        "<frozen runpy>",
    }:
        traceback = traceback.tb_next
    error.__traceback__ = traceback
    sys.excepthook(type(error), error, traceback)
    if isinstance(error, KeyboardInterrupt) and os.name == "posix":
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1

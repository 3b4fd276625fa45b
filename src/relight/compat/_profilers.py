"""Profilers of the core that took other arguments in older releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relight import profilers as core
from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice
from relight.profilers.pytorch import default_activities
from trainer_upgrade.catalogue import Area

__all__ = ["AdvancedProfiler", "PyTorchProfiler", "SimpleProfiler"]

_NO_EFFECT = ("local_rank", "profiled_functions", "record_functions", "use_kineto")


def _tell(owner: str, name: str) -> None:
    notice(
        code_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, "TRU600"),
        f"{owner}({name}=…)",
        advice_for(Area.CONSTRUCTOR_ARGUMENT, owner, name, f"`{owner}({name}=…)` left"),
    )


class _TakesOutputFilename:
    """Takes ``output_filename`` (left in 1.5), which also stood first."""

    def __init__(self, dirpath: Any = None, *args: Any, **kwargs: Any) -> None:
        owner = type(self).__name__
        output = kwargs.pop("output_filename", None)
        if output is None and dirpath is not None and Path(dirpath).suffix and not Path(dirpath).is_dir():
            output, dirpath = dirpath, None
        if output is not None:
            _tell(owner, "output_filename")
            dirpath = str(Path(output).parent)
            kwargs["filename"] = Path(output).stem
        super().__init__(dirpath, *args, **kwargs)  # type: ignore[call-arg]


class SimpleProfiler(_TakesOutputFilename, core.SimpleProfiler):
    """See :class:`relight.profilers.SimpleProfiler`."""


class AdvancedProfiler(_TakesOutputFilename, core.AdvancedProfiler):
    """See :class:`relight.profilers.AdvancedProfiler`."""


class PyTorchProfiler(_TakesOutputFilename, core.PyTorchProfiler):
    """See :class:`relight.profilers.PyTorchProfiler`; takes the arguments of 1.2 to 1.5 as well."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in _NO_EFFECT:
            if name in kwargs:
                _tell("PyTorchProfiler", name)
                del kwargs[name]
        if (directory := kwargs.pop("path_to_export_trace", None)) is not None:
            _tell("PyTorchProfiler", "path_to_export_trace")
            kwargs.setdefault("dirpath", directory)
        for name, activity in (("use_cpu", "CPU"), ("use_cuda", "CUDA")):
            if name in kwargs:
                _tell("PyTorchProfiler", name)
                wanted = kwargs.pop(name)
                # A device that is not there cannot be switched on.
                activities = kwargs.get("activities") or default_activities()
                kwargs["activities"] = [a for a in activities if wanted or a.name != activity]
        super().__init__(*args, **kwargs)

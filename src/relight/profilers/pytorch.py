"""Which operations each step spends its time and memory in."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.profiler import record_function
from torch.autograd.profiler_util import EventList
from torch.profiler import ProfilerAction, ProfilerActivity, tensorboard_trace_handler

from relight.profilers._recording import Recording, RegisterRecordFunction
from relight.profilers.profiler import Profiler
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_warn

__all__ = ["PyTorchProfiler", "RegisterRecordFunction"]

_STEPS = 5  # of the default schedule: one waits, one warms up, three are recorded
_Schedule = Callable[[int], ProfilerAction]


@dataclass(frozen=True)
class _Cycle:
    """A schedule of one cycle; unlike those of ``torch.profiler.schedule``, it can be pickled."""

    wait: int
    warmup: int
    active: int

    def __call__(self, step: int) -> ProfilerAction:
        if step < self.wait:
            return ProfilerAction.NONE
        if step < self.wait + self.warmup:
            return ProfilerAction.WARMUP
        last = self.wait + self.warmup + self.active - 1
        return ProfilerAction.RECORD if step < last else ProfilerAction.RECORD_AND_SAVE


class PyTorchProfiler(Profiler):
    """Runs ``torch.profiler`` over some steps of each kind: training, validation, test, prediction.

    Of each kind the first cycle of the schedule is recorded. A step is what happens from the beginning of a
    step function to the beginning of the next, so a training step has its backward and optimizer step in it.
    Steps of another kind that run before a recording is finished are in it, too; those of the sanity check
    are not counted. The report has a table for each kind, and each writes a trace into ``dirpath``.

    Lightning 2.6 counts from the end of a step function on instead, and for fewer than five steps records
    everything up to the end of the run; here just these steps are recorded.

    Args:
        dirpath: Directory for report and traces, by default the logger's.
        filename: File for the report, without suffix; without one it is shown on rank 0.
        group_by_input_shapes: A row for each shape of inputs; needs ``record_shapes=True``.
        emit_nvtx: Emit NVTX ranges for ``nvprof`` or ``nsys`` instead of recording; needs CUDA.
        export_to_chrome: Write traces for ``chrome://tracing`` and TensorBoard.
        row_limit: Rows of a table; -1 for all.
        sort_by_key: What tables are sorted by, one of ``AVAILABLE_SORT_KEYS``; by default the total time on
            CUDA if that is recorded, else on the CPU.
        record_module_names: Label each layer's forward.
        table_kwargs: More arguments of ``EventList.table``.
        profiler_kwargs: Arguments of ``torch.profiler.profile``: ``schedule`` (``None`` records everything),
            ``activities``, ``on_trace_ready`` (instead of writing traces), ``record_shapes``,
            ``profile_memory``, ``with_stack``, ``with_flops`` …; also ``export_to_flame_graph`` (write
            stacks) with ``metric``, and ``enabled``.

    Attributes:
        profiler: The ``torch.profiler.profile`` that runs, if one does.
        function_events: The events of the last recording.

    Raises:
        MisconfigurationException: For a sort key or a schedule that is none, or NVTX without CUDA.
        KeyError: For ``table_kwargs`` that are none.
        TypeError: For arguments that torch's profiler does not have.
    """

    STEP_FUNCTIONS = frozenset({"training_step", "validation_step", "test_step", "predict_step"})
    AVAILABLE_SORT_KEYS = frozenset(
        {
            "count", "cpu_memory_usage", "cpu_time", "cpu_time_total", "cuda_memory_usage", "cuda_time",
            "cuda_time_total", "self_cpu_memory_usage", "self_cuda_memory_usage",
        }
    )  # fmt: skip

    def __init__(
        self,
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        group_by_input_shapes: bool = False,
        emit_nvtx: bool = False,
        export_to_chrome: bool = True,
        row_limit: int = 20,
        sort_by_key: str | None = None,
        record_module_names: bool = True,
        table_kwargs: dict[str, Any] | None = None,
        **profiler_kwargs: Any,
    ) -> None:
        super().__init__(dirpath=dirpath, filename=filename)
        # Asked for by name here, the command line knows of them.
        if emit_nvtx and not torch.cuda.is_available():
            raise MisconfigurationException(
                "`PyTorchProfiler(emit_nvtx=True)` needs CUDA, which is not there"
            )
        self._emit_nvtx = emit_nvtx
        self._enabled = profiler_kwargs.pop("enabled", True)
        self._export_to_chrome = export_to_chrome
        self._flame_graph = profiler_kwargs.pop("export_to_flame_graph", False)
        self._metric = profiler_kwargs.pop("metric", "self_cpu_time_total")
        self._on_trace_ready = profiler_kwargs.pop("on_trace_ready", None)
        # Not so the schedule: the command line would give it, as None, which means to record everything.
        names = set(profiler_kwargs)
        self._default = "schedule" not in names
        given = None if self._default else profiler_kwargs["schedule"]
        profiler_kwargs = {name: profiler_kwargs[name] for name in names - {"schedule"}}
        _check_schedule(given)
        self._schedule: _Schedule | None = _Cycle(wait=1, warmup=1, active=3) if self._default else given
        _check_names("profiler_kwargs", profiler_kwargs, torch.profiler.profile.__init__, TypeError)
        profiler_kwargs["activities"] = profiler_kwargs.get("activities") or default_activities()
        profiler_kwargs["with_stack"] = profiler_kwargs.get("with_stack", False) or self._flame_graph
        self._settings = profiler_kwargs
        self._group_by_input_shapes = group_by_input_shapes and profiler_kwargs.get("record_shapes", False)
        self._row_limit = row_limit
        on_cuda = ProfilerActivity.CUDA in profiler_kwargs["activities"]
        self._sort_by_key = sort_by_key or ("cuda_time_total" if on_cuda else "cpu_time_total")
        if self._sort_by_key not in self.AVAILABLE_SORT_KEYS:
            raise MisconfigurationException(
                f"`sort_by_key` is one of {sorted(self.AVAILABLE_SORT_KEYS)}, not {sort_by_key!r}"
            )
        self._table_kwargs = table_kwargs or {}
        for name in ("sort_by", "row_limit"):
            if name in self._table_kwargs:
                raise KeyError(f"`{name}` in `table_kwargs` is an argument of `PyTorchProfiler` itself")
        _check_names("table_kwargs", self._table_kwargs, EventList.table, KeyError)
        self._record_module_names = record_module_names
        self._forget()

    def _forget(self) -> None:
        self.function_events: Any = None
        self._tables: dict[str, Any] = {}  # events by kind of step
        self._reported = False
        self._recording: Recording | None = None
        self._counts: Counter[str] = Counter()
        self._done: set[str] = set()
        self._schedules: dict[str, _Schedule] = {}
        self._labels: dict[str, record_function] = {}
        self._register: RegisterRecordFunction | None = None
        self._nvtx: ExitStack | None = None

    @property
    def profiler(self) -> Any:
        """The ``torch.profiler.profile`` that runs, ``None`` if none does."""
        return None if self._recording is None else self._recording.profile

    def setup(self, stage: str, local_rank: int | None = None, log_dir: str | None = None) -> None:
        """Called when an entry point begins; what the last one recorded is reported no more."""
        super().setup(stage, local_rank, log_dir)
        self._tables = {}

    def start(self, action_name: str) -> None:
        """Begin an action; if it is a step, see what the schedule wants."""
        if not self._enabled:
            return
        kind = action_name.rpartition(".")[2]
        is_step = kind in self.STEP_FUNCTIONS
        if (
            is_step
            and self._record_module_names
            and self._register is None
            and self._lightning_module is not None
        ):
            self._register = RegisterRecordFunction(self._lightning_module)
            self._register.__enter__()
        if self._emit_nvtx:
            self._start_nvtx()
        elif self._schedule is None:
            self._begin("everything", action_name)
            assert self._recording is not None
            self._recording.record()
        elif is_step:
            self._begin_step(kind, action_name)
        if (self._recording is not None or self._nvtx is not None) and action_name not in self._labels:
            label = record_function(f"[pl][profile]{action_name}")
            label.__enter__()  # type: ignore[no-untyped-call]
            self._labels[action_name] = label

    def stop(self, action_name: str) -> None:
        """End an action."""
        label = self._labels.pop(action_name, None)
        if label is not None:
            label.__exit__(None, None, None)

    def _begin_step(self, kind: str, action: str) -> None:
        if self._recording is not None and self._recording.last:
            self._finish()
        if self._recording is not None and self._recording.kind != kind:
            return  # it belongs to that recording
        if kind in self._done or (kind == "validation_step" and self._sanity_checking):
            return
        wanted = self._schedule_of(kind)(self._counts[kind])
        self._counts[kind] += 1
        if wanted == ProfilerAction.NONE:
            if self._recording is not None:
                self._finish()
            return
        self._begin(kind, action)
        assert self._recording is not None
        if wanted != ProfilerAction.WARMUP:
            self._recording.record()
        if wanted == ProfilerAction.RECORD_AND_SAVE:
            self._recording.last = True
            self._done.add(kind)

    def _begin(self, kind: str, action: str) -> None:
        if self._recording is not None:
            return
        if self._reported:
            self._tables, self._reported = {}, False
        autograd: Any = torch.autograd
        if autograd._profiler_enabled():  # one of a run that failed may be left
            autograd._disable_profiler()
        self._recording = Recording(kind, action, self._settings)

    def _finish(self) -> None:
        recording, self._recording = self._recording, None
        if recording is None:
            return
        action = recording.action
        events = recording.finish(self._on_trace_ready or (lambda profile: self._export(profile, action)))
        if events is not None:
            self.function_events = self._tables[recording.kind] = events

    def _export(self, profile: Any, action: str) -> None:
        if not (self._export_to_chrome or self._flame_graph):
            return
        if self.dirpath is None:
            rank_zero_warn("PyTorchProfiler has neither a `dirpath` nor a logger's: it writes no trace.")
            return
        directory = os.fspath(self.dirpath)
        if self._export_to_chrome:
            tensorboard_trace_handler(directory, self._prepare_filename(action, extension=""))(profile)
        if self._flame_graph:
            os.makedirs(directory, exist_ok=True)
            path = os.path.join(directory, self._prepare_filename(action, extension=".stack"))
            profile.export_stacks(path, metric=self._metric)

    def _start_nvtx(self) -> None:
        if self._nvtx is None:
            self._nvtx = ExitStack()
            self._nvtx.enter_context(torch.cuda.profiler.profile())
            self._nvtx.enter_context(torch.autograd.profiler.emit_nvtx())  # type: ignore[no-untyped-call]

    @property
    def _sanity_checking(self) -> bool:
        return self._lightning_module is not None and self._lightning_module.trainer.sanity_checking

    def _schedule_of(self, kind: str) -> _Schedule:
        """Return the schedule, for fewer steps than the default one takes one that records them all."""
        assert self._schedule is not None
        if kind not in self._schedules:
            steps = self._total_steps(kind)
            schedule = self._schedule
            if self._default and steps < _STEPS:
                schedule = _Cycle(wait=0, warmup=0, active=max(int(steps), 1))
            self._schedules[kind] = schedule
        return self._schedules[kind]

    def _total_steps(self, kind: str) -> float:
        """Return how many steps of a kind an epoch has."""
        if self._lightning_module is None:
            return float("inf")
        trainer = self._lightning_module.trainer
        stage = {"training_step": "training", "validation_step": "val", "test_step": "test"}.get(
            kind, "predict"
        )
        batches = getattr(trainer, f"num_{stage}_batches")
        return float(sum(batches) if isinstance(batches, list) else batches)

    def summary(self) -> str:
        """End what is recorded, and return a table for each kind of step."""
        self._finish()
        if not self._tables:
            return ""
        parts = [self._title()]
        rank = "" if self._local_rank is None else f" rank: {self._local_rank}"
        for kind, events in self._tables.items():
            averages = events.key_averages(group_by_input_shapes=self._group_by_input_shapes)
            table = averages.table(sort_by=self._sort_by_key, row_limit=self._row_limit, **self._table_kwargs)
            parts += [f"Profile stats for: {kind}{rank}", table]
        return "\n".join(parts)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what runs and what was recorded: neither can be pickled."""
        other = object.__new__(type(self))
        other.__dict__ = super().__getstate__()
        other._forget()
        return other.__dict__

    def teardown(self, stage: str | None) -> None:
        """End what is recorded; it can be asked for until something new is."""
        self._finish()
        for name in list(self._labels):
            self.stop(name)
        if self._register is not None:
            self._register.__exit__(None, None, None)
        if self._nvtx is not None:
            self._nvtx.close()
        events, tables = self.function_events, self._tables
        self._forget()
        self.function_events, self._tables, self._reported = events, tables, True
        super().teardown(stage=stage)


def default_activities() -> list[ProfilerActivity]:
    """Return what is recorded unless told otherwise: the CPU, and CUDA if it is there."""
    return [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]


def _check_schedule(schedule: Any) -> None:
    if schedule is None:
        return
    if not callable(schedule):
        raise MisconfigurationException(f"`schedule` is a function of the step, not {schedule!r}")
    action = schedule(0)
    if not isinstance(action, ProfilerAction):
        raise MisconfigurationException(
            f"`schedule` returns a `torch.profiler.ProfilerAction`, not {action!r}"
        )


def _check_names(
    what: str, given: dict[str, Any], function: Callable[..., Any], error: type[Exception]
) -> None:
    known = set(inspect.signature(function).parameters) - {"self", "sort_by", "row_limit"}
    if unknown := sorted(set(given) - known):
        raise error(f"{unknown} in `{what}` are unknown; there are {sorted(known)}")

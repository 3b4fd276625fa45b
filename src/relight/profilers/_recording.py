"""One recording of torch's profiler, and labels for a module's layers."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.autograd.profiler import record_function
from torch.utils.hooks import RemovableHandle

__all__ = ["Recording", "RegisterRecordFunction"]


class RegisterRecordFunction:
    """Within ``with``, puts each layer's name around its forward in what torch's profiler records.

    Args:
        model: The module; itself gets no label.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._open: dict[str, list[record_function]] = {}
        self._handles: list[RemovableHandle] = []

    def __enter__(self) -> None:
        """Add the hooks."""
        for name, layer in self._model.named_modules():
            if name:
                label = f"{type(layer).__module__}.{type(layer).__name__}: {name}"
                enter, leave = functools.partial(self._enter, label), functools.partial(self._leave, label)
                self._handles.append(layer.register_forward_pre_hook(enter))
                self._handles.append(layer.register_forward_hook(leave, always_call=True))

    def __exit__(self, *details: object) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _enter(self, label: str, layer: nn.Module, inputs: Any) -> None:
        record = record_function(f"[pl][module]{label}")
        record.__enter__()  # type: ignore[no-untyped-call]
        self._open.setdefault(label, []).append(record)  # a layer may run within itself

    def _leave(self, label: str, layer: nn.Module, inputs: Any, output: Any) -> None:
        if records := self._open.get(label):
            records.pop().__exit__(None, None, None)


class Recording:
    """Records steps of one kind, from warming up to the end.

    Args:
        kind: Name of the step function whose steps are counted.
        action: Name of the profiler's entry.
        settings: Arguments of ``torch.profiler.profile``.
    """

    def __init__(self, kind: str, action: str, settings: Mapping[str, Any]) -> None:
        self.kind, self.action = kind, action
        #: Whether the step that runs is the last.
        self.last = False
        self._started = False
        self.profile = torch.profiler.profile(**settings)
        self.profile.prepare_trace()

    def record(self) -> None:
        """Begin to record, after warming up."""
        if not self._started:
            self._started = True
            self.profile.start_trace()

    def finish(self, ready: Callable[[Any], None]) -> Any:
        """End, and hand the profile to ``ready``; return the events, ``None`` if it only warmed up."""
        recorded = self._started
        self.record()  # what was prepared has to be started before it can be stopped
        self.profile.stop_trace()
        if not recorded:
            return None
        # torch (2.13) crashes if Python collects garbage while it reads the results.
        collects = gc.isenabled()
        gc.disable()
        try:
            ready(self.profile)
            return self.profile.events()  # type: ignore[no-untyped-call]
        finally:
            if collects:
                gc.enable()

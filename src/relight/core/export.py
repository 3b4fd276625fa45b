"""The module in the formats of other runtimes."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["Exports"]


class Exports:
    """Gives a module ``to_onnx`` and ``to_torchscript``."""

    def to_onnx(self: Any, file_path: Any = None, input_sample: Any = None, **kwargs: Any) -> Any:
        """Export the module in ONNX format, in evaluation mode.

        Args:
            file_path: Where to write it; nowhere if ``None`` (``torch.onnx.export`` then returns it).
            input_sample: What ``forward`` is run with, a tuple for several arguments;
                ``example_input_array`` unless given. It goes through the module's transfer hooks.
            kwargs: Arguments of ``torch.onnx.export``.

        Raises:
            ModuleNotFoundError: Without the package ``onnx`` (and ``onnxscript`` for ``dynamo=True``, torch's
                default since 2.9).
            ValueError: Without a sample.
        """
        for package in ("onnx", "onnxscript") if kwargs.get("dynamo", _dynamo_is_default()) else ("onnx",):
            if importlib.util.find_spec(package) is None:
                raise ModuleNotFoundError(
                    f"`{type(self).__name__}.to_onnx()` needs the package `{package}`: pip install {package}"
                )
        sample = self._sample(input_sample, "input_sample")
        path = os.fspath(file_path) if isinstance(file_path, os.PathLike) else file_path
        with self._exporting(), torch.no_grad():
            arguments = sample if isinstance(sample, tuple) else (sample,)
            return torch.onnx.export(self, arguments, path, **kwargs)

    def to_torchscript(
        self: Any,
        file_path: str | os.PathLike[str] | None = None,
        method: str | None = "script",
        example_inputs: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Compile the module with ``torch.jit``, in evaluation mode; torch prefers ``torch.export`` today.

        Args:
            file_path: Where to save it, also a URL that fsspec knows; nowhere unless given.
            method: ``"script"`` or ``"trace"``.
            example_inputs: What to trace with; ``example_input_array`` unless given. It goes through the
                module's transfer hooks.
            kwargs: Arguments of ``torch.jit.script`` or ``torch.jit.trace``.

        Raises:
            ValueError: For another method, or without inputs to trace with.
        """
        if method not in ("script", "trace"):
            raise ValueError(f'`method` is "script" or "trace", not {method!r}')
        jit: Any = torch.jit
        if method == "trace":
            kwargs["example_inputs"] = self._sample(example_inputs, "example_inputs")
        with self._exporting(), torch.no_grad():
            script = getattr(jit, method)(self, **kwargs)
        if file_path is not None and "://" in os.fspath(file_path):
            import fsspec  # type: ignore[import-untyped]

            with fsspec.open(os.fspath(file_path), "wb") as stream:
                jit.save(script, stream)
        elif file_path is not None:
            jit.save(script, os.fspath(file_path))
        return script

    def _sample(self: Any, given: Any, argument: str) -> Any:
        sample = self.example_input_array if given is None else given
        if sample is None:
            raise ValueError(f"exporting wants `{argument}` or `self.example_input_array`")
        sample = self.on_before_batch_transfer(sample, 0)
        sample = self.transfer_batch_to_device(sample, self.device, 0)
        return self.on_after_batch_transfer(sample, 0)

    @contextmanager
    def _exporting(self: Any) -> Iterator[None]:
        """Be in evaluation mode, with something in the place of a Trainer: `torch.jit` reads all properties,
        and ``trainer`` raises if there is none.
        """
        from relight.module import LightningModule

        modes = {module: module.training for module in self.modules()}
        alone = [m for m in modes if isinstance(m, LightningModule) and m._trainer is None]
        for module in alone:
            module.__dict__["_trainer"] = object()
        self.eval()
        try:
            yield
        finally:
            for module, mode in modes.items():
                module.training = mode
            for module in alone:
                module.__dict__["_trainer"] = None


def _dynamo_is_default() -> bool:
    import inspect

    return inspect.signature(torch.onnx.export).parameters["dynamo"].default is True

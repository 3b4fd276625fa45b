"""A table of a module's layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

if TYPE_CHECKING:
    from relight.module import LightningModule

_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


class LayerTable:
    """Names, types, sizes and modes of a module's layers.

    Args:
        module: if it has an ``example_input_array``, it is run once, without gradients and with all modes and
            the random state restored, to find the sizes of inputs and outputs.
        max_depth: levels of nesting to list; -1 all, 0 none.
    """

    def __init__(self, module: LightningModule, max_depth: int = 1) -> None:
        self.module = module
        self.layers: dict[str, nn.Module] = {
            name: layer
            for name, layer in module.named_modules()
            if name and (max_depth == -1 or name.count(".") < max_depth)
        }
        self._sizes: dict[str, tuple[Any, Any]] = {}
        self.total_flops = 0  # of one forward pass with the example
        if getattr(module, "example_input_array", None) is not None:
            self._measure()

    @property
    def total_parameters(self) -> int:
        """Number of parameters; those of lazy layers count as 0 until they exist."""
        return sum(map(_numel, self.module.parameters()))

    @property
    def trainable_parameters(self) -> int:
        """Number of parameters that need a gradient."""
        return sum(_numel(p) for p in self.module.parameters() if p.requires_grad)

    @property
    def model_size(self) -> float:
        """Size of the parameters in megabytes (10⁶ bytes)."""
        return sum(_numel(p) * p.element_size() for p in self.module.parameters()) / 1e6

    @property
    def total_training_modes(self) -> dict[str, int]:
        """Number of layers in ``"train"`` and in ``"eval"`` mode."""
        training = [layer.training for name, layer in self.module.named_modules() if name]
        return {"train": sum(training), "eval": len(training) - sum(training)}

    def columns(self) -> list[tuple[str, list[str]]]:
        """Return titles and cells, column by column."""
        head, *rows = self.rows()
        return [(title, [row[i] for row in rows]) for i, title in enumerate(head)]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the head and then, for each layer, name, type, parameters, mode, and sizes if known."""
        sizes = ("In sizes", "Out sizes") if self._sizes else ()
        yield ("", "Name", "Type", "Params", "Mode", *sizes)
        for index, (name, layer) in enumerate(self.layers.items()):
            known = tuple(str(size) for size in self._sizes.get(name, ("?", "?"))) if self._sizes else ()
            count = sum(map(_numel, layer.parameters()))
            mode = "train" if layer.training else "eval"
            yield (str(index), name, type(layer).__name__, human_count(count), mode, *known)
        own = self.total_parameters - sum(
            sum(map(_numel, child.parameters())) for child in self.module.children()
        )
        if own > 0 and self.layers:
            yield (" ", "other params", "n/a", human_count(own), "n/a", *("?" for _ in sizes))

    def __str__(self) -> str:
        """Return the table with totals below."""
        return table_text(
            self.columns(),
            self.total_parameters,
            self.trainable_parameters,
            self.model_size,
            self.total_training_modes,
            self.total_flops,
        )

    def _measure(self) -> None:
        from torch.utils.flop_counter import FlopCounterMode  # takes its time to import

        handles, modes = [], {layer: layer.training for layer in self.module.modules()}
        for name, layer in self.layers.items():

            def note(_: nn.Module, inputs: Any, output: Any, name: str = name) -> None:
                self._sizes.setdefault(name, (_size(inputs), _size(output)))

            handles.append(layer.register_forward_hook(note))
        example = self.module.example_input_array
        example = self.module.transfer_batch_to_device(example, self.module.device, dataloader_idx=0)
        try:
            self.module.eval()
            counter = FlopCounterMode(display=False)
            with torch.no_grad(), torch.random.fork_rng(), counter:
                if isinstance(example, (list, tuple)):
                    self.module(*example)
                elif isinstance(example, dict):
                    self.module(**example)
                else:
                    self.module(example)
            self.total_flops = counter.get_total_flops()
        finally:
            for layer, training in modes.items():
                layer.training = training
            for handle in handles:
                handle.remove()


def table_text(
    columns: Sequence[tuple[str, list[str]]],
    total: int,
    trainable: int,
    megabytes: float,
    modes: dict[str, int],
    flops: int,
) -> str:
    """Return a table of layers with totals below."""
    totals = [
        (human_count(trainable), "Trainable params"),
        (human_count(total - trainable), "Non-trainable params"),
        (human_count(total), "Total params"),
        (f"{megabytes:,.3f}", "Total estimated model params size (MB)"),
        (str(modes["train"]), "Modules in train mode"),
        (str(modes["eval"]), "Modules in eval mode"),
    ]
    if flops:
        totals.append((human_count(flops), "Total Flops"))
    rows = [[title for title, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    lines = _align(rows)
    rule = "-" * max(map(len, lines))
    body = [lines[0], rule, *lines[1:], rule]
    return "\n".join([*body, *(f"{value:<10}{text}" for value, text in totals)])


def human_count(number: int) -> str:
    """Return a count in short: ``512``, ``3.2 K``, ``124 M``."""
    for unit, letter in _UNITS:
        if number >= unit:
            value = number / unit
            return f"{value:.1f} {letter}" if value < 100 else f"{value:.0f} {letter}"
    return str(number)


def _numel(parameter: Tensor) -> int:
    return 0 if isinstance(parameter, UninitializedParameter) else parameter.numel()


def _size(data: Any) -> Any:
    if isinstance(data, Tensor):
        return list(data.shape)
    if isinstance(data, (list, tuple)):
        sizes = [_size(item) for item in data]
        return sizes[0] if len(sizes) == 1 else sizes
    return "?"


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [" | ".join(map(str.ljust, row, widths)) for row in rows]

"""What a project's Trainers are told about clipping, accumulation and precision.

Lightning refuses the first two with manual optimization: a module that goes over to it must do them itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module

__all__ = ["MOVED", "Settings", "options_of", "settings_of", "told"]

# What 2.x refuses with manual optimization.
MOVED = ("gradient_clip_val", "gradient_clip_algorithm", "accumulate_grad_batches")
_WORDS = (*MOVED, "GradientAccumulationScheduler", "precision")
# Precisions without a scaler; with one, gradients are clipped before they are unscaled.
_PLAIN = frozenset({"32", "64", "bf16", "32-true", "64-true", "bf16-mixed", "bf16-true", "None"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What all Trainers of a project agree on.

    Attributes:
        clip: The greatest norm or value of a gradient; ``None`` for no clipping.
        algorithm: ``norm`` or ``value``.
        accumulate: Over how many batches gradients are summed.
    """

    clip: float | None = None
    algorithm: str = "norm"
    accumulate: int = 1


def settings_of(file: FileContext) -> Settings | str:
    """Return the settings, or why they cannot be seen."""
    memo = file.project.memo
    if "trainer-settings" not in memo:
        memo["trainer-settings"] = _read(file)
    return memo["trainer-settings"]  # type: ignore[return-value]


def told(call: ast.Call, module: Module, file: FileContext) -> bool:
    """Whether a call builds a Trainer, or fits with one."""
    made = file.types.constructed(call, module)
    if made is not None:
        return made.label == "Trainer"
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "fit":
        return False
    owner = file.types.infer(call.func.value, module)
    return owner is not None and owner.label == "Trainer"


def options_of(call: ast.Call) -> list[tuple[ast.Constant, ast.expr]]:
    """Return the entries of a call's ``options={…}``."""
    for keyword in call.keywords:
        if keyword.arg == "options" and isinstance(keyword.value, ast.Dict):
            pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
            return [(key, value) for key, value in pairs if isinstance(key, ast.Constant)]
    return []


def _read(file: FileContext) -> Settings | str:
    seen: dict[str, set[object]] = {name: set() for name in (*MOVED, "precision")}
    words = [word.encode() for word in _WORDS]
    modules = {each.path: each for each in file.project.relevant_modules()}
    modules[file.module.path] = file.module
    for module in modules.values():
        if not any(word in module.data for word in words):
            continue
        where = f"{module.path.name}:{{line}} says it in a way that is not followed here"
        for name, node, value in _mentions(module, file):
            if value is None:
                if name != "precision":
                    return f"`{name}`: " + where.format(line=node.lineno)
                continue
            if not isinstance(value, ast.Constant):
                return f"`{name}`: " + where.format(line=node.lineno)
            seen[name].add(value.value)
    clips = seen["gradient_clip_val"] - {None, 0}
    algorithms = seen["gradient_clip_algorithm"] - {None}
    accumulations = seen["accumulate_grad_batches"] - {None, 1}
    if max(len(clips), len(algorithms), len(accumulations)) > 1:
        return "the project's Trainers clip or accumulate in different ways"
    clip = next(iter(clips), None)
    if clip is not None and any(str(each) not in _PLAIN for each in seen["precision"]):
        return "with a scaler (precision 16) gradients must be clipped in `on_before_optimizer_step`"
    accumulate, algorithm = next(iter(accumulations), 1), next(iter(algorithms), "norm")
    if isinstance(clip, (int, float, type(None))) and isinstance(accumulate, int):
        return Settings(clip, str(algorithm), accumulate)
    return "the Trainer's clipping or accumulation is no number"


def _mentions(module: Module, file: FileContext) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Yield each mention of a setting: its name, the place, and the value where a Trainer is told it."""
    known: set[ast.AST] = set()
    for node in module.scopes.nodes:
        if isinstance(node, ast.Call):
            if told(node, module, file):
                for keyword in node.keywords:
                    if keyword.arg in MOVED or keyword.arg == "precision":
                        yield str(keyword.arg), node, keyword.value
                for key, value in options_of(node):
                    known.add(key)
                    if key.value in MOVED:
                        yield str(key.value), node, value
            else:
                called = node.func
                if getattr(called, "attr", "") in ("clip_gradients", "configure_gradient_clipping"):
                    known.update(ast.walk(node))
                    continue
                for keyword in node.keywords:
                    if keyword.arg in MOVED and node not in known:
                        yield str(keyword.arg), node, None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 40:
            name = node.value.lstrip("-").replace("-", "_")
            if name in MOVED and node not in known:
                yield name, node, None
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name == "GradientAccumulationScheduler":
                yield "accumulate_grad_batches", node, None

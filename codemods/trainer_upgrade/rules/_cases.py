"""The values that an argument of the Trainer may take at run time, as far as it matters."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.catalogue.translate import Instance
from trainer_upgrade.catalogue.translation.names import LEGACY_ONLY, LIGHTNING
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._expressions import (
    UNKNOWN,
    Known,
    MarkedInt,
    MarkedStr,
    Opaque,
    Test,
    World,
    is_pure,
    known_types,
    literal,
    parenthesised,
    test_of,
)

__all__ = ["Cases", "cases_of", "instance_name", "passed_on"]

_COUNTS = frozenset({"gpus", "num_processes", "tpu_cores", "num_tpu_cores", "ipus"})
# Arguments that the old releases asked for truth only.
_SWITCHES = frozenset(
    [
        "auto_select_gpus",
        "reload_dataloaders_every_epoch",
        "stochastic_weight_avg",
        "terminate_on_nan",
        "use_amp",
        "move_metrics_to_cpu",
        "show_progress_bar",
        "print_nan_grads",
    ]
)
_RELIGHT_SWITCHES = frozenset({"sync_batchnorm", "enable_model_summary"})
_TORCH_SWITCHES = frozenset({"benchmark", "deterministic"})
_INSTANCES = frozenset({"early_stop_callback", "progress_bar_callback"})
_SHARES = frozenset({"train_percent_check", "val_percent_check", "test_percent_check", "overfit_pct"})
_PASSED_ON = frozenset(
    [
        "default_save_path",
        "gradient_clip",
        "max_nb_epochs",
        "min_nb_epochs",
        "nb_sanity_val_steps",
        "add_row_log_interval",
        "row_log_interval",
        "replace_sampler_ddp",
        "flush_logs_every_n_steps",
        "log_save_interval",
        "cluster_environment",
    ]
)
_OBJECTS = frozenset({"callbacks", "logger", "plugins", "strategy"})


@dataclass
class Cases:
    """The cases of one argument.

    Attributes:
        values: What it may be: the tests that lead there, and the value.
        unsafe: Why the cases may not be all there are; empty when they are.
    """

    values: list[tuple[World, Any]] = field(default_factory=list)
    unsafe: str = ""

    @property
    def single(self) -> bool:
        """Whether the value does not depend on anything."""
        return len(self.values) == 1 and not self.values[0][0]


def cases_of(name: str, node: ast.expr, text: str, file: FileContext, target: Target) -> Cases | None:
    """Return the cases of an argument, or ``None`` where nothing can be said about it.

    Args:
        name: The argument.
        node: Its value.
        text: The value as it is written.
        file: The file it stands in.
        target: Where the code is to run.
    """
    value = literal(node)
    if value is not UNKNOWN:
        return Cases([({}, value)])
    if isinstance(node, ast.IfExp) and name not in ("callbacks", "logger"):
        return _conditional(name, node, file, target)
    if (
        isinstance(node, ast.BoolOp)
        and isinstance(node.op, ast.Or)
        and len(node.values) == 2
        and name in _COUNTS
    ):
        left, right = node.values
        rest = cases_of(name, right, file.segment(right), file, target)
        if rest is not None and is_pure(left, file):
            test = _truth(left, file.segment(left), file)
            marked = MarkedInt(parenthesised(file.segment(left)))
            return Cases(
                [({test: True}, marked), *(({test: False, **world}, each) for world, each in rest.values)],
                rest.unsafe,
            )
    return _at_run_time(name, node, parenthesised(text), file, target)


def instance_name(node: ast.expr, file: FileContext) -> str | None:
    """Return the name of the Lightning class that an expression is an instance of."""
    if isinstance(node, ast.Call):
        made = file.lightning_name(node.func)
        if made is not None and made.rpartition(".")[2][:1].isupper():
            return made.rpartition(".")[2]
    return file.instance_of(node)


def _conditional(name: str, node: ast.IfExp, file: FileContext, target: Target) -> Cases | None:
    if not is_pure(node.test, file):
        return None
    body: Cases | None
    if _surely_there(node):
        text = parenthesised(file.segment(node.body))
        marked = name in _COUNTS or name in ("max_steps", "devices", "progress_bar_refresh_rate")
        body = Cases([({}, MarkedInt(text) if marked else Opaque(text))])
    else:
        body = cases_of(name, node.body, file.segment(node.body), file, target)
    other = cases_of(name, node.orelse, file.segment(node.orelse), file, target)
    if body is None or other is None:
        return None
    test = test_of(node.test, file.segment(node.test))
    values: list[tuple[World, Any]] = [({test: True, **world}, each) for world, each in body.values]
    values += [({test: False, **world}, each) for world, each in other.values]
    return Cases(values, body.unsafe or other.unsafe)


def _surely_there(node: ast.IfExp) -> bool:
    """Whether it is ``x if x is not None else …``, or ``x if x else …``."""
    test, body = node.test, ast.dump(node.body)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        (right,) = test.comparators
        if isinstance(right, ast.Constant) and right.value is None:
            return ast.dump(test.left) == body
    return ast.dump(test) == body


def _truth(node: ast.expr, text: str, file: FileContext) -> Test:
    """The test whether a device argument asks for any device."""
    known = known_types(node, file)
    text = parenthesised(text)
    if known is not None and known.only(int, bool, list, tuple, None):
        return Test(text)
    quote = "'" if "'" in _around(node, file) and '"' not in _around(node, file) else '"'
    nothing = f"(None, 0, {quote}0{quote}, {quote}{quote}, [])"
    return Test(f"{text} not in {nothing}", f"{text} in {nothing}", True)


def _around(node: ast.AST, file: FileContext) -> str:
    """The text of the call that a value is an argument of."""
    current = file.parent(node)
    while current is not None and not isinstance(current, (ast.Call, ast.stmt)):
        current = file.parent(current)
    return file.segment(current) if isinstance(current, ast.Call) else ""


def _at_run_time(name: str, node: ast.expr, text: str, file: FileContext, target: Target) -> Cases | None:
    known = known_types(node, file)
    twice = "" if is_pure(node, file) else f"`{_short(text)}` is evaluated twice"
    if name in _COUNTS:
        if (
            isinstance(node, ast.List)
            and node.elts
            and not any(isinstance(each, ast.Starred) for each in node.elts)
        ):
            return Cases([({}, MarkedInt(text))])
        test = _truth(node, text, file)
        return Cases([({test: True}, MarkedInt(text)), ({test: False}, None)], twice)
    if name == "profiler" and _is_bool(known):
        test = Test(text, is_bool=True)
        return Cases([({test: True}, True), ({test: False}, False)], twice)
    if name == "checkpoint_callback":
        return _checkpoint(node, text, file, known, twice)
    if name in _SWITCHES or (target is Target.RELIGHT and name in _RELIGHT_SWITCHES):
        return Cases(
            [
                ({Test(text, is_bool=_is_bool(known)): True}, True),
                ({Test(text, is_bool=_is_bool(known)): False}, False),
            ],
            twice,
        )
    if target is Target.RELIGHT and name in _TORCH_SWITCHES:
        if not _is_bool(known):
            return None
        return Cases(
            [({Test(text, is_bool=True): True}, True), ({Test(text, is_bool=True): False}, False)], twice
        )
    if name == "progress_bar_refresh_rate":
        zero, on = Test(f"{text} == 0", f"{text} != 0", True), Test(text)
        values: list[tuple[World, Any]] = [
            ({zero: True, on: False}, 0),
            ({zero: False, on: True}, MarkedInt(text)),
        ]
        if known is None or known.nullable:
            values.append(({zero: False, on: False}, None))
        return Cases(values, twice)
    if name == "weights_summary":
        off, full = (
            Test(f"{text} is None", f"{text} is not None", True),
            Test(f'{text} == "full"', f'{text} != "full"', True),
        )
        return Cases(
            [
                ({off: True, full: False}, None),
                ({off: False, full: True}, "full"),
                ({off: False, full: False}, "top"),
            ],
            twice,
        )
    if name == "process_position":
        return Cases([({Test(text): True}, MarkedInt(text)), ({Test(text): False}, 0)], twice)
    if name == "log_gpu_memory":
        return Cases([({Test(text): True}, "all"), ({Test(text): False}, None)], twice)
    if name == "max_steps":
        return _nullable(text, known, twice)
    if name in _INSTANCES:
        label = instance_name(node, file)
        return Cases([({}, Instance(label, text))]) if label is not None else None
    if name in _OBJECTS:
        return _object(name, node, text, file, known, twice)
    return passed_on(name, text, known, target)


def _is_bool(known: Known | None) -> bool:
    return known is not None and known.only(bool)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


def _checkpoint(
    node: ast.expr, text: str, file: FileContext, known: Known | None, twice: str
) -> Cases | None:
    """A switch, or (up to 1.2) the callback itself."""
    label = instance_name(node, file)
    if label is not None:
        return Cases([({}, Instance(label, text))])
    if isinstance(node, ast.Call) and file.symbol(node.func) is not None:
        return None
    test = Test(text, is_bool=_is_bool(known))
    why = (
        ""
        if _is_bool(known)
        else f"`{_short(text)}` may be a ModelCheckpoint, which belongs into `callbacks`"
    )
    return Cases([({test: True}, True), ({test: False}, False)], why or twice)


def _nullable(text: str, known: Known | None, twice: str) -> Cases | None:
    if known is None or not known.nullable:
        return None
    test = Test(f"{text} is not None", f"{text} is None", True)
    return Cases([({test: True}, MarkedInt(text)), ({test: False}, None)], twice)


def _object(
    name: str, node: ast.expr, text: str, file: FileContext, known: Known | None, twice: str
) -> Cases | None:
    if name == "strategy":
        label = instance_name(node, file)
        if label is not None:
            return Cases([({}, Instance(label, text))])
        if known is None or not known.nullable:
            return None
        return Cases([({Test(text): True}, Opaque(text)), ({Test(text): False}, None)], twice)
    elements = _elements(node, file)
    if elements is None:
        label = instance_name(node, file)
        return Cases([({}, Instance(label, text) if label is not None else Opaque(text))])
    values = []
    for each in elements:
        value = literal(each)
        label = instance_name(each, file)
        source = file.segment(each)
        values.append(
            Instance(label, source)
            if label is not None
            else value
            if value is not UNKNOWN
            else Opaque(source)
        )
    return Cases([({}, values)])


def _elements(node: ast.expr, file: FileContext) -> list[ast.expr] | None:
    """The elements of a list or tuple, also of one that a name is bound to once."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    if isinstance(node, ast.Name):
        found = file.module.scopes.lookup(node.id, node)
        if found is not None and len(found[1]) == 1 and isinstance(found[1][0].value, (ast.List, ast.Tuple)):
            return found[1][0].value.elts
    return None


def passed_on(name: str, text: str, known: Known | None, target: Target) -> Cases | None:
    """Return the cases of an argument whose value does not matter, or ``None`` where it does."""
    if name in ("num_nodes", "nb_gpu_nodes", "devices", "gradient_clip_val", "accumulate_grad_batches"):
        return Cases([({}, MarkedInt(text))])
    if name == "gradient_clip_algorithm":
        return Cases([({}, MarkedStr(text, "norm"))])
    if name in _SHARES:
        sure = known is not None and known.only(float, None)
        return Cases(
            [({}, Opaque(text))],
            "" if sure else "a whole number 1 was all batches once, and is one batch now",
        )
    if name in _PASSED_ON:
        return Cases([({}, Opaque(text))])
    if name == "weights_save_path":
        return Cases([({}, Opaque(text))])
    if name in LEGACY_ONLY or name == "precision" or name == "accelerator":
        return None
    if target is Target.RELIGHT and name in LIGHTNING and name not in ("model_registry", "barebones"):
        return Cases([({}, Opaque(text))])
    return None

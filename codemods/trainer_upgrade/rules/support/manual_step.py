"""What automatic optimization of 1.x did and 2.x does not, written out as manual optimization.

**Several optimizers.** What 1.x did for each batch and each optimizer in turn: let only this optimizer's
parameters learn, run ``training_step`` with the optimizer's index, zero the gradients, backward, clip, step.
A step that returned ``None`` left out the backward pass only. The old method stays as it is, under another
name, so that every ``return`` in it keeps its meaning; the new ``training_step`` calls it.

**Truncated backpropagation.** The batch is cut along time; each chunk is a step of its own, from the hidden
state that the one before returned, detached.

Schedulers stepped after the optimizers: those with interval ``step`` after each batch that stepped, those
with interval ``epoch`` after the last batch, ``ReduceLROnPlateau`` when the epoch's metrics were there.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.bodies import BodyEdits, insert_after, methods_before, starts_line
from trainer_upgrade.rules.support.collecting import needs_super
from trainer_upgrade.rules.support.hook_rewrite import name_edit, rename_attribute
from trainer_upgrade.rules.support.optimizers import INDEX_NAMES, Count, optimizer_count, truncates
from trainer_upgrade.rules.support.reading import (
    assigned_to_self,
    attribute_names,
    defined_once,
    inner_nodes,
    is_super,
    name_nodes,
    positional,
    returns,
    self_name,
    wrappers,
)
from trainer_upgrade.rules.support.references import looked_up, references
from trainer_upgrade.rules.support.schedulers import Scheduler, schedulers_of
from trainer_upgrade.rules.support.trainer_settings import Settings, settings_of

__all__ = ["Plan", "plan"]

_STEP = "training_step"
_EPOCH_END = "on_train_epoch_end"
_NAMES = ("_training_step", "_optimizer_step", "_training_step_of_optimizer")
# Hooks that manual optimization does not call, or that are given something else by it.
_SPEAKING_AGAINST = (
    "optimizer_step",
    "optimizer_zero_grad",
    "on_before_zero_grad",
    "configure_gradient_clipping",
    "lr_scheduler_step",
    "training_step_end",
    "training_epoch_end",
)
_LOCAL = frozenset({"optimizer", "output", "loss", "schedulers", "first", "last", "chunk", "start"})


@dataclass(frozen=True, slots=True)
class Plan:
    """How one class goes over to manual optimization."""

    file: FileContext
    info: ClassInfo
    step: Function
    index: str | None
    helper: str
    settings: Settings
    schedulers: list[Scheduler]

    def fix(self) -> Fix | None:
        """Return the fix; ``None`` where the text leaves no place for it."""
        try:
            switch, methods = self._switch()
            edits = [*switch, *self._calls()]
            methods.append(self._training_step())
            own = self.info.methods.get(_EPOCH_END)
            plateau = self._plateau()
            if plateau and own is None:
                method = [f"def {_EPOCH_END}(self):", *(f"\t{line}" for line in plateau)]
                if needs_super(self.info, _EPOCH_END):
                    method.append(f"\tsuper().{_EPOCH_END}()")
                methods.append(method)
            elif plateau and own is not None:
                body = BodyEdits(self.file, own)
                body.tail = plateau
                edits += body.edits()
            edits.append(methods_before(self.file, self.step, methods))
            edits.append(name_edit(self.file, self.step, self.helper))
        except ValueError:
            return None
        what = "step the optimizers by hand" if self.index else "cut the batch and step by hand"
        return Fix(Applicability.UNSAFE, what, tuple(sorted(edits)))

    # Edits

    def _switch(self) -> tuple[list[Edit], list[list[str]]]:
        """Turn automatic optimization off: return edits, and methods to put before the step."""
        init = self.info.methods.get("__init__")
        line = "self.automatic_optimization = False"
        if init is None:
            star = "*args, **kwargs"
            text = [f"def __init__(self, {star}):", f"\tsuper().__init__({star})", f"\t{line}"]
            first = next(iter(self.info.methods.values()))
            if first is self.step:
                return [], [text]
            return [methods_before(self.file, first, [text])], []
        for statement in init.body:
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Call)
                and isinstance(statement.value.func, ast.Attribute)
                and statement.value.func.attr == "__init__"
                and starts_line(self.file, statement)
            ):
                line = line.replace("self", self_name(init) or "self")
                return [insert_after(self.file, statement, [line])], []
        raise ValueError("no call of the base's __init__ at the top of __init__")

    def _calls(self) -> list[Edit]:
        return [
            rename_attribute(self.file, reference.node, self.helper)
            for reference in references(self.file, _STEP)
            if _of_family(reference.owner, self.info)
        ]

    def _training_step(self) -> list[str]:
        if self.index is None:
            return self._per_chunk()
        parameters = positional(self.step)
        batch, number = parameters[1].arg, parameters[2].arg
        every = self.settings.accumulate
        lines = [f"def {_STEP}(self, {batch}, {number}):"]
        add = lines.append
        if every > 1:
            add(f"\tfirst = {number} % {every} == 0")
            add(f"\tlast = ({number} + 1) % {every} == 0 or self.trainer.is_last_batch")
        add(f"\tfor {self.index}, optimizer in enumerate(self.optimizers()):")
        add("\t\tself.toggle_optimizer(optimizer)")
        call = f"self.{self.helper}({batch}, {number}, {self.index})"
        kind, optional = _returned(self.step)
        if kind == "tensor" or (kind == "dict" and not optional):
            key = '["loss"]' if kind == "dict" else ""
            add(f"\t\tloss = {call}{key}")
        else:
            add(f"\t\toutput = {call}")
            if kind == "dict":
                add('\t\tloss = output["loss"] if output is not None else None')
            else:
                add('\t\tloss = output["loss"] if isinstance(output, dict) else output')
        if every > 1:
            add("\t\tif first:")
            add("\t\t\toptimizer.zero_grad()")
        else:
            add("\t\toptimizer.zero_grad()")
        loss = f"loss / {every}" if every > 1 else "loss"
        if optional or kind == "any":
            add("\t\tif loss is not None:")
            add(f"\t\t\tself.manual_backward({loss})")
        else:
            add(f"\t\tself.manual_backward({loss})")
        steps = []
        if self.settings.clip is not None:
            steps.append(self._clip())
        steps.append("optimizer.step()")
        if every > 1:
            add("\t\tif last:")
        lines += [f"\t\t{chr(9) if every > 1 else ''}{each}" for each in steps]
        add("\t\tself.untoggle_optimizer(optimizer)")
        lines += [f"\t{each}" for each in self._stepping(number)]
        return lines

    def _per_chunk(self) -> list[str]:
        parameters = positional(self.step)
        batch, number = parameters[1].arg, parameters[2].arg
        steps = "self.truncated_bptt_steps"
        own = self.info.find_method("tbptt_split_batch") is not None
        lines = [
            f"def {_STEP}(self, {batch}, {number}):",
            "\toptimizer = self.optimizers()",
            "\thiddens = None",
        ]
        add = lines.append
        if own:
            add(f"\tfor chunk in self.tbptt_split_batch({batch}, {steps}):")
        else:
            add(f"\tfor start in range(0, {batch}[0].size(1), {steps}):")
            add(f"\t\tchunk = [each[:, start : start + {steps}] for each in {batch}]")
        add(f"\t\toutput = self.{self.helper}(chunk, {number}, hiddens)")
        add("\t\toptimizer.zero_grad()")
        add('\t\tself.manual_backward(output["loss"])')
        if self.settings.clip is not None:
            add(f"\t\t{self._clip()}")
        add("\t\toptimizer.step()")
        add('\t\thiddens = output["hiddens"]')
        add("\t\tif isinstance(hiddens, tuple):")
        add("\t\t\thiddens = tuple(each.detach() for each in hiddens)")
        add("\t\telse:")
        add("\t\t\thiddens = hiddens.detach()")
        lines += [f"\t{each}" for each in self._stepping(number)]
        return lines

    def _clip(self) -> str:
        return (
            f"self.clip_gradients(optimizer, gradient_clip_val={self.settings.clip!r},"
            f' gradient_clip_algorithm="{self.settings.algorithm}")'
        )

    def _stepping(self, number: str) -> list[str]:
        """Step the schedulers at the end of a batch."""
        plain = [(place, each) for place, each in enumerate(self.schedulers) if each.monitor is None]
        if not plain:
            return []
        lines = [] if len(self.schedulers) == 1 else ["schedulers = self.lr_schedulers()"]
        groups: dict[str, list[int]] = {}
        for place, each in plain:
            conditions = []
            if each.interval == "step":
                if self.settings.accumulate > 1:
                    conditions.append("last")
                if each.frequency > 1:
                    conditions.append(f"({number} + 1) % {each.frequency} == 0")
            else:
                conditions.append("self.trainer.is_last_batch")
                if each.frequency > 1:
                    conditions.append(f"(self.current_epoch + 1) % {each.frequency} == 0")
            groups.setdefault(" and ".join(conditions), []).append(place)
        for condition in sorted(groups, key=lambda text: "is_last_batch" in text):
            deeper = "\t" if condition else ""
            if condition:
                lines.append(f"if {condition}:")
            lines += [f"{deeper}{self._scheduler(place)}.step()" for place in groups[condition]]
        return lines

    def _plateau(self) -> list[str]:
        lines = []
        for place, each in enumerate(self.schedulers):
            if each.monitor is not None:
                scheduler = self._scheduler(place).replace("schedulers[", "self.lr_schedulers()[")
                step = f"{scheduler}.step(self.trainer.callback_metrics[{ast.unparse(each.monitor)}])"
                if each.frequency > 1:
                    lines += [f"if (self.current_epoch + 1) % {each.frequency} == 0:", f"\t{step}"]
                else:
                    lines.append(step)
        return lines

    def _scheduler(self, place: int) -> str:
        return "self.lr_schedulers()" if len(self.schedulers) == 1 else f"schedulers[{place}]"


def plan(file: FileContext, info: ClassInfo) -> Plan | str:
    """Say how a class can do by hand what 1.x did for it, or why a person has to look."""
    step = info.methods[_STEP]
    parameters = positional(step)
    family = [info, *info.ancestors(), *info.subclasses()]
    chunks = truncates(info)
    third = "hiddens" if chunks else "optimizer_idx"
    if optimizer_count(info) is not (Count.ONE if chunks else Count.MANY):
        return "how many optimizers there are is decided at run time, or they share hidden states"
    if len(parameters) != 4 or parameters[3].arg not in ({"hiddens"} if chunks else INDEX_NAMES):
        return f"the step has other parameters than batch, batch_idx and {third}"
    if step.args.vararg or step.args.kwarg or step.args.kwonlyargs or isinstance(step, ast.AsyncFunctionDef):
        return f"the step has other parameters than batch, batch_idx and {third}"
    if wrappers(step) or not defined_once(info, _STEP) or step not in info.node.body:
        return "the step is decorated, or not the only one of its class"
    if not info.known:
        return "a base class is out of sight"
    if any(_STEP in each.methods for each in family if each is not info):
        return "another class of its family has a step of its own"
    for hook in _SPEAKING_AGAINST:
        if any(hook in each.methods for each in family):
            return f"manual optimization does not do what `{hook}` is there for"
    for each in family:
        ended = each.methods.get("on_train_batch_end")
        if ended is not None and _reads_outputs(ended, each):
            return "`on_train_batch_end` reads the outputs"
        if assigned_to_self(each, "automatic_optimization"):
            return "`automatic_optimization` is set already"
    if {each.arg for each in parameters} & _LOCAL or self_name(step) != "self":
        return f"the step has other parameters than self, batch, batch_idx and {third}"
    configured = info.find_method("configure_optimizers")
    schedulers = schedulers_of(configured[1]) if configured is not None else None
    if schedulers is None:
        return "the schedulers that `configure_optimizers` returns are not seen"
    plateau = info.methods.get(_EPOCH_END)
    if (
        plateau is not None
        and any(each.monitor is not None for each in schedulers)
        and (returns(plateau) or wrappers(plateau) or self_name(plateau) != "self")
    ):
        return "`on_train_epoch_end` has returns"
    settings = settings_of(file)
    if isinstance(settings, str):
        return settings
    if chunks:
        if settings.accumulate > 1:
            return "gradients are summed over batches"
        if not _ends(step.body) or not all(_has_hiddens(each.value) for each in returns(step)):
            return 'the step does not return {"loss": …, "hiddens": …} in sight'
        if not any(assigned_to_self(each, "truncated_bptt_steps") for each in info.ancestors()):
            return "`truncated_bptt_steps` of the module is not in sight"
    if looked_up(file, _STEP):
        return "`training_step` is looked up by its name"
    for reference in references(file, _STEP):
        if reference.owner is None:
            continue
        if _of_family(reference.owner, info) and (
            reference.upward or reference.module.path != file.module.path
        ):
            return "`training_step` is called from elsewhere"
    taken = {name for each in family for name in each.methods}
    for each in family:
        for function in each.methods.values():
            taken |= attribute_names(each, function)
    helper = next((name for name in _NAMES if name not in taken), None)
    if helper is None:
        return "no name is left for the step"
    index = None if chunks else parameters[3].arg
    return Plan(file, info, step, index, helper, settings, schedulers)


def _of_family(owner: ClassInfo | None, info: ClassInfo) -> bool:
    nodes = {each.node for each in (info, *info.ancestors(), *info.subclasses())}
    return owner is not None and owner.node in nodes


def _reads_outputs(hook: Function, info: ClassInfo) -> bool:
    names = [each.arg for each in positional(hook)[1:2]]
    names += [each.arg for each in (hook.args.vararg, hook.args.kwarg) if each is not None]
    return any(name_nodes(hook, info.module, name) for name in names)


def _returned(step: Function) -> tuple[str, bool]:
    """Return what a step returns (``tensor``, ``dict``, ``any``), and whether it may be ``None``."""
    values = [each.value for each in returns(step)]
    given = [each for each in values if not _is_none(each)]
    optional = len(given) < len(values) or not _ends(step.body)
    kinds = {_kind(each, step) for each in given if each is not None}
    return (kinds.pop() if len(kinds) == 1 else "any"), optional


def _has_hiddens(value: ast.expr | None) -> bool:
    keys: set[object] = set()
    if isinstance(value, ast.Dict):
        keys = {getattr(key, "value", None) for key in value.keys}
    elif isinstance(value, ast.Call) and getattr(value.func, "id", "") == "dict":
        keys = {each.arg for each in value.keywords}
    return {"loss", "hiddens"} <= keys


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _kind(value: ast.expr, step: Function) -> str:
    if isinstance(value, ast.Name):
        assigned = [
            node.value
            for node in inner_nodes(step)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == value.id for target in node.targets)
        ]
        kinds = {_kind(each, step) if not isinstance(each, ast.Name) else "any" for each in assigned}
        if len(kinds) == 1:
            return kinds.pop()
        return "any"
    if isinstance(value, ast.Dict):
        keys = {getattr(key, "value", None) for key in value.keys}
        return "dict" if "loss" in keys else "any"
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        if name in ("dict", "OrderedDict"):
            return "dict"
        root = value.func
        while isinstance(root, (ast.Attribute, ast.Call)):
            root = root.value if isinstance(root, ast.Attribute) else root.func
        own = isinstance(root, ast.Name) and root.id == "self"
        return "any" if own or is_super(value) or name == "step" else "tensor"
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        return "tensor"
    return "any"


def _ends(body: list[ast.stmt]) -> bool:
    """Whether every way through statements ends in a ``return`` or an exception."""
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return _ends(last.body)
    return False

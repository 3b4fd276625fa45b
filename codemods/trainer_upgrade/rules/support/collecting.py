"""Code that collects what the steps return: a list made empty, filled, and read.

Nothing is stored that the old hook did not get: ``None`` is left out, a training entry is the dict that the
batch-end hook receives, and with several loaders there is a list for each.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.bodies import BodyEdits, insert_after, insert_before, starts_line
from trainer_upgrade.rules.support.outputs import Loaders, appendable
from trainer_upgrade.rules.support.reading import (
    defined_once,
    is_super,
    local_names,
    positional,
    wrappers,
)
from trainer_upgrade.rules.support.references import references
from trainer_upgrade.rules.support.stages import Stage

__all__ = ["Collected", "Unfit", "append_in_step", "capture", "needs_super"]


class Unfit(Exception):
    """The class is written in a way that leaves no sure rewrite; the text says why."""


@dataclass(slots=True)
class Collected:
    """Edits and new methods (see :func:`methods_before`) that collect the outputs."""

    edits: list[Edit] = field(default_factory=list)
    methods: list[list[str]] = field(default_factory=list)
    hooks: set[str] = field(default_factory=set)


def needs_super(info: ClassInfo, hook: str) -> bool:
    """Whether a new hook in a class would hide one that a base has, or may have."""
    if not info.known or any(hook in each.methods for each in info.ancestors()[1:]):
        return True
    for user in info.subclasses():
        order = user.ancestors()
        nodes = [each.node for each in order]
        if info.node in nodes and any(hook in each.methods for each in order[nodes.index(info.node) + 1 :]):
            return True
    return False


def append_in_step(file: FileContext, info: ClassInfo, stage: Stage, store: str) -> Collected | None:
    """Append to the list where the step returns; ``None`` where that is not provably the same.

    Raises:
        Unfit: The hook at the epoch's start is written in a way that cannot be added to.
    """
    statement = appendable(file, info, stage)
    step = info.methods.get(stage.step)
    init = info.methods.get("__init__")
    if statement is None or step is None or init is None or not info.known:
        return None
    if not all(defined_once(info, each.name) and each in info.node.body for each in (step, init)):
        return None
    if any(stage.step in each.methods or _binds(each, stage.step) for each in info.subclasses()):
        return None
    family = {each.node for each in (*info.ancestors(), *info.subclasses())}
    for reference in references(file, stage.step):
        owner = reference.owner
        if reference.module.path == file.module.path or (owner is not None and owner.node in family):
            return None
    if _mentions(info, stage.step) or not starts_line(file, statement):
        return None
    called = _super_init(init)
    if called is None or not starts_line(file, called):
        return None
    edits = [insert_after(file, called, [f"self.{store} = []"])]
    value = statement.value
    assert value is not None
    if isinstance(value, ast.Name):
        edits.append(insert_before(file, statement, [f"self.{store}.append({value.id})"]))
    else:
        name = next(each for each in ("output", "step_output", "result_") if each not in local_names(step))
        start = file.span(statement)[0]
        behind = start + len("return")
        blank = "" if file.source[behind : behind + 1] in " \t" else " "
        edits.append(Edit(start, behind, f"{name} ={blank}"))
        edits.append(insert_after(file, statement, [f"self.{store}.append({name})", f"return {name}"]))
    found = Collected(edits)
    # 1.x began each epoch with a new list, also after one that an error or Ctrl-C cut short.
    _start(file, info, stage, store, "one", found)
    return found


def capture(
    file: FileContext,
    info: ClassInfo,
    stage: Stage,
    store: str,
    loaders: Loaders,
    keys: tuple[str, ...] | None,
    *,
    extras: bool,
) -> Collected:
    """Collect in the hooks around the epoch and the batch, which needs no change of the step.

    Args:
        file: The file of the class.
        info: The class.
        stage: The stage.
        store: Name of the list.
        loaders: Whether there is a list for each loader.
        keys: Keys of a training entry that are read, if that is known.
        extras: Whether a training step may return more than a loss.

    Raises:
        Unfit: A hook of the class is written in a way that cannot be added to.
    """
    found = Collected()
    _start(file, info, stage, store, loaders, found)
    _batch_end(file, info, stage, store, loaders, keys, extras, found)
    return found


def _start(
    file: FileContext, info: ClassInfo, stage: Stage, store: str, loaders: Loaders, found: Collected
) -> None:
    hook = stage.start
    found.hooks.add(hook)
    own = info.methods.get(hook)
    if loaders == "one":
        lines = [f"self.{store} = []"]
    elif stage.name == "validation":
        counts = "trainer.num_sanity_val_batches if trainer.sanity_checking else trainer.num_val_batches"
        lines = ["trainer = self.trainer", f"loaders = {counts}", f"self.{store} = [[] for _ in loaders]"]
    else:
        lines = [f"self.{store} = [[] for _ in self.trainer.{stage.batches}]"]
    if own is not None:
        _add_head(file, info, own, lines, found)
        return
    method = [f"def {hook}(self):", *(f"\t{line}" for line in lines)]
    if needs_super(info, hook):
        method.append(f"\tsuper().{hook}()")
    found.methods.append(method)


def _batch_end(
    file: FileContext,
    info: ClassInfo,
    stage: Stage,
    store: str,
    loaders: Loaders,
    keys: tuple[str, ...] | None,
    extras: bool,
    found: Collected,
) -> None:
    hook = stage.batch_end
    found.hooks.add(hook)
    own = info.methods.get(hook)
    outputs, index = "outputs", "dataloader_idx"
    if own is not None:
        parameters = [each.arg for each in positional(own)]
        if len(parameters) < 3 or "batch" in parameters[1]:
            raise Unfit(f"`{hook}` of the class takes its arguments in a way that cannot be added to")
        outputs = parameters[1]
        if loaders != "one":
            if len(parameters) < 5:
                raise Unfit(f"`{hook}` of the class does not take `dataloader_idx`")
            index = parameters[4]
    place = f"self.{store}" if loaders == "one" else f"self.{store}[{index}]"
    if stage.name == "train":
        lines = [f"if {outputs}:", *(f"\t{line}" for line in _train_entry(place, outputs, keys, extras))]
    else:
        lines = [f"if {outputs} is not None:", f"\t{place}.append({outputs})"]
    if own is not None:
        _add_head(file, info, own, lines, found)
        return
    last = "" if stage.name == "train" else ", dataloader_idx=0"
    method = [f"def {hook}(self, outputs, batch, batch_idx{last}):", *(f"\t{line}" for line in lines)]
    if needs_super(info, hook):
        method.append(f"\tsuper().{hook}(outputs, batch, batch_idx{last.replace('=0', '')})")
    found.methods.append(method)


def _train_entry(place: str, outputs: str, keys: tuple[str, ...] | None, extras: bool) -> list[str]:
    """Store what is read of a training entry, without the graph that hangs on what the step added."""
    if not extras:
        return [f"{place}.append({outputs})"]
    if keys == ("loss",):
        return [f'{place}.append({{"loss": {outputs}["loss"]}})']
    lines = [f"{place}.append(", "\t{", '\t\tkey: value.detach() if hasattr(value, "detach") else value']
    lines.append(f"\t\tfor key, value in {outputs}.items()")
    if keys is not None:
        named = ", ".join(f'"{key}"' for key in keys) + ("," if len(keys) == 1 else "")
        lines.append(f"\t\tif key in ({named})")
    return [*lines, "\t}", ")"]


def _add_head(
    file: FileContext, info: ClassInfo, function: Function, lines: list[str], found: Collected
) -> None:
    if wrappers(function):
        raise Unfit(f"`{function.name}` of the class is decorated")
    if not defined_once(info, function.name) or function not in info.node.body:
        raise Unfit(f"the class has `{function.name}` more than once, or under a condition")
    body = BodyEdits(file, function)
    first = positional(function)
    if not first:
        raise Unfit(f"`{function.name}` of the class takes no `self`")
    lines = [line.replace("self.", f"{first[0].arg}.") for line in lines]
    taken = local_names(function)
    if any(line.startswith(("trainer =", "loaders =")) for line in lines) and taken & {"trainer", "loaders"}:
        raise Unfit(f"`{function.name}` of the class uses the names `trainer` and `loaders`")
    body.head = [_spaced(line, body.unit) for line in lines]
    try:
        found.edits += body.edits()
    except ValueError as error:
        raise Unfit(str(error)) from error


def _spaced(line: str, unit: str) -> str:
    depth = len(line) - len(line.lstrip("\t"))
    return unit * depth + line[depth:]


def _binds(info: ClassInfo, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in info.node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _mentions(info: ClassInfo, name: str) -> bool:
    """Whether a class body mentions one of its methods: ``test_step = validation_step``."""
    return any(
        isinstance(node, ast.Name) and node.id == name
        for statement in info.node.body
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(statement)
    )


def _super_init(init: Function) -> ast.stmt | None:
    """Return the statement at the top of ``__init__`` that calls the base's."""
    for statement in init.body:
        called = statement.value if isinstance(statement, ast.Expr) else None
        function = called.func if isinstance(called, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == "__init__":
            owner = function.value
            # Net.__init__(self), but not self.part.__init__()
            root = owner.value if isinstance(owner, ast.Attribute) else owner
            if is_super(owner) or (isinstance(root, ast.Name) and root.id != "self"):
                return statement
    return None

"""Moving a hook's body to the hook that took its place.

Where the class has no hook of the new name the old one is renamed, with the new parameters. Where it has
one, the old one becomes a private method that the new one calls: no body is copied, no two definitions of a
name arise.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.bodies import BodyEdits
from trainer_upgrade.rules.support.collecting import Unfit
from trainer_upgrade.rules.support.hook_rewrite import name_edit, rename_attribute
from trainer_upgrade.rules.support.lists import Items, call_items, parameter_items
from trainer_upgrade.rules.support.reading import decorators, local_names, positional, returns, super_calls
from trainer_upgrade.rules.support.references import references

__all__ = ["move_hook"]

# How parameters are written where the others are annotated.
_TYPED = {"stage": "stage: str", "batch_idx": "batch_idx: int", "exception": "exception: BaseException"}


def move_hook(
    file: FileContext,
    info: ClassInfo,
    function: Function,
    name: str,
    parameters: Sequence[str],
    *,
    guard: Sequence[str] = (),
    condition: str = "",
    last: bool = False,
) -> list[Edit]:
    """Return the edits that let a hook's body run as another hook.

    Args:
        file: The file.
        info: The class.
        function: The old hook.
        name: The new hook.
        parameters: The new hook's parameters, ``self`` aside; those of the old one must be the first of
        them, or a
            part of them in this order.
        guard: Lines for the begin of the body when the hook is renamed.
        condition: Condition under which the new hook calls the old body when both exist.
        last: Whether the old body runs after the new hook's own (before it otherwise).

    Raises:
        Unfit: There is no sure rewrite.
    """
    old = function.name
    given = [each.arg for each in positional(function)][1:]
    if function.args.vararg is not None or function.args.kwarg is not None or function.args.kwonlyargs:
        raise Unfit(f"`{old}` takes `*args` or keywords")
    if function not in info.node.body:
        raise Unfit(f"`{old}` is defined under a condition")
    if set(decorators(function)) & {"staticmethod", "classmethod", "property"}:
        raise Unfit(f"`{old}` is no plain method")
    by_hand = [each for each in references(file, old) if each.owner is not None and not each.upward]
    if any(
        each.owner is not None and each.owner.node in {r.node for r in _relatives(info)} for each in by_hand
    ):
        raise Unfit(f"`{old}` is called by hand")
    above = [each for each in info.ancestors()[1:] if old in each.methods]
    if super_calls(function, old) and above:
        raise Unfit(f"`super().{old}` is called")
    if any(old in each.methods for each in info.subclasses()):
        raise Unfit(f"a subclass overrides `{old}`")
    own = info.methods.get(name)
    if own is None:
        return _renamed(file, info, function, name, parameters, given, guard)
    return _merged(file, info, function, own, given, condition, last)


def _relatives(info: ClassInfo) -> list[ClassInfo]:
    return [*info.ancestors(), *info.subclasses()]


def _renamed(
    file: FileContext,
    info: ClassInfo,
    function: Function,
    name: str,
    parameters: Sequence[str],
    given: list[str],
    guard: Sequence[str],
) -> list[Edit]:
    old = function.name
    if any(name in each.methods for each in (*info.ancestors()[1:], *info.subclasses())):
        raise Unfit(f"another class of the hierarchy has `{name}`")
    plain = [each.partition("=")[0].partition(":")[0] for each in parameters]
    edits = [name_edit(file, function, name)]
    taken = local_names(function) - set(given)
    missing = [each for each in plain if each not in given]
    items = parameter_items(function, file.module)
    written = [_TYPED.get(each, each) if items.annotated else each for each in parameters]
    edits += _parameters(items, plain, written, given, function)
    if taken & set(missing):
        raise Unfit(f"`{old}` uses the name `{min(taken & set(missing))}` for something else")
    for call in super_calls(function, old):
        # The base's hook did nothing; the new one takes what it is given.
        assert isinstance(call.func, ast.Attribute)
        inner = call_items(call, file.module)
        edits.append(Edit(inner.open, inner.close, ", ".join(plain)))
        edits.append(rename_attribute(file, call.func, name))
    body = BodyEdits(file, function)
    body.head = [line.replace("\t", body.unit) for line in guard]
    try:
        return edits + body.edits()
    except ValueError as error:
        raise Unfit(str(error)) from error


def _parameters(
    items: Items, plain: list[str], parameters: list[str], given: list[str], function: Function
) -> list[Edit]:
    """Return the edits that turn the old parameter list into the new one."""
    if len(given) > len(plain):
        raise Unfit(f"`{function.name}` takes more than 1.x passed")
    if not given or (given[0] == plain[0] and given == plain[: len(given)]):
        rest = parameters[len(given) :]
        return [items.inserted(len(items.items), ", ".join(rest))] if rest else []
    wanted = [position for position, each in enumerate(plain) if each in given]
    if [plain[position] for position in wanted] == given:
        # A part of the new parameters, in order: write the list anew.
        first, last = items.items[1], items.items[-1]
        return [Edit(first.start, last.end, ", ".join(parameters))]
    if len(given) == 2 and plain[:2] == ["trainer", "pl_module"]:
        rest = parameters[2:]
        return [items.inserted(len(items.items), ", ".join(rest))] if rest else []
    raise Unfit(f"`{function.name}` names its parameters in a way of its own")


def _merged(
    file: FileContext,
    info: ClassInfo,
    function: Function,
    own: Function,
    given: list[str],
    condition: str,
    last: bool,
) -> list[Edit]:
    helper = f"_{function.name}"
    if any(helper in each.methods for each in _relatives(info)):
        raise Unfit(f"the name `{helper}` is taken")
    if decorators(own) or own not in info.node.body or own.args.vararg is not None:
        raise Unfit(f"`{own.name}` of the class is decorated or takes `*args`")
    if super_calls(function, function.name):
        raise Unfit(f"`super().{function.name}` is called")
    parameters = [each.arg for each in positional(own)]
    names = ["trainer", "pl_module"] if given[:1] and len(given) == 2 else given
    if any(each not in parameters for each in names):
        raise Unfit(f"`{own.name}` of the class takes other parameters")
    if last and returns(own):
        raise Unfit(f"`{own.name}` of the class returns early")
    body = BodyEdits(file, own)
    line = f"{parameters[0]}.{helper}({', '.join(names)})"
    lines = [f"if {condition}:", f"{body.unit}{line}"] if condition else [line]
    if last:
        body.tail = lines
    else:
        body.head = lines
    try:
        return [name_edit(file, function, helper), *body.edits()]
    except ValueError as error:
        raise Unfit(str(error)) from error

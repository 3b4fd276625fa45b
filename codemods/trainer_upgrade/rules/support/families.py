"""The classes that share one epoch-end hook: who defines it, who calls it, and what form the upgrade takes.

All files of a project must come to the same answer, also when some of its classes are upgraded already.
Therefore a class counts as one of the family if it has the old hook, or the method that took the old
hook's place and still takes ``outputs``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum

from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.reading import (
    attribute_names,
    decorators,
    inner_nodes,
    is_super,
    name_nodes,
    positional,
    wrappers,
)
from trainer_upgrade.rules.support.references import Reference, references
from trainer_upgrade.rules.support.stages import Stage

__all__ = ["Family", "Form", "Member", "family_of", "migrated"]


class Form(Enum):
    """What the upgrade does with the old hook.

    ``RENAME``: nobody reads the outputs: only the name and the parameter change. ``INLINE``: the hook reads
    what was collected. ``SPLIT``: the old body stays a method that takes the outputs, because somebody else
    calls or overrides it, and a new hook calls it.
    """

    RENAME = "rename"
    INLINE = "inline"
    SPLIT = "split"


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A class that defines the hook, under its old name or (``done``) under its new private one.

    Attributes:
        info: The class.
        function: The function that is the hook; for an alias the one it stands for.
        alias: The assignment ``test_epoch_end = validation_epoch_end``, if it is one.
        done: Whether the class is upgraded already.
    """

    info: ClassInfo
    function: Function
    alias: ast.Assign | None = None
    done: bool = False

    @property
    def parameter(self) -> ast.arg | None:
        """The parameter that receives the outputs."""
        parameters = positional(self.function)
        skip = 0 if "staticmethod" in decorators(self.function) else 1
        return parameters[skip] if len(parameters) > skip else None


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """All classes related through one hook.

    Attributes:
        stage: The stage.
        members: The classes that define the hook.
        related: These, the project's classes they derive from, and those that derive from them.
        form: What the upgrade does.
        helper: Name of the method that takes the outputs, for ``SPLIT``.
        store: Name of the list.
        calls: Mentions of the hook by hand, ``super()`` in the hook itself aside.
    """

    stage: Stage
    members: tuple[Member, ...]
    related: tuple[ClassInfo, ...]
    form: Form
    helper: str
    store: str
    calls: tuple[Reference, ...]

    def member(self, info: ClassInfo) -> Member | None:
        """Return how a class defines the hook."""
        for each in self.members:
            if each.info.node is info.node:
                return each
        return None

    def is_root(self, info: ClassInfo) -> bool:
        """Whether no visible base of a class defines the hook, so that the collecting belongs here."""
        return not any(self.member(each) for each in info.ancestors()[1:])

    def above(self, info: ClassInfo) -> bool | None:
        """Whether ``super().<hook>`` reaches another member; ``None`` when it depends on who asks."""
        if any(self.member(each) for each in info.ancestors()[1:]):
            return True
        answers = set()
        for user in info.subclasses():
            order = [each.node for each in user.ancestors()]
            behind = order[order.index(info.node) + 1 :] if info.node in order else []
            answers.add(any(each.info.node in behind for each in self.members))
        if not answers:
            return False
        return answers.pop() if len(answers) == 1 else None


def family_of(file: FileContext, info: ClassInfo, stage: Stage) -> Family | None:
    """Return the family of a class's hook, or ``None`` if the class does not define it."""
    key = ("epoch-end", stage.legacy, info.node)
    memo = file.project.memo
    if key in memo:
        return memo[key]  # type: ignore[return-value]
    found = _make(file, info, stage)
    for member in found.members if found is not None else ():
        memo["epoch-end", stage.legacy, member.info.node] = found
    memo[key] = found
    return found


def migrated(info: ClassInfo, stage: Stage) -> str | None:
    """Return the method that an upgraded hook of a class or its bases passes the outputs to."""
    for each in info.ancestors():
        hook = each.methods.get(stage.end)
        if hook is None:
            continue
        names = attribute_names(each, hook)
        if names.isdisjoint(stage.stores):
            continue
        for helper in stage.helpers:
            if helper in names:
                return helper
    return None


def _own(info: ClassInfo, stage: Stage, helper: str | None) -> Member | None:
    function = info.methods.get(stage.legacy)
    if function is not None:
        return Member(info, function)
    for statement in info.node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and isinstance(value, ast.Name):
                done = target.id == helper
                found = info.methods.get(value.id)
                if (target.id == stage.legacy or done) and found is not None:
                    return Member(info, found, statement, done)
    if helper is not None and helper in info.methods:
        return Member(info, info.methods[helper], done=True)
    return None


def _defines(info: ClassInfo, stage: Stage) -> Member | None:
    own = _own(info, stage, None)
    if own is not None or not _may_be_done(info, stage):
        return own
    helper = migrated(info, stage)
    if helper is None:
        for each in info.subclasses():
            helper = migrated(each, stage)
            if helper is not None:
                break
    return _own(info, stage, helper or _waiting(info, stage))


def _waiting(info: ClassInfo, stage: Stage) -> str | None:
    """Return the private method of a class whose base is yet to be upgraded: only ``super()`` mentions it."""
    if not any(stage.legacy in each.methods for each in info.ancestors()[1:]):
        return None
    for helper in stage.helpers:
        if helper not in info.methods:
            continue
        for each in info.ancestors():
            for function in each.methods.values():
                if helper in attribute_names(each, function) and any(
                    isinstance(node, ast.Attribute) and node.attr == helper and not is_super(node.value)
                    for node in inner_nodes(function)
                ):
                    return None
        return helper
    return None


def _may_be_done(info: ClassInfo, stage: Stage) -> bool:
    if not info.methods.keys().isdisjoint(stage.helpers):
        return True
    targets = (each.targets[0] for each in info.node.body if isinstance(each, ast.Assign))
    return any(isinstance(each, ast.Name) and each.id in stage.helpers for each in targets)


def _make(file: FileContext, info: ClassInfo, stage: Stage) -> Family | None:
    first = _defines(info, stage)
    if first is None:
        return None
    members: dict[ast.AST, Member] = {info.node: first}
    related: dict[ast.AST, ClassInfo] = {info.node: info}
    left = [info]
    while left:
        current = left.pop()
        near = [*current.ancestors(), *current.subclasses()]
        for user in current.subclasses():
            near += user.ancestors()
        for each in near:
            related.setdefault(each.node, each)
            if each.node not in members:
                found = _defines(each, stage)
                if found is not None:
                    members[each.node] = found
                    left.append(each)
    nodes = set(related)
    hooks = {each.function for each in members.values() if each.alias is None}
    calls = []
    for name in (stage.legacy, *stage.helpers):
        for reference in references(file, name):
            if reference.owner is None or reference.owner.node not in nodes:
                continue
            if reference.upward and reference.function in hooks:
                continue
            if name != stage.legacy and _is_new_call(reference, stage):
                continue
            calls.append(reference)
    taken = {name for each in related.values() for name in _names(each)}
    done = next((each.function.name for each in members.values() if each.done and each.alias is None), None)
    helper = done or next((each for each in stage.helpers if each not in taken), stage.helpers[0])
    store = _store(tuple(related.values()), stage)
    return Family(
        stage=stage,
        members=tuple(members.values()),
        related=tuple(related.values()),
        form=_form(file, tuple(members.values()), tuple(related.values()), stage, bool(calls)),
        helper=helper,
        store=store,
        calls=tuple(calls),
    )


def _is_new_call(reference: Reference, stage: Stage) -> bool:
    """Whether a mention of the private method is the upgraded hook's own (or the user's unrelated method)."""
    if reference.owner is None or migrated(reference.owner, stage) is None:
        return True
    return reference.function is not None and reference.function.name == stage.end


def _names(info: ClassInfo) -> set[str]:
    names = _in_body(info)
    for function in info.methods.values():
        names |= attribute_names(info, function)
    return names


def _in_body(info: ClassInfo) -> set[str]:
    """Return what a class body binds: methods, attributes, nested classes."""
    inner = info.module.scopes.inner.get(info.node)
    return {*info.methods, *(inner.bindings if inner is not None else ())}


def _store(related: tuple[ClassInfo, ...], stage: Stage) -> str:
    taken: set[str] = set()
    for each in related:
        for function in each.methods.values():
            taken |= attribute_names(each, function).intersection(stage.stores)
        taken |= _in_body(each).intersection(stage.stores)
        end = each.methods.get(stage.end)
        if end is not None and migrated(each, stage):
            return next(iter(attribute_names(each, end).intersection(stage.stores)))
    return next((name for name in stage.stores if name not in taken), "")


# Builtins that see every local name.
_ALL_NAMES = frozenset({"locals", "vars", "eval", "exec"})


def reads_outputs(member: Member, stage: Stage) -> bool:
    """Whether a hook, or its decorator, may do more with the outputs than hand them to ``super()``'s."""
    function, module = member.function, member.info.module
    if wrappers(function):
        return True
    for variadic in (function.args.vararg, function.args.kwarg):
        if variadic is not None and name_nodes(function, module, variadic.arg):
            return True
    if any(isinstance(node, ast.Name) and node.id in _ALL_NAMES for node in inner_nodes(function)):
        return True
    parameter = member.parameter
    if parameter is None:
        return False
    used = name_nodes(function, module, parameter.arg)
    for node in used:
        call = module.scopes.parents.get(node)
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in (stage.legacy, *stage.helpers)
            and is_super(call.func.value)
            and call.args == [node]
            and not call.keywords
        ):
            return True
    return False


def _form(
    file: FileContext, members: tuple[Member, ...], related: tuple[ClassInfo, ...], stage: Stage, called: bool
) -> Form:
    if any(each.done for each in members):
        return Form.SPLIT
    reading = [each for each in members if reads_outputs(each, stage)]
    both = [each for each in members if stage.end in each.info.methods]
    named = any(_mentioned(each.info, stage.legacy) for each in members)
    wrapped = any(wrappers(each.function) for each in members)
    if not reading and not called and not both and not wrapped:
        return Form.RENAME
    aliased = any(each.alias is not None for each in members)
    if len(members) > 1 or called or both or named or aliased or wrapped:
        return Form.SPLIT
    return Form.INLINE


def _mentioned(info: ClassInfo, name: str) -> bool:
    """Whether a class body gives the hook another name, too."""
    return any(
        isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id == name
        for each in info.node.body
    )

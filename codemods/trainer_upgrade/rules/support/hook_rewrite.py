"""Makes the fix of one class's epoch-end hook: the three forms of :class:`Form`, as edits."""

from __future__ import annotations

import ast
import re

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Fix
from trainer_upgrade.project.classes import ClassInfo, Function
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.bodies import (
    BodyEdits,
    insert_before,
    methods_before,
    reserve,
    starts_line,
)
from trainer_upgrade.rules.support.collecting import Collected, Unfit, append_in_step, capture, needs_super
from trainer_upgrade.rules.support.families import Family, Form, Member, reads_outputs
from trainer_upgrade.rules.support.lists import call_items, parameter_items
from trainer_upgrade.rules.support.optimizers import Count, manual_optimization, optimizer_count
from trainer_upgrade.rules.support.outputs import keeps_list, keys_read, loaders, returns_dict, step_of
from trainer_upgrade.rules.support.reading import (
    decorators,
    defined_once,
    inner_nodes,
    is_super,
    name_nodes,
    positional,
    returns,
    self_name,
    super_calls,
    wrappers,
)
from trainer_upgrade.rules.support.references import foreign, looked_up, references
from trainer_upgrade.rules.support.stages import BY_LEGACY, OLDER

__all__ = ["HookRewrite", "drop_arguments", "name_edit", "rename_attribute"]

_DEF = re.compile(r"(?:async\s+)?def\s+")


def name_edit(file: FileContext, function: Function, name: str) -> Edit:
    """Return the edit that renames a function where it is defined."""
    start, end = file.span(function)
    match = _DEF.match(file.source, start, end)
    assert match is not None
    return Edit(match.end(), match.end() + len(function.name), name)


def rename_attribute(file: FileContext, node: ast.Attribute, name: str) -> Edit:
    """Return the edit that renames the last part of ``x.y.z``."""
    end = file.span(node)[1]
    return Edit(end - len(node.attr), end, name)


def drop_arguments(file: FileContext, call: ast.Call) -> list[Edit]:
    """Return the edit that takes all arguments of a call away."""
    items = call_items(call, file.module)
    return [Edit(items.open, items.close, "")] if items.close > items.open else []


class HookRewrite:
    """The edits for one class that defines the hook."""

    def __init__(self, file: FileContext, family: Family, member: Member) -> None:
        """Rewrite a member of a family in its file."""
        self.file = file
        self.family = family
        self.member = member
        self.stage = family.stage
        self.info: ClassInfo = member.info
        self.function: Function = member.function
        self.edits: list[Edit] = []
        self.unimports: tuple[str, ...] = ()
        self.hooks: set[str] = {self.stage.end}

    def fix(self, applicability: Applicability) -> Fix:
        """Return the fix.

        Raises:
            Unfit: There is no sure rewrite.
        """
        self._refuse()
        stage = self.stage
        if self.family.form is Form.RENAME:
            self._rename()
            message = f"rename `{stage.legacy}` to `{stage.end}`"
        elif self.family.form is Form.INLINE and self._inline():
            message = f"collect the outputs and read them in `{stage.end}`"
        else:
            self._split()
            message = f"collect the outputs and pass them on in `{stage.end}`"
        node = self.info.node
        reserved = {reserve(self.file, node, each) for each in self.hooks}
        return Fix(applicability, message, (*self.edits, *sorted(reserved)), unimports=self.unimports)

    def applicability(self) -> Applicability:
        """Say how sure the rewrite is."""
        stage, info = self.stage, self.info
        if stage in OLDER:
            return Applicability.UNSAFE  # from 1.0 on nothing called it
        reading = any(reads_outputs(each, stage) for each in self.family.members)
        if reading and any(stage.step_end in each.methods for each in self.family.related):
            return Applicability.UNSAFE
        if super_calls(self.function, stage.legacy) and not info.known:
            return Applicability.UNSAFE
        if self.doubt():
            return Applicability.UNSAFE
        if reading and stage.name == "train":
            sure = manual_optimization(info) or optimizer_count(info) is Count.ONE
            if not sure or step_of(info, stage.step) is None:
                return Applicability.UNSAFE
        return Applicability.SAFE

    def doubt(self) -> str:
        """Say what outside of the hooks may go wrong; empty if nothing is in sight."""
        legacy = self.stage.legacy
        if legacy not in BY_LEGACY:
            return ""
        for reference in references(self.file, legacy):
            if reference.owner is None and not foreign(self.file, reference.node.value, reference.module):
                return (
                    f"{reference.module.path.name}:{reference.node.lineno} mentions it on an unknown object"
                )
        for module, call in looked_up(self.file, legacy):
            return f"{module.path.name}:{call.lineno} looks it up by its name"
        if any("__setattr__" in each.methods for each in self.family.related):
            return "the class has its own way of setting attributes"
        return ""

    # The three forms

    def _rename(self) -> None:
        stage = self.stage
        if self.member.alias is not None:
            self.edits.append(self._target(self.member.alias, stage.end))
            return
        self.edits.append(name_edit(self.file, self.function, stage.end))
        self._drop_parameter()
        for call in super_calls(self.function, stage.legacy):
            self.edits.append(rename_attribute(self.file, _attribute(call), stage.end))
            self.edits += drop_arguments(self.file, call)
        body = BodyEdits(self.file, self.function)
        if self._hides_end():
            if returns(self.function):
                raise Unfit(f"a base has `{stage.end}` too and the hook returns early")
            body.tail.append(f"super().{stage.end}()")
        self._add(body)
        self._class_mentions(stage.end)

    def _inline(self) -> bool:
        """Rewrite the hook in place; ``False`` if its returns do not allow it."""
        stage, file, function = self.stage, self.file, self.function
        parameter = self.member.parameter
        if parameter is None:
            raise Unfit("the outputs come in by `*args`")
        found = returns(function)
        last = found[0] if len(found) == 1 and found[0] is function.body[-1] else None
        early = bool(found) and last is None
        hides = self._hides_end()
        if early and hides:
            return False
        kind = loaders(self.info, stage)
        swap = early or (
            last is not None and self._uses(last.value, parameter.arg) and not _is_call(last.value)
        )
        if swap and hides:
            return False
        if last is not None and not starts_line(file, last):
            return False
        store = self._store()
        clear = f"self.{store} = []"
        if kind == "one" and not keeps_list(function, file.module, parameter.arg):
            clear = f"self.{store}.clear()"
        collected = self._collect(store, append=not early and not decorators(function))
        body = BodyEdits(file, function)
        body.head.append(f"{parameter.arg} = self.{store}")
        if kind == "unknown":
            body.head += [
                f"if len({parameter.arg}) == 1:",
                f"{body.unit}{parameter.arg} = {parameter.arg}[0]",
            ]
        ending = [] if swap else [clear]
        if swap:
            body.head.append(f"self.{store} = []")
        if hides:
            ending.append(f"super().{stage.end}()")
        if last is not None and ending:
            if _is_call(last.value):
                start = file.span(last)[0]
                assert last.value is not None
                self.edits.append(Edit(start, start + len("return"), ""))
                self._strip_blank(start + len("return"))
                if function.returns is not None:
                    self.edits.append(file.edit(function.returns, "None"))
                body.tail = ending
            else:
                self.edits.append(insert_before(file, last, ending))
        else:
            body.tail = ending
        self.edits.append(name_edit(file, function, stage.end))
        self._drop_parameter()
        for call in super_calls(function, stage.legacy):
            self.edits.append(rename_attribute(file, _attribute(call), stage.end))
            self.edits += drop_arguments(file, call)
        self._add(body)
        self._insert(collected, [])
        return True

    def _split(self) -> None:
        stage, file, family = self.stage, self.file, self.family
        helper = family.helper
        if self.member.alias is not None:
            self.edits.append(self._target(self.member.alias, helper))
        else:
            self.edits.append(name_edit(file, self.function, helper))
            above = family.above(self.info)
            for call in super_calls(self.function, stage.legacy):
                if above is None:
                    raise Unfit(f"`super().{stage.legacy}` means different hooks in different classes")
                self.edits.append(rename_attribute(file, _attribute(call), helper if above else stage.end))
                if not above:
                    self.edits += drop_arguments(file, call)
        self._class_mentions(helper)
        self._own_calls(helper)
        if not family.is_root(self.info):
            return
        if self.info.kind is None and len([each for each in family.members if family.is_root(each.info)]) > 1:
            raise Unfit("the hook comes from a mixin and from another base")
        reading = any(reads_outputs(each, stage) for each in family.members)
        store = self._store() if reading else ""
        collected = self._collect(store, append=False) if reading else Collected()
        plain = self.member.alias is None and not wrappers(self.function)
        if not reading and len(family.members) == 1 and not family.calls and plain:
            self._drop_parameter()
            lines = [f"self.{helper}()"]
        else:
            lines = self._passing(store, loaders(self.info, stage))
        own = self.info.methods.get(stage.end)
        if own is not None:
            self._merge(own, lines)
            self._insert(collected, [])
            return
        method = [f"def {stage.end}(self):", *(f"\t{line}" for line in lines)]
        if self._hides_end():
            method.append(f"\tsuper().{stage.end}()")
        self._insert(collected, [method])

    def _passing(self, store: str, kind: str) -> list[str]:
        helper = self.family.helper
        if not store:
            return [f"self.{helper}([])"]
        if kind == "unknown":
            return [
                f"outputs = self.{store}",
                f"self.{helper}(outputs[0] if len(outputs) == 1 else outputs)",
                f"self.{store} = []",
            ]
        return [f"self.{helper}(self.{store})", f"self.{store} = []"]

    def _merge(self, own: Function, lines: list[str]) -> None:
        """Let the class's own ``on_…_epoch_end`` call the old hook first, as 1.x did."""
        once = defined_once(self.info, own.name) and own in self.info.node.body
        if len(positional(own)) != 1 or decorators(own) or not once:
            raise Unfit(f"the class has an `{own.name}` of its own that is decorated or takes arguments")
        instance = self_name(own)
        if instance is None:
            raise Unfit(f"`{own.name}` of the class takes no `self`")
        body = BodyEdits(self.file, own)
        body.head = [re.sub(r"\bself\.", f"{instance}.", line) for line in lines]
        self._add(body)

    # Parts

    def _refuse(self) -> None:
        function = self.function
        if isinstance(function, ast.AsyncFunctionDef):
            raise Unfit("the hook is a coroutine")
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inner_nodes(function)):
            raise Unfit("the hook is a generator")
        if {"staticmethod", "classmethod", "property"} & set(decorators(function)) or self_name(
            function
        ) is None:
            raise Unfit("the hook takes no `self`")
        if any(each.info.mixed_kind() != "LightningModule" for each in self.family.members):
            raise Unfit("it is shared with classes that are not known to be LightningModules")
        if self.info.module.path != self.file.module.path:
            raise Unfit("it is in another file")
        name = function.name if self.member.alias is None else ast.unparse(self.member.alias.targets[0])
        if not defined_once(self.info, name):
            raise Unfit("the class defines it more than once")
        parents = self.file.module.scopes.parents
        if any(
            isinstance(node, ast.Call) and is_super(node) and not isinstance(parents.get(node), ast.Attribute)
            for node in inner_nodes(function)
        ):
            raise Unfit("it keeps `super()` in a variable")
        extra = positional(function)[2:]
        if len(extra) > len(function.args.defaults) and self.family.form is not Form.SPLIT:
            raise Unfit("it takes more than the outputs")
        if (
            self.member.alias is None
            and self.function not in self.info.node.body
            and self.family.form is Form.INLINE
        ):
            raise Unfit("it is defined under a condition")
        if self_name(function) != "self":
            raise Unfit(f"it calls its instance `{self_name(function)}`")

    def _store(self) -> str:
        if not self.family.store:
            raise Unfit("the names for the list are taken")
        return self.family.store

    def _collect(self, store: str, *, append: bool) -> Collected:
        stage, info = self.stage, self.info
        kind = loaders(info, stage)
        step_end = any(stage.step_end in each.methods for each in self.family.related)
        if append and kind == "one" and not step_end and self.family.form is Form.INLINE:
            found = append_in_step(self.file, info, stage, store)
            if found is not None:
                self.hooks |= found.hooks
                return found
        keys = None
        if self.family.form is Form.INLINE and self.member.parameter is not None:
            keys = keys_read(self.function, self.file.module, self.member.parameter.arg)
        found = capture(self.file, info, stage, store, kind, keys, extras=returns_dict(info, stage))
        self.hooks |= found.hooks
        return found

    def _insert(self, collected: Collected, methods: list[list[str]]) -> None:
        self.edits += collected.edits
        every = [*collected.methods, *methods]
        if every:
            anchor = self.function
            if self.member.alias is not None:
                start = self.file.full_span(self.member.alias)[0]
                edit = methods_before(self.file, anchor, every)
                self.edits.append(Edit(start, start, edit.content))
            else:
                self.edits.append(methods_before(self.file, anchor, every))

    def _add(self, body: BodyEdits) -> None:
        try:
            self.edits += body.edits()
        except ValueError as error:
            raise Unfit(str(error)) from error

    def _hides_end(self) -> bool:
        stage = self.stage
        if super_calls(self.function, stage.legacy):
            return False  # it becomes the call of the base's hook
        for each in self.info.ancestors()[1:]:
            if stage.end in each.methods and self.family.member(each) is None:
                return True
        return not self.info.known and needs_super(self.info, stage.end)

    def _drop_parameter(self) -> None:
        parameter = self.member.parameter
        items = parameter_items(self.function, self.file.module)
        drop = [
            position for position, item in enumerate(items.items) if parameter and item.name == parameter.arg
        ]
        drop += [
            position
            for position, item in enumerate(items.items)
            if item.stars and item.name and not name_nodes(self.function, self.file.module, item.name)
        ]
        self.edits += items.without(drop)
        if parameter is not None and parameter.annotation is not None:
            nodes = ast.walk(parameter.annotation)
            self.unimports = tuple(sorted({node.id for node in nodes if isinstance(node, ast.Name)}))

    def _class_mentions(self, name: str) -> None:
        """Rename the hook where the class body mentions it: ``test_epoch_end = validation_epoch_end``."""
        legacy = self.stage.legacy
        for statement in self.info.node.body:
            value = statement.value if isinstance(statement, ast.Assign) else None
            if isinstance(value, ast.Name) and value.id == legacy:
                self.edits.append(self.file.edit(value, name))

    def _own_calls(self, helper: str) -> None:
        for reference in self.family.calls:
            node = reference.node
            if reference.module.path != self.file.module.path or node.attr != self.stage.legacy:
                continue
            owner = self.file.enclosing_class(node)
            if owner is self.info.node:
                self.edits.append(rename_attribute(self.file, node, helper))

    def _target(self, alias: ast.Assign, name: str) -> Edit:
        return self.file.edit(alias.targets[0], name)

    def _uses(self, value: ast.expr | None, name: str) -> bool:
        inside = set(ast.walk(value)) if value is not None else set()
        return any(node in inside for node in name_nodes(self.function, self.file.module, name))

    def _strip_blank(self, position: int) -> None:
        """Take the blanks behind a removed ``return`` away, too."""
        end = position
        while self.file.source[end : end + 1] in (" ", "\t"):
            end += 1
        last = self.edits.pop()
        self.edits.append(Edit(last.start, end, ""))


def _attribute(call: ast.Call) -> ast.Attribute:
    assert isinstance(call.func, ast.Attribute)
    assert is_super(call.func.value)
    return call.func


def _is_call(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call)

"""Where a Trainer is built: calls, ``super().__init__``, ``partial``, and a ``**dict`` that is in sight."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import Edit
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import Argument, CallEditor, ListEditor
from trainer_upgrade.rules._expressions import literal
from trainer_upgrade.rules._imports import target_of

__all__ = ["Given", "TrainerCall", "trainer_call"]

_POSITIONAL = ("logger", "checkpoint_callback")


class DictEditor(ListEditor):
    """Changes the entries of a dict display: texts given as ``name=value`` are written ``"name": value``."""

    def __init__(self, file: FileContext, node: ast.Dict) -> None:
        """Look at the entries of ``node``."""
        self.dict = node
        start, end = file.span(node)
        keys: list[ast.expr | ast.keyword | ast.alias] = [key for key in node.keys if key is not None]
        super().__init__(file, keys, start, end - 1, "{")
        values = {
            id(key): value for key, value in zip(node.keys, node.values, strict=True) if key is not None
        }
        for item in self.arguments:
            value = values[id(item.node)]
            item.value = value
            item.name = str(literal(item.node))
            low = file.span(item.node)[1]
            first, last = file.span(value)
            item.end = self._widen_right(self._widen_left(low, first), last)
            item.comma = self._comma(item.end)

    def replace(self, argument: Argument, *texts: str) -> None:
        """Put entries in the place of one."""
        super().replace(argument, *(self._entry(text) for text in texts))

    def add(self, *texts: str) -> None:
        """Add entries at the end."""
        super().add(*(self._entry(text) for text in texts))

    def set_value(self, argument: Argument, text: str) -> None:
        """Give an entry another value."""
        assert isinstance(argument.value, ast.expr)
        head = self.source[
            argument.start : self._widen_left(
                self.file.span(argument.node)[1], self.file.span(argument.value)[0]
            )
        ]
        super().replace(argument, head + text)

    def value_text(self, argument: Argument) -> str:
        """Return the text of an entry's value."""
        start = self._widen_left(self.file.span(argument.node)[1], self.file.span(argument.value)[0])
        return self.source[start : argument.end]

    def _entry(self, text: str) -> str:
        name, _, value = text.partition("=")
        quote = (
            "'"
            if self.source[self.low : self.close].count("'") > self.source[self.low : self.close].count('"')
            else '"'
        )
        return f"{quote}{name.strip()}{quote}: {value.strip()}"


@dataclass(eq=False)
class Given:
    """One argument that a Trainer gets.

    Attributes:
        name: Its name (of a positional one, too).
        value: The expression.
        text: The expression as it is written.
        item: Its place.
        editor: What changes that place.
        node: The node to report at.
    """

    name: str
    value: ast.expr
    text: str
    item: Argument
    editor: CallEditor | DictEditor
    node: ast.AST

    @property
    def positional(self) -> bool:
        """Whether it has no name in the call."""
        return self.item.name is None


@dataclass(eq=False)
class TrainerCall:
    """One place that builds a Trainer.

    Attributes:
        call: The call.
        target: Where the Trainer it builds leads.
        kind: ``call``, ``super``, ``partial`` or ``subclass``.
        given: The arguments, in the order of the source.
        editors: All places that can be changed; the call itself first.
        open: Arguments come from ``*`` or ``**`` that cannot be seen.
        positional: Positional arguments whose meaning depends on the release.
    """

    call: ast.Call
    target: Target
    kind: str
    given: list[Given] = field(default_factory=list)
    editors: list[CallEditor | DictEditor] = field(default_factory=list)
    open: bool = False
    positional: list[ast.expr] = field(default_factory=list)

    def get(self, name: str) -> Given | None:
        """Return the argument of this name."""
        return next((each for each in self.given if each.name == name), None)

    def edits(self) -> list[Edit]:
        """Return the edits of all editors."""
        return [edit for editor in self.editors for edit in editor.edits()]

    def fresh(self, file: FileContext) -> TrainerCall:
        """Return the same call with nothing changed yet."""
        made = trainer_call(self.call, file)
        assert made is not None
        return made


def trainer_call(call: ast.Call, file: FileContext) -> TrainerCall | None:
    """Return how a call builds a Lightning Trainer, or ``None`` if it builds none."""
    skip = 0
    function = call.func
    name = file.lightning_name(function)
    if name == "pytorch_lightning.Trainer":
        kind, target = "call", target_of(function, file)
    elif _is_partial(call, file):
        kind, target, skip = "partial", target_of(_partial_root(call, file), file), 1
    elif _is_super(call, file):
        kind, target = "super", _inherited(call, file)
    else:
        made = file.constructed(call)
        if made is None or made.label != "Trainer":
            return None
        if made.info is not None and made.info.find_method("__init__") is not None:
            return None  # its arguments are its own business
        kind = "subclass"
        target = _class_target(made.info, file) if made.info is not None else target_of(function, file)
    found = TrainerCall(call, target, kind)
    editor = CallEditor(file, call)
    found.editors.append(editor)
    _read(found, editor, file, skip)
    return found


def _read(found: TrainerCall, editor: CallEditor, file: FileContext, skip: int) -> None:
    positional = 0
    for item in editor.arguments:
        node = item.node
        if isinstance(node, ast.keyword):
            if node.arg is not None:
                found.given.append(Given(node.arg, node.value, editor.value_text(item), item, editor, node))
            else:
                _unpack(found, node.value, file)
            continue
        if isinstance(node, ast.Starred):
            found.open = True
            positional = len(_POSITIONAL)
            continue
        if not isinstance(node, ast.expr):
            continue
        if skip:
            skip -= 1
            continue
        if positional < len(_POSITIONAL):
            found.given.append(
                Given(_POSITIONAL[positional], node, editor.value_text(item), item, editor, node)
            )
        else:
            found.positional.append(node)
        positional += 1


def _unpack(found: TrainerCall, value: ast.expr, file: FileContext) -> None:
    """Read ``**dict(...)`` and ``**{...}``, also through a name that is used for nothing else."""
    source: ast.expr = value
    if isinstance(value, ast.Name):
        bound = file.module.scopes.lookup(value.id, value)
        if bound is None or len(bound[1]) != 1 or bound[1][0].value is None or bound[1][0].kind != "assign":
            found.open = True
            return
        scope, (binding,) = bound
        uses = [
            node
            for node in file.nodes
            if isinstance(node, ast.Name) and node.id == value.id and isinstance(node.ctx, ast.Load)
        ]
        if len(uses) != 1 or len(scope.bindings[value.id]) != 1 or scope.kind == "class":
            found.open = True
            return
        assert binding.value is not None
        source = binding.value
        if (
            scope.kind == "module"
            and file.enclosing_function(value) is not None
            and _may_be_imported(value.id, file)
        ):
            found.open = True
            return
    if (
        (
            isinstance(source, ast.Call)
            and isinstance(source.func, ast.Name)
            and source.func.id == "dict"
            and not source.args
        )
        and file.qualified_name(source.func) is None
        and all(each.arg for each in source.keywords)
    ):
        inner = CallEditor(file, source)
        found.editors.append(inner)
        for item in inner.arguments:
            assert isinstance(item.node, ast.keyword)
            found.given.append(
                Given(str(item.name), item.node.value, inner.value_text(item), item, inner, item.node)
            )
        return
    if (
        isinstance(source, ast.Dict)
        and source.keys
        and all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in source.keys)
    ):
        entries = DictEditor(file, source)
        found.editors.append(entries)
        for item in entries.arguments:
            assert isinstance(item.value, ast.expr)
            found.given.append(
                Given(str(item.name), item.value, entries.value_text(item), item, entries, item.node)
            )
        return
    if isinstance(source, ast.Dict) and not source.keys:
        return
    found.open = True


def _may_be_imported(name: str, file: FileContext) -> bool:
    from trainer_upgrade.rules._imports import exported

    return exported(file, name)


def _is_partial(call: ast.Call, file: FileContext) -> bool:
    if not call.args or file.qualified_name(call.func) != "functools.partial":
        return False
    return file.lightning_name(_partial_root(call, file)) == "pytorch_lightning.Trainer"


def _partial_root(call: ast.Call, file: FileContext, depth: int = 0) -> ast.expr:
    """Return the class below a chain of partials."""
    first = call.args[0]
    if isinstance(first, ast.Name) and depth < 5 and file.lightning_name(first) is None:
        found = file.module.scopes.lookup(first.id, first)
        if found is not None and len(found[1]) == 1:
            value = found[1][0].value
            if (
                isinstance(value, ast.Call)
                and value.args
                and file.qualified_name(value.func) == "functools.partial"
            ):
                return _partial_root(value, file, depth + 1)
    return first


def _is_super(call: ast.Call, file: FileContext) -> bool:
    """Whether a call is ``super().__init__(...)`` of a subclass, and reaches Lightning's Trainer."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return False
    inner = function.value
    if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super"):
        return False
    method = file.enclosing_function(call)
    owner = file.method_owner(method) if method is not None else None
    if owner is None or owner.lightning != "pytorch_lightning.Trainer":
        return False
    above = owner.ancestors()[1:]
    return not any("__init__" in each.methods for each in above)


def _inherited(call: ast.Call, file: FileContext) -> Target:
    method = file.enclosing_function(call)
    owner = file.method_owner(method) if method is not None else None
    return _class_target(owner, file)


def _class_target(info: object, file: FileContext) -> Target:
    """Where a subclass leads: with its base, if that is written in this file; else with the file."""
    node = getattr(info, "node", None)
    module = getattr(info, "module", None)
    if isinstance(node, ast.ClassDef) and module is file.module:
        for base in node.bases:
            if file.lightning_name(base) is not None:
                return target_of(base, file)
    return file.target

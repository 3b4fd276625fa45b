"""Which expressions evaluate to an instance of a Lightning class.

The answer is ``None`` unless all that may hold at that place agrees.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trainer_upgrade.project.canonical import canonical, kind_of
from trainer_upgrade.project.classes import Classes, ClassInfo, Function
from trainer_upgrade.project.module import Module
from trainer_upgrade.project.names import Names, Symbol, in_import_fallback
from trainer_upgrade.project.scopes import Binding, Scope

__all__ = ["Instance", "Types"]

_DEPTH = 25
# Class methods that return an instance of the class they are called on.
_FACTORIES = ("load_from_checkpoint", "from_argparse_args", "load_from_metrics", "from_datasets")
_WITH_TRAINER = ("LightningModule", "LightningDataModule", "LightningCLI")
_HOOK_OWNERS = ("Callback", "Strategy", "Plugin", "Profiler", "Accelerator", "Loop", "LightningModule")
# Functions that return what they are given.
_SAME = ("copy.copy", "copy.deepcopy", "torch.compile")


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a Lightning class or of a project's class.

    Attributes:
        lightning: Canonical name of the (nearest) Lightning class, ``None`` if the class has none.
        info: The class, if it is one of the project.
    """

    lightning: str | None
    info: ClassInfo | None = None

    @property
    def label(self) -> str | None:
        """``Trainer``, ``LightningModule``, ``ModelCheckpoint`` …"""
        return self.lightning.rpartition(".")[2] if self.lightning else None

    @property
    def kind(self) -> str | None:
        """``Callback`` for any callback, and so on."""
        return kind_of(self.lightning) if self.lightning else None


TRAINER = Instance("pytorch_lightning.Trainer")
MODULE = Instance("pytorch_lightning.LightningModule")
DATAMODULE = Instance("pytorch_lightning.LightningDataModule")
_ATTRIBUTES = {
    "Trainer": {"model": MODULE, "lightning_module": MODULE, "datamodule": DATAMODULE},
    "LightningCLI": {"model": MODULE, "datamodule": DATAMODULE},
}


class Types:
    """Infers instances in one project."""

    def __init__(self, names: Names, classes: Classes) -> None:
        """Infer with the names and classes of a project."""
        self.names = names
        self.classes = classes
        self._busy: set[object] = set()

    def infer(self, node: ast.expr, module: Module) -> Instance | None:
        """Return what an expression of a file evaluates to, or ``None`` when that is not sure."""
        key = (node, "instance")
        if key in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(key)
        try:
            return self._infer(node, module)
        finally:
            self._busy.discard(key)

    def constructed(self, call: ast.Call, module: Module) -> Instance | None:
        """Return what a call constructs when its function is a class (or a ``partial`` of one)."""
        symbol = self.names.resolve(call.func, module)
        if symbol is not None:
            return self.of_class(symbol)
        partial = self._partial(call.func, module)
        return self.constructed(partial, module) if partial is not None else None

    def of_class(self, symbol: Symbol) -> Instance | None:
        """Return an instance of the class that a symbol stands for."""
        if symbol.kind == "external":
            name = canonical(symbol.dotted)
            return Instance(name) if name is not None and kind_of(name) is not None else None
        info = self.classes.of(symbol)
        return Instance(info.lightning, info) if info is not None else None

    def annotated(
        self, annotation: ast.expr | None, module: Module, at: ast.AST | None = None
    ) -> Instance | None:
        """Return what an annotation promises; ``Optional`` and ``| None`` are looked through."""
        if annotation is None:
            return None
        where = at or annotation
        scope = module.scopes.scopes.get(where, module.scopes.module)
        if isinstance(annotation, ast.Constant):
            if not isinstance(annotation.value, str):
                return None
            try:
                inner = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError):
                return None
            return self.annotated(inner, module, where)
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self._one([annotation.left, annotation.right], module, where)
        if isinstance(annotation, ast.Subscript):
            outer = annotation.value
            name = outer.attr if isinstance(outer, ast.Attribute) else getattr(outer, "id", "")
            if name == "Optional":
                return self.annotated(annotation.slice, module, where)
            if name == "Annotated" and isinstance(annotation.slice, ast.Tuple):
                return self.annotated(annotation.slice.elts[0], module, where)
            if name == "Union":
                parts = (
                    annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
                )
                return self._one(parts, module, where)
            return None
        symbol = self.names.resolve(annotation, module, scope, where)
        return self.of_class(symbol) if symbol is not None else None

    def returned(self, function: Function, module: Module) -> Instance | None:
        """Return what a function of the project returns: by annotation, else by all its ``return``s."""
        promised = self.annotated(function.returns, module)
        if promised is not None:
            return promised
        if isinstance(function, ast.AsyncFunctionDef):
            return None
        returns, generator = own_returns(function)
        if generator or not returns:
            return None
        return self._agree([self._optional(value, module) for value in returns if value is not None])

    # Inner works

    def _one(self, parts: list[ast.expr], module: Module, at: ast.AST) -> Instance | None:
        real = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
        return self._agree([self.annotated(part, module, at) for part in real])

    def _optional(self, node: ast.expr, module: Module) -> Instance | bool | None:
        """Infer, with ``True`` for the constant ``None``, which agrees with everything."""
        if isinstance(node, ast.Constant) and node.value is None:
            return True
        return self.infer(node, module)

    def _agree(self, found: list[Instance | bool | None]) -> Instance | None:
        real = [each for each in found if each is not True]
        first = real[0] if real else None
        if not isinstance(first, Instance):
            return None
        same_class = True
        for other in real[1:]:
            if not isinstance(other, Instance) or other.lightning != first.lightning:
                return None
            same_class = same_class and other.info is first.info
        return first if same_class else Instance(first.lightning)

    def _infer(self, node: ast.expr, module: Module) -> Instance | None:
        if isinstance(node, ast.Name):
            return self._name(node, module)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, module)
        if isinstance(node, ast.Call):
            return self._call(node, module)
        if isinstance(node, ast.IfExp):
            return self._agree([self._optional(node.body, module), self._optional(node.orelse, module)])
        if isinstance(node, ast.BoolOp):
            return self._agree([self._optional(value, module) for value in node.values])
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.infer(node.value, module) if isinstance(node, ast.NamedExpr) else None
        return None

    def _name(self, node: ast.Name, module: Module) -> Instance | None:
        found = module.scopes.lookup(node.id, node)
        if found is None:
            return None
        scope, bindings = found
        results: list[Instance | bool | None] = []
        for binding in bindings:
            if (
                binding.kind not in ("import", "from")
                and len(bindings) > 1
                and in_import_fallback(binding, module)
            ):
                continue
            results.append(self._binding(binding, scope, module))
        return self._agree(results)

    def _binding(self, binding: Binding, scope: Scope, module: Module) -> Instance | bool | None:
        if binding.kind == "param":
            return self._parameter(binding, scope, module)
        if binding.annotation is not None:
            promised = self.annotated(binding.annotation, module)
            if promised is not None:
                return promised
        if binding.kind == "annotation":
            return True  # declares, binds nothing
        if binding.kind == "assign" and binding.value is not None:
            return self._optional(binding.value, module)
        if binding.kind == "from":
            return self._imported(binding, module)
        return None

    def _imported(self, binding: Binding, module: Module) -> Instance | None:
        """An instance made at the top of another file: ``from .setup import trainer``."""
        statement, alias = binding.statement, binding.node
        assert isinstance(statement, ast.ImportFrom)
        assert isinstance(alias, ast.alias)
        source = self.names.project.find_from(statement.level, statement.module, module)
        if source is None or source.path == module.path or not source.usable:
            return None
        return self._module_level(source, alias.name)

    def _module_level(self, module: Module, name: str) -> Instance | None:
        key = (module.path, name, "global")
        if key in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(key)
        try:
            bindings = module.scopes.at_end(name)
            return self._agree([self._binding(each, module.scopes.module, module) for each in bindings])
        finally:
            self._busy.discard(key)

    def _parameter(self, binding: Binding, scope: Scope, module: Module) -> Instance | None:
        promised = self.annotated(binding.annotation, module)
        if promised is not None:
            return promised
        function = scope.node
        if binding.annotation is not None or not isinstance(
            function, (ast.FunctionDef, ast.AsyncFunctionDef)
        ):
            return None
        owner = self.owner(function, module)
        if owner is None:
            return None
        arguments = [*function.args.posonlyargs, *function.args.args]
        decorators = {each.id for each in function.decorator_list if isinstance(each, ast.Name)}
        if "staticmethod" not in decorators and arguments and binding.node is arguments[0]:
            return None if "classmethod" in decorators else self._self(owner)
        names = {argument.arg for argument in arguments}
        hook = {"trainer", "pl_module"} <= names or owner.kind in _HOOK_OWNERS
        if hook and binding.name == "trainer":
            return TRAINER
        if hook and binding.name == "pl_module":
            return MODULE
        return None

    def _self(self, owner: ClassInfo) -> Instance:
        return Instance(owner.lightning, owner)

    def owner(self, function: ast.AST, module: Module) -> ClassInfo | None:
        """Return the class a function is a method of."""
        node = module.scopes.parents.get(function)
        while isinstance(node, (ast.If, ast.Try, ast.ExceptHandler, ast.With)):
            node = module.scopes.parents.get(node)
        return self.classes.info(node, module) if isinstance(node, ast.ClassDef) else None

    def _attribute(self, node: ast.Attribute, module: Module) -> Instance | None:
        base = self.infer(node.value, module)
        if base is None:
            symbol = self.names.resolve(node.value, module)
            if symbol is not None and symbol.kind == "module" and symbol.module.usable:
                return self._module_level(symbol.module, node.attr)
            info = self.classes.of(symbol)
            return self.attribute_of(info, node.attr) if info is not None else None
        if base.info is not None:
            found = self.attribute_of(base.info, node.attr)
            if found is not None:
                return found
            if self._assigned(base.info, node.attr):
                return None
        kind = base.kind
        if kind is None and base.info is not None:
            kind = base.info.mixed_kind()
        if node.attr == "trainer" and kind in _WITH_TRAINER:
            return TRAINER
        return _ATTRIBUTES.get(kind or "", {}).get(node.attr)

    def attribute_of(self, info: ClassInfo, name: str) -> Instance | None:
        """Return what an attribute of a project's class holds, if all that is assigned to it agrees."""
        key = (info.node, name, "attribute")
        if key in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(key)
        try:
            method = info.find_method(name)
            if method is not None:
                owner, function = method
                names = {getattr(each, "id", getattr(each, "attr", "")) for each in function.decorator_list}
                return (
                    self.returned(function, owner.module) if names & {"property", "cached_property"} else None
                )
            found: list[Instance | bool | None] = []
            for owner in info.ancestors():
                for value, annotation in self._assignments(owner).get(name, ()):
                    promised = self.annotated(annotation, owner.module)
                    if promised is not None:
                        return promised
                    found.append(self._optional(value, owner.module) if value is not None else None)
            return self._agree(found)
        finally:
            self._busy.discard(key)

    def _assigned(self, info: ClassInfo, name: str) -> bool:
        return any(name in self._assignments(each) or name in each.methods for each in info.ancestors())

    def _assignments(self, info: ClassInfo) -> dict[str, list[tuple[ast.expr | None, ast.expr | None]]]:
        """What a class assigns to its attributes: in its body, and to ``self.x`` in its methods."""
        key = ("assignments", info.node)
        memo = self.names.project.memo
        if key in memo:
            return memo[key]  # type: ignore[return-value]
        table: dict[str, list[tuple[ast.expr | None, ast.expr | None]]] = {}
        inner = info.module.scopes.inner.get(info.node)
        for name, bindings in (inner.bindings if inner is not None else {}).items():
            for binding in bindings:
                if binding.kind in ("assign", "annotation"):
                    if binding.kind == "annotation" and binding.annotation is None:
                        continue
                    table.setdefault(name, []).append((binding.value, binding.annotation))
        for function in info.methods.values():
            first = [*function.args.posonlyargs, *function.args.args][:1]
            if not first:
                continue
            for node in ast.walk(function):
                for target, value, annotation in _targets(node):
                    if (
                        isinstance(target, ast.Attribute)
                        and isinstance(target.value, ast.Name)
                        and target.value.id == first[0].arg
                    ):
                        table.setdefault(target.attr, []).append((value, annotation))
        memo[key] = table
        return table

    def _call(self, node: ast.Call, module: Module) -> Instance | None:
        made = self.constructed(node, module)
        if made is not None:
            return made
        function = node.func
        symbol = self.names.resolve(function, module)
        if symbol is not None and symbol.kind == "function" and isinstance(symbol.node, ast.FunctionDef):
            return self._returned_by(symbol.node, symbol.module)
        if symbol is not None and symbol.dotted in _SAME and node.args:
            return self.infer(node.args[0], module)
        if isinstance(function, ast.Attribute):
            if function.attr in _FACTORIES:
                owner = self.names.resolve(function.value, module)
                return self.of_class(owner) if owner is not None else self.infer(function.value, module)
            base = self.infer(function.value, module)
            if base is not None and base.info is not None:
                method = base.info.find_method(function.attr)
                if method is not None:
                    return self._returned_by(method[1], method[0].module)
            if base is not None and base.kind == "LightningModule" and function.attr in _CHAINED:
                return base
        if isinstance(function, ast.Name):
            return self._classmethod(function, module)
        return None

    def _classmethod(self, function: ast.Name, module: Module) -> Instance | None:
        """``cls(...)`` in a class method."""
        found = module.scopes.lookup(function.id, function)
        if found is None or len(found[1]) != 1 or found[1][0].kind != "param":
            return None
        definition = found[0].node
        if not isinstance(definition, ast.FunctionDef):
            return None
        decorators = {each.id for each in definition.decorator_list if isinstance(each, ast.Name)}
        owner = self.owner(definition, module)
        first = [*definition.args.posonlyargs, *definition.args.args][:1]
        if owner is not None and "classmethod" in decorators and first and found[1][0].node is first[0]:
            return self._self(owner)
        return None

    def _returned_by(self, function: Function, module: Module) -> Instance | None:
        key = (function, "returned")
        if key in self._busy or len(self._busy) > _DEPTH:
            return None
        self._busy.add(key)
        try:
            return self.returned(function, module)
        finally:
            self._busy.discard(key)

    def _partial(self, node: ast.expr, module: Module) -> ast.Call | None:
        """The ``Trainer(...)``-like call that a ``functools.partial`` stands for, as a call of its class."""
        if not isinstance(node, ast.Name):
            return None
        found = module.scopes.lookup(node.id, node)
        if found is None or len(found[1]) != 1 or not isinstance(found[1][0].value, ast.Call):
            return None
        call = found[1][0].value
        symbol = self.names.resolve(call.func, module)
        key = (call, "partial")
        if symbol is None or symbol.dotted != "functools.partial" or not call.args or key in self._busy:
            return None
        self._busy.add(key)
        try:
            target = call.args[0]
            inner = self._partial(target, module)
            return inner or ast.Call(func=target, args=[], keywords=[])
        finally:
            self._busy.discard(key)


# Methods of torch modules that return the module.
_CHAINED = (
    "to",
    "cuda",
    "cpu",
    "eval",
    "train",
    "float",
    "half",
    "double",
    "requires_grad_",
    "type",
    "bfloat16",
)


def own_returns(function: Function) -> tuple[list[ast.expr | None], bool]:
    """Return the values a function itself returns, and whether it is a generator."""
    values: list[ast.expr | None] = []
    generator = False
    left: list[ast.AST] = list(reversed(function.body))
    while left:
        node = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            generator = True
        if isinstance(node, ast.Return):
            values.append(node.value)
        left.extend(reversed(list(ast.iter_child_nodes(node))))
    return values, generator


def _targets(node: ast.AST) -> list[tuple[ast.expr, ast.expr | None, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        found: list[tuple[ast.expr, ast.expr | None, ast.expr | None]] = []
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                found += [(element, None, None) for element in target.elts]
            else:
                found.append((target, node.value, None))
        return found
    if isinstance(node, ast.AnnAssign):
        return [(node.target, node.value, node.annotation)]
    if isinstance(node, ast.AugAssign):
        return [(node.target, None, None)]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [(node.target, None, None)]
    return []

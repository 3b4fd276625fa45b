"""What a function does with the Trainer it builds."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from trainer_upgrade.project.module import Module
from trainer_upgrade.project.scopes import LOOPS, Scope

__all__ = ["ENTRY_POINTS", "TrainerUses", "find_uses"]

ENTRY_POINTS = frozenset({"fit", "validate", "test", "predict", "tune"})


@dataclass(slots=True)
class TrainerUses:
    """Where a Trainer goes that is built in one place.

    Attributes:
        binding: The name it is bound to (``trainer``, ``self.trainer``), or ``None``.
        calls: Calls of entry points on it in the same function (or at the top of the module), in the order of
            the source: pairs of the method's name and the call. A call that may be of another Trainer
            bound to the same name is not among them; ``mixed`` says that there is one.
        escapes: It is returned, stored, passed on, or used in another function, so that not all calls are
            known.
        mixed: Some call may be of this Trainer or of another.
        looped: The calls (by node) that stand in a loop the construction is not in: they run many times.
        attributes: Other attributes of it that are read or set, in the order of the source.
    """

    binding: str | None = None
    calls: list[tuple[str, ast.Call]] = field(default_factory=list)
    escapes: bool = False
    mixed: bool = False
    looped: set[ast.Call] = field(default_factory=set)
    attributes: list[ast.Attribute] = field(default_factory=list)


def find_uses(call: ast.Call, module: Module) -> TrainerUses:
    """Follow a Trainer construction to the calls of its entry points in the same scope."""
    scopes = module.scopes
    uses = TrainerUses()
    node: ast.AST = call
    parent = scopes.parents.get(node)
    while isinstance(parent, (ast.IfExp, ast.BoolOp)):
        node, parent = parent, scopes.parents.get(parent)
    if isinstance(parent, ast.Attribute):
        grand = scopes.parents.get(parent)
        if isinstance(grand, ast.Call) and grand.func is parent and parent.attr in ENTRY_POINTS:
            uses.calls.append((parent.attr, grand))
        elif isinstance(grand, ast.Call) and grand.func is parent:
            pass  # Trainer(...).save_checkpoint(...): used up here
        else:
            uses.attributes.append(parent)
        return uses
    if isinstance(parent, ast.Expr):
        return uses
    target: ast.expr | None = None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
    elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
        target = parent.target
    if isinstance(parent, ast.NamedExpr):
        uses.escapes = not isinstance(scopes.parents.get(parent), ast.Expr)
    if isinstance(target, ast.Name):
        uses.binding = target.id
        _follow_name(target, call, module, uses)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        uses.binding = f"{target.value.id}.{target.attr}"
        _follow_attribute(target, call, module, uses)
    else:
        uses.escapes = True
    return uses


def _follow_name(target: ast.Name, call: ast.Call, module: Module, uses: TrainerUses) -> None:
    scopes = module.scopes
    home = scopes.scopes[target]
    while home.kind == "comprehension" and home.parent is not None:
        home = home.parent
    if target.id in home.globals or target.id in home.nonlocals:
        uses.escapes = True
    for node in scopes.nodes:
        if not isinstance(node, ast.Name) or node.id != target.id or not isinstance(node.ctx, ast.Load):
            continue
        found = scopes.lookup(node.id, node)
        if found is None or not any(binding.node is target for binding in found[1]):
            continue
        if _function_scope(scopes.scopes[node]) is not home:
            uses.escapes = True
            continue
        # Bindings to None say nothing: `trainer = None` before an `if`.
        others = [
            each
            for each in found[1]
            if each.node is not target
            and not (isinstance(each.value, ast.Constant) and each.value.value is None)
        ]
        _note(node, call, module, uses, mixed=bool(others))


def _follow_attribute(target: ast.Attribute, call: ast.Call, module: Module, uses: TrainerUses) -> None:
    scopes = module.scopes
    assert isinstance(target.value, ast.Name)
    home = _function_scope(scopes.scopes[target])
    seen_others = False
    for node in scopes.nodes:
        if not isinstance(node, ast.Attribute) or node.attr != target.attr or node is target:
            continue
        if not isinstance(node.value, ast.Name) or node.value.id != target.value.id:
            if isinstance(node.ctx, ast.Load):
                uses.escapes = True  # model.trainer, other.trainer: may be this one
            continue
        if _function_scope(scopes.scopes[node]) is not home:
            uses.escapes = True
        elif isinstance(node.ctx, ast.Store):
            seen_others = True
        elif _position(node) > _position(target):
            _note(node, call, module, uses, mixed=seen_others)
    # Another file may read the attribute of an object; a plain local object is seen here.
    if home.kind != "module":
        uses.escapes = uses.escapes or target.value.id == "self"


def _note(node: ast.expr, call: ast.Call, module: Module, uses: TrainerUses, *, mixed: bool) -> None:
    scopes = module.scopes
    parent = scopes.parents.get(node)
    if isinstance(parent, ast.Attribute):
        grand = scopes.parents.get(parent)
        if parent.attr in ENTRY_POINTS:
            if isinstance(grand, ast.Call) and grand.func is parent:
                if mixed:
                    uses.mixed = True
                    return
                uses.calls.append((parent.attr, grand))
                if _loops(grand, module) - _loops(call, module):
                    uses.looped.add(grand)
            else:
                uses.escapes = True  # the bound method is passed on
        else:
            uses.attributes.append(parent)
        return
    if isinstance(parent, ast.Expr) or (isinstance(parent, ast.Compare) and len(parent.ops) == 1):
        return
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and parent.test is node:
        return
    uses.escapes = True


def _loops(node: ast.AST, module: Module) -> set[ast.AST]:
    found: set[ast.AST] = set()
    current: ast.AST | None = node
    while current is not None and not isinstance(
        current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    ):
        if isinstance(
            current, (*LOOPS, ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
        ):
            found.add(current)
        current = module.scopes.parents.get(current)
    return found


def _function_scope(scope: Scope) -> Scope:
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope


def _position(node: ast.expr) -> tuple[int, int]:
    return (node.lineno, node.col_offset)

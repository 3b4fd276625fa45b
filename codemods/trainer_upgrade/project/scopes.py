"""Scopes of one file: which binding a name in it means.

The whole tree is walked once (without recursion, so that a long chain of operators is no danger). The walk
records for each node its parent and the scope it is evaluated in, and for each scope what binds each name.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

__all__ = ["Binding", "FileScopes", "Scope", "build_scopes"]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Shared singletons without a place: not worth a visit.
_SKIP = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)


@dataclass(slots=True, eq=False)
class Binding:
    """One statement (or expression) that gives a name a value.

    Attributes:
        name: The name bound.
        kind: ``import``, ``from``, ``assign`` (the name is the whole target), ``unpack``, ``annotation`` (no
            value), ``param``, ``def``, ``class``, or ``other`` (loops, ``with``, ``except``, patterns,
            ``del``).
        node: The node that binds: an alias, a Name, an arg, a definition.
        statement: The statement it is part of.
        scope: The scope the name lives in.
        value: The value assigned, for ``assign``.
        annotation: The annotation, for ``param``, ``annotation`` and annotated ``assign``.
        home: Whether the statement runs in the scope itself (not in a function that says ``global``).
    """

    name: str
    kind: str
    node: ast.AST
    statement: ast.AST
    scope: Scope
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    home: bool = True

    @property
    def place(self) -> tuple[int, int]:
        """Row and column of the statement (a parameter comes before the body)."""
        node = self.node if self.kind != "from" and hasattr(self.node, "lineno") else self.statement
        return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension.

    Attributes:
        node: What makes the scope.
        kind: ``module``, ``class``, ``function`` or ``comprehension``.
        parent: The scope around it.
        bindings: What binds each name here, in the order of the source.
        stars: Star imports that run here.
    """

    node: ast.AST
    kind: str
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    stars: list[ast.ImportFrom] = field(default_factory=list)

    @property
    def module(self) -> Scope:
        """The file's outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(slots=True, eq=False)
class FileScopes:
    """The result of the walk.

    Attributes:
        nodes: All nodes, parents before children, statements in the order of the source.
        parents: Parent of each node (the module has none).
        scopes: The scope each node is evaluated in.
        inner: The scope that a function, class, lambda or comprehension makes.
    """

    tree: ast.Module
    module: Scope
    nodes: list[ast.AST]
    parents: dict[ast.AST, ast.AST | None]
    scopes: dict[ast.AST, Scope]
    inner: dict[ast.AST, Scope]

    def lookup(
        self, name: str, node: ast.AST, scope: Scope | None = None
    ) -> tuple[Scope, list[Binding]] | None:
        """Find what ``name`` means at ``node``.

        Returns:
            The scope that binds the name and the bindings that may be in force at ``node``; ``None`` when
            nothing in the file binds it.
        """
        start = self.scopes.get(node, self.module) if scope is None else scope
        current: Scope | None = start
        direct = True  # the use runs where the binding scope runs, not some time later
        while current is not None:
            if current.kind != "class" or current is start:
                if name in current.globals:
                    bindings = current.module.bindings.get(name)
                    if not bindings:
                        return None
                    return current.module, self._in_force(bindings, None)
                bindings = current.bindings.get(name)
                if bindings and name not in current.nonlocals:
                    return current, self._in_force(bindings, node if direct else None)
            if current.kind in ("function", "class"):
                direct = direct and current.kind == "class"
            current = current.parent
        return None

    def at_end(self, name: str) -> list[Binding]:
        """Return the bindings of a module-level name that may be in force when the module has run."""
        return self._in_force(self.module.bindings.get(name, []), None)

    def _in_force(self, bindings: list[Binding], use: ast.AST | None) -> list[Binding]:
        """Of all bindings of a name in one scope, those that may hold at ``use`` (``None``: at the end)."""
        ordered = sorted(bindings, key=lambda binding: binding.place)
        if len(ordered) == 1:
            return ordered
        if use is None:
            chain: list[ast.AST] = []
            before, after = ordered, []
        else:
            chain = self._ancestors(use)
            place = (getattr(use, "lineno", 0), getattr(use, "col_offset", 0))
            before = [b for b in ordered if b.place <= place and not self._assigned_by(b, chain)]
            after = [b for b in ordered if b not in before]
        result: list[Binding] = []
        for binding in reversed(before):
            result.append(binding)
            if self._surely_before(binding, chain, use):
                break
        # A later binding reaches an earlier use only round a loop that holds both.
        loops = [node for node in chain if isinstance(node, LOOPS)]
        result += [
            binding
            for binding in after
            if not binding.home or any(loop in self._ancestors(binding.statement) for loop in loops)
        ]
        if not result:
            # Used before it is bound (a forward reference, an annotation): everything may hold.
            return ordered
        result.sort(key=lambda binding: binding.place)
        return result

    def _assigned_by(self, binding: Binding, chain: list[ast.AST]) -> bool:
        """Whether the use is part of the value the binding assigns: ``x = f(x)`` reads the old ``x``."""
        if isinstance(binding.statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            return binding.statement in chain
        return binding.value is not None and binding.value in chain

    def _surely_before(self, binding: Binding, chain: list[ast.AST], use: ast.AST | None) -> bool:
        """Whether control cannot reach the use without running the binding's statement after older ones."""
        if not binding.home:
            return False
        if binding.kind == "param":
            return True
        parent = self.parents.get(binding.statement)
        if parent is None:
            return True
        if use is None:
            return parent is binding.scope.node
        if parent not in chain:
            return False
        if isinstance(parent, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try)) or hasattr(
            parent, "orelse"
        ):
            # Same block, not the other branch.
            for name in ("body", "orelse", "finalbody"):
                block = getattr(parent, name, None)
                if isinstance(block, list) and binding.statement in block:
                    return any(node in block for node in chain if self.parents.get(node) is parent)
            return False
        return True

    def _ancestors(self, node: ast.AST) -> list[ast.AST]:
        found = []
        current: ast.AST | None = node
        while current is not None:
            found.append(current)
            current = self.parents.get(current)
        return found


def build_scopes(tree: ast.Module) -> FileScopes:
    """Walk a tree once and record parents, scopes and bindings."""
    module = Scope(tree, "module", None)
    result = FileScopes(tree, module, [], {}, {}, {})
    walker = _Walker(result)
    walker.run()
    return result


class _Walker:
    def __init__(self, result: FileScopes) -> None:
        self.result = result
        # Nodes left to visit: node, parent, scope, statement they are part of.
        self.stack: list[tuple[ast.AST, ast.AST | None, Scope, ast.AST]] = []

    def run(self) -> None:
        result = self.result
        tree = result.tree
        self.stack.append((tree, None, result.module, tree))
        stack = self.stack
        nodes, parents, scopes = result.nodes, result.parents, result.scopes
        handlers = {
            ast.FunctionDef: self.function,
            ast.AsyncFunctionDef: self.function,
            ast.Lambda: self.function,
            ast.ClassDef: self.klass,
            ast.ListComp: self.comprehension,
            ast.SetComp: self.comprehension,
            ast.DictComp: self.comprehension,
            ast.GeneratorExp: self.comprehension,
            ast.Name: self.name,
            ast.Import: self.import_,
            ast.ImportFrom: self.import_from,
            ast.Global: self.global_,
            ast.Nonlocal: self.nonlocal_,
            ast.ExceptHandler: self.handler,
            ast.MatchAs: self.match,
            ast.MatchStar: self.match,
            ast.MatchMapping: self.match,
        }
        while stack:
            node, parent, scope, statement = stack.pop()
            nodes.append(node)
            parents[node] = parent
            scopes[node] = scope
            if isinstance(node, (ast.stmt, ast.ExceptHandler)):
                statement = node
            handler = handlers.get(type(node))
            pushed = handler(node, scope, statement) if handler is not None else None
            if pushed is None:
                pushed = [(child, scope) for child in ast.iter_child_nodes(node)]
            for child, child_scope in reversed(pushed):
                if not isinstance(child, _SKIP):
                    stack.append((child, node, child_scope, statement))

    def bind(
        self, name: str, kind: str, node: ast.AST, statement: ast.AST, scope: Scope, **more: ast.expr | None
    ) -> None:
        home = True
        if name in scope.globals:
            home = scope.kind == "module"
            scope = scope.module
        elif name in scope.nonlocals:
            home = False
            outer = scope.parent
            while outer is not None and (outer.kind != "function" or name not in outer.bindings):
                outer = outer.parent
            scope = outer or scope.module
        scope.bindings.setdefault(name, []).append(
            Binding(name, kind, node, statement, scope, home=home, **more)
        )

    def inner(self, node: ast.AST, kind: str, scope: Scope) -> Scope:
        made = Scope(node, kind, scope)
        self.result.inner[node] = made
        return made

    def function(self, node: ast.AST, scope: Scope, statement: ast.AST) -> list[tuple[ast.AST, Scope]]:
        assert isinstance(node, FUNCTIONS)
        made = self.inner(node, "function", scope)
        arguments = node.args
        result: list[tuple[ast.AST, Scope]] = []
        if not isinstance(node, ast.Lambda):
            self.bind(node.name, "def", node, node, scope)
            self.declarations(node.body, made)
            result += [(decorator, scope) for decorator in node.decorator_list]
        result += [(parameter, made) for parameter in getattr(node, "type_params", [])]
        # The arguments node itself goes with the function; names in it are looked up outside.
        result.append((arguments, scope))
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
        for argument in every:
            self.bind(argument.arg, "param", argument, node, made, annotation=argument.annotation)
        if isinstance(node, ast.Lambda):
            result.append((node.body, made))
        else:
            if node.returns is not None:
                result.append((node.returns, scope))
            result += [(child, made) for child in node.body]
        return result

    def declarations(self, body: list[ast.stmt], scope: Scope) -> None:
        """Find ``global`` and ``nonlocal`` before anything is bound: they hold for the whole function."""
        left: list[ast.AST] = list(body)
        while left:
            node = left.pop()
            if isinstance(node, ast.Global):
                scope.globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                scope.nonlocals.update(node.names)
            elif isinstance(
                node, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
            ):
                for name in ("body", "orelse", "finalbody", "handlers"):
                    left.extend(getattr(node, name, []))
            elif isinstance(node, ast.ExceptHandler):
                left.extend(node.body)

    def klass(self, node: ast.AST, scope: Scope, statement: ast.AST) -> list[tuple[ast.AST, Scope]]:
        assert isinstance(node, ast.ClassDef)
        self.bind(node.name, "class", node, node, scope)
        made = self.inner(node, "class", scope)
        outside = [*node.decorator_list, *node.bases, *node.keywords]
        inside = [*getattr(node, "type_params", []), *node.body]
        return [*((child, scope) for child in outside), *((child, made) for child in inside)]

    def comprehension(self, node: ast.AST, scope: Scope, statement: ast.AST) -> list[tuple[ast.AST, Scope]]:
        assert isinstance(node, COMPREHENSIONS)
        made = self.inner(node, "comprehension", scope)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        # The generators come first so that targets are bound; the first iterable is evaluated outside.
        first = node.generators[0]
        self.result.nodes.append(first)
        self.result.parents[first] = node
        self.result.scopes[first] = made
        self.stack.append((first.iter, first, scope, statement))
        result: list[tuple[ast.AST, Scope]] = []
        for child in (first.target, *first.ifs):
            self.stack.append((child, first, made, statement))
        result += [(generator, made) for generator in node.generators[1:]]
        result += [(element, made) for element in elements]
        return result

    def name(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        assert isinstance(node, ast.Name)
        if isinstance(node.ctx, ast.Load):
            return
        parent = self.result.parents[node]
        kind, value, annotation = "other", None, None
        if isinstance(parent, ast.Assign):
            kind, value = "assign", parent.value
        elif isinstance(parent, ast.AnnAssign):
            kind = "assign" if parent.value is not None else "annotation"
            value, annotation = parent.value, parent.annotation
        elif isinstance(parent, ast.NamedExpr):
            kind, value = "assign", parent.value
            while scope.kind == "comprehension" and scope.parent is not None:
                scope = scope.parent
        elif isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
            kind = "unpack"
            grand = self.result.parents.get(parent)
            # a, b = x, y: each name has its own value.
            if (
                isinstance(parent, ast.Tuple)
                and isinstance(grand, ast.Assign)
                and isinstance(grand.value, ast.Tuple)
                and len(grand.value.elts) == len(parent.elts)
                and not any(isinstance(each, ast.Starred) for each in (*parent.elts, *grand.value.elts))
            ):
                kind, value = "assign", grand.value.elts[parent.elts.index(node)]
        elif isinstance(parent, (ast.With, ast.AsyncWith, ast.withitem)):
            kind = "other"
        self.bind(node.id, kind, node, statement, scope, value=value, annotation=annotation)

    def import_(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        assert isinstance(node, ast.Import)
        for alias in node.names:
            self.bind(alias.asname or alias.name.split(".")[0], "import", alias, node, scope)

    def import_from(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            if alias.name == "*":
                scope.stars.append(node)
            else:
                self.bind(alias.asname or alias.name, "from", alias, node, scope)

    def global_(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        assert isinstance(node, ast.Global)
        scope.globals.update(node.names)

    def nonlocal_(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        assert isinstance(node, ast.Nonlocal)
        scope.nonlocals.update(node.names)

    def handler(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        assert isinstance(node, ast.ExceptHandler)
        if node.name:
            self.bind(node.name, "other", node, node, scope)

    def match(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self.bind(name, "other", node, statement, scope)

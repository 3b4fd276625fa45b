"""What an expression may evaluate to, and how to write one that chooses between results.

An argument whose value is known only at run time is looked at case by case: each case is a test on the
expression and a value that can be translated. The translated cases are put together again as a conditional
expression. So ``gpus=args.gpus`` becomes what ``gpus=None`` and ``gpus=2`` become, chosen by ``args.gpus``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.module import Module

__all__ = [
    "UNKNOWN",
    "Known",
    "MarkedInt",
    "MarkedStr",
    "Opaque",
    "Test",
    "World",
    "choose",
    "is_pure",
    "known_types",
    "literal",
    "option_default",
    "parenthesised",
    "test_of",
]

UNKNOWN = object()
"""What :func:`literal` returns for an expression that is no literal."""

# Calls that may be made twice without anybody noticing.
_PURE_CALLS = frozenset(
    [
        "len",
        "int",
        "float",
        "str",
        "bool",
        "min",
        "max",
        "abs",
        "sum",
        "isinstance",
        "getattr",
        "vars",
        "os.path.join",
        "os.path.exists",
        "os.path.isfile",
        "os.path.isdir",
        "os.path.dirname",
        "os.path.basename",
        "os.path.abspath",
        "os.path.expanduser",
        "os.getenv",
        "os.environ.get",
        "torch.cuda.device_count",
        "torch.cuda.is_available",
        "os.cpu_count",
        "pathlib.Path",
    ]
)
_INT_CALLS = frozenset(["len", "int", "torch.cuda.device_count", "os.cpu_count"])
_BOOL_CALLS = frozenset(
    ["bool", "isinstance", "torch.cuda.is_available", "os.path.exists", "os.path.isfile", "os.path.isdir"]
)


class Opaque:
    """Stands for a value of which only the source is known."""

    def __init__(self, source: str) -> None:
        self.source = source


class MarkedInt(int):
    """Stands for a positive whole number of which only the source is known."""

    source: str

    def __new__(cls, source: str) -> MarkedInt:
        made = super().__new__(cls, 27182)
        made.source = source
        return made

    def __repr__(self) -> str:
        return self.source

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return self.source


class MarkedStr(str):
    """Stands for a valid string of which only the source is known."""

    source: str

    def __new__(cls, source: str, value: str) -> MarkedStr:
        made = super().__new__(cls, value)
        made.source = source
        return made

    def __repr__(self) -> str:
        return self.source


@dataclass(frozen=True)
class Test:
    """A condition, as it is written, and its opposite."""

    text: str
    opposite: str = ""
    is_bool: bool = False

    def negated(self) -> str:
        """Write the opposite."""
        if self.opposite:
            return self.opposite
        return f"not {self.text}" if _is_tight(self.text) else f"not ({self.text})"

    def as_bool(self) -> str:
        """Write the condition as True or False."""
        return self.text if self.is_bool else f"bool({self.text})"


def test_of(node: ast.expr, text: str) -> Test:
    """Make a test of a condition somebody wrote."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = ast.unparse(node.operand)
        return Test(text, inner if _is_bool(node.operand) else f"bool({inner})", True)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        opposite = _OPPOSITES.get(type(node.ops[0]))
        if opposite is not None:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            return Test(text, f"{left} {opposite} {right}", True)
    return Test(text, "", _is_bool(node))


_OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


def _is_bool(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(_is_bool(each) for each in node.values)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in _BOOL_CALLS
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_tight(text: str) -> bool:
    """Whether an expression binds tighter than ``not``, ``or`` and a conditional."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return False
    return not isinstance(
        node, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)
    )


def parenthesised(text: str) -> str:
    """Put an expression in parentheses where it would be torn apart within a larger one."""
    text = text.strip()
    try:
        ast.parse(text, mode="eval")
        whole = True
    except SyntaxError:
        whole = False  # goes over several lines
    return text if whole and _is_tight(text) else f"({text})"


def literal(node: ast.AST) -> Any:
    """Return the value of a literal, or ``UNKNOWN``."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN


def is_pure(node: ast.expr, file: FileContext) -> bool:
    """Whether an expression may be evaluated twice, or a little later, without a difference."""
    for each in ast.walk(node):
        if isinstance(each, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
        if isinstance(each, ast.Call):
            name = file.qualified_name(each.func) or ast.unparse(each.func)
            method = each.func.attr if isinstance(each.func, ast.Attribute) else ""
            if name not in _PURE_CALLS and method not in (
                "get",
                "exists",
                "is_file",
                "format",
                "joinpath",
                "strip",
            ):
                return False
    return True


@dataclass(frozen=True)
class Known:
    """What types an expression may have; ``None`` in the set stands for None."""

    types: frozenset[type | None]

    def only(self, *types: type | None) -> bool:
        """Whether nothing else is possible."""
        return self.types <= set(types)

    @property
    def nullable(self) -> bool:
        """Whether it may be None."""
        return None in self.types


def known_types(node: ast.expr, file: FileContext, depth: int = 0) -> Known | None:
    """Return the types an expression may have, or ``None`` where they are not known.

    Command line options (``args.gpus``) count as known where the file adds exactly one option of that name.
    """
    if depth > 5:
        return None
    value = literal(node)
    if value is not UNKNOWN:
        return Known(frozenset({None if value is None else type(value)}))
    if isinstance(node, ast.IfExp):
        return _join([known_types(node.body, file, depth + 1), known_types(node.orelse, file, depth + 1)])
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        parts = [known_types(each, file, depth + 1) for each in node.values]
        joined = _join(parts)
        last = parts[-1]
        if joined is not None and last is not None and not last.nullable:
            return Known(joined.types - {None})
        return joined
    if _is_bool(node):
        return Known(frozenset({bool}))
    if isinstance(node, (ast.List, ast.ListComp)):
        return Known(frozenset({list}))
    if isinstance(node, ast.Tuple):
        return Known(frozenset({tuple}))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for side in (node.left, node.right):
            known = known_types(side, file, depth + 1)
            if known is not None and known.only(list):
                return known
        return None
    if isinstance(node, ast.Call):
        name = file.qualified_name(node.func) or ast.unparse(node.func)
        if name in ("list", "sorted"):
            return Known(frozenset({list}))
        return Known(frozenset({int})) if name in _INT_CALLS else None
    if isinstance(node, ast.Attribute):
        return _option(node.attr, node.value, file)
    if isinstance(node, ast.Name):
        return _variable(node, file, depth)
    return None


def _join(parts: list[Known | None]) -> Known | None:
    found: set[type | None] = set()
    for each in parts:
        if each is None:
            return None
        found |= each.types
    return Known(frozenset(found))


def _variable(node: ast.Name, file: FileContext, depth: int) -> Known | None:
    found = file.module.scopes.lookup(node.id, node)
    if found is None:
        return None
    parts: list[Known | None] = []
    for binding in found[1]:
        if binding.annotation is not None:
            parts.append(_annotated(binding.annotation, file))
        elif binding.kind == "assign" and binding.value is not None:
            parts.append(known_types(binding.value, file, depth + 1))
        else:
            return None
    return _join(parts)


_ANNOTATIONS: Mapping[str, type | None] = {
    "int": int,
    "bool": bool,
    "str": str,
    "float": float,
    "list": list,
    "None": None,
}


def _annotated(node: ast.expr, file: FileContext) -> Known | None:
    if isinstance(node, ast.Constant) and node.value is None:
        return Known(frozenset({None}))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _annotated(ast.parse(node.value, mode="eval").body, file)
        except SyntaxError:
            return None
    if isinstance(node, ast.Name) and node.id in _ANNOTATIONS:
        return Known(frozenset({_ANNOTATIONS[node.id]}))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _join([_annotated(node.left, file), _annotated(node.right, file)])
    if isinstance(node, ast.Subscript):
        name = ast.unparse(node.value).rpartition(".")[2]
        if name == "Optional":
            inner = _annotated(node.slice, file)
            return Known(inner.types | {None}) if inner is not None else None
        if name == "Union" and isinstance(node.slice, ast.Tuple):
            return _join([_annotated(each, file) for each in node.slice.elts])
        if name in ("List", "list", "Sequence"):
            return Known(frozenset({list}))
    return None


def _option(name: str, base: ast.expr, file: FileContext) -> Known | None:
    """Look an option of the command line up in the file."""
    if not isinstance(base, (ast.Name, ast.Attribute)):
        return None
    calls = _declared(name, file.nodes)
    if not calls:
        for other in _imported(file):
            calls += _declared(name, other.scopes.nodes)
    if len(calls) != 1:
        return None
    return _option_types(calls[0])


def _declared(name: str, nodes: Iterable[ast.AST]) -> list[ast.Call]:
    """Return the calls that declare an option of this name."""
    return [
        each
        for each in nodes
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "add_argument"
        and _dest(each) == name
    ]


def _imported(file: FileContext) -> list[Module]:
    """Return the project's files that a file imports by name: its command line may be declared there."""
    found: dict[object, Module] = {}
    for node in file.nodes:
        if isinstance(node, ast.ImportFrom):
            other = file.project.find_from(node.level, node.module, file.module)
            if other is not None and other.path != file.module.path and other.usable:
                found[other.path] = other
    return list(found.values())


def option_default(node: ast.expr, file: FileContext) -> object:
    """Return the default of the option that ``args.name`` reads; ``UNKNOWN`` if there is not exactly one."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, (ast.Name, ast.Attribute)):
        return UNKNOWN
    calls = _declared(node.attr, file.nodes)
    if not calls:
        calls = [each for other in _imported(file) for each in _declared(node.attr, other.scopes.nodes)]
    if len(calls) != 1:
        return UNKNOWN
    default = next((each.value for each in calls[0].keywords if each.arg == "default"), None)
    return literal(default) if default is not None else None


def _dest(call: ast.Call) -> str:
    for keyword in call.keywords:
        if keyword.arg == "dest":
            value = literal(keyword.value)
            return value if isinstance(value, str) else ""
    names = [literal(each) for each in call.args]
    flags = [each for each in names if isinstance(each, str)]
    long = next((each for each in flags if each.startswith("--")), flags[0] if flags else "")
    return long.lstrip("-").replace("-", "_")


def _option_types(call: ast.Call) -> Known | None:
    keywords = {each.arg: each.value for each in call.keywords if each.arg}
    found: set[type | None] = set()
    action = literal(keywords["action"]) if "action" in keywords else None
    if action in ("store_true", "store_false"):
        found.add(bool)
    elif action is not None or "nargs" in keywords:
        return None
    elif "type" in keywords:
        kind = keywords["type"]
        if not isinstance(kind, ast.Name) or kind.id not in ("int", "float", "str"):
            return None
        found.add({"int": int, "float": float, "str": str}[kind.id])
    else:
        found.add(str)
    required = "required" in keywords and literal(keywords["required"]) is True
    if action is None and not required:
        default = literal(keywords["default"]) if "default" in keywords else None
        if default is UNKNOWN:
            return None
        found.add(None if default is None else type(default))
    return Known(frozenset(found))


# -- choosing ---------------------------------------------------------------------------------

World = Mapping[Test, bool]


def choose(worlds: list[tuple[World, str]]) -> str | None:
    """Write the expression that has each world's text where the world's tests hold.

    Returns:
        The expression, or ``None`` where it would take more than two tests.
    """
    return _choose(worlds, 0)


def _choose(worlds: list[tuple[World, str]], depth: int) -> str | None:
    texts = {text for _, text in worlds}
    if len(texts) == 1:
        return texts.pop()
    if depth >= 2:
        return None
    tests: dict[Test, None] = {}
    for world, _ in worlds:
        tests.update(dict.fromkeys(world))
    everywhere = [test for test in tests if all(test in world for world, _ in worlds)]
    # A test that decides alone first; of several the one that reads shortest.
    alone: list[str] = []
    for test in everywhere:
        yes = {text for world, text in worlds if world[test]}
        no = {text for world, text in worlds if not world[test]}
        if len(yes) == 1 and len(no) == 1:
            alone.append(conditional(test, yes.pop(), no.pop()))
    if alone:
        return min(alone, key=len)
    for test in everywhere:
        then = _choose([(world, text) for world, text in worlds if world[test]], depth + 1)
        other = _choose([(world, text) for world, text in worlds if not world[test]], depth + 1)
        if then is not None and other is not None and (then in texts or other in texts):
            return conditional(test, then, other)
    return None


def conditional(test: Test, then: str, other: str) -> str:
    """Write ``then if test else other``, as short as it goes."""
    if then == other:
        return then
    if then == "True" and other == "False":
        return test.as_bool()
    if then == "False" and other == "True":
        return test.negated()
    if then == test.text and _is_tight(then):
        return f"{then} or {parenthesised(other)}"
    condition = test.text if not _is_loose(test.text) else f"({test.text})"
    first = f"({then})" if _is_loose(then) else then
    return f"{first} if {condition} else {other}"


def _is_loose(text: str) -> bool:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return True
    return isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom))

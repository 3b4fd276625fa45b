"""``Trainer(resume_from_checkpoint=…)``: the path goes to ``fit``, where the old release used it.

Before::

    trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.ckpt)
    trainer.validate(model)
    trainer.fit(model)
    trainer.fit(model)

After::

    trainer = Trainer(max_epochs=3)
    trainer.validate(model)
    trainer.fit(model, ckpt_path=args.ckpt or None)
    trainer.fit(model)

The first ``fit`` of a Trainer used the path up (1.5 to 1.9); ``validate``, ``test`` and ``predict``
never took it.
``or None`` stands where the value may be an empty string, which 2.x refuses. A value that may change
before ``fit``
is called is kept in a variable. Where the Trainer is fitted elsewhere, both places are reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules._expressions import UNKNOWN, is_pure, literal, parenthesised
from trainer_upgrade.rules._imports import exported, free
from trainer_upgrade.rules._trainer_calls import Given, TrainerCall, trainer_call
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import insert_before, starts_line

__all__ = ["Resume"]

_NAME = "resume_from_checkpoint"


@rule("resume-from-checkpoint")
class Resume:
    """Moves the path to the first ``fit``."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        if not node.keywords:
            return
        found = trainer_call(node, file)
        given = found.get(_NAME) if found is not None else None
        if found is None or given is None:
            return
        value = literal(given.value)
        if value is not UNKNOWN and value in (None, ""):
            return  # nothing to resume from: the rule about arguments drops it
        entry = catalogue.trainer_argument(_NAME)
        assert entry is not None
        message, fix = self._decide(found, given, file)
        yield file.finding(entry, given.node, message or entry.advice, fix)

    def _decide(self, found: TrainerCall, given: Given, file: FileContext) -> tuple[str, Fix | None]:
        if found.kind != "call":
            return "", None
        uses = file.trainer_uses(found.call)
        fits = [call for name, call in uses.calls if name == "fit"]
        if uses.mixed or any(name == "tune" for name, _ in uses.calls):
            return self._elsewhere(found, file), None
        if uses.escapes and not self._fitted_before(found.call, uses.binding, fits, file):
            return self._elsewhere(found, file), self._through_helper(found, given, file)
        if not fits:
            fix = None
            if uses.calls:
                given.editor.remove(given.item)
                fix = Fix(Applicability.SAFE, "drop it: nothing is fitted", tuple(found.edits()))
            return f"`{_NAME}` is read by `fit` only, which is not called here: drop it", fix
        first = self._first(fits, file)
        if first is None or any(call in uses.looped for call in first):
            return (
                "the first `fit` took the path; which one that is depends: say ckpt_path there",
                None,
            )
        return "", self._fix(found, given, first, file)

    def _elsewhere(self, found: TrainerCall, file: FileContext) -> str:
        rows = sorted(
            {
                node.lineno
                for node in file.nodes
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "fit"
                and file.instance_of(node.func.value) == "Trainer"
            }
        )
        where = f"in line {', '.join(map(str, rows))}" if rows else "where this Trainer is fitted"
        return (
            f"`{_NAME}` moved to `fit`: pass the path on and say `fit(…, ckpt_path=…)` {where},"
            " in the first `fit` only"
        )

    def _fitted_before(
        self, made: ast.Call, binding: str | None, fits: list[ast.Call], file: FileContext
    ) -> bool:
        """Whether the first ``fit`` is over when the Trainer is handed to somebody else."""
        if binding is None or "." in binding or not fits:
            return False
        home = file.enclosing_function(made)
        first = fits[0]
        chain = _blocks(first, file)
        if not _is_prefix(chain, _blocks(made, file)):
            return False  # it may not run at all
        for node in file.nodes:
            if not isinstance(node, ast.Name) or node.id != binding or not isinstance(node.ctx, ast.Load):
                continue
            bound = file.module.scopes.lookup(binding, node)
            if bound is None or not any(each.value is made for each in bound[0].bindings[binding]):
                continue  # another variable of this name
            if file.enclosing_function(node) is not home or _in_lambda(node, file):
                return False
            parent = file.parent(node)
            if isinstance(parent, ast.Attribute) or node.lineno > (first.end_lineno or first.lineno):
                continue
            if node.lineno >= made.lineno and not isinstance(parent, (ast.Expr, ast.Compare, ast.If)):
                return False
        return True

    def _through_helper(self, found: TrainerCall, given: Given, file: FileContext) -> Fix | None:
        """A function that builds the Trainer and returns it: let it return the path too."""
        function = file.enclosing_function(found.call)
        if (
            not isinstance(function, ast.FunctionDef)
            or function.decorator_list
            or file.method_owner(function) is not None
        ):
            return None
        returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
        inner = [
            node
            for node in ast.walk(function)
            if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.Yield)) and node is not function
        ]
        if len(returns) != 1 or inner or function.returns is not None or exported(file, function.name):
            return None
        (last,) = returns
        statement = file.enclosing_statement(found.call)
        uses = file.trainer_uses(found.call)
        returned = last.value is found.call or (
            isinstance(last.value, ast.Name)
            and last.value.id == uses.binding
            and isinstance(statement, ast.Assign)
            and not uses.calls
        )
        if not returned or last.value is None or statement not in function.body or last not in function.body:
            return None
        name = next((each for each in ("ckpt_path", "resume_path") if free(file, each)), None)
        if name is None or not starts_line(file, statement):
            return None
        edits: list[Edit] = [insert_before(file, statement, [f"{name} = {given.text}"])]
        end = file.span(last.value)[1]
        edits.append(Edit(end, end, f", {name}"))
        called = 0
        for node in file.nodes:
            if (
                not isinstance(node, ast.Name)
                or node.id != function.name
                or not isinstance(node.ctx, ast.Load)
            ):
                continue
            made = self._caller(node, name, given.value, file)
            if made is None:
                return None
            edits += made
            called += 1
        if not called:
            return None
        given.editor.remove(given.item)
        edits += found.edits()
        return Fix(
            Applicability.UNSAFE,
            f"return the path from {function.name} and pass it to fit",
            tuple(sorted(set(edits))),
        )

    def _caller(self, node: ast.Name, name: str, value: ast.expr, file: FileContext) -> list[Edit] | None:
        """``trainer = make_trainer(...)``, followed by a first ``fit``."""
        call = file.parent(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return None
        statement = file.parent(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        (target,) = statement.targets
        if not isinstance(target, ast.Name):
            return None
        uses = file.trainer_uses(call)
        fits = [each for method, each in uses.calls if method == "fit"]
        first = self._first(fits, file)
        if uses.mixed or not first or any(each in uses.looped for each in first):
            return None
        if uses.escapes and not self._fitted_before(call, uses.binding, fits, file):
            return None
        end = file.span(target)[1]
        edits = [Edit(end, end, f", {name}")]
        for each in first:
            editor = CallEditor(file, each)
            if editor.get("ckpt_path") is not None or any(one.arg is None for one in each.keywords):
                return None
            editor.add(f"ckpt_path={_with_none(value, name)}")
            edits += editor.edits()
        return edits

    def _first(self, fits: list[ast.Call], file: FileContext) -> list[ast.Call] | None:
        """Return the calls that are the first on their way through the code; ``None`` if it depends."""
        first: list[ast.Call] = []
        for call in fits:
            chain = _blocks(call, file)
            earlier = [(other, _blocks(other, file)) for other in fits[: fits.index(call)]]
            if any(_is_prefix(blocks, chain) for _, blocks in earlier):
                continue  # another one surely ran before
            if all(_apart(blocks, chain) for _, blocks in earlier):
                first.append(call)
            else:
                return None
        return first

    def _fix(self, found: TrainerCall, given: Given, first: list[ast.Call], file: FileContext) -> Fix | None:
        text, edits = given.text, []
        if len(first) > 1 or not self._movable(given.value, found, first, file):
            name = next(
                (each for each in ("ckpt_path", "resume_path", "resume_ckpt_path") if free(file, each)), None
            )
            statement = file.enclosing_statement(found.call)
            if (
                name is None
                or not starts_line(file, statement)
                or not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr))
            ):
                return None
            lines = [f"{name} = {' '.join(text.split()) if '#' not in text else text}"]
            edits.append(insert_before(file, statement, lines))
            text = name
            kept = _with_none(given.value, name)
        else:
            kept = _with_none(given.value, text)
        for call in first:
            editor = CallEditor(file, call)
            if any(isinstance(each, ast.Starred) for each in call.args) or any(
                each.arg is None for each in call.keywords
            ):
                return None
            own = editor.get("ckpt_path")
            if own is None:
                editor.add(f"ckpt_path={kept}")
            else:
                written = literal(own.value)
                if written is None:
                    editor.set_value(own, kept)
                else:
                    editor.set_value(own, f"{parenthesised(editor.value_text(own))} or {parenthesised(kept)}")
            edits += editor.edits()
        given.editor.remove(given.item)
        edits += found.edits()
        return Fix(Applicability.SAFE, "pass the path to the first fit", tuple(sorted(set(edits))))

    def _movable(self, value: ast.expr, found: TrainerCall, first: list[ast.Call], file: FileContext) -> bool:
        """Whether the value is the same when ``fit`` is called."""
        (call,) = first
        if isinstance(call.func, ast.Attribute) and call.func.value is found.call:
            return True
        if not is_pure(value, file):
            return False
        scopes = file.module.scopes
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and (file.qualified_name(node.func) or "") not in _FIXED_CALLS:
                return False  # asks the machine: the answer may change
            if isinstance(node, ast.Name):
                bound = scopes.lookup(node.id, node)
                if bound is None:
                    continue
                low, high = found.call.lineno, call.lineno
                if any(
                    low <= each.place[0] <= high and each.kind not in ("import", "from")
                    for each in bound[0].bindings[node.id]
                ):
                    return False
            if isinstance(node, (ast.Attribute, ast.Subscript)) and self._assigned_between(
                node, found.call, call, file
            ):
                return False
        return True

    def _assigned_between(self, value: ast.expr, low: ast.Call, high: ast.Call, file: FileContext) -> bool:
        text = ast.unparse(value)
        return any(
            isinstance(node, (ast.Attribute, ast.Subscript))
            and isinstance(node.ctx, (ast.Store, ast.Del))
            and low.lineno <= node.lineno <= high.lineno
            and ast.unparse(node) == text
            for node in file.nodes
        )


_FIXED_CALLS = frozenset(
    {"os.path.join", "str", "os.path.dirname", "os.path.basename", "os.path.expanduser", "os.path.abspath"}
)


def _with_none(value: ast.expr, text: str) -> str:
    """Write the value so that an empty string is None."""
    return text if _never_empty(value) else f"{parenthesised(text)} or None"


def _never_empty(value: ast.expr) -> bool:
    """Whether an expression is a path or None, and no empty string."""
    if isinstance(value, ast.Constant):
        return value.value is None or bool(value.value)
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(each, ast.Constant) and each.value for each in value.values)
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Div):
            return True  # a Path
        return isinstance(value.op, (ast.Add, ast.Mod)) and (
            _never_empty(value.left) or _never_empty(value.right)
        )
    if isinstance(value, ast.IfExp):
        return _checked(value) or (_never_empty(value.body) and _never_empty(value.orelse))
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        return _never_empty(value.values[-1])
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func)
        if name in ("os.path.join", "osp.join"):
            return any(_never_empty(each) for each in value.args)
        return name.rpartition(".")[2] == "Path"
    return False


def _checked(value: ast.IfExp) -> bool:
    """``path if os.path.exists(path) else None``: no file has an empty name."""
    test = value.test
    if not (isinstance(value.orelse, ast.Constant) and value.orelse.value is None) or not isinstance(
        test, ast.Call
    ):
        return False
    name = ast.unparse(test.func).rpartition(".")[2]
    return (
        name in ("exists", "isfile", "isdir")
        and len(test.args) == 1
        and ast.dump(test.args[0]) == ast.dump(value.body)
    )


def _in_lambda(node: ast.AST, file: FileContext) -> bool:
    current = file.parent(node)
    while current is not None and not isinstance(current, ast.stmt):
        if isinstance(current, (ast.Lambda, ast.GeneratorExp)):
            return True
        current = file.parent(current)
    return False


_Block = tuple[ast.AST, str]


def _blocks(node: ast.AST, file: FileContext) -> list[_Block]:
    """Return the blocks a node stands in, from the outside, up to its function."""
    found: list[_Block] = []
    current: ast.AST = node
    parent = file.parent(current)
    while parent is not None and not isinstance(
        parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module, ast.ClassDef)
    ):
        if isinstance(
            parent,
            (
                ast.If,
                ast.For,
                ast.AsyncFor,
                ast.While,
                ast.Try,
                ast.IfExp,
                ast.ExceptHandler,
                ast.Match,
                ast.match_case,
            ),
        ):
            for field, value in ast.iter_fields(parent):
                holds = value is current or (isinstance(value, list) and current in value)
                if holds and field not in ("test", "iter", "subject"):
                    found.append((parent, field))
        current, parent = parent, file.parent(parent)
    return found[::-1]


def _is_prefix(outer: list[_Block], inner: list[_Block]) -> bool:
    """Whether what stands in ``outer`` ran if ``inner`` is reached later."""
    return len(outer) <= len(inner) and all(one == two for one, two in zip(outer, inner, strict=False))


def _apart(one: list[_Block], two: list[_Block]) -> bool:
    """Whether two places are branches of one condition: never both reached."""
    for (first, field), (second, other) in zip(one, two, strict=False):
        if first is not second:
            return False
        if field != other:
            return isinstance(first, (ast.If, ast.IfExp))
    return False

"""Imports of Lightning: names that moved, were renamed, or left for elsewhere; and the root itself.

Before::

    from pytorch_lightning.core.lightning import LightningModule
    from pytorch_lightning.loggers.base import LightningLoggerBase
    from pytorch_lightning.utilities.distributed import rank_zero_only, rank_zero_info

    class Mine(LightningLoggerBase): ...

After, for Lightning 2.x::

    from pytorch_lightning import LightningModule
    from pytorch_lightning.loggers import Logger
    from pytorch_lightning.utilities.rank_zero import rank_zero_only, rank_zero_info

    class Mine(Logger): ...

For relight the root changes too (``import relight as pl``), unless some name has no twin there: then the
imports of all files that run together stay as they are, and the name is reported. What only compat has goes
through ``relight.compat``. An import that is one of two ways to the same thing
(``try``/``except ImportError``) is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainer_upgrade.catalogue import ImportFact
from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.canonical import root_of
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.scopes import Scope
from trainer_upgrade.rules._expressions import is_pure
from trainer_upgrade.rules._import_text import rewrite_from, rewrite_import
from trainer_upgrade.rules._imports import (
    LEGACY_ROOTS,
    REMOVABLE,
    Bound,
    Imports,
    ImportStatement,
    Reference,
    anchor,
    exported,
    free,
    imports_of,
    mentioned,
    rerooted,
    worst,
)
from trainer_upgrade.rules.registry import on, rule

__all__ = [
    "ROOT_ONLY",
    "SPAWNED",
    "ImportRule",
    "Move",
    "asked_about",
    "spawning",
    "uses",
    "waits",
]

SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL
# A move of the root alone.
ROOT_ONLY = "TRU334"
# Where the classes live that a Trainer makes and hands out.
_RUNS = ("pytorch_lightning.strategies.", "pytorch_lightning.plugins.", "pytorch_lightning.accelerators.")


@dataclass
class Move:
    """Where one name of an import statement goes.

    Attributes:
        alias: The name.
        bound: What it binds.
        fact: What became of it.
        path: Its new dotted path; ``None`` where the import goes without a successor.
        local: Its local name afterwards.
        how: How sure the move is.
        edits: Changes of its uses.
        requests: Imports that the changed uses need.
    """

    alias: ast.alias
    bound: Bound
    fact: ImportFact
    path: str | None
    local: str
    how: Applicability
    edits: list[Edit] = field(default_factory=list)
    requests: list[ImportRequest] = field(default_factory=list)


@rule("imports")
class ImportRule:
    """Moves imports; uses through a package (``pl.metrics.Accuracy``) go with them."""

    @on(ast.ImportFrom)
    def check_from(self, node: ast.ImportFrom, file: FileContext) -> Iterator[Finding]:
        """Look at ``from … import …``."""
        if node.level or root_of(node.module or "") not in LEGACY_ROOTS:
            return
        imports = imports_of(file)
        if node in imports.stars:
            yield from self._star(node, file, imports)
            return
        bounds = imports.siblings(node)
        if not bounds:
            return
        if any(each.guarded for each in bounds):
            yield from _guarded(file, node)
            return
        if file.target is Target.RELIGHT:
            blockers = [each for bound in bounds for each in imports.blockers(bound)]
            if blockers:
                yield from _blocked(file, node, blockers)
                return
            if not imports.moves(bounds[0]):
                yield from _waits_for_others(file, node)
                return
        moves = [
            move
            for alias in node.names
            for move in (self._plan(alias, node, file, imports),)
            if move is not None
        ]
        for move in moves:
            if move.how is MANUAL:
                fix = _never_one(move, move.alias.asname or move.alias.name, file)
                yield file.finding(
                    move.fact.code, node, move.fact.advice, fix, removed_in=move.fact.removed_in
                )
        for how in (SAFE, UNSAFE):
            mine = [move for move in moves if move.how is how]
            if not mine:
                continue
            taken = [move for move in moves if move.how is SAFE or move.how is how]
            fix = _fix(node, taken, how, file) if file.fixing else None
            for move in mine:
                yield file.finding(
                    move.fact.code,
                    move.alias,
                    move.fact.advice,
                    fix,
                    silent=move.fact.status == "changed_meaning",
                    removed_in=move.fact.removed_in,
                )

    @on(ast.Import)
    def check_import(self, node: ast.Import, file: FileContext) -> Iterator[Finding]:
        """Look at ``import …``."""
        imports = imports_of(file)
        for alias in node.names:
            if root_of(alias.name) not in LEGACY_ROOTS:
                continue
            bound = next(
                (each for each in imports.bound if any(one is alias for _, one in each.aliases)), None
            )
            if bound is None:
                continue
            if bound.guarded:
                yield from _guarded(file, node)
                continue
            if file.target is Target.RELIGHT:
                yield from self._root(alias, node, bound, file, imports)
            else:
                yield from self._module(alias, node, bound, file, imports)

    # from … import

    def _plan(
        self, alias: ast.alias, node: ast.ImportFrom, file: FileContext, imports: Imports
    ) -> Move | None:
        bound = next((each for each in imports.bound if any(one is alias for _, one in each.aliases)), None)
        if bound is None:
            return None
        dotted = rerooted(f"{node.module}.{alias.name}")
        fact = imports.fact(dotted)
        if fact is None or fact.status == "kept":
            return None
        if dotted in REMOVABLE:
            if bound.shared or mentioned(file, bound.local) or exported(file, bound.local):
                return Move(alias, bound, fact, None, bound.local, MANUAL)
            edits = [file.edit(each.name, REMOVABLE[dotted]) for each in bound.references]
            whole = all(file.editable(each.name) for each in bound.references)
            return Move(alias, bound, fact, None, bound.local, SAFE if whole else MANUAL, edits)
        if fact.kind == "module":
            return self._plan_module(alias, bound, fact, file, imports)
        if fact.new is None or fact.applicability is MANUAL:
            return Move(alias, bound, fact, None, bound.local, MANUAL)
        path = imports.rooted(fact.new, bound.root)
        asked = [asked_about(each.name, file) for each in bound.references]
        if fact.status == "changed_meaning" and asked and all(asked):
            return None
        move = Move(alias, bound, fact, path, bound.local, fact.applicability)
        new_name = path.rpartition(".")[2]
        if new_name != alias.name and alias.asname is None:
            taken = not free(file, new_name) and not self._same(new_name, path, bound, imports)
            readable = all(file.editable(each.name) for each in bound.references)
            if not (
                bound.shared
                or taken
                or not readable
                or mentioned(file, bound.local)
                or exported(file, bound.local)
            ):
                move.local = new_name
                move.edits = [file.edit(each.name, new_name) for each in bound.references]
        if dotted in SPAWNED:
            move.edits += [edit for each in bound.references for edit in spawning(each.name, file)]
        if path == f"{node.module}.{alias.name}":
            return None
        return move

    def _same(self, name: str, path: str, bound: Bound, imports: Imports) -> bool:
        """Whether a name that is there already is the very thing."""
        others = [each for each in imports.bound if each.local == name]
        everything = [scope for scope in _scopes(imports.file) if name in scope.bindings]
        return (
            len(others) == 1
            and len(everything) == 1
            and others[0].scope is bound.scope
            and not others[0].shared
            and (others[0].path == path or imports._becomes(others[0]) == path)
        )

    def _plan_module(
        self, alias: ast.alias, bound: Bound, fact: ImportFact, file: FileContext, imports: Imports
    ) -> Move | None:
        """A module imported by name: it goes where the names used of it go."""
        used = [each for each in bound.references if each.dotted != bound.dotted]
        facts = [each.fact for each in used if each.fact is not None]
        if fact.code != ROOT_ONLY and used and len(facts) == len(used) and not bound.shared:
            homes = {each.new.rpartition(".")[0] for each in facts if each.new}
            if len(homes) == 1 and all(each.new for each in facts):
                path = imports.rooted(homes.pop(), bound.root)
                how = max(worst(facts), SAFE, key=[SAFE, UNSAFE, MANUAL].index)
                move = Move(alias, bound, fact, path, bound.local, how)
                move.edits, move.requests = uses(file, imports, bound, used, path, bound.local)
                return move if how is not MANUAL else Move(alias, bound, fact, None, bound.local, MANUAL)
        if fact.new is None or fact.applicability is MANUAL:
            return Move(alias, bound, fact, None, bound.local, MANUAL)
        path = imports.rooted(fact.new, bound.root)
        how = fact.applicability
        if any(each.dotted == bound.dotted for each in bound.references) and fact.code != ROOT_ONLY:
            how = UNSAFE  # passed on whole: what is taken from it is not seen
        move = Move(alias, bound, fact, path, bound.local, how)
        move.edits, move.requests = uses(file, imports, bound, used, path, bound.local)
        return move

    def _star(self, node: ast.ImportFrom, file: FileContext, imports: Imports) -> Iterator[Finding]:
        fact = imports.fact(rerooted(node.module or ""))
        if fact is None or fact.status == "kept" or file.in_try_import(node):
            return
        yield file.finding(
            fact.code,
            node,
            f"`from {node.module} import *`: name what is used, then upgrade it",
            removed_in=fact.removed_in,
        )

    # import …

    def _module(
        self, alias: ast.alias, node: ast.Import, bound: Bound, file: FileContext, imports: Imports
    ) -> Iterator[Finding]:
        """``import pytorch_lightning.metrics as metrics`` on Lightning."""
        dotted = rerooted(alias.name)
        fact = imports.fact(dotted)
        if fact is None or fact.status == "kept":
            return
        if alias.asname is not None:
            move = self._plan_module(alias, bound, fact, file, imports)
        else:
            used = [each for each in bound.references if each.dotted.startswith(dotted + ".")]
            homes = {
                each.fact.new.rpartition(".")[0] for each in used if each.fact is not None and each.fact.new
            }
            if len(homes) == 1 and fact.new is not None:
                path = imports.rooted(homes.pop(), bound.root)
                move = Move(alias, bound, fact, path, bound.local, SAFE)
                if path.split(".")[0] != bound.local:
                    move.how = MANUAL
            else:
                move = Move(alias, bound, fact, None, bound.local, MANUAL)
        if move is None:
            return
        fix = None
        if move.how is not MANUAL and file.fixing and move.path is not None:
            edits = [rewrite_import(file, node, {alias: (move.path, alias.asname)}), *move.edits]
            fix = Fix(move.how, f"import {move.path}", tuple(sorted(edits)), tuple(move.requests))
        yield file.finding(fact.code, node, fact.advice, fix, removed_in=fact.removed_in)

    def _root(
        self, alias: ast.alias, node: ast.Import, bound: Bound, file: FileContext, imports: Imports
    ) -> Iterator[Finding]:
        """``import pytorch_lightning as pl`` on the way to relight: the import and all uses together."""
        blockers = imports.blockers(bound)
        if bound.shared:
            reason = (
                f"`{bound.local}` is bound in another way too, so this import stays on Lightning: give the"
            )
            yield file.finding(ROOT_ONLY, node, f"{reason} two things names of their own, then run again")
            return
        if blockers:
            if node is bound.aliases[0][0]:
                yield from _blocked(file, node, blockers)
            return
        if not imports.moves(bound):
            yield from _waits_for_others(file, node)
            return
        fact = imports.fact(rerooted(alias.name))
        if fact is None:
            return
        made = self._root_fix(bound, file, imports)
        if made is None:
            yield file.finding(fact.code, node, fact.advice, removed_in=fact.removed_in)
            return
        fix, changed = made
        yield file.finding(fact.code, node, fact.advice, fix, removed_in=fact.removed_in)
        if node is bound.aliases[0][0]:
            for each in changed:
                if each.fact is not None and each.fact.code != ROOT_ONLY:
                    silent = each.fact.status == "changed_meaning"
                    yield file.finding(
                        each.fact.code,
                        each.node,
                        each.fact.advice,
                        fix,
                        silent=silent,
                        removed_in=each.fact.removed_in,
                    )

    def _root_fix(
        self, bound: Bound, file: FileContext, imports: Imports
    ) -> tuple[Fix, list[Reference]] | None:
        per_statement: dict[ast.Import, dict[ast.alias, tuple[str, str | None]]] = {}
        base, local = "relight", bound.local
        for statement, alias in bound.aliases:
            fact = imports.fact(rerooted(alias.name))
            if fact is None or fact.new is None or not isinstance(statement, ast.Import):
                return None
            per_statement.setdefault(statement, {})[alias] = (fact.new, alias.asname)
            if alias.asname is not None:
                base = fact.new
            elif fact.new.split(".")[0] != "relight":
                return None
        if bound.aliases[0][1].asname is None:
            local = "relight"
            if (
                bound.local != "relight"
                and not free(file, "relight")
                and any(
                    each.local == "relight" and each.dotted != "pytorch_lightning" for each in imports.bound
                )
            ):
                return None
        taken = [each for each in bound.references if not waits(each, base)]
        edits, requests = uses(file, imports, bound, taken, base, local)
        if local != bound.local:
            # What waits for a person still goes by the new name of the root.
            for each in bound.references:
                if waits(each, base):
                    edits.append(file.edit(each.name, local))
        how = (
            UNSAFE
            if any(each.fact is not None and each.fact.status == "changed_meaning" for each in taken)
            else SAFE
        )
        if any(each.dotted == bound.dotted for each in bound.references):
            how = UNSAFE  # the package itself is passed on
        edits += [rewrite_import(file, statement, names) for statement, names in per_statement.items()]
        fix = Fix(how, f"import {base}", tuple(sorted(edits)), tuple(dict.fromkeys(requests)))
        return fix, [each for each in taken if each.fact is not None]


def uses(
    file: FileContext, imports: Imports, bound: Bound, references: list[Reference], base: str, local: str
) -> tuple[list[Edit], list[ImportRequest]]:
    """Return the changes of uses (and what they need) when a name comes to stand for ``base``."""
    edits: list[Edit] = []
    requests: list[ImportRequest] = []
    for each in references:
        if each.fact is None or each.fact.new is None:
            if local != bound.local:
                edits.append(file.edit(each.name, local))
            continue
        text, needed = imports.write(each.fact.new, bound, base, local)
        if each.fact.status == "changed_meaning" and asked_about(each.node, file):
            continue
        if text != file.segment(each.node):
            edits.append(file.edit(each.node, text))
            requests += needed
        if each.dotted in SPAWNED:
            edits += spawning(each.node, file)
    return edits, requests


# Strategies that were classes of their own, and are DDPStrategy with another way to start processes.
SPAWNED = (
    "pytorch_lightning.plugins.DDPSpawnPlugin",
    "pytorch_lightning.plugins.training_type.DDPSpawnPlugin",
    "pytorch_lightning.plugins.training_type.ddp_spawn.DDPSpawnPlugin",
    "pytorch_lightning.strategies.DDPSpawnStrategy",
    "pytorch_lightning.strategies.ddp_spawn.DDPSpawnStrategy",
)


def spawning(node: ast.expr, file: FileContext) -> list[Edit]:
    """Return the edit that says ``start_method="spawn"`` where a class is called."""
    call = file.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return []
    if any(each.arg == "start_method" for each in call.keywords):
        return []
    start = file.source.index("(", file.span(node)[1]) + 1
    comma = ", " if call.args or call.keywords else ""
    return [Edit(start, start, f'start_method="spawn"{comma}')]


def asked_about(node: ast.expr, file: FileContext) -> bool:
    """Whether a class is only compared with: the base that bears its name today does as well."""
    parent = file.parent(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, file.parent(parent)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in ("isinstance", "issubclass")
        and node in parent.args
    )


def waits(reference: Reference, base: str) -> bool:
    """Whether a use is left to a fix of its own: it leaves the package, and wants a look."""
    fact = reference.fact
    if fact is None or fact.applicability is SAFE or (fact.new or "").startswith(base + "."):
        return False
    return fact.status in ("external", "private", "removed")


def _never_one(move: Move, local: str, file: FileContext) -> Fix | None:
    """Answer ``isinstance(strategy, DataParallelStrategy)`` where nothing is one any more."""
    bound = move.bound
    if not file.fixing or bound.shared or not bound.references or exported(file, local):
        return None
    if not bound.dotted.startswith(_RUNS) or len(bound.aliases) != 1 or mentioned(file, local):
        return None
    edits = []
    for reference in bound.references:
        call = file.parent(reference.node)
        if not isinstance(call, ast.Call) or len(call.args) != 2 or call.args[1] is not reference.node:
            return None
        if (
            not isinstance(call.func, ast.Name)
            or call.func.id != "isinstance"
            or not is_pure(call.args[0], file)
        ):
            return None
        edits.append(file.edit(call, "False"))
    return Fix(UNSAFE, "nothing is one any more", tuple(edits), unimports=(local,))


def _blocked(
    file: FileContext, statement: ImportStatement, blockers: list[tuple[ast.AST, str, str]]
) -> Iterator[Finding]:
    """Say what has no twin, and that its import, with all that comes through it, stays on Lightning."""
    for place, code, message in blockers:
        yield file.finding(code, place, message)
    lines = sorted({place.lineno for place, _, _ in blockers if isinstance(place, ast.expr)})
    if lines:
        where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
        text = f"`{_shown(statement)}` stays on Lightning until {where} can go without it"
        yield file.finding(ROOT_ONLY, statement, text)


def _waits_for_others(file: FileContext, statement: ImportStatement) -> Iterator[Finding]:
    """Say which place keeps all that runs together on Lightning."""
    text = f"`{_shown(statement)}` stays on Lightning, as {anchor(file)} cannot leave it: all go or none does"
    yield file.finding(ROOT_ONLY, statement, text)


def _guarded(file: FileContext, statement: ImportStatement) -> Iterator[Finding]:
    """Say that one of two ways to Lightning is no way to relight; on Lightning both are right."""
    if file.target is Target.RELIGHT:
        text = f"`{_shown(statement)}` is one of two ways to Lightning: keep one way, then run again"
        yield file.finding(ROOT_ONLY, statement, text)


def _shown(statement: ImportStatement) -> str:
    text = ast.unparse(statement)
    return text if len(text) <= 60 else text[:57] + "..."


def _scopes(file: FileContext) -> Iterator[Scope]:
    scopes = file.module.scopes
    yield scopes.module
    yield from scopes.inner.values()


def _fix(node: ast.ImportFrom, moves: list[Move], how: Applicability, file: FileContext) -> Fix:
    edits = rewrite_from(file, node, {move.alias: (move.path, move.local) for move in moves})
    edits += [edit for move in moves for edit in move.edits]
    requests = [request for move in moves for request in move.requests]
    names = ", ".join(move.alias.name for move in moves)
    return Fix(
        how, f"import {names} from where it is", tuple(sorted(set(edits))), tuple(dict.fromkeys(requests))
    )

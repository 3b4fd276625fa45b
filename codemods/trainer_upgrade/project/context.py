"""The one thing rules talk to: a file, its names and classes, its text.

Notes for rule authors:

- Pass ``fix`` to :meth:`FileContext.finding` as a function without arguments where it costs anything
  (libcst): it is called only when fixes are wanted, never by the flake8 plugin. The message must not
  depend on it.
- What runs only under a check of Lightning's version is left alone by the engine
  (:meth:`FileContext.guarded`); rules need not ask. Imports in ``try``/``except ImportError`` are the import
  rules' business (:meth:`FileContext.in_try_import`).
- Comments such as ``# noqa: TRU101`` are the engine's business too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.consequences import GENERAL
from trainer_upgrade.catalogue.consequences import consequence as consequence_of
from trainer_upgrade.catalogue.entry import Entry, Target
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest, Location
from trainer_upgrade.project import guards
from trainer_upgrade.project.canonical import canonical, root_of
from trainer_upgrade.project.classes import Classes, ClassInfo, Function
from trainer_upgrade.project.index import Project
from trainer_upgrade.project.module import Module
from trainer_upgrade.project.names import Names, Symbol
from trainer_upgrade.project.pins import NEWEST, Pin, judged
from trainer_upgrade.project.spelling import spell
from trainer_upgrade.project.types import Instance, Types
from trainer_upgrade.project.uses import TrainerUses, find_uses

__all__ = ["FileContext"]


class FileContext:
    """A file that rules look at.

    Attributes:
        path: The file.
        project: The project it belongs to.
        module: Its entry in the project.
        target: Where the code is to run.
        tree: Its syntax tree.
        source: Its text, line ends as they are.
        nodes: All nodes of the tree, parents before children, in the order of the source.
        current: The node whose handler runs.
        fixing: Whether fixes are wanted.
        options: What the user asked for: ``pin_defaults``, ``unsafe``; ``checking`` if nothing is changed.
    """

    def __init__(
        self,
        module: Module,
        project: Project,
        *,
        fixing: bool = True,
        options: frozenset[str] = frozenset(),
        display: Path | None = None,
    ) -> None:
        """Look at a file of a project (``display``: the path that findings name)."""
        self.path = display if display is not None else module.path
        self.project = project
        self.module = module
        self.target: Target = project.target
        self.tree = module.tree
        self.source = module.source.text
        self.nodes = module.scopes.nodes
        self.current: ast.AST = self.tree
        self.fixing = fixing
        self.options = options
        self.names: Names = _shared(project, "names", lambda: Names(project))
        # What rules keep between two questions; it goes with the file.
        self.memo: dict[str, object] = {}
        self.classes: Classes = _shared(project, "classes", lambda: Classes(project, self.names))
        self.types: Types = _shared(project, "types", lambda: Types(self.names, self.classes))

    # Names

    def symbol(self, node: ast.expr) -> Symbol | None:
        """Return what an expression stands for: a class or function of the project, an external name …"""
        return self.names.resolve(node, self.module)

    def qualified_name(self, node: ast.expr) -> str | None:
        """Return the dotted name of an expression, through imports, aliases, star imports and re-exports.

        Names of other distributions are as imported (``pytorch_lightning.core.lightning.LightningModule``,
        ``torch.nn.Linear``); definitions of the project are ``package.module.Name``. ``None`` when unknown,
        rebound to something else, or ambiguous.
        """
        found = self.symbol(node)
        return found.dotted if found is not None else None

    def lightning_name(self, node: ast.expr) -> str | None:
        """Return the canonical name of a Lightning thing (``pytorch_lightning.Trainer``), else ``None``.

        The same whatever alias, submodule or root (``lightning.pytorch``, ``relight``, …) was used; a name
        that was renamed keeps its old name (``pytorch_lightning.callbacks.GPUStatsMonitor``). Fabric's names
        are rooted at ``lightning_fabric``.
        """
        found = self.symbol(node)
        return canonical(found.dotted) if found is not None and found.kind == "external" else None

    @cached_property
    def root(self) -> str | None:
        """The import root the file uses (of several the commonest, then the first), or ``None``."""
        counts: dict[str, int] = {}
        for node in self.nodes:
            dotted: list[str] = []
            if isinstance(node, ast.Import):
                dotted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                dotted = [node.module]
                if node.module == "lightning":
                    dotted = [f"lightning.{alias.name}" for alias in node.names]
            for each in dotted:
                root = root_of(each)
                if root is not None and root.partition(".")[2] not in ("fabric", "lite") and "_f" not in root:
                    counts[root] = counts.get(root, 0) + 1
        return max(counts, key=lambda root: counts[root]) if counts else None

    def spell(self, dotted: str, at: ast.AST | None = None) -> tuple[str, tuple[ImportRequest, ...]]:
        """Say how to write a modern name in this file.

        Args:
            dotted: The name on Lightning 2.x, rooted at ``pytorch_lightning`` (the target's root and place
                are put in), or a name of another distribution (``torch.load``).
            at: Where it will stand; the node being looked at by default.

        Returns:
            The text (``pl.callbacks.TQDMProgressBar``, ``TQDMProgressBar``) and the imports it needs.
        """
        return spell(self, dotted, at if at is not None else self.current)

    # Instances

    def instance(self, node: ast.expr) -> Instance | None:
        """Return what an expression evaluates to, with the project's class if it is one."""
        return self.types.infer(node, self.module)

    def instance_of(self, node: ast.expr) -> str | None:
        """Return the Lightning class an expression is an instance of: ``Trainer``, ``LightningModule`` …

        An instance of a project's class counts as one of the Lightning class it derives from
        (``EarlyStopping``, ``Callback``). ``None`` when unknown.
        """
        found = self.instance(node)
        return found.label if found is not None else None

    def constructed(self, call: ast.Call) -> Instance | None:
        """Return what a call constructs if its function is a class: Lightning's, or one of the project's.

        ``constructed(call).label == "Trainer"`` holds for ``pl.Trainer(...)``, for a subclass of the
        project, and for a call of ``partial(pl.Trainer, ...)``; ``.info`` is the project's class, whose
        own ``__init__`` (``.info.find_method("__init__")``) may take other arguments.
        """
        return self.types.constructed(call, self.module)

    def trainer_uses(self, call: ast.Call) -> TrainerUses:
        """Follow a Trainer construction to the calls of its entry points in the same scope."""
        return find_uses(call, self.module)

    def class_info(self, node: ast.ClassDef) -> ClassInfo:
        """Return what is known of a class statement of this file."""
        return self.classes.info(node, self.module)

    def method_owner(self, function: Function) -> ClassInfo | None:
        """Return the class a function of this file is a method of."""
        return self.types.owner(function, self.module)

    def class_named(self, node: ast.expr) -> ClassInfo | None:
        """Return the class of the project that an expression names (``Net``, ``models.Net``), or ``None``."""
        return self.classes.of(self.symbol(node))

    # Surroundings

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node around a node."""
        return self.module.scopes.parents.get(node)

    def enclosing_function(self, node: ast.AST) -> Function | None:
        """Return the innermost function (no lambda) around a node."""
        return self._enclosing(node, (ast.FunctionDef, ast.AsyncFunctionDef))  # type: ignore[return-value]

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around a node, also from within its methods."""
        return self._enclosing(node, (ast.ClassDef,))  # type: ignore[return-value]

    def enclosing_statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement a node is part of (the node itself, if it is one).

        Raises:
            ValueError: The node is not in a statement of this file.
        """
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parent(current)
        if current is None:
            raise ValueError("not part of a statement of this file")
        return current

    def in_try_import(self, node: ast.AST) -> bool:
        """Whether a node stands in a ``try`` around imports, or in the handler for their failure."""
        return guards.in_try_import(node, self.module)

    def in_type_checking(self, node: ast.AST) -> bool:
        """Whether a node stands in ``if TYPE_CHECKING:``."""
        return guards.in_type_checking(node, self.module)

    def guarded(self, node: ast.AST) -> bool:
        """Whether a node runs only under a condition on Lightning's version: kept for several releases."""
        return guards.version_guarded(node, self.module, self.names)

    def kept_on_purpose(self, place: Location) -> bool:
        """Whether a place is in code kept for one release: a version's branch, an import's fallback."""
        offset = self.module.lines.starts[place.row - 1] + place.column - 1
        return any(start <= offset < end for start, end in self._kept)

    @cached_property
    def _kept(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for node in self.nodes:
            if isinstance(node, ast.If):
                if guards.version_guarded(node.body[0], self.module, self.names):
                    blocks = [block for block in (node.body, node.orelse) if block]
                    found += [(self.full_span(block[0])[0], self.span(block[-1])[1]) for block in blocks]
            elif isinstance(node, ast.IfExp):
                if guards.version_guarded(node.body, self.module, self.names):
                    found += [self.span(node.body), self.span(node.orelse)]
            elif isinstance(node, ast.ExceptHandler) and guards.in_try_import(node, self.module):
                found.append(self.span(node))
        return found

    # Versions

    @cached_property
    def pin(self) -> Pin | None:
        """What the project says of the Lightning it installs: of the distribution that this file imports."""
        pins = self.project.pins(self.module.path.parent)
        wanted = "lightning" if (self.root or "").startswith("lightning.") else "pytorch-lightning"
        return next((each for each in pins if each.distribution == wanted), pins[0] if pins else None)

    @cached_property
    def installed(self) -> Version:
        """The Lightning that the project installs: as asked for, as pinned, else the newest."""
        if self.project.target_version is not None:
            return self.project.target_version
        return self.pin.installs if self.pin is not None else NEWEST

    def judged(self, finding: Finding) -> Finding:
        """Return a finding with its severity: an error where what is installed lacks the thing already."""
        return judged(finding, self.installed)

    # Text

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the character offsets of a node in ``source``: begin and end (exclusive).

        A decorated definition begins at its ``def`` or ``class``; see :meth:`full_span`.
        """
        return self.module.lines.span(node)

    def full_span(self, node: ast.stmt) -> tuple[int, int]:
        """Return the offsets of a statement's whole lines: with decorators, from indent to line end."""
        rows = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))]
        lines = self.module.lines
        return lines.starts[min(rows) - 1], lines.end(node.end_lineno or node.lineno)

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node as it stands in the file."""
        start, end = self.span(node)
        return self.source[start:end]

    def edit(self, node: ast.AST, text: str) -> Edit:
        """Return the edit that puts a text in a node's place."""
        return Edit(*self.span(node), text)

    def line_indent(self, node: ast.AST) -> str:
        """Return the white space at the begin of the line a node starts on."""
        line = self.module.lines.line(getattr(node, "lineno", 1))
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    @cached_property
    def newline(self) -> str:
        """The line end of the file (its first; ``\\n`` if it has none)."""
        for position, character in enumerate(self.source):
            if character == "\n":
                return "\n"
            if character == "\r":
                return "\r\n" if self.source[position + 1 : position + 2] == "\n" else "\r"
        return "\n"

    def editable(self, node: ast.AST) -> bool:
        """Whether the place of a node is exact: not so inside of an f-string before Python 3.12."""
        if sys.version_info >= (3, 12):
            return True
        return self._enclosing(node, (ast.JoinedStr,)) is None

    # Findings

    def finding(
        self,
        entry_or_code: Entry | str,
        node: ast.AST,
        message: str | None = None,
        fix: Fix | Callable[[], Fix | None] | None = None,
        silent: bool | None = None,
        consequence: str | None = None,
        removed_in: str | None = None,
    ) -> Finding:
        """Make a finding at a node.

        Args:
            entry_or_code: A catalogue entry or a code.
            node: Where. A definition is marked at its name's line, not over its whole body.
            message: What is wrong and what to do; the entry's advice by default.
            fix: The fix, or a function that makes it, called only when fixes are wanted.
            silent: Whether old code goes on, meaning something else; what the entry says by default.
            consequence: What the target does then; what the entry says by default.
            removed_in: The release that took it away; what the entry says by default.
        """
        entry = entry_or_code if isinstance(entry_or_code, Entry) else None
        code = entry.code if entry is not None else str(entry_or_code)
        if entry is None:
            same = catalogue.by_code(code)
            entry = same[0] if len(same) == 1 or (same and message is None) else None
        if message is None:
            message = entry.advice if entry is not None else code
        if silent is None:
            silent = entry.silent if entry is not None else False
        place = self._enclosing(node, (ast.JoinedStr,)) if not self.editable(node) else None
        start, end = self._place(place or node)
        if place is not None or not self.fixing:
            fix = None
        elif callable(fix):
            fix = fix()
        lines = self.module.lines
        return Finding(
            code=code,
            message=message,
            path=self.path,
            start=Location(*lines.place(start)),
            end=Location(*lines.place(end)),
            fix=fix,
            silent=silent,
            consequence=(consequence or (consequence_of(entry) if entry else GENERAL)) if silent else "",
            removed_in=removed_in or (entry.removed_in if entry is not None else None),
        )

    def _place(self, node: ast.AST) -> tuple[int, int]:
        start, end = self.span(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return start, start + len(self.source[start:end].split("\n", 1)[0].rstrip("\r"))
        if isinstance(node, ast.Module):
            return 0, 0
        return start, end

    def _enclosing(self, node: ast.AST, types: tuple[type[ast.AST], ...]) -> ast.AST | None:
        current = self.parent(node)
        while current is not None and not isinstance(current, types):
            current = self.parent(current)
        return current


def _shared(project: Project, key: str, make: Callable[[], object]):  # type: ignore[no-untyped-def]
    """One resolver for all files of a project, kept as long as no file changes."""
    found = project.memo.get(key)
    if found is None:
        found = project.memo[key] = make()
    return found

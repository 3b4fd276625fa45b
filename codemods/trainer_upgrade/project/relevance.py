"""Which files may have to do with Lightning, found without parsing any.

A file is of interest when its bytes contain a word of Lightning's, or when a name it imports from another
file of the project leads to Lightning: that file imports it from Lightning, or from a third file where it
leads there, or defines it itself and uses something that leads there. Imports, and uses of a module that is
imported whole, are found with regular expressions. The answer may be yes for a file with nothing to find
(it is then parsed in vain), never no for one that Lightning's names reach in a way that name resolution
could follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainer_upgrade.project.canonical import root_of

if TYPE_CHECKING:
    from trainer_upgrade.project.index import Project
    from trainer_upgrade.project.module import Module

__all__ = ["WORDS", "Import", "Relevance", "imports"]

# An import of Lightning has one of the first two in it; the others are names that only a class with a
# Lightning base from elsewhere would have.
WORDS = (
    b"ightning",
    b"relight",
    b"_epoch_end",
    b"training_step",
    b"validation_step",
    b"configure_optimizers",
)

# From the word `import` on: names in parentheses, or the rest of the line.
_NAMES = re.compile(rb"import(?![\w\x80-\xff])[ \t]*(\([^)]*\)|[^\n;]*)")
_FROM = re.compile(rb"(?:^|[;:])[ \t\f]*from[ \t]*(\.*[ \t]*[\w.\x80-\xff]*)[ \t]*$")
_PLAIN = re.compile(rb"(?:^|[;:])[ \t\f]*$")
_COMMENT = re.compile(rb"#[^\n]*")
_JOINED = re.compile(rb"\\\r?\n")
_NAME = re.compile(rb"[\w\x80-\xff*]+(?:[ \t\r\n]+as[ \t\r\n]+[\w\x80-\xff]+)?")


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a file.

    Attributes:
        level: Leading dots.
        module: Dotted name after them, may be empty.
        names: Pairs of a name and what it is called here, for ``from``; ``None`` for a plain import.
        local: What a plain import binds: the alias, or the dotted name itself.
    """

    level: int
    module: str
    names: tuple[tuple[str, str], ...] | None
    local: str = ""


def imports(data: bytes) -> Iterator[Import]:
    """Yield what a file imports; too much (an import in a docstring) rather than too little."""
    # The word is looked for first: a search for it is far faster than a pattern that begins with a line.
    position = data.find(b"import")
    if position >= 0 and (b"\\\n" in data or b"\\\r" in data):
        data = _JOINED.sub(b" ", data)
        position = data.find(b"import")
    while position >= 0:
        matched = _NAMES.match(data, position)
        if matched is None:
            position = data.find(b"import", position + 6)
            continue
        before = data[data.rfind(b"\n", 0, position) + 1 : position]
        names = _COMMENT.sub(b"", matched[1])
        source = _FROM.search(before)
        if source is not None:
            module = source[1].decode("utf-8", "replace").replace(" ", "")
            stripped = module.lstrip(".")
            pairs = []
            for name in _NAME.findall(names):
                words = name.decode("utf-8", "replace").split()
                pairs.append((words[0], words[-1]))
            yield Import(len(module) - len(stripped), stripped, tuple(pairs))
        elif _PLAIN.search(before) is not None:
            for part in names.split(b","):
                words = part.decode("utf-8", "replace").split()
                if words:
                    yield Import(0, words[0], None, words[-1] if "as" in words[1:2] else words[0])
        position = data.find(b"import", position + 6)


class Relevance:
    """Answers for the files of one project; nothing is asked twice."""

    def __init__(self, project: Project) -> None:
        """Answer for a project."""
        self.project = project
        # A node is a file (all of it) or a name in one; its edges are the nodes it gets its meaning from.
        self._known: dict[tuple[Module, str | None], bool] = {}
        self._edges: dict[tuple[Module, str | None], list[tuple[Module, str | None]] | None] = {}
        self._imports: dict[Module, list[Import]] = {}
        self._by_name: dict[Module, dict[str, list[Import]]] = {}

    def relevant(self, module: Module) -> bool:
        """Whether a file may have to do with Lightning.

        Raises:
            OSError: The file cannot be read.
        """
        data = module.data
        if any(word in data for word in WORDS):
            return True
        return self._leads((module, None))

    def _leads(self, start: tuple[Module, str | None]) -> bool:
        known = self._known
        if start in known:
            return known[start]
        came_from: dict[tuple[Module, str | None], tuple[Module, str | None] | None] = {start: None}
        queue = [start]
        for node in queue:
            edges = self._expand(node)
            hit = edges is None or any(known.get(other) for other in edges)
            if hit:
                current: tuple[Module, str | None] | None = node
                while current is not None:
                    known[current] = True
                    current = came_from[current]
                return True
            for other in edges or ():
                if other not in came_from and known.get(other) is None:
                    came_from[other] = node
                    queue.append(other)
        # Nothing that can be reached leads there.
        known.update(dict.fromkeys(came_from, False))
        return False

    def _expand(self, node: tuple[Module, str | None]) -> list[tuple[Module, str | None]] | None:
        """Return what a node depends on; ``None`` if on Lightning itself."""
        if node not in self._edges:
            self._edges[node] = self._find_edges(*node)
        return self._edges[node]

    def _find_edges(self, module: Module, name: str | None) -> list[tuple[Module, str | None]] | None:
        found: dict[tuple[Module, str | None], None] = {}
        matched = False
        for each in self._imports_of(module, name):
            if each.names is None:
                matched = matched or name is not None
                if root_of(each.module) is not None:
                    return None
                found.update(dict.fromkeys(self._whole(module, each)))
                continue
            if each.level == 0 and root_of(each.module) is not None:
                return None
            for original, local in each.names:
                if name is not None and local not in (name, "*"):
                    continue
                if each.level == 0 and each.module == "lightning":
                    return None
                matched = matched or local == name
                found.update(dict.fromkeys(self._one(module, each, original if original != "*" else name)))
        if name is not None and not matched:
            if module.is_package:
                inner = self.project.find_from(1, name, module)
                if inner is not None:
                    found[(inner, None)] = None
            found[(module, None)] = None  # defined there: by whatever the file uses
        return list(found)

    def _one(self, module: Module, each: Import, name: str | None) -> list[tuple[Module, str | None]]:
        """What ``from source import name`` depends on."""
        source = self.project.find_from(each.level, each.module or None, module)
        found: list[tuple[Module, str | None]] = []
        if source is not None and source is not module:
            found.append((source, name))
        elif name is not None:
            inner = f"{each.module}.{name}" if each.module else name
            submodule = self.project.find_from(each.level, inner, module)
            if submodule is not None:
                found.append((submodule, None))
        return found

    def _whole(self, module: Module, each: Import) -> list[tuple[Module, str | None]]:
        """What the uses of a module that is imported whole depend on."""
        local = re.escape(each.local.encode("utf-8"))
        chains = set(re.findall(local + rb"((?:\.\w+)+)", module.data))
        found: list[tuple[Module, str | None]] = []
        for chain in chains:
            parts = chain.decode("utf-8").strip(".").split(".")
            dotted, position = each.module, 0
            while (
                position < len(parts) and self.project.find(f"{dotted}.{parts[position]}", module) is not None
            ):
                dotted = f"{dotted}.{parts[position]}"
                position += 1
            source = self.project.find(dotted, module)
            if source is not None and source is not module:
                found.append((source, parts[position] if position < len(parts) else None))
        return found

    def _imports_of(self, module: Module, name: str | None) -> list[Import]:
        """The imports of a file that lead somewhere: to Lightning or to another file of the project."""
        if module not in self._imports:
            try:
                data = module.data
            except OSError:
                data = b""
            kept = [each for each in imports(data) if self._leads_somewhere(each, module)]
            table: dict[str, list[Import]] = {}
            for each in kept:
                local = [each.local.split(".")[0]] if each.names is None else [pair[1] for pair in each.names]
                for one in dict.fromkeys(local):
                    table.setdefault(one, []).append(each)
            self._imports[module], self._by_name[module] = kept, table
        if name is None:
            return self._imports[module]
        table = self._by_name[module]
        return [*table.get(name, ()), *table.get("*", ())]

    def _leads_somewhere(self, each: Import, module: Module) -> bool:
        if each.level or root_of(each.module) is not None:
            return True
        return self.project.top_level(each.module.split(".")[0], module)
